"""The local chat model that all agents share: fetched, checked, at work when it is asked, and what it is doing."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog

from memoryd.embed.local.local_model import LocalModel
from memoryd.errors import TextModelUnavailable
from memoryd.llm.local.writing_worker import WriterSpec, WritingWorker
from memoryd.llm.model_names import recorded_name
from memoryd.llm.text_model import Answer, Prompt
from memoryd.llm.text_model_state import PhaseRecord, TextModelPhase, TextModelState
from memoryd.models.families import inspect_chat_model
from memoryd.models.fetching import Progress
from memoryd.models.gguf import content_hash
from memoryd.models.store import ModelStore

log = structlog.get_logger(__name__)

PROVIDER: Final = "local"
REVISION_DIGITS: Final = 16
SLACK: Final = timedelta(seconds=30)
"""Beyond the time of an answer, before a worker that says nothing counts as hung."""
NO_CHAT_MODEL: Final = "the model of memory.llm cannot be used; memoryctl status tells why"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalWritingSettings:
    """Which model, and how its worker runs it; `answer` is the longest time that one answer may take."""

    source: str
    context: int
    threads: int
    max_tokens: int
    idle_unload: timedelta
    answer: timedelta


class LocalWriting:
    """Keeps one chat model at work; `run` loops until cancelled."""

    def __init__(self, *, settings: LocalWritingSettings, store: ModelStore) -> None:
        self.settings = settings
        self._store = store
        self._model = LocalModel(source=settings.source, store=store, make=self._worker, news=self)
        self._record = PhaseRecord(datetime.now(UTC))

    @property
    def identity(self) -> str:
        """Name the model and its content; its source before the file was read."""
        worker = self._model.worker
        return recorded_name(PROVIDER, self.settings.source, "") if worker is None else worker.identity

    async def run(self) -> None:
        """Bring the model to work and keep it there."""
        await self._model.run()

    def state(self) -> TextModelState:
        """Return what status shows; cheap."""
        worker, record = self._model.worker, self._record
        is_given_up = worker is not None and worker.is_given_up and record.phase is TextModelPhase.READY
        return TextModelState(
            provider=PROVIDER,
            model=self.settings.source if worker is None else worker.chat.name,
            phase=TextModelPhase.FAILED if is_given_up else record.phase,
            reason=(self._model.trouble() or "") if is_given_up else record.reason,
            since=record.since,
            worker=None if worker is None else worker.state(),
        )

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        """Return an answer of that shape by `deadline`, in at most so many tokens; raises TextModelUnavailable."""
        worker = self._model.worker
        if worker is None or self._record.phase is not TextModelPhase.READY:
            # the reason of a failure may name files of the host, which are nothing to an agent
            is_failed = self._record.phase is TextModelPhase.FAILED
            raise TextModelUnavailable(NO_CHAT_MODEL if is_failed else self._record.reason)
        latest = time.monotonic() + self.settings.answer.total_seconds()
        tokens = min(max_tokens, self.settings.max_tokens)
        return await worker.complete(prompt, shape=shape, max_tokens=tokens, deadline=min(deadline, latest))

    async def fetching(self, source: str) -> None:
        """Say that the model is on its way."""
        self._become(TextModelPhase.DOWNLOADING, _fetching(source))

    def progressed(self, progress: Progress, source: str) -> None:
        """Say why it is no further on its way."""
        self._become(self._record.phase, progress.trouble or _fetching(source))

    async def failed(self, reason: str, hint: str) -> None:
        """Say why there is no model."""
        log.warning("no text model; all else goes on", reason=reason, hint=hint)
        self._become(TextModelPhase.FAILED, f"{reason} ({hint})" if hint else reason)

    async def ready(self, worker: WritingWorker) -> None:
        """Say that it may be asked."""
        log.info("text model is here", model=worker.identity)
        self._become(TextModelPhase.READY, "")

    def _become(self, phase: TextModelPhase, reason: str) -> None:
        self._record.become(phase, reason, datetime.now(UTC))

    def _worker(self, path: Path) -> WritingWorker:
        chat, settings = inspect_chat_model(path), self.settings
        return WritingWorker(
            WriterSpec(
                model=path,
                chat=chat,
                revision=content_hash(path, cache_dir=self._store.folder)[:REVISION_DIGITS],
                context=settings.context,
                threads=settings.threads,
                idle_unload=settings.idle_unload,
                stall=settings.answer + SLACK,
            )
        )


def _fetching(source: str) -> str:
    return f"fetching {source}; all else goes on meanwhile"
