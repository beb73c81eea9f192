"""What recurred: experiences of several days about one entity that share a word, told as one observation.

An observation rests on the first 3, 6, 12 … memories, so that it stays what it is until there are twice as many.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from memoryd.domain.memories.attributes import Attributes
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.identity import MemoryId, short_id
from memoryd.domain.memories.kinds import Kind, Network
from memoryd.domain.memories.retained import RetainedLine
from memoryd.domain.text.words import is_unspaced, query_terms

MIN_DAYS: Final = 3
"""Days on which something must have happened before it recurs."""
MAX_OBSERVATIONS: Final = 5
"""Of one run."""
MAX_TERMS: Final = 40
"""Words of a memory that are looked at."""
MAX_IDS: Final = 12
"""Memories that an observation names."""
_MIN_LETTERS: Final = 4
"""Of a word that says what happened; two in a script without spaces."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """What recurred: memories of different days, the oldest first, about an entity, that share a word."""

    entity: str
    word: str
    memories: tuple[Memory, ...]

    @property
    def line(self) -> RetainedLine:
        """Return the observation as a line: it names the days, and the memories that it rests on."""
        days = ", ".join(one.first_recorded.isoformat() for one in self.memories)
        ids = ", ".join(short_id(one.id) for one in self.memories)
        text = f"“{self.word}” came up on {len(self.memories)} days: {days} (rests on {ids})"
        return RetainedLine(Kind.OBSERVATION, text, (self.entity,), Attributes())

    @property
    def ids(self) -> tuple[MemoryId, ...]:
        return tuple(one.id for one in self.memories)


def recurrences(
    memories: Iterable[Memory], since: date, is_common: Callable[[str], bool] = lambda _: False
) -> tuple[Recurrence, ...]:
    """Return what recurred, one for each entity at most, with something of it recorded since a day.

    Of several words the one of the most days counts, and of these the longest. `is_common` says which words are said
    of everything.
    """
    by_entity: defaultdict[EntitySlug, defaultdict[str, dict[date, Memory]]] = defaultdict(lambda: defaultdict(dict))
    names: dict[EntitySlug, str] = {}
    for memory in sorted(memories, key=lambda one: (one.first_recorded, one.id)):
        if memory.line.network is not Network.EXPERIENCE:
            continue
        words = _words(memory, is_common)
        for name in memory.line.entities:
            names.setdefault(slug_of(name), name)
        for slug in memory.slugs:
            for word in words:
                by_entity[slug][word].setdefault(memory.first_recorded, memory)
    found = [_of_entity(names[slug], words, since) for slug, words in sorted(by_entity.items())]
    return tuple(sorted(filter(None, found), key=lambda one: (-len(one.memories), one.entity))[:MAX_OBSERVATIONS])


def _of_entity(name: str, words: dict[str, dict[date, Memory]], since: date) -> Recurrence | None:
    ranked = sorted(words.items(), key=lambda item: (-len(item[1]), -len(item[0]), item[0]))
    word, days = ranked[0] if ranked else ("", {})
    told = _told(list(days.values()))
    if not told or told[-1].recorded < since:
        return None
    return Recurrence(name, word, told)


def _told(memories: Sequence[Memory]) -> tuple[Memory, ...]:
    count = MIN_DAYS
    if len(memories) < count:
        return ()
    while count * 2 <= min(len(memories), MAX_IDS):
        count *= 2
    return tuple(memories[:count])


def _words(memory: Memory, is_common: Callable[[str], bool]) -> list[str]:
    names = {term for name in memory.line.entities for term in query_terms(name)}
    return [
        term
        for term in query_terms(memory.line.text, limit=MAX_TERMS)
        if term not in names and not term.isdigit() and not is_common(term) and _says_something(term)
    ]


def _says_something(term: str) -> bool:
    return len(term) >= (2 if is_unspaced(term) else _MIN_LETTERS) and not term[0].isdigit()
