"""What status says of the process: its configuration, port, heartbeats, log, and what it has in use."""

from typing import TypedDict


class ConfigReply(TypedDict):
    """Where the configuration came from and what its owner should know."""

    source: str | None
    """The file, absolute; null if there is none, and on an agent's socket."""
    notices: list[str]
    """What to know of it, one sentence each; empty on an agent's socket."""
    loadedAt: str
    """When the configuration that holds was loaded, ISO 8601 in UTC."""
    needsRestart: list[str]
    """The keys that were changed and take effect when the daemon is started again; empty on an agent's socket."""
    problems: list[str]
    """Why the last reload took nothing; empty since one succeeded, and on an agent's socket."""
    failedAt: str | None
    """When that reload was, ISO 8601 in UTC; null without problems."""


class PageReply(TypedDict):
    """A link to the page."""

    url: str
    """The address, with the token that lets in behind `#`: it is good once."""
    host: str
    """The address of loopback that it is on."""
    port: int
    """The port that it is on."""
    expiresSeconds: float
    """For how many seconds it lets in."""


class ConnectionsReply(TypedDict):
    """Open connections, and how many were turned away since the start, by reason."""

    open: int
    """How many are open now."""
    refused: dict[str, int]
    """How many were turned away since the start of the daemon, by reason."""


class UnreachableReply(TypedDict):
    """A socket whose path does not lead to this daemon."""

    socket: str
    """The name of the socket: `owner`, or `agent:<id>:<number>`."""
    reason: str
    """Why its path does not lead here."""


class PortReply(TypedDict):
    """The loopback port."""

    address: str
    """Where it is, or is to be."""
    open: bool
    """Whether it is open."""
    reason: str | None
    """Why it is not open as it should be; null if it is."""
    tokenFile: str
    """The file that holds the token, absolute."""
    connections: int
    """How many connections are open now."""
    refused: dict[str, int]
    """How many requests were refused since the start of the daemon, by reason."""


class HeartbeatReply(TypedDict):
    """A part that must never be stuck, and its last sign of life."""

    name: str
    """The part: `event loop`, `watcher`, `indexer main`, `writer of index main` and others."""
    state: str
    """`idle` while it has nothing to do, `working`, or `stalled`: at work, and silent for longer than it may be."""
    ageSeconds: float
    """How long it has been silent while at work, in seconds of running time; 0 while it has nothing to do."""
    limitSeconds: float
    """How long it may be silent while at work, in seconds; beyond that the daemon is restarted."""


class LogReply(TypedDict):
    """Where the log goes."""

    destination: str
    """`journal`, `file` for a file of our own, or `stderr`; `memoryctl logs` reads the first two."""
    path: str | None
    """The file of our own, absolute; null if there is none."""
    bytes: int
    """How long it is, with those that were rotated away, in bytes."""
    maxBytes: int
    """How long these may become together, in bytes; 0 without a file."""
    leftOut: int
    """How many events were counted and not logged since the start of the daemon, since they repeated."""
    reason: str | None
    """Why the last event is not in the file; null if it is."""


class LoadReply(TypedDict):
    """What the process has in use of what it may."""

    requests: int
    """How many requests are at work, but for those that ask for health or status and event streams."""
    maxRequests: int
    """How many may be: `limits.maxRequests`."""
    refusedRequests: int
    """How many were refused as `overloaded` since the start of the daemon."""
    openFiles: int
    """How many files, sockets and the like are open."""
    maxOpenFiles: int
    """How many may be; connections are refused while three quarters of these are open."""
    threads: int
    """How many threads of Python there are."""


class ProcessReply(TypedDict):
    """How the process of the daemon does."""

    heartbeats: list[HeartbeatReply]
    """The parts that must never be stuck; empty in the first second."""
    load: LoadReply
    """What it has in use of what it may."""
    log: LogReply
    """Where the log goes."""
