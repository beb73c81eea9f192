"""The daemons that are measured: each in a folder of its own, with the log of an ordinary run."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.measurement import Bench
from bench.timing import Stopwatch, poll, sampled
from memoryd.client import Client
from memoryd.errors import DaemonNotRunning
from memoryd.replies.status import AgentStatus
from tests.daemon import RunningDaemon, write_config

START_SECONDS = 60.0
SYNC_SECONDS = 3600.0
MIB = 2**20


def prepared(bench: Bench, name: str, *, model: Path | None = None, **search: object) -> RunningDaemon:
    """Return a daemon that is not started, over an empty workspace, with `search` over its memorySearch section."""
    home = bench.folder / name
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    config = write_config(home, workspace, model, search=search)
    return RunningDaemon(home, config, workspace, environment={"MEMORYD_LOG_LEVEL": "INFO"})


@contextmanager
def running(
    bench: Bench, name: str, *, model: Path | None = None, search: Mapping[str, object] | None = None
) -> Iterator[RunningDaemon]:
    """Yield such a daemon at work, with everything on disk indexed."""
    with prepared(bench, name, model=model, **(search or {})) as daemon:
        settle(daemon.client())
        yield daemon


def settle(client: Client, *, embedded: bool = False) -> None:
    """Wait until everything on disk is indexed, and `embedded` if asked for."""
    limit_ms = int(SYNC_SECONDS * 1000)
    if not client.sync(wait="embedded" if embedded else "indexed", timeout_ms=limit_ms).get("complete"):
        raise TimeoutError(f"the index is not complete within {SYNC_SECONDS:g} s")


def launch(daemon: RunningDaemon) -> tuple[float, float]:
    """Start the daemon; return the seconds until it answers and until it is ready."""
    watch = Stopwatch()
    daemon.process = daemon.spawn()
    with Client(daemon.socket) as client:
        poll(lambda: _health(daemon, client)[0], seconds=START_SECONDS, step=0.002)
        answering = watch.seconds
        poll(lambda: _health(daemon, client)[1], seconds=START_SECONDS, step=0.002)
        return answering, watch.seconds


def agent(client: Client) -> AgentStatus:
    """Return the status of the one agent."""
    return client.status()["agents"][0]


def resident(pid: int) -> float:
    """Return the resident memory of a process, in MiB."""
    return float(psutil.Process(pid).memory_info().rss / MIB)


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a process has used; unlike the clock, it hardly depends on its neighbours."""
    if sys.platform == "linux":
        # the clock of that process, as clock_getcpuclockid(3) names it: nanoseconds, where its table has hundredths
        return time.clock_gettime(~pid << 3 | 2)
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


@contextmanager
def asking_health(daemon: RunningDaemon, step: float = 0.01) -> Iterator[list[float]]:
    """Ask for the health over and over while the block lasts; yield the list of what each answer took, in ms."""
    with Client(daemon.socket) as client, sampled(lambda: _health_ms(client), step=step) as answers:
        yield answers


def _health_ms(client: Client) -> float:
    watch = Stopwatch()
    client.health()
    return watch.ms


def _health(daemon: RunningDaemon, client: Client) -> tuple[bool, bool]:
    if daemon.process is not None and daemon.process.poll() is not None:
        raise RuntimeError(f"the daemon ended with {daemon.process.returncode}")
    try:
        health = client.health()
    except DaemonNotRunning:
        return False, False
    return health["ok"], health["ready"]
