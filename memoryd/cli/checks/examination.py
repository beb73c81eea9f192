"""What all checks of `memoryctl doctor` start from: the configuration, the daemon's word, and how far to go."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from memoryd.cli.checks.lock import lock_holder, lock_path
from memoryd.cli.invocation import Invocation
from memoryd.config.loading.load import Loaded, load
from memoryd.config.root import Config
from memoryd.errors import ConfigError, DaemonNotRunning, MemorydError
from memoryd.replies.status import StatusReply

STATUS_SECONDS = 10.0
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Extent:
    """How far the checks go: whether all of a thing is looked at, and whether providers elsewhere are asked."""

    is_deep: bool = False
    asks_providers: bool = False


@dataclass(frozen=True, slots=True)
class Examination:
    """What is known before any check; `status` is None where the daemon does not answer, and `silence` says why."""

    invocation: Invocation
    extent: Extent
    loaded: Loaded | None
    problems: tuple[str, ...]
    """Of the configuration; none if it is `loaded`."""
    status: StatusReply | None
    silence: MemorydError | None
    proc: Path = PROC
    """Where the kernel tells of itself."""

    @classmethod
    def begun(cls, invocation: Invocation, extent: Extent) -> Self:
        """Read the configuration and ask the daemon, which need not be there."""
        loaded, problems = _loaded()
        status, silence = _status(invocation)
        return cls(invocation, extent, loaded, problems, status, silence)

    @property
    def is_in_use(self) -> bool:
        """Whether a daemon may have our files open: one that answers, hangs, or listens elsewhere. Asked anew."""
        return self.status is not None or is_daemon_there(self.invocation, self.proc)

    @property
    def config(self) -> Config:
        """The configuration; raises ConfigError where there is none."""
        if self.loaded is None:
            raise ConfigError(list(self.problems))
        return self.loaded.config


def is_daemon_there(invocation: Invocation, proc: Path = PROC) -> bool:
    """Tell whether somebody holds the lock, or is behind the socket, though it may not answer."""
    if lock_holder(lock_path(), proc) is not None:
        return True
    _, silence = _status(invocation)
    return not isinstance(silence, DaemonNotRunning)


def _loaded() -> tuple[Loaded | None, tuple[str, ...]]:
    try:
        return load(), ()
    except ConfigError as exc:
        return None, tuple(exc.problems)


def _status(invocation: Invocation) -> tuple[StatusReply | None, MemorydError | None]:
    try:
        with invocation.client(STATUS_SECONDS) as client:
            return client.status(), None
    except MemorydError as exc:
        return None, exc
