"""Every failure as the one error reply `{"error": {"code", "message", "hint"}}`."""

import errno
import json
import os
from collections.abc import Mapping
from typing import Any

import structlog
from msgspec import Struct, field
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException

from memoryd.api.http.counting import route_of
from memoryd.config.loading.keys import sentence_of
from memoryd.domain.expressions import expression
from memoryd.errors import (
    DeadlineExceeded,
    Denied,
    MemorydError,
    NotFound,
    NotNow,
    Overloaded,
    SlowRequest,
    TooLarge,
    Unauthorized,
)
from memoryd.wire import API, ErrorCode

log = structlog.get_logger(__name__)

_MAX_FIELDS = 10
_MAX_MESSAGE = 2000
FIELDS_HINT = "GET /openapi.json describes every request"
_CODE_OF_STATUS = {kind.http_status: kind.code for kind in (Denied, NotFound, SlowRequest, TooLarge)}
_ABSOLUTE_PATH = expression(
    rf"(?<![\w/.~])(?!(?<=:)//)/(?!{API[1:]}/|openapi\.json)(?:[^\s/:;,'\"]+/)+(?=[^\s/:;,'\"])"
)


class Problem(Struct, frozen=True):
    """An error reply before it is bytes."""

    code: ErrorCode
    http_status: int
    message: str
    hint: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def content(self) -> dict[str, dict[str, str]]:
        """Return the reply's JSON, without any path outside the workspace."""
        message = hide_directories(self.message)[:_MAX_MESSAGE]
        return {"error": {"code": self.code, "message": message, "hint": hide_directories(self.hint)}}

    def body(self) -> bytes:
        # escaped, since a file name that is no UTF-8 reaches a message as lone surrogates
        return json.dumps(self.content()).encode()


def problem_of(error: Exception) -> Problem:
    """Return the reply for `error`; any but our own errors and the framework's is `internal`, without details."""
    match error:
        case MemorydError():
            return Problem(error.code, error.http_status, str(error), error.hint, _headers(error))
        case HTTPException():
            return _http_problem(error)
        case TimeoutError():
            return problem_of(DeadlineExceeded("the answer did not come in the time allowed"))
        case OSError(errno=errno.EMFILE | errno.ENFILE | errno.ENOMEM | errno.ENOSPC | errno.EDQUOT):
            return problem_of(NotNow(f"{os.strerror(error.errno or 0)}", hint="free some, and ask again"))
    return problem_of(MemorydError("an unexpected error; the daemon's log has it", hint="see `memoryctl logs`"))


def log_unexpected(scope: Mapping[str, Any], error: BaseException) -> None:
    """Log a failure of our own by the route's pattern; its parameters may hold memory text."""
    log.error("request failed", method=scope["method"], route=route_of(scope), exc_info=error)


def _headers(error: MemorydError) -> Mapping[str, str]:
    if isinstance(error, Unauthorized):
        # RFC 9110, section 15.5.2: the reply names the scheme of authentication
        return {"WWW-Authenticate": "Bearer"}
    return {"Retry-After": "1"} if isinstance(error, Overloaded) else {}


def hide_directories(text: str) -> str:
    """Shorten each absolute path in `text` to its last name; the API's own paths stay."""
    return _ABSOLUTE_PATH.sub("…/", text)


def _http_problem(error: HTTPException) -> Problem:
    code = _CODE_OF_STATUS.get(error.status_code)
    if code is None:
        code = ErrorCode.INTERNAL if error.status_code >= 500 else ErrorCode.INVALID_REQUEST
    return Problem(code, error.status_code, str(error.detail), FIELDS_HINT, error.headers or {})


def why_refused(refused: ValidationError) -> str:
    """Return the problem of each field of a request, in words for people."""
    errors = refused.errors()
    lines = list(map(_describe_error, errors[:_MAX_FIELDS]))
    if len(errors) > _MAX_FIELDS:
        lines.append(f"and {len(errors) - _MAX_FIELDS} more")
    return "; ".join(lines)


def _describe_error(error: ErrorDetails) -> str:
    where = ".".join(str(part) for part in error["loc"]) or "the body"
    return f"{where}: {'unknown field' if error['type'] == 'extra_forbidden' else sentence_of(error)}"
