"""The child process of a worker: started on demand, restarted after failures, stopped when idle."""

import asyncio
import os
import socket
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Generic

import structlog
from msgspec import Struct

from memoryd.domain.documents import FileStat
from memoryd.embed.local.frames import Load, NoResult, WorkerRequest
from memoryd.embed.local.worker_connection import OnReply, Reply, WorkerConnection, WorkerJob
from memoryd.errors import MemorydError, ModelError, SidecarError, WorkerDied
from memoryd.files.reading import file_stat
from memoryd.replies.models import WorkerReply
from memoryd.retry import Retry, next_try
from memoryd.sidecar.process import Child, ChildSpec, allowed_environment

log = structlog.get_logger()

_GPU_VARIABLES = ("CUDA_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
_EXIT_WAIT = timedelta(seconds=1)

Command = Callable[[int], tuple[str, ...]]
"""Returns the command of a worker for the file descriptor of its end of the connection."""
_FILE_CHECK_SECONDS = 1.0
"""Interval of checks whether a broken model file was replaced."""


def module_command(module: str) -> Command:
    """Return the command that runs a memoryd module as a worker.

    -E and -P: neither the environment nor the working directory affects its imports. Not -I, which would also hide a
    memoryd that is installed for one user.
    """
    return lambda descriptor: (sys.executable, "-E", "-P", "-m", module, str(descriptor))


class WorkerRun(Struct, Generic[Reply], frozen=True, kw_only=True):
    """The settings of one worker: its model, job, command and time limits.

    `stall` is how long pending requests may go without any reply before the worker counts as hung: a slow batch that
    makes progress is not killed. `idle_unload` of zero keeps the model for ever.
    """

    order: Load
    job: WorkerJob[Reply]
    command: Command
    idle_unload: timedelta
    stall: timedelta
    load_timeout: timedelta = timedelta(seconds=120)

    @property
    def model(self) -> Path:
        return Path(self.order.model)

    def stamp(self) -> FileStat | None:
        """Return a stamp that changes when the model file changes; None if there is no file. Blocks."""
        try:
            return file_stat(self.model.stat())
        except OSError:
            return None


class WorkerLife(Generic[Reply]):
    """One child process, from start to stop. Not reusable: a restart is a new WorkerLife."""

    def __init__(self, run: WorkerRun[Reply]) -> None:
        self._run = run
        self._name = f"{run.job.name} worker"
        self._ours, self._theirs = socket.socketpair()
        self._child = Child(_child_spec(run, self._theirs.fileno()))
        self.connection: WorkerConnection[Reply] | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id, once it was started."""
        return self._child.pid

    @property
    def has_answered(self) -> bool:
        """True if the worker has answered a request."""
        return self.connection is not None and self.connection.has_answered

    async def run(self, on_loaded: Callable[[WorkerConnection[Reply]], None]) -> MemorydError | None:
        """Load the model, pass the connection to `on_loaded`, and serve until idle; return the failure, if any.

        The thread of the event loop must outlive the child (see `Child.start`).
        """
        idle, stall = self._run.idle_unload or timedelta.max, self._run.stall
        try:
            connection = await self._load()
            on_loaded(connection)
            await connection.serve(idle=idle, stall=stall)
        except TimeoutError as exc:
            self._child.kill()
            return WorkerDied(f"{self._name} hangs: {exc}")
        except ValueError as exc:
            self._child.kill()
            return WorkerDied(f"{self._name} breaks the protocol: {exc}")
        except (EOFError, ConnectionError):
            # the connection closes a moment before the child has ended and its exit status is known
            await self._child.ends_within(_EXIT_WAIT)
            await self._child.stop()
            return WorkerDied(f"{self._name} ended: {self._child.describe_end()}")
        except (ModelError, SidecarError) as exc:
            return exc
        return None

    def hang_up(self, reason: str) -> None:
        """Fail pending requests with `reason`; further calls have no effect."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.hang_up(reason)

    async def end(self) -> None:
        """Stop the child, reap it and close the sockets."""
        try:
            await self._child.stop()
        finally:
            self.hang_up(f"the {self._name} is stopped")
            self._ours.close()
            self._theirs.close()

    async def _load(self) -> WorkerConnection[Reply]:
        seconds = self._run.load_timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                await self._child.start()
                # close our copy, so that the stream ends when the child ends
                self._theirs.close()
                reader, writer = await asyncio.open_unix_connection(sock=self._ours)
                connection = self.connection = WorkerConnection(reader, writer, job=self._run.job)
                await connection.load(self._run.order)
        except TimeoutError:
            raise TimeoutError(f"model not loaded within {seconds:g} s") from None
        return connection


def _child_spec(run: WorkerRun[Reply], descriptor: int) -> ChildSpec:
    environment = allowed_environment(os.environ, _GPU_VARIABLES)
    # by default numpy and OpenMP start one thread per core
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": str(run.order.threads)}
    return ChildSpec(command=run.command(descriptor), environment=environment | threads, pass_fds=(descriptor,))


class WorkerPhase(StrEnum):
    """The state of a worker."""

    STOPPED = "stopped"
    """Not needed: no request yet, or unloaded after being idle."""
    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"
    """Failed; the next try comes after the back-off, at the next request."""


class WorkerSupervisor(Generic[Reply]):
    """Runs the successive processes of one worker. Works while its `run` runs."""

    def __init__(self, settings: WorkerRun[Reply], *, retry: Retry | None = None) -> None:
        self._settings = settings
        self._name = settings.job.name
        self._retry = retry or Retry()
        self.phase = WorkerPhase.STOPPED
        self._wanted = asyncio.Event()
        self._start: asyncio.Future[WorkerConnection[Reply]] | None = None
        self._life: WorkerLife[Reply] | None = None
        self._lives = 0
        self._has_ended = False
        self._failure: MemorydError | None = None
        self._tried_file: FileStat | None = None
        self._offloads: bool | None = None

    def state(self) -> WorkerReply:
        """Return the state for the status report; cheap."""
        pid = self._life.pid if self._life else None
        return WorkerReply(
            phase=self.phase,
            pid=pid,
            rssBytes=_resident(pid),
            restarts=max(0, self._lives - 1),
            lastError=str(self._failure) if self._failure else None,
            gpuLayers=self._settings.order.gpu_layers,
            offloads=self._offloads,
        )

    @property
    def is_failing(self) -> bool:
        """True if there were so many failures that only single probes are allowed."""
        return self.phase is not WorkerPhase.READY and self._retry.is_open

    async def warm(self) -> None:
        """Start the worker and wait for it; raises ModelError for a bad file, else the job's `unavailable` error."""
        await self._ready_connection()

    async def ask(
        self,
        requests: Sequence[WorkerRequest],
        *,
        is_patient: bool = False,
        on_reply: OnReply[Reply] | None = None,
    ) -> list[Reply | NoResult]:
        """Return a reply to each request, in order; raises the job's `unavailable` error or WorkerDied.

        During a back-off the call waits if `is_patient`, else it fails at once. If the caller is cancelled while the
        model loads, the load goes on for the next caller. Without requests no worker is started.
        """
        if not requests:
            return []
        try:
            connection = await self._ready_connection(is_patient=is_patient)
        except ModelError as exc:
            raise self._unavailable(str(exc), exc.hint) from exc
        return await connection.ask(requests, on_reply)

    async def run(self) -> None:
        """Start the child at the first request, and again after failures; cancel this to stop the child.

        The thread of the event loop must outlive the child (see `Child.start`).
        """
        self._has_ended = False
        try:
            while True:
                await self._wanted.wait()
                await self._back_off()
                await self._live()
        finally:
            # first: new callers must not wait for a start that never comes
            self._has_ended = True
            self._wanted.clear()
            self._withdraw(self._unavailable(f"the {self._name} worker is stopped"))
            self.phase = WorkerPhase.STOPPED

    async def _back_off(self) -> None:
        while (wait := self._retry.wait()) > 0:
            self.phase = WorkerPhase.WAITING
            await asyncio.sleep(min(wait, _FILE_CHECK_SECONDS))
            if isinstance(self._failure, ModelError):
                stamp = await asyncio.to_thread(self._settings.stamp)
                if stamp != self._tried_file:
                    self._retry.reset()

    async def _live(self) -> None:
        self.phase = WorkerPhase.STARTING
        self._tried_file = await asyncio.to_thread(self._settings.stamp)
        self._retry.note_try()
        self._lives += 1
        life = self._life = WorkerLife(self._settings)
        try:
            self._note(await life.run(self._note_loaded))
        finally:
            try:
                await life.end()
            finally:
                self._life = None

    def _note_loaded(self, connection: WorkerConnection[Reply]) -> None:
        self.phase = WorkerPhase.READY
        log.info("model loaded", job=self._name, model=self._settings.model.name, pid=self._life and self._life.pid)
        if self._offloads is None and self._settings.order.gpu_layers and not connection.offloads:
            log.warning("no graphics card is used: llama-cpp-python is built without one", job=self._name)
        self._offloads = connection.offloads
        # there is no waiting caller if all were rejected because of the back-off
        if self._start is not None:
            self._start.set_result(connection)
            self._start = None

    def _note(self, failure: MemorydError | None) -> None:
        if self._life is not None and self._life.has_answered:
            self._retry.note_success()
        self._wanted.clear()
        if failure is None:
            self.phase = WorkerPhase.STOPPED
            log.info("model unloaded", job=self._name, model=self._settings.model.name)
            self._withdraw(self._unavailable(f"the {self._name} model was unloaded"))
            return
        self.phase = WorkerPhase.WAITING
        self._failure = failure
        wait = self._retry.note_failure()
        log.warning("worker failed", job=self._name, error=str(failure), retry_in=wait)
        self._withdraw(failure)

    def _withdraw(self, reason: MemorydError) -> None:
        if self._life is not None:
            self._life.hang_up(str(reason))
        if self._start is not None and not self._start.done():
            self._start.set_exception(
                reason if isinstance(reason, ModelError) else self._unavailable(str(reason), reason.hint)
            )
            # retrieve the exception, so that asyncio does not report it if no caller waits
            self._start.exception()
        self._start = None

    async def _ready_connection(self, *, is_patient: bool = False) -> WorkerConnection[Reply]:
        connection = self._life.connection if self._life is not None else None
        if self.phase is WorkerPhase.READY and connection is not None:
            return connection
        if self._has_ended:
            raise self._unavailable(f"the {self._name} worker is stopped")
        self._wanted.set()
        wait = 0.0 if self.phase is WorkerPhase.STARTING else self._retry.wait()
        if wait > 0 and isinstance(self._failure, ModelError):
            # a new exception: one that is raised again and again collects tracebacks
            raise ModelError(str(self._failure), hint=self._failure.hint)
        if wait > 0 and self._failure is not None and not is_patient:
            raise self._unavailable(f"{self._failure}; {next_try(wait)}")
        if self._start is None:
            self._start = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(wait + self._settings.load_timeout.total_seconds()):
                # shielded: the time-out of one caller must not cancel the start for the others
                return await asyncio.shield(self._start)
        except TimeoutError:
            raise self._unavailable(f"the {self._name} model is warming up") from None

    def _unavailable(self, reason: str, hint: str = "") -> MemorydError:
        error = self._settings.job.unavailable(reason)
        error.hint = hint
        return error


def _resident(pid: int | None) -> int:
    if pid is None:
        return 0
    # here: only the status needs it
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0
