"""A note without one of its changes, where that costs no memory that the change did not write."""

from collections import Counter
from collections.abc import Sequence

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.hunks import Hunk, MovedOnError, places_of, taken_back
from memoryd.domain.memories.sections import PlacedLine, holds_memories, memory_sections
from memoryd.domain.text.lines import padded


def undone_text(text: str, path: RelativePath, hunks: Sequence[Hunk]) -> str:
    """Return a note without what a change wrote, and with what it took out.

    Raises MovedOnError where that does not stand unmistakably, or where other lines would not state any more what they
    state now.
    """
    after = taken_back(text, hunks)
    if not holds_memories(path):
        return after
    places = places_of(text, hunks)
    others = Counter(
        one.line for one in memory_sections(padded(text), path).lines if not any(_touches(one, *at) for at in places)
    )
    lost = others - Counter(one.line for one in memory_sections(padded(after), path).lines)
    if lost:
        number = lost.total()
        raise MovedOnError(
            f"without it {number} {'memory that came' if number == 1 else 'memories that came'} from elsewhere would "
            "not be read as such any more"
        )
    return after


def _touches(one: PlacedLine, begin: int, end: int) -> bool:
    """Tell whether a memory has lines from `begin` to before `end`, from 0; on both sides if they are none."""
    first, last = one.start_line - 1, one.end_line
    return first < end and begin < last if begin < end else first < begin <= last
