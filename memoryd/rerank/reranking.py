"""The reranker that some agents share: a child process, started on demand, with one question at a time."""

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
from memoryd.embed.local.worker_process import WorkerKeeper, WorkerPhase, WorkerRun, module_command
from memoryd.errors import RerankerUnavailable
from memoryd.models.families import YES_OR_NO, Reranker, inspect_reranker
from memoryd.models.store import ModelStore
from memoryd.replies.models import RerankerReply

log = structlog.get_logger(__name__)

RANKING_COMMAND = module_command("memoryd.rerank.llama_ranker")
CONTEXT = 512
"""Tokens of a question and a text together; a chunk has some 400.

Measured, llama.cpp keeps 4 bytes for each token and each entry of the vocabulary: with 250,000 entries half a gigabyte.
"""
NO_MODEL = "the model of query.rerank.modelPath cannot be used; memoryctl status tells why"


class RankingWorker(WorkerKeeper[float]):
    """Scores pairs with one GGUF. Works while its `run` runs.

    `stall` is how long it may work on one pair before it counts as hung; `idle_unload` of zero keeps it for ever.
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
        """What was asked last, with its scores by the digests of the texts, as they come."""

    async def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return what the model's head says to each text, in order: more answers better. Raises RerankerUnavailable.

        Questions wait for each other here, where giving up costs nothing; whoever is cancelled takes the pairs back
        that the worker has not begun, and breaks off the one that it has. What was read for the last question is not
        read again, so that the same question goes on where it was late.
        """
        async with self._turn:
            scores = self._known(question, texts)
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
        """Return how many of the texts were read already, if this is what was asked last."""
        return len(self._known(question, texts))

    def _known(self, question: str, texts: Sequence[str]) -> dict[bytes, float]:
        """Return the scores that these texts have from the last question; none if this is another."""
        asked, scores = self._last
        return {key: scores[key] for key in map(_digest, texts) if key in scores} if asked == question else {}


def _misfit(reranker: Reranker, ready: Ready) -> str:
    """Return why the model's classes do not rank; empty if they do: one, or yes and no."""
    classes = 2 if reranker.architecture in YES_OR_NO else 1
    return "" if ready.dimensions == classes else f"its head has {ready.dimensions} classes, not {classes}"


def _score(message: Scored) -> float | NoResult:
    is_number = math.isfinite(message.score)
    return message.score if is_number else NoResult(message.id, "a score that is not finite")


def _digest(text: str) -> bytes:
    return sha256(text.encode(errors="surrogatepass")).digest()


class RerankerSettings(Struct, frozen=True):
    """Which model, and how its worker runs it."""

    source: str
    threads: int
    idle_unload: timedelta


class RerankResult(StrEnum):
    """How a ranking went."""

    OK = "ok"
    WAITING = "waiting"
    """The model is being fetched or loaded."""
    TIMEOUT = "timeout"
    FAILED = "failed"


class Ranking(Struct, frozen=True):
    """The texts' positions, best first, each with its relevance from 0 to 1; or why there is no ranking."""

    outcome: RerankResult
    reason: str = ""
    order: tuple[int, ...] = ()
    relevance: tuple[float, ...] = ()
    """In the order of the texts."""


class Reranking(LocalModel[RankingWorker]):
    """Keeps one reranker at work; `run` loops until cancelled."""

    absent = "no reranker; answers keep their order"
    meanwhile = "answers keep their order"

    def __init__(self, *, settings: RerankerSettings, store: ModelStore) -> None:
        super().__init__(source=settings.source, store=store)
        self.settings = settings

    def make(self, path: Path) -> RankingWorker:
        """Check the file and make its worker, blocking; raises ModelError."""
        reranker, settings = inspect_reranker(path), self.settings
        log.info("reranker is here", model=reranker.name, family=reranker.family)
        return RankingWorker(model=path, reranker=reranker, threads=settings.threads, idle_unload=settings.idle_unload)

    def state(self) -> RerankerReply:
        """Return what status shows; cheap."""
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
        """Return the texts by how well they answer the question, within `seconds`; equal ones keep their order.

        A model that is not loaded yet goes on loading for the next question.
        """
        worker, phase = self.worker, self.record.phase
        if worker is None or phase is not ModelPhase.READY:
            if phase is ModelPhase.FAILED:
                # the reason may name files of the host, which are nothing to an agent
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
