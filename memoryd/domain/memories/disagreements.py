"""Disagreements as a person settles them: their names, and what keeping one or both writes into a line.

Nothing of it is stored beside the notes: what holds alone says `supersedes=`, and what holds beside another `beside=`.
So a settlement outlives a restart, is taken back by undo, and goes with the line that says it.
"""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.memories.kinds import MemoryId, ShortId, short_id
from memoryd.domain.memories.line import BY_PEOPLE, Provenance, RetainedLine, joined
from memoryd.domain.memories.versions import Disagreement


class Keep(StrEnum):
    """What a person keeps of two memories that disagree."""

    NEWER = "newer"
    OLDER = "older"
    BOTH = "both"


def pair_name(one: Disagreement) -> str:
    """Return by what a disagreement is named: the beginnings of both ids, the newer first."""
    return f"{short_id(one.newer)}-{short_id(one.older)}"


def named_pair(name: str, known: Iterable[Disagreement]) -> Disagreement:
    """Return the disagreement of a name, or that one memory is part of; raise ValueError for none, or several."""
    asked = name.strip().lower()
    is_id = len(asked) >= _SHORTEST
    near = [
        one
        for one in known
        if asked == pair_name(one) or (is_id and (one.newer.startswith(asked) or one.older.startswith(asked)))
    ]
    if not near:
        raise ValueError(f"there is no disagreement {name!r}")
    if len(near) > 1:
        raise ValueError(f"{name!r} is part of {len(near)} disagreements: {', '.join(map(pair_name, near[:3]))}")
    return near[0]


_SHORTEST = 4


class Settlement(Struct, frozen=True):
    """What is written into the line of a memory: that it holds alone, or beside the other one."""

    memory: MemoryId
    other: ShortId
    holds_alone: bool

    def of(self, line: RetainedLine) -> RetainedLine:
        """Return a line as it is to be; who settles it says what an agent has said, so it is theirs from now on."""
        by = line.attributes.provenance if line.attributes.provenance in BY_PEOPLE else Provenance.USER
        said = replace(line.attributes, provenance=by)
        if not self.holds_alone:
            return replace(line, attributes=replace(said, beside=joined(said.beside, [self.other])))
        without = tuple(one for one in said.beside if one != self.other)
        told = replace(said, supersedes=joined(said.supersedes, [self.other]), beside=without)
        return replace(line, attributes=told)


def settlement_of(one: Disagreement, keep: Keep) -> Settlement:
    """Return what settles a disagreement."""
    if keep is Keep.OLDER:
        return Settlement(one.older, short_id(one.newer), holds_alone=True)
    return Settlement(one.newer, short_id(one.older), holds_alone=keep is Keep.NEWER)
