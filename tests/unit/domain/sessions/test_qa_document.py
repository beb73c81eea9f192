"""Documents of sessions: rendering and parsing, with foreign and damaged documents."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.sessions.documents import (
    MAX_TURNS,
    QaDocument,
    SessionStub,
    entry_of,
    marks_of,
    parse_document,
    parse_session,
    render_document,
    render_session,
)
from memoryd.domain.sessions.json_values import DamagedDocumentError, ForeignDocumentError
from memoryd.domain.sessions.turns import Session
from tests.unit.domain.sessions.conversations import DOCUMENTS, JSON, SESSIONS, conversation

PLAIN = {"version": 1, "structure": "sequence-indexed-qa", "sessions": [], "index": {}, "metadata": {}}
TURN = {"seq": 1, "q": "hi", "timestamp": "2026-01-30T18:16:00Z"}
ROW = {"session_id": "a", "created": "2026-01-30T18:16:00Z", "qa_sequence": [TURN]}


def rendered(*entries: Session | SessionStub) -> Any:
    return json.loads(render_document(QaDocument(entries)))


def parsed(**changes: object) -> QaDocument:
    return parse_document(json.dumps(PLAIN | changes).encode())


@given(SESSIONS)
def test_session_round_trips(session: Session) -> None:
    assert parse_session(render_session(session).encode()) == session


@given(SESSIONS, st.data())
def test_grown_session_is_rendered_like_a_new_one(session: Session, data: st.DataObject) -> None:
    other = replace(data.draw(SESSIONS), turns=session.turns[: data.draw(st.integers(0, 4))])
    turns = session.turns[:-1]
    answered = (*turns[:-1], replace(turns[-1], answer="said before")) if turns else turns
    before = data.draw(st.sampled_from([other, *(replace(session, turns=one) for one in (turns, answered))]))
    assert render_session(session, (before, render_session(before))) == render_session(session)


@given(DOCUMENTS)
def test_document_round_trips(document: QaDocument) -> None:
    text = render_document(document)
    assert parse_document(text.encode()) == document
    assert render_document(parse_document(text.encode())) == text


@given(DOCUMENTS)
def test_totals_and_indexes_match_sessions(document: QaDocument) -> None:
    value = json.loads(render_document(document))
    turns = [turn for row in value["sessions"] for turn in row["qa_sequence"]]
    stubs = [entry for entry in document.entries if isinstance(entry, SessionStub)]
    metadata = value["metadata"]
    assert metadata["total_qa_pairs"] == len(turns) + sum(stub.turns for stub in stubs)
    assert metadata["stored_answers"] == sum(turn["a"] is not None for turn in turns) + sum(
        one.answers for one in stubs
    )
    assert all(isinstance(one, dict) or len(one) > 1 for one in value["index"]["by_semantic_hash"].values())
    recent = [one["session"] for one in value["index"]["by_recency"]]
    assert len(set(recent)) == len(recent)


@given(st.binary() | JSON.map(json.dumps).map(str.encode))
def test_other_data_is_refused(data: bytes) -> None:
    with pytest.raises((ForeignDocumentError, DamagedDocumentError)):
        parse_document(data)
    with pytest.raises((ForeignDocumentError, DamagedDocumentError)):
        parse_session(data)


@given(DOCUMENTS, st.data())
def test_truncated_document_is_damaged(document: QaDocument, data: st.DataObject) -> None:
    whole = render_document(document).encode().rstrip()
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises(DamagedDocumentError):
        parse_document(cut)


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"version": 2}, "version"), ({"structure": "vectors"}, "structure"), ({"version": "1"}, "version")],
)
def test_document_of_other_program_or_version_is_foreign(change: dict[str, object], reason: str) -> None:
    with pytest.raises(ForeignDocumentError, match=reason):
        parsed(**change)


@pytest.mark.parametrize(
    ("turn", "place"),
    [
        ({"seq": "1"}, r"sessions\[0\]\.qa_sequence\[0\]\.seq is no count"),
        ({"q": None}, r"qa_sequence\[0\]\.q is no string"),
        ({"timestamp": "yesterday"}, r"timestamp is no time"),
        ({"a_significance": 7}, r"a_significance is no number"),
        ({"q_tokens": "design"}, r"q_tokens is no array"),
        ({"seq": 0}, r"seq is 0"),
        ({"seq": 10**30}, r"seq is no count"),
        ({"timestamp": "0001-01-01T00:00:00+14:00"}, r"timestamp is no time from 1970"),
        ({"timestamp": "9999-12-31T23:59:59-14:00"}, r"timestamp is no time from 1970"),
        ({"x": [[[]]] * 3, "y": json.loads("[" * 65 + "]" * 65)}, r"nested deeper"),
        ({"topic_tags": [1]}, r"topic_tags\[0\] is no string"),
        ({"marked": "yes"}, "marked is neither true nor false"),
    ],
)
def test_damage_is_reported_with_its_place(turn: dict[str, object], place: str) -> None:
    with pytest.raises(DamagedDocumentError, match=place):
        parsed(sessions=[{**ROW, "qa_sequence": [{**TURN, **turn}]}])


@pytest.mark.parametrize(
    "rows",
    [[ROW, ROW], [{**ROW, "qa_sequence": [TURN, TURN]}], [{"created": "x"}], ["a"], {}, [{**ROW, "remember": 0}]],
)
def test_inconsistent_sessions_are_damaged(rows: object) -> None:
    with pytest.raises(DamagedDocumentError):
        parsed(sessions=rows)


def test_example_of_the_reference_is_parsed() -> None:
    turn = {**TURN, "q_tokens": ["hi"], "q_hash": "abc123", "a": None, "a_significance": 0}
    (session,) = parsed(sessions=[{**ROW, "qa_sequence": [turn]}]).entries
    assert isinstance(session, Session)
    assert session.turns[0].question_hash == "abc123"


def test_hash_index_has_an_object_for_one_turn_and_a_list_for_several() -> None:
    entries = (conversation("a", "restart nginx"), conversation("b", "restart nginx", "install caddy"))
    found = rendered(*entries)["index"]["by_semantic_hash"]
    assert list(found.values()) == [
        [{"session": "a", "seq": 1}, {"session": "b", "seq": 1}],
        {"session": "b", "seq": 2},
    ]


def test_recency_index_starts_with_newest_session() -> None:
    older, newer = conversation("a", "one"), conversation("b", "one", "two")
    found = rendered(older, newer)["index"]["by_recency"]
    assert [(one["session"], one["seq"]) for one in found] == [("b", 2), ("a", 1)]


def test_long_session_is_a_stub_with_its_file() -> None:
    long = conversation("long", *(f"question of the boiler {number}" for number in range(MAX_TURNS + 1)))
    short = replace(long, turns=long.turns[:MAX_TURNS])
    assert entry_of(short) == short
    stub = entry_of(long)
    assert isinstance(stub, SessionStub)
    assert marks_of(stub) == marks_of(long)
    value = rendered(stub)
    (row,) = value["sessions"]
    assert (row["file"], row["qa_sequence"], row["turns"]) == ("sessions/long.json", [], 51)
    assert value["metadata"]["total_qa_pairs"] == 51
    assert value["index"]["by_recency"][0]["seq"] == 51
    assert parse_document(render_document(QaDocument((stub,))).encode()).entries == (stub,)
