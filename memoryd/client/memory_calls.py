"""Calls that write and keep memories: retain, capture, forget, verify, the core file, transfer, memories one by one.

`memory_id` is an id, or the first eight characters of one. The core file is for the owner alone; an edit of it is not
sent twice: where the connection breaks before the reply, NotNow is raised, and it may have been made.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from memoryd.client.connection import DaemonConnection, target
from memoryd.client.conversation_calls import FORGET_MS
from memoryd.replies.changes import CoreEditReply, CoreReply, ForgetReply, VerifyReply
from memoryd.replies.conversations import CaptureReply
from memoryd.replies.memories import (
    ExportReply,
    ImportReply,
    MemoryAddReply,
    MemoryDecayReply,
    MemoryDeleteReply,
    MemoryEditReply,
    MemoryListReply,
    MemoryReplaceReply,
    MemoryReply,
    MemorySearchReply,
    MemoryStatsReply,
    MemoryWhyReply,
    RetainReply,
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


def replace_memory(
    memory: DaemonConnection,
    memory_id: str,
    text: str,
    *,
    in_place: bool = False,
    by_agent: bool = False,
    session_key: str | None = None,
    agent: str | None = None,
) -> MemoryReplaceReply:
    """Say what holds now in the place of a memory; raises NotFound, Denied. `by_agent`: a model says it."""
    body = {"text": text, "inPlace": in_place, "byAgent": by_agent, "sessionKey": session_key, "agent": agent}
    reply: MemoryReplaceReply = memory.call("POST", f"{_path(memory_id)}/replace", body)
    return reply


def _edited(memory: DaemonConnection, memory_id: str, what: str, body: Mapping[str, object]) -> MemoryEditReply:
    reply: MemoryEditReply = memory.call("POST", f"{_path(memory_id)}/{what}", body)
    return reply


def _path(memory_id: str) -> str:
    return f"/memories/{quote(memory_id, safe='')}"


def capture(
    memory: DaemonConnection, text: str, *, answer: str | None = None, dry_run: bool = False, agent: str | None = None
) -> CaptureReply:
    """Keep what a message states, or with `dry_run` say what would be kept, and why not the rest."""
    body = {"text": text, "answer": answer, "dryRun": dry_run, "agent": agent}
    reply: CaptureReply = memory.call("POST", "/capture", body)
    return reply


def core(memory: DaemonConnection, *, session_key: str | None = None, agent: str | None = None) -> CoreReply:
    """Show the core file, and `SOUL.md` beside it."""
    reply: CoreReply = memory.call("GET", target("/core", {"sessionKey": session_key, "agent": agent}))
    return reply


def core_append(
    memory: DaemonConnection,
    text: str,
    *,
    expected: str | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> CoreEditReply:
    """Add lines at the end of the core file."""
    return _edit(memory, "append", {"text": text, "expected": expected, "sessionKey": session_key, "agent": agent})


def core_replace(
    memory: DaemonConnection,
    old: str,
    new: str,
    *,
    expected: str | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> CoreEditReply:
    """Put a text in the place of one that stands in the core file once."""
    return _edit(
        memory, "replace", {"old": old, "new": new, "expected": expected, "sessionKey": session_key, "agent": agent}
    )


def core_insert(
    memory: DaemonConnection,
    text: str,
    *,
    after: str,
    expected: str | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> CoreEditReply:
    """Add lines below a line of the core file."""
    return _edit(
        memory,
        "insert",
        {"text": text, "after": after, "expected": expected, "sessionKey": session_key, "agent": agent},
    )


def _edit(memory: DaemonConnection, verb: str, body: dict[str, str | None]) -> CoreEditReply:
    # on a connection of its own, since a kept one that was closed meanwhile would be tried again
    memory.close()
    reply: CoreEditReply = memory.call("POST", f"/core/{verb}", body)
    return reply


def forget(
    memory: DaemonConnection, what: str, *, dry_run: bool = False, undoable: bool = False, agent: str | None = None
) -> ForgetReply:
    """Take a memory out of everything, or say what would go: by its id, a citation, or words that it says.

    With `undoable` it can be undone for 24 hours. Raises NotFound, Denied but for the owner.
    """
    body = {"target": what, "dryRun": dry_run, "undoable": undoable, "agent": agent}
    reply: ForgetReply = memory.call("POST", "/forget", body, wait_ms=FORGET_MS)
    return reply


def verify(
    memory: DaemonConnection, citation: str, *, session_key: str | None = None, agent: str | None = None
) -> VerifyReply:
    """Ask whether cited lines still stand, moved, were edited or are gone."""
    query = {"citation": citation, "sessionKey": session_key, "agent": agent}
    reply: VerifyReply = memory.call("GET", target("/verify", query))
    return reply


def retain(
    memory: DaemonConnection,
    text: str,
    *,
    each: bool = False,
    remember: bool = False,
    kind: str | None = None,
    importance: float | None = None,
    scope: str | None = None,
    entities: list[str] | None = None,
    at: str | None = None,
    replaces: str | None = None,
    in_place: bool = False,
    session_key: str | None = None,
    agent: str | None = None,
) -> RetainReply:
    """State a memory in today's log: a bullet such as `W @Peter: …`, or plain text; with `each` every bullet is one.

    What is sent twice is written once. `replaces` is the memory whose place it takes: its id, a citation, or words that
    it says; with `in_place` its own lines say it. Raises NotFound where that means none, or several.
    """
    body = {
        "text": text,
        "each": each,
        "remember": remember,
        "kind": kind,
        "importance": importance,
        "scope": scope,
        "entities": entities,
        "at": at,
        "replaces": replaces,
        "inPlace": in_place,
        "sessionKey": session_key,
        "agent": agent,
    }
    reply: RetainReply = memory.call("POST", "/retain", body)
    return reply


def export_memories(
    memory: DaemonConnection,
    *,
    after: str | None = None,
    limit: int | None = None,
    scope: str | None = None,
    agent: str | None = None,
) -> ExportReply:
    """Return a page of memories; `after` is the `next` of the page before."""
    asked = {"after": after, "limit": limit, "scope": scope, "agent": agent}
    reply: ExportReply = memory.call("GET", target("/memories/export", asked))
    return reply


def import_memories(
    memory: DaemonConnection,
    memories: list[dict[str, Any]],
    *,
    run: str,
    dry_run: bool = False,
    with_secrets: bool = False,
    agent: str | None = None,
) -> ImportReply:
    """State memories as an export has them, 100 at most; `run` is what all of them are undone by."""
    body = {"memories": memories, "run": run, "dryRun": dry_run, "withSecrets": with_secrets, "agent": agent}
    reply: ImportReply = memory.call("POST", "/memories/import", body)
    return reply
