"""What every model in a child process of its own is, whatever it is asked: warmed, watched, run."""

from typing import Generic

from memoryd.embed.local.kept_worker import KeptWorker, WorkerState
from memoryd.embed.local.worker_job import Reply
from memoryd.embed.local.worker_life import WorkerRun
from memoryd.retry import Retry


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
