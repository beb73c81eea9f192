"""The reranker that some agents share: a child process, started on demand, with one question at a time."""

import asyncio
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from memoryd.embed.local.frames import RANK_POOLING, TEXT_CHARACTERS, Load, Message, NoResult, Ready, Score, Scored
from memoryd.embed.local.local_model import LocalModel
from memoryd.embed.local.worker import ModelWorker
from memoryd.embed.local.worker_process import Command, WorkerPhase, WorkerRun, WorkerState, module_command
from memoryd.errors import RerankerUnavailable
from memoryd.models.families import YES_OR_NO, Reranker, inspect_reranker
from memoryd.models.fetching import Progress
from memoryd.models.store import ModelStore
from memoryd.retry import Retry

log = structlog.get_logger(__name__)

RANKING_COMMAND: Final = module_command("memoryd.rerank.llama_ranker")
CONTEXT: Final = 512
"""Tokens of a question and a text together; a chunk has some 400.

Measured, llama.cpp keeps 4 bytes for each token and each entry of the vocabulary: with 250,000 entries half a gigabyte.
"""
NO_MODEL: Final = "the model of query.rerank.modelPath cannot be used; memoryctl status tells why"


class RankerSpec(Struct, frozen=True, kw_only=True):
    """Which model a worker runs, and how patiently. `idle_unload` of zero keeps the model for ever.

    `stall` is how long the worker may work on one pair before it counts as hung.
    """

    model: Path
    reranker: Reranker
    threads: int
    idle_unload: timedelta
    stall: timedelta = timedelta(seconds=60)
    load_timeout: timedelta = timedelta(seconds=120)
    command: Command = RANKING_COMMAND

    @property
    def run(self) -> WorkerRun[float | NoResult]:
        """How the worker is run."""
        return WorkerRun(
            order=Load(str(self.model), RANK_POOLING, min(CONTEXT, self.reranker.context), self.threads),
            job=RankingJob(self.reranker.architecture),
            command=self.command,
            idle_unload=self.idle_unload,
            stall=self.stall,
            load_timeout=self.load_timeout,
        )


class RankingJob(Struct, frozen=True):
    """What a worker that reranks must give: a finite number for each pair."""

    architecture: str
    name: str = "reranking"
    unavailable: type[RerankerUnavailable] = RerankerUnavailable

    def misfit(self, ready: Ready) -> str:
        """Return why the model's classes do not rank; empty if they do: one, or yes and no."""
        classes = 2 if self.architecture in YES_OR_NO else 1
        return "" if ready.dimensions == classes else f"its head has {ready.dimensions} classes, not {classes}"

    def read(self, message: Message) -> tuple[int, float | NoResult]:
        """Return whose score it is, and the score or why there is none; raises ValueError for anything else."""
        match message:
            case Scored():
                is_number = math.isfinite(message.score)
                return message.id, message.score if is_number else NoResult(message.id, "a score that is not finite")
            case NoResult():
                return message.id, message
        raise ValueError(f"unexpected {type(message).__name__}")


class RankingWorker(ModelWorker[float | NoResult]):
    """Scores pairs with one GGUF. Works while its `run` runs."""

    def __init__(self, spec: RankerSpec, *, retry: Retry | None = None) -> None:
        super().__init__(spec.run, retry=retry)
        self.reranker = spec.reranker
        self._turn = asyncio.Lock()
        self._last = _LastQuestion("", {})

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return what the model's head says to each text, in order: more answers better. Raises RerankerUnavailable.

        Questions wait for each other here, where giving up costs nothing; whoever is cancelled takes the pairs back
        that the worker has not begun, and breaks off the one that it has. What was read for the last question is not
        read again, so that the same question goes on where it was late.
        """
        async with self._turn:
            read = self._last = self._last.asked_again(question, texts)
            unread = {key: text for text in texts if (key := _digest(text)) not in read.scores}
            keys = list(unread)
            requests = [Score(0, question[:TEXT_CHARACTERS], text[:TEXT_CHARACTERS]) for text in unread.values()]
            replies = await self._worker.ask(requests, on_reply=lambda at, reply: read.note(keys[at], reply))
        if refused := [reply.reason for reply in replies if isinstance(reply, NoResult)]:
            raise RerankerUnavailable(f"the reranking model gives no score: {refused[0]}")
        return [read.scores[_digest(text)] for text in texts]

    def read(self, question: str, texts: Sequence[str]) -> int:
        """Return how many of the texts were read already, if this is what was asked last."""
        return len(self._last.asked_again(question, texts).scores)


class _LastQuestion(Struct, frozen=True):
    """What was asked last, with its scores by the digests of the texts, as they come."""

    question: str
    scores: dict[bytes, float]

    def asked_again(self, question: str, texts: Sequence[str]) -> "_LastQuestion":
        """Return the same with what these texts have in common with those before; nothing if the question is new."""
        known = self.scores if self.question == question else {}
        return _LastQuestion(question, {key: known[key] for key in map(_digest, texts) if key in known})

    def note(self, key: bytes, reply: float | NoResult) -> None:
        """Keep a score."""
        if not isinstance(reply, NoResult):
            self.scores[key] = reply


def _digest(text: str) -> bytes:
    return sha256(text.encode(errors="surrogatepass")).digest()


class RerankerSettings(Struct, frozen=True):
    """Which model, and how its worker runs it."""

    source: str
    threads: int
    idle_unload: timedelta


class RerankerPhase(StrEnum):
    """What stands between a question and its reranking."""

    WARMING = "warming"
    """Its file has not been looked at yet."""
    DOWNLOADING = "downloading"
    READY = "ready"
    FAILED = "failed"


class RerankerState(Struct, frozen=True):
    """The phase, why, and since when; what is known of the model and of its process, once there is one."""

    phase: RerankerPhase
    reason: str
    since: datetime
    model: str
    """Its name, or its source before the file was read."""
    family: str | None = None
    worker: WorkerState | None = None


class RankingOutcome(StrEnum):
    """How a ranking went."""

    OK = "ok"
    WAITING = "waiting"
    """The model is being fetched or loaded."""
    TIMEOUT = "timeout"
    FAILED = "failed"


class Ranking(Struct, frozen=True):
    """The texts' positions, best first, each with its relevance from 0 to 1; or why there is no ranking."""

    outcome: RankingOutcome
    reason: str = ""
    order: tuple[int, ...] = ()
    relevance: tuple[float, ...] = ()
    """In the order of the texts."""


class Reranking:
    """Keeps one reranker at work; `run` loops until cancelled."""

    def __init__(self, *, settings: RerankerSettings, store: ModelStore) -> None:
        self.settings = settings
        self._model = LocalModel(source=settings.source, store=store, make=self._worker, news=self)
        self._phase, self._reason, self._since = RerankerPhase.WARMING, "starting", datetime.now(UTC)

    async def run(self) -> None:
        """Bring the model to work and keep it there."""
        await self._model.run()

    def state(self) -> RerankerState:
        """Return what status shows; cheap."""
        worker = self._model.worker
        known = RerankerState(self._phase, self._reason, self._since, self.settings.source)
        if worker is None or self._phase is not RerankerPhase.READY:
            return known
        phase = RerankerPhase.FAILED if worker.is_given_up else self._phase
        return RerankerState(
            phase,
            (self._model.trouble() or "") if worker.is_given_up else self._reason,
            self._since,
            worker.reranker.name,
            worker.reranker.family,
            worker.state(),
        )

    async def rank(self, question: str, texts: Sequence[str], seconds: float) -> Ranking:
        """Return the texts by how well they answer the question, within `seconds`; equal ones keep their order.

        A model that is not loaded yet goes on loading for the next question.
        """
        worker = self._model.worker
        if worker is None or self._phase is not RerankerPhase.READY:
            if self._phase is RerankerPhase.FAILED:
                # the reason may name files of the host, which are nothing to an agent
                return Ranking(RankingOutcome.FAILED, NO_MODEL)
            return Ranking(RankingOutcome.WAITING, self._reason)
        try:
            async with asyncio.timeout(seconds):
                scores = await worker.scores(question, texts)
        except TimeoutError:
            if worker.state().phase is WorkerPhase.READY:
                count = f"{worker.read(question, texts)} of {len(texts)} texts"
                return Ranking(RankingOutcome.TIMEOUT, f"it read {count} within {seconds:.2g} s")
            return Ranking(RankingOutcome.WAITING, "the reranking model is being loaded")
        except RerankerUnavailable as exc:
            return Ranking(RankingOutcome.FAILED, str(exc))
        order = sorted(range(len(texts)), key=lambda at: -scores[at])
        return Ranking(RankingOutcome.OK, "", tuple(order), tuple(map(worker.reranker.relevance, scores)))

    async def fetching(self, source: str) -> None:
        """Say that the model is on its way."""
        self._become(RerankerPhase.DOWNLOADING, _fetching(source))

    def progressed(self, progress: Progress, source: str) -> None:
        """Say why it is no further on its way."""
        self._reason = progress.trouble or _fetching(source)

    async def failed(self, reason: str, hint: str) -> None:
        """Say why there is no model."""
        log.warning("no reranker; answers keep their order", reason=reason, hint=hint)
        self._become(RerankerPhase.FAILED, f"{reason} ({hint})" if hint else reason)

    async def ready(self, worker: RankingWorker) -> None:
        """Say that questions may be asked."""
        log.info("reranker is here", model=worker.reranker.name, family=worker.reranker.family)
        self._become(RerankerPhase.READY, "")

    def _become(self, phase: RerankerPhase, reason: str) -> None:
        if phase is not self._phase:
            self._since = datetime.now(UTC)
        self._phase, self._reason = phase, reason

    def _worker(self, path: Path) -> RankingWorker:
        return RankingWorker(
            RankerSpec(
                model=path,
                reranker=inspect_reranker(path),
                threads=self.settings.threads,
                idle_unload=self.settings.idle_unload,
            )
        )


def _fetching(source: str) -> str:
    return f"fetching {source}; answers keep their order meanwhile"
