"""Evidence of memories for and against opinions, as far as their lines state it; nothing is guessed here.

`supports=` and `contradicts=` decide; a line with the same text reinforces. A line with the same text negated, by
explicit wording, is shown to a person. A text model may label other similar memories. Evidence counts only if everyone
who sees the opinion may see it.

Opinions are similar to a memory if they share an entity and significant words. The rarest words select the few
candidates, so that the time for a workspace grows linearly with the number of its memories.
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
"""Most opinions compared with one memory."""
MIN_SHARED = 2
"""Least number of significant words that two statements must share, unless they share all."""


class SimilarOpinions:
    """The opinions of a book, indexed by entity and words."""

    def __init__(self, book: Book, opinions: Iterable[Memory]) -> None:
        self._aliases = book.aliases
        self._stated: dict[MemoryId, Statement] = {}
        self._slugs: dict[MemoryId, frozenset[EntitySlug]] = {}
        self._by_word: defaultdict[tuple[EntitySlug, str, bool], list[MemoryId]] = defaultdict(list)
        self._by_words: defaultdict[frozenset[str], list[MemoryId]] = defaultdict(list)
        for opinion in sorted(opinions, key=lambda opinion: opinion.id):
            self._add(opinion)

    def entities(self, memory: Memory) -> frozenset[EntitySlug]:
        """Return the entities of a memory, with aliases resolved."""
        return frozenset(self._aliases.get(slug, slug) for slug in memory.slugs)

    def of(self, memory: Memory, *, is_opposite: bool = False) -> list[MemoryId]:
        """Return other opinions about an entity of a memory that share significant words, most similar first.

        `is_opposite`: only those where exactly one of the two is negated, and that share most of their words.
        """
        statement = self._stated.get(memory.id) or statement_of(memory.text)
        negated = (not statement.is_negated,) if is_opposite else (False, True)
        least = NEGATED_SHARE if is_opposite else 0.0
        visited = self._candidates(self.entities(memory), statement.words, negated, least)
        shares = {opinion: self._share(opinion, statement) for opinion in visited if opinion != memory.id}
        similar = (opinion for opinion, share in shares.items() if share >= least and share > 0)
        return sorted(similar, key=lambda opinion: (-shares[opinion], opinion))

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
        """Return candidate opinions: those with exactly these words first, then those with the rarest words."""
        same = (opinion for opinion in self._by_words.get(words, ()) if self._slugs[opinion] & entities)
        visited = dict.fromkeys(
            [opinion for opinion in same if self._stated[opinion].is_negated in negated][:MAX_VISITED]
        )
        for places in sorted(
            (self._places(*key, least) for key in product(sorted(entities), [words], negated)), key=len
        ):
            for place in places:
                visited |= dict.fromkeys(place[: max(MAX_VISITED - len(visited), 0)])
        return visited

    def _places(
        self, entity: EntitySlug, words: frozenset[str], is_negated: bool, least: float
    ) -> list[list[MemoryId]]:
        """Return the opinions of the rarest words: two statements that share enough words share at least one of these.

        This is the prefix filter of Chaudhuri, Ganti and Kaushik, "A Primitive Operator for Similarity Joins" (2006).
        """
        postings = sorted((self._by_word.get((entity, word, is_negated), []) for word in sorted(words)), key=len)
        return [posting for posting in postings[: len(words) - math.ceil(least * len(words)) + 1] if posting]

    def _share(self, opinion: MemoryId, statement: Statement) -> float:
        """Return the Jaccard similarity of the words, 0 if too few are shared to be significant."""
        words = self._stated[opinion].words
        shared = len(words & statement.words)
        if shared < MIN_SHARED and words != statement.words:
            return 0.0
        return shared / (len(words) + len(statement.words) - shared) if shared else 0.0


NEGATED_SHARE = 0.6
"""Least share of common words among all significant words of two lines that negate each other."""
MAX_SIMILAR_OPINIONS = 3
"""Most opinions that a text model labels for one memory."""


class DoubtedOpinion(Struct, frozen=True):
    """An opinion that a memory of some day seems to negate, for a person to decide."""

    opinion: MemoryId
    evidence: MemoryId
    day: date


class OpinionLabels:
    """The evidence in a book for its opinions, in an order that does not depend on that of the book."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._opinions = {memory.id: memory for memory in book.memories.values() if is_belief(memory.kind)}
        self._bases = {opinion.id: base_of(opinion) for opinion in self._opinions.values()}
        self._similar = SimilarOpinions(book, self._opinions.values())

    @cached_property
    def stated(self) -> tuple[LabelledEvidence, ...]:
        """The evidence that lines state themselves."""
        labels = [*self._explicit, *self._repetitions(), *self._copies()]
        return tuple(sorted(labels, key=lambda label: (label.opinion, label.day, label.evidence, label.label)))

    @cached_property
    def contradictions(self) -> tuple[DoubtedOpinion, ...]:
        """Opinions that a line seems to negate without saying so in an attribute."""
        pairs = self._undecided_pairs(lambda memory: self._similar.of(memory, is_opposite=True), self._explicit)
        return tuple(sorted(pairs, key=lambda pair: (pair.opinion, pair.day, pair.evidence)))

    def unlabelled(self, known: Iterable[LabelledEvidence]) -> tuple[DoubtedOpinion, ...]:
        """Return similar pairs that neither lines nor `known` label, for a text model to label, oldest first."""
        pairs = self._undecided_pairs(
            lambda memory: self._similar.of(memory)[:MAX_SIMILAR_OPINIONS], (*self.stated, *known)
        )
        return tuple(sorted(pairs, key=lambda pair: (pair.day, pair.evidence, pair.opinion)))

    def _undecided_pairs(
        self, similar: Callable[[Memory], Iterable[MemoryId]], labels: Iterable[LabelledEvidence]
    ) -> Iterator[DoubtedOpinion]:
        """Yield each memory with the similar opinions that it may be evidence for, unless a label exists."""
        decided = {(label.opinion, label.evidence) for label in labels}
        for memory in self._book.memories.values():
            for opinion in similar(memory):
                day = self._day(opinion, memory, is_later=True)
                if day is not None and (opinion, memory.id) not in decided:
                    yield DoubtedOpinion(opinion, memory.id, day)

    def by_model(self, pair: DoubtedOpinion, label: Label, identity: str) -> LabelledEvidence:
        """Return the label that a text model gave to a pair, with the model's identity."""
        return LabelledEvidence(pair.opinion, pair.evidence, label, f"{MODEL}{identity}", pair.day)

    @cached_property
    def _explicit(self) -> tuple[LabelledEvidence, ...]:
        """The evidence from attributes; a short id of several memories is ignored."""
        labels: list[LabelledEvidence] = []
        named = grouped((short_id(memory_id), memory_id) for memory_id in self._book.memories)
        for memory in self._book.memories.values():
            for short, (label, rule) in _sides(memory).items():
                opinion, *others = named.get(short, [MemoryId("")])
                day = None if others else self._day(opinion, memory, is_later=False)
                if day is not None:
                    labels.append(LabelledEvidence(opinion, memory.id, label, rule, day))
        return tuple(labels)

    def _repetitions(self) -> Iterator[LabelledEvidence]:
        for opinion in self._opinions.values():
            for day in restated_days(opinion, self._bases[opinion.id]):
                yield LabelledEvidence(opinion.id, opinion.id, Label.REINFORCE, RESTATED, day)

    def _copies(self) -> Iterator[LabelledEvidence]:
        """Yield memories that repeat an opinion: the same entities, and text that differs in case and layout only."""
        stated = grouped((self._key(opinion), opinion) for opinion in self._opinions.values())
        for memory in self._book.memories.values():
            for opinion in stated.get(self._key(memory), ()):
                confidence = memory.line.attributes.confidence
                is_agreed = confidence in (None, self._bases[opinion.id].confidence)
                day = self._day(opinion.id, memory, is_later=True)
                if day is not None and is_agreed and _fold(opinion.text) == _fold(memory.text):
                    yield LabelledEvidence(opinion.id, memory.id, Label.REINFORCE, RESTATED, day)

    def _key(self, memory: Memory) -> tuple[frozenset[EntitySlug], str]:
        """Return a key that is equal for memories with the same text; cheap to compute."""
        return self._similar.entities(memory), "".join(filter(str.isalnum, plain_characters(memory.text).casefold()))

    def _day(self, opinion: MemoryId, memory: Memory, *, is_later: bool) -> date | None:
        """Return the day on which a memory counts for an opinion, the oldest of its lines; None if it does not count.

        With `is_later` it must be in a daily log, after the opinion was stated.
        """
        base = self._bases.get(opinion)
        if base is None or opinion == memory.id:
            return None
        if not covers(memory.scope, self._opinions[opinion].line.attributes.scope):
            return None
        days = [source.day for source in memory.sources if is_dated(source) or not is_later]
        earliest, stated_on = base.revised_on or date.min, base.stated_on if is_later else None
        counted = (day for day in days if day >= earliest and (stated_on is None or day > stated_on))
        return min(counted, default=None)


def _sides(memory: Memory) -> dict[ShortId, tuple[Label, str]]:
    """Return the labels that the lines of a memory state, by short id of the opinion, without contradictory ones."""
    lines = [source.line.attributes for source in memory.sources]
    supported = {short for attributes in lines for short in attributes.supports}
    contradicted = {short for attributes in lines for short in attributes.contradicts}
    sides = dict.fromkeys(sorted(supported - contradicted), (Label.REINFORCE, SUPPORTS))
    return sides | dict.fromkeys(sorted(contradicted - supported), (Label.CONTRADICT, CONTRADICTS))


def _fold(text: str) -> str:
    content = gist(text)
    return content if is_secret(text) else content.casefold().rstrip(" .!。！")
