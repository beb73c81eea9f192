"""The reranker, shared by agents: a child process, started on demand, that handles one question at a time."""

import asyncio
import math
from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from functools import partial
from hashlib import sha256
from pathlib import Path

import structlog
from msgspec import Struct

from memoryd.domain.clock import rfc3339
from memoryd.embed.current import ModelPhase
from memoryd.embed.local.frames import RANK_POOLING, TEXT_CHARACTERS, Load, NoResult, Ready, Score, Scored
from memoryd.embed.local.local_model import LocalModel
from memoryd.embed.local.worker_connection import WorkerJob
from memoryd.embed.local.worker_process import WorkerPhase, WorkerRun, WorkerSupervisor, module_command
from memoryd.errors import RerankerUnavailable
from memoryd.models.families import YES_OR_NO, Reranker, inspect_reranker
from memoryd.models.store import ModelStore
from memoryd.replies.models import RerankerReply

log = structlog.get_logger(__name__)

RANKING_COMMAND = module_command("memoryd.rerank.llama_ranker")
CONTEXT = 512
"""Tokens of a question and a text together; a chunk has about 400.

By measurement llama.cpp needs 4 bytes per token and vocabulary entry: half a gigabyte for 250,000 entries.
"""
NO_MODEL = "the model of query.rerank.modelPath cannot be used; memoryctl status tells why"


class RankingWorker(WorkerSupervisor[float]):
    """Scores pairs with one GGUF. It works while its `run` is running.

    A worker that takes longer than `stall` for one pair counts as hung. If `idle_unload` is zero, the model stays
    loaded.
    """

    def __init__(
        self,
        *,
        model: Path,
        reranker: Reranker,
        threads: int,
        idle_unload: timedelta,
        stall: timedelta = timedelta(seconds=60),
    ) -> None:
        order = Load(str(model), RANK_POOLING, min(CONTEXT, reranker.context), threads)
        job = WorkerJob("reranking", RerankerUnavailable, partial(_misfit, reranker), Scored, _score)
        super().__init__(WorkerRun(order=order, job=job, command=RANKING_COMMAND, idle_unload=idle_unload, stall=stall))
        self.reranker = reranker
        self._turn = asyncio.Lock()
        self._last: tuple[str, dict[bytes, float]] = "", {}
        """The last question, and its scores so far by digest of the text."""

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the raw score of each text, in order; a higher score is a better answer. Raises RerankerUnavailable.

        Questions wait for each other here, where cancelling costs nothing. A cancelled question withdraws the pairs
        that the worker has not begun, and aborts the current one. Scores of the last question are cached, so that the
        same question continues after a timeout.
        """
        async with self._turn:
            scores = self._cached_scores(question, texts)
            self._last = question, scores
            unread = {key: text for text in texts if (key := _digest(text)) not in scores}
            keys = list(unread)
            requests = [Score(0, question[:TEXT_CHARACTERS], text[:TEXT_CHARACTERS]) for text in unread.values()]

            def note(position: int, reply: float | NoResult) -> None:
                if not isinstance(reply, NoResult):
                    scores[keys[position]] = reply

            replies = await self.ask(requests, on_reply=note)
        if refused := [reply.reason for reply in replies if isinstance(reply, NoResult)]:
            raise RerankerUnavailable(f"the reranking model gives no score: {refused[0]}")
        return [scores[_digest(text)] for text in texts]

    def read(self, question: str, texts: Sequence[str]) -> int:
        """Return how many of the texts have a score already, if this is the last question; else 0."""
        return len(self._cached_scores(question, texts))

    def _cached_scores(self, question: str, texts: Sequence[str]) -> dict[bytes, float]:
        """Return the cached scores of these texts by digest; none if this is not the last question."""
        last_question, scores = self._last
        if question != last_question:
            return {}
        return {key: scores[key] for key in map(_digest, texts) if key in scores}


def _misfit(reranker: Reranker, ready: Ready) -> str:
    """Return why the model's classes do not fit: a reranker has one class, or yes and no. Empty if they fit."""
    classes = 2 if reranker.architecture in YES_OR_NO else 1
    return "" if ready.dimensions == classes else f"its head has {ready.dimensions} classes, not {classes}"


def _score(message: Scored) -> float | NoResult:
    is_number = math.isfinite(message.score)
    return message.score if is_number else NoResult(message.id, "a score that is not finite")


def _digest(text: str) -> bytes:
    return sha256(text.encode(errors="surrogatepass")).digest()


class RerankerSettings(Struct, frozen=True):
    """The model, and the settings of its worker."""

    source: str
    threads: int
    idle_unload: timedelta


class RerankResult(StrEnum):
    """The outcome of a ranking."""

    OK = "ok"
    WAITING = "waiting"
    """The model is being downloaded or loaded."""
    TIMEOUT = "timeout"
    FAILED = "failed"


class Ranking(Struct, frozen=True):
    """The positions of the texts, best first, and their relevance from 0 to 1; or why there is no ranking."""

    outcome: RerankResult
    reason: str = ""
    order: tuple[int, ...] = ()
    relevance: tuple[float, ...] = ()
    """Relevance in the order of the texts."""


class Reranking(LocalModel[RankingWorker]):
    """Runs one reranker; `run` loops until cancelled."""

    failure_event = "no reranker; answers keep their order"
    fallback_text = "answers keep their order"

    def __init__(self, *, settings: RerankerSettings, store: ModelStore) -> None:
        super().__init__(source=settings.source, store=store)
        self.settings = settings

    def make(self, path: Path) -> RankingWorker:
        """Check the file and create its worker. Blocks; raises ModelError."""
        reranker, settings = inspect_reranker(path), self.settings
        log.info("reranker is here", model=reranker.name, family=reranker.family)
        return RankingWorker(model=path, reranker=reranker, threads=settings.threads, idle_unload=settings.idle_unload)

    def state(self) -> RerankerReply:
        """Return the state for status; cheap."""
        phase, reason = self.phase_and_reason()
        worker = self.worker if self.record.phase is ModelPhase.READY else None
        return RerankerReply(
            state=phase,
            reason=reason or None,
            since=rfc3339(self.record.since),
            model=self.settings.source if worker is None else worker.reranker.name,
            family=None if worker is None else worker.reranker.family,
            worker=None if worker is None else worker.state(),
        )

    async def rank(self, question: str, texts: Sequence[str], seconds: float) -> Ranking:
        """Rank the texts by how well they answer the question, within `seconds`. Equal scores keep their order.

        A model that is not loaded yet continues to load for the next question.
        """
        worker, phase = self.worker, self.record.phase
        if worker is None or phase is not ModelPhase.READY:
            if phase is ModelPhase.FAILED:
                # the reason may name files of the host, which an agent must not see
                return Ranking(RerankResult.FAILED, NO_MODEL)
            return Ranking(RerankResult.WAITING, self.record.reason)
        try:
            async with asyncio.timeout(seconds):
                scores = await worker.scores(question, texts)
        except TimeoutError:
            if worker.phase is WorkerPhase.READY:
                count = f"{worker.read(question, texts)} of {len(texts)} texts"
                return Ranking(RerankResult.TIMEOUT, f"it read {count} within {seconds:.2g} s")
            return Ranking(RerankResult.WAITING, "the reranking model is being loaded")
        except RerankerUnavailable as exc:
            return Ranking(RerankResult.FAILED, str(exc))
        order = sorted(range(len(texts)), key=lambda at: -scores[at])
        return Ranking(RerankResult.OK, "", tuple(order), tuple(map(worker.reranker.relevance, scores)))
