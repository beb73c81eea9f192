"""`python -m bench.retrieval.calibration`: what verdicts are given, by the size of the workspace.

Of each set some questions are asked of workspaces of 1, 5, 20, 100 and 1,000 chunks, taken at random, and of the whole:
once with a chunk that answers, once without any note that does, and beside each a question of another set in the same
language. What is right: `answerable` with the answer, `none` for strangers. Without the answer `weak` is honest, since
other notes may tell of the same things.
"""

import asyncio
import random
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench.retrieval.sets import Question, QuestionSet, question_sets
from bench.retrieval.subsets import KeptEmbedder, PlacedChunk, Subset, chunks_below, kept_embedder, subset
from memoryd.config.paths import cache_dir, models_dir
from memoryd.domain.ranking.calibration import Verdict
from memoryd.embed.calibration import UnrelatedTexts
from memoryd.models.store import ModelStore
from memoryd.search.hits import best_verdict
from memoryd.search.protocol import Found
from tests.daemon import STARTER

WHOLE = 0
SIZES = (1, 5, 20, 100, 1_000, WHOLE)
SHARED = 100
"""From so many chunks on, one choice of them serves all questions."""
SEED = 1
WIDTH = 150


class Kind(StrEnum):
    """What a question has to do with the notes."""

    WITH = "with the answer"
    WITHOUT = "without it"
    STRANGER = "strangers"


@dataclass(frozen=True, slots=True)
class Trial:
    """A question that was asked of a workspace of some size."""

    size: int
    kind: Kind
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Trials:
    """How the trials of a set are made."""

    embedder: KeptEmbedder
    strangers: UnrelatedTexts
    executor: ThreadPoolExecutor
    others: Sequence[Question]
    """Questions of other sets."""
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))

    async def of(self, questions: QuestionSet, count: int) -> AsyncIterator[Trial]:
        """Make the trials of about `count` questions."""
        asked = [question for question in questions.questions if not question.is_stranger]
        asked = self.chance.sample(asked, min(count, len(asked)))
        for name in questions.workspaces:
            chunks = chunks_below(questions.workspace(name))
            mine = [question for question in asked if question.workspace == name]
            for size in SIZES:
                if size < len(chunks):
                    async for trial in self._of_size(size, chunks, mine):
                        yield trial

    async def _of_size(
        self, size: int, chunks: Sequence[PlacedChunk], asked: Sequence[Question]
    ) -> AsyncIterator[Trial]:
        is_shared = size == WHOLE or size >= SHARED
        for group in [asked] if is_shared else [[question] for question in asked]:
            # few chunks are to be as many as are said, beside those that answer
            left_out = frozenset[str]() if is_shared else _answering(group[0])
            free = [chunk for chunk in chunks if chunk.path not in left_out]
            base = free if size == WHOLE else self.chance.sample(free, min(len(free), size if is_shared else size - 1))
            with tempfile.TemporaryDirectory() as folder:
                async with subset(Path(folder), self.embedder, self.strangers, self.executor) as index:
                    await index.put(base)
                    for question in group:
                        async for trial in self._of_question(size, index, base, chunks, question):
                            yield trial

    async def _of_question(
        self, size: int, index: Subset, base: Sequence[PlacedChunk], chunks: Sequence[PlacedChunk], question: Question
    ) -> AsyncIterator[Trial]:
        paths = _answering(question)
        taken = [chunk for chunk in base if chunk.path in paths]
        await index.drop(sorted(paths))
        if len(base) > len(taken):
            yield Trial(size, Kind.WITHOUT, _verdict(await index.ask(question.text)))
        await index.put(taken if size == WHOLE else _answers(chunks, question))
        yield Trial(size, Kind.WITH, _verdict(await index.ask(question.text)))
        alike = [other for other in self.others if other.language == question.language]
        if alike:
            yield Trial(size, Kind.STRANGER, _verdict(await index.ask(self.chance.choice(alike).text)))
        await index.drop(sorted(paths))
        await index.put(taken)


def _answering(question: Question) -> frozenset[str]:
    """Return the notes that answer a question."""
    return frozenset(place.path for evidence in question.evidence for place in evidence.places)


def _answers(chunks: Sequence[PlacedChunk], question: Question) -> list[PlacedChunk]:
    """Return the first chunk that answers the first part of a question."""
    places = question.evidence[0].places
    found = (chunk for chunk in chunks if any(place.overlaps(chunk.lines) for place in places))
    return [next(found)]


def _verdict(found: Found) -> Verdict:
    return best_verdict(found.hits) or Verdict.NONE


@click.command()
@click.argument("names", nargs=-1)
@click.option("--sets", required=True, type=click.Path(path_type=Path), envvar="MEMORYD_BENCH", help="Folder of sets.")
@click.option("--questions", "count", default=60, show_default=True, help="How many of each set are asked.")
def main(names: Sequence[str], sets: Path, count: int) -> None:
    """Print how often a verdict is given, by the size of the workspace. The first run makes all vectors."""
    model = ModelStore(models_dir()).locate(STARTER)
    if model is None:
        raise click.UsageError(f"the model is not here: memoryctl models pull {STARTER}")
    asyncio.run(_run(model, list(question_sets([sets], ())), names, count))


async def _run(model: Path, found: Sequence[QuestionSet], names: Sequence[str], count: int) -> None:
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    folder = cache_dir() / "evaluation" / "vectors"
    with ThreadPoolExecutor(2) as executor:
        async with kept_embedder(model, folder) as embedder:
            strangers = UnrelatedTexts(folder)
            await strangers.learn(embedder)
            for questions in found:
                if names and questions.name not in names:
                    continue
                trials = Trials(embedder, strangers, executor, list(_elsewhere(found, questions)))
                rows = Counter([trial async for trial in trials.of(questions, count)])
                console.print(_table(questions.name, rows))
                embedder.keep()


def _elsewhere(found: Sequence[QuestionSet], but: QuestionSet) -> Iterator[Question]:
    """Yield the questions of other sets than this one."""
    for questions in found:
        if questions is not but:
            yield from (question for question in questions.questions if not question.is_stranger)


def _table(name: str, rows: Counter[Trial]) -> Table:
    table = Table(title=f"{name}: answerable / weak / none, %", title_justify="left")
    table.add_column("chunks", justify="right")
    for kind in Kind:
        table.add_column(kind, justify="right")
    for size in SIZES:
        cells = [_shares(rows, size, kind) for kind in Kind]
        if any(cells):
            table.add_row(f"{size:,}" if size else "all", *cells)
    return table


def _shares(rows: Counter[Trial], size: int, kind: Kind) -> str:
    counts = [rows[Trial(size, kind, verdict)] for verdict in Verdict]
    return " / ".join(f"{100 * count / sum(counts):.0f}" for count in counts) if any(counts) else ""


if __name__ == "__main__":
    main()
