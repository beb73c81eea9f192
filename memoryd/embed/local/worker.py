"""The local embedder: llama.cpp in a supervised child process, started on demand, unloaded when idle.

An abort in native code or an out-of-memory kill costs one batch, not the daemon, and an unloaded model gives its memory
back to the system. A model is identified by its content, which decides the vectors, and not by its name.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final, Generic, Self

import numpy as np
from msgspec import Struct

from memoryd.domain.vector import Vector
from memoryd.embed.local.frames import TEXT_CHARACTERS, Embed, Embedded, Load, Message, NoResult, Ready
from memoryd.embed.local.worker_connection import Reply
from memoryd.embed.local.worker_process import Command, KeptWorker, WorkerPhase, WorkerRun, WorkerState, module_command
from memoryd.embed.protocol import EmbedderIdentity, Passage, Purpose, Unembeddable
from memoryd.errors import EmbedderUnavailable, EmbeddingError
from memoryd.models.families import ModelFamily, ModelMetadata, family_of, inspect
from memoryd.models.gguf import content_hash
from memoryd.retry import Retry

REVISION_DIGITS: Final = 16
EMBEDDING_COMMAND: Final = module_command("memoryd.embed.local.llama")
QUERY_TIMEOUT: Final = timedelta(seconds=3)
_LENGTH_TOLERANCE: Final = 1e-3


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


class ModelWorker(Generic[Reply]):
    """A model behind a kept worker. What it is asked, each kind adds."""

    def __init__(self, kept: WorkerRun[Reply], *, retry: Retry | None = None) -> None:
        self._worker = KeptWorker(kept, retry=retry)

    @property
    def is_given_up(self) -> bool:
        """Tell whether it failed so often that only a probe now and then is tried."""
        return self._worker.is_given_up

    def state(self) -> WorkerState:
        """Return what status shows; cheap."""
        return self._worker.state()

    async def warm(self) -> None:
        """Start the worker and wait for it; raises ModelError if the file is at fault, else what its job says."""
        await self._worker.warm()

    async def run(self) -> None:
        """Start the child when somebody asks, and again after failures; cancel it to stop the child."""
        await self._worker.run()


class WorkerSpec(Struct, frozen=True, kw_only=True):
    """Which model a worker runs, and how patiently.

    `query_timeout` bounds a question, waiting for the model included. `document_timeout` is how long the worker may
    owe replies without giving any before it counts as hung. `idle_unload` of zero keeps the model for ever. `context`
    lowers the model's own, in tokens: memory grows with it (vocabulary × tokens × 4 bytes of output buffer).
    """

    model: Path
    family: ModelFamily
    identity: EmbedderIdentity
    threads: int
    idle_unload: timedelta
    context: int | None = None
    query_timeout: timedelta = QUERY_TIMEOUT
    document_timeout: timedelta = timedelta(seconds=120)
    load_timeout: timedelta = timedelta(seconds=120)
    command: Command = EMBEDDING_COMMAND

    @classmethod
    def of(
        cls,
        model: Path,
        *,
        threads: int = 1,
        idle_unload: timedelta,
        context: int | None = None,
        query_timeout: timedelta = QUERY_TIMEOUT,
    ) -> Self:
        """Return how to run a model as its own header says. Blocks to hash it; raises ModelError if it is none."""
        metadata = inspect(model)
        family = family_of(metadata)
        return cls(
            model=model,
            family=family,
            identity=identity_of(model, metadata, family),
            threads=threads,
            idle_unload=idle_unload,
            context=context,
            query_timeout=query_timeout,
        )

    @property
    def run(self) -> WorkerRun[Vector | Unembeddable]:
        """How the worker is run."""
        context = min(self.family.context, self.context or self.family.context)
        return WorkerRun(
            order=Load(str(self.model), self.family.pooling, context, self.threads),
            job=EmbeddingJob(self.identity.dimensions),
            command=self.command,
            idle_unload=self.idle_unload,
            stall=self.document_timeout,
            load_timeout=self.load_timeout,
        )


class EmbeddingJob(Struct, frozen=True):
    """What a worker that embeds must give: a vector of so many dimensions for each text."""

    dimensions: int
    name: str = "embedding"
    unavailable: type[EmbedderUnavailable] = EmbedderUnavailable

    def misfit(self, ready: Ready) -> str:
        """Return why the model that is loaded is another one than its header says; empty if it is not."""
        wrong = f"it gives {ready.dimensions} dimensions, not {self.dimensions}"
        return "" if ready.dimensions == self.dimensions else wrong

    def read(self, message: Message) -> tuple[int, Vector | Unembeddable]:
        """Return whose vector it is, and the vector or why there is none; raises ValueError for anything else."""
        match message:
            case Embedded():
                return message.id, self._vector(message.vector)
            case NoResult():
                return message.id, Unembeddable(message.reason)
        raise ValueError(f"unexpected {type(message).__name__}")

    def _vector(self, data: bytes) -> Vector | Unembeddable:
        if len(data) != self.dimensions * np.dtype(np.float32).itemsize:
            raise ValueError(f"vector of {len(data)} bytes for {self.dimensions} dimensions")
        vector = np.frombuffer(data, np.float32)
        # also false for NaN
        if abs(float(np.linalg.norm(vector)) - 1) < _LENGTH_TOLERANCE:
            return vector
        return Unembeddable("the worker gave a vector that is not finite and of length 1")


class LlamaWorker(ModelWorker[Vector | Unembeddable]):
    """Embedder over one GGUF. Works while its `run` runs."""

    def __init__(self, spec: WorkerSpec, *, retry: Retry | None = None) -> None:
        super().__init__(spec.run, retry=retry)
        self._spec = spec

    @property
    def identity(self) -> EmbedderIdentity:
        """Names the vector space."""
        return self._spec.identity

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question; raises EmbedderUnavailable if there is none within `query_timeout`, and
        EmbeddingError if the model gives none for this text."""
        if not text.strip():
            raise EmbeddingError("no vector for an empty question")
        prompt = self._spec.family.query(text[:TEXT_CHARACTERS])
        try:
            async with asyncio.timeout(self._spec.query_timeout.total_seconds()):
                (reply,) = await self._worker.ask([Embed(0, Purpose.QUERY, prompt)])
        except TimeoutError:
            raise EmbedderUnavailable(self._why_late()) from None
        if isinstance(reply, Unembeddable):
            raise EmbeddingError(f"no vector for this question: {reply.reason}")
        return reply

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Return a vector or a reason for each passage, in order; raises EmbedderUnavailable or WorkerDied.

        After a crash it waits for the back-off, so that a caller can halve the batch that did it, and go on.
        """
        requests = [Embed(0, Purpose.DOCUMENT, self._prompt(passage)) for passage in passages if passage.text.strip()]
        replies = iter(await self._worker.ask(requests, is_patient=True))
        return [next(replies) if passage.text.strip() else Unembeddable("empty text") for passage in passages]

    def _prompt(self, passage: Passage) -> str:
        return self._spec.family.document(passage.text[:TEXT_CHARACTERS], passage.title[:TEXT_CHARACTERS])

    def _why_late(self) -> str:
        if self.state().phase is WorkerPhase.READY:
            return f"the embedding worker gave no answer within {self._spec.query_timeout.total_seconds():g} s"
        return "the embedding model is warming up"
