"""What memories mean for opinions, as far as their lines say it: nothing here guesses.

`supports=` and `contradicts=` decide; a line that says the same reinforces. One that says the same negated, by
explicit wording, is put before a person. A text model may label other similar memories; its labels are passed in with
its identity. Evidence counts only where all who see the opinion may see it.

Similar opinions share an entity and significant words with a memory. The rarest words lead to the few candidates, so
that the time for a workspace grows with the number of its memories.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from itertools import product
from typing import Final

from msgspec import Struct

from memoryd.domain.counters import grouped
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import MemoryId, ShortId, is_belief, short_id
from memoryd.domain.memories.reflect.opinions import (
    CONTRADICTS,
    MODEL,
    RESTATED,
    SUPPORTS,
    Label,
    LabelledEvidence,
    OpinionBase,
    base_of,
    is_dated,
    restated_days,
)
from memoryd.domain.memories.scopes import covers
from memoryd.domain.text.duplicates import gist
from memoryd.domain.text.words import Statement, is_secret, plain_characters, statement_of

Alike = Callable[[Memory], Sequence[MemoryId]]
"""Gives the opinions that are near a memory by meaning, the nearest first: a few, by vectors."""

MAX_VISITED: Final = 48
"""Opinions held against one memory."""
MIN_SHARED: Final = 2
"""Telling words that two statements share, unless all are shared."""


class SimilarOpinion(Struct, frozen=True):
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
        if shared < MIN_SHARED and words != statement.words:
            return 0.0
        return shared / (len(words) + len(statement.words) - shared) if shared else 0.0

    def _near(self, memory: Memory, entities: frozenset[EntitySlug]) -> Iterator[MemoryId]:
        for one in self._alike(memory) if self._alike else ():
            if one != memory.id and self._slugs.get(one, frozenset()) & entities:
                yield one


NEGATED_SHARE: Final = 0.6
"""Share of all telling words that must stand in both lines of which one may negate the other."""
MAX_ASKED: Final = 3
"""Opinions for which a text model is asked about one memory."""


class DoubtedOpinion(Struct, frozen=True):
    """An opinion that a memory, said on a day, seems to negate: for a person to decide."""

    opinion: MemoryId
    evidence: MemoryId
    day: date


class OpinionLabels:
    """What the memories of a book mean for its opinions. All that it gives is in one order, whatever that of the book.

    `alike` gives opinions that are near by meaning, where there are vectors.
    """

    def __init__(self, book: Book, alike: Alike | None = None) -> None:
        self._book = book
        self._opinions = {one.id: one for one in book.memories.values() if is_belief(one.kind)}
        self._bases = {one.id: base_of(one) for one in self._opinions.values()}
        self._similar = SimilarOpinions(book, self._opinions.values(), alike)

    @cached_property
    def told(self) -> tuple[LabelledEvidence, ...]:
        """What the lines themselves say."""
        found = [*self._explicit, *self._said_again(), *self._copies()]
        return tuple(sorted(found, key=lambda one: (one.opinion, one.day, one.evidence, one.label)))

    @cached_property
    def doubted(self) -> tuple[DoubtedOpinion, ...]:
        """What seems to be negated by a line that does not say so itself."""
        decided = {(one.opinion, one.evidence) for one in self._explicit}
        found = [
            DoubtedOpinion(near.opinion, memory.id, day)
            for memory in self._book.memories.values()
            for near in self._similar.negating(memory, self._similar.statement(memory), NEGATED_SHARE)
            if (near.opinion, memory.id) not in decided
            and (day := self._day(near.opinion, memory, is_later=True)) is not None
        ]
        return tuple(sorted(found, key=lambda one: (one.opinion, one.day, one.evidence)))

    def unlabelled(self, known: Iterable[LabelledEvidence]) -> tuple[DoubtedOpinion, ...]:
        """Return pairs that a text model may be asked about: similar, and neither told nor `known`, oldest first."""
        decided = {(one.opinion, one.evidence) for one in (*self.told, *known)}
        found = [
            DoubtedOpinion(near.opinion, memory.id, day)
            for memory in self._book.memories.values()
            for near in self._similar.of(memory, self._similar.statement(memory))[:MAX_ASKED]
            if (near.opinion, memory.id) not in decided
            and (day := self._day(near.opinion, memory, is_later=True)) is not None
        ]
        return tuple(sorted(found, key=lambda one: (one.day, one.evidence, one.opinion)))

    def by_model(self, pair: DoubtedOpinion, label: Label, identity: str) -> LabelledEvidence:
        """Return the label that a text model gave to a pair, with its identity."""
        return LabelledEvidence(pair.opinion, pair.evidence, label, f"{MODEL}{identity}", pair.day)

    @cached_property
    def _explicit(self) -> tuple[LabelledEvidence, ...]:
        return tuple(self._decided(grouped((short_id(one), one) for one in self._book.memories)))

    def _decided(self, named: dict[ShortId, list[MemoryId]]) -> Iterator[LabelledEvidence]:
        """Yield what attributes decide; a short id that several memories have decides nothing."""
        for memory in self._book.memories.values():
            for short, (label, rule) in _sides(memory).items():
                opinion, *others = named.get(short, [MemoryId("")])
                day = None if others else self._day(opinion, memory, is_later=False)
                if day is not None:
                    yield LabelledEvidence(opinion, memory.id, label, rule, day)

    def _said_again(self) -> Iterator[LabelledEvidence]:
        for opinion in self._opinions.values():
            for day in restated_days(opinion, self._bases[opinion.id]):
                yield LabelledEvidence(opinion.id, opinion.id, Label.REINFORCE, RESTATED, day)

    def _copies(self) -> Iterator[LabelledEvidence]:
        """Yield what other memories say that say the same: of the same entities, equal but for case and layout."""
        stated = grouped((self._key(opinion), opinion) for opinion in self._opinions.values())
        for memory in self._book.memories.values():
            for opinion in stated.get(self._key(memory), ()):
                if opinion.id != memory.id and self._says_the_same(opinion, memory):
                    day = self._day(opinion.id, memory, is_later=True)
                    if day is not None:
                        yield LabelledEvidence(opinion.id, memory.id, Label.REINFORCE, RESTATED, day)

    def _key(self, memory: Memory) -> tuple[frozenset[EntitySlug], str]:
        """Return what memories that say the same have in common, and what is quickly had."""
        told = plain_characters(memory.line.text).casefold()
        return self._similar.entities(memory), "".join(filter(str.isalnum, told))

    def _says_the_same(self, opinion: Memory, memory: Memory) -> bool:
        given = memory.line.attributes.confidence
        is_agreed = given is None or given == self._bases[opinion.id].confidence
        return is_agreed and _folded(opinion.line.text) == _folded(memory.line.text)

    def _day(self, opinion: MemoryId, memory: Memory, *, is_later: bool) -> date | None:
        """Return the day on which a memory counts for an opinion, the oldest of its lines; None if it does not.

        With `is_later` it must be said in a daily log, after the opinion was stated.
        """
        base = self._bases.get(opinion)
        if base is None or opinion == memory.id:
            return None
        if not covers(memory.line.attributes.scope, self._opinions[opinion].line.attributes.scope):
            return None
        days = [one.day for one in memory.sources if is_dated(one) or not is_later]
        return min((day for day in days if _counts(day, base, is_later=is_later)), default=None)


def _counts(day: date, base: OpinionBase, *, is_later: bool) -> bool:
    if base.revised_on is not None and day < base.revised_on:
        return False
    return not is_later or base.stated_on is None or day > base.stated_on


def _sides(memory: Memory) -> dict[ShortId, tuple[Label, str]]:
    """Return what any line of a memory says it means for others, by their short ids, but for those on both sides."""
    every = [one.line.attributes for one in memory.sources]
    supported = {short for one in every for short in one.supports}
    contradicted = {short for one in every for short in one.contradicts}
    told = dict.fromkeys(sorted(supported - contradicted), (Label.REINFORCE, SUPPORTS))
    return told | dict.fromkeys(sorted(contradicted - supported), (Label.CONTRADICT, CONTRADICTS))


def _folded(text: str) -> str:
    said = gist(text)
    return said if is_secret(text) else said.casefold().rstrip(" .!。！")
