"""The facts that the process reports for status and degradations, and the restarts of optional parts.

The failure of an optional part is recorded, retried later, and never ends the daemon.
"""

import asyncio
import os
import resource
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping

import structlog
from msgspec import Struct, field

from memoryd import __version__
from memoryd.agents.status.status import Degradation
from memoryd.api.access import DaemonState, is_reachable_on
from memoryd.api.http.limits import Admission
from memoryd.api.http.loopback import LoopbackPort
from memoryd.api.http.server import Server
from memoryd.daemon.heartbeats import Heartbeats
from memoryd.daemon.log_output import OwnLog
from memoryd.replies.daemon import ConfigReply, ConnectionsReply, LoadReply
from memoryd.retry import Retry

log = structlog.get_logger(__name__)

Loop = Coroutine[object, object, None]


class Supervisor:
    """Runs the loops of optional parts. `failing` lists those that wait for a restart, with the reason."""

    def __init__(self) -> None:
        self.failing: dict[str, str] = {}
        self.restarts: Counter[str] = Counter()
        """The number of restarts of each loop."""

    async def keep(self, name: str, loop: Callable[[], Loop]) -> None:
        """Run a loop until it returns; after a failure run it again, with growing delays."""
        retry = Retry()
        while True:
            try:
                await loop()
            except Exception as exc:
                log.exception("a part failed and is started again", part=name)
                self.failing[name] = f"{type(exc).__name__}: {exc}"
                try:
                    await asyncio.sleep(retry.note_failure())
                finally:
                    # also if the part is cancelled in between, as a reload does
                    self.failing.pop(name, None)
                self.restarts[name] += 1
            else:
                return


class Reporter(Struct, kw_only=True, eq=False):
    """Collects the facts of the process."""

    config: Callable[[], ConfigReply]
    socket: str
    supervisor: Supervisor
    heartbeats: Heartbeats
    own_log: OwnLog
    admission: Admission
    server: Server | None = None
    """Set once the server exists."""
    port: LoopbackPort | None = None
    """None unless the port is configured."""
    page_address: str = ""
    """The address of the page."""
    _started: float = field(default_factory=time.monotonic)

    def state(self) -> DaemonState:
        """Return the current facts."""
        # imported here: it is rarely used, and loading it takes as long as the framework of the server
        import psutil

        counts, process = None, psutil.Process()
        if self.server is not None:
            connections = self.server.connections
            counts = ConnectionsReply(open=connections.open, refused=dict(connections.refused))
        return DaemonState(
            version=__version__,
            pid=os.getpid(),
            uptime_seconds=round(time.monotonic() - self._started, 1),
            rss_bytes=process.memory_info().rss,
            socket=self.socket,
            config=self.config(),
            connections=counts,
            unreachable=self._unreachable,
            heartbeats=self.heartbeats.latest,
            load=self._load(process.num_fds()),
            log=self.own_log.state(),
            port=None if self.port is None else self.port.state(),
            page_address=self.page_address,
            restarts=dict(self.supervisor.restarts),
        )

    def degradations(self, agent: str) -> list[Degradation]:
        """Return the failures outside an agent's memory: loops of the daemon, and the sockets that reach the agent."""
        failures = list(self.supervisor.failing.items())
        failures += [
            (part.name, f"it has given no sign of life for {part.silent_seconds:.0f} s")
            for part in self.heartbeats.stalled
        ]
        if trouble := self.own_log.state()["reason"]:
            failures.append(("log", f"the log file cannot be written: {trouble}"))
        if self.port is not None and (trouble := self.port.state()["reason"]):
            failures.append(("loopback port", trouble))
        failures += [(f"socket {name}", why) for name, why in self._unreachable.items() if is_reachable_on(agent, name)]
        return [Degradation(name, reason) for name, reason in failures]

    def _load(self, open_files: int) -> LoadReply:
        admission = self.admission
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return LoadReply(
            requests=admission.at_work,
            maxRequests=admission.most,
            refusedRequests=admission.refused,
            openFiles=open_files,
            maxOpenFiles=files,
            threads=threading.active_count(),
        )

    @property
    def _unreachable(self) -> Mapping[str, str]:
        return {} if self.server is None else self.server.unreachable
