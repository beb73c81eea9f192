"""The local embedder: llama.cpp in a supervised child process, started on demand, unloaded when idle.

An abort in native code or an out-of-memory kill costs one batch, not the daemon, and an unloaded model gives its
memory back to the system.
"""

import asyncio
import os
import random
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

import psutil
import structlog

from memoryd.domain.breaker import Breaker, BreakerRule, Circuit
from memoryd.embed.local.frames import TEXT_CHARACTERS, Load
from memoryd.embed.local.worker_connection import WorkerConnection
from memoryd.embed.protocol import EmbedderIdentity, Passage, Purpose, Unembeddable, Vector
from memoryd.errors import EmbedderUnavailable, EmbeddingError, MemorydError, ModelError, SidecarError, WorkerDied
from memoryd.models.families import ModelFamily
from memoryd.sidecar.process import Child, ChildSpec, allowed_environment

log = structlog.get_logger()

_GPU_VARIABLES: Final = ("CUDA_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
_LAST_BREATH: Final = timedelta(seconds=1)
_FILE_CHECK: Final = 1.0
"""Seconds between looks at a broken model file, to see whether it was replaced."""


class WorkerPhase(StrEnum):
    """What the worker is doing."""

    STOPPED = "stopped"
    """Nobody needs it: not asked yet, or unloaded after being idle."""
    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"
    """It failed; the next try comes after the back-off, if somebody asks."""


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What status shows of the worker."""

    phase: WorkerPhase
    pid: int | None
    rss_bytes: int
    restarts: int
    last_error: str | None


def worker_command(descriptor: int) -> tuple[str, ...]:
    """The command of the real worker.

    -E and -P: neither the environment nor the working directory chooses its modules. Not -I, which would also hide a
    memoryd that is installed for one user.
    """
    return (sys.executable, "-E", "-P", "-m", "memoryd.embed.local.llama", str(descriptor))


class LlamaWorker:
    """Embedder over one GGUF. Works while its `run` runs.

    `query_timeout` bounds a question, waiting for the model included. `document_timeout` is how long the worker may
    owe replies without giving any before it counts as hung: a slow batch that moves is not killed. `idle_unload` of
    zero keeps the model for ever. `context` lowers the model's own, in tokens: memory grows with it (vocabulary ×
    tokens × 4 bytes of output buffer).
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
        query_timeout: timedelta = timedelta(seconds=3),
        document_timeout: timedelta = timedelta(seconds=120),
        load_timeout: timedelta = timedelta(seconds=120),
        rule: BreakerRule | None = None,
        command: Callable[[int], tuple[str, ...]] = worker_command,
    ) -> None:
        self._model = model
        self._family = family
        self._identity = identity
        self._order = Load(str(model), family.pooling, min(family.context, context or family.context), threads)
        self._idle_unload = idle_unload or timedelta.max
        self._query_timeout = query_timeout
        self._document_timeout = document_timeout
        self._load_timeout = load_timeout
        self._command = command
        self._phase = WorkerPhase.STOPPED
        self._breaker = Breaker(rule=rule or BreakerRule())
        self._wanted = asyncio.Event()
        self._start: asyncio.Future[WorkerConnection] | None = None
        self._connection: WorkerConnection | None = None
        self._child: Child | None = None
        self._has_ended = False
        self._lives = 0
        self._failure: MemorydError | None = None
        self._tried_file: tuple[int, ...] | None = None

    @property
    def identity(self) -> EmbedderIdentity:
        """Names the vector space."""
        return self._identity

    def state(self) -> WorkerState:
        """What status shows; cheap."""
        pid = self._child.pid if self._child else None
        return WorkerState(
            phase=self._phase,
            pid=pid,
            rss_bytes=_resident(pid),
            restarts=max(0, self._lives - 1),
            last_error=str(self._failure) if self._failure else None,
        )

    @property
    def is_given_up(self) -> bool:
        """Says that it failed so often that only a probe now and then is tried."""
        return self._phase is not WorkerPhase.READY and self._breaker.circuit is not Circuit.CLOSED

    async def warm(self) -> None:
        """Starts the worker and waits for it; raises ModelError if the file is at fault, else EmbedderUnavailable."""
        await self._started()

    async def embed_query(self, text: str) -> Vector:
        """Gives the vector of a question; raises EmbedderUnavailable if there is none within `query_timeout`, and
        EmbeddingError if the model gives none for this text."""
        if not text.strip():
            raise EmbeddingError("no vector for an empty question")
        prompt = self._family.query(text[:TEXT_CHARACTERS])
        try:
            async with asyncio.timeout(self._query_timeout.total_seconds()):
                connection = await self._embedding_started()
                (reply,) = await connection.ask(Purpose.QUERY, [prompt])
        except TimeoutError:
            raise EmbedderUnavailable(self._why_late()) from None
        if isinstance(reply, Unembeddable):
            raise EmbeddingError(f"no vector for this question: {reply.reason}")
        return reply

    async def embed_documents(self, passages: Sequence[Passage]) -> list[Vector | Unembeddable]:
        """Gives a vector or a reason for each passage, in order; raises EmbedderUnavailable or WorkerDied.

        After a crash it waits for the back-off, so that a caller can halve the batch that did it, and go on.
        """
        prompts = [
            self._family.document(passage.text[:TEXT_CHARACTERS], passage.title[:TEXT_CHARACTERS])
            for passage in passages
            if passage.text.strip()
        ]
        replies = iter(await self._ask_for_all(prompts) if prompts else ())
        return [next(replies) if passage.text.strip() else Unembeddable("empty text") for passage in passages]

    async def _ask_for_all(self, prompts: Sequence[str]) -> list[Vector | Unembeddable]:
        connection = await self._embedding_started(is_patient=True)
        return await connection.ask(Purpose.DOCUMENT, prompts)

    async def run(self) -> None:
        """Starts the child when somebody asks, and again after failures; cancel it to stop the child.

        The loop's thread must outlive the child (see `Child.start`).
        """
        self._has_ended = False
        try:
            while True:
                await self._wanted.wait()
                await self._hold_off()
                await self._live()
        finally:
            self._has_ended = True
            self._wanted.clear()
            self._withdraw(EmbedderUnavailable("the embedding worker is stopped"))
            self._phase = WorkerPhase.STOPPED

    async def _hold_off(self) -> None:
        while (wait := self._breaker.wait(time.monotonic())) > 0:
            self._phase = WorkerPhase.WAITING
            await asyncio.sleep(min(wait, _FILE_CHECK))
            if isinstance(self._failure, ModelError) and await asyncio.to_thread(self._stamp) != self._tried_file:
                self._breaker = Breaker(rule=self._breaker.rule)

    async def _live(self) -> None:
        self._phase = WorkerPhase.STARTING
        self._tried_file = await asyncio.to_thread(self._stamp)
        self._breaker = self._breaker.tried(time.monotonic())
        self._lives += 1
        ours, theirs = socket.socketpair()
        child = self._child = Child(self._spec(theirs.fileno()))
        try:
            self._note(await self._outcome(child, ours, theirs))
        finally:
            try:
                await child.stop()
            finally:
                self._child = None
                ours.close()
                theirs.close()

    async def _outcome(self, child: Child, ours: socket.socket, theirs: socket.socket) -> MemorydError | None:
        try:
            await self._load(child, ours, theirs)
            await self._serve()
        except TimeoutError as exc:
            child.kill()
            return WorkerDied(f"embedding worker hangs: {exc}")
        except ValueError as exc:
            child.kill()
            return WorkerDied(f"embedding worker breaks the protocol: {exc}")
        except (EOFError, ConnectionError):
            # it lets go of the connection a moment before it has ended and can be asked how
            await child.ends_within(_LAST_BREATH)
            await child.stop()
            return WorkerDied(f"embedding worker ended: {child.describe_end()}")
        except (ModelError, SidecarError) as exc:
            return exc
        return None

    async def _load(self, child: Child, ours: socket.socket, theirs: socket.socket) -> None:
        seconds = self._load_timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                await child.start()
                # with our copy gone, the end of the child is the end of the stream
                theirs.close()
                streams = await asyncio.open_unix_connection(sock=ours)
                self._connection = WorkerConnection(*streams, dimensions=self._identity.dimensions)
                await self._connection.load(self._order)
        except TimeoutError:
            raise TimeoutError(f"model not loaded within {seconds:g} s") from None

    async def _serve(self) -> None:
        assert self._connection is not None
        self._phase = WorkerPhase.READY
        log.info("embedding model loaded", model=self._model.name, pid=self._child and self._child.pid)
        if self._start is not None:
            self._start.set_result(self._connection)
            self._start = None
        await self._connection.serve(idle=self._idle_unload, stall=self._document_timeout)

    def _note(self, failure: MemorydError | None) -> None:
        if self._connection is not None and self._connection.has_answered:
            self._breaker = self._breaker.succeeded()
        self._wanted.clear()
        if failure is None:
            self._phase = WorkerPhase.STOPPED
            log.info("embedding model unloaded", model=self._model.name)
            self._withdraw(EmbedderUnavailable("the embedding model was unloaded"))
            return
        self._phase = WorkerPhase.WAITING
        self._failure = failure
        self._breaker = self._breaker.failed(time.monotonic(), random.random())
        log.warning("embedding worker failed", error=str(failure), retry_in=self._breaker.wait(time.monotonic()))
        self._withdraw(failure)

    def _withdraw(self, reason: MemorydError) -> None:
        if self._connection is not None:
            self._connection.hang_up(str(reason))
            self._connection = None
        if self._start is not None and not self._start.done():
            self._start.set_exception(_now_unavailable(reason))
            # read, so that asyncio does not report it where nobody waited
            self._start.exception()
        self._start = None

    async def _started(self, *, is_patient: bool = False) -> WorkerConnection:
        if self._phase is WorkerPhase.READY and self._connection is not None:
            return self._connection
        if self._has_ended:
            raise EmbedderUnavailable("the embedding worker is stopped")
        self._wanted.set()
        wait = 0.0 if self._phase is WorkerPhase.STARTING else self._breaker.wait(time.monotonic())
        if wait > 0 and self._failure is not None:
            self._refuse_to_wait(wait, self._failure, is_patient)
        if self._start is None:
            self._start = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(wait + self._load_timeout.total_seconds()):
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
            return f"the embedding worker gave no answer within {self._query_timeout.total_seconds():g} s"
        return "the embedding model is warming up"

    def _spec(self, descriptor: int) -> ChildSpec:
        environment = allowed_environment(os.environ, _GPU_VARIABLES)
        # numpy and OpenMP start one thread a core unless told otherwise
        threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": str(self._order.threads)}
        return ChildSpec(command=self._command(descriptor), environment=environment | threads, pass_fds=(descriptor,))

    def _stamp(self) -> tuple[int, ...] | None:
        try:
            found = self._model.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _now_unavailable(reason: MemorydError) -> MemorydError:
    return reason if isinstance(reason, ModelError) else EmbedderUnavailable(str(reason), hint=reason.hint)


def _resident(pid: int | None) -> int:
    if pid is None:
        return 0
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
