"""A forgotten session leaves no byte in the workspace even after a kill, and other sessions stay."""

import contextlib
import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import AnswerRetention
from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.errors import NotFound, StoreUnavailable
from memoryd.files.writing import open_draft
from memoryd.sessions.qa_store import QaStore
from memoryd.sessions.workspace_sessions import disk_usage
from tests.store.children import child, kill_at_system_call
from tests.store.rows import bytes_in, files_with
from tests.store.test_qa_store import opened
from tests.sweeps import swept
from tests.unit.domain.sessions.seven_turns import BEGUN

CANARY = "zanzibar-canary"
SECRET = SessionId("secret")
ASKED_AT = BEGUN + timedelta(days=50)


def say(
    store: QaStore,
    session: str,
    question: str,
    *,
    at: datetime = BEGUN,
    answer: str | None = None,
    significance: float = 1.0,
) -> None:
    assert store.turns.append(session, RawTurn(question, answer, at, significance), agent="main")


def say_for_ever(store: QaStore, session: str, question: str) -> None:
    for number in range(1000):
        say(store, session, f"{question} {number}")


def left_draft(folder: Path, data: bytes) -> None:
    with open_draft(folder / "x") as (draft, _):
        name = draft
    name.write_bytes(data)


def write_everywhere(workspace: Path) -> QaStore:
    """Write a session to every possible place: its file, archive, drafts, main file and damaged copies."""
    store = opened(workspace)
    say(store, SECRET, f"the combination of the safe is {CANARY}", answer=f"yes, {CANARY}")
    say(store, "other", "the boiler leaks in the cellar")
    store.sessions.flush()
    main = workspace / "memory/qa-index.json"
    whole = main.read_bytes()
    main.write_bytes(whole[:-40])
    store.turns.append("other", RawTurn("and the valve?", None, BEGUN), agent="main")
    store.sessions.flush()
    # without the session's name and the start of its text
    main.write_bytes(whole[whole.index(b'"q": "the comb') : -40])
    store.sessions.flush()
    (workspace / "memory/archive").mkdir()
    data = (workspace / "memory/sessions/secret.json").read_bytes()
    (workspace / "memory/archive/secret.json").write_bytes(data)
    for folder in ("memory", "memory/sessions", "memory/archive"):
        left_draft(workspace / folder, data[:-9])
    # newly damaged, so that it has not been set aside yet
    main.write_bytes(whole[:-41])
    return opened(workspace)


def test_forgotten_session_is_in_no_byte(tmp_path: Path) -> None:
    store = write_everywhere(tmp_path)
    assert len(files_with(tmp_path, CANARY)) == 8
    gone = store.forget(SECRET, agent="main")
    assert files_with(tmp_path, CANARY) == []
    assert (gone.turns, gone.answers) == (1, 1)
    assert files_with(tmp_path, "secret") == []
    assert not list(tmp_path.rglob("*secret*"))
    assert len(store.sessions.read(SessionId("other"), agent="main").turns) == 2
    assert [one["session_id"] for one in json.loads((tmp_path / "memory/qa-index.json").read_bytes())["sessions"]] == [
        "other"
    ]
    with pytest.raises(NotFound):
        store.forget(SECRET, agent="main")


def test_damaged_copy_of_another_session_stays(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, SECRET, "hm?")
    say(store, "other", "is that so, hm?")
    copy = tmp_path / "memory/qa-index.json.damaged-01234567"
    copy.write_bytes(b'{"sessions": [{"session_id": "secret-2", "q": "is that so, hm?"')
    store.forget(SECRET, agent="main")
    assert copy.exists()


def test_session_of_another_agent_cannot_be_forgotten(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, SECRET, CANARY)
    before = files_with(tmp_path, CANARY)
    with pytest.raises(NotFound):
        store.forget(SECRET, agent="other")
    assert files_with(tmp_path, CANARY) == before


def forget_and_die(workspace: str, fatal: str) -> None:
    """Forget, and be killed at the n-th system call."""
    store = opened(Path(workspace))
    kill_at_system_call(int(fatal))
    store.forget(SECRET, agent="main")
    os.write(1, b"!")


@swept("fatal", range(1, 96), 4)
def test_killed_forgetting_is_finished_later(tmp_path: Path, fatal: int) -> None:
    write_everywhere(tmp_path)
    with child("test_forgetting_sessions", "forget_and_die", tmp_path, fatal) as killed:
        assert killed.stdout is not None
        told = killed.stdout.read()
        assert (killed.wait() == -signal.SIGKILL) != (b"!" in told)
    store = opened(tmp_path)
    store.finish_forgetting(SECRET, agent="main", asked_at=ASKED_AT)
    assert files_with(tmp_path, CANARY) == []
    assert len(store.sessions.read(SessionId("other"), agent="main").turns) == 2
    # again, as after a kill before completion was recorded
    store.finish_forgetting(SECRET, agent="main", asked_at=ASKED_AT)


def test_session_begun_after_the_request_stays(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, SECRET, "a new conversation", at=ASKED_AT + timedelta(seconds=1))
    store.finish_forgetting(SECRET, agent="main", asked_at=ASKED_AT)
    assert len(store.sessions.read(SECRET, agent="main").turns) == 1


def test_concurrent_append_restores_nothing_forgotten(tmp_path: Path) -> None:
    stores = [opened(tmp_path), opened(tmp_path)]
    for _ in range(20):
        say(stores[0], SECRET, f"it is {CANARY}")
        with ThreadPoolExecutor(3) as pool:
            adding = [pool.submit(say, store, SECRET, f"later {number}") for number, store in enumerate(stores * 4)]
            forgetting = pool.submit(stores[0].forget, SECRET, agent="main")
            assert forgetting.result().turns >= 1
            for one in adding:
                one.result()
        assert files_with(tmp_path, CANARY) == []
        with contextlib.suppress(NotFound):
            stores[1].forget(SECRET, agent="main")


def test_concurrent_archiving_restores_nothing_forgotten(tmp_path: Path) -> None:
    stores = [opened(tmp_path), opened(tmp_path)]
    for number in range(20):
        say(stores[0], SECRET, f"it is {CANARY}")
        stores[1].sessions.flush()
        if number % 2:
            stores[1].archive.put_away(BEGUN + timedelta(days=99))
        with ThreadPoolExecutor(2) as pool:
            moving = pool.submit(stores[1].archive.put_away, BEGUN + timedelta(days=99))
            assert pool.submit(stores[0].forget, SECRET, agent="main").result().turns == 1
            moving.result()
        stores[1].sessions.flush()
        assert files_with(tmp_path, CANARY) == []


def test_pruning_drops_oldest_archived_answers_but_no_questions(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for number in range(6):
        for turn in range(3):
            say(store, f"s{number}", f"question {number} {turn}", at=BEGUN + timedelta(days=number), answer="a" * 4000)
    store.archive.put_away(BEGUN + timedelta(days=34))
    store.sessions.flush()
    store.archive.make_room()
    whole = store.archive.usage.bytes
    assert (store.archive.usage.is_full, store.archive.usage.pruned) == (False, 0)
    assert [stub.session.id for stub in store.archive.stubs("main")] == ["s3", "s2", "s1", "s0"]
    bounded = opened(tmp_path, max_bytes=whole - 13_000)
    bounded.archive.make_room()
    assert [stub.answers for stub in bounded.archive.stubs("main")] == [3, 3, 0, 0]
    assert (bounded.archive.usage.is_full, bounded.archive.usage.pruned) == (False, 6)
    assert bounded.archive.usage.bytes == sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    for number in range(6):
        questions = [turn.question for turn in bounded.sessions.read(SessionId(f"s{number}"), agent="main").turns]
        assert questions == [f"question {number} {turn}" for turn in range(3)]


def test_damaged_copies_are_bounded_and_cost_no_answers(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "old", "first", answer="a" * 4000)
    store.archive.put_away(BEGUN + timedelta(days=99))
    say(store, "new", "second")
    store.sessions.flush()
    main = tmp_path / "memory/qa-index.json"
    for number in range(5):
        main.write_bytes(f"{{{number}{' ' * 50_000}".encode())
        store.sessions.flush()
    copies = (path.read_bytes()[1:2] for path in main.parent.glob("qa-index.json.damaged-*"))
    assert sorted(copies) == [b"2", b"3", b"4"]

    bounded = opened(tmp_path, max_bytes=20_000)
    bounded.archive.make_room()

    measured = disk_usage(tmp_path)
    assert [stub.answers for stub in bounded.archive.stubs("main")] == [1]
    assert not bounded.archive.usage.is_full
    assert bounded.archive.usage.bytes == measured.bytes + measured.archive_bytes


def test_pruning_drops_answers_below_current_threshold_first(tmp_path: Path) -> None:
    store = opened(tmp_path, answer_retention=AnswerRetention(threshold=0.05))
    say(store, "old", "first", answer="a" * 4000)
    store.turns.append("new", RawTurn("second", "b" * 4000, BEGUN + timedelta(days=1), significance=0.1), agent="main")
    store.archive.put_away(BEGUN + timedelta(days=99))
    store.sessions.flush()
    store.archive.make_room()
    bounded = opened(tmp_path, max_bytes=store.archive.usage.bytes - 3000)
    bounded.archive.make_room()
    assert {stub.session.id: stub.answers for stub in bounded.archive.stubs("main")} == {"old": 1, "new": 0}


@pytest.mark.parametrize(
    ("excess", "left"),
    [
        (3000, {"s0": 1, "s1": 2}),
        (7000, {"s0": 1, "s1": 1}),
        (11_000, {"s0": 0, "s1": 1}),
        (15_000, {"s0": 0, "s1": 0}),
    ],
)
def test_pruning_drops_marked_answers_last(tmp_path: Path, excess: int, left: dict[str, int]) -> None:
    store = opened(tmp_path)
    for number in range(2):
        name = f"s{number}"
        say(store, name, "marked", at=BEGUN + timedelta(days=number), answer="a" * 4000, significance=0.1)
        say(store, name, "significant", at=BEGUN + timedelta(days=number), answer="b" * 4000)
        store.turns.mark(SessionId(name), 1, "m" * 4000, agent="main")
    store.archive.put_away(BEGUN + timedelta(days=99))
    store.sessions.flush()
    store.archive.make_room()
    bounded = opened(tmp_path, max_bytes=store.archive.usage.bytes - excess)
    bounded.archive.make_room()
    assert {stub.session.id: stub.answers for stub in bounded.archive.stubs("main")} == left
    for name, answers in left.items():
        marked, _ = bounded.sessions.read(SessionId(name), agent="main").turns
        assert (marked.answer, marked.is_marked) == (("m" * 4000, True) if answers else (None, False))


def test_mark_is_stored_in_file_and_removed(tmp_path: Path) -> None:
    store, path = opened(tmp_path), tmp_path / "memory/sessions/s.json"
    for question in ("one", "two"):
        say(store, "s", question, answer="kept anyway")
    assert b"marked" not in path.read_bytes()
    store.turns.mark(SessionId("s"), 1, "kept anyway", agent="main")
    assert [turn.get("marked") for turn in json.loads(path.read_bytes())["qa_sequence"]] == [True, None]
    turns = opened(tmp_path).sessions.read(SessionId("s"), agent="main").turns
    assert [turn.is_marked for turn in turns] == [True, False]
    store.turns.mark(SessionId("s"), 1, None, agent="main")
    assert b"marked" not in path.read_bytes()


def test_full_store_keeps_only_the_question(tmp_path: Path) -> None:
    store = opened(tmp_path, max_bytes=20_000)
    for number in range(8):
        say(store, f"s{number}", f"question {number}", answer="a" * 4000)
    store.sessions.flush()
    store.archive.make_room()
    assert store.archive.usage.is_full
    added = store.turns.append("s0", RawTurn("and now?", "b" * 100, BEGUN, significance=1.0), agent="main")
    assert added is not None
    assert (added.turn.answer, added.dropped_answer) == (None, "b" * 100)
    for number in range(1, 8):
        store.forget(SessionId(f"s{number}"), agent="main")
    store.archive.make_room()
    assert not store.archive.usage.is_full
    say(store, "s0", "and again?", answer="c" * 100)
    assert store.sessions.read(SessionId("s0"), agent="main").turns[-1].answer == "c" * 100


def test_turn_is_refused_at_four_times_the_limit(tmp_path: Path) -> None:
    """Even questions alone may not grow without bound, and none is dropped silently."""
    store = opened(tmp_path, max_bytes=10_000)
    with pytest.raises(StoreUnavailable, match="no room for another turn") as caught:
        say_for_ever(store, "s", "q" * 4000)
    assert "memory.qa.maxBytes" in caught.value.hint
    after = (tmp_path / "memory/sessions/s.json").read_bytes()
    assert 20_000 < len(after) < 60_000
    store.sessions.flush()
    store.archive.make_room()
    assert store.archive.usage.is_closed
    with pytest.raises(StoreUnavailable, match="no room"):
        say(store, "new", "one more")
    assert (tmp_path / "memory/sessions/s.json").read_bytes() == after
    store.forget(SessionId("s"), agent="main")
    store.archive.make_room()
    say(store, "new", "one more")
    assert store.sessions.read(SessionId("new"), agent="main").turns[-1].question == "one more"


def test_read_only_store_prunes_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "old", "first", answer="a" * 4000)
    store.archive.put_away(BEGUN + timedelta(days=99))
    store.sessions.flush()
    before = bytes_in(tmp_path)
    read_only = opened(tmp_path, is_read_only=True, max_bytes=100)
    read_only.archive.make_room()
    assert read_only.archive.usage.is_full
    assert bytes_in(tmp_path) == before


def test_forgetting_reports_a_change(tmp_path: Path) -> None:
    changes = list[str]()
    store = opened(tmp_path, on_change=lambda: changes.append("changed"))
    say(store, SECRET, "What is the code?", answer=CANARY)
    changes.clear()
    store.forget(SECRET, agent="main")
    assert changes
