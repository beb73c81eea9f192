"""Every exception of the package.

MemorydError                 has `.code` (wire), `.hint` (what to do) and a message for people
├── ConfigError              the configuration is wrong; `.problems` lists all of it (exit 78)
├── AlreadyRunning           another daemon holds the lock (exit 75)
├── NotPermitted             a directory or socket belongs to somebody else or is open to others (exit 77)
├── DaemonNotRunning         client side: nobody answers on the socket (exit 69)
├── RequestError             the caller's fault
│   ├── InvalidRequest
│   ├── TooLarge
│   ├── NotFound
│   ├── UnknownAgent
│   ├── Disabled
│   └── Denied
├── NotNow                   true later: shutting down, a deadline passed
│   ├── ShuttingDown
│   └── DeadlineExceeded
├── StoreError               the database cannot do it
│   ├── ForeignDatabase      the file is not ours; it is never touched
│   ├── DamagedDatabase      the file is ours and broken
│   └── StoreUnavailable     full, read-only or locked: true later
├── ModelError               a model file is missing, broken or unfit; nothing but a new file helps
├── DownloadError            a model cannot be fetched now; `.is_permanent` says whether to try again
├── SidecarError             a child program cannot be run, or ended at once
└── EmbeddingError           vectors cannot be had
    ├── EmbedderUnavailable  now: loading, backing off, no answer in time
    │   └── BudgetSpent      not today: `.fits` says how many of the batch may still be sent
    └── WorkerDied           the child process ended while it worked on the batch
"""

from collections.abc import Sequence

from memoryd.wire import ErrorCode


class MemorydError(Exception):
    """Base of all; `hint` is one sentence that says what to do."""

    code = ErrorCode.INTERNAL

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class ConfigError(MemorydError):
    """All problems of a configuration at once, each as `section.key: what is wrong`."""

    def __init__(self, problems: Sequence[str], *, source: str = "") -> None:
        self.problems = list(problems)
        where = f" in {source}" if source else ""
        super().__init__(f"configuration problems{where}:\n" + "\n".join(f"  {line}" for line in self.problems))


class AlreadyRunning(MemorydError):
    """Another daemon of this user holds the lock."""


class NotPermitted(MemorydError):
    """A path that must be ours alone is not."""


class DaemonNotRunning(MemorydError):
    """Nobody answers on the socket."""

    code = ErrorCode.UNAVAILABLE


class RequestError(MemorydError):
    """The caller's fault."""

    code = ErrorCode.INVALID_REQUEST


class InvalidRequest(RequestError):
    """A value is malformed or out of range."""


class TooLarge(RequestError):
    """The request is larger than a limit allows."""

    code = ErrorCode.TOO_LARGE


class NotFound(RequestError):
    """No such document."""

    code = ErrorCode.NOT_FOUND


class UnknownAgent(RequestError):
    """No agent of that id is configured."""

    code = ErrorCode.UNKNOWN_AGENT


class Disabled(RequestError):
    """The agent has `memorySearch.enabled: false`."""

    code = ErrorCode.DISABLED


class Denied(RequestError):
    """The access rules do not let this session ask."""

    code = ErrorCode.DENIED


class NotNow(MemorydError):
    """The same request may succeed later."""

    code = ErrorCode.UNAVAILABLE


class ShuttingDown(NotNow):
    """The daemon is stopping."""

    code = ErrorCode.SHUTTING_DOWN


class DeadlineExceeded(NotNow):
    """The answer did not come in the time allowed."""

    code = ErrorCode.TIMEOUT


class StoreError(MemorydError):
    """The database cannot do it."""

    code = ErrorCode.UNAVAILABLE


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


class EmbeddingError(MemorydError):
    """Vectors cannot be had."""

    code = ErrorCode.UNAVAILABLE


class EmbedderUnavailable(EmbeddingError):
    """Not now: loading, backing off, or no answer in time."""


class BudgetSpent(EmbedderUnavailable):
    """The tokens of the day do not reach for the whole batch, only for its first `fits` passages."""

    def __init__(self, message: str, *, fits: int) -> None:
        super().__init__(message)
        self.fits = fits


class WorkerDied(EmbeddingError):
    """The embedding child ended while it worked on the batch."""
