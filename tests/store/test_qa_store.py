"""The files of the question-and-answer store: no turn is lost, foreign files stay, each agent has its own sessions."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import AnswerRetention, QaDocument, SessionStub, parse_document, parse_session
from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.domain.sessions.sequences import Chosen
from memoryd.domain.sessions.turns import Session
from memoryd.errors import Denied, MemorydError, NotFound, StoreError
from memoryd.search.ranking import commonness
from memoryd.sessions.main_file import TOPICS_HEAD
from memoryd.sessions.qa_store import QaMaintenance, QaStore
from memoryd.sessions.session_files import SessionFiles, StoredSession
from tests.store.children import child, kill_at_system_call
from tests.store.rows import bytes_in
from tests.sweeps import swept, whole_or
from tests.unit.domain.sessions.seven_turns import BEGUN, KEY, SEVEN
from tests.waiting import eventually_async

MAIN, TOPICS = "memory/qa-index.json", "memory/topics.txt"
NAME = "discord-常规-20260130"


def opened(workspace: Path, **settings: Any) -> QaStore:
    store = QaStore(workspace, commonness=commonness, **settings)
    store.sessions.open()
    return store


def say(
    store: QaStore, session: str, *questions: str, agent: str = "main", key: str = "", at: datetime = BEGUN
) -> None:
    for number, question in enumerate(questions):
        raw = RawTurn(question, None, at + timedelta(seconds=number))
        assert store.turns.append(session, raw, agent=agent, key=key)


def problems_of(store: QaStore) -> list[str]:
    reported = (f"{path}: {problem}" for path, problem, _ in store.sessions.session_problems())
    return [*store.sessions.main_problems, *reported]


def main_of(workspace: Path) -> dict[str, object]:
    value = json.loads((workspace / MAIN).read_bytes())
    assert isinstance(value, dict)
    return value


@pytest.fixture
def seven(tmp_path: Path) -> QaStore:
    store = opened(tmp_path)
    for raw in SEVEN:
        assert store.turns.append_by_key(KEY, raw, agent="main")
    store.sessions.flush()
    return store


def test_seven_turns_match_the_reference_files(seven: QaStore, tmp_path: Path) -> None:
    assert problems_of(seven) == []
    document = main_of(tmp_path)
    (session,) = parse_document((tmp_path / MAIN).read_bytes()).entries
    assert session == parse_session((tmp_path / f"memory/sessions/{NAME}.json").read_bytes())
    assert document["metadata"] == {
        "total_qa_pairs": 7,
        "stored_answers": 3,
        "compression_ratio": 0.43,
        "last_updated": "2026-01-30T18:26:00Z",
    }
    assert f"discord_config\tsession:{NAME}#Q2\n" in (tmp_path / TOPICS).read_text(encoding="utf-8")


def test_context_is_the_matching_sequence(seven: QaStore, tmp_path: Path) -> None:
    for store in (seven, opened(tmp_path)):
        found = store.find_turns("你觉得这个设计怎么样？", agent="main", current=NAME, turns=3)
        assert [turn.seq for turn in found.turns] == [5, 6, 7]
        assert found.choice.why is Chosen.CURRENT_MATCHES
        assert [turn.seq for turn in store.find_turns(None, agent="main", current=NAME).turns] == [3, 4, 5, 6, 7]


def test_session_ends_after_six_idle_hours(seven: QaStore) -> None:
    last = SEVEN[-1].timestamp
    assert seven.turns.session_for(KEY, "main", last + timedelta(hours=5)) == NAME
    assert seven.turns.session_for(KEY, "main", last + timedelta(hours=6)) == "discord-常规-20260131"
    assert seven.turns.session_for(KEY, "main", BEGUN - timedelta(hours=5)) == NAME
    assert seven.turns.session_for(KEY, "main", BEGUN - timedelta(hours=6)) == f"{NAME}-2"
    assert seven.turns.session_for(KEY, "other", last) == f"{NAME}-2"
    assert seven.turns.newest_session(KEY, "main") == NAME
    assert seven.turns.newest_session(KEY, "other") is None


def test_long_conversation_is_split_into_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryd.domain.sessions.names.MANY_TURNS", 10)
    monkeypatch.setattr("memoryd.domain.sessions.names.HALVING_TURNS", 2)
    store, at = opened(tmp_path), BEGUN
    said: list[str] = []
    while len(said) < 100:
        at += timedelta(seconds=10)
        said.append(f"does gauge {len(said)} tell the water?")
        assert store.turns.append_by_key(KEY, RawTurn(said[-1], None, at), agent="main")
    files = sorted((tmp_path / "memory/sessions").glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    sessions = sorted((parse_session(path.read_bytes()) for path in files if path.name[0] != "."), key=_created)
    assert [turn.question for one in sessions for turn in one.turns] == said
    assert [len(one.turns) for one in sessions] == [34, 34, 32]
    assert {one.key for one in sessions} == {KEY}


def _created(session: Session) -> datetime:
    return session.created


def test_full_session_takes_repeats_and_stays_withheld(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryd.domain.sessions.names.MANY_TURNS", 2)
    monkeypatch.setattr("memoryd.domain.sessions.names.HALVING_TURNS", 1)
    store, at = opened(tmp_path), BEGUN + timedelta(seconds=19)
    say(store, "day", *map(str, range(20)))
    store.turns.append("day", RawTurn("and now?", None, at), agent="main", key=KEY)
    later = RawTurn("and now?", None, at + timedelta(minutes=1))
    again = store.turns.append_by_key(KEY, later, agent="main", repeated=lambda session: session.turns[-1])
    assert again is not None
    assert (again.session, again.is_repeated) == ("day", True)
    store.turns.set_remembered(SessionId("day"), False, agent="main")
    assert store.turns.append_by_key(KEY, later, agent="main") is None


def test_late_turn_is_ordered_by_its_time(seven: QaStore, tmp_path: Path) -> None:
    at = SEVEN[2].timestamp + timedelta(seconds=1)
    added = seven.turns.append_by_key(KEY, RawTurn("was the umbrella yours?", None, at), agent="main")
    assert added is not None
    assert (added.session, added.turn.seq) == (NAME, 8)
    for store in (seven, opened(tmp_path)):
        found = store.find_turns("the umbrella", agent="main", current=NAME, turns=3)
        assert [turn.seq for turn in found.turns] == [3, 8, 4]
        last = store.find_turns(None, agent="main", current=NAME, turns=9)
        assert [turn.seq for turn in last.turns] == [1, 2, 3, 8, 4, 5, 6, 7]


def test_turn_of_an_earlier_day_gets_its_own_session(seven: QaStore) -> None:
    at = BEGUN - timedelta(days=2)
    added = seven.turns.append_by_key(KEY, RawTurn("what did the dentist say?", None, at), agent="main")
    assert added is not None
    assert added.session == "discord-常规-20260128"
    waiting = seven.turns.waiting(KEY, "main", at + timedelta(minutes=1))
    assert waiting is not None
    assert (waiting[0], waiting[1].question) == (added.session, "what did the dentist say?")
    assert seven.turns.session_for(KEY, "main", SEVEN[-1].timestamp) == NAME
    assert seven.turns.session_before(KEY, "main", at) == added.session
    assert seven.turns.session_before(KEY, "main", None) == NAME


def add_in_child(workspace: str, prefix: str, count: str) -> None:
    store = opened(Path(workspace))
    for number in range(int(count)):
        assert store.turns.append("shared", RawTurn(f"{prefix}{number}", None, BEGUN), agent="main")
        if number % 7 == 0:
            store.sessions.flush()


@pytest.mark.sweep
def test_concurrent_writers_lose_no_turn(tmp_path: Path) -> None:
    store, count = opened(tmp_path), whole_or(17, 25)
    with contextlib.ExitStack() as stack:
        children = [
            stack.enter_context(child("test_qa_store", "add_in_child", tmp_path, prefix, count)) for prefix in "ab"
        ]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda number: say(store, "shared", f"c{number}"), range(count)))
        assert [one.wait() for one in children] == [0, 0]
    session = store.sessions.read(SessionId("shared"), agent="main")
    assert {turn.question for turn in session.turns} == {
        f"{prefix}{number}" for prefix in "abc" for number in range(count)
    }
    assert [turn.seq for turn in session.turns] == list(range(1, 3 * count + 1))
    store.sessions.flush()
    (entry,) = parse_document((tmp_path / MAIN).read_bytes()).entries
    assert isinstance(entry, SessionStub)
    assert entry.turns == 3 * count


def die_at(workspace: str, fatal: str) -> None:
    """Add, flush and archive, reporting each added turn; be killed at the n-th system call."""
    store = opened(Path(workspace))
    kill_at_system_call(int(fatal))
    for step in range(3):
        say(store, "new", f"question {step}")
        os.write(1, b"a")
        store.sessions.flush()
    store.archive.put_away(BEGUN + timedelta(days=99))
    say(store, "old", "question again")
    os.write(1, b"o")
    store.sessions.flush()
    os.write(1, b"!")


@swept("fatal", range(1, 155), 2)
def test_killed_writer_leaves_whole_states(tmp_path: Path, fatal: int) -> None:
    store = opened(tmp_path)
    say(store, "old", "first question", "second question")
    store.sessions.flush()
    with child("test_qa_store", "die_at", tmp_path, fatal) as killed:
        assert killed.stdout is not None
        reported = killed.stdout.read()
        assert (killed.wait() == -signal.SIGKILL) != (b"!" in reported)
    after = opened(tmp_path)
    assert problems_of(after) == []
    old = after.sessions.read(SessionId("old"), agent="main")
    assert len(old.turns) in ({3} if b"o" in reported else {2, 3})
    new = questions_of(after, "new")
    assert new in (reported.count(b"a"), reported.count(b"a") + 1)
    after.sessions.flush()
    document = parse_document((tmp_path / MAIN).read_bytes())
    (tmp_path / MAIN).unlink()
    rebuilt = opened(tmp_path)
    rebuilt.sessions.flush()
    # no main file is written when all sessions are archived
    assert (parse_document((tmp_path / MAIN).read_bytes()) if document.entries else QaDocument()) == document


def questions_of(store: QaStore, name: str) -> int:
    try:
        return len(store.sessions.read(SessionId(name), agent="main").turns)
    except NotFound:
        return 0


def test_lost_main_file_is_rebuilt(seven: QaStore, tmp_path: Path) -> None:
    before = (tmp_path / MAIN).read_bytes()
    (tmp_path / MAIN).unlink()
    store = opened(tmp_path)
    store.sessions.flush()
    assert (tmp_path / MAIN).read_bytes() == before


@pytest.mark.parametrize("damage", [b"", b"{", b'{"version": 1, "structure": "sequence-indexed-qa", "sessions": 7}'])
def test_damaged_main_file_is_rebuilt_and_kept_aside(seven: QaStore, tmp_path: Path, damage: bytes) -> None:
    before = (tmp_path / MAIN).read_bytes()
    (tmp_path / MAIN).write_bytes(damage)
    for store in (seven, opened(tmp_path)):
        store.sessions.flush()
        assert problems_of(store) == []
        assert (tmp_path / MAIN).read_bytes() == before
    kept = [path.read_bytes() for path in (tmp_path / "memory").glob("qa-index.json.damaged-*")]
    assert kept == ([damage] if damage else [])


@pytest.mark.parametrize("foreign", [b'{"notes": []}', b'{"structure": "sequence-indexed-qa", "version": 2}'])
def test_foreign_main_file_is_reported_and_never_written(tmp_path: Path, foreign: bytes) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / MAIN).write_bytes(foreign)
    store = opened(tmp_path)
    say(store, "boiler", "the boiler leaks")
    store.sessions.flush()
    assert (tmp_path / MAIN).read_bytes() == foreign
    assert [problem.split(":")[0] for problem in problems_of(store)] == [MAIN]
    assert [turn.seq for turn in opened(tmp_path).find_turns("boiler", agent="main").turns] == [1]


def test_foreign_topics_file_is_reported_and_never_written(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / TOPICS).write_text("my own topics\n", encoding="utf-8")
    store = opened(tmp_path)
    say(store, "boiler", "how to configure the Boiler")
    store.sessions.flush()
    assert (tmp_path / TOPICS).read_text(encoding="utf-8") == "my own topics\n"
    assert problems_of(store) == [f"{TOPICS}: another file is in its place"]
    (tmp_path / TOPICS).unlink()
    store.sessions.flush()
    assert problems_of(store) == []
    assert (tmp_path / TOPICS).read_text(encoding="utf-8").startswith(TOPICS_HEAD)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{}", "it has no session_id with a qa_sequence"),
        (b"no json", "no JSON"),
        (b'{"session_id": "other", "created": "x", "qa_sequence": []}', "created is no time"),
        (b'{"session_id": "other", "created": "2026-01-30T18:16:00Z", "qa_sequence": []}', "its session_id is 'other'"),
    ],
)
def test_foreign_session_file_is_reported_and_never_written(
    seven: QaStore, tmp_path: Path, data: bytes, why: str
) -> None:
    path = tmp_path / f"memory/sessions/{NAME}.json"
    path.write_bytes(data)
    for store in (seven, opened(tmp_path)):
        with pytest.raises(StoreError, match=rf"memory/sessions/{NAME}\.json cannot be read: {why}"):
            say(store, NAME, "once more")
        assert path.read_bytes() == data
        store.sessions.flush()
        assert path.read_bytes() == data
        (problem,) = problems_of(store)
        assert problem.startswith(f"memory/sessions/{NAME}.json: {why}")
        # the conversation continues in another file, because the name is taken
        assert store.turns.session_for(KEY, "main", SEVEN[-1].timestamp) == f"{NAME}-2"


def test_symlinked_folder_is_refused(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    workspace = tmp_path / "ws"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory/sessions").symlink_to(elsewhere)
    for use in (lambda: opened(workspace), lambda: say(QaStore(workspace), "boiler", "the boiler leaks")):
        with pytest.raises(MemorydError, match="memory/sessions is a symbolic link"):
            use()
    assert list(elsewhere.iterdir()) == []


def test_unknown_keys_of_other_programs_are_kept(seven: QaStore, tmp_path: Path) -> None:
    path = tmp_path / f"memory/sessions/{NAME}.json"
    value = json.loads(path.read_bytes())
    value["mood"] = "good"
    value["qa_sequence"][0]["stars"] = 3
    path.write_text(json.dumps(value), encoding="utf-8")
    document = main_of(tmp_path)
    (tmp_path / MAIN).write_text(json.dumps({**document, "colour": "blue"}), encoding="utf-8")
    for store in (seven, opened(tmp_path)):
        say(store, NAME, "and now?")
        store.sessions.flush()
        after = json.loads(path.read_bytes())
        assert (after["mood"], after["qa_sequence"][0]["stars"]) == ("good", 3)
        assert main_of(tmp_path)["colour"] == "blue"
    assert [turn["q"] for turn in after["qa_sequence"][7:]] == ["and now?", "and now?"]


def test_start_reads_only_changed_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(tmp_path)
    for number in range(9):
        say(store, f"s{number}", f"boiler {number}")
    store.sessions.flush()
    say(store, "s3", "after the last flush")
    read: list[str] = []
    whole = SessionFiles.read

    def counted(self: SessionFiles, name: SessionId) -> StoredSession | None:
        read.append(name)
        return whole(self, name)

    monkeypatch.setattr(SessionFiles, "read", counted)
    again = opened(tmp_path)
    assert read == ["s3"]
    assert len(again.sessions.of("main")) == 9
    assert again.find_turns("flush", agent="main").choice.session == "s3"


def test_long_session_with_stub_is_found(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "long", *(f"how to configure Valve{number}" for number in range(60)))
    store.sessions.flush()
    again = opened(tmp_path)
    (entry,) = again.sessions.of("main")
    assert isinstance(entry, SessionStub)
    found = again.find_turns("how to configure Valve30", agent="main", turns=2)
    assert [turn.question for turn in found.turns] == ["how to configure Valve29", "how to configure Valve30"]
    say(again, "long", "and the boiler?")
    assert again.find_turns("boiler", agent="main", turns=1).turns[0].seq == 61


def test_long_session_is_found_by_single_words_once_learned(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "long", *(f"how to configure Valve{number}" for number in range(60)))
    say(store, "long", "which thread has the brass adapter of the boiler?")
    say(store, "short", "where is the harbour?")
    store.sessions.flush()
    again = opened(tmp_path)
    assert again.find_turns("is that adapter made of brass?", agent="main").choice.session is None
    again.learn()
    assert again.find_turns("is that adapter made of brass?", agent="main").choice.session == "long"
    assert again.find_turns("is that adapter made of brass?", agent="other").choice.session is None
    (entry,) = (one for one in again.sessions.of("main") if isinstance(one, SessionStub))
    assert entry.turns == 61
    again.forget(SessionId("long"), agent="main")
    again.learn()
    assert again.find_turns("is that adapter made of brass?", agent="main").choice.session is None


def test_marked_answer_below_threshold_is_stored(tmp_path: Path) -> None:
    store = opened(tmp_path)
    added = store.turns.append("s", RawTurn("hi", "hello", BEGUN), agent="main")
    assert added is not None
    assert (added.turn.answer, added.dropped_answer) == (None, "hello")
    store.turns.mark(SessionId("s"), 1, "hello", agent="main")
    assert opened(tmp_path).find_turns(None, agent="main", current="s").turns[0].answer == "hello"
    for name, seq, agent in (("s", 2, "main"), ("s", 1, "other"), ("t", 1, "main")):
        with pytest.raises(NotFound):
            store.turns.mark(SessionId(name), seq, "x", agent=agent)


def test_withheld_session_takes_no_turn(seven: QaStore, tmp_path: Path) -> None:
    seven.turns.set_remembered(SessionId(NAME), False, agent="main")
    before = bytes_in(tmp_path)
    for store in (seven, opened(tmp_path)):
        assert store.turns.append(NAME, RawTurn("a secret", None, BEGUN), agent="main") is None
    assert bytes_in(tmp_path) == before


def test_old_session_is_archived_and_reactivated(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "old", "the boiler leaks")
    say(store, "new", "trip to Lisbon", at=BEGUN + timedelta(days=20))
    now = BEGUN + timedelta(days=31)
    assert store.archive.put_away(now) == ["old"]
    assert store.archive.put_away(now) == []
    store.sessions.flush()
    assert [path.name for path in (tmp_path / "memory/archive").iterdir()] == ["old.json"]
    assert not (tmp_path / "memory/sessions/old.json").exists()
    assert main_of(tmp_path)["metadata"]["total_qa_pairs"] == 1  # type: ignore[index]
    assert store.sessions.read(SessionId("old"), agent="main").turns[0].question == "the boiler leaks"
    say(store, "old", "it leaks again", at=now)
    assert [turn.seq for turn in store.sessions.read(SessionId("old"), agent="main").turns] == [1, 2]
    assert list((tmp_path / "memory/archive").iterdir()) == []


def test_keys_with_same_session_name_get_separate_sessions(tmp_path: Path) -> None:
    keys = ["agent:main:telegram:dm:7", "agent:main:telegram:group:7", "telegram:direct:7"]
    stores = [opened(tmp_path) for _ in keys]
    raws = [RawTurn(f"from {key}", None, BEGUN) for key in keys]
    with ThreadPoolExecutor(3) as pool:
        for _ in range(4):
            list(
                pool.map(
                    lambda one: one[0].turns.append_by_key(one[1], one[2], agent="main"),
                    zip(stores, keys, raws, strict=True),
                )
            )
    found = {entry.head.key: entry for entry in opened(tmp_path).sessions.of("main")}
    assert found.keys() == set(keys)
    for key, entry in found.items():
        assert isinstance(entry, Session)
        assert [turn.question for turn in entry.turns] == [f"from {key}"] * 4


def test_marked_answer_is_redacted(seven: QaStore) -> None:
    seven.turns.mark(SessionId(NAME), 1, "password: hunter2", agent="main")
    assert seven.sessions.read(SessionId(NAME), agent="main").turns[0].answer == "password: ***"


def test_each_agent_has_its_own_sessions(seven: QaStore, tmp_path: Path) -> None:
    say(seven, "theirs", "记忆的设计", agent="other")
    for store in (seven, opened(tmp_path)):
        for message in ("你觉得这个设计怎么样？", "记忆的设计", None):
            for current in (None, NAME, "theirs"):
                found = store.find_turns(message, agent="other", current=current)
                assert {turn.question for turn in found.turns} <= {"记忆的设计"}
                assert store.find_turns(message, agent="nobody", current=current).turns == ()
        with pytest.raises(Denied):
            say(store, NAME, "whose?", agent="other")
        with pytest.raises(NotFound):
            store.sessions.read(SessionId(NAME), agent="other")


def test_read_only_store_refuses_writes_and_answers(seven: QaStore, tmp_path: Path) -> None:
    before, name = bytes_in(tmp_path), SessionId(NAME)
    store = opened(tmp_path, is_read_only=True)
    for write in (
        lambda: say(store, NAME, "x"),
        lambda: store.turns.mark(name, 1, "x", agent="main"),
        lambda: store.turns.set_remembered(name, False, agent="main"),
        lambda: store.forget(name, agent="main"),
        lambda: store.archive.put_away(BEGUN + timedelta(days=99)),
        store.sessions.flush,
    ):
        with pytest.raises(Denied):
            write()
    assert bytes_in(tmp_path) == before
    assert [turn.seq for turn in store.find_turns(None, agent="main", current=NAME, turns=1).turns] == [7]


def test_empty_workspace_stays_empty(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.sessions.flush()
    assert store.archive.put_away(BEGUN) == []
    assert list(tmp_path.iterdir()) == []


def test_turn_written_by_another_process_is_seen(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    say(one, "s", "first")
    assert [turn.question for turn in other.find_turns(None, agent="main", current="s").turns] == ["first"]
    say(other, "s", "second")
    assert [turn.question for turn in one.find_turns(None, agent="main", current="s").turns] == ["first", "second"]


def test_interests_keep_answers(tmp_path: Path) -> None:
    store = opened(tmp_path, answer_retention=AnswerRetention(interests=frozenset({"boiler"})))
    raw = replace(SEVEN[0], question="it leaks", topics=("boiler",))
    added = store.turns.append("s", raw, agent="main")
    assert added is not None
    assert added.turn.answer == SEVEN[0].answer


@contextlib.asynccontextmanager
async def kept_up(store: QaStore, maintenance: QaMaintenance) -> AsyncIterator[None]:
    task = asyncio.get_running_loop().create_task(maintenance.run(store))
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_maintenance_updates_main_file_and_archives(tmp_path: Path) -> None:
    maintenance = QaMaintenance(now=lambda: BEGUN + timedelta(days=31), update_seconds=0.01)
    store = opened(tmp_path, on_change=maintenance.note_change)
    say(store, "old", "the boiler leaks")
    async with kept_up(store, maintenance):
        await eventually_async((tmp_path / "memory/archive/old.json").exists)
        await asyncio.to_thread(say, store, "new", "trip to Lisbon", at=BEGUN + timedelta(days=31))
        await eventually_async((tmp_path / MAIN).exists)
        assert b"Lisbon" in (tmp_path / MAIN).read_bytes()
    assert b"boiler" not in (tmp_path / MAIN).read_bytes()


async def test_failed_step_is_reported_and_retried(tmp_path: Path) -> None:
    maintenance = QaMaintenance(now=lambda: BEGUN, update_seconds=0.01, retry_seconds=0.02)
    store = opened(tmp_path, on_change=maintenance.note_change)
    say(store, "x", "Which port?")
    sessions, aside = tmp_path / "memory/sessions", tmp_path / "aside"
    sessions.rename(aside)
    sessions.write_text("no folder")
    async with kept_up(store, maintenance):
        await eventually_async(lambda: maintenance.trouble)
        assert not (tmp_path / MAIN).exists()
        sessions.unlink()
        aside.rename(sessions)
        await eventually_async(lambda: not maintenance.trouble and (tmp_path / MAIN).exists())


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are told by /proc")
def test_replaced_files_are_freed_at_next_flush(tmp_path: Path) -> None:
    def unfreed() -> int:
        links = (path.readlink() if path.is_symlink() else path for path in Path("/proc/self/fd").iterdir())
        return sum(str(tmp_path) in str(link) and "(deleted)" in str(link) for link in links)

    store = opened(tmp_path)
    for number in range(70):
        say(store, "long", f"question {number}")
        assert unfreed() <= 64
    assert unfreed() > 0
    store.sessions.flush()
    assert unfreed() == 0


def test_turn_that_would_make_session_unreadable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryd.sessions.session_files.MAX_BYTES", 2_000)
    store = opened(tmp_path)
    for number in range(5):
        say(store, "long", f"question {number}?")
    with pytest.raises(StoreError, match="full"):
        say(store, "long", "x" * 2_000)
    turns = store.sessions.read(SessionId("long"), agent="main").turns
    assert len(turns) == 5
    assert opened(tmp_path).sessions.read(SessionId("long"), agent="main").turns == turns
    assert problems_of(opened(tmp_path)) == []
