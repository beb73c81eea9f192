"""What stops in between says what was done, and what is not known is not shown."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from memoryd.agents.retained.changes import AgentChanges
from memoryd.agents.turns.told import AgentTold
from memoryd.domain.access import Admitted
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book
from memoryd.domain.text.sanitizing import KeepVersion
from memoryd.errors import InvalidRequest, StoreError
from tests.store.test_told_rows import turn

UNUSED: Any = None


async def test_conflict_that_is_settled_half_says_what_was_written() -> None:
    async def read(_path: str) -> SimpleNamespace:
        return SimpleNamespace(text="mine")

    async def change(path: str, _edit: object, **_: object) -> SimpleNamespace:
        if path != "memory/plan.md":
            raise InvalidRequest("it was edited meanwhile, and stays")
        return SimpleNamespace(id=7, is_written=True)

    journal: Any = SimpleNamespace(check_writable=lambda: None, read=read, change=change, one_at_a_time=asyncio.Lock())
    changes = AgentChanges(journal=journal, usage=UNUSED, index=UNUSED, proposals=UNUSED, tombstones=UNUSED, now=UNUSED)
    copy = RelativePath("memory/plan (conflicted copy 2026-11-03).md")
    with pytest.raises(InvalidRequest, match=r"stays; memory/plan\.md was written before it") as caught:
        await changes.settle_conflict(copy, KeepVersion.COPY)
    assert "undo 7" in caught.value.hint


async def test_what_was_told_in_a_session_that_cannot_be_read_is_not_shown() -> None:
    async def some(*_: object, **__: object) -> list[Any]:
        return [turn(2, session="damaged"), turn(1, session="gone")]

    async def now() -> Book:
        return Book({})

    async def find(name: str) -> None:
        if name == "damaged":
            raise StoreError("it is no JSON")

    told: Any = SimpleNamespace(some=some)
    book: Any = SimpleNamespace(now=now)
    sessions: Any = SimpleNamespace(find=find)
    reply = await AgentTold("main", told, book, sessions).some(Admitted("main", is_direct=True), 10)
    assert [one["session"] for one in reply["turns"]] == ["gone"]
