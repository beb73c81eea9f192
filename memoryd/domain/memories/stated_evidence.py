"""Evidence that lines state themselves, by `supports=` and `contradicts=`, whether or not it has moved anything yet."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.identity import MemoryId, short_id
from memoryd.domain.memories.opinion_rule import Label
from memoryd.domain.memories.recall_filters import RecallFilters


@dataclass(frozen=True, slots=True)
class StatedEvidence:
    """A memory whose line says that it speaks for or against an opinion."""

    memory: Memory
    label: Label


def stated_evidence(
    book: Book, opinions: Collection[MemoryId], filters: RecallFilters
) -> Mapping[MemoryId, tuple[StatedEvidence, ...]]:
    """Return what lines state for and against these opinions, the oldest first, as far as the asker may know."""
    named = {short_id(one): one for one in opinions}
    found: dict[MemoryId, tuple[StatedEvidence, ...]] = {}
    for memory in book.stating if named else ():
        if not filters.standing(memory):
            continue
        attributes = memory.line.attributes
        said = ((attributes.supports, Label.REINFORCE), (attributes.contradicts, Label.CONTRADICT))
        for short, label in ((short, label) for shorts, label in said for short in shorts):
            if (opinion := named.get(short)) is not None:
                found[opinion] = (*found.get(opinion, ()), StatedEvidence(memory, label))
    return found
