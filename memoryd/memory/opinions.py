"""The opinions of one workspace: how each stands, by which evidence, and the steps of a run put on record."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date

from msgspec import Struct

from memoryd.domain.documents import Citation
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.kinds import MemoryId, is_belief
from memoryd.domain.memories.reflect.opinions import Label, OpinionState, Step, by_opinion, opinion_state_of
from memoryd.store.ledger.reflect import OpinionSteps


class OpinionEvidence(Struct, frozen=True):
    """A memory that speaks for or against an opinion, where its lines stand now: none if they are gone."""

    memory: MemoryId
    label: Label
    day: date
    citations: tuple[str, ...]


class OpinionWithEvidence(Struct, frozen=True):
    """An opinion with its confidence, 0 to 1, and the evidence for and against it, in the order in which it counted."""

    memory: Memory
    standing: OpinionState
    supporting: tuple[OpinionEvidence, ...]
    opposing: tuple[OpinionEvidence, ...]

    @property
    def confidence(self) -> float:
        return self.standing.confidence

    @property
    def is_explicit(self) -> bool:
        """Whether a line gives the confidence, or evidence moved it: else it is what any opinion begins with."""
        is_written = any(one.line.attributes.confidence is not None for one in self.memory.sources)
        return is_written or self.standing.confidence != self.standing.base.confidence


class OpinionStore(Struct, frozen=True):
    """Reads and records the steps of opinions. Verbs raise StoreError, and `apply` also Denied.

    Each takes the book that the caller looks at, so that all of one answer speaks of the same moment. Scopes are the
    caller's: evidence counts only where all whom an opinion reaches may see it (`kinds.covers`).
    """

    steps: OpinionSteps
    clock: Callable[[], float] = time.time

    async def held(self, book: Book, opinions: Collection[MemoryId]) -> Mapping[MemoryId, OpinionWithEvidence]:
        """Return how these opinions stand; what is none, or stands in no line, is left out."""
        chosen = [memory for one in dict.fromkeys(opinions) if (memory := book.memories.get(one)) is not None]
        beliefs = [memory.id for memory in chosen if is_belief(memory.kind)]
        return _standing(book, chosen, await self.steps.of(beliefs) if beliefs else [])

    async def all(self, book: Book) -> Mapping[MemoryId, OpinionWithEvidence]:
        """Return how all opinions of a book stand."""
        return _standing(book, book.memories.values(), await self.steps.all())

    async def apply(self, steps: Sequence[Step]) -> int:
        """Record the steps of a run, all or none; return how many were not on record yet."""
        return await self.steps.add(steps, self.clock())


def _standing(book: Book, memories: Iterable[Memory], steps: Sequence[Step]) -> Mapping[MemoryId, OpinionWithEvidence]:
    found = by_opinion(steps)
    return {one.id: _with_evidence(book, one, found.get(one.id, [])) for one in memories if is_belief(one.kind)}


def _with_evidence(book: Book, memory: Memory, steps: Sequence[Step]) -> OpinionWithEvidence:
    standing = opinion_state_of(memory, steps)
    for_it = tuple(evidence_of(book, step) for step in standing.supporting)
    return OpinionWithEvidence(memory, standing, for_it, tuple(evidence_of(book, step) for step in standing.opposing))


def evidence_of(book: Book, step: Step) -> OpinionEvidence:
    """Return the evidence of a step, with the lines that state it; of the step's day alone, if any is of that day."""
    memory = book.memories.get(step.evidence)
    sources = () if memory is None else memory.sources
    of_day = [one for one in sources if one.day == step.day] or sources
    cited = tuple(str(Citation(one.path, one.start_line, one.end_line)) for one in of_day)
    return OpinionEvidence(step.evidence, step.label, step.day, cited)
