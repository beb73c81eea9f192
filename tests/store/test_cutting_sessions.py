"""The words of a forgotten memory are cut from every turn, and nothing else of the conversations is."""

from pathlib import Path

import pytest

from memoryd.domain.documents import SessionId
from memoryd.domain.memories.changes.tombstones import FORGOTTEN, TextMatcher
from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.errors import Denied
from tests.store.rows import bytes_in, files_with
from tests.store.test_forgetting_sessions import CANARY, SECRET, say, write_everywhere
from tests.store.test_qa_store import opened
from tests.unit.domain.sessions.seven_turns import BEGUN

MATCHER = TextMatcher(f"the combination of the safe is {CANARY}")
LATER = BEGUN.replace(year=BEGUN.year + 1)


def test_words_are_cut_from_every_file_and_turn_remains(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "s1", f"Remember: The combination of  the safe is {CANARY}!", answer="I will.")
    say(store, "s1", "and the valve?", answer=f"You said the combination of the safe is {CANARY}.")
    say(store, "s2", "the boiler leaks")
    store.sessions.flush()

    found = store.cut(MATCHER)

    assert [(one.session, one.addresses) for one in found] == [("s1", ("session:s1#Q1", "session:s1#Q2"))]
    assert files_with(tmp_path, CANARY) == []
    first, second = opened(tmp_path).sessions.read(SessionId("s1"), agent="main").turns
    assert (first.question, first.answer) == (f"Remember: {FORGOTTEN}!", "I will.")
    assert second.answer == f"You said {FORGOTTEN}."
    assert CANARY not in "".join(first.tokens)


def test_words_are_cut_from_derived_and_given_topics(tmp_path: Path) -> None:
    store, words = opened(tmp_path), TextMatcher("BlueFalcon")
    say(store, "s1", "What did we settle on?", answer="The BlueFalcon config is used on all servers.")
    given = RawTurn("and the valve?", "Yes.", BEGUN, topics=("BlueFalcon plan",))
    store.turns.append("s1", given, agent="main")
    store.sessions.flush()
    assert "memory/topics.txt" in files_with(tmp_path, "bluefalcon")

    assert len(store.cut(words)[0].addresses) == 2

    assert files_with(tmp_path, "bluefalcon") + files_with(tmp_path, "BlueFalcon") == []
    first, _ = store.sessions.read(SessionId("s1"), agent="main").turns
    assert first.answer == f"The {FORGOTTEN} config is used on all servers."


def test_words_are_cut_from_archived_session(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "old", f"the combination of the safe is {CANARY}")
    assert store.archive.put_away(LATER) == ["old"]

    store.cut(MATCHER)

    assert files_with(tmp_path, CANARY) == []
    assert [stub.session.id for stub in store.archive.stubs("main")] == ["old"]


def test_words_are_cut_from_damaged_copies_and_drafts(tmp_path: Path) -> None:
    store = write_everywhere(tmp_path)

    for words in (MATCHER, TextMatcher(f"yes, {CANARY}")):
        store.cut(words)

    assert files_with(tmp_path, CANARY) == []
    assert store.sessions.read(SECRET, agent="main").turns[0].answer == FORGOTTEN


def test_second_cut_changes_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "s1", f"the combination of the safe is {CANARY}")
    store.cut(MATCHER)
    before = bytes_in(tmp_path)

    assert store.cut(MATCHER) == []
    assert bytes_in(tmp_path) == before


def test_read_only_store_finds_but_does_not_cut(tmp_path: Path) -> None:
    say(opened(tmp_path), "s1", f"the combination of the safe is {CANARY}")
    store = opened(tmp_path, is_read_only=True)

    with pytest.raises(Denied):
        store.cut(MATCHER)
    assert [one.session for one in store.matching_turns(MATCHER)] == ["s1"]
