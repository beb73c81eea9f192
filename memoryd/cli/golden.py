"""Golden questions: read their file, locate the expected lines, ask the daemon, and score the answers."""

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, quantiles

from msgspec import Struct

from memoryd.cli.invocation import Invocation, wait_for
from memoryd.cli.terminal import harmless_line, size
from memoryd.client import Client
from memoryd.domain.documents import parse
from memoryd.domain.ranking.golden import (
    DEPTH,
    GoldenLine,
    GoldenPlace,
    GoldenSet,
    LineSpan,
    QuestionResult,
    RankingScores,
    first_rank,
    locate_answer,
    parse_golden,
    scores,
)
from memoryd.errors import InvalidRequest, NotFound, NotNow, StoreUnavailable
from memoryd.replies.search import SearchReply
from memoryd.replies.status import AgentStatus

GOLDEN_FILE = ".memory/eval.jsonl"
"""Path below the workspace; folders that begin with a dot are not indexed."""
DEADLINE_MS = 60_000
WARM_SECONDS = 60.0
"""How long to wait for an arm that is not ready, such as a model that is being loaded."""
NOTES = ("memory",)
"""Sources that are searched: only notes, because conversations come and go."""


class LocatedQuestion(Struct, frozen=True):
    """A golden question with the lines of the present notes that answer it."""

    text: str
    spans: tuple[LineSpan, ...]
    is_accepted: bool


class Evaluation(Struct, frozen=True):
    """The results of all questions by their text; times are in milliseconds, `answer_ms` has one for each answer."""

    results: Mapping[str, QuestionResult]
    answer_ms: Sequence[float]
    arm_ms: Mapping[str, float]
    """The mean of each arm; questions of other clients at the same time are included."""

    def scores_of(self, texts: Iterable[str]) -> RankingScores:
        """Return the scores of some of the questions."""
        return scores(self.results[text] for text in texts)

    @property
    def percentiles(self) -> tuple[float, float]:
        """The median and the 95th percentile of the time of an answer; 0 without answers."""
        if len(self.answer_ms) < 2:
            return (fmean(self.answer_ms),) * 2 if self.answer_ms else (0.0, 0.0)
        cuts = quantiles(self.answer_ms, n=20, method="inclusive")
        return cuts[9], cuts[18]


def wait_for_index(invocation: Invocation, seconds: float) -> None:
    """Wait until the notes of the chosen agent are found by words and by vectors; raises NotNow if they are not."""
    provider = invocation.chosen_agents(invocation.memory.status())[0]["embedding"]["provider"]
    reply = wait_for(invocation, "indexed" if provider == "none" else "embedded", seconds)
    if not reply["complete"]:
        raise NotNow(f"the index is not complete: {reply['reason'] or 'it takes longer'}", hint="memoryctl status")


def golden_file(agent: AgentStatus) -> Path:
    """Return the path of the golden questions of an agent's workspace."""
    return Path(agent["workspace"]) / GOLDEN_FILE


def golden_text(agent: AgentStatus) -> str:
    """Return the text of the golden questions, empty without a file.

    Raises InvalidRequest for a symbolic link and for a file that cannot be read.
    """
    # imported here: it loads memoryd.files, which only few callers need
    from memoryd.cli.written_file import read_text

    return read_text(golden_file(agent))


def golden_set(agent: AgentStatus) -> GoldenSet:
    """Return the golden questions of an agent's workspace; raises InvalidRequest."""
    return parse_golden(golden_text(agent))


class DocumentTexts:
    """Documents as the daemon shows them to one agent, so that private text stays private; each is read once."""

    def __init__(self, client: Client, agent: str) -> None:
        self._client = client
        self._agent = agent
        self._texts: dict[str, str | None] = {}

    def text(self, path: str) -> str | None:
        """Return the text of a document, None if it is not indexed."""
        if path not in self._texts:
            try:
                self._texts[path] = "".join(self._parts(path))
            except (NotFound, InvalidRequest):
                self._texts[path] = None
        return self._texts[path]

    def _parts(self, path: str) -> Iterator[str]:
        start, column = 1, 1
        while True:
            part = self._client.get(path, start=start, column=column, agent=self._agent)
            yield part["text"]
            if part["nextFrom"] is None:
                return
            start, column = part["nextFrom"], part["nextColumn"] or 1

    def spans(self, place: GoldenPlace) -> list[LineSpan]:
        """Return the present lines of a place, empty if they were deleted. A quote is also searched in other notes."""
        if place.memory:
            return self._of_memory(place.memory)
        text = self.text(place.path)
        if text is not None and (span := locate_answer(place, text)) is not None:
            return [span]
        return list(self._moved(place))[:1] if place.quote else []

    def _of_memory(self, name: str) -> list[LineSpan]:
        try:
            sources = self._client.get_memory(name, agent=self._agent)["memory"]["sources"]
        except (NotFound, InvalidRequest):
            return []
        cited = (parse(source) for source in sources)
        return [
            LineSpan(citation.path, citation.start_line or 1, citation.end_line or citation.start_line or 1)
            for citation in cited
        ]

    def _moved(self, place: GoldenPlace) -> Iterator[LineSpan]:
        """Yield the lines of a quote in other notes."""
        phrase = place.quote.replace('"', " ")
        try:
            reply = self._client.search(f'"{phrase}"', max_results=DEPTH, sources=NOTES, agent=self._agent)
        except InvalidRequest:
            # a quote may be longer than the longest question
            return
        for path in dict.fromkeys(hit["path"] for hit in reply["results"]):
            text = self.text(path)
            if (
                text is not None
                and (span := locate_answer(GoldenPlace(path=path, quote=place.quote), text)) is not None
            ):
                yield span


def located_questions(lines: Iterable[GoldenLine], documents: DocumentTexts) -> tuple[list[LocatedQuestion], list[str]]:
    """Return the questions whose answer is in the notes, and a problem in words for each of the others."""
    questions, problems = [], []
    for line in lines:
        golden = line.golden
        spans = tuple(span for place in golden.places for span in documents.spans(place))
        if golden.expect and not spans:
            names = " or ".join(map(str, golden.places))
            problems.append(f"line {line.number}: {names} is not in the index: edited, moved, deleted or private")
        else:
            questions.append(LocatedQuestion(golden.question, spans, golden.status == "accepted"))
    return questions, problems


def ask(client: Client, agent: str, questions: Sequence[LocatedQuestion], what: str) -> Evaluation:
    """Ask all questions and return the results, with a progress bar named `what` on a terminal.

    Raises NotNow if an arm is not ready for a minute.
    """
    # imported here: the parser of metrics and rich are slow to load
    from memoryd.cli.bars import count_progress
    from memoryd.cli.memory.top import metrics_of

    results: dict[str, QuestionResult] = {}
    times: list[float] = []
    before = metrics_of("", 0.0)
    with count_progress(harmless_line(what), "questions") as show:
        for number, question in enumerate(questions):
            reply = _answer(client, agent, question.text)
            if not number:
                # the first question may have waited for a model: ask it again, and count arm times from here
                reply, before = _answer(client, agent, question.text), metrics_of(client.metrics(), 0.0)
            spans = [LineSpan(hit["path"], hit["startLine"], hit["endLine"]) for hit in reply["results"]]
            rank = first_rank(spans, question.spans)
            results[question.text] = QuestionResult(rank, reply["verdict"], stranger=not question.spans)
            times.append(reply["tookMs"])
            show(number + 1, len(questions))
    after = metrics_of(client.metrics(), 0.0)
    seconds = after.since(before, "arm_duration_seconds_sum")
    counts = after.since(before, "arm_duration_seconds_count")
    return Evaluation(results, times, {arm: 1000 * seconds[arm,] / count for (arm,), count in counts.items() if count})


def _answer(client: Client, agent: str, text: str) -> SearchReply:
    until = time.monotonic() + WARM_SECONDS
    while True:
        reply = client.search(text, agent=agent, max_results=DEPTH, sources=NOTES, deadline_ms=DEADLINE_MS)
        arms = reply["health"]["arms"].items()
        lacking = [f"{name}: {arm['reason']}" for name, arm in arms if arm["state"] in ("waiting", "failed", "timeout")]
        if not lacking:
            return reply
        if time.monotonic() > until:
            raise NotNow(
                f"an arm of the search is not ready: {'; '.join(lacking)}", hint="memoryctl status says what to do"
            )
        time.sleep(0.5)


def agent_to_evaluate(invocation: Invocation) -> AgentStatus:
    """Return the agent of `--agent`, else the first; remove scratch folders of killed comparisons beside its index.

    Raises UnknownAgent, and NotNow while qmd answers.
    """
    agent = invocation.chosen_agents(invocation.memory.status())[0]
    remove_leftovers(Path(agent["database"]["path"]).parent)
    if agent["backend"] != "builtin":
        raise NotNow(
            "qmd answers, with its own ranking", hint="set memory.backend: builtin to evaluate memoryd's ranking"
        )
    return agent


PREFIX = "memoryd-eval-"
"""Prefix of scratch folders: the folder of an index may also contain folders of its owner."""
ROOM = 3
"""Free space needed, in sizes of the index: for its copy, for what the variant indexes anew, and for its log."""
SPARE_BYTES = 64 * 1024 * 1024


@contextlib.contextmanager
def scratch_folder(index: Path) -> Iterator[Path]:
    """Yield an empty folder beside an index, readable by its owner only (mode 0700), and delete it at the end.

    Removes leftovers of killed processes first. Raises StoreUnavailable if the disk has no room for a second index.
    """
    remove_leftovers(index.parent)
    needed, free = ROOM * index.stat().st_size + SPARE_BYTES, shutil.disk_usage(index.parent).free
    if free < needed:
        raise StoreUnavailable(f"{index.parent} has {size(free)} free; a second index takes up to {size(needed)}")
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=index.parent) as name, _lock_folder(Path(name)):
        yield Path(name)


def remove_leftovers(parent: Path) -> None:
    """Remove scratch folders that killed processes left in `parent`; skip one in use, or that cannot be removed."""
    for leftover in parent.glob(f"{PREFIX}*/"):
        with contextlib.suppress(OSError), _lock_folder(leftover):
            shutil.rmtree(leftover)


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which ends with this process; raise BlockingIOError if another process has it.

    While it is held no file in the folder can be replaced, because replacing takes the same lock.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
