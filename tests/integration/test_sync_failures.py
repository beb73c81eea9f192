"""A sync does not report conversations as done that could not be indexed."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from memoryd.agents.conversations.showing import StoredConversations
from memoryd.replies.conversations import SessionSyncReply


def synced(failures: dict[str, str], *, wait: bool = True) -> SessionSyncReply:
    """Sync where reading some conversations always fails."""

    async def settled(tickets: object) -> str:
        return ""

    async def listed() -> list[object]:
        return [{"remembered": True, "indexed": path not in failures} for path in ("a", "b", "c", "d", "e")]

    index: Any = SimpleNamespace(demand=list, wait_for_scan=settled, failures=failures)
    listing: Any = SimpleNamespace(all=listed)
    unused: Any = None
    kept = StoredConversations(agent="main", index=index, qa=unused, listing=listing, exports=None, forgetting=unused)
    return asyncio.run(kept.sync(wait=wait, limit=timedelta(seconds=20)))


def test_sync_is_complete_if_all_were_read() -> None:
    assert synced({}) == SessionSyncReply(conversations=5, indexed=5, complete=True, reason=None)


def test_sync_names_unreadable_conversations() -> None:
    reply = synced(dict.fromkeys("dabc", "input/output error"))
    assert (reply["conversations"], reply["indexed"], reply["complete"]) == (5, 1, False)
    assert reply["reason"] == (
        "a: input/output error; b: input/output error; c: input/output error; 1 more cannot be indexed"
    )


def test_sync_without_waiting_reports_no_failures() -> None:
    assert synced({"a": "input/output error"}, wait=False) == SessionSyncReply(
        conversations=5, indexed=4, complete=True, reason=None
    )
