"""Changes that wait for a person: each is of one file, small, and says in one sentence why."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Final, NewType

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.diffs import changed_lines
from memoryd.domain.memories.identity import MemoryId

ProposalId = NewType("ProposalId", str)
"""Twelve hexadecimal digits."""

ID_SIGNS: Final = 12
MAX_DIFF_CHARS: Final = 8_000
"""What a person reads in one go."""
MAX_OPEN: Final = 100
"""Open proposals of a workspace: whoever lets them lie is not given more."""


class ProposalKind(StrEnum):
    """What a proposal is for."""

    CORE_IN = "core-in"
    """A durable fact for `MEMORY.md`."""
    CORE_OUT = "core-out"
    """A line of `MEMORY.md` that a newer fact supersedes."""
    RETAIN = "retain"
    """A `## Retain` block for a log that has none."""
    OBSERVATION = "observation"
    """What recurred."""
    CONTRADICTION = "contradiction"
    """A line that says the opposite of an opinion is to count against it."""
    MARKERS = "markers"
    """A page that a person wrote gets a part that is kept up to date."""


class ProposalState(StrEnum):
    """Where a proposal stands."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    OUTDATED = "outdated"
    """Its file has changed, and it no longer says where its lines go."""


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """What is proposed; `memories` are those it rests on."""

    kind: ProposalKind
    path: RelativePath
    why: str
    diff: str
    memories: tuple[MemoryId, ...] = ()

    @property
    def id(self) -> ProposalId:
        """Return its id, of the lines that change alone: it outlives an edit elsewhere in the file."""
        named = "\0".join((self.kind, self.path, changed_lines(self.diff)))
        return ProposalId(sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:ID_SIGNS])


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change in the queue; `run` is the one that made it first."""

    id: ProposalId
    run: str
    change: ProposedChange
    state: ProposalState
    made_at: datetime
    decided_at: datetime | None = None


def to_propose(
    changes: Iterable[ProposedChange], known: Mapping[ProposalId, ProposalState]
) -> tuple[ProposedChange, ...]:
    """Return the changes that are to be put into the queue, with those that are to be opened again.

    What was decided stays so: a change is proposed once. One too large to be read is not proposed.
    """
    room = MAX_OPEN - sum(state is ProposalState.OPEN for state in known.values())
    chosen: dict[ProposalId, ProposedChange] = {}
    for change in changes:
        if not change.diff or len(change.diff) > MAX_DIFF_CHARS or change.id in chosen:
            continue
        if known.get(change.id, ProposalState.OUTDATED) is ProposalState.OUTDATED and len(chosen) < room:
            chosen[change.id] = change
    return tuple(chosen.values())
