"""From the configured model to a working embedder: locate, download in the background, check, offer, try again."""

import asyncio
import random
import time
from dataclasses import dataclass
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path

import structlog

from memoryd.domain.breaker import Breaker
from memoryd.embed.families import family_of
from memoryd.embed.gguf_header import inspect
from memoryd.embed.identity import identity_of
from memoryd.embed.model_store import ModelStore
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot
from memoryd.embed.worker import LlamaWorker
from memoryd.errors import DownloadError, MemorydError, ModelError

log = structlog.get_logger(__name__)

LOOK_SECONDS = 5.0
"""How often a missing or unfit model file is looked for again."""
NO_LLAMA = "llama-cpp-python is not installed: pip install 'memoryd[local]' (it needs a C compiler)"


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """Which model, and how the worker runs it. `threads` and `context` are numbers of threads and tokens."""

    spec: str
    threads: int
    idle_unload: timedelta
    context: int | None = None


class LocalEmbedding:
    """Keeps one local model at work and its slot truthful; `run` loops until cancelled."""

    def __init__(self, *, settings: LocalSettings, store: ModelStore, slot: EmbedderSlot) -> None:
        self.slot = slot
        self.worker: LlamaWorker | None = None
        self._settings = settings
        self._store = store
        self._breaker = Breaker()

    async def run(self) -> None:
        """Bring the model up, offer it, and run its worker."""
        while True:
            try:
                self.worker = await self._ready_worker()
            except DownloadError as exc:
                await self._download_failed(exc)
            except (ModelError, OSError) as exc:
                await self._model_failed(exc)
            else:
                await self.slot.become(EmbedderPhase.READY, embedder=self.worker)
                await self.worker.run()

    async def _ready_worker(self) -> LlamaWorker:
        if find_spec("llama_cpp") is None:
            raise ModelError(NO_LLAMA)
        return await asyncio.to_thread(self._worker, await self._path())

    async def _path(self) -> Path:
        path = await asyncio.to_thread(self._store.locate, self._settings.spec)
        if path is not None:
            return path
        await self.slot.become(
            EmbedderPhase.DOWNLOADING, f"fetching {self._settings.spec}; keyword search answers meanwhile"
        )
        log.info("fetching the embedding model", model=self._settings.spec, folder=str(self._store.folder))
        path = await self._store.fetch(self._settings.spec, self.slot.note_progress)
        log.info("embedding model is here", model=self._settings.spec)
        self._breaker = self._breaker.succeeded()
        return path

    def _worker(self, path: Path) -> LlamaWorker:
        metadata = inspect(path)
        family = family_of(metadata)
        return LlamaWorker(
            model=path,
            family=family,
            identity=identity_of(path, metadata, family, cache_dir=self._store.folder),
            threads=self._settings.threads,
            idle_unload=self._settings.idle_unload,
            context=self._settings.context,
        )

    async def _download_failed(self, exc: DownloadError) -> None:
        """Say why, then wait: for the back-off, or, where trying again is no use, for the file to appear."""
        self._breaker = self._breaker.failed(time.monotonic(), random.random())
        wait = self._breaker.wait(time.monotonic())
        retry = "" if exc.is_permanent else f"; next try in {wait:.0f} s"
        await self._say_failed(f"{exc}{retry}", exc)
        until = float("inf") if exc.is_permanent else time.monotonic() + wait
        while time.monotonic() < until:
            await asyncio.sleep(min(LOOK_SECONDS, max(0.0, until - time.monotonic())))
            if await asyncio.to_thread(self._store.locate, self._settings.spec):
                return

    async def _model_failed(self, exc: Exception) -> None:
        """Say why, then wait until the file is another one."""
        await self._say_failed(str(exc), exc)
        before = await asyncio.to_thread(self._stamp)
        while await asyncio.to_thread(self._stamp) == before:  # noqa: ASYNC110  a file sends no event
            await asyncio.sleep(LOOK_SECONDS)

    async def _say_failed(self, reason: str, exc: Exception) -> None:
        hint = exc.hint if isinstance(exc, MemorydError) else ""
        log.warning("no embedding model; keyword search goes on", reason=reason, hint=hint)
        await self.slot.become(EmbedderPhase.FAILED, f"{reason} ({hint})" if hint else reason)

    def _stamp(self) -> tuple[int, ...] | None:
        try:
            path = self._store.locate(self._settings.spec)
            info = path.stat() if path else None
        except (MemorydError, OSError):
            return None
        return None if info is None else (info.st_size, info.st_mtime_ns, info.st_ino)
