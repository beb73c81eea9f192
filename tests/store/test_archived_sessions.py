"""Archived sessions are found like all others, and a start does not read them."""

from datetime import timedelta
from pathlib import Path

import pytest

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import SessionStub
from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.domain.sessions.sequences import Chosen
from memoryd.domain.sessions.turns import search_only
from memoryd.errors import NotFound
from memoryd.sessions.qa_store import QaStore
from memoryd.sessions.session_files import SessionFiles, StoredSession
from tests.store.test_qa_store import opened, say
from tests.unit.domain.sessions.seven_turns import BEGUN

KEY = "agent:main:discord:channel:boats"
LATER = BEGUN + timedelta(days=40)
ASKED = "is that harbour boiler leaking at the flange again?"


@pytest.fixture
def archived(tmp_path: Path) -> QaStore:
    """Archive two sessions of one agent and one of another."""
    store = opened(tmp_path)
    say(store, "boiler", "the harbour boiler leaks at the flange", "which gasket fits?", key=KEY)
    say(store, "trip", "a trip to Lisbon in spring")
    say(store, "others", "the harbour boiler leaks at the flange", agent="other", key=KEY)
    assert len(store.archive.put_away(LATER)) == 3
    store.sessions.flush()
    return store


def found(store: QaStore, message: str | None = ASKED, *, agent: str = "main", current: str | None = None) -> list[str]:
    return [turn.question for turn in store.find_turns(message, agent=agent, current=current, turns=1).turns]


def test_archived_session_is_found_at_once_and_after_restart(archived: QaStore, tmp_path: Path) -> None:
    again = opened(tmp_path)
    again.learn()
    for store in (archived, again):
        choice = store.find_turns(ASKED, agent="main").choice
        assert (choice.session, choice.why, choice.last_seq) == ("boiler", Chosen.OTHER_MATCHES, 2)
        assert choice.match is not None
        assert {"harbour", "boiler", "flange"} <= set(choice.match.words)
        assert store.find_turns(ASKED, agent="main").turns[0].question == "the harbour boiler leaks at the flange"
        assert store.turns.newest_session(KEY, "main") == "boiler"
        assert store.turns.newest_session(None, "main") == "boiler"
        assert store.find_turns(None, agent="main", current="boiler").turns[-1].question == "which gasket fits?"


def test_new_turn_reactivates_archived_session(archived: QaStore, tmp_path: Path) -> None:
    at = BEGUN + timedelta(hours=1)
    added = archived.turns.append_by_key(KEY, RawTurn("and the bolts?", None, at), agent="main")
    assert added is not None
    assert added.session == "boiler"
    assert not (tmp_path / "memory/archive/boiler.json").exists()
    assert [entry.last_activity for entry in archived.sessions.of("main")] == [at]
    assert archived.sessions.known.archived().keys() == {"trip", "others"}
    assert found(archived, "which bolts?") == ["and the bolts?"]
    assert archived.archive.put_away(LATER) == ["boiler"]
    assert found(archived, "which bolts?") == ["and the bolts?"]


def test_start_reads_no_archived_file(archived: QaStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = SessionFiles.read

    def counted(files: SessionFiles, name: SessionId) -> StoredSession | None:
        read.append(f"{files.folder}/{name}")
        return original(files, name)

    monkeypatch.setattr(SessionFiles, "read", counted)
    store = opened(tmp_path)
    assert found(store) == []
    assert store.sessions.known.archived() == {}
    # a session named in the request is the only one read
    assert found(store, None, current="boiler") == ["which gasket fits?"]
    assert store.sessions.known.archived().keys() == {"boiler"}
    assert {name for name in read if "archive" in name} == {"memory/archive/boiler"}
    assert archived.sessions.known.archived().keys() == {"boiler", "trip", "others"}


def test_archived_sessions_of_other_agents_are_not_found(archived: QaStore) -> None:
    assert archived.find_turns(ASKED, agent="other").choice.session == "others"
    assert archived.turns.newest_session(KEY, "other") == "others"
    for agent, current in (("main", "others"), ("other", "boiler"), ("third", "boiler"), ("third", None)):
        choice = archived.find_turns("a trip to Lisbon", agent=agent, current=current).choice
        assert choice.session == ("trip" if agent == "main" else None)
    assert archived.turns.newest_session(None, "third") is None


def test_withheld_archived_session_is_not_found(archived: QaStore, tmp_path: Path) -> None:
    archived.turns.set_remembered(SessionId("boiler"), False, agent="main")
    assert archived.archive.put_away(LATER) == ["boiler"]
    again = opened(tmp_path)
    again.learn()
    for store in (archived, again):
        assert found(store) == []
        assert found(store, None, current="boiler") == []
        assert store.turns.newest_session(KEY, "main") is None
        assert [stub.session.id for stub in store.archive.stubs("main")] == ["boiler", "trip"]


def test_forgotten_archived_session_is_not_found(archived: QaStore, tmp_path: Path) -> None:
    other = opened(tmp_path)
    other.learn()
    archived.forget(SessionId("boiler"), agent="main")
    assert found(archived) == []
    assert found(other) == []
    other.learn()
    assert other.find_turns(ASKED, agent="main").choice.session is None
    assert other.sessions.known.archived().keys() == {"trip", "others"}
    with pytest.raises(NotFound):
        other.sessions.read(SessionId("boiler"), agent="main")


def test_session_forgotten_while_read_is_not_learned(
    archived: QaStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = opened(tmp_path)
    read = store.sessions.archive.read

    def read_then_delete(name: SessionId) -> object:
        stored = read(name)
        if name == "boiler":
            (tmp_path / "memory/archive/boiler.json").unlink()
        return stored

    monkeypatch.setattr(store.sessions.archive, "read", read_then_delete)
    store.learn()
    assert store.sessions.known.archived().keys() == {"trip", "others"}
    assert store.find_turns(ASKED, agent="main").choice.session is None


def test_damaged_archived_file_is_found_only_once_repaired(archived: QaStore, tmp_path: Path) -> None:
    path = tmp_path / "memory/archive/boiler.json"
    sound = path.read_bytes()
    path.write_bytes(sound[:-9])
    archived.learn()
    assert found(archived) == []
    assert found(archived, "a trip to Lisbon") == ["a trip to Lisbon in spring"]
    path.write_bytes(sound)
    archived.learn()
    assert found(archived) != []


def test_sessions_moved_by_another_process_are_found(archived: QaStore, tmp_path: Path) -> None:
    other = opened(tmp_path)
    other.learn()
    say(other, "trip", "and to Porto?")
    archived.sessions.scan()
    assert archived.sessions.known.archived().keys() == {"boiler", "others"}
    assert found(archived, "Porto") == ["and to Porto?"]
    assert other.archive.put_away(LATER) == ["trip"]
    archived.sessions.scan()
    archived.learn()
    assert archived.sessions.of("main") == []
    assert found(archived, "Porto") == ["and to Porto?"]


def test_archived_texts_are_not_kept_in_memory(archived: QaStore) -> None:
    (session,) = [archived.sessions.read(SessionId("boiler"), agent="main")]
    bare = search_only(session)
    assert [(turn.question, turn.answer) for turn in bare.turns] == [("", None)] * 2
    assert [turn.tokens for turn in bare.turns] == [turn.tokens for turn in session.turns]
    held = [archived_session.entry for archived_session in archived.sessions.known.archived().values()]
    assert all(isinstance(entry, SessionStub) and not entry.session.turns for entry in held)
