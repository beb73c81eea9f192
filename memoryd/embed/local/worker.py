"""The local embedder: llama.cpp in a supervised child process, started on demand, unloaded when idle.

An abort in native code or an out-of-memory kill costs one batch, not the daemon, and an unloaded model gives its
memory back to the system.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import psutil
import structlog

from memoryd.embed.local.frames import TEXT_CHARACTERS
from memoryd.embed.local.worker_connection import WorkerConnection
from memoryd.embed.local.worker_life import WorkerLife, WorkerSpec
from memoryd.embed.local.worker_phase import WorkerEvent, WorkerPhase, next_phase
from memoryd.embed.protocol import EmbedderIdentity, Passage, Purpose, Unembeddable, Vector
from memoryd.errors import EmbedderUnavailable, EmbeddingError, MemorydError, ModelError
from memoryd.retry import Retry

log = structlog.get_logger()

_FILE_CHECK: Final = 1.0
"""Seconds between looks at a broken model file, to see whether it was replaced."""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What status shows of the worker."""

    phase: WorkerPhase
    pid: int | None
    rss_bytes: int
    restarts: int
    last_error: str | None


class LlamaWorker:
    """Embedder over one GGUF. Works while its `run` runs."""

    def __init__(self, spec: WorkerSpec, *, retry: Retry | None = None) -> None:
        self._spec = spec
        self._retry = retry or Retry()
        self._phase = WorkerPhase.STOPPED
        self._wanted = asyncio.Event()
        self._start: asyncio.Future[WorkerConnection] | None = None
        self._life: WorkerLife | None = None
        self._lives = 0
        self._has_ended = False
        self._failure: MemorydError | None = None
        self._tried_file: tuple[int, ...] | None = None

    @property
    def identity(self) -> EmbedderIdentity:
        """Names the vector space."""
        return self._spec.identity

    def state(self) -> WorkerState:
        """Return what status shows; cheap."""
        pid = self._life.pid if self._life else None
        return WorkerState(
            phase=self._phase,
            pid=pid,
            rss_bytes=_resident(pid),
            restarts=max(0, self._lives - 1),
            last_error=str(self._failure) if self._failure else None,
        )

    @property
    def is_given_up(self) -> bool:
        """Tell whether it failed so often that only a probe now and then is tried."""
        return self._phase is not WorkerPhase.READY and self._retry.is_open

    async def warm(self) -> None:
        """Start the worker and wait for it; raises ModelError if the file is at fault, else EmbedderUnavailable."""
        await self._started()

    async def embed_query(self, text: str) -> Vector:
        """Return the vector of a question; raises EmbedderUnavailable if there is none within `query_timeout`, and
        EmbeddingError if the model gives none for this text."""
        if not text.strip():
            raise EmbeddingError("no vector for an empty question")
        prompt = self._spec.family.query(text[:TEXT_CHARACTERS])
        try:
            async with asyncio.timeout(self._spec.query_timeout.total_seconds()):
                connection = await self._embedding_started()
                (reply,) = await connection.ask(Purpose.QUERY, [prompt])
        except TimeoutError:
            raise EmbedderUnavailable(self._why_late()) from None
        if isinstance(reply, Unembeddable):
            raise EmbeddingError(f"no vector for this question: {reply.reason}")
        return reply

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Return a vector or a reason for each passage, in order; raises EmbedderUnavailable or WorkerDied.

        After a crash it waits for the back-off, so that a caller can halve the batch that did it, and go on.
        """
        prompts = [
            self._spec.family.document(passage.text[:TEXT_CHARACTERS], passage.title[:TEXT_CHARACTERS])
            for passage in passages
            if passage.text.strip()
        ]
        replies = iter(await self._ask_for_all(prompts) if prompts else ())
        return [next(replies) if passage.text.strip() else Unembeddable("empty text") for passage in passages]

    async def _ask_for_all(self, prompts: Sequence[str]) -> list[Vector | Unembeddable]:
        connection = await self._embedding_started(is_patient=True)
        return await connection.ask(Purpose.DOCUMENT, prompts)

    async def run(self) -> None:
        """Start the child when somebody asks, and again after failures; cancel it to stop the child.

        The loop's thread must outlive the child (see `Child.start`).
        """
        self._has_ended = False
        try:
            while True:
                await self._wanted.wait()
                await self._hold_off()
                await self._live()
        finally:
            # first: whoever asks from now on must not wait for a start that nobody makes
            self._has_ended = True
            self._wanted.clear()
            self._withdraw(EmbedderUnavailable("the embedding worker is stopped"))
            self._step(WorkerEvent.ENDED)

    async def _hold_off(self) -> None:
        while (wait := self._retry.wait()) > 0:
            self._step(WorkerEvent.HELD_OFF)
            await asyncio.sleep(min(wait, _FILE_CHECK))
            if isinstance(self._failure, ModelError) and await self._is_file_new():
                self._retry.forget()

    async def _live(self) -> None:
        self._step(WorkerEvent.STARTED)
        self._tried_file = await asyncio.to_thread(self._spec.stamp)
        self._retry.tried()
        self._lives += 1
        life = self._life = WorkerLife(self._spec)
        try:
            self._note(await life.run(self._loaded))
        finally:
            try:
                await life.end()
            finally:
                self._life = None

    def _loaded(self, connection: WorkerConnection) -> None:
        self._step(WorkerEvent.LOADED)
        log.info("embedding model loaded", model=self._spec.model.name, pid=self._life and self._life.pid)
        # nobody waits for it if who asked was refused because of the back-off
        if self._start is not None:
            self._start.set_result(connection)
            self._start = None

    def _note(self, failure: MemorydError | None) -> None:
        if self._life is not None and self._life.has_answered:
            self._retry.succeeded()
        self._wanted.clear()
        if failure is None:
            self._step(WorkerEvent.UNLOADED)
            log.info("embedding model unloaded", model=self._spec.model.name)
            self._withdraw(EmbedderUnavailable("the embedding model was unloaded"))
            return
        self._step(WorkerEvent.FAILED)
        self._failure = failure
        wait = self._retry.failed()
        log.warning("embedding worker failed", error=str(failure), retry_in=wait)
        self._withdraw(failure)

    def _withdraw(self, reason: MemorydError) -> None:
        if self._life is not None:
            self._life.hang_up(str(reason))
        if self._start is not None and not self._start.done():
            self._start.set_exception(_now_unavailable(reason))
            # read, so that asyncio does not report it where nobody waited
            self._start.exception()
        self._start = None

    async def _started(self, *, is_patient: bool = False) -> WorkerConnection:
        connection = self._life.connection if self._life is not None else None
        if self._phase is WorkerPhase.READY and connection is not None:
            return connection
        if self._has_ended:
            raise EmbedderUnavailable("the embedding worker is stopped")
        self._wanted.set()
        wait = 0.0 if self._phase is WorkerPhase.STARTING else self._retry.wait()
        if wait > 0 and self._failure is not None:
            self._refuse_to_wait(wait, self._failure, is_patient)
        if self._start is None:
            self._start = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(wait + self._spec.load_timeout.total_seconds()):
                # several may wait for one start: the time-out of one must not cancel it for the others
                return await asyncio.shield(self._start)
        except TimeoutError:
            raise EmbedderUnavailable(self._why_late()) from None

    async def _embedding_started(self, *, is_patient: bool = False) -> WorkerConnection:
        try:
            return await self._started(is_patient=is_patient)
        except ModelError as exc:
            raise EmbedderUnavailable(str(exc), hint=exc.hint) from exc

    def _refuse_to_wait(self, wait: float, failure: MemorydError, is_patient: bool) -> None:
        if isinstance(failure, ModelError):
            # a new one: an exception raised again and again keeps every traceback
            raise ModelError(str(failure), hint=failure.hint)
        if not is_patient:
            raise EmbedderUnavailable(f"{failure}; next try in {wait:.0f} s")

    def _why_late(self) -> str:
        if self._phase is WorkerPhase.READY:
            return f"the embedding worker gave no answer within {self._spec.query_timeout.total_seconds():g} s"
        return "the embedding model is warming up"

    async def _is_file_new(self) -> bool:
        return await asyncio.to_thread(self._spec.stamp) != self._tried_file

    def _step(self, event: WorkerEvent) -> None:
        self._phase = next_phase(self._phase, event)


def _now_unavailable(reason: MemorydError) -> MemorydError:
    return reason if isinstance(reason, ModelError) else EmbedderUnavailable(str(reason), hint=reason.hint)


def _resident(pid: int | None) -> int:
    if pid is None:
        return 0
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
