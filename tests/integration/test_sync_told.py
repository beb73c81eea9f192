"""What could not be indexed is never told as done."""

import asyncio
from datetime import timedelta
from types import SimpleNamespace
from typing import cast

from memoryd.agents.conversations.showing import ConversationRooms, KeptConversations, ReadConversations


def synced(failures: dict[str, str], *, wait: bool = True) -> ReadConversations:
    """Ask for a sync where some conversations fail whenever they are read."""

    async def settled(tickets: object) -> str:
        return ""

    async def listed() -> list[object]:
        return [
            SimpleNamespace(is_remembered=True, reason=failures.get(path, "")) for path in ("a", "b", "c", "d", "e")
        ]

    index = SimpleNamespace(demand=list, settled=settled, failures=failures)
    listing = SimpleNamespace(all=listed)
    rooms = SimpleNamespace(index=index, listing=listing, forgetting=None, showing=None, qa=None)
    kept = KeptConversations("main", cast(ConversationRooms, rooms))
    return asyncio.run(kept.sync(wait=wait, limit=timedelta(seconds=20)))


def test_sync_is_complete_if_all_could_be_read() -> None:
    assert synced({}) == ReadConversations(5, 5, True, "")


def test_sync_names_what_could_not_be_read() -> None:
    told = synced(dict.fromkeys("dabc", "input/output error"))
    assert (told.conversations, told.indexed, told.is_complete) == (5, 1, False)
    assert told.reason == (
        "a: input/output error; b: input/output error; c: input/output error; 1 more cannot be indexed"
    )


def test_who_does_not_wait_is_not_told() -> None:
    assert synced({"a": "input/output error"}, wait=False) == ReadConversations(5, 4, True, "")
