"""One life of a worker: a child process and the connection to it, from start to reaping."""

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, Generic

from memoryd.embed.local.frames import Load
from memoryd.embed.local.worker_connection import WorkerConnection
from memoryd.embed.local.worker_job import Reply, WorkerJob
from memoryd.errors import MemorydError, ModelError, SidecarError, WorkerDied
from memoryd.sidecar.process import Child, ChildSpec, allowed_environment

_GPU_VARIABLES: Final = ("CUDA_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
_LAST_BREATH: Final = timedelta(seconds=1)

Command = Callable[[int], tuple[str, ...]]
"""The command of a worker whose end of the connection has that descriptor."""


def module_command(module: str) -> Command:
    """Return the command that runs a module of ours as a worker.

    -E and -P: neither the environment nor the working directory chooses its modules. Not -I, which would also hide a
    memoryd that is installed for one user.
    """
    return lambda descriptor: (sys.executable, "-E", "-P", "-m", module, str(descriptor))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRun(Generic[Reply]):
    """How one worker is run: what it is told first, what it is for, and how patiently.

    `stall` is how long it may owe replies without giving any before it counts as hung: a slow batch that moves is not
    killed. `idle_unload` of zero keeps the model for ever.
    """

    order: Load
    job: WorkerJob[Reply]
    command: Command
    idle_unload: timedelta
    stall: timedelta
    load_timeout: timedelta

    @property
    def model(self) -> Path:
        return Path(self.order.model)

    def stamp(self) -> tuple[int, ...] | None:
        """Return what changes when the model file does; None while there is none. Blocks."""
        try:
            found = self.model.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class WorkerLife(Generic[Reply]):
    """A child that is started, asked, and stopped. Not reusable: a restart is a new life."""

    def __init__(self, run: WorkerRun[Reply]) -> None:
        self._run = run
        self._name = f"{run.job.name} worker"
        self._ours, self._theirs = socket.socketpair()
        self._child = Child(_child_spec(run, self._theirs.fileno()))
        self.connection: WorkerConnection[Reply] | None = None

    @property
    def pid(self) -> int | None:
        """The child's number, once it was spawned."""
        return self._child.pid

    @property
    def has_answered(self) -> bool:
        """Whether the worker has ever answered for a text."""
        return self.connection is not None and self.connection.has_answered

    async def run(self, on_loaded: Callable[[WorkerConnection[Reply]], None]) -> MemorydError | None:
        """Load the model, hand the connection on, and serve until nobody has asked for long; why it failed, if it did.

        The loop's thread must outlive the child (see `Child.start`).
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
            # it lets go of the connection a moment before it has ended and can be asked how
            await self._child.ends_within(_LAST_BREATH)
            await self._child.stop()
            return WorkerDied(f"{self._name} ended: {self._child.describe_end()}")
        except (ModelError, SidecarError) as exc:
            return exc
        return None

    def hang_up(self, reason: str) -> None:
        """Tell those who still wait for a reply why there will be none; later calls tell nothing new."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.hang_up(reason)

    async def end(self) -> None:
        """Stop the child, reap it and close what is left."""
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
                # with our copy gone, the end of the child is the end of the stream
                self._theirs.close()
                reader, writer = await asyncio.open_unix_connection(sock=self._ours)
                connection = self.connection = WorkerConnection(reader, writer, job=self._run.job)
                await connection.load(self._run.order)
        except TimeoutError:
            raise TimeoutError(f"model not loaded within {seconds:g} s") from None
        return connection


def _child_spec(run: WorkerRun[Reply], descriptor: int) -> ChildSpec:
    environment = allowed_environment(os.environ, _GPU_VARIABLES)
    # numpy and OpenMP start one thread a core unless told otherwise
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": str(run.order.threads)}
    return ChildSpec(command=run.command(descriptor), environment=environment | threads, pass_fds=(descriptor,))
