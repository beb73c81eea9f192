"""What memories mean for opinions, as far as their lines say it: nothing here guesses.

`supports=` and `contradicts=` decide; a line that says the same reinforces. One that says the same negated, by
explicit wording, is put before a person. A text model may label other similar memories. Evidence counts only where all
who see the opinion may see it.

Similar opinions share an entity and significant words with a memory. The rarest words lead to the few candidates, so
that the time for a workspace grows with the number of its memories.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from itertools import product

from msgspec import Struct

from memoryd.domain.counters import grouped
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import MemoryId, ShortId, covers, is_belief, short_id
from memoryd.domain.memories.reflect.opinions import (
    CONTRADICTS,
    MODEL,
    RESTATED,
    SUPPORTS,
    Label,
    LabelledEvidence,
    base_of,
    is_dated,
    restated_days,
)
from memoryd.domain.text.duplicates import gist
from memoryd.domain.text.words import Statement, is_secret, plain_characters, statement_of

MAX_VISITED = 48
"""Opinions held against one memory."""
MIN_SHARED = 2
"""Telling words that two statements share, unless all are shared."""


class SimilarOpinions:
    """The opinions of a book, to be found by entity and words."""

    def __init__(self, book: Book, opinions: Iterable[Memory]) -> None:
        self._aliases = book.aliases
        self._stated: dict[MemoryId, Statement] = {}
        self._slugs: dict[MemoryId, frozenset[EntitySlug]] = {}
        self._by_word: defaultdict[tuple[EntitySlug, str, bool], list[MemoryId]] = defaultdict(list)
        self._by_words: defaultdict[frozenset[str], list[MemoryId]] = defaultdict(list)
        for opinion in sorted(opinions, key=lambda one: one.id):
            self._add(opinion)

    def entities(self, memory: Memory) -> frozenset[EntitySlug]:
        """Return the entities of a memory, aliases by the name of their entity."""
        return frozenset(self._aliases.get(slug, slug) for slug in memory.slugs)

    def of(self, memory: Memory, *, is_opposite: bool = False) -> list[MemoryId]:
        """Return other opinions about an entity of a memory that share significant words, the most similar first.

        `is_opposite`: only those that say yes where the memory says no, or no where yes, and share most of their words.
        """
        statement = self._stated.get(memory.id) or statement_of(memory.text)
        negated = (not statement.is_negated,) if is_opposite else (False, True)
        least = NEGATED_SHARE if is_opposite else 0.0
        visited = self._candidates(self.entities(memory), statement.words, negated, least)
        shares = {one: self._share(one, statement) for one in visited if one != memory.id}
        similar = (one for one, share in shares.items() if share >= least and share > 0)
        return sorted(similar, key=lambda one: (-shares[one], one))

    def _add(self, opinion: Memory) -> None:
        statement = statement_of(opinion.text)
        self._stated[opinion.id], self._slugs[opinion.id] = statement, self.entities(opinion)
        self._by_words[statement.words].append(opinion.id)
        for slug in self._slugs[opinion.id]:
            for word in statement.words:
                self._by_word[slug, word, statement.is_negated].append(opinion.id)

    def _candidates(
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
        """Return the share of all their words that both have, 0 if those are too few to say anything."""
        words = self._stated[opinion].words
        shared = len(words & statement.words)
        if shared < MIN_SHARED and words != statement.words:
            return 0.0
        return shared / (len(words) + len(statement.words) - shared) if shared else 0.0


NEGATED_SHARE = 0.6
"""Share of all significant words that two lines must have in common for one to negate the other."""
MAX_ASKED = 3
"""Opinions for which a text model is asked about one memory."""


class DoubtedOpinion(Struct, frozen=True):
    """An opinion that a memory, said on a day, seems to negate: for a person to decide."""

    opinion: MemoryId
    evidence: MemoryId
    day: date


class OpinionLabels:
    """What the memories of a book mean for its opinions, in an order that does not depend on that of the book."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._opinions = {one.id: one for one in book.memories.values() if is_belief(one.kind)}
        self._bases = {one.id: base_of(one) for one in self._opinions.values()}
        self._similar = SimilarOpinions(book, self._opinions.values())

    @cached_property
    def stated(self) -> tuple[LabelledEvidence, ...]:
        """What the lines themselves say."""
        found = [*self._explicit, *self._repetitions(), *self._copies()]
        return tuple(sorted(found, key=lambda one: (one.opinion, one.day, one.evidence, one.label)))

    @cached_property
    def doubted(self) -> tuple[DoubtedOpinion, ...]:
        """What seems to be negated by a line that does not say so itself."""
        found = self._undecided_pairs(lambda memory: self._similar.of(memory, is_opposite=True), self._explicit)
        return tuple(sorted(found, key=lambda one: (one.opinion, one.day, one.evidence)))

    def unlabelled(self, known: Iterable[LabelledEvidence]) -> tuple[DoubtedOpinion, ...]:
        """Return similar pairs that neither lines nor `known` label, for a text model to label, the oldest first."""
        found = self._undecided_pairs(lambda memory: self._similar.of(memory)[:MAX_ASKED], (*self.stated, *known))
        return tuple(sorted(found, key=lambda one: (one.day, one.evidence, one.opinion)))

    def _undecided_pairs(
        self, similar: Callable[[Memory], Iterable[MemoryId]], labels: Iterable[LabelledEvidence]
    ) -> Iterator[DoubtedOpinion]:
        """Yield each memory with the similar opinions for which it may count, unless one of the labels says how."""
        decided = {(one.opinion, one.evidence) for one in labels}
        for memory in self._book.memories.values():
            for opinion in similar(memory):
                day = self._day(opinion, memory, is_later=True)
                if day is not None and (opinion, memory.id) not in decided:
                    yield DoubtedOpinion(opinion, memory.id, day)

    def by_model(self, pair: DoubtedOpinion, label: Label, identity: str) -> LabelledEvidence:
        """Return the label that a text model gave to a pair, with its identity."""
        return LabelledEvidence(pair.opinion, pair.evidence, label, f"{MODEL}{identity}", pair.day)

    @cached_property
    def _explicit(self) -> tuple[LabelledEvidence, ...]:
        """What attributes decide; a short id that several memories have decides nothing."""
        return tuple(self._by_attributes())

    def _by_attributes(self) -> Iterator[LabelledEvidence]:
        named = grouped((short_id(one), one) for one in self._book.memories)
        for memory in self._book.memories.values():
            for short, (label, rule) in _sides(memory).items():
                opinion, *others = named.get(short, [MemoryId("")])
                day = None if others else self._day(opinion, memory, is_later=False)
                if day is not None:
                    yield LabelledEvidence(opinion, memory.id, label, rule, day)

    def _repetitions(self) -> Iterator[LabelledEvidence]:
        for opinion in self._opinions.values():
            for day in restated_days(opinion, self._bases[opinion.id]):
                yield LabelledEvidence(opinion.id, opinion.id, Label.REINFORCE, RESTATED, day)

    def _copies(self) -> Iterator[LabelledEvidence]:
        """Yield what other memories say that say the same: of the same entities, equal but for case and layout."""
        stated = grouped((self._key(opinion), opinion) for opinion in self._opinions.values())
        for memory in self._book.memories.values():
            for opinion in stated.get(self._key(memory), ()):
                given = memory.line.attributes.confidence
                is_agreed = given in (None, self._bases[opinion.id].confidence)
                day = self._day(opinion.id, memory, is_later=True)
                if day is not None and is_agreed and _fold(opinion.text) == _fold(memory.text):
                    yield LabelledEvidence(opinion.id, memory.id, Label.REINFORCE, RESTATED, day)

    def _key(self, memory: Memory) -> tuple[frozenset[EntitySlug], str]:
        """Return what memories that say the same have in common, and what is quickly had."""
        return self._similar.entities(memory), "".join(filter(str.isalnum, plain_characters(memory.text).casefold()))

    def _day(self, opinion: MemoryId, memory: Memory, *, is_later: bool) -> date | None:
        """Return the day on which a memory counts for an opinion, the oldest of its lines; None if it does not.

        With `is_later` it must be said in a daily log, after the opinion was stated.
        """
        base = self._bases.get(opinion)
        if base is None or opinion == memory.id:
            return None
        if not covers(memory.scope, self._opinions[opinion].line.attributes.scope):
            return None
        days = [one.day for one in memory.sources if is_dated(one) or not is_later]
        earliest, stated_on = base.revised_on or date.min, base.stated_on if is_later else None
        counted = (day for day in days if day >= earliest and (stated_on is None or day > stated_on))
        return min(counted, default=None)


def _sides(memory: Memory) -> dict[ShortId, tuple[Label, str]]:
    """Return what any line of a memory says it means for others, by their short ids, but for those on both sides."""
    lines = [one.line.attributes for one in memory.sources]
    supported = {short for one in lines for short in one.supports}
    contradicted = {short for one in lines for short in one.contradicts}
    sides = dict.fromkeys(sorted(supported - contradicted), (Label.REINFORCE, SUPPORTS))
    return sides | dict.fromkeys(sorted(contradicted - supported), (Label.CONTRADICT, CONTRADICTS))


def _fold(text: str) -> str:
    said = gist(text)
    return said if is_secret(text) else said.casefold().rstrip(" .!。！")
