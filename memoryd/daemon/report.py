"""What the process says of itself: facts for status and degradations; and keeping an optional part at work.

The failure of an optional part is noted and mended in time, and never ends the daemon.
"""

import asyncio
import os
import resource
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping

import psutil
import structlog

from memoryd import __version__
from memoryd.agents.status.status import Shortfall
from memoryd.api.access import is_asked_on
from memoryd.api.daemon_state import ConfigState, ConnectionCounts, DaemonState, LoadState
from memoryd.api.http.limits import Admission
from memoryd.api.http.loopback import LoopbackPort
from memoryd.api.http.server import Server
from memoryd.daemon.heartbeats import Heartbeats
from memoryd.daemon.log_output import OwnLog
from memoryd.domain.breaker import BreakerRule
from memoryd.domain.heartbeats import Heartbeat
from memoryd.retry import Retry

log = structlog.get_logger(__name__)

Loop = Coroutine[object, object, None]


def stuck_since(one: Heartbeat) -> str:
    """Say of a part that is stuck since when."""
    return f"it has given no sign of life for {one.silent_seconds:.0f} s"


class Reporter:
    """Gathers the facts of the process; `failing` are the loops that wait for another try, and why."""

    def __init__(
        self,
        *,
        config: Callable[[], ConfigState],
        socket: str,
        failing: Mapping[str, str],
        heartbeats: Heartbeats,
        restarts: Mapping[str, int],
        own_log: OwnLog,
        admission: Admission,
    ) -> None:
        self._config = config
        self._socket = socket
        self._failing = failing
        self._heartbeats = heartbeats
        self._restarts = restarts
        self._log = own_log
        self._started = time.monotonic()
        self._admission = admission
        self.server: Server | None = None
        """Set once there is one."""
        self.port: LoopbackPort | None = None
        """None unless somebody wants it."""

    def state(self) -> DaemonState:
        """Return the facts now."""
        return DaemonState(
            version=__version__,
            pid=os.getpid(),
            uptime_seconds=round(time.monotonic() - self._started, 1),
            rss_bytes=psutil.Process().memory_info().rss,
            socket=self._socket,
            config=self._config(),
            connections=self._connections(),
            unreachable=self._unreachable,
            heartbeats=self._heartbeats.heard,
            load=self._load(),
            log=self._log.state(),
            port=None if self.port is None else self.port.state(),
            restarts=dict(self._restarts),
        )

    def shortfalls(self, agent: str) -> list[Shortfall]:
        """Return what fails around an agent's memory: loops of the daemon, and the sockets that it is asked on."""
        loops = [Shortfall(name, reason) for name, reason in self._failing.items()]
        lost = [(name, reason) for name, reason in self._unreachable.items() if is_asked_on(agent, name)]
        trouble = "" if self.port is None else self.port.state().trouble
        port = [Shortfall("loopback port", trouble)] if trouble else []
        stuck = [Shortfall(one.name, stuck_since(one)) for one in self._heartbeats.stalled]
        unwritten = self._log.state().trouble
        stuck += [Shortfall("log", f"the log file cannot be written: {unwritten}")] if unwritten else []
        return loops + stuck + port + [Shortfall(f"socket {name}", reason) for name, reason in lost]

    def _load(self) -> LoadState:
        room = self._admission
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return LoadState(
            requests=room.at_work,
            max_requests=room.most,
            refused_requests=room.refused,
            open_files=psutil.Process().num_fds(),
            max_open_files=files,
            threads=threading.active_count(),
        )

    def _connections(self) -> ConnectionCounts | None:
        if self.server is None:
            return None
        found = self.server.connections
        return ConnectionCounts(open=found.open, refused=dict(found.refused))

    @property
    def _unreachable(self) -> Mapping[str, str]:
        return {} if self.server is None else self.server.unreachable


class Supervisor:
    """Runs the loops of optional parts; `failing` says which of them wait for another try, and why."""

    def __init__(self, rule: BreakerRule | None = None) -> None:
        self.failing: dict[str, str] = {}
        self.restarts: Counter[str] = Counter()
        """How often each was started again."""
        self._rule = rule

    async def keep(self, name: str, loop: Callable[[], Loop]) -> None:
        """Run a loop until it returns; after a failure run it again, later each time."""
        retry = Retry(self._rule)
        while True:
            try:
                await loop()
            except Exception as exc:
                log.exception("a part failed and is started again", part=name)
                self.failing[name] = f"{type(exc).__name__}: {exc}"
                try:
                    await asyncio.sleep(retry.failed())
                finally:
                    # also of a part that goes meanwhile, with what a reload exchanges
                    self.failing.pop(name, None)
                self.restarts[name] += 1
            else:
                return
