"""Words of a forgotten memory leave every turn in which they stood, and nothing else of the conversations does."""

from pathlib import Path

import pytest

from memoryd.domain.documents import SessionId
from memoryd.domain.memories.changes.tombstones import FORGOTTEN, TextMatcher
from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.errors import Denied
from tests.store.test_forgetting_sessions import CANARY, SECRET, holding, opened, say, write_everywhere
from tests.unit.domain.sessions.seven_turns import BEGUN

SAID = TextMatcher(f"the combination of the safe is {CANARY}")
LATER = BEGUN.replace(year=BEGUN.year + 1)


def test_words_leave_every_file_and_the_turn_stays(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "s1", f"Remember: The combination of  the safe is {CANARY}!", answer="I will.")
    say(store, "s1", "and the valve?", answer=f"You said the combination of the safe is {CANARY}.")
    say(store, "s2", "the boiler leaks")
    store.sessions.flush()

    found = store.forgetting.cut(SAID)

    assert [(one.session, one.addresses) for one in found] == [("s1", ("session:s1#Q1", "session:s1#Q2"))]
    assert holding(tmp_path) == []
    first, second = opened(tmp_path).sessions.read(SessionId("s1"), agent="main").turns
    assert (first.question, first.answer) == (f"Remember: {FORGOTTEN}!", "I will.")
    assert second.answer == f"You said {FORGOTTEN}."
    assert CANARY not in "".join(first.tokens)


def test_words_leave_the_topics_that_were_made_of_an_answer_or_given(tmp_path: Path) -> None:
    store, words = opened(tmp_path), TextMatcher("BlueFalcon")
    say(store, "s1", "What did we settle on?", answer="The BlueFalcon config is used on all servers.")
    given = RawTurn("and the valve?", "Yes.", BEGUN, topics=("BlueFalcon plan",))
    store.turns.append("s1", given, agent="main")
    store.sessions.flush()
    assert "memory/topics.txt" in holding(tmp_path, "bluefalcon")

    assert len(store.forgetting.cut(words)[0].addresses) == 2

    assert holding(tmp_path, "bluefalcon") + holding(tmp_path, "BlueFalcon") == []
    first, _ = store.sessions.read(SessionId("s1"), agent="main").turns
    assert first.answer == f"The {FORGOTTEN} config is used on all servers."


def test_words_leave_the_archive_where_the_session_stays(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "old", f"the combination of the safe is {CANARY}")
    assert store.archive.put_away(LATER) == ["old"]

    store.forgetting.cut(SAID)

    assert holding(tmp_path) == []
    assert [stub.session.id for stub in store.archive.stubs("main")] == ["old"]


def test_words_leave_damaged_copies_and_drafts(tmp_path: Path) -> None:
    store = write_everywhere(tmp_path)

    for words in (SAID, TextMatcher(f"yes, {CANARY}")):
        store.forgetting.cut(words)

    assert holding(tmp_path) == []
    assert store.sessions.read(SECRET, agent="main").turns[0].answer == FORGOTTEN


def test_once_more_is_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    say(store, "s1", f"the combination of the safe is {CANARY}")
    store.forgetting.cut(SAID)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}

    assert store.forgetting.cut(SAID) == []
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == before


def test_nothing_is_written_where_nothing_may_be(tmp_path: Path) -> None:
    say(opened(tmp_path), "s1", f"the combination of the safe is {CANARY}")
    store = opened(tmp_path, is_read_only=True)

    with pytest.raises(Denied):
        store.forgetting.cut(SAID)
    assert [one.session for one in store.forgetting.find(SAID)] == ["s1"]
