"""Candidates of recall in one order: memories with their boosts, and passages, current versions before older ones.

Memories that memoryd wrote about a session rank below the fact that they retell. For a message that asked nothing, only
candidates with enough evidence of their own are returned.
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
    SPAN_BOOST,
    Boosts,
    RankedCandidate,
    boosts_of,
    current_above,
    current_first,
    facts_first,
    latest_first,
    nearness_of,
    sort_key,
    verdict_of,
)
from memoryd.domain.memories.unasked.concepts import relatives_of, words_beside
from memoryd.domain.memories.unasked.descriptions import DESCRIBED, NAMED, PART_OF_NAME, Descriptions
from memoryd.domain.memories.unasked.evidence import Item, ItemWeight, MessageEvidence, parts_first
from memoryd.domain.memories.unasked.failures import HELPFUL, failure_message, is_relevant_to_failure
from memoryd.domain.memories.unasked.messages import (
    MessageParts,
    may_mean_another,
    read_message,
    refers_back,
)
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.ranking.selection import COPY_WEIGHT
from memoryd.domain.text.note_status import status_weight
from memoryd.domain.text.words import query_terms
from memoryd.memory.recall.eligible import Eligible
from memoryd.memory.recall.query import CheckedSource, RecalledItem, RecalledMemory, RecalledPassage, RecallQuery
from memoryd.search.hits import Hit
from memoryd.search.ranking import Ranked, commonness

ARM_DEPTH = 4
"""Maximum memories from an arm that boosts, as a multiple of the limit."""
MAX_SOURCES = 16
"""Maximum number of sources of one memory that are checked and returned, the newest."""

Relevance = Callable[[Memory], float]
"""Returns the weight of a memory by its age and use; the mean over all memories is 1."""


class CandidateMemories(Struct, frozen=True, eq=False):
    """Makes candidates of the matches in one book, for one query, before any file is checked."""

    eligible: Eligible
    ranking: Ranked
    asking: QueryIntent
    relevance: Relevance

    def all(self, query: RecallQuery, implied: Sequence[Memory]) -> dict[MemoryId, RecalledMemory]:
        """Return the memories matched by words, vectors and the other arms, and current versions of them.

        `implied` are memories about entities that a message refers to without naming them.
        """
        by_chunk, memories = self.eligible.book.by_chunk, self.eligible.book.memories
        chunks = (*self.ranking.telling, *self.ranking.noise)
        wanted = dict.fromkeys(by_chunk[chunk] for chunk in chunks if chunk in by_chunk)
        if not query.question.is_narrowed:
            wanted |= dict.fromkeys(memory.id for memory in (*self._by_arms(query.limit), *implied))
        candidates = self.those(memories[key] for key in wanted)
        for key in current_first(list(candidates), self.eligible.versions.above):
            if key not in candidates and (candidate := self.of(memories[key])) is not None:
                candidates[key] = candidate
        return candidates

    def those(self, memories: Iterable[Memory]) -> dict[MemoryId, RecalledMemory]:
        """Return those of these memories that may answer."""
        return {memory.id: item for memory in memories if (item := self.of(memory)) is not None}

    def _by_arms(self, limit: int) -> Iterator[Memory]:
        """Yield the memories of the entity and temporal arms, the newest of each first."""
        book, depth = self.eligible.book, ARM_DEPTH * limit
        keys = {key for slug in book.slugs_of(self.asking.entities) for key in book.by_entity.get(slug, ())}
        days = {key: (newest_day(book.memories[key].sources) or date.min).toordinal() for key in keys}
        for key in sorted(keys, key=lambda key: (-days[key], key))[:depth]:
            yield book.memories[key]
        if self.asking.span is not None:
            yield from islice(self.eligible.facts.days.meeting(self.asking.span), depth)

    def of(self, memory: Memory) -> RecalledMemory | None:
        """Return the candidate of a memory; None if no line of it may answer."""
        sources = self.eligible.sources(memory)
        if not sources:
            return None
        scores, span, versions = self.ranking.base_scores, self.asking.span, self.eligible.versions
        # of equal lines the newest is cited, or the one nearest to the days in the query
        lead = best = sources[0]
        if len(sources) > 1:
            lead = max(sources, key=lambda source: nearness_of(source, span))
            best = max(sources, key=lambda source: scores.get(source.chunk, -1.0))
        evidence = self.ranking.evidence_of(best.chunk)
        boosts = boosts_of(memory, sources, self.asking, self.eligible.book.aliases)
        placed = RankedCandidate(
            base_score=evidence.base_score,
            boosts=boosts,
            verdict=verdict_of(evidence.verdict or Verdict.WEAK, boosts, self.asking),
            is_noise=evidence.is_noise,
            day=newest_day(sources),
            relevance=self.relevance(memory) * _weight(memory) * status_weight(lead.status_flags),
        )
        return RecalledMemory(
            memory=memory,
            sources=tuple(
                map(CheckedSource, (lead, *(source for source in sources if source is not lead))[:MAX_SOURCES])
            ),
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
    """Return the newest day that lines are about; None if all are on pages without a date and mention no day.

    A future event counts with the day on which it was written, like an open task.
    """
    days = (
        min(source.event.last, source.day) if source.event else source.day
        for source in sources
        if source.event is not None or date_in_name(source.path) is not None
    )
    return max(days, default=None)


def placed_passage(hit: Hit, asking: QueryIntent) -> RecalledPassage:
    """Return a passage with its rank values; the day of its document may boost it."""
    day, span = date_in_name(hit.chunk.path), asking.span
    is_inside = day is not None and span is not None and not asking.is_ahead and span.first <= day <= span.last
    boosts = {Boosts.TEMPORAL: SPAN_BOOST} if is_inside else {}
    verdict = verdict_of(hit.verdict or Verdict.WEAK, boosts, asking)
    return RecalledPassage(hit, RankedCandidate(hit.score, boosts, verdict, hit.is_noise, day))


def says_something(hit: Hit) -> bool:
    """Return whether a passage has text besides headings; a page that reflect wrote may have no other text."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in hit.chunk.text.split("\n"))


def order_items(
    memories: Mapping[MemoryId, RecalledMemory],
    passages: Sequence[RecalledPassage],
    eligible: Eligible,
    asking: QueryIntent,
) -> list[RecalledItem]:
    """Return all items in one order, each current version before any item that states what it supersedes."""
    newer = eligible.versions.above
    current = {key: _of_its_days(memory, eligible.book, asking) for key, memory in memories.items()}
    outdated = [memory for memory in current.values() if memory.superseded_by]
    all_items: list[RecalledItem] = [*current.values(), *passages]
    placed = sorted(all_items, key=lambda item: sort_key(item.placed, asking))
    if asking.is_of_last:
        placed = latest_first(placed, lambda item: item.placed)
    items = facts_first(placed, retells, may_retell=is_retelling)
    order: dict[MemoryId | int, RecalledItem] = {}
    for at, item in enumerate(items):
        key = item.memory.id if isinstance(item, RecalledMemory) else at
        keys = [item.memory.id] if isinstance(item, RecalledMemory) else _stated_in(item, outdated)
        above = [new for old in keys for new in reversed(current_above(old, newer)) if new in current]
        for new in above:
            if new not in order and not _was_later(current[new].memory, item, asking):
                order[new] = replace(current[new], moved_before=str(item.citation))
        order.setdefault(key, item)
    return list(order.values())


def _was_later(current: Memory, item: RecalledItem, asking: QueryIntent) -> bool:
    """Return whether the query is about days on which an older version was current and the new one unknown."""
    if asking.span is None or Boosts.TEMPORAL not in item.placed.boosts:
        return False
    return current.recorded > asking.span.last


def _of_its_days(memory: RecalledMemory, book: Book, asking: QueryIntent) -> RecalledMemory:
    """Return a memory without the boost of days to which it no longer applies, because its event was postponed.

    If a query asks only for days, a memory of other days is no answer: its `tomorrow` was a different day.
    """
    placed = memory.placed
    newer = [book.memories[key] for key in memory.superseded_by if key in book.memories]
    if any(not _was_later(above, memory, asking) for above in newer):
        boosts = {arm: boost for arm, boost in placed.boosts.items() if arm != Boosts.TEMPORAL}
        placed = replace(placed, boosts=boosts)
    is_of_other_days = asking.is_bare and asking.span is not None and Boosts.TEMPORAL not in placed.boosts
    if is_of_other_days and placed.verdict is Verdict.ANSWERABLE:
        placed = replace(placed, verdict=Verdict.WEAK)
    return memory if placed is memory.placed else replace(memory, placed=placed)


def _stated_in(passage: RecalledPassage, outdated: Sequence[RecalledMemory]) -> list[MemoryId]:
    """Return the superseded memories that a passage states in the same words, if they have its matching terms."""
    text, terms = " ".join(passage.hit.chunk.text.split()), set(passage.hit.terms)
    return [
        memory.memory.id
        for memory in outdated
        if terms and terms.issubset(memory.evidence.terms) and " ".join(memory.memory.text.split()) in text
    ]


def is_retelling(item: RecalledItem) -> bool:
    """Return whether memoryd wrote an item about a session."""
    return isinstance(item, RecalledMemory) and is_of_session(item.memory.line)


def retells(item: RecalledItem, other: RecalledItem) -> bool:
    """Return whether an item about a session matches no more of the query than the other, which a person stated."""
    if not isinstance(item, RecalledMemory) or not is_retelling(item) or other.placed.is_noise:
        return False
    terms = item.evidence.terms
    return not is_retelling(other) and bool(terms) and set(terms).issubset(other.evidence.terms)


WORDS_BESIDE = 24
"""Maximum number of synonyms that are searched in addition to the words of a message."""
_NAMING_ITEMS, _FEW_LINES = 3, 6
"""Number of first items that may name an entity the message refers to, and maximum lines about such an entity."""
_RELATIVES_MAX = 12
"""Maximum number of related words (of the same family) that are searched likewise."""


class ReadMessage(Struct, frozen=True):
    """A message as understood with the book: its question, its entities with certainty, and more words to search."""

    message: MessageParts = MessageParts()
    entities: Mapping[EntitySlug, float] = {}
    beside: tuple[str, ...] = ()
    called_by: Mapping[EntitySlug, str] = {}
    """The words with which the message refers to its entities."""

    def following(self, items: Sequence[RecalledItem], book: Book) -> "ReadMessage | None":
        """Return the message with the entities that the first items name; None if they name no further entity.

        The line that answers the rest of the message may name the person that *she*, or an unnamed addressee, refers
        to.
        """
        if not may_mean_another(" ".join(self.message.parts)):
            return None
        memories = [item.memory for item in items[:_NAMING_ITEMS] if isinstance(item, RecalledMemory)]
        own = {book.aliases.get(slug, slug) for memory in memories for slug in memory.slugs}
        named = {slug for memory in memories for slug in book.entities_in(memory.text)} - own - self.entities.keys()
        # an entity with many lines is the owner, or a general subject
        named = {slug for slug in named if len(book.by_entity.get(slug, ())) <= _FEW_LINES}
        return replace(self, entities={**self.entities, **dict.fromkeys(named, NAMED)}) if named else None

    def newest_about(self, book: Book, limit: int) -> list[Memory]:
        """Return the memories about its entities, the newest first."""
        memories = [book.memories[key] for slug in self.entities for key in book.by_entity.get(slug, ())]
        return sorted(memories, key=lambda memory: (memory.recorded, memory.id), reverse=True)[:limit]


def read(
    text: str,
    book: Book,
    descriptions: Descriptions,
    named: Collection[EntitySlug],
    *,
    before: Sequence[tuple[str, Collection[EntitySlug]]] = (),
    is_failure: bool = False,
) -> ReadMessage:
    """Read a message with a book of memories; `named` are the entities that it names in full.

    `before` are earlier messages with the entities that they name, the latest at the end. `is_failure`: the text is the
    question made of a failure.
    """
    entities = descriptions.entities_meant_in(text, named)
    if refers_back(text) and max(entities.values(), default=0.0) < DESCRIBED:
        # a pronoun refers to the entity of the last message about anyone
        earlier = (descriptions.entities_meant_in(*entry) for entry in reversed(before))
        entities |= dict.fromkeys(next(filter(None, earlier), ()), DESCRIBED)
    names = [slug in descriptions.nouns for slug, sure in entities.items() if sure >= PART_OF_NAME]
    if is_failure:
        message = failure_message(text)
    else:
        message = read_message(text, names_entity=False in names, names_noun=True in names)
    spoken = " ".join(message.parts)
    beside = (*words_beside(spoken, WORDS_BESIDE), *relatives_of(spoken, commonness)[:_RELATIVES_MAX])
    return ReadMessage(message, entities, beside, descriptions.words_for(text, entities))


class UnaskedFinds(Struct, frozen=True):
    """Near matches of a message; `ordered` is their order as answers to a question."""

    memories: Mapping[MemoryId, RecalledMemory]
    passages: Sequence[RecalledPassage]
    ordered: Sequence[RecalledItem]
    ranking: Ranked


def select_earned(
    near: UnaskedFinds, reading: ReadMessage, eligible: Eligible, asking: QueryIntent
) -> tuple[list[RecalledItem], list[RecalledItem]]:
    """Return the items that have enough evidence to be shown with a message that asked nothing; and the other matches.

    A message that names something and asks for nothing else ("tell me about the kiln") is answered like a question.
    """
    near = _without_digests(near)
    evidence = None if asking.is_bare else _evidence(reading, eligible.book, near.ranking)
    if evidence is None:
        # a bare query for days or an entity asks for what is stored about them
        answers = [item for item in near.ordered if asking.is_bare and item.placed.verdict is Verdict.ANSWERABLE]
        return answers, [item for item in near.ordered if item not in answers]
    memories, passages, parts = _weigh(evidence, near, eligible.versions.above)
    # here days count as evidence, and do not order the items
    items = order_items(memories, passages, eligible, replace(asking, span=None))
    answers = [item for item in items if not item.placed.is_noise]
    first = parts_first([parts[_key_of(item)] for item in answers])
    return [answers[at] for at in first], [item for item in items if item.placed.is_noise]


def helpful_first(items: Sequence[RecalledItem], question: str) -> list[RecalledItem]:
    """Return the items that help after a failure, instructions first."""

    def kind(item: RecalledItem) -> Kind | None:
        return item.memory.kind if isinstance(item, RecalledMemory) else None

    helpful = [
        item
        for item in items
        if is_relevant_to_failure(kind(item), item.evidence.terms, item.placed.base_score, question)
    ]
    return sorted(helpful, key=lambda item: kind(item) not in HELPFUL)


def _without_digests(near: UnaskedFinds) -> UnaskedFinds:
    """Return the matches without items that answer nothing: digests of ended sessions, and bare headings.

    A digest of a session repeats the words of messages, so any similar later message would match it.
    """
    return replace(
        near,
        memories={key: item for key, item in near.memories.items() if not is_of_session(item.memory.line)},
        passages=[item for item in near.passages if _is_stated(item)],
        ordered=[item for item in near.ordered if _is_stated(item)],
    )


def _is_stated(item: RecalledItem) -> bool:
    if isinstance(item, RecalledMemory):
        return not is_of_session(item.memory.line)
    lines = [line.strip() for line in item.hit.chunk.text.split("\n")]
    headings = sum(len(line) for line in lines if line.startswith("#"))
    return sum(map(len, lines)) > 2 * headings


def _evidence(reading: ReadMessage, book: Book, ranking: Ranked) -> MessageEvidence | None:
    """Return the evidence by which items are weighed for a message; None if word statistics came too late."""
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
        called={slug: frozenset(query_terms(words)) & terms for slug, words in reading.called_by.items()},
    )


def _weigh(
    evidence: MessageEvidence, near: UnaskedFinds, leading: Mapping[MemoryId, Sequence[MemoryId]]
) -> tuple[dict[MemoryId, RecalledMemory], list[RecalledPassage], dict[str, int]]:
    """Return the items with their rank by evidence, and the part of the message that each answers.

    `leading` maps older or disputed memories to those above them, which rank at least as high.
    """
    memories, passages = near.memories, near.passages
    worths = evidence.of([*map(_weighable, memories.values()), *map(_weighable, passages)])
    of_memories = dict(zip(memories, worths, strict=False))
    of_passages = worths[len(memories) :]
    for key, worth in list(of_memories.items()):
        for above in current_above(key, leading) if worth.is_included else ():
            if above in of_memories and of_memories[above].score < worth.score:
                of_memories[above] = worth
    parts = {str(key): worth.part for key, worth in of_memories.items()}
    parts |= {str(item.citation): worth.part for item, worth in zip(passages, of_passages, strict=True)}
    return (
        {key: replace(item, placed=_rank_by(of_memories[key], item.placed)) for key, item in memories.items()},
        [replace(item, placed=_rank_by(by, item.placed)) for item, by in zip(passages, of_passages, strict=True)],
        parts,
    )


def _key_of(item: RecalledItem) -> str:
    return item.memory.id if isinstance(item, RecalledMemory) else str(item.citation)


def _weighable(item: RecalledItem) -> Item:
    days, terms, cosine = item.placed.boosts.get(Boosts.TEMPORAL, 0.0), item.evidence.terms, item.evidence.cosine
    if isinstance(item, RecalledMemory):
        return Item(item.memory.text, terms, cosine, item.memory.slugs, days)
    return Item(f"{item.hit.chunk.heading}\n{item.hit.chunk.text}", terms, cosine, (), days, is_passage=True)


def _rank_by(worth: ItemWeight, placed: RankedCandidate) -> RankedCandidate:
    verdict = Verdict.WEAK if worth.is_included and placed.verdict is Verdict.NONE else placed.verdict
    return replace(placed, base_score=worth.score, boosts={}, verdict=verdict, is_noise=not worth.is_included)
