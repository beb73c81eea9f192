"""Every exception of the package; wire code, HTTP status and exit code of each stand on its class.

                             code              status  exit
MemorydError                 internal             500     1  `.hint` says what to do
├── ConfigError                                          78  the configuration is wrong; `.problems` lists all of it
├── AlreadyRunning                                       75  another daemon holds the lock
├── NotPermitted                                         77  a path belongs to somebody else or is open to others
├── DaemonNotRunning         unavailable          503    69  client side: nobody answers on the socket
├── RequestError             invalid_request      400        the caller's fault
│   ├── InvalidRequest                                       a value is malformed or out of range
│   │   └── TooLarge         too_large            413        more than a limit allows
│   ├── SlowRequest          timeout              408        the request did not come in time
│   ├── NotFound             not_found            404     3  no such document
│   ├── UnknownAgent         unknown_agent        404        no such agent
│   ├── Disabled             disabled             409        what is asked for is off for this agent
│   ├── Denied               denied               403        the access rules do not let this session ask
│   ├── Unauthorized         unauthorized         401        the loopback port knows no such token
│   └── TooManyTries         too_many_tries       429        nor any of those before it
├── NotNow                   unavailable          503        true later
│   ├── Overloaded           overloaded                      too many requests are at work
│   ├── ShuttingDown         shutting_down                   the daemon is stopping
│   └── DeadlineExceeded     timeout              504        no answer in the time allowed
├── StoreError               unavailable          503    73  the database cannot do it
│   ├── ForeignDatabase                                      the file is not ours; it is never touched
│   ├── DamagedDatabase                                      the file is ours and broken
│   └── StoreUnavailable                                     full, read-only or locked: true later
├── ModelError                                               a model file is missing, broken or unfit
├── DownloadError                                            not fetched; `.is_permanent` says whether to try again
├── SidecarError             unavailable          503        a child program cannot be run, or ended at once
├── RerankerUnavailable      unavailable          503        not now: loading, backing off, no score; the order stands
├── TextModelUnavailable     unavailable          503        not now; work goes on without
│   └── TextAnswerRefused                                    this question alone has no answer of its shape
└── EmbeddingError           unavailable          503        vectors cannot be had
    ├── EmbedderUnavailable                                  now: loading, backing off, no answer in time
    │   └── BudgetSpent                                      not today: `.fits` of the batch may still be sent
    └── WorkerDied                                           the child process ended while it worked on the batch

An empty place is inherited; `tests/unit/test_errors.py` compares the tree with the classes.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType

from memoryd.wire import ErrorCode, Exit


class MemorydError(Exception):
    """Base of all; `hint` is one sentence that says what to do."""

    code = ErrorCode.INTERNAL
    http_status = 500
    headers: Mapping[str, str] = MappingProxyType({})
    """Those of a reply over HTTP."""
    exit_code = Exit.ERROR

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ConfigError(MemorydError):
    """All problems of a configuration at once, each as `section.key: what is wrong`.

    `lines` says of each in which line of the file, None for what stands in none; `notices` what else was seen in it.
    """

    exit_code = Exit.CONFIG

    def __init__(
        self,
        problems: Sequence[str],
        *,
        source: str = "",
        lines: Sequence[int | None] = (),
        notices: Sequence[str] = (),
    ) -> None:
        self.problems = list(problems)
        self.notices = list(notices)
        where = f" in {source}" if source else ""
        told = [f"line {line}: {one}" if line else one for one, line in zip_longest(self.problems, lines)]
        super().__init__(f"configuration problems{where}:\n" + "\n".join(f"  {one}" for one in told))


class AlreadyRunning(MemorydError):
    """Another daemon of this user holds the lock."""

    exit_code = Exit.ALREADY_RUNNING


class NotPermitted(MemorydError):
    """A path that must be ours alone is not."""

    exit_code = Exit.NOT_PERMITTED


class DaemonNotRunning(MemorydError):
    """Nobody answers on the socket."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503
    exit_code = Exit.NOT_RUNNING


class RequestError(MemorydError):
    """The caller's fault."""

    code = ErrorCode.INVALID_REQUEST
    http_status = 400


class InvalidRequest(RequestError):
    """A value is malformed or out of range."""


class TooLarge(InvalidRequest):
    """The request is larger than a limit allows."""

    code = ErrorCode.TOO_LARGE
    http_status = 413


class SlowRequest(RequestError):
    """The request did not come in the time allowed."""

    code = ErrorCode.TIMEOUT
    http_status = 408


class NotFound(RequestError):
    """No such document."""

    code = ErrorCode.NOT_FOUND
    http_status = 404
    exit_code = Exit.NOTHING_FOUND


class UnknownAgent(RequestError):
    """No agent of that id is configured."""

    code = ErrorCode.UNKNOWN_AGENT
    http_status = 404


class Disabled(RequestError):
    """The agent has `memorySearch.enabled: false`."""

    code = ErrorCode.DISABLED
    http_status = 409


class Denied(RequestError):
    """The access rules do not let this session ask."""

    code = ErrorCode.DENIED
    http_status = 403


READ_ONLY = "nothing is written: memory.readOnly is true"


def read_only() -> Denied:
    """Return what is raised where nothing may be written."""
    return Denied(READ_ONLY, hint="set memory.readOnly: false")


class Unauthorized(RequestError):
    """The token is missing or wrong."""

    code = ErrorCode.UNAUTHORIZED
    http_status = 401
    # RFC 9110, section 15.5.2: the reply names the scheme of authentication
    headers = MappingProxyType({"WWW-Authenticate": "Bearer"})


class TooManyTries(RequestError):
    """Many wrong tokens came shortly before this one."""

    code = ErrorCode.TOO_MANY_TRIES
    http_status = 429


class NotNow(MemorydError):
    """The same request may succeed later."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503


class Overloaded(NotNow):
    """Too many requests are at work."""

    code = ErrorCode.OVERLOADED
    headers = MappingProxyType({"Retry-After": "1"})


class ShuttingDown(NotNow):
    """The daemon is stopping."""

    code = ErrorCode.SHUTTING_DOWN


class DeadlineExceeded(NotNow):
    """The answer did not come in the time allowed."""

    code = ErrorCode.TIMEOUT
    http_status = 504


class StoreError(MemorydError):
    """The database cannot do it."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503
    exit_code = Exit.CANNOT_CREATE


class ForeignDatabase(StoreError):
    """The file at the path is not ours and stays untouched."""


class DamagedDatabase(StoreError):
    """The file is ours and cannot be read."""


class StoreUnavailable(StoreError):
    """Disk full, read-only or locked."""


class ModelError(MemorydError):
    """A model file is missing, broken or unfit for embedding."""


class DownloadError(MemorydError):
    """A model cannot be fetched now."""

    def __init__(self, message: str, *, hint: str = "", is_permanent: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_permanent = is_permanent


class SidecarError(MemorydError):
    """A child program cannot be run, or ended at once."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503


class RerankerUnavailable(MemorydError):
    """Not now: the reranker loads, backs off, or gives no score."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503


class TextModelUnavailable(MemorydError):
    """Not now: the text model loads, backs off, is late, or gives no answer of the shape that was asked for."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503


class TextAnswerRefused(TextModelUnavailable):
    """The text model is there, and what it says of this question is no answer; it may answer the next one."""


class EmbeddingError(MemorydError):
    """Vectors cannot be had."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503


class EmbedderUnavailable(EmbeddingError):
    """Not now: loading, backing off, or no answer in time."""


class BudgetSpent(EmbedderUnavailable):
    """The tokens of the day do not reach for the whole batch, only for its first `fits` passages."""

    def __init__(self, message: str, *, fits: int) -> None:
        super().__init__(message)
        self.fits = fits


class WorkerDied(EmbeddingError):
    """The embedding child ended while it worked on the batch."""


_REFUSED = (InvalidRequest, TooLarge, NotFound, UnknownAgent, Disabled, Denied, Unauthorized, TooManyTries)
ERROR_TYPES = (*_REFUSED, NotNow, Overloaded, ShuttingDown, DeadlineExceeded)


def error_of(code: ErrorCode, message: str, *, hint: str = "") -> MemorydError:
    """Return what a client raises for an error reply: the class of TOLD that has the code, else the base of all."""
    kind = next((kind for kind in ERROR_TYPES if kind.code is code), MemorydError)
    return kind(message, hint=hint)
