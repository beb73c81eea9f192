"""The local embedder: llama.cpp in a supervised child process, started on demand, unloaded when idle.

An abort in native code or an out-of-memory kill costs one batch, not the daemon, and an unloaded model gives its memory
back to the system. A model is identified by its content, which decides the vectors, and not by its name.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final, Self

import numpy as np

from memoryd.domain.vector import Vector
from memoryd.embed.local.frames import TEXT_CHARACTERS, Embed, Embedded, Load, NoResult, Ready
from memoryd.embed.local.worker_connection import WorkerJob
from memoryd.embed.local.worker_process import Command, WorkerKeeper, WorkerPhase, WorkerRun, module_command
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
        query_timeout: timedelta = QUERY_TIMEOUT,
        document_timeout: timedelta = timedelta(seconds=120),
        load_timeout: timedelta = timedelta(seconds=120),
        command: Command = EMBEDDING_COMMAND,
        retry: Retry | None = None,
    ) -> None:
        order = Load(str(model), family.pooling, min(family.context, context or family.context), threads)
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
            raise EmbedderUnavailable(self._why_late()) from None
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

    def _why_late(self) -> str:
        if self.state().phase is WorkerPhase.READY:
            return f"the embedding worker gave no answer within {self._query_timeout.total_seconds():g} s"
        return "the embedding model is warming up"


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
