"""From the configured model to a working embedder: locate, download in the background, check, offer, try again."""

import asyncio
import contextlib
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import structlog

from memoryd.embed.local.identity import identity_of
from memoryd.embed.local.worker import LlamaWorker, WorkerSpec
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot
from memoryd.errors import DownloadError, MemorydError, ModelError
from memoryd.models.families import ModelFamily, family_of
from memoryd.models.inspection import inspect
from memoryd.models.store import ModelStore
from memoryd.retry import Retry

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 5.0
"""How often a missing or unfit model file is looked for again, and a worker that was given up is tried."""
NO_LLAMA: Final = "llama-cpp-python is not installed: pip install 'memoryd[local]' (it needs a C compiler)"
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
        self.worker: LlamaWorker | None = None
        self._settings = settings
        self._store = store
        self._retry = Retry()
        self._refusal: str | None = None

    def trouble(self) -> str | None:
        """Return why there is no model at work, None while it works, is fetched or is loaded."""
        if self._refusal is not None:
            return self._refusal
        if self.worker is not None and self.worker.is_given_up:
            return self.worker.state().last_error or "the embedding worker keeps failing"
        return None

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
                self._refusal = None
                await self.slot.become(EmbedderPhase.READY, embedder=self.worker)
                await asyncio.gather(self.worker.run(), _revived(self.worker))

    async def _ready_worker(self) -> LlamaWorker:
        if find_spec("llama_cpp") is None:
            raise ModelError(NO_LLAMA)
        return await asyncio.to_thread(self._worker, await self._path())

    async def _path(self) -> Path:
        spec = await asyncio.to_thread(model_file, self._settings.spec)
        path = await asyncio.to_thread(self._store.locate, spec)
        if path is not None:
            return path
        fetching = f"fetching {spec}; keyword search answers meanwhile"
        await self.slot.become(EmbedderPhase.DOWNLOADING, fetching)
        log.info("fetching the embedding model", model=spec, folder=str(self._store.folder))
        path = await self._store.fetch(
            spec, lambda progress: self.slot.note_progress(progress, progress.trouble or fetching)
        )
        log.info("embedding model is here", model=spec)
        self._retry.succeeded()
        return path

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

    async def _download_failed(self, exc: DownloadError) -> None:
        """Say why, then wait: for the back-off, or, where trying again is no use, for the file to appear."""
        wait = self._retry.failed()
        self._refusal = str(exc)
        retry = "" if exc.is_permanent else f"; next try in {wait:.0f} s"
        await self._say_failed(f"{exc}{retry}", exc)
        until = float("inf") if exc.is_permanent else time.monotonic() + wait
        while time.monotonic() < until:
            await asyncio.sleep(min(LOOK_SECONDS, max(0.0, until - time.monotonic())))
            if await asyncio.to_thread(self._store.locate, self._settings.spec):
                return

    async def _model_failed(self, exc: Exception) -> None:
        """Say why, then wait until the file is another one."""
        self._refusal = str(exc)
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
            path = self._store.locate(model_file(self._settings.spec))
            info = path.stat() if path else None
        except (MemorydError, OSError):
            return None
        return None if info is None else (info.st_size, info.st_mtime_ns, info.st_ino)


def model_file(spec: str) -> str:
    """Return what a model source means: the one GGUF in it if it names a folder, else the source itself.

    Raises ModelError for a folder with none or several.
    """
    try:
        folder = Path(spec).expanduser()
        if not folder.is_dir():
            return spec
        found = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf")
    except (OSError, RuntimeError):
        return spec
    if len(found) == 1:
        return str(found[0])
    what = f"{len(found)} .gguf files" if found else "no .gguf file"
    raise ModelError(f"the model folder {folder} holds {what}", hint="name the file in local.modelPath")


async def _revived(worker: LlamaWorker) -> None:
    """Try a worker that was given up whenever its back-off allows, even if nobody asks."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if worker.is_given_up:
            with contextlib.suppress(MemorydError):
                await worker.warm()


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
