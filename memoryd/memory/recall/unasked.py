"""What is recalled beside a message that asked nothing: of what came near, what its own evidence earns a place."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.changes.forgetting import is_of_session
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.recall_filters import QueryIntent
from memoryd.domain.memories.recall_order import Boosts, RankedCandidate, current_first
from memoryd.domain.memories.unasked.concepts import PART_OF_NAME, Descriptions, words_beside
from memoryd.domain.memories.unasked.evidence import Item, MessageEvidence, Worth, parts_first
from memoryd.domain.memories.unasked.messages import Aim, UnaskedMessage, read_message
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.text.words import query_terms
from memoryd.memory.recall.candidates import ordered
from memoryd.memory.recall.eligible import Eligible
from memoryd.memory.recall.query import RecalledItem, RecalledMemory, RecalledPassage
from memoryd.search.ranking import Ranked

WORDS_BESIDE: Final = 24
"""Other words for what a message says, that are looked for beside its own."""


class ReadMessage(Struct, frozen=True):
    """A message as the book understands it: what it asks, whom it means, each how surely, and its other words."""

    message: UnaskedMessage = field(default_factory=UnaskedMessage)
    entities: Mapping[EntitySlug, float] = field(default_factory=dict)
    beside: tuple[str, ...] = ()
    calling: Mapping[EntitySlug, str] = field(default_factory=dict)
    """The words by which it means them."""

    def newest_about(self, book: Book, most: int) -> list[Memory]:
        """Return the memories of whom it means, the newest of each first."""
        found = [book.memories[key] for slug in self.entities for key in book.by_entity.get(slug, ())]
        return sorted(found, key=lambda memory: (memory.recorded, memory.id), reverse=True)[:most]


def read(text: str, book: Book, descriptions: Descriptions, named: Collection[EntitySlug]) -> ReadMessage:
    """Read a message that was said with a book of memories; `named` are the entities that it names in full."""
    entities = descriptions.meant_by(text, named)
    names_entity = any(sure >= PART_OF_NAME for sure in entities.values())
    message = read_message(text, names_entity=names_entity)
    return ReadMessage(
        message, entities, words_beside(" ".join(message.parts), WORDS_BESIDE), descriptions.calling(text, entities)
    )


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
    near = _stated(near)
    evidence = None if asking.is_bare else _evidence(reading, eligible.book, near.ranking)
    if evidence is None:
        may_tell = asking.is_bare and reading.message.aim is not Aim.GENERAL
        told = [one for one in near.ordered if may_tell and one.placed.verdict is Verdict.ANSWERABLE]
        return told, [one for one in near.ordered if one not in told]
    memories, passages, parts = _weighed(evidence, near, eligible.versions.above)
    # days count as evidence here, and make no order of their own
    found = ordered(memories, passages, eligible, replace(asking, span=None))
    told = [one for one in found if not one.placed.is_noise]
    first = parts_first([parts[_key_of(one)] for one in told])
    return [told[at] for at in first], [one for one in found if one.placed.is_noise]


def _stated(near: UnaskedFinds) -> UnaskedFinds:
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
        clear=floors.clear_floor if floors else 0.0,
        entities={slug: (sure, len(book.by_entity.get(slug, ()))) for slug, sure in reading.entities.items()},
        names={
            slug: frozenset(query_terms(" ".join(book.slugs_of([slug])).replace("-", " "))) & terms
            for slug, sure in reading.entities.items()
            if sure >= PART_OF_NAME
        },
        called={slug: frozenset(query_terms(words)) & terms for slug, words in reading.calling.items()},
    )


def _weighed(
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
        {key: replace(one, placed=_placed(of_memories[key], one.placed)) for key, one in memories.items()},
        [replace(one, placed=_placed(by, one.placed)) for one, by in zip(passages, of_passages, strict=True)],
        parts,
    )


def _key_of(item: RecalledItem) -> str:
    return item.memory.id if isinstance(item, RecalledMemory) else str(item.citation)


def _weighable(one: RecalledItem) -> Item:
    days, terms, cosine = one.placed.lifts.get(Boosts.TEMPORAL, 0.0), one.evidence.terms, one.evidence.cosine
    if isinstance(one, RecalledMemory):
        return Item(one.memory.line.text, terms, cosine, one.memory.slugs, days)
    return Item(f"{one.hit.chunk.heading}\n{one.hit.chunk.text}", terms, cosine, (), days)


def _placed(standing: Worth, placed: RankedCandidate) -> RankedCandidate:
    verdict = Verdict.WEAK if standing.is_included and placed.verdict is Verdict.NONE else placed.verdict
    return replace(placed, base_score=standing.score, lifts={}, verdict=verdict, is_noise=not standing.is_included)
