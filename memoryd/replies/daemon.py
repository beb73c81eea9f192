"""Replies about the daemon's process: its configuration, page link, connections, port, heartbeats, log and load."""

from typing import TypedDict


class ConfigReply(TypedDict):
    """The source of the configuration, and remarks for its owner."""

    source: str | None
    """The file, absolute; null if there is none, and on an agent's socket."""
    notices: list[str]
    """Remarks about it, one sentence each; empty on an agent's socket."""
    loadedAt: str
    """When the present configuration was loaded, ISO 8601 in UTC."""
    needsRestart: list[str]
    """The changed keys that take effect when the daemon is restarted; empty on an agent's socket."""
    problems: list[str]
    """Why the last reload failed; empty after a successful one, and on an agent's socket."""
    failedAt: str | None
    """The time of the failed reload, ISO 8601 in UTC; null without problems."""


class PageReply(TypedDict):
    """A link to the web page."""

    url: str
    """The URL, with a one-time token after `#`."""
    host: str
    """The loopback address of the page."""
    port: int
    """The port of the page."""
    expiresSeconds: float
    """How many seconds the link is valid."""


class ConnectionsReply(TypedDict):
    """Open connections, and refused connections since the start of the daemon."""

    open: int
    """How many connections are open now."""
    refused: dict[str, int]
    """How many connections were refused since the start of the daemon, by reason."""


class UnreachableReply(TypedDict):
    """A socket whose path does not lead to this daemon."""

    socket: str
    """The name of the socket: `owner`, or `agent:<id>:<number>`."""
    reason: str
    """Why its path does not lead here."""


class PortReply(TypedDict):
    """The loopback port."""

    address: str
    """The address of the port, even if it is not open."""
    open: bool
    """Whether it is open."""
    reason: str | None
    """Why it is not open; null if it is."""
    tokenFile: str
    """The path of the file with the token, absolute."""
    connections: int
    """How many connections are open now."""
    refused: dict[str, int]
    """How many requests were refused since the start of the daemon, by reason."""


class HeartbeatReply(TypedDict):
    """A part that must never hang, and its last sign of life."""

    name: str
    """The part: `event loop`, `watcher`, `indexer main`, `writer of index main` and others."""
    state: str
    """`idle`: no work; `working`; or `stalled`: at work, and silent for longer than its limit."""
    ageSeconds: float
    """How long it has been silent while at work, in seconds of running time; 0 without work."""
    limitSeconds: float
    """How long it may be silent while at work, in seconds; after that the daemon is restarted."""


class LogReply(TypedDict):
    """The destination of the log."""

    destination: str
    """`journal`, `file` (memoryd's own log file), or `stderr`; `memoryctl logs` reads the first two."""
    path: str | None
    """The path of the log file, absolute; null if there is none."""
    bytes: int
    """The size of the log file and its rotated files, in bytes."""
    maxBytes: int
    """The maximum size of these files together, in bytes; 0 without a file."""
    leftOut: int
    """How many repeated events were counted but not logged since the start of the daemon."""
    reason: str | None
    """Why the last event is not in the file; null if it is."""


class LoadReply(TypedDict):
    """The resources that the process uses, and their limits."""

    requests: int
    """How many requests are being processed, without event streams and requests for health or status."""
    maxRequests: int
    """How many requests may be processed at once: `limits.maxRequests`."""
    refusedRequests: int
    """How many requests were refused as `overloaded` since the start of the daemon."""
    openFiles: int
    """How many file descriptors are open."""
    maxOpenFiles: int
    """How many file descriptors may be open; connections are refused from three quarters of this number."""
    threads: int
    """How many Python threads there are."""


class ProcessReply(TypedDict):
    """The state of the daemon's process."""

    heartbeats: list[HeartbeatReply]
    """The parts that must never hang; empty in the first second."""
    load: LoadReply
    """The resources that it uses, and their limits."""
    log: LogReply
    """The destination of the log."""
