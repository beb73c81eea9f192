"""What is told of a forgetting: what went, and what is out of reach."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

from memoryd.domain.documents import RelativePath


@dataclass(frozen=True, slots=True)
class Removed:
    """What went, or would: files of ours in the workspace, the turns in them, rows, held answers, exports."""

    files: int = 0
    turns: int = 0
    answers: int = 0
    rows: int = 0
    held_answers: int = 0
    exports: int = 0


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was forgotten with a conversation: every conversation that went, how much, and in sentences the rest.

    `remarks` are about what went, `unfinished` about what goes later, `stays` about what is out of reach.
    """

    path: RelativePath
    removed: Removed = Removed()
    conversations: tuple[RelativePath, ...] = ()
    remarks: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()

    def with_more(self, removed: Removed, remarks: Sequence[str] = ()) -> Self:
        """Return it with more that went."""
        return replace(self, removed=together(self.removed, removed), remarks=(*self.remarks, *remarks))

    def with_unfinished(self, removed: Removed, why: str) -> Self:
        """Return it with a part of a conversation that went, and why the rest did not."""
        return replace(self, removed=together(self.removed, removed), unfinished=(*self.unfinished, why))

    def naming(self, conversations: Sequence[RelativePath]) -> Self:
        """Return it with more conversations."""
        return replace(self, conversations=(*self.conversations, *conversations))

    def with_stays(self, stays: Sequence[str]) -> Self:
        """Return it with what is out of reach."""
        return replace(self, stays=tuple(stays))


def together(one: Removed, other: Removed) -> Removed:
    """Add up what went."""
    return Removed(*(getattr(one, field.name) + getattr(other, field.name) for field in fields(Removed)))
