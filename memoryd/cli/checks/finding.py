"""A check of `memoryctl doctor`: its input, its findings, and remedies.

The lock of the state folder is only inspected: doctor never tries to take it.
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


class CheckContext(Struct, frozen=True):
    """The input of all checks. `status` is None if the daemon does not answer, and `silence` is the reason."""

    invocation: Invocation
    loaded: Loaded | None
    problems: tuple[str, ...]
    """Problems of the configuration; empty if it is `loaded`."""
    status: StatusReply | None
    silence: MemorydError | None
    is_deep: bool = False
    """Whether every note and page is checked, not only samples."""
    asks_providers: bool = False
    """Whether providers on other machines are asked."""
    proc: Path = PROC
    """The mount point of procfs."""

    @classmethod
    def begin(cls, invocation: Invocation, *, is_deep: bool = False, asks_providers: bool = False) -> Self:
        """Read the configuration, and ask the daemon for its status if it runs."""
        try:
            loaded: Loaded | None = load()
            problems: tuple[str, ...] = ()
        except ConfigError as exc:
            loaded, problems = None, tuple(exc.problems)
        return cls(invocation, loaded, problems, *_status(invocation), is_deep, asks_providers)

    @property
    def is_in_use(self) -> bool:
        """Whether a daemon that answers, hangs or listens elsewhere may have our files open. Asks the daemon again."""
        if self.status is not None or lock_holder(lock_file(), self.proc) is not None:
            return True
        _, silence = _status(self.invocation)
        return not isinstance(silence, DaemonNotRunning)

    @property
    def config(self) -> Config:
        """The configuration; raises ConfigError if it is invalid."""
        if self.loaded is None:
            raise ConfigError(list(self.problems))
        return self.loaded.config

    @property
    def agents(self) -> list[Agent]:
        """The agents of the configuration; raises ConfigError if it is invalid."""
        return self.config.resolved_agents()


def _status(invocation: Invocation) -> tuple[StatusReply | None, MemorydError | None]:
    try:
        with invocation.client(STATUS_SECONDS) as client:
            return client.status(), None
    except MemorydError as exc:
        return None, exc


FindingState = Literal["ok", "off", "open", "look", "wrong"]


class Remedy(Struct, frozen=True):
    """What `--fix` does about a finding: `description` reads like a command, `act` does it and returns a report.

    `act` raises MemorydError or OSError. What causes network traffic needs the user's consent (`needs_consent`).
    """

    description: str
    act: Callable[[], str]
    needs_consent: bool = False


def chmod(path: Path, rights: int, command: str = "") -> Remedy:
    """Return a remedy that removes all rights except `rights` from a file; `command` describes it, default `chmod`."""

    def act() -> str:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & rights)
        return f"{path} is yours alone"

    return Remedy(command or f"chmod {rights:o} {shlex.quote(str(path))}", act)


class Finding(Struct, frozen=True):
    """One result of a check; `hint` says what to do, in one sentence.

    `open`: it works, but other users can see what they should not. `look`: it works, but may not be intended. `part`
    is the part that was checked, by default the title of the check. `check` is the id of the check; the caller of the
    check function sets it.
    """

    state: FindingState
    message: str
    hint: str = ""
    remedy: Remedy | None = None
    part: str = ""
    check: str = ""


Findings = Iterator[Finding]


def with_part(part: str, *findings: Finding) -> Findings:
    """Yield findings with the part set, such as the index of one agent, if it is not set yet."""
    yield from (replace(finding, part=finding.part or part) for finding in findings)


CheckFunction = Callable[[CheckContext], Iterable[Finding]]
"""Performs one check. It blocks, may raise, and may never return."""
AnyCheck = TypeVar("AnyCheck", bound=CheckFunction)


class DoctorCheck(Struct, frozen=True):
    """One check. `id` is `<section>.<name>` and never changes; `title` is for people; `seconds` limits its time."""

    id: str
    title: str
    advice: str
    needs_config: bool
    seconds: float
    run: CheckFunction

    @property
    def subject(self) -> str:
        """What is checked: the docstring of the function, without its verb."""
        text = " ".join((self.run.__doc__ or "").split())
        return text.removeprefix("Check ").removeprefix("for ").removesuffix(".")

    @property
    def section(self) -> str:
        """The section of doctor that the check belongs to."""
        return self.id.partition(".")[0]


REGISTERED: list[DoctorCheck] = []
"""The checks of all imported modules, in the order of their definition."""


def check(
    id: str, title: str, *, advice: str, needs_config: bool = True, seconds: float = 30.0
) -> Callable[[AnyCheck], AnyCheck]:
    """Register a function as a check of doctor: its docstring says what is checked, `advice` how to correct it."""

    def register(look: AnyCheck) -> AnyCheck:
        REGISTERED.append(DoctorCheck(id, title, advice, needs_config, seconds, look))
        return look

    return register
