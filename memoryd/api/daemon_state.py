"""What the process says of itself for status, and what it takes of the machine."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct, field

from memoryd.domain.clock import Heartbeat


class ConnectionCounts(Struct, frozen=True):
    """Open connections, and how many were turned away since the start, by reason."""

    open: int
    refused: Mapping[str, int]


class PortState(Struct, frozen=True, kw_only=True):
    """The loopback port at one moment; `trouble`: why it is not open as it should be; `refused` counts by reason."""

    address: str
    token_file: Path
    is_open: bool
    trouble: str
    connections: int
    refused: Mapping[str, int]


class PageLink(Struct, frozen=True):
    """A link to the page, which lets in once, for so many seconds."""

    url: str
    host: str
    port: int
    seconds: float


class LoadState(Struct, frozen=True, kw_only=True):
    """What is in use of what there may be; `refused_requests` counts since the start."""

    requests: int
    max_requests: int
    refused_requests: int
    open_files: int
    max_open_files: int
    threads: int


class LogState(Struct, frozen=True):
    """Where the log goes: `journal`, `file` or `stderr`; `trouble`: why the last line is not in the file."""

    destination: str
    path: Path | None
    bytes: int
    max_bytes: int
    trouble: str | None
    left_out: int
    """Events that were counted and not logged, since they repeated."""


class ReloadResult(Struct, frozen=True):
    """What came of a reload: without `is_reloaded` the configuration is the one of before, for these `problems`."""

    is_reloaded: bool
    changed: Sequence[str] = ()
    needs_restart: Sequence[str] = ()
    problems: Sequence[str] = ()
    notices: Sequence[str] = ()


class ConfigState(Struct, frozen=True, kw_only=True):
    """The configuration that holds, and what came of the last try to load another one."""

    source: Path | None
    notices: Sequence[str]
    loaded_at: datetime
    needs_restart: Sequence[str] = ()
    """Keys whose values in the file have no effect yet."""
    problems: Sequence[str] = ()
    """Why the file, as it was at the last reload, could not be taken."""
    failed_at: datetime | None = None


class DaemonState(Struct, frozen=True, kw_only=True):
    """The process at one moment; `connections` is None before it listens."""

    version: str
    pid: int
    uptime_seconds: float
    rss_bytes: int
    socket: str
    config: ConfigState
    connections: ConnectionCounts | None
    unreachable: Mapping[str, str]
    """Socket name → why its path does not lead to this daemon."""
    heartbeats: Sequence[Heartbeat]
    log: LogState
    load: LoadState
    port: PortState | None
    """None where it is off."""
    page_address: str = ""
    """Where the page is served; the port may be opened for it alone."""
    restarts: Mapping[str, int] = field(default_factory=dict)
    """Loop → how often it was started again after a failure."""


class ProcessUsage(Struct, frozen=True, kw_only=True):
    """One process: its memory, its time of processors since its start, its threads and open files."""

    rss_bytes: int
    cpu_seconds: float
    threads: int
    files: int


def process_usage(pid: int) -> ProcessUsage | None:
    """Return what a process takes, None if there is none of this number, or another one may not look at it."""
    # here: only the status asks
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            spent = process.cpu_times()
            return ProcessUsage(
                rss_bytes=process.memory_info().rss,
                cpu_seconds=spent.user + spent.system,
                threads=process.num_threads(),
                files=process.num_fds(),
            )
    except (psutil.Error, OSError):
        return None
