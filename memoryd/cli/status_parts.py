"""What stands on the one screen of the status: each part with a mark, what there is to say, and what to do next."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

NEXT: Final = {
    "workspace": "make the folder, or name another one in the configuration",
    "folder": "make the folder, or name another one in the configuration",
    "embedder": "memoryctl doctor looks at the model; words answer meanwhile",
    "provider": "memoryctl doctor asks the provider",
    "loopback port": "memoryctl http token shows file and port",
    "privacy": "mend .memoryignore; nothing new is indexed meanwhile",
}
"""By part; of any other the doctor knows more."""
DOCTOR: Final = "memoryctl doctor"


class Level(IntEnum):
    """How a part does, the worse the higher."""

    OFF = 0
    """Nobody wants it."""
    OK = 1
    NOTE = 2
    """It works, and its owner should know something."""
    BUSY = 3
    """It is on its way: nothing to do but wait."""
    WRONG = 4
    """It does less than the configuration asks for."""

    @property
    def mark(self) -> str:
        """The word for it: readable without colours, the same on every terminal."""
        return self.name.lower()

    @property
    def style(self) -> str:
        """How the word is coloured where there are colours."""
        return ("dim", "green", "yellow", "yellow", "bold red")[self]


@dataclass(frozen=True, slots=True)
class StatusPart:
    """One part of the daemon or of an agent's memory; `next_step` is empty where there is nothing to do."""

    level: Level
    name: str
    told: str
    next_step: str = ""


def joined(*parts: str) -> str:
    """Join what is not empty."""
    return " · ".join(part for part in parts if part)


def next_step(part: str) -> str:
    """Return what to do about a part that is wrong."""
    return NEXT.get(part, DOCTOR)


def worst(parts: Iterable[StatusPart]) -> Level:
    """Return how the worst of them does."""
    return max((part.level for part in parts), default=Level.OK)


def headline(version: str, parts: Iterable[StatusPart]) -> tuple[Level, str]:
    """Return how all of it does, in a sentence."""
    found = list(parts)
    wrong, busy = (sum(part.level is level for part in found) for level in (Level.WRONG, Level.BUSY))
    if wrong:
        things = "1 thing is" if wrong == 1 else f"{wrong} things are"
        return Level.WRONG, f"memoryd {version} runs, and {things} wrong"
    if busy:
        return Level.BUSY, f"memoryd {version} is well, and at work"
    return Level.OK, f"memoryd {version} is well"


def of_agent_as_one(name: str, parts: Iterable[StatusPart]) -> StatusPart:
    """Return all parts of an agent as one line: the worst of them, or the first where all is well."""
    found = list(parts)
    level = worst(found)
    shown = [part for part in found if part.level is level] if level >= Level.BUSY else found[:2]
    more = f"and {len(shown) - 1} more" if level >= Level.BUSY and len(shown) > 1 else ""
    told = [f"{part.name}: {part.told}" for part in shown[:1]] if level >= Level.BUSY else [it.told for it in shown]
    return StatusPart(level, name, joined(*told, more), shown[0].next_step if shown else "")
