"""Agents report half-done work, unreachable disks and damaged sessions, and sum the counters of their parts."""

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memoryd.agents.retained.changes import AgentChanges
from memoryd.agents.status.figures import sum_counters
from memoryd.agents.turns.shown import ShownMemories
from memoryd.agents.workspace.index import PathState, WorkspacePath
from memoryd.domain.access import Admitted
from memoryd.domain.counters import CacheUses
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.changes.replacing import find_disagreement
from memoryd.domain.text.sanitizing import KeepVersion
from memoryd.errors import InvalidRequest, StoreError
from memoryd.search.arms import ArmTimes
from tests.store.test_told_rows import turn

UNUSED: Any = None


async def test_half_settled_conflict_names_the_change_that_was_written() -> None:
    async def read(_path: str) -> SimpleNamespace:
        return SimpleNamespace(text="mine")

    async def change(path: str, _edit: object, **_: object) -> SimpleNamespace:
        if path != "memory/plan.md":
            raise InvalidRequest("it has been edited since, and stays")
        return SimpleNamespace(id=7, is_written=True)

    journal: Any = SimpleNamespace(check_writable=lambda: None, read=read, change=change, write_lock=asyncio.Lock())
    changes = AgentChanges(journal=journal, usage=UNUSED, index=UNUSED, proposals=UNUSED, tombstones=UNUSED, now=UNUSED)
    copy = RelativePath("memory/plan (conflicted copy 2026-11-03).md")
    with pytest.raises(InvalidRequest, match="stays") as caught:
        await changes.settle_conflict(copy, KeepVersion.COPY)
    assert caught.value.hint == "written before it; as the same agent: undo 7"


class HangingPath(type(Path())):  # type: ignore[misc]
    """A folder on a disk that does not answer."""

    answers = threading.Event()

    def is_dir(self, **_: Any) -> bool:
        """Answer when the disk does."""
        return self.answers.wait(60)


async def test_hanging_disk_blocks_one_thread_and_not_the_status(tmp_path: Path) -> None:
    index: Any = SimpleNamespace(rules=SimpleNamespace(workspace=tmp_path))
    path = WorkspacePath(HangingPath(tmp_path), index)
    before = threading.active_count()
    for _ in range(4):
        assert await path.check(0.01) == PathState()
    assert threading.active_count() <= before + 1
    HangingPath.answers.set()
    assert await path.check() == PathState()
    gone: Any = SimpleNamespace(rules=SimpleNamespace(workspace=tmp_path / "gone"))
    assert await WorkspacePath(tmp_path / "gone", gone).check() == PathState(has_folder=False)


async def test_memories_shown_in_an_unreadable_session_are_not_listed() -> None:
    async def some(*_: object, **__: object) -> list[Any]:
        return [turn(2, session="damaged"), turn(1, session="gone")]

    async def current() -> Book:
        return Book({})

    async def find(name: str) -> None:
        if name == "damaged":
            raise StoreError("it is no JSON")

    shown_rows: Any = SimpleNamespace(listing=some)
    book: Any = SimpleNamespace(current=current)
    sessions: Any = SimpleNamespace(find=find)
    reply = await ShownMemories("main", shown_rows, book, sessions).listing(Admitted("main", is_direct=True), 10)
    assert [shown["session"] for shown in reply["turns"]] == ["gone"]


def test_vectors_of_conversations_are_counted() -> None:
    index: Any = SimpleNamespace(held_bytes=40)
    search: Any = SimpleNamespace(times=ArmTimes(), vector_index=index)
    conversation: Any = SimpleNamespace(search=search, embedding_loop=SimpleNamespace(uses=CacheUses(hits=2)))
    counted = sum_counters(indexes=[], sidecars=[], conversations=[conversation], books=[])
    assert (counted.vector_bytes, counted.caches["vectors"].hits) == (40, 2)


def test_unknown_name_of_a_disagreement_is_not_found() -> None:
    with pytest.raises(LookupError):
        find_disagreement("part of", [])
