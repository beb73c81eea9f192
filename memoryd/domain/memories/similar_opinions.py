"""Opinions that speak of what a memory speaks of: they share an entity with it, and telling words.

No memory is held against every opinion: the rarest words lead to the few that may share enough, so that all memories
of a workspace take time that grows with their number.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.text.negations import Statement, statement_of

Alike = Callable[[Memory], Sequence[MemoryId]]
"""Gives the opinions that are near a memory by meaning, the nearest first: a few, by vectors."""

MAX_VISITED: Final = 48
"""Opinions held against one memory."""
LEAST_SHARED: Final = 2
"""Telling words that two statements share, unless all are shared."""


@dataclass(frozen=True, slots=True)
class SimilarOpinion:
    """An opinion that may speak of the same; `share` of all their words stands in both, 0 to 1, 1 if by meaning."""

    opinion: MemoryId
    share: float


class SimilarOpinions:
    """The opinions of a book, to be found by entity and words."""

    def __init__(self, book: Book, opinions: Iterable[Memory], alike: Alike | None = None) -> None:
        self._aliases = book.aliases
        self._alike = alike
        self._stated: dict[MemoryId, Statement] = {}
        self._slugs: dict[MemoryId, frozenset[EntitySlug]] = {}
        self._by_word: defaultdict[tuple[EntitySlug, str, bool], list[MemoryId]] = defaultdict(list)
        self._by_words: defaultdict[frozenset[str], list[MemoryId]] = defaultdict(list)
        for opinion in sorted(opinions, key=lambda one: one.id):
            self._add(opinion)

    def statement(self, memory: Memory) -> Statement:
        """Return what a memory states."""
        return self._stated.get(memory.id) or statement_of(memory.line.text)

    def entities(self, memory: Memory) -> frozenset[EntitySlug]:
        """Return the entities of a memory, aliases by the name of their entity."""
        return frozenset(self._aliases.get(slug, slug) for slug in memory.slugs)

    def of(self, memory: Memory, statement: Statement) -> list[SimilarOpinion]:
        """Return other opinions about an entity of a memory that share telling words, the most alike first."""
        return self._found(memory, statement, (False, True), 0.0)

    def negating(self, memory: Memory, statement: Statement, least: float) -> list[SimilarOpinion]:
        """Return those of them that say yes where the memory says no, or no where yes, and share at least so much."""
        return self._found(memory, statement, (not statement.is_negated,), least)

    def _found(
        self, memory: Memory, statement: Statement, negated: Sequence[bool], least: float
    ) -> list[SimilarOpinion]:
        entities = self.entities(memory)
        shares: dict[MemoryId, float] = {}
        for one in self._visited(entities, statement.words, negated, least):
            share = self._share(one, statement)
            if one != memory.id and share >= least and share > 0:
                shares[one] = share
        near = (one for one in self._near(memory, entities) if self._stated[one].is_negated in negated)
        shares |= dict.fromkeys(near, 1.0)
        return [SimilarOpinion(one, share) for one, share in sorted(shares.items(), key=lambda it: (-it[1], it[0]))]

    def _add(self, opinion: Memory) -> None:
        statement = statement_of(opinion.line.text)
        self._stated[opinion.id], self._slugs[opinion.id] = statement, self.entities(opinion)
        self._by_words[statement.words].append(opinion.id)
        for slug in self._slugs[opinion.id]:
            for word in statement.words:
                self._by_word[slug, word, statement.is_negated].append(opinion.id)

    def _visited(
        self, entities: frozenset[EntitySlug], words: frozenset[str], negated: Sequence[bool], least: float
    ) -> dict[MemoryId, None]:
        """Return opinions to look at: those of the very same words, then by the rarest words first."""
        same = (one for one in self._by_words.get(words, ()) if self._slugs[one] & entities)
        visited = dict.fromkeys([one for one in same if self._stated[one].is_negated in negated][:MAX_VISITED])
        for places in sorted(
            (self._places(*key, least) for key in product(sorted(entities), [words], negated)), key=len
        ):
            for place in places:
                visited |= dict.fromkeys(place[: max(MAX_VISITED - len(visited), 0)])
        return visited

    def _places(
        self, entity: EntitySlug, words: frozenset[str], is_negated: bool, least: float
    ) -> list[list[MemoryId]]:
        """Return where the rarest words lead: two statements that share enough share at least one of these.

        This is the prefix filter of Chaudhuri, Ganti and Kaushik, "A Primitive Operator for Similarity Joins" (2006).
        """
        found = sorted((self._by_word.get((entity, word, is_negated), []) for word in sorted(words)), key=len)
        return [place for place in found[: len(words) - math.ceil(least * len(words)) + 1] if place]

    def _share(self, opinion: MemoryId, statement: Statement) -> float:
        """Return the share of all their words that stands in both, 0 if those are too few to say anything."""
        words = self._stated[opinion].words
        shared = len(words & statement.words)
        if shared < LEAST_SHARED and words != statement.words:
            return 0.0
        return shared / (len(words) + len(statement.words) - shared) if shared else 0.0

    def _near(self, memory: Memory, entities: frozenset[EntitySlug]) -> Iterator[MemoryId]:
        for one in self._alike(memory) if self._alike else ():
            if one != memory.id and self._slugs.get(one, frozenset()) & entities:
                yield one
