"""The local model in the slot of its agents: what fills it, and what is said while nothing does."""

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import structlog

from memoryd.embed.local.identity import identity_of
from memoryd.embed.local.local_model import LocalModel
from memoryd.embed.local.worker import LlamaWorker, WorkerSpec
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot
from memoryd.models.families import ModelFamily, family_of, inspect
from memoryd.models.fetching import Progress
from memoryd.models.store import ModelStore

log = structlog.get_logger(__name__)

TEXT: Final = "{text}"


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """Which model, and how the worker runs it. `threads` and `context` are numbers of threads and tokens.

    An instruction stands before the text, or around it if it holds `{text}`; None means the model's own.
    """

    spec: str
    threads: int
    idle_unload: timedelta
    context: int | None = None
    query_instruction: str | None = None
    document_instruction: str | None = None


class LocalEmbedding:
    """Keeps one local model at work and its slot truthful; `run` loops until cancelled."""

    def __init__(self, *, settings: LocalSettings, store: ModelStore, slot: EmbedderSlot) -> None:
        self.slot = slot
        self._settings = settings
        self._store = store
        self._model = LocalModel(source=settings.spec, store=store, make=self._worker, news=self)

    @property
    def worker(self) -> LlamaWorker | None:
        """What computes the vectors, once there is a model to run."""
        return self._model.worker

    def trouble(self) -> str | None:
        """Return why there is no model at work, None while it works, is fetched or is loaded."""
        return self._model.trouble()

    async def run(self) -> None:
        """Bring the model up, offer it, and run its worker."""
        await self._model.run()

    async def fetching(self, source: str) -> None:
        """Say that the model is on its way."""
        await self.slot.become(EmbedderPhase.DOWNLOADING, _fetching(source))

    def progressed(self, progress: Progress, source: str) -> None:
        """Say how far it is on its way."""
        self.slot.note_progress(progress, progress.trouble or _fetching(source))

    async def failed(self, reason: str, hint: str) -> None:
        """Say why there is no model."""
        log.warning("no embedding model; keyword search goes on", reason=reason, hint=hint)
        await self.slot.become(EmbedderPhase.FAILED, f"{reason} ({hint})" if hint else reason)

    async def ready(self, worker: LlamaWorker) -> None:
        """Offer the model."""
        await self.slot.become(EmbedderPhase.READY, embedder=worker)

    def _worker(self, path: Path) -> LlamaWorker:
        metadata = inspect(path)
        family = _instructed(family_of(metadata), self._settings)
        spec = WorkerSpec(
            model=path,
            family=family,
            identity=identity_of(path, metadata, family, cache_dir=self._store.folder),
            threads=self._settings.threads,
            idle_unload=self._settings.idle_unload,
            context=self._settings.context,
        )
        return LlamaWorker(spec)


def _fetching(source: str) -> str:
    return f"fetching {source}; keyword search answers meanwhile"


def _instructed(family: ModelFamily, settings: LocalSettings) -> ModelFamily:
    return replace(
        family,
        query_prompt=_prompt(settings.query_instruction, family.query_prompt),
        document_prompt=_prompt(settings.document_instruction, family.document_prompt),
    )


def _prompt(instruction: str | None, own: str) -> str:
    if instruction is None:
        return own
    before, _, after = instruction.partition(TEXT)
    return f"{_escaped(before)}{TEXT}{_escaped(after)}"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
