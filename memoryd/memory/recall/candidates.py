"""Candidates of recall in one order: memories with what lifts them, passages, and every current version first.

What memoryd wrote of a session ranks below the fact that it retells. A message that asked nothing is told what its own
evidence earns a place.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import TEAM, Kind, MemoryId
from memoryd.domain.memories.line import is_of_session
from memoryd.domain.memories.recall_filters import QueryIntent
from memoryd.domain.memories.recall_order import (
    RETELLING_WEIGHT,
    SHARED_WEIGHT,
    SPAN_LIFT,
    Boosts,
    RankedCandidate,
    boosts_of,
    current_first,
    facts_first,
    latest_first,
    nearness_of,
    sort_key,
    verdict_of,
)
from memoryd.domain.memories.unasked.concepts import relatives_of, words_beside
from memoryd.domain.memories.unasked.descriptions import DESCRIBED, NAMED, PART_OF_NAME, Descriptions
from memoryd.domain.memories.unasked.evidence import Item, MessageEvidence, Worth, parts_first
from memoryd.domain.memories.unasked.failures import HELPFUL, failure_message, is_worth_telling
from memoryd.domain.memories.unasked.messages import (
    UnaskedMessage,
    has_pronoun,
    may_mean_another,
    read_message,
)
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.ranking.selection import COPY_WEIGHT
from memoryd.domain.text.standing import weight_of
from memoryd.domain.text.words import query_terms
from memoryd.memory.recall.eligible import Eligible
from memoryd.memory.recall.query import CheckedSource, RecalledItem, RecalledMemory, RecalledPassage, RecallQuery
from memoryd.search.hits import Hit
from memoryd.search.ranking import Ranked, commonness

ARM_DEPTH = 4
"""How many times as many memories as there are places an arm that lifts may bring."""
MAX_SOURCES = 16
"""Of one memory, the newest: so many are looked at and told."""

Relevance = Callable[[Memory], float]
"""How much a memory counts by its age and use; all of them have a mean of 1."""


class CandidateMemories(Struct, frozen=True, eq=False):
    """Makes candidates of what the arms found in one book, for one question; all of it before any file is looked at."""

    eligible: Eligible
    ranking: Ranked
    asking: QueryIntent
    relevance: Relevance

    def all(self, query: RecallQuery, meant: Sequence[Memory]) -> dict[MemoryId, RecalledMemory]:
        """Return what words and meaning found, what the other arms bring, and current versions of both.

        `meant` are memories of whom a message means without a name.
        """
        by_chunk, memories = self.eligible.book.by_chunk, self.eligible.book.memories
        chunks = (*self.ranking.telling, *self.ranking.noise)
        wanted = dict.fromkeys(by_chunk[chunk] for chunk in chunks if chunk in by_chunk)
        if not query.question.is_narrowed:
            wanted |= dict.fromkeys(memory.id for memory in (*self._by_arms(query.limit), *meant))
        found = self.those(memories[key] for key in wanted)
        for key in current_first(list(found), self.eligible.versions.above):
            if key not in found and (one := self.of(memories[key])) is not None:
                found[key] = one
        return found

    def those(self, memories: Iterable[Memory]) -> dict[MemoryId, RecalledMemory]:
        """Return those of some memories that may answer."""
        return {one.id: found for one in memories if (found := self.of(one)) is not None}

    def _by_arms(self, limit: int) -> Iterator[Memory]:
        """Yield the memories that the entity and temporal arms bring, the newest of each first."""
        book, depth = self.eligible.book, ARM_DEPTH * limit
        keys = {key for slug in book.slugs_of(self.asking.entities) for key in book.by_entity.get(slug, ())}
        days = {key: (newest_day(book.memories[key].sources) or date.min).toordinal() for key in keys}
        for key in sorted(keys, key=lambda key: (-days[key], key))[:depth]:
            yield book.memories[key]
        if self.asking.span is not None:
            yield from islice(self.eligible.facts.days.meeting(self.asking.span), depth)

    def of(self, memory: Memory) -> RecalledMemory | None:
        """Return a memory with all that is known of it; None if no line of it may answer."""
        sources = self.eligible.sources(memory)
        if not sources:
            return None
        scores, span, versions = self.ranking.base_scores, self.asking.span, self.eligible.versions
        # of lines that say the same the newest is cited, or that of the days asked about
        lead = best = sources[0]
        if len(sources) > 1:
            lead = max(sources, key=lambda source: nearness_of(source, span))
            best = max(sources, key=lambda source: scores.get(source.chunk, -1.0))
        evidence = self.ranking.judged(best.chunk)
        lifts = boosts_of(memory, sources, self.asking, self.eligible.book.aliases)
        placed = RankedCandidate(
            base_score=evidence.base_score,
            lifts=lifts,
            verdict=verdict_of(evidence.verdict or Verdict.WEAK, lifts, self.asking),
            is_noise=evidence.is_noise,
            day=newest_day(sources),
            relevance=self.relevance(memory) * _weight(memory) * weight_of(lead.standing),
        )
        return RecalledMemory(
            memory=memory,
            sources=tuple(map(CheckedSource, (lead, *(one for one in sources if one is not lead))[:MAX_SOURCES])),
            placed=placed,
            evidence=evidence,
            supersedes=versions.superseded.get(memory.id, ()),
            superseded_by=versions.newer.get(memory.id, ()),
            doubted_by=versions.doubted.get(memory.id, ()),
        )


def _weight(memory: Memory) -> float:
    if memory.is_of_copies:
        return COPY_WEIGHT
    if memory.scope == TEAM:
        return SHARED_WEIGHT
    return RETELLING_WEIGHT if is_of_session(memory.line) else 1.0


def newest_day(sources: Iterable[MemorySource]) -> date | None:
    """Return the newest day that lines speak of; None where all stand on pages without a date, and name none.

    A plan is of the day on which it was written, as is what is still open.
    """
    days = (
        min(source.event.last, source.day) if source.event else source.day
        for source in sources
        if source.event is not None or date_in_name(source.path) is not None
    )
    return max(days, default=None)


def placed_passage(hit: Hit, asking: QueryIntent) -> RecalledPassage:
    """Return a passage with what it is worth; the day of its document may lift it."""
    day, span = date_in_name(hit.chunk.path), asking.span
    is_inside = day is not None and span is not None and not asking.is_ahead and span.first <= day <= span.last
    lifts = {Boosts.TEMPORAL: SPAN_LIFT} if is_inside else {}
    verdict = verdict_of(hit.verdict or Verdict.WEAK, lifts, asking)
    return RecalledPassage(hit, RankedCandidate(hit.score, lifts, verdict, hit.is_noise, day))


def says_something(hit: Hit) -> bool:
    """Tell whether a passage has more than headings: of a page that reflect wrote they alone are text."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in hit.chunk.text.split("\n"))


def ordered(
    memories: Mapping[MemoryId, RecalledMemory],
    passages: Sequence[RecalledPassage],
    eligible: Eligible,
    asking: QueryIntent,
) -> list[RecalledItem]:
    """Return all in one order, every current version before what it supersedes, in whatever words that stands."""
    newer = eligible.versions.above
    told = {key: _of_its_days(one, eligible.book, asking) for key, one in memories.items()}
    outdated = [one for one in told.values() if one.superseded_by]
    every: list[RecalledItem] = [*told.values(), *passages]
    placed = sorted(every, key=lambda item: sort_key(item.placed, asking))
    if asking.is_of_last:
        placed = latest_first(placed, lambda item: item.placed)
    items = facts_first(placed, retells, may_retell=is_retelling)
    order: dict[MemoryId | int, RecalledItem] = {}
    for at, item in enumerate(items):
        key = item.memory.id if isinstance(item, RecalledMemory) else at
        keys = [item.memory.id] if isinstance(item, RecalledMemory) else _said_in(item, outdated)
        above = [key for one in keys for key in current_first([one], newer) if key != one and key in told]
        for one in above:
            if one not in order and not _was_later(told[one].memory, item, asking):
                order[one] = replace(told[one], moved_before=str(item.citation))
        order.setdefault(key, item)
    return list(order.values())


def _was_later(current: Memory, item: RecalledItem, asking: QueryIntent) -> bool:
    """Tell whether a question is about days on which an older version held, and the current one was not known yet."""
    if asking.span is None or Boosts.TEMPORAL not in item.placed.lifts:
        return False
    return current.recorded > asking.span.last


def _of_its_days(one: RecalledMemory, book: Book, asking: QueryIntent) -> RecalledMemory:
    """Return a memory without the lift of days that were put off before they came.

    Nor is one of other days an answer where nothing but days is asked for: `tomorrow` was another day when it was said.
    """
    placed = one.placed
    newer = [book.memories[key] for key in one.superseded_by if key in book.memories]
    if any(not _was_later(above, one, asking) for above in newer):
        lifts = {arm: lift for arm, lift in placed.lifts.items() if arm != Boosts.TEMPORAL}
        placed = replace(placed, lifts=lifts)
    is_of_others = asking.is_bare and asking.span is not None and Boosts.TEMPORAL not in placed.lifts
    if is_of_others and placed.verdict is Verdict.ANSWERABLE:
        placed = replace(placed, verdict=Verdict.WEAK)
    return one if placed is one.placed else replace(one, placed=placed)


def _said_in(passage: RecalledPassage, outdated: Sequence[RecalledMemory]) -> list[MemoryId]:
    """Return the superseded memories that a passage states in the same words, and was found by."""
    said, terms = " ".join(passage.hit.chunk.text.split()), set(passage.hit.terms)
    return [
        one.memory.id
        for one in outdated
        if terms and terms.issubset(one.evidence.terms) and " ".join(one.memory.text.split()) in said
    ]


def is_retelling(item: RecalledItem) -> bool:
    """Tell whether an item is what memoryd wrote of a session."""
    return isinstance(item, RecalledMemory) and is_of_session(item.memory.line)


def retells(item: RecalledItem, other: RecalledItem) -> bool:
    """Tell whether one is of a session and holds no more of the question than the other, which somebody stated."""
    if not isinstance(item, RecalledMemory) or not is_retelling(item) or other.placed.is_noise:
        return False
    terms = item.evidence.terms
    return not is_retelling(other) and bool(terms) and set(terms).issubset(other.evidence.terms)


WORDS_BESIDE = 24
"""Other words for what a message says, that are looked for beside its own."""
NAMING, FEW_LINES = 3, 6
"""Lines of what is told that may name whom a message means, too, and how many may be about one of these."""
RELATIVES = 12
"""Words of one family with its own, likewise."""


class ReadMessage(Struct, frozen=True):
    """A message as the book understands it: what it asks, whom it means, each how surely, and its other words."""

    message: UnaskedMessage = UnaskedMessage()
    entities: Mapping[EntitySlug, float] = {}
    beside: tuple[str, ...] = ()
    calling: Mapping[EntitySlug, str] = {}
    """The words by which it means them."""

    def following(self, told: Sequence[RecalledItem], book: Book) -> "ReadMessage | None":
        """Return the message as what is told completes it; None where that names nobody whom it may mean, too.

        Who is to be asked, or *she*, may be named by the line that answers the rest of it alone.
        """
        if not may_mean_another(" ".join(self.message.parts)):
            return None
        memories = [one.memory for one in told[:NAMING] if isinstance(one, RecalledMemory)]
        own = {book.aliases.get(slug, slug) for memory in memories for slug in memory.slugs}
        named = {slug for memory in memories for slug in book.entities_in(memory.text)} - own - self.entities.keys()
        # whom many lines are about is the owner, or a whole subject
        named = {slug for slug in named if len(book.by_entity.get(slug, ())) <= FEW_LINES}
        return replace(self, entities={**self.entities, **dict.fromkeys(named, NAMED)}) if named else None

    def newest_about(self, book: Book, most: int) -> list[Memory]:
        """Return the memories of whom it means, the newest of each first."""
        found = [book.memories[key] for slug in self.entities for key in book.by_entity.get(slug, ())]
        return sorted(found, key=lambda memory: (memory.recorded, memory.id), reverse=True)[:most]


def read(
    text: str,
    book: Book,
    descriptions: Descriptions,
    named: Collection[EntitySlug],
    *,
    before: Sequence[tuple[str, Collection[EntitySlug]]] = (),
    is_failure: bool = False,
) -> ReadMessage:
    """Read a message that was said with a book of memories; `named` are the entities that it names in full.

    `before` are messages before it with those that they name, the latest at the end. `is_failure`: it is what a
    failure asks.
    """
    entities = descriptions.meant_by(text, named)
    if has_pronoun(text) and max(entities.values(), default=0.0) < DESCRIBED:
        # whom he or she is, the last message says that speaks of somebody
        meant = (descriptions.meant_by(*one) for one in reversed(before))
        entities |= dict.fromkeys(next(filter(None, meant), ()), DESCRIBED)
    names = [slug in descriptions.nouns for slug, sure in entities.items() if sure >= PART_OF_NAME]
    if is_failure:
        message = failure_message(text)
    else:
        message = read_message(text, names_entity=False in names, names_noun=True in names)
    spoken = " ".join(message.parts)
    beside = (*words_beside(spoken, WORDS_BESIDE), *relatives_of(spoken, commonness)[:RELATIVES])
    return ReadMessage(message, entities, beside, descriptions.calling(text, entities))


class UnaskedFinds(Struct, frozen=True):
    """What came near a message, `ordered` as it answers a question."""

    memories: Mapping[MemoryId, RecalledMemory]
    passages: Sequence[RecalledPassage]
    ordered: Sequence[RecalledItem]
    ranking: Ranked


def earned(
    near: UnaskedFinds, reading: ReadMessage, eligible: Eligible, asking: QueryIntent
) -> tuple[list[RecalledItem], list[RecalledItem]]:
    """Return what its own evidence earns a place beside a message that asked nothing, and what came near, best first.

    A message that names something and asks for nothing else ("tell me about the kiln") is answered as a question is.
    """
    near = _without_digests(near)
    evidence = None if asking.is_bare else _evidence(reading, eligible.book, near.ranking)
    if evidence is None:
        # who asks what was on some days, or who somebody is, and nothing else, asks what is kept
        told = [one for one in near.ordered if asking.is_bare and one.placed.verdict is Verdict.ANSWERABLE]
        return told, [one for one in near.ordered if one not in told]
    memories, passages, parts = _weigh(evidence, near, eligible.versions.above)
    # days count as evidence here, and make no order of their own
    found = ordered(memories, passages, eligible, replace(asking, span=None))
    told = [one for one in found if not one.placed.is_noise]
    first = parts_first([parts[_key_of(one)] for one in told])
    return [told[at] for at in first], [one for one in found if one.placed.is_noise]


def helpful_first(items: Sequence[RecalledItem], question: str) -> list[RecalledItem]:
    """Return what is told of these for a failure, what says what to do first."""

    def kind(one: RecalledItem) -> Kind | None:
        return one.memory.kind if isinstance(one, RecalledMemory) else None

    told = [one for one in items if is_worth_telling(kind(one), one.evidence.terms, one.placed.base_score, question)]
    return sorted(told, key=lambda one: kind(one) not in HELPFUL)


def _without_digests(near: UnaskedFinds) -> UnaskedFinds:
    """Return what came near without what answers nothing: what memoryd wrote of ended sessions, and bare headings.

    A digest of a session repeats the words of messages, so that any later one of the kind would bring it.
    """
    return replace(
        near,
        memories={key: one for key, one in near.memories.items() if not is_of_session(one.memory.line)},
        passages=[one for one in near.passages if _is_stated(one)],
        ordered=[one for one in near.ordered if _is_stated(one)],
    )


def _is_stated(item: RecalledItem) -> bool:
    if isinstance(item, RecalledMemory):
        return not is_of_session(item.memory.line)
    lines = [line.strip() for line in item.hit.chunk.text.split("\n")]
    headings = sum(len(line) for line in lines if line.startswith("#"))
    return sum(map(len, lines)) > 2 * headings


def _evidence(reading: ReadMessage, book: Book, ranking: Ranked) -> MessageEvidence | None:
    """Return what weighs items beside a message; None where the words could not be had in time."""
    statistics, floors = ranking.statistics, ranking.floors
    if statistics is None:
        return None
    terms = statistics.idf.weights.keys()
    return MessageEvidence(
        reading.message,
        idf=statistics.idf,
        noise=floors.noise if floors else Noise(),
        entities={slug: (sure, len(book.by_entity.get(slug, ()))) for slug, sure in reading.entities.items()},
        names={
            slug: frozenset(query_terms(" ".join(book.slugs_of([slug])).replace("-", " "))) & terms
            for slug, sure in reading.entities.items()
            if sure >= PART_OF_NAME
        },
        called={slug: frozenset(query_terms(words)) & terms for slug, words in reading.calling.items()},
    )


def _weigh(
    evidence: MessageEvidence, near: UnaskedFinds, leading: Mapping[MemoryId, Sequence[MemoryId]]
) -> tuple[dict[MemoryId, RecalledMemory], list[RecalledPassage], dict[str, int]]:
    """Return what came near with its place by what speaks for it, and which part of the message each answers.

    What holds now, or leads in a disagreement, is worth no less than what it is `leading`.
    """
    memories, passages = near.memories, near.passages
    found = evidence.of([*map(_weighable, memories.values()), *map(_weighable, passages)])
    of_memories = dict(zip(memories, found, strict=False))
    of_passages = found[len(memories) :]
    for key, standing in list(of_memories.items()):
        for above in current_first([key], leading):
            if above in of_memories and standing.is_included and of_memories[above].score < standing.score:
                of_memories[above] = standing
    parts = {str(key): standing.part for key, standing in of_memories.items()}
    parts |= {str(one.citation): standing.part for one, standing in zip(passages, of_passages, strict=True)}
    return (
        {key: replace(one, placed=_ranked_by(of_memories[key], one.placed)) for key, one in memories.items()},
        [replace(one, placed=_ranked_by(by, one.placed)) for one, by in zip(passages, of_passages, strict=True)],
        parts,
    )


def _key_of(item: RecalledItem) -> str:
    return item.memory.id if isinstance(item, RecalledMemory) else str(item.citation)


def _weighable(one: RecalledItem) -> Item:
    days, terms, cosine = one.placed.lifts.get(Boosts.TEMPORAL, 0.0), one.evidence.terms, one.evidence.cosine
    if isinstance(one, RecalledMemory):
        return Item(one.memory.text, terms, cosine, one.memory.slugs, days)
    return Item(f"{one.hit.chunk.heading}\n{one.hit.chunk.text}", terms, cosine, (), days, is_passage=True)


def _ranked_by(standing: Worth, placed: RankedCandidate) -> RankedCandidate:
    verdict = Verdict.WEAK if standing.is_included and placed.verdict is Verdict.NONE else placed.verdict
    return replace(placed, base_score=standing.score, lifts={}, verdict=verdict, is_noise=not standing.is_included)
