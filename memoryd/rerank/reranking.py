"""The reranker that some agents share: its model, what it is doing, and its answer within a time."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

import structlog

from memoryd.embed.local.local_model import LocalModel
from memoryd.embed.local.worker_process import WorkerPhase, WorkerState
from memoryd.errors import RerankerUnavailable
from memoryd.models.families import inspect_reranker
from memoryd.models.fetching import Progress
from memoryd.models.store import ModelStore
from memoryd.rerank.ranking_worker import RankerSpec, RankingWorker

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RerankerSettings:
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


@dataclass(frozen=True, slots=True)
class RerankerState:
    """The phase, why, and since when; what is known of the model and of its process, once there is one."""

    phase: RerankerPhase
    reason: str
    since: datetime
    model: str
    """Its name, or its source before the file was read."""
    family: str | None = None
    worker: WorkerState | None = None


NO_MODEL: Final = "the model of query.rerank.modelPath cannot be used; memoryctl status tells why"


class RankingOutcome(StrEnum):
    """How a ranking went."""

    OK = "ok"
    WAITING = "waiting"
    """The model is being fetched or loaded."""
    TIMEOUT = "timeout"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Ranking:
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
