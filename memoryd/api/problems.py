"""Every failure as the one error reply `{"error": {"code", "message", "hint"}}`."""

import errno
import json
import os
from collections.abc import Mapping
from typing import Any

import structlog
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memoryd.api.http.counting import route_of
from memoryd.config.loading.keys import sentence_of
from memoryd.domain.expressions import expression
from memoryd.errors import DeadlineExceeded, MemorydError, NotNow
from memoryd.wire import API

log = structlog.get_logger(__name__)

_MAX_FIELDS = 10
_MAX_MESSAGE = 2000
FIELDS_HINT = "GET /openapi.json describes every request, and --help every command"
_ABSOLUTE_PATH = expression(
    rf"(?<![\w/.~])(?!(?<=:)//)/(?!{API[1:]}/|openapi\.json)(?:[^\s/:;,'\"]+/)+(?=[^\s/:;,'\"])"
)


def problem_of(error: Exception) -> MemorydError:
    """Return `error` as the client sees it; any but our own errors becomes `internal`, without details."""
    match error:
        case MemorydError():
            return error
        case TimeoutError():
            return DeadlineExceeded("the answer did not come in the time allowed")
        case OSError(errno=errno.EMFILE | errno.ENFILE | errno.ENOMEM | errno.ENOSPC | errno.EDQUOT):
            return NotNow(os.strerror(error.errno or 0), hint="free some, and ask again")
    return MemorydError("an unexpected error; the daemon's log has it", hint="see `memoryctl logs`")


def body_of(error: MemorydError) -> bytes:
    """Return the JSON of an error reply, without any path outside the workspace."""
    message = hide_directories(str(error))[:_MAX_MESSAGE]
    # escaped, since a file name that is not UTF-8 adds lone surrogates to a message
    return json.dumps(
        {"error": {"code": error.code, "message": message, "hint": hide_directories(error.hint)}}
    ).encode()


def log_unexpected(scope: Mapping[str, Any], error: BaseException) -> None:
    """Log an unexpected failure with the pattern of the route; the parameters may contain memory text."""
    log.error("request failed", method=scope["method"], route=route_of(scope), exc_info=error)


def hide_directories(text: str) -> str:
    """Shorten each absolute path in `text` to its last name, except for paths of the API."""
    return _ABSOLUTE_PATH.sub("…/", text)


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
