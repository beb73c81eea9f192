"""One life of an embedding worker: a child process and the connection to it, from start to reaping."""

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from memoryd.embed.local.frames import Load
from memoryd.embed.local.worker_connection import WorkerConnection
from memoryd.embed.protocol import EmbedderIdentity
from memoryd.errors import MemorydError, ModelError, SidecarError, WorkerDied
from memoryd.models.families import ModelFamily
from memoryd.sidecar.process import Child, ChildSpec, allowed_environment

_GPU_VARIABLES: Final = ("CUDA_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
_LAST_BREATH: Final = timedelta(seconds=1)


def worker_command(descriptor: int) -> tuple[str, ...]:
    """Return the command of the real worker.

    -E and -P: neither the environment nor the working directory chooses its modules. Not -I, which would also hide a
    memoryd that is installed for one user.
    """
    return (sys.executable, "-E", "-P", "-m", "memoryd.embed.local.llama", str(descriptor))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSpec:
    """Which model a worker runs, and how patiently.

    `query_timeout` bounds a question, waiting for the model included. `document_timeout` is how long the worker may
    owe replies without giving any before it counts as hung: a slow batch that moves is not killed. `idle_unload` of
    zero keeps the model for ever. `context` lowers the model's own, in tokens: memory grows with it (vocabulary ×
    tokens × 4 bytes of output buffer).
    """

    model: Path
    family: ModelFamily
    identity: EmbedderIdentity
    threads: int
    idle_unload: timedelta
    context: int | None = None
    query_timeout: timedelta = timedelta(seconds=3)
    document_timeout: timedelta = timedelta(seconds=120)
    load_timeout: timedelta = timedelta(seconds=120)
    command: Callable[[int], tuple[str, ...]] = worker_command

    @property
    def order(self) -> Load:
        """What the worker is told first."""
        context = min(self.family.context, self.context or self.family.context)
        return Load(str(self.model), self.family.pooling, context, self.threads)

    def stamp(self) -> tuple[int, ...] | None:
        """Return what changes when the model file does; None while there is none. Blocks."""
        try:
            found = self.model.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class WorkerLife:
    """A child that is started, asked, and stopped. Not reusable: a restart is a new life."""

    def __init__(self, spec: WorkerSpec) -> None:
        self._spec = spec
        self._ours, self._theirs = socket.socketpair()
        self._child = Child(_child_spec(spec, self._theirs.fileno()))
        self.connection: WorkerConnection | None = None

    @property
    def pid(self) -> int | None:
        """The child's number, once it was spawned."""
        return self._child.pid

    @property
    def has_answered(self) -> bool:
        """Whether the worker has ever answered for a text."""
        return self.connection is not None and self.connection.has_answered

    async def run(self, on_loaded: Callable[[WorkerConnection], None]) -> MemorydError | None:
        """Load the model, hand the connection on, and serve until nobody has asked for long; why it failed, if it did.

        The loop's thread must outlive the child (see `Child.start`).
        """
        idle, stall = self._spec.idle_unload or timedelta.max, self._spec.document_timeout
        try:
            connection = await self._load()
            on_loaded(connection)
            await connection.serve(idle=idle, stall=stall)
        except TimeoutError as exc:
            self._child.kill()
            return WorkerDied(f"embedding worker hangs: {exc}")
        except ValueError as exc:
            self._child.kill()
            return WorkerDied(f"embedding worker breaks the protocol: {exc}")
        except (EOFError, ConnectionError):
            # it lets go of the connection a moment before it has ended and can be asked how
            await self._child.ends_within(_LAST_BREATH)
            await self._child.stop()
            return WorkerDied(f"embedding worker ended: {self._child.describe_end()}")
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
            self.hang_up("the embedding worker is stopped")
            self._ours.close()
            self._theirs.close()

    async def _load(self) -> WorkerConnection:
        seconds = self._spec.load_timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                await self._child.start()
                # with our copy gone, the end of the child is the end of the stream
                self._theirs.close()
                reader, writer = await asyncio.open_unix_connection(sock=self._ours)
                dimensions = self._spec.identity.dimensions
                connection = self.connection = WorkerConnection(reader, writer, dimensions=dimensions)
                await connection.load(self._spec.order)
        except TimeoutError:
            raise TimeoutError(f"model not loaded within {seconds:g} s") from None
        return connection


def _child_spec(spec: WorkerSpec, descriptor: int) -> ChildSpec:
    environment = allowed_environment(os.environ, _GPU_VARIABLES)
    # numpy and OpenMP start one thread a core unless told otherwise
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": str(spec.threads)}
    return ChildSpec(command=spec.command(descriptor), environment=environment | threads, pass_fds=(descriptor,))
