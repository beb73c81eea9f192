"""Arbitrarily edited session files: each parses or is reported as a problem, and other sessions are not affected."""

import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryd.domain.sessions.documents import parse_session, render_session
from memoryd.domain.sessions.json_values import MAX_COUNT, DamagedDocumentError, ForeignDocumentError
from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.errors import Denied, StoreError
from memoryd.sessions.conversation_source import QaConversations, spoken_lines
from memoryd.sessions.qa_store import QaStore
from tests.sweeps import whole_or
from tests.unit.domain.sessions.conversations import BEGUN, JSON

TURN = {
    "seq": 1,
    "q": "Where is the walrus?",
    "q_tokens": ["walrus"],
    "q_hash": f"{7:016x}",
    "a": "In the sea",
    "a_significance": 0.5,
    "timestamp": "2026-11-20T10:00:00Z",
    "topic_tags": ["walrus"],
}
SESSION = {"session_id": "odd", "created": "2026-11-20T10:00:00Z", "agent": "main", "key": "agent:main:main"}
TEXT = st.text(st.characters(categories=None), max_size=8)
"""Includes lone surrogates."""
TIME = st.sampled_from(
    [
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "1969-12-31T23:59:59Z",
        "2262-01-01T00:00:00Z",
        "2261-12-31T23:59:59.999999Z",
        "1970-01-01",
        "2026-11-20T24:00:00Z",
    ]
)
NUMBER = st.sampled_from([0, -1, 1.5, True, 2**31, 2**53, 2**63 - 1, 2**63, 10**30, MAX_COUNT, 1e308, "Infinity"])
VALUE = JSON | TEXT | TIME | NUMBER | st.lists(TEXT, max_size=2) | st.lists(st.sampled_from(sorted(TURN)))
INFINITE = '"Infinity"'


@st.composite
def edited(draw: st.DrawFn) -> bytes:
    """Draw the file of a session in which somebody changed a few keys."""
    turns = [dict(TURN), {**TURN, "seq": 2}]
    session: dict[str, Any] = {**SESSION, "qa_sequence": turns}
    for _ in range(draw(st.integers(1, 2))):
        target = draw(st.sampled_from([session, *turns]))
        target[draw(st.sampled_from([*target, "mine", "transcript", "remember"]))] = draw(VALUE)
    # a number that is valid JSON and too large for a float
    return json.dumps(session).replace(INFINITE, "1e999").encode()


@given(edited())
def test_edited_file_parses_or_is_refused(data: bytes) -> None:
    try:
        session = parse_session(data)
    except (DamagedDocumentError, ForeignDocumentError):
        return
    assert parse_session(render_session(session).encode()) == session
    texts = [session.id, session.agent, session.key, *(turn.question for turn in session.turns)]
    assert "".join(texts).encode()
    for line in spoken_lines(session):
        assert 0 < line.number < 2**63
        assert 0 <= line.at_ns < 2**63


@contextlib.contextmanager
def store_with(data: bytes) -> Iterator[QaStore]:
    """Open a store with two sessions, one of which has this data."""
    with tempfile.TemporaryDirectory() as folder:
        sessions = Path(folder) / "memory" / "sessions"
        sessions.mkdir(parents=True)
        (sessions / "odd.json").write_bytes(data)
        (sessions / "good.json").write_text(json.dumps({**SESSION, "session_id": "good", "qa_sequence": [TURN]}))
        store = QaStore(Path(folder))
        store.sessions.open()
        yield store


@settings(max_examples=whole_or(12, 60), deadline=None)
@given(edited())
def test_store_continues_with_an_edited_file(data: bytes) -> None:
    with store_with(data) as store:
        store.sessions.flush()
        raw = RawTurn("And the seal?", None, BEGUN)
        with contextlib.suppress(StoreError, Denied):
            # damaged, another agent's, or of a transcript
            store.turns.append("odd", raw, agent="main")
        added = store.turns.append("good", raw, agent="main")
        assert added is not None
        store.sessions.flush()
        assert store.find_turns("walrus", agent="main").turns
        assert not store.sessions.main_problems
        source = QaConversations(store.sessions, "main")
        for path in source.scan({}, is_forced=True).due:
            step = source.read_on(path, "")
            assert step is None or step.stamp
        again = QaStore(store.sessions.workspace)
        again.sessions.open()
        assert [path for path, _, _ in again.sessions.session_problems() if "good" in path] == []


@pytest.mark.parametrize("seq", [MAX_COUNT, MAX_COUNT - 1])
def test_session_is_full_at_the_last_turn_number(seq: int) -> None:
    data = json.dumps({**SESSION, "qa_sequence": [{**TURN, "seq": seq}]}).encode()
    with store_with(data) as store:
        for _ in range(MAX_COUNT - seq):
            assert store.turns.append("odd", RawTurn("And the seal?", None, BEGUN), agent="main")
        with pytest.raises(StoreError, match="full"):
            store.turns.append("odd", RawTurn("One more?", None, BEGUN), agent="main")
        assert store.sessions.read(parse_session(data).id, agent="main").last_seq == MAX_COUNT


def test_lone_surrogates_are_replaced() -> None:
    data = json.dumps({**SESSION, "qa_sequence": [{**TURN, "q": "lone \ud800 x", "q_tokens": ["\udc00"]}]}).encode()
    turn = parse_session(data).turns[0]
    assert (turn.question, turn.tokens) == ("lone ? x", ("?",))
