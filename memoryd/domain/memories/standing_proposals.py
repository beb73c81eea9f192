"""Whether what a proposal rests on still stands, may be told to all, and is what holds now."""

from typing import Final

from memoryd.domain.memories.pages import SharedMemories
from memoryd.domain.memories.proposals import ProposalKind, ProposedChange

WITHDRAWN: Final = "What it rests on is gone, is superseded, or may not be told to all any more."
"""Why a proposal is outdated of which no other word is kept."""


def still_rests(change: ProposedChange, shared: SharedMemories) -> bool:
    """Tell whether a change may still be proposed and accepted, by the memories that it rests on."""
    match change.kind:
        case ProposalKind.CORE_IN | ProposalKind.CORE_OUT:
            # of a stale line it is the newer fact alone that must stand
            current = change.memories[:1]
            return all(one in shared.memories and one not in shared.outdated for one in current)
        case ProposalKind.OBSERVATION | ProposalKind.CONTRADICTION:
            return all(one in shared.memories for one in change.memories)
        case ProposalKind.RETAIN | ProposalKind.MARKERS:
            # the lines of the one stand nowhere yet, and the other tells of none
            return True
