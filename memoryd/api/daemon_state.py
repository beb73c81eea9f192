"""What the process says of itself, for status."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memoryd.domain.heartbeats import Heartbeat


@dataclass(frozen=True, slots=True)
class ConnectionCounts:
    """Open connections, and how many were turned away since the start, by reason."""

    open: int
    refused: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortState:
    """The loopback port at one moment; `trouble`: why it is not open as it should be; `refused` counts by reason."""

    address: str
    token_file: Path
    is_open: bool
    trouble: str
    connections: int
    refused: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LogState:
    """Where the log goes: `journal`, `file` or `stderr`; `trouble`: why the last line is not in the file."""

    destination: str
    path: Path | None
    bytes: int
    max_bytes: int
    trouble: str | None
    left_out: int
    """Events that were counted and not logged, since they repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonState:
    """The process at one moment; `connections` is None before it listens."""

    version: str
    pid: int
    uptime_seconds: float
    rss_bytes: int
    socket: str
    config_source: Path | None
    config_notices: Sequence[str]
    connections: ConnectionCounts | None
    unreachable: Mapping[str, str]
    """Socket name → why its path does not lead to this daemon."""
    heartbeats: Sequence[Heartbeat]
    log: LogState
    port: PortState | None
    """None where it is off."""
    restarts: Mapping[str, int] = field(default_factory=dict)
    """Loop → how often it was started again after a failure."""
