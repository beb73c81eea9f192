"""Every exception of the package; each class has its wire code, HTTP status and exit code.

                             code              status  exit
MemorydError                 internal             500     1  `.hint` says what to do
├── ConfigError                                          78  the configuration is wrong; `.problems` lists everything
├── AlreadyRunning                                       75  another daemon holds the lock
├── NotPermitted                                         77  a path belongs to another user or is open to others
├── DaemonNotRunning         unavailable          503    69  client side: no daemon answers on the socket
├── RequestError             invalid_request      400        the request is wrong
│   ├── InvalidRequest                                       a value is malformed or out of range
│   │   └── TooLarge         too_large            413        more than a limit allows
│   ├── SlowRequest          timeout              408        the request did not arrive in time
│   ├── NotFound             not_found            404     3  no such document, memory, session or proposal
│   ├── UnknownAgent         unknown_agent        404        no such agent
│   ├── Disabled             disabled             409        the requested feature is off for this agent
│   ├── Denied               denied               403        access rules, rights or a read-only workspace forbid it
│   ├── Unauthorized         unauthorized         401        the loopback port does not accept the token
│   └── TooManyTries         too_many_tries       429        too many wrong tokens in a short time
├── NotNow                   unavailable          503        may succeed later
│   ├── Overloaded           overloaded                      too many requests are at work
│   ├── ShuttingDown         shutting_down                   the daemon is stopping
│   └── DeadlineExceeded     timeout              504        no answer in the time allowed
├── StoreError               unavailable          503    73  the database cannot do what was asked
│   ├── ForeignDatabase                                      the file is not memoryd's; it is never touched
│   ├── DamagedDatabase                                      the file is memoryd's and damaged
│   └── StoreUnavailable                                     full, read-only or locked; may succeed later
├── ModelError                                               a model file is missing, broken or unfit
├── DownloadError                                            not fetched; `.is_permanent`: a retry is pointless
├── SidecarError             unavailable          503        a child program cannot be run, or failed
├── RerankerUnavailable      unavailable          503        loading, backing off, no score; hits keep their order
├── TextModelUnavailable     unavailable          503        not now; work goes on without the model
│   └── InvalidTextAnswer                                    the model gave no valid answer to this question
└── EmbeddingError           unavailable          503        no vectors
    ├── EmbedderUnavailable                                  not now: loading, backing off, no answer in time
    │   └── BudgetSpent                                      not today: `.fits` of the batch may still be sent
    └── WorkerDied                                           the child process ended while it worked on the batch

An empty column is inherited; `tests/unit/test_errors.py` compares the tree with the classes.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType

from memoryd.wire import ErrorCode, Exit


class MemorydError(Exception):
    """Base class of all errors; `hint` is one sentence that says what to do."""

    code = ErrorCode.INTERNAL
    http_status = 500
    headers: Mapping[str, str] = MappingProxyType({})
    """Extra headers of the HTTP reply."""
    exit_code = Exit.ERROR

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ConfigError(MemorydError):
    """All problems of a configuration at once, each as `section.key: what is wrong`.

    `lines` has the line number of each problem in the file, None for a problem without a line. `notices` are the
    notices that loading collected before it failed.
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
        numbered = zip_longest(self.problems, lines)
        texts = [f"  line {line}: {problem}" if line else f"  {problem}" for problem, line in numbered]
        super().__init__("\n".join([f"configuration problems{where}:", *texts]))


class AlreadyRunning(MemorydError):
    """Another daemon of this user holds the lock."""

    exit_code = Exit.ALREADY_RUNNING


class NotPermitted(MemorydError):
    """A path belongs to another user, or other users have access to it."""

    exit_code = Exit.NOT_PERMITTED


class DaemonNotRunning(MemorydError):
    """No daemon answers on the socket."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503
    exit_code = Exit.NOT_RUNNING


class RequestError(MemorydError):
    """The request is wrong; the same request will fail again."""

    code = ErrorCode.INVALID_REQUEST
    http_status = 400


class InvalidRequest(RequestError):
    """A value is malformed or out of range."""


class TooLarge(InvalidRequest):
    """The request is larger than a limit allows."""

    code = ErrorCode.TOO_LARGE
    http_status = 413


class SlowRequest(RequestError):
    """The request did not arrive in the time allowed."""

    code = ErrorCode.TIMEOUT
    http_status = 408


class NotFound(RequestError):
    """No such document, memory, session or proposal."""

    code = ErrorCode.NOT_FOUND
    http_status = 404
    exit_code = Exit.NOTHING_FOUND


class UnknownAgent(RequestError):
    """No agent with that id is configured."""

    code = ErrorCode.UNKNOWN_AGENT
    http_status = 404


class Disabled(RequestError):
    """The requested feature is off for this agent, such as search, conversations, a model or a team."""

    code = ErrorCode.DISABLED
    http_status = 409


class Denied(RequestError):
    """Access rules, rights or a read-only workspace forbid the call."""

    code = ErrorCode.DENIED
    http_status = 403


READ_ONLY = "nothing is written: memory.readOnly is true"


def read_only_error() -> Denied:
    """Return the error for a write while `memory.readOnly` is true."""
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
    """The answer was not ready in the time allowed."""

    code = ErrorCode.TIMEOUT
    http_status = 504


class StoreError(MemorydError):
    """The database cannot do what was asked."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503
    exit_code = Exit.CANNOT_CREATE


class ForeignDatabase(StoreError):
    """The file at the path was not made by memoryd; it is never changed."""


class DamagedDatabase(StoreError):
    """The file was made by memoryd and cannot be read."""


class StoreUnavailable(StoreError):
    """The disk is full, or the database is read-only or locked."""


class ModelError(MemorydError):
    """A model file is missing, broken or unfit for embedding."""


class DownloadError(MemorydError):
    """A model cannot be fetched; `is_permanent` is True if a retry is pointless."""

    def __init__(self, message: str, *, hint: str = "", is_permanent: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_permanent = is_permanent


class SidecarError(MemorydError):
    """A child program cannot be run, or failed."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503


class RerankerUnavailable(MemorydError):
    """The reranker cannot be used now: it loads, backs off, or gives no score."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503


class TextModelUnavailable(MemorydError):
    """The text model cannot be used now: it loads, backs off, is late, or gives no answer of the requested shape."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503


class InvalidTextAnswer(TextModelUnavailable):
    """The text model works, but gave no valid answer to this question; it may answer the next question."""


class EmbeddingError(MemorydError):
    """No vectors could be computed."""

    code = ErrorCode.UNAVAILABLE
    http_status = 503


class EmbedderUnavailable(EmbeddingError):
    """The embedder cannot be used now: it loads, backs off, or did not answer in time."""


class BudgetSpent(EmbedderUnavailable):
    """The remaining tokens of the day cover only the first `fits` passages of the batch."""

    def __init__(self, message: str, *, fits: int) -> None:
        super().__init__(message)
        self.fits = fits


class WorkerDied(EmbeddingError):
    """The embedding child ended while it worked on the batch."""


_REFUSED = (InvalidRequest, TooLarge, NotFound, UnknownAgent, Disabled, Denied, Unauthorized, TooManyTries)
ERROR_TYPES = (*_REFUSED, NotNow, Overloaded, ShuttingDown, DeadlineExceeded)


def error_for_code(code: ErrorCode, message: str, *, hint: str = "") -> MemorydError:
    """Return the error a client raises for an error reply: the ERROR_TYPES class with the code, else MemorydError."""
    kind = next((kind for kind in ERROR_TYPES if kind.code is code), MemorydError)
    return kind(message, hint=hint)
