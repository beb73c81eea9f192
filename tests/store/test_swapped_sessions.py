"""Another writer interrupts a change at each point: both turns are kept."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import parse_session, render_session
from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.files import writing
from memoryd.files.writing import exchange
from memoryd.sessions.qa_store import QaStore
from tests.store.test_qa_store import opened
from tests.unit.domain.sessions.seven_turns import BEGUN

NAME = SessionId("s")


@pytest.fixture
def store(tmp_path: Path) -> QaStore:
    """A store with one session of one turn."""
    store = opened(tmp_path)
    assert store.turns.append(NAME, RawTurn("first", None, BEGUN), agent="main")
    return store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / f"memory/sessions/{NAME}.json"


def longer(session: Session, question: str) -> Session:
    return replace(session, turns=(*session.turns, Turn(session.last_seq + 1, question, BEGUN)))


def edit(path: Path) -> None:
    """Add a turn like a program that does not use our lock."""
    draft = path.with_name("editor.tmp")
    draft.write_text(render_session(longer(parse_session(path.read_bytes()), "theirs")), encoding="utf-8")
    draft.replace(path)


def check_all_kept(store: QaStore, path: Path) -> None:
    kept = parse_session(path.read_bytes()).turns
    assert sorted(turn.question for turn in kept) == ["first", "ours", "theirs"]
    assert [turn.seq for turn in kept] == [1, 2, 3]
    assert store.sessions.read(NAME, agent="main").turns == kept


@pytest.mark.parametrize("is_ours", [True, False])
def test_concurrent_write_before_exchange_is_kept(store: QaStore, path: Path, tmp_path: Path, is_ours: bool) -> None:
    decided: list[int] = []

    def decide(session: Session) -> Session:
        decided.append(session.last_seq)
        if len(decided) == 1 and is_ours:
            assert opened(tmp_path).turns.append(NAME, RawTurn("theirs", None, BEGUN), agent="main")
        elif len(decided) == 1:
            edit(path)
        return longer(session, "ours")

    assert store.sessions.change(NAME, decide)
    # decided again, from what the other writer stored
    assert decided == [1, 2]
    check_all_kept(store, path)


@pytest.mark.parametrize(("is_before", "decisions"), [(True, [1, 2]), (False, [1])])
def test_edit_around_the_exchange_is_kept(
    store: QaStore, path: Path, monkeypatch: pytest.MonkeyPatch, is_before: bool, decisions: list[int]
) -> None:
    decided: list[int] = []
    exchanged: list[bool] = []

    def exchanging(one: Path, other: Path) -> bool:
        is_first = not exchanged
        exchanged.append(True)
        if is_first and is_before:
            edit(path)
        if not exchange(one, other):
            pytest.skip("this disk cannot exchange files")
        if is_first and not is_before:
            edit(path)
        return True

    def decide(session: Session) -> Session:
        decided.append(session.last_seq)
        return longer(session, "ours")

    monkeypatch.setattr(writing, "exchange", exchanging)
    assert store.sessions.change(NAME, decide)
    assert decided == decisions
    check_all_kept(store, path)
