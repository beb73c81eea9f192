"""From the configured source of a local model to a running worker: locate, fetch, check, try again."""

import asyncio
import contextlib
import time
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, TypeVar

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.embed.current import CurrentEmbedder, ModelPhase, PhaseRecord
from memoryd.embed.local.worker import LlamaWorker, identity_of
from memoryd.embed.local.worker_process import WorkerKeeper
from memoryd.errors import DownloadError, MemorydError, ModelError
from memoryd.models.families import family_of, inspect, instructed
from memoryd.models.fetching import Progress
from memoryd.models.gguf import EMBEDDING_KEY
from memoryd.models.store import ModelStore
from memoryd.retry import Retry

log = structlog.get_logger(__name__)

POLL_SECONDS: Final = 5.0
"""How often a missing or unfit model file is looked for again, and a worker that was given up is tried."""
NO_LLAMA: Final = "llama-cpp-python is not installed: pip install 'memoryd[local]' (it needs a C compiler)"

# whatever it is asked, which is nothing to who keeps it at work
Worker = TypeVar("Worker", bound=WorkerKeeper[Any])


class LocalModel(Generic[Worker]):
    """Keeps the worker of one local model at work, and tells how it does; `run` loops until cancelled.

    Each kind adds `make`, and what people are told while there is none.
    """

    absent: ClassVar[str]
    """The event that is logged when there is no model."""
    meanwhile: ClassVar[str]
    """What goes on while it is fetched."""

    def __init__(self, *, source: str, store: ModelStore) -> None:
        self.worker: Worker | None = None
        self.record = PhaseRecord()
        self._source = source
        self._store = store
        self._retry = Retry()
        self._refusal: str | None = None

    def make(self, path: Path) -> Worker:
        """Check the file and make its worker, blocking; raises ModelError."""
        raise NotImplementedError

    async def become(self, phase: ModelPhase, reason: str = "") -> None:
        """Note how it does."""
        self.record.become(phase, reason)

    def progressed(self, progress: Progress, reason: str) -> None:
        """Note how far a download is."""
        self.record.reason = reason

    def trouble(self) -> str | None:
        """Return why there is no model at work, None while it works, is fetched or is loaded."""
        if self._refusal is not None:
            return self._refusal
        if self.worker is not None and self.worker.is_given_up:
            return self.worker.state().last_error or "the worker keeps failing"
        return None

    def phase_and_reason(self) -> tuple[ModelPhase, str]:
        """Return how it does, and why; a worker that was given up has failed."""
        record = self.record
        if record.phase is ModelPhase.READY and self.worker is not None and self.worker.is_given_up:
            return ModelPhase.FAILED, self.trouble() or ""
        return record.phase, record.reason

    async def run(self) -> None:
        """Bring the model up, tell of it, and run its worker."""
        while True:
            # before the file is read: one that is replaced meanwhile must be seen to be another one
            before = await asyncio.to_thread(self._stamp)
            try:
                self.worker = await self._ready_worker()
            except DownloadError as exc:
                await self._download_failed(exc)
            except (ModelError, OSError) as exc:
                await self._model_failed(exc, before)
            else:
                self._refusal = None
                await self.become(ModelPhase.READY)
                await asyncio.gather(self.worker.run(), _revived(self.worker))

    async def _ready_worker(self) -> Worker:
        if find_spec("llama_cpp") is None:
            raise ModelError(NO_LLAMA)
        return await asyncio.to_thread(self.make, await self._path())

    async def _path(self) -> Path:
        source = await asyncio.to_thread(self._file)
        path = await asyncio.to_thread(self._store.locate, source)
        if path is not None:
            return path
        fetching = f"fetching {source}; {self.meanwhile} meanwhile"
        await self.become(ModelPhase.DOWNLOADING, fetching)
        log.info("fetching a model", model=source, folder=str(self._store.folder))
        path = await self._store.fetch(source, lambda now: self.progressed(now, now.trouble or fetching))
        log.info("model is here", model=source)
        self._retry.succeeded()
        return path

    async def _download_failed(self, exc: DownloadError) -> None:
        """Say why, then wait: for the back-off, or, where trying again is no use, for the file to appear."""
        wait = self._retry.failed()
        self._refusal = str(exc)
        retry = "" if exc.is_permanent else f"; next try in {wait:.0f} s"
        await self._failed(f"{exc}{retry}", exc.hint)
        until = float("inf") if exc.is_permanent else time.monotonic() + wait
        while time.monotonic() < until:
            await asyncio.sleep(min(POLL_SECONDS, max(0.0, until - time.monotonic())))
            if await asyncio.to_thread(self._store.locate, self._source):
                return

    async def _model_failed(self, exc: Exception, before: tuple[int, ...] | None) -> None:
        """Say why, then wait until the file is another one than `before`, which was tried."""
        self._refusal = str(exc)
        await self._failed(str(exc), exc.hint if isinstance(exc, MemorydError) else "")
        while True:  # a file sends no event
            await asyncio.sleep(POLL_SECONDS)
            if await asyncio.to_thread(self._stamp) != before:
                return

    async def _failed(self, reason: str, hint: str) -> None:
        log.warning(self.absent, reason=reason, hint=hint)
        await self.become(ModelPhase.FAILED, f"{reason} ({hint})" if hint else reason)

    def _stamp(self) -> tuple[int, ...] | None:
        try:
            path = self._store.locate(self._file())
            info = path.stat() if path else None
        except (MemorydError, OSError):
            return None
        return None if info is None else (info.st_size, info.st_mtime_ns, info.st_ino)

    def _file(self) -> str:
        return model_file(self._source, key=self._store.key)


def model_file(spec: str, *, key: str = EMBEDDING_KEY) -> str:
    """Return what a model source means: the one GGUF in it if it names a folder, else the source itself.

    Raises ModelError for a folder with none or several; `key` is that of the configuration.
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
    raise ModelError(f"the model folder {folder} holds {what}", hint=f"name the file in {key}")


async def _revived(worker: WorkerKeeper[Any]) -> None:
    """Try a worker that was given up whenever its back-off allows, even if nobody asks."""
    while True:
        await asyncio.sleep(POLL_SECONDS)
        if worker.is_given_up:
            with contextlib.suppress(MemorydError):
                await worker.warm()


class LocalSettings(Struct, frozen=True):
    """Which model, and how the worker runs it. `threads` and `context` are numbers of threads and tokens.

    An instruction stands before the text, or around it if it holds `{text}`; None means the model's own.
    """

    spec: str
    threads: int
    idle_unload: timedelta
    context: int | None = None
    query_instruction: str | None = None
    document_instruction: str | None = None


class LocalEmbedding(LocalModel[LlamaWorker]):
    """Keeps one local model at work and its slot truthful."""

    absent = "no embedding model; keyword search goes on"
    meanwhile = "keyword search answers"

    def __init__(self, *, settings: LocalSettings, store: ModelStore, slot: CurrentEmbedder) -> None:
        super().__init__(source=settings.spec, store=store)
        self.slot = slot
        self._settings = settings

    async def become(self, phase: ModelPhase, reason: str = "") -> None:
        """Tell the slot; a model that is ready is offered."""
        await self.slot.become(phase, reason, embedder=self.worker if phase is ModelPhase.READY else None)

    def progressed(self, progress: Progress, reason: str) -> None:
        """Tell the slot how far a download is."""
        self.slot.note_progress(progress, reason)

    def make(self, path: Path) -> LlamaWorker:
        """Check the file and make its worker, blocking; raises ModelError."""
        metadata, settings = inspect(path), self._settings
        family = family_of(metadata)
        family = replace(
            family,
            query_prompt=instructed(family.query_prompt, settings.query_instruction),
            document_prompt=instructed(family.document_prompt, settings.document_instruction),
        )
        return LlamaWorker(
            model=path,
            family=family,
            identity=identity_of(path, metadata, family, cache_dir=self._store.folder),
            threads=settings.threads,
            idle_unload=settings.idle_unload,
            context=settings.context,
        )
