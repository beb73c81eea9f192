"""What a check of `memoryctl doctor` has found, and what may be done about it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from memoryd.cli.checks.examination import Examination

FindingState = Literal["ok", "off", "open", "look", "wrong"]


@dataclass(frozen=True, slots=True)
class Remedy:
    """What `--fix` does about a finding: `does` names it as a command would, `act` does it and says what was done.

    `act` raises MemorydError or OSError. What `asks` costs traffic, and is done only when somebody agrees.
    """

    does: str
    act: Callable[[], str]
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `hint` is what to do, in one sentence.

    What is `open` works, and others can see what they should not. What is to `look` at works, and may not be what
    somebody meant. `check` is the id of the check that found it, which its look leaves to the caller.
    """

    part: str
    state: FindingState
    message: str
    hint: str = ""
    remedy: Remedy | None = None
    check: str = ""

    @property
    def is_well(self) -> bool:
        """Whether nobody need care."""
        return self.state in ("ok", "off")


Looks = Mapping[str, Callable[[Examination], Iterable[Finding]]]
"""What does the checks of a section, by their ids: each looks at one thing, blocks, may raise, and may never return."""
