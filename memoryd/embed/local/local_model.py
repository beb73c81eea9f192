"""From the configured source of a model to a worker at work: locate, fetch in the background, check, run, try again."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import structlog

from memoryd.embed.local.model_worker import ModelWorker
from memoryd.errors import DownloadError, MemorydError, ModelError
from memoryd.models.fetching import Progress
from memoryd.models.gguf import EMBEDDING_KEY
from memoryd.models.store import ModelStore
from memoryd.retry import Retry

log = structlog.get_logger(__name__)

LOOK_SECONDS: Final = 5.0
"""How often a missing or unfit model file is looked for again, and a worker that was given up is tried."""
NO_LLAMA: Final = "llama-cpp-python is not installed: pip install 'memoryd[local]' (it needs a C compiler)"


# whatever it is asked, which is nothing to who keeps it at work
Worker = TypeVar("Worker", bound=ModelWorker[Any])
HeardWorker = TypeVar("HeardWorker", bound=ModelWorker[Any], contravariant=True)


class ModelNews(Protocol[HeardWorker]):
    """Who is told how a model does."""

    async def fetching(self, source: str) -> None: ...

    def progressed(self, progress: Progress, source: str) -> None: ...

    async def failed(self, reason: str, hint: str) -> None: ...

    async def ready(self, worker: HeardWorker) -> None: ...


class LocalModel(Generic[Worker]):
    """Keeps the worker of one local model at work, and tells how it does; `run` loops until cancelled.

    `make` checks the file and makes its worker, blocking; it raises ModelError.
    """

    def __init__(
        self, *, source: str, store: ModelStore, make: Callable[[Path], Worker], news: ModelNews[Worker]
    ) -> None:
        self.worker: Worker | None = None
        self._source = source
        self._store = store
        self._make = make
        self._news = news
        self._retry = Retry()
        self._refusal: str | None = None

    def trouble(self) -> str | None:
        """Return why there is no model at work, None while it works, is fetched or is loaded."""
        if self._refusal is not None:
            return self._refusal
        if self.worker is not None and self.worker.is_given_up:
            return self.worker.state().last_error or "the worker keeps failing"
        return None

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
                await self._news.ready(self.worker)
                await asyncio.gather(self.worker.run(), _revived(self.worker))

    async def _ready_worker(self) -> Worker:
        if find_spec("llama_cpp") is None:
            raise ModelError(NO_LLAMA)
        return await asyncio.to_thread(self._make, await self._path())

    async def _path(self) -> Path:
        source = await asyncio.to_thread(self._file)
        path = await asyncio.to_thread(self._store.locate, source)
        if path is not None:
            return path
        await self._news.fetching(source)
        log.info("fetching a model", model=source, folder=str(self._store.folder))
        path = await self._store.fetch(source, lambda progress: self._news.progressed(progress, source))
        log.info("model is here", model=source)
        self._retry.succeeded()
        return path

    async def _download_failed(self, exc: DownloadError) -> None:
        """Say why, then wait: for the back-off, or, where trying again is no use, for the file to appear."""
        wait = self._retry.failed()
        self._refusal = str(exc)
        retry = "" if exc.is_permanent else f"; next try in {wait:.0f} s"
        await self._news.failed(f"{exc}{retry}", exc.hint)
        until = float("inf") if exc.is_permanent else time.monotonic() + wait
        while time.monotonic() < until:
            await asyncio.sleep(min(LOOK_SECONDS, max(0.0, until - time.monotonic())))
            if await asyncio.to_thread(self._store.locate, self._source):
                return

    async def _model_failed(self, exc: Exception, before: tuple[int, ...] | None) -> None:
        """Say why, then wait until the file is another one than `before`, which was tried."""
        self._refusal = str(exc)
        await self._news.failed(str(exc), exc.hint if isinstance(exc, MemorydError) else "")
        while True:  # a file sends no event
            await asyncio.sleep(LOOK_SECONDS)
            if await asyncio.to_thread(self._stamp) != before:
                return

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


async def _revived(worker: ModelWorker[Any]) -> None:
    """Try a worker that was given up whenever its back-off allows, even if nobody asks."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if worker.is_given_up:
            with contextlib.suppress(MemorydError):
                await worker.warm()
