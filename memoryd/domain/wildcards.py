"""Wildcards, matched in time that grows with the pattern and never explodes.

A pattern is run over all places of a path at once: the places reached so far are the bits of one number, and each
character, `?`, class or star of the pattern moves them with a few operations. A regular expression would go back and
try again, for hours if the pattern was written to make it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


class Places:
    """The characters of a text as sets of places: bit i of `at(c)` says that character i is `c`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 1 << len(text)

    @cached_property
    def _at(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for index, character in enumerate(self.text):
            found[character] = found.get(character, 0) | 1 << index
        return found

    def at(self, character: str) -> int:
        """Return where this character stands."""
        return self._at.get(character, 0)

    def inside(self, ranges: Sequence[tuple[str, str]]) -> int:
        """Return where a character of one of the ranges stands."""
        return sum(
            places
            for character, places in self._at.items()
            if any(first <= character <= last for first, last in ranges)
        )

    @cached_property
    def within(self) -> int:
        """Where any character but `/` stands."""
        return (self.end - 1) & ~self.at("/")


@dataclass(frozen=True, slots=True)
class Literal:
    """This character."""

    character: str

    def step(self, reached: int, text: Places) -> int:
        return (reached & text.at(self.character)) << 1


@dataclass(frozen=True, slots=True)
class CharacterClass:
    """One character in (or, negated, outside) the ranges; `?` is what is outside of none. Never a `/`."""

    ranges: tuple[tuple[str, str], ...] = ()
    is_negated: bool = True

    def step(self, reached: int, text: Places) -> int:
        inside = text.inside(self.ranges)
        return (reached & text.within & (~inside if self.is_negated else inside)) << 1


@dataclass(frozen=True, slots=True)
class Star:
    """Any run of characters: within a name, or, if `crosses`, over `/` too."""

    crosses: bool

    def step(self, reached: int, text: Places) -> int:
        if self.crosses:
            return ((text.end << 1) - 1) & -(reached & -reached)
        # the carry of the sum runs on from each place to the end of its name
        return (((reached & text.within) + text.within) ^ text.within) | reached


@dataclass(frozen=True, slots=True)
class Folders:
    """`**/`: no folder, or any number of them."""

    def step(self, reached: int, text: Places) -> int:
        return reached | Literal("/").step(Star(crosses=True).step(reached, text), text)


Token = Literal | CharacterClass | Star | Folders
"""A piece of a pattern. `step` takes the places reached before it, as bits, and returns those reached behind it."""


def reaches_end(tokens: Sequence[Token], text: Places, *, start: int = 0) -> bool:
    """Tell whether a pattern matches the text from this place on to its end."""
    reached = 1 << start
    for token in tokens:
        reached = token.step(reached, text)
        if not reached:
            return False
    return bool(reached & text.end)
