"""What a run of reflect does to opinions: steps that the lines tell, and those that a text model was asked about."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from memoryd.domain.memories.book import Book
from memoryd.domain.memories.kinds import MemoryId, is_belief
from memoryd.domain.memories.reflect.evidence import DoubtedOpinion, OpinionLabels
from memoryd.domain.memories.reflect.opinions import (
    Label,
    LabelledEvidence,
    OpinionStanding,
    Step,
    plan_steps,
    standing_of,
)
from memoryd.errors import TextModelUnavailable
from memoryd.memory.llm_labels import Labeller
from memoryd.memory.opinions.opinion_book import OpinionBook

log = structlog.get_logger(__name__)

MAX_ASKED: Final = 20
"""Pairs that a text model is asked about in one run, the oldest first."""


@dataclass(frozen=True, slots=True)
class OpinionMoves:
    """The steps of a run, how opinions stand after them, and what only a person can decide."""

    steps: tuple[Step, ...]
    standings: Mapping[MemoryId, OpinionStanding]
    doubted: tuple[DoubtedOpinion, ...]


async def opinion_moves(book: Book, opinions: OpinionBook, run: str, labeller: Labeller | None) -> OpinionMoves:
    """Plan the steps of all evidence that no step has counted, however old; nothing is recorded. Raises StoreError.

    There is no window: what a run leaves out because of its age no later run would count.
    """
    recorded = await opinions.recorded()
    labels = OpinionLabels(book)
    told = await asyncio.to_thread(lambda: labels.told)
    asked = [] if labeller is None else await _asked(book, labels, recorded, labeller)
    return await asyncio.to_thread(lambda: _moves(book, labels, (*told, *asked), recorded, run))


def _moves(
    book: Book, labels: OpinionLabels, counted: Sequence[LabelledEvidence], recorded: Sequence[Step], run: str
) -> OpinionMoves:
    steps = plan_steps(book, counted, recorded, run=run)
    by_opinion: defaultdict[MemoryId, list[Step]] = defaultdict(list)
    for step in (*recorded, *steps):
        by_opinion[step.opinion].append(step)
    beliefs = (memory for memory in book.memories.values() if is_belief(memory.kind))
    standings = {one.id: standing_of(one, by_opinion.get(one.id, ())) for one in beliefs}
    return OpinionMoves(steps, standings, labels.doubted)


async def _asked(
    book: Book, labels: OpinionLabels, recorded: Sequence[Step], labeller: Labeller
) -> list[LabelledEvidence]:
    """Return what a text model says of pairs that no line tells of; where it says nothing, nothing is moved."""
    pairs = await asyncio.to_thread(lambda: labels.unlabelled([step.labelled for step in recorded]))
    found: list[LabelledEvidence] = []
    for pair in pairs[:MAX_ASKED]:
        opinion, evidence = book.memories[pair.opinion], book.memories[pair.evidence]
        try:
            label = await labeller.label(opinion.line.text, evidence.line.text)
        except TextModelUnavailable as exc:
            # one that is away is not waited for again and again
            log.info("no labels from the text model", reason=str(exc))
            break
        if label is not None:
            found.append(labels.by_model(pair, Label(label.label), label.model))
    return found
