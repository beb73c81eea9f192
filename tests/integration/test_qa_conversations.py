"""Stored turns as conversations: found soon after they are added, and gone when forgotten."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoryd.agents.search import STILL_READING
from memoryd.domain.documents import SessionId, turns_path
from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.errors import NotFound
from memoryd.search.protocol import Arm, ArmState
from memoryd.sessions.qa_store import QaStore
from memoryd.sessions.session_files import SessionFiles, StoredSession
from tests.integration.conversing import Talk, talking
from tests.waiting import eventually_async

BEGUN = datetime(2026, 10, 18, 12, tzinfo=UTC)
NAME = "discord-wen-20261018"
PATH = turns_path(NAME)


@pytest.fixture
async def talk(tmp_path: Path) -> AsyncIterator[Talk]:
    async with talking(tmp_path) as running:
        yield running


def say(store: QaStore, *questions: str, session: str = NAME, agent: str = "main", at: datetime = BEGUN) -> None:
    for number, question in enumerate(questions):
        assert store.turns.append(session, RawTurn(question, None, at + timedelta(seconds=number)), agent=agent)


async def stamp(talk: Talk, path: str = PATH) -> str:
    known = await talk.conversations.database.conversations.known()
    return {str(name): one.stamp for name, one in known.items()}.get(path, "")


async def test_new_turn_is_indexed_without_a_question(talk: Talk) -> None:
    await talk.sync()
    say(talk.store, "Where does the quetzal nest?")
    await eventually_async(lambda: talk.found("quetzal"))
    say(talk.store, "And the toucan?")
    await eventually_async(lambda: talk.found("toucan"))
    assert await talk.found("toucan") == [f"{PATH} 1-3"]


async def test_turn_not_read_in_time_makes_the_arm_partial(talk: Talk) -> None:
    say(talk.store, "Where does the quetzal nest?")
    await talk.sync()
    async with talk.conversations.writer.lock:
        say(talk.store, "And the toucan?")
        await asyncio.sleep(0)
        for seconds in (0, 0.05):
            partial = Arm(ArmState.PARTIAL, STILL_READING)
            assert await talk.asked("toucan", fresh_seconds=seconds) == (partial, False)
            assert await talk.asked("quetzal", fresh_seconds=seconds) == (partial, True)
    arm, is_found = await talk.asked("toucan", fresh_seconds=20)
    assert (arm.state, is_found) == (ArmState.OK, True)


async def test_each_turn_has_two_lines(talk: Talk) -> None:
    say(talk.store, "Where does the quetzal nest?", "And the\n\ntoucan?")
    talk.store.turns.mark(SessionId(NAME), 1, "In a hole of a dead tree.", agent="main")
    assert await talk.sync() == ""
    lines = await talk.conversations.lines(PATH, 1, 4)
    assert lines == {
        1: "User: Where does the quetzal nest?",
        2: "Assistant: In a hole of a dead tree.",
        3: "User: And the toucan?",
    }
    talk.store.turns.mark(SessionId(NAME), 1, None, agent="main")
    await talk.sync()
    assert (await talk.conversations.lines(PATH, 1, 4)).keys() == {1, 3}


async def test_restart_reads_only_changed_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with talking(tmp_path) as talk:
        for day in range(5):
            say(talk.store, f"What about day {day}?", session=f"discord-wen-2026101{day}")
        await talk.sync()
        talk.store.sessions.flush()
    read: list[str] = []
    whole = SessionFiles.read

    def record_read(files: SessionFiles, name: SessionId) -> StoredSession | None:
        read.append(name)
        return whole(files, name)

    monkeypatch.setattr(SessionFiles, "read", record_read)
    async with talking(tmp_path) as talk:
        await talk.sync()
        assert read == []
        say(talk.store, "And the quetzal?", session="discord-wen-20261013")
        await eventually_async(lambda: talk.found("quetzal"))
        assert set(read) == {"discord-wen-20261013"}


async def test_archived_session_stays_and_survives_a_lost_index(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        say(talk.store, "Where does the quetzal nest?")
        await talk.sync()
        assert talk.store.archive.put_away(BEGUN + timedelta(days=100)) == [NAME]
        await eventually_async(lambda: _is_archived(talk))
        assert await talk.found("quetzal") == [f"{PATH} 1-1"]
        before = await talk.dump()
    for file in tmp_path.glob("conversations-main.sqlite*"):
        file.unlink()
    async with talking(tmp_path) as talk:
        await talk.sync()
        assert await talk.dump() == before


async def _is_archived(talk: Talk) -> bool:
    return (await stamp(talk)).startswith("archive")


async def test_forgotten_session_is_erased_and_may_begin_anew(tmp_path: Path, talk: Talk) -> None:
    say(talk.store, "Where does the quetzalcoatlus nest?")
    await talk.sync()
    talk.store.forget(SessionId(NAME), agent="main")
    assert await talk.conversations.forget(PATH) == 1
    assert await talk.found("quetzalcoatlus") == []
    with pytest.raises(NotFound):
        await talk.conversations.lines(PATH, 1, 2)
    await talk.sync()
    await talk.conversations.database.checkpoint()
    assert b"quetzalcoatlus" not in _bytes(tmp_path)
    say(talk.store, "Where does the heron nest?")
    await talk.sync()
    assert await talk.found("heron") == [f"{PATH} 1-1"]


async def test_deleted_or_withheld_session_leaves_the_index(tmp_path: Path, talk: Talk) -> None:
    say(talk.store, "Where does the quetzal nest?")
    say(talk.store, "Where does the heron nest?", session="discord-an-20261018")
    await talk.sync()
    (tmp_path / "notes" / "memory" / "sessions" / f"{NAME}.json").unlink()
    talk.store.turns.set_remembered(SessionId("discord-an-20261018"), False, agent="main")
    await talk.sync()
    assert await talk.found("quetzal") == []
    assert await talk.found("heron") == []
    assert await talk.conversations.database.conversations.known() == {}


async def test_unmounted_workspace_keeps_indexed_sessions(tmp_path: Path, talk: Talk) -> None:
    say(talk.store, "Where does the quetzal nest?")
    await talk.sync()
    away = (tmp_path / "notes").rename(tmp_path / "away")
    assert await talk.sync() == ""
    assert await talk.found("quetzal") == [f"{PATH} 1-1"]
    away.rename(tmp_path / "notes")
    await talk.sync()
    assert talk.conversations.trouble is None
    assert await talk.found("quetzal") == [f"{PATH} 1-1"]


async def test_damaged_session_stays_indexed_and_stops_no_other(tmp_path: Path, talk: Talk) -> None:
    say(talk.store, "Where does the quetzal nest?")
    await talk.sync()
    (tmp_path / "notes" / "memory" / "sessions" / f"{NAME}.json").write_text("{")
    say(talk.store, "Where does the heron nest?", session="discord-an-20261018")
    await talk.sync()
    assert await talk.found("quetzal") == [f"{PATH} 1-1"]
    assert await talk.found("heron") == [f"{turns_path('discord-an-20261018')} 1-1"]


async def test_unreadable_archived_session_affects_only_itself(tmp_path: Path, talk: Talk) -> None:
    archive = tmp_path / "notes" / "memory" / "archive"
    archive.mkdir()
    (archive / "old.json").write_text("{")
    say(talk.store, "Where does the quetzal nest?")
    assert await talk.sync() == ""
    assert await talk.found("quetzal") == [f"{PATH} 1-1"]
    feeder, *_ = talk.conversations.feeders
    assert list(feeder.failures) == [turns_path("old")]


async def test_each_agent_has_its_own_index_file(tmp_path: Path) -> None:
    async with talking(tmp_path, agent="main") as one:
        say(one.store, "Where does the quetzal nest?")
        say(one.store, "Where does the heron nest?", session="discord-an-20261018", agent="other")
        one.store.archive.put_away(BEGUN + timedelta(days=100))
        say(one.store, "Where does the toucan nest?", session="discord-li-20261018", agent="other")
        async with talking(tmp_path, agent="other") as two:
            await one.sync()
            await two.sync()
            assert await two.found("heron toucan quetzal") == [
                f"{turns_path('discord-an-20261018')} 1-1",
                f"{turns_path('discord-li-20261018')} 1-1",
            ]
            assert await one.found("heron toucan quetzal") == [f"{PATH} 1-1"]
    assert b"quetzal" not in (tmp_path / "conversations-other.sqlite").read_bytes()
    assert b"heron" not in (tmp_path / "conversations-main.sqlite").read_bytes()


async def test_long_session_read_in_steps_equals_one_that_grew(tmp_path: Path) -> None:
    async with talking(tmp_path) as talk:
        for begin in range(0, 600, 150):
            say(talk.store, *(f"What is question {number}?" for number in range(begin, begin + 150)))
            await talk.sync()
        grown = await talk.dump()
        assert (await talk.conversations.database.conversations.counts()).parts > 5
    for file in tmp_path.glob("conversations-main.sqlite*"):
        file.unlink()
    async with talking(tmp_path) as talk:
        await talk.sync()
        assert await talk.dump() == grown


async def test_gap_in_turn_numbers_is_harmless(tmp_path: Path, talk: Talk) -> None:
    say(talk.store, "Where does the quetzal nest?", "And the toucan?")
    file = tmp_path / "notes" / "memory" / "sessions" / f"{NAME}.json"
    file.write_text(json.dumps(json.loads(file.read_text())).replace('"seq": 2', '"seq": 900000000'))
    await talk.sync()
    assert await talk.found("toucan") == [f"{PATH} 1799999999-1799999999"]


async def test_vectors_of_notes_come_first(tmp_path: Path) -> None:
    async with talking(tmp_path, is_embedding=True) as talk:
        # the embedding loop of the notes is woken and may have work
        talk.notes.wake()
        say(talk.store, "Where does the quetzal nest?")
        await talk.sync()
        assert "notes" in str(await talk.conversations.embedding_loop.wait_until_embedded())
        assert talk.embedder.embedded == []
        notes = asyncio.create_task(talk.notes.run())
        try:
            await eventually_async(
                lambda: not talk.conversations.embedding_loop.missing_vectors and talk.embedder.embedded
            )
        finally:
            notes.cancel()
        assert await talk.conversations.embedding_loop.wait_until_embedded() is None


async def test_vectors_of_forgotten_session_are_deleted(tmp_path: Path) -> None:
    async with talking(tmp_path, is_embedding=True) as talk:
        say(talk.store, "Where does the quetzal nest?")
        say(talk.store, "Where does the toucan nest?", session="other")
        await talk.sync()
        await eventually_async(lambda: len(talk.embedder.embedded) == 2)
        await talk.conversations.embedding_loop.wait_until_embedded()
        documents = talk.conversations.database.documents
        assert (await documents.counts()).vectors == 2
        talk.store.forget(SessionId(NAME), agent="main")
        assert await talk.conversations.forget(PATH) == 1
        assert (await documents.counts()).vectors == 1
        await talk.sync()
        assert not await talk.found("quetzal")
        assert await talk.found("toucan")


async def test_foreign_index_file_affects_only_conversations(tmp_path: Path) -> None:
    file = tmp_path / "conversations-main.sqlite"
    file.write_bytes(b"no database at all" * 1000)
    async with talking(tmp_path) as talk:
        say(talk.store, "Where does the quetzal nest?")
        assert "is not an index of memoryd" in await talk.sync()
        assert await talk.found("quetzal") == []
        assert "is not an index of memoryd" in str(talk.conversations.trouble)
        file.unlink()
        await eventually_async(lambda: talk.found("quetzal"))


def _bytes(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.glob("conversations-main.sqlite*"))


async def test_session_being_forgotten_is_not_indexed(talk: Talk) -> None:
    say(talk.store, "Where does the quetzal nest?")
    await talk.sync()
    assert await talk.found("quetzal")
    await talk.conversations.withheld.begin_forgetting(PATH)
    await talk.sync()
    assert not await talk.found("quetzal")
    assert await talk.conversations.parts(PATH) == 0
    await talk.conversations.withheld.end_forgetting(PATH)
    await talk.sync()
    assert await talk.found("quetzal")
