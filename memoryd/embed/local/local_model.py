"""Local models: locate or fetch the configured file, check it, run its worker, and retry after failures.

The worker is llama.cpp in a supervised child process, started on demand and unloaded when idle. An abort in native code
or an out-of-memory kill costs one batch, not the daemon, and an unloaded model returns its memory to the system. A
model is identified by its content, which determines the vectors, not by its name.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence
from datetime import timedelta
from importlib.util import find_spec
from logging import DEBUG, INFO, WARNING
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
from memoryd.embed.local.worker_process import Command, WorkerPhase, WorkerRun, WorkerSupervisor, module_command
from memoryd.embed.protocol import EmbedderIdentity, Passage, Purpose, Unembeddable
from memoryd.errors import DownloadError, EmbedderUnavailable, EmbeddingError, MemorydError, ModelError
from memoryd.files.reading import file_stat
from memoryd.models.families import ModelFamily, ModelMetadata, family_of, inspect, with_instruction
from memoryd.models.fetching import Progress
from memoryd.models.gguf import EMBEDDING_KEY, content_hash
from memoryd.models.store import ModelStore
from memoryd.retry import Retry, next_try, run_together

log = structlog.get_logger(__name__)

POLL_SECONDS = 5.0
"""Seconds between checks of a missing or unfit model file, and between tries of a failed worker."""
NO_LLAMA = "llama-cpp-python is not installed: pip install 'memoryd[local]' (it needs a C compiler)"

# Any: this module does not depend on the kind of replies
Worker = TypeVar("Worker", bound=WorkerSupervisor[Any])


class LocalModel(Generic[Worker]):
    """Runs the worker of one local model and records its state; `run` loops until cancelled.

    Subclasses define `make`, `failure_event` and `fallback_text`.
    """

    failure_event: ClassVar[str]
    """The event that is logged when there is no model."""
    fallback_text: ClassVar[str]
    """The service that goes on while the model is fetched, for people."""

    def __init__(self, *, source: str, store: ModelStore) -> None:
        self.worker: Worker | None = None
        self.record = PhaseRecord(ModelPhase.WARMING, "starting")
        self._source = source
        self._store = store
        self._retry = Retry()
        self._logged = ""
        self._refusal: str | None = None

    def make(self, path: Path) -> Worker:
        """Check the file and create its worker, blocking; raises ModelError."""
        raise NotImplementedError

    async def become(self, phase: ModelPhase, reason: str = "") -> None:
        """Enter a phase."""
        self.record = self.record.enter(phase, reason)

    def note_progress(self, progress: Progress, reason: str) -> None:
        """Record the progress of a download."""
        self.record = replace(self.record, reason=reason)

    def trouble(self) -> str | None:
        """Return why the model fails; None while it works, is fetched or is loaded."""
        if self._refusal is not None:
            return self._refusal
        if self.worker is not None and self.worker.is_failing:
            return self.worker.state()["lastError"] or "the worker keeps failing"
        return None

    def phase_and_reason(self) -> tuple[ModelPhase, str]:
        """Return the phase and its reason; FAILED if the worker keeps failing."""
        record = self.record
        if record.phase is ModelPhase.READY and self.worker is not None and self.worker.is_failing:
            return ModelPhase.FAILED, self.trouble() or ""
        return record.phase, record.reason

    async def run(self) -> None:
        """Locate or fetch the model, and run its worker; after a failure, wait and try again."""
        while True:
            # before the file is read, so that a replacement during the read is noticed
            before = await asyncio.to_thread(self._stamp)
            try:
                if find_spec("llama_cpp") is None:
                    raise ModelError(NO_LLAMA)
                self.worker = await asyncio.to_thread(self.make, await self._path())
            except DownloadError as exc:
                await self._download_failed(exc)
            except (ModelError, OSError) as exc:
                await self._model_failed(exc, before)
            else:
                self._refusal, self._logged = None, ""
                await self.become(ModelPhase.READY)
                await run_together(self.worker.run(), _revive(self.worker))

    async def _path(self) -> Path:
        source = await asyncio.to_thread(self._file)
        path = await asyncio.to_thread(self._store.locate, source)
        if path is not None:
            return path
        fetching = f"fetching {source}; {self.fallback_text} meanwhile"
        await self.become(ModelPhase.DOWNLOADING, fetching)
        # a machine that stays offline tries every minute: each reason is logged once
        log.log(DEBUG if self._logged else INFO, "fetching a model", model=source, folder=str(self._store.folder))
        path = await self._store.fetch(source, lambda now: self.note_progress(now, now.trouble or fetching))
        log.info("model is here", model=source)
        self._retry.note_success()
        return path

    async def _download_failed(self, exc: DownloadError) -> None:
        """Record the failure, then wait for the back-off, or, after a permanent failure, for the file to appear."""
        wait = self._retry.note_failure()
        self._refusal = str(exc)
        retry = "" if exc.is_permanent else f"; {next_try(wait)}"
        await self._note_failure(f"{exc}{retry}", exc.hint, is_known=str(exc) == self._logged)
        self._logged = str(exc)
        until = float("inf") if exc.is_permanent else time.monotonic() + wait
        while time.monotonic() < until:
            await asyncio.sleep(min(POLL_SECONDS, max(0.0, until - time.monotonic())))
            if await asyncio.to_thread(self._store.locate, self._source):
                return

    async def _model_failed(self, exc: Exception, before: FileStat | None) -> None:
        """Record the failure, then wait until the file differs from `before`, the file that was tried."""
        self._refusal = str(exc)
        await self._note_failure(str(exc), exc.hint if isinstance(exc, MemorydError) else "")
        while True:  # a file sends no event
            await asyncio.sleep(POLL_SECONDS)
            if await asyncio.to_thread(self._stamp) != before:
                return

    async def _note_failure(self, reason: str, hint: str, *, is_known: bool = False) -> None:
        log.log(DEBUG if is_known else WARNING, self.failure_event, reason=reason, hint=hint)
        await self.become(ModelPhase.FAILED, f"{reason} ({hint})" if hint else reason)

    def _stamp(self) -> FileStat | None:
        with contextlib.suppress(MemorydError, OSError):
            path = self._store.locate(self._file())
            return None if path is None else file_stat(path.stat())
        return None

    def _file(self) -> str:
        return model_file(self._source, key=self._store.key)


def model_file(spec: str, *, key: str = EMBEDDING_KEY) -> str:
    """Return the one GGUF file in the folder if `spec` is a folder, else `spec` itself.

    Raises ModelError for a folder with no or several GGUF files; `key` is the configuration key for the message.
    """
    try:
        folder = Path(spec).expanduser()
        if not folder.is_dir():
            return spec
        files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".gguf")
    except (OSError, RuntimeError):
        return spec
    if len(files) == 1:
        return str(files[0])
    what = f"{len(files)} .gguf files" if files else "no .gguf file"
    raise ModelError(f"the model folder {folder} holds {what}", hint=f"name the file in {key}")


def find_model(store: ModelStore, spec: str) -> Path | None:
    """Return the local file of a model source; None if it is missing or the source is invalid."""
    try:
        return store.locate(model_file(spec))
    except MemorydError:
        return None


async def _revive(worker: WorkerSupervisor[Any]) -> None:
    """Try a failed worker whenever its back-off allows, also without a request; loops until cancelled."""
    while True:
        await asyncio.sleep(POLL_SECONDS)
        if worker.is_failing:
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

    Blocks while it hashes (a second for 300 MB): call it in a thread. With `cache_dir`, the hash is cached there as
    long as the file's size, time and inode do not change. Raises OSError if the file cannot be read.
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


class LlamaWorker(WorkerSupervisor[Vector]):
    """Embedder with one GGUF model. Works while its `run` runs.

    `query_timeout` bounds a question, including the wait for the model. `document_timeout` is how long the worker may
    leave requests without a reply before it counts as hung. `idle_unload` of zero keeps the model for ever. `context`
    reduces the model's own context, in tokens: memory grows with it (vocabulary × tokens × 4 bytes of output buffer).
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
        """Return a worker with the settings of the model's own header. Blocks to hash the file; raises ModelError."""
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
        """Return the vector of a question.

        Raises EmbedderUnavailable if there is none within `query_timeout`, and EmbeddingError if the model gives no
        vector for this text.
        """
        if not text.strip():
            raise EmbeddingError("no vector for an empty question")
        prompt = self._family.query(text[:TEXT_CHARACTERS])
        try:
            async with asyncio.timeout(self._query_timeout.total_seconds()):
                (reply,) = await self.ask([Embed(0, Purpose.QUERY, prompt)])
        except TimeoutError:
            if self.phase is not WorkerPhase.READY:
                raise EmbedderUnavailable("the embedding model is warming up") from None
            seconds = self._query_timeout.total_seconds()
            raise EmbedderUnavailable(f"the embedding worker gave no answer within {seconds:g} s") from None
        if isinstance(reply, NoResult):
            raise EmbeddingError(f"no vector for this question: {reply.reason}")
        return reply

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Return a vector or a reason for each passage, in order; raises EmbedderUnavailable or WorkerDied.

        After a crash it waits for the back-off, so that the caller can halve the batch that caused it, and go on.
        """
        prompts = [
            self._family.document(passage.text[:TEXT_CHARACTERS], passage.title[:TEXT_CHARACTERS])
            for passage in passages
            if passage.text.strip()
        ]
        replies = await self.ask([Embed(0, Purpose.DOCUMENT, prompt) for prompt in prompts], is_patient=True)
        answers = (Unembeddable(reply.reason) if isinstance(reply, NoResult) else reply for reply in replies)
        return [next(answers) if passage.text.strip() else Unembeddable("empty text") for passage in passages]


def _job(dimensions: int) -> WorkerJob[Vector]:
    """Return the job of an embedding worker: a vector with `dimensions` values for each text."""

    def misfit(ready: Ready) -> str:
        is_fit = ready.dimensions == dimensions
        return "" if is_fit else f"it gives {ready.dimensions} dimensions, not {dimensions}"

    def read(message: Embedded) -> Vector | NoResult:
        if len(message.vector) != dimensions * np.dtype(np.float32).itemsize:
            raise ValueError(f"vector of {len(message.vector)} bytes for {dimensions} dimensions")
        vector = np.frombuffer(message.vector, np.float32)
        # the comparison is false for NaN
        if abs(float(np.linalg.norm(vector)) - 1) < _LENGTH_TOLERANCE:
            return vector
        return NoResult(message.id, "the worker gave a vector that is not finite and of length 1")

    return WorkerJob("embedding", EmbedderUnavailable, misfit, Embedded, read)


class LocalSettings(Struct, frozen=True):
    """The model and the settings of its worker; `context` is in tokens.

    An instruction is put before the text, or around it if it contains `{text}`; None means the model's own.
    """

    spec: str
    threads: int
    idle_unload: timedelta
    context: int | None = None
    gpu_layers: int | None = None
    query_instruction: str | None = None
    document_instruction: str | None = None


class LocalEmbedding(LocalModel[LlamaWorker]):
    """Runs one local embedding model and keeps its slot up to date."""

    failure_event = "no embedding model; keyword search goes on"
    fallback_text = "keyword search answers"

    def __init__(self, *, settings: LocalSettings, store: ModelStore, slot: CurrentEmbedder) -> None:
        super().__init__(source=settings.spec, store=store)
        self.slot = slot
        self._settings = settings

    async def become(self, phase: ModelPhase, reason: str = "") -> None:
        """Enter a phase in the slot; in READY the slot gets the worker as its embedder."""
        await self.slot.set(phase, reason, embedder=self.worker if phase is ModelPhase.READY else None)

    def note_progress(self, progress: Progress, reason: str) -> None:
        """Record the progress of a download in the slot."""
        self.slot.note_progress(progress, reason)

    def make(self, path: Path) -> LlamaWorker:
        """Check the file and create its worker, blocking; raises ModelError."""
        metadata, settings = inspect(path), self._settings
        family = family_of(metadata)
        family = replace(
            family,
            query_prompt=with_instruction(family.query_prompt, settings.query_instruction),
            document_prompt=with_instruction(family.document_prompt, settings.document_instruction),
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
