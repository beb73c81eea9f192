"""From the configured source of a local model to a running worker: locate, fetch, check, try again.

The worker is llama.cpp in a supervised child process, started on demand, unloaded when idle: an abort in native code or
an out-of-memory kill costs one batch, not the daemon, and an unloaded model gives its memory back to the system.
A model is identified by its content, which decides the vectors, and not by its name.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import FileStat
from memoryd.domain.vector import Vector
from memoryd.embed.current import CurrentEmbedder, ModelPhase, PhaseRecord
from memoryd.embed.local.frames import TEXT_CHARACTERS, Embed, Embedded, Load, NoResult, Ready
from memoryd.embed.local.worker_connection import WorkerJob
from memoryd.embed.local.worker_process import Command, WorkerKeeper, WorkerPhase, WorkerRun, module_command
from memoryd.embed.protocol import EmbedderIdentity, Passage, Purpose, Unembeddable
from memoryd.errors import DownloadError, EmbedderUnavailable, EmbeddingError, MemorydError, ModelError
from memoryd.files.reading import file_stat
from memoryd.models.families import ModelFamily, ModelMetadata, family_of, inspect, instructed
from memoryd.models.fetching import Progress
from memoryd.models.gguf import EMBEDDING_KEY, content_hash
from memoryd.models.store import ModelStore
from memoryd.retry import Retry, together

log = structlog.get_logger(__name__)

POLL_SECONDS = 5.0
"""How often a missing or unfit model file is looked for again, and a worker that was given up is tried."""
NO_LLAMA = "llama-cpp-python is not installed: pip install 'memoryd[local]' (it needs a C compiler)"

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
        self.record = PhaseRecord(ModelPhase.WARMING, "starting")
        self._source = source
        self._store = store
        self._retry = Retry()
        self._refusal: str | None = None

    def make(self, path: Path) -> Worker:
        """Check the file and make its worker, blocking; raises ModelError."""
        raise NotImplementedError

    async def become(self, phase: ModelPhase, reason: str = "") -> None:
        """Note how it does."""
        self.record = self.record.enter(phase, reason)

    def progressed(self, progress: Progress, reason: str) -> None:
        """Note how far a download is."""
        self.record = replace(self.record, reason=reason)

    def trouble(self) -> str | None:
        """Return why there is no model at work, None while it works, is fetched or is loaded."""
        if self._refusal is not None:
            return self._refusal
        if self.worker is not None and self.worker.is_given_up:
            return self.worker.state()["lastError"] or "the worker keeps failing"
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
                await together(self.worker.run(), _revive(self.worker))

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
        await self._note_failure(f"{exc}{retry}", exc.hint)
        until = float("inf") if exc.is_permanent else time.monotonic() + wait
        while time.monotonic() < until:
            await asyncio.sleep(min(POLL_SECONDS, max(0.0, until - time.monotonic())))
            if await asyncio.to_thread(self._store.locate, self._source):
                return

    async def _model_failed(self, exc: Exception, before: FileStat | None) -> None:
        """Say why, then wait until the file is another one than `before`, which was tried."""
        self._refusal = str(exc)
        await self._note_failure(str(exc), exc.hint if isinstance(exc, MemorydError) else "")
        while True:  # a file sends no event
            await asyncio.sleep(POLL_SECONDS)
            if await asyncio.to_thread(self._stamp) != before:
                return

    async def _note_failure(self, reason: str, hint: str) -> None:
        log.warning(self.absent, reason=reason, hint=hint)
        await self.become(ModelPhase.FAILED, f"{reason} ({hint})" if hint else reason)

    def _stamp(self) -> FileStat | None:
        with contextlib.suppress(MemorydError, OSError):
            path = self._store.locate(self._file())
            return None if path is None else file_stat(path.stat())
        return None

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


def find_model(store: ModelStore, spec: str) -> Path | None:
    """Return the file of a model source if it is here; None also for a source that makes no sense."""
    try:
        return store.locate(model_file(spec))
    except MemorydError:
        return None


async def _revive(worker: WorkerKeeper[Any]) -> None:
    """Try a worker that was given up whenever its back-off allows, even if nobody asks."""
    while True:
        await asyncio.sleep(POLL_SECONDS)
        if worker.is_given_up:
            with contextlib.suppress(MemorydError):
                await worker.warm()


REVISION_DIGITS = 16
EMBEDDING_COMMAND = module_command("memoryd.embed.local.llama")
QUERY_TIMEOUT = timedelta(seconds=3)
_LENGTH_TOLERANCE = 1e-3


def identity_of(
    path: Path, metadata: ModelMetadata, family: ModelFamily, *, cache_dir: Path | None = None
) -> EmbedderIdentity:
    """Return the identity of the model at `path`; its revision is the first 16 hexadecimal digits of its SHA-256.

    Blocks while it hashes (a second for 300 MB): call it in a thread. With `cache_dir`, the hash is kept there
    for as long as the file's size, time and inode stay. Raises OSError if the file cannot be read.
    """
    return EmbedderIdentity(
        provider="local",
        model=metadata.name or path.stem,
        revision=content_hash(path, cache_dir=cache_dir)[:REVISION_DIGITS],
        endpoint="",
        dimensions=metadata.dimensions,
        pooling=family.pooling,
        query_prompt=family.query_prompt,
        document_prompt=family.document_prompt,
    )


class LlamaWorker(WorkerKeeper[Vector]):
    """Embedder over one GGUF. Works while its `run` runs.

    `query_timeout` bounds a question, waiting for the model included. `document_timeout` is how long the worker may
    owe replies without giving any before it counts as hung. `idle_unload` of zero keeps the model for ever. `context`
    lowers the model's own, in tokens: memory grows with it (vocabulary × tokens × 4 bytes of output buffer).
    """

    def __init__(
        self,
        *,
        model: Path,
        family: ModelFamily,
        identity: EmbedderIdentity,
        threads: int,
        idle_unload: timedelta,
        context: int | None = None,
        gpu_layers: int | None = None,
        query_timeout: timedelta = QUERY_TIMEOUT,
        document_timeout: timedelta = timedelta(seconds=120),
        load_timeout: timedelta = timedelta(seconds=120),
        command: Command = EMBEDDING_COMMAND,
        retry: Retry | None = None,
    ) -> None:
        order = Load(str(model), family.pooling, min(family.context, context or family.context), threads, gpu_layers)
        run = WorkerRun(
            order=order,
            job=_job(identity.dimensions),
            command=command,
            idle_unload=idle_unload,
            stall=document_timeout,
            load_timeout=load_timeout,
        )
        super().__init__(run, retry=retry)
        self.identity = identity
        self._family = family
        self._query_timeout = query_timeout

    @classmethod
    def of(
        cls,
        model: Path,
        *,
        threads: int = 1,
        idle_unload: timedelta,
        context: int | None = None,
        gpu_layers: int | None = None,
        query_timeout: timedelta = QUERY_TIMEOUT,
    ) -> Self:
        """Run a model as its own header says. Blocks to hash it; raises ModelError if it is none."""
        metadata = inspect(model)
        family = family_of(metadata)
        identity = identity_of(model, metadata, family)
        return cls(
            model=model,
            family=family,
            identity=identity,
            threads=threads,
            idle_unload=idle_unload,
            context=context,
            gpu_layers=gpu_layers,
            query_timeout=query_timeout,
        )

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question; raises EmbedderUnavailable if there is none within `query_timeout`, and
        EmbeddingError if the model gives none for this text."""
        if not text.strip():
            raise EmbeddingError("no vector for an empty question")
        prompt = self._family.query(text[:TEXT_CHARACTERS])
        try:
            async with asyncio.timeout(self._query_timeout.total_seconds()):
                (reply,) = await self.ask([Embed(0, Purpose.QUERY, prompt)])
        except TimeoutError:
            late = f"the embedding worker gave no answer within {self._query_timeout.total_seconds():g} s"
            is_ready = self.phase is WorkerPhase.READY
            raise EmbedderUnavailable(late if is_ready else "the embedding model is warming up") from None
        if isinstance(reply, NoResult):
            raise EmbeddingError(f"no vector for this question: {reply.reason}")
        return reply

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Return a vector or a reason for each passage, in order; raises EmbedderUnavailable or WorkerDied.

        After a crash it waits for the back-off, so that a caller can halve the batch that did it, and go on.
        """
        texts = [(one.text[:TEXT_CHARACTERS], one.title[:TEXT_CHARACTERS]) for one in passages if one.text.strip()]
        prompts = [self._family.document(text, title) for text, title in texts]
        replies = await self.ask([Embed(0, Purpose.DOCUMENT, prompt) for prompt in prompts], is_patient=True)
        answers = (Unembeddable(reply.reason) if isinstance(reply, NoResult) else reply for reply in replies)
        return [next(answers) if one.text.strip() else Unembeddable("empty text") for one in passages]


def _job(dimensions: int) -> WorkerJob[Vector]:
    """Return what a worker that embeds must give: a vector of so many dimensions for each text."""

    def misfit(ready: Ready) -> str:
        wrong = f"it gives {ready.dimensions} dimensions, not {dimensions}"
        return "" if ready.dimensions == dimensions else wrong

    def read(message: Embedded) -> Vector | NoResult:
        if len(message.vector) != dimensions * np.dtype(np.float32).itemsize:
            raise ValueError(f"vector of {len(message.vector)} bytes for {dimensions} dimensions")
        vector = np.frombuffer(message.vector, np.float32)
        # also false for NaN
        is_whole = abs(float(np.linalg.norm(vector)) - 1) < _LENGTH_TOLERANCE
        return (
            vector if is_whole else NoResult(message.id, "the worker gave a vector that is not finite and of length 1")
        )

    return WorkerJob("embedding", EmbedderUnavailable, misfit, Embedded, read)


class LocalSettings(Struct, frozen=True):
    """Which model, and how the worker runs it. `threads`, `context` and `gpu_layers` are numbers of threads, tokens and
    layers.

    An instruction stands before the text, or around it if it holds `{text}`; None means the model's own.
    """

    spec: str
    threads: int
    idle_unload: timedelta
    context: int | None = None
    gpu_layers: int | None = None
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
            gpu_layers=settings.gpu_layers,
        )
