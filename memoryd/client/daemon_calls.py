"""Calls about the daemon: what it does and lacks, what it has still to do, and what happens."""

from collections.abc import Generator

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.daemon import HealthReply, ReindexReply, ReloadReply, ServerEvent, SyncReply
from memoryd.replies.status import StatusReply
from memoryd.wire import SyncGoal

RELOAD_MS = 14 * 60_000
"""How long it may take: the daemon waits for what is in flight."""


def health(memory: DaemonConnection) -> HealthReply:
    """Say whether the daemon is up (`ok`) and its index has been read once (`ready`)."""
    reply: HealthReply = memory.call("GET", "/health")
    return reply


def status(memory: DaemonConnection) -> StatusReply:
    """Report the daemon's state, per agent."""
    reply: StatusReply = memory.call("GET", "/status")
    return reply


def metrics(memory: DaemonConnection) -> str:
    """Return what is counted and how things stand, in the text format of Prometheus."""
    return memory.text("/metrics")


def sync(
    memory: DaemonConnection, wait: SyncGoal = "indexed", timeout_ms: int | None = None, agent: str | None = None
) -> SyncReply:
    """Wait until what is on disk now is found by words ("indexed") or by vector too ("embedded").

    `timeout_ms` defaults to the client's time-out. When it passes, the reply says `complete: false` and
    what is pending; the work goes on.
    """
    limit_ms = int(memory.timeout * 1000) if timeout_ms is None else timeout_ms
    body = {"agent": agent, "wait": wait, "timeoutMs": limit_ms}
    reply: SyncReply = memory.call("POST", "/sync", body, wait_ms=limit_ms)
    return reply


def reindex(
    memory: DaemonConnection, force: bool = False, embeddings: bool = False, agent: str | None = None
) -> ReindexReply:
    """Start to read every file again (`force`) and to compute every vector again (`embeddings`)."""
    body = {"agent": agent, "force": force, "embeddings": embeddings}
    reply: ReindexReply = memory.call("POST", "/reindex", body)
    return reply


def reload(memory: DaemonConnection, is_dry: bool = False) -> ReloadReply:
    """Have the daemon read its configuration again, and bring to bear what changed; nothing else is interrupted.

    With `is_dry` it only says what would change.
    """
    path = target("/reload", {"dryRun": "true"}) if is_dry else "/reload"
    reply: ReloadReply = memory.call("POST", path, wait_ms=RELOAD_MS)
    return reply


def events(
    memory: DaemonConnection, *, agent: str | None = None, session_key: str | None = None, silence: float | None = None
) -> Generator[ServerEvent, None, None]:
    """Yield events of indexing, embedding and degradation as they happen, on a connection of its own.

    Ends when the daemon stops; raises DeadlineExceeded after `silence` seconds without a byte.
    """
    query = {"agent": agent, "sessionKey": session_key}
    yield from memory.stream(target("/events", query), silence)
