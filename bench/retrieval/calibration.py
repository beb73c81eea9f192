"""`python -m bench.retrieval.calibration`: what verdicts are given, by the size of the workspace and by the model.

Of each set some questions are asked of workspaces of 1, 5, 20 and 100 chunks, taken at random, or of the whole: once
with a chunk that answers, once without any note that does, and beside each a question of another set in the same
language. What is right: `answerable` with the answer, `none` for strangers. Without the answer `weak` is honest, since
other notes may tell of the same things. Questions in another language than what answers them have rows of their own.

Thresholds belong to the vector space, so the same is asked with models of different spaces: with a narrow one, with one
whose weights are chance, which must do no harm beside words, and with words alone.
"""

import asyncio
import random
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

import click
import gguf
from rich.console import Console
from rich.table import Table

from bench.retrieval.sets import Question, QuestionSet, question_sets
from bench.retrieval.subsets import KeptEmbedder, PlacedChunk, Subset, chunks_below, kept_embedder, subset
from memoryd.config.paths import cache_dir, models_dir
from memoryd.domain.ranking.calibration import CosineSample, Verdict, noise_of
from memoryd.domain.ranking.vector_space import UnrelatedVectors, is_narrow
from memoryd.domain.text.languages import language_of
from memoryd.embed.calibration import UnrelatedTexts
from memoryd.models.store import ModelStore
from memoryd.search.hits import best_verdict
from memoryd.search.protocol import SearchResult
from tests.daemon import MULTILINGUAL, STARTER
from tests.tiny_rankers import write_bert_ranker

WHOLE = 0
SIZES = (1, 5, 20, 100)
RANDOM, WORDS = "random", "words"
MODELS = (STARTER, MULTILINGUAL, RANDOM, WORDS)
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
    languages: str
    """Of the question and of what answers it, where they are not the same."""
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Space:
    """A model by the name that it is chosen by, and what it makes of strangers; without an embedder words alone."""

    name: str
    embedder: KeptEmbedder | None = None
    unrelated: UnrelatedTexts | None = None

    @property
    def strangers(self) -> Sequence[UnrelatedVectors]:
        known = self.embedder and self.unrelated and self.unrelated.known(self.embedder.identity.fingerprint)
        return known or ()


@dataclass(frozen=True, slots=True)
class Trials:
    """How the trials of a set are made."""

    space: Space
    sizes: Sequence[int]
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
            for size in self.sizes:
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
                async with subset(Path(folder), self.space.embedder, self.space.unrelated, self.executor) as index:
                    await index.put(base)
                    for question in group:
                        async for trial in self._of_question(size, index, base, chunks, question):
                            yield trial

    async def _of_question(
        self, size: int, index: Subset, base: Sequence[PlacedChunk], chunks: Sequence[PlacedChunk], question: Question
    ) -> AsyncIterator[Trial]:
        paths = _answering(question)
        taken, answers = [chunk for chunk in base if chunk.path in paths], _answers(chunks, question)
        languages = _languages(question, answers[0])
        await index.drop(sorted(paths))
        if len(base) > len(taken):
            yield Trial(size, Kind.WITHOUT, languages, _verdict(await index.ask(question.text)))
        await index.put(taken if size == WHOLE else answers)
        yield Trial(size, Kind.WITH, languages, _verdict(await index.ask(question.text)))
        alike = [other for other in self.others if other.language == question.language]
        if alike:
            stranger = self.chance.choice(alike).text
            yield Trial(size, Kind.STRANGER, "", _verdict(await index.ask(stranger)))
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


def _languages(question: Question, answer: PlacedChunk) -> str:
    languages = question.language, language_of(answer.entry.text)
    return "" if "" in languages or len(set(languages)) == 1 else "→".join(languages)


def _verdict(found: SearchResult) -> Verdict:
    return best_verdict(found.hits) or Verdict.NONE


@click.command()
@click.argument("names", nargs=-1)
@click.option("--sets", required=True, type=click.Path(path_type=Path), envvar="MEMORYD_BENCH", help="Folder of sets.")
@click.option("--questions", "count", default=12, show_default=True, help="How many of each set are asked.")
@click.option("--size", "sizes", multiple=True, default=SIZES, show_default=True, help="Chunks; 0 for all of them.")
@click.option(
    "--model",
    "models",
    multiple=True,
    default=MODELS,
    show_default=True,
    help="Also `random` weights and `words` alone.",
)
def main(names: Sequence[str], sets: Path, count: int, sizes: Sequence[int], models: Sequence[str]) -> None:
    """Print how often a verdict is given, by model and size of the workspace. Vectors are kept for the next run."""
    asyncio.run(_run(list(question_sets([sets], ())), names, count, sizes, models))


async def _run(
    found: Sequence[QuestionSet], names: Sequence[str], count: int, sizes: Sequence[int], models: Sequence[str]
) -> None:
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    spaces, rows = [], dict[str, dict[str, Counter[Trial]]]()
    with ThreadPoolExecutor(2) as executor:
        for model in models:
            async with _space(model) as space:
                spaces.append(space)
                for questions in found:
                    if not names or questions.name in names:
                        click.echo(f"{model}: {questions.name}", err=True)
                        trials = Trials(space, sizes, executor, list(_elsewhere(found, questions)))
                        counts = Counter([trial async for trial in trials.of(questions, count)])
                        rows.setdefault(questions.name, {})[model] = counts
    console.print(_known(spaces))
    for name, by_model in rows.items():
        console.print(_table(name, by_model, sizes))


@asynccontextmanager
async def _space(model: str) -> AsyncIterator[Space]:
    """Run a model, or none, and learn what it makes of strangers."""
    if model == WORDS:
        yield Space(model)
        return
    folder = cache_dir() / "evaluation" / "vectors"
    async with kept_embedder(_located(model, folder), folder) as embedder:
        unrelated = UnrelatedTexts(folder)
        await unrelated.measure(embedder)
        yield Space(model, embedder, unrelated)


def _located(model: str, folder: Path) -> Path:
    if model == RANDOM:
        folder.mkdir(parents=True, exist_ok=True)
        return write_bert_ranker(
            folder / "random.gguf", layers=2, has_head=False, pooling=gguf.PoolingType.MEAN, name=RANDOM
        )
    path = ModelStore(models_dir()).locate(model)
    if path is None:
        raise click.UsageError(f"the model is not here: memoryctl models pull {model}")
    return path


def _elsewhere(found: Sequence[QuestionSet], but: QuestionSet) -> Iterator[Question]:
    """Yield the questions of other sets than this one."""
    for questions in found:
        if questions is not but:
            yield from (question for question in questions.questions if not question.is_stranger)


def _known(spaces: Sequence[Space]) -> Table:
    """Return what is known of each space: of English and of Chinese strangers."""
    table = Table(title="spaces", title_justify="left")
    for heading in ("model", "dimensions", "mean cosine", "narrow", "reach", "counts in full at", "clear"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    for space in spaces:
        if space.embedder and space.strangers:
            noises = [noise_of(_NOTHING, _NOTHING, one.reach) for one in space.strangers]
            table.add_row(
                space.name,
                str(space.embedder.identity.dimensions),
                _both([float(one.mean @ one.mean) for one in space.strangers]),
                _yes(is_narrow(space.strangers)),
                _both([one.reach for one in space.strangers]),
                _both([noise.full for noise in noises]),
                " / ".join(_yes(noise.is_clear) for noise in noises),
            )
    return table


_NOTHING = CosineSample(0, 0.0, 0.0)


def _both(numbers: Sequence[float]) -> str:
    return " / ".join(f"{number:.2f}" for number in numbers)


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _table(name: str, by_model: Mapping[str, Counter[Trial]], sizes: Sequence[int]) -> Table:
    table = Table(title=f"{name}: answerable / weak / none, %", title_justify="left")
    table.add_column("model")
    table.add_column("notes")
    for size in sizes:
        table.add_column(f"{size:,}" if size else "all", justify="right")
    for model, rows in by_model.items():
        first = model
        for kind in Kind:
            for languages in sorted({trial.languages for trial in rows}):
                cells = [_shares(rows, size, kind, languages) for size in sizes]
                if any(cells):
                    table.add_row(first, f"{kind} {languages}", *cells)
                    first = ""
        table.add_section()
    return table


def _shares(rows: Counter[Trial], size: int, kind: Kind, languages: str) -> str:
    counts = [rows[Trial(size, kind, languages, verdict)] for verdict in Verdict]
    return " / ".join(f"{100 * count / sum(counts):.0f}" for count in counts) if any(counts) else ""


if __name__ == "__main__":
    main()
