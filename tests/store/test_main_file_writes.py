"""Turns are stored while the main file is being written, and a forgotten session does not come back through it."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.sessions.qa_store import QaStore
from tests.store.rows import files_with
from tests.unit.domain.sessions.seven_turns import BEGUN
from tests.waiting import eventually


class HeldWrite:
    """Blocks writing of the main file until it is released."""

    def __init__(self, store: QaStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.release = threading.Event(), threading.Event()
        write = store.sessions.main.write

        def held(*args: Any) -> None:
            self.begun.set()
            assert self.release.wait(30)
            write(*args)

        monkeypatch.setattr(store.sessions.main, "write", held)


@pytest.fixture
def store(tmp_path: Path) -> QaStore:
    store = QaStore(tmp_path)
    store.sessions.open()
    say(store, "quetzal")
    return store


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def say(store: QaStore, word: str) -> int:
    added = store.turns.append(word, RawTurn(f"Where is the {word}?", None, BEGUN), agent="main")
    assert added is not None
    return added.turn.seq


def test_turn_is_added_while_the_main_file_is_written(
    store: QaStore, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldWrite(store, monkeypatch)
    flush = threads.submit(store.sessions.flush)
    assert held.begun.wait(30)
    try:
        assert threads.submit(say, store, "quetzal").result(30) == 2
        assert threads.submit(store.sessions.scan).result(30) is None
    finally:
        held.release.set()
    flush.result(30)


def test_session_forgotten_during_write_is_in_no_file(
    store: QaStore, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    say(store, "heron")
    held = HeldWrite(store, monkeypatch)
    flush = threads.submit(store.sessions.flush)
    assert held.begun.wait(30)
    forgetting = threads.submit(store.forget, SessionId("quetzal"), agent="main")
    assert not flush.done()
    held.release.set()
    assert forgetting.result(30).turns == 1
    flush.result(30)
    assert files_with(tmp_path, "quetzal") == []
    assert files_with(tmp_path, "heron")


def test_session_missing_from_stale_listing_stays_known(store: QaStore, monkeypatch: pytest.MonkeyPatch) -> None:
    stats = store.sessions.files.stats
    monkeypatch.setattr(store.sessions.files, "stats", dict)
    store.sessions.scan()
    assert store.sessions.known.get(SessionId("quetzal")) is not None
    (store.sessions.files.path / "quetzal.json").unlink()
    monkeypatch.setattr(store.sessions.files, "stats", stats)
    store.sessions.scan()
    eventually(lambda: store.sessions.known.get(SessionId("quetzal")) is None)
    assert not store.sessions.of("main")
