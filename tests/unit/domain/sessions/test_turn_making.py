"""Turns made from raw messages: keywords, hash, topics and significant answers, as in the reference."""

import json
from datetime import timedelta

from msgspec.structs import replace

from memoryd.domain.sessions.documents import AnswerRetention, QaDocument, render_document
from memoryd.domain.sessions.making_turns import MadeTurn, RawTurn, make_turn, message_keys
from memoryd.domain.sessions.names import session_id
from memoryd.domain.sessions.sequences import Chosen, IndexedTurns, choose, sequence
from memoryd.domain.sessions.turns import Session
from memoryd.search.ranking import commonness
from tests.unit.domain.sessions.seven_turns import BEGUN, KEY, SEVEN


def seven_turns() -> Session:
    session = Session(session_id(KEY, BEGUN.date(), lambda _: True), BEGUN, agent="main", key=KEY)
    for raw in SEVEN:
        made = make_turn(raw, session, answer_retention=AnswerRetention(), commonness=commonness)
        session = replace(session, turns=(*session.turns, made.turn))
    return session


def eighth_turn(raw: RawTurn, *interests: str) -> MadeTurn:
    return make_turn(raw, seven_turns(), answer_retention=AnswerRetention(interests=frozenset(interests)))


def test_document_of_seven_turns_matches_the_reference() -> None:
    document = json.loads(render_document(QaDocument((seven_turns(),))))
    assert list(document) == ["version", "structure", "sessions", "index", "metadata"]
    (session,) = document["sessions"]
    assert session["session_id"] == "discord-常规-20260130"
    assert session["created"] == "2026-01-30T18:16:00Z"
    assert list(session) == ["session_id", "created", "agent", "key", "qa_sequence"]
    first, second, *_ = session["qa_sequence"]
    assert list(first) == ["seq", "q", "q_tokens", "q_hash", "a", "a_significance", "timestamp"]
    assert (first["q"], first["q_tokens"], first["a"], first["a_significance"]) == ("hi", ["hi"], None, 0)
    assert list(second) == [*first, "topic_tags"]
    assert second["topic_tags"] == ["discord_config", "messaging"]
    assert {"discord", "艾特", "消息"} <= set(second["q_tokens"])
    assert [turn["seq"] for turn in session["qa_sequence"] if turn["a"]] == [2, 6, 7]
    assert document["metadata"] == {
        "total_qa_pairs": 7,
        "stored_answers": 3,
        "compression_ratio": 0.43,
        "last_updated": "2026-01-30T18:26:00Z",
    }


def test_indexes_of_seven_turns_match_the_reference() -> None:
    index = json.loads(render_document(QaDocument((seven_turns(),))))["index"]
    name = "discord-常规-20260130"
    assert list(index) == ["by_topic", "by_recency", "by_semantic_hash"]
    assert index["by_topic"]["discord_config"] == [{"session": name, "seq": 2}]
    assert index["by_topic"]["memory_design"] == [{"session": name, "seq": 6}]
    assert index["by_topic"]["llm_architecture"] == [{"session": name, "seq": 7}]
    assert index["by_recency"] == [{"session": name, "seq": 7, "timestamp": "2026-01-30T18:26:00Z"}]
    assert sorted(place["seq"] for place in index["by_semantic_hash"].values()) == [1, 2, 3, 4, 5, 6, 7]


def test_question_about_design_gives_last_three_turns_in_order() -> None:
    session, indexed = seven_turns(), IndexedTurns()
    indexed.put(session)
    keys = message_keys("你觉得这个设计怎么样？", commonness)
    choice = choose(keys, session.id, indexed.matches(keys))
    assert choice.why is Chosen.CURRENT_MATCHES
    assert choice.sentence == (
        "the last turns of the current session, discord-常规-20260130: turn 6 matches (“设计”, memory_design)"
    )
    found = sequence(session, last_seq=choice.last_seq, turns=3)
    assert [turn.seq for turn in found] == [5, 6, 7]
    assert [turn.answer is not None for turn in found] == [False, True, True]


def test_last_turns_are_shown_without_a_message() -> None:
    session = seven_turns()
    choice = choose(None, session.id, [])
    assert choice.sentence == "the last turns of discord-常规-20260130: there is no message to look for"
    assert [turn.seq for turn in sequence(session, last_seq=choice.last_seq)] == [3, 4, 5, 6, 7]


def test_turn_contains_no_secret() -> None:
    raw = RawTurn("my password is hunter2, ok?", "set API_KEY=abcdef123456", BEGUN + timedelta(1))
    made = eighth_turn(raw)
    assert made.turn.question == "my password is ***, ok?"
    assert (made.turn.answer or made.dropped_answer) == "set API_KEY=***"
    assert "hunter2" not in repr(made)


def test_significance_and_topics_of_caller_take_precedence() -> None:
    raw = RawTurn("what of the boat?", "It floats.", BEGUN, significance=0.61, topics=["boat"])
    turn = eighth_turn(raw).turn
    assert (turn.answer, turn.significance, turn.topics, turn.seq) == ("It floats.", 0.61, ("boat",), 8)
    insignificant = replace(raw, significance=0.6)
    assert eighth_turn(insignificant).turn.answer is None
    assert eighth_turn(insignificant, "Boat").turn.answer == "It floats."


def test_topics_of_caller_become_tags() -> None:
    tags = ["my boat\n", "", "my boat", "token=abcd1234efgh", *map(str, range(20))]
    turn = eighth_turn(RawTurn("q", None, BEGUN, topics=tags)).turn
    assert turn.topics == ("my_boat", "token=***", *map(str, range(6)))


def test_lone_surrogate_is_replaced() -> None:
    made = eighth_turn(RawTurn("a\ud800b", None, BEGUN))
    assert made.turn.question == "a?b"
    assert made.turn.answer is None
