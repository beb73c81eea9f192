"""What is told of a forgetting: what went, and what is out of reach."""

from dataclasses import dataclass, fields

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
    """What was forgotten of a conversation, and in sentences what is out of reach."""

    path: RelativePath
    removed: Removed
    stays: tuple[str, ...]


def together(one: Removed, other: Removed) -> Removed:
    """Add up what went."""
    return Removed(*(getattr(one, field.name) + getattr(other, field.name) for field in fields(Removed)))
