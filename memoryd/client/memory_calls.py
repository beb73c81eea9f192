"""Calls on memories one by one; `memory_id` is an id, or the first eight signs of one."""

from collections.abc import Mapping
from urllib.parse import quote

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.memories import (
    MemoryAddReply,
    MemoryDecayReply,
    MemoryDeleteReply,
    MemoryEditReply,
    MemoryListReply,
    MemoryReply,
    MemorySearchReply,
    MemoryStatsReply,
    MemoryWhyReply,
)


def memories(
    memory: DaemonConnection,
    *,
    scope: str | None = None,
    kind: str | None = None,
    tier: str | None = None,
    pinned: bool | None = None,
    tag: str | None = None,
    query: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> MemoryListReply:
    """List memories, the newest first; `query` holds words that all stand in them."""
    asked: dict[str, str | int | None] = {
        "scope": scope,
        "kind": kind,
        "tier": tier,
        "pinned": None if pinned is None else str(pinned).lower(),
        "tag": tag,
        "query": query,
        "limit": limit,
        "offset": offset,
        "sessionKey": session_key,
        "agent": agent,
    }
    reply: MemoryListReply = memory.call("GET", target("/memories", asked))
    return reply


def add_memory(
    memory: DaemonConnection,
    text: str,
    *,
    kind: str | None = None,
    importance: float | None = None,
    scope: str | None = None,
    tags: list[str] | None = None,
    pinned: bool = False,
    by_agent: bool = False,
    session_key: str | None = None,
    agent: str | None = None,
) -> MemoryAddReply:
    """State a memory in today's log; what is sent twice is written once. `by_agent`: a model states it."""
    body = {
        "text": text,
        "kind": kind,
        "importance": importance,
        "scope": scope,
        "tags": tags,
        "pinned": pinned,
        "byAgent": by_agent,
        "sessionKey": session_key,
        "agent": agent,
    }
    reply: MemoryAddReply = memory.call("POST", "/memories", body)
    return reply


def search_memories(
    memory: DaemonConnection,
    query: str,
    *,
    scope: str | None = None,
    kind: str | None = None,
    top_k: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> MemorySearchReply:
    """Find memories that answer, best first."""
    body = {
        "query": query,
        "scope": scope,
        "kind": kind,
        "top_k": top_k,
        "sessionKey": session_key,
        "agent": agent,
    }
    reply: MemorySearchReply = memory.call("POST", "/memories/search", body)
    return reply


def memory_stats(
    memory: DaemonConnection, *, session_key: str | None = None, agent: str | None = None
) -> MemoryStatsReply:
    """Count memories by tier, kind and scope."""
    reply: MemoryStatsReply = memory.call("GET", target("/memories/stats", {"sessionKey": session_key, "agent": agent}))
    return reply


def get_memory(
    memory: DaemonConnection, memory_id: str, *, session_key: str | None = None, agent: str | None = None
) -> MemoryReply:
    """Tell a memory; raises NotFound."""
    reply: MemoryReply = memory.call("GET", target(_path(memory_id), {"sessionKey": session_key, "agent": agent}))
    return reply


def why_memory(
    memory: DaemonConnection, memory_id: str, *, session_key: str | None = None, agent: str | None = None
) -> MemoryWhyReply:
    """Say why a memory stands where it does; raises NotFound."""
    query = {"sessionKey": session_key, "agent": agent}
    reply: MemoryWhyReply = memory.call("GET", target(f"{_path(memory_id)}/why", query))
    return reply


def decay_memories(
    memory: DaemonConnection,
    within: str = "90d",
    *,
    limit: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> MemoryDecayReply:
    """Say how memories will stand in so long if nobody touches them."""
    query = {"in": within, "limit": limit, "sessionKey": session_key, "agent": agent}
    reply: MemoryDecayReply = memory.call("GET", target("/memories/decay", query))
    return reply


def delete_memory(
    memory: DaemonConnection,
    memory_id: str,
    *,
    dry_run: bool = False,
    session_key: str | None = None,
    agent: str | None = None,
) -> MemoryDeleteReply:
    """Take out all lines that state a memory; raises NotFound, Denied."""
    query = {"dryRun": "true" if dry_run else None, "sessionKey": session_key, "agent": agent}
    reply: MemoryDeleteReply = memory.call("DELETE", target(_path(memory_id), query))
    return reply


def pin_memory(
    memory: DaemonConnection, memory_id: str, *, session_key: str | None = None, agent: str | None = None
) -> MemoryEditReply:
    """Pin a memory; raises NotFound, Denied."""
    return _edited(memory, memory_id, "pin", {"sessionKey": session_key, "agent": agent})


def unpin_memory(
    memory: DaemonConnection, memory_id: str, *, session_key: str | None = None, agent: str | None = None
) -> MemoryEditReply:
    """Take the pin of a memory away; raises NotFound, Denied."""
    return _edited(memory, memory_id, "unpin", {"sessionKey": session_key, "agent": agent})


def weigh_memory(
    memory: DaemonConnection,
    memory_id: str,
    importance: float,
    *,
    session_key: str | None = None,
    agent: str | None = None,
) -> MemoryEditReply:
    """Write how important a memory is, 0 to 1; raises NotFound, Denied."""
    body = {"importance": importance, "sessionKey": session_key, "agent": agent}
    return _edited(memory, memory_id, "importance", body)


def _edited(memory: DaemonConnection, memory_id: str, what: str, body: Mapping[str, object]) -> MemoryEditReply:
    reply: MemoryEditReply = memory.call("POST", f"{_path(memory_id)}/{what}", body)
    return reply


def _path(memory_id: str) -> str:
    return f"/memories/{quote(memory_id, safe='')}"
