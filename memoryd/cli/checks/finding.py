"""A check of `memoryctl doctor`: what it starts from, what it may find, and what may be done about that.

The lock of the state folder is looked at from outside, and never tried.
"""

import shlex
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, Self, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from memoryd.cli.invocation import Invocation
from memoryd.client.connection import PROC, lock_holder
from memoryd.config.agents import Agent
from memoryd.config.loading.load import Loaded, load
from memoryd.config.paths import lock_file
from memoryd.config.root import Config
from memoryd.errors import ConfigError, DaemonNotRunning, MemorydError
from memoryd.replies.status import StatusReply

STATUS_SECONDS = 10.0


class Examination(Struct, frozen=True):
    """What checks start from. `status` is None where the daemon does not answer, and `silence` says why."""

    invocation: Invocation
    loaded: Loaded | None
    problems: tuple[str, ...]
    """Of the configuration; none if it is `loaded`."""
    status: StatusReply | None
    silence: MemorydError | None
    is_deep: bool = False
    """Whether all of a thing is looked at."""
    asks_providers: bool = False
    """Whether providers elsewhere are asked."""
    proc: Path = PROC
    """Where the kernel tells of itself."""

    @classmethod
    def begin(cls, invocation: Invocation, *, is_deep: bool = False, asks_providers: bool = False) -> Self:
        """Read the configuration and ask the daemon, which need not be there."""
        try:
            loaded: Loaded | None = load()
            problems: tuple[str, ...] = ()
        except ConfigError as exc:
            loaded, problems = None, tuple(exc.problems)
        return cls(invocation, loaded, problems, *_status(invocation), is_deep, asks_providers)

    @property
    def is_in_use(self) -> bool:
        """Whether a daemon may have our files open: one that answers, hangs, or listens elsewhere. Asks anew."""
        if self.status is not None or lock_holder(lock_file(), self.proc) is not None:
            return True
        _, silence = _status(self.invocation)
        return not isinstance(silence, DaemonNotRunning)

    @property
    def config(self) -> Config:
        """The configuration; raises ConfigError where there is none."""
        if self.loaded is None:
            raise ConfigError(list(self.problems))
        return self.loaded.config

    @property
    def agents(self) -> list[Agent]:
        """The agents of the configuration; raises ConfigError where there is none."""
        return self.config.resolved_agents()


def _status(invocation: Invocation) -> tuple[StatusReply | None, MemorydError | None]:
    try:
        with invocation.client(STATUS_SECONDS) as client:
            return client.status(), None
    except MemorydError as exc:
        return None, exc


FindingState = Literal["ok", "off", "open", "look", "wrong"]


class Remedy(Struct, frozen=True):
    """What `--fix` does about a finding: `does` names it as a command would, `act` does it and says what was done.

    `act` raises MemorydError or OSError. What `asks` costs traffic, and is done only when somebody agrees.
    """

    does: str
    act: Callable[[], str]
    asks: bool = False


def chmod(path: Path, rights: int, command: str = "") -> Remedy:
    """Return what leaves a file of ours no other rights than some of its owner's."""

    def act() -> str:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & rights)
        return f"{path} is yours alone"

    return Remedy(command or f"chmod {rights:o} {shlex.quote(str(path))}", act)


class Finding(Struct, frozen=True):
    """One thing that was looked at; `hint` is what to do, in one sentence.

    What is `open` works, and others can see what they should not. What is to `look` at works, and may not be what
    somebody meant. `part` is what was looked at, the title of the check unless it says another; `check` is the id of
    the check that found it, which its look leaves to the caller.
    """

    state: FindingState
    message: str
    hint: str = ""
    remedy: Remedy | None = None
    part: str = ""
    check: str = ""


Findings = Iterator[Finding]


def with_part(part: str, *found: Finding) -> Findings:
    """Yield findings about one part of what a check looks at, such as the index of one agent."""
    yield from (replace(one, part=one.part or part) for one in found)


CheckFunction = Callable[[Examination], Iterable[Finding]]
"""Looks at one thing. It blocks, may raise, and may never return."""
AnyCheck = TypeVar("AnyCheck", bound=CheckFunction)


class DoctorCheck(Struct, frozen=True):
    """One check. `id` is `<section>.<what>` and stays; a person reads `title`; its limit is in seconds."""

    id: str
    title: str
    advice: str
    needs_config: bool
    seconds: float
    look: CheckFunction

    @property
    def looks_at(self) -> str:
        """What it looks at: what its function says of itself."""
        return " ".join((self.look.__doc__ or "").split()).removeprefix("Look at ").removesuffix(".")

    @property
    def section(self) -> str:
        """The section that it belongs to."""
        return self.id.partition(".")[0]


REGISTERED: list[DoctorCheck] = []
"""The checks of all modules that were imported; those of a section in their order."""


def check(
    id: str, title: str, *, advice: str, needs_config: bool = True, seconds: float = 30.0
) -> Callable[[AnyCheck], AnyCheck]:
    """Make a function a check of doctor: its docstring says what it looks at, `advice` what to do about that."""

    def register(look: AnyCheck) -> AnyCheck:
        REGISTERED.append(DoctorCheck(id, title, advice, needs_config, seconds, look))
        return look

    return register
