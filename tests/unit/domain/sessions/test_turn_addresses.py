"""Addresses and ranges of turns, times given by callers, and excerpts of a session."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import (
    ALL_TURNS,
    SeqRange,
    SessionId,
    TurnAddress,
    parse_address,
    parse_seqs,
    turn_address,
)
from memoryd.domain.sessions.turns import AHEAD, Session, Turn, matching_turns, parse_instant

NOW = datetime(2026, 11, 22, 12, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("session:main-20261018#Q17", TurnAddress("main-20261018", SeqRange(17, 17))),
        ("main-20261018#Q15-Q17", TurnAddress("main-20261018", SeqRange(15, 17))),
        (" session:discord-常规-20260130 ", TurnAddress("discord-常规-20260130")),
        ("main-20261018", TurnAddress("main-20261018")),
        ("../../x#Q1", TurnAddress("../../x#Q1")),
        ("session:main#L3", TurnAddress("main", SeqRange(2, 2))),
    ],
)
def test_address_parses(text: str, found: TurnAddress) -> None:
    assert parse_address(text) == found


@given(st.integers(1, 10**8))
def test_address_round_trips(seq: int) -> None:
    found = parse_address(turn_address(SessionId("telegram-42-20261122"), seq))
    assert (found.session, found.seq) == ("telegram-42-20261122", seq)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("17", SeqRange(17, 17)),
        ("Q17", SeqRange(17, 17)),
        ("10-20", SeqRange(10, 20)),
        ("q10-Q20", SeqRange(10, 20)),
        ("10-", SeqRange(10)),
        ("-20", SeqRange(1, 20)),
    ],
)
def test_range_parses(text: str, found: SeqRange) -> None:
    assert parse_seqs(text) == found
    assert parse_seqs(str(found)) == found


@pytest.mark.parametrize("text", ["", "-", "0", "20-10", "1,2", "x", "1-2-3", "99999999999"])
def test_invalid_range_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="range of turns"):
        parse_seqs(text)


def test_time_without_zone_is_in_current_zone() -> None:
    assert parse_instant(None, NOW) == NOW
    assert parse_instant("2026-11-20T08:00:00", NOW).utcoffset() == timedelta(hours=1)
    assert parse_instant(" 2026-01-30T18:16:00Z ", NOW) == datetime(2026, 1, 30, 18, 16, tzinfo=UTC)
    assert parse_instant((NOW + AHEAD).isoformat(), NOW) == NOW + AHEAD


@pytest.mark.parametrize(
    "text", ["", "now", "30d", "0001-01-01", "9999-12-31T23:59:59-23:59", "2026-13-01", "1969-12-31"]
)
def test_invalid_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"time|said"):
        parse_instant(text, NOW)


def session_of(*pairs: tuple[str, str | None]) -> Session:
    turns = (Turn(seq, question, NOW, answer) for seq, (question, answer) in enumerate(pairs, start=1))
    return Session(SessionId("s"), NOW, tuple(turns))


def test_next_excerpt_continues_the_previous_one() -> None:
    session = session_of(*((f"question {number}", "answer" * number) for number in range(1, 30)))
    seen: list[Turn] = []
    first: int | None = 1
    while first is not None:
        turns, matched, first = matching_turns(session, seqs=SeqRange(first), max_turns=4, max_chars=100)
        assert 1 <= len(turns) <= 4
        assert matched == 29 - len(seen)
        seen += turns
    assert tuple(seen) == session.turns


def test_excerpt_finds_a_word_in_question_answer_and_topics() -> None:
    session = session_of(("Ｇateway?", None), ("what?", "the GATEWAY"), ("other", None))
    turns, _, _ = matching_turns(session, seqs=ALL_TURNS, word="gateway", max_turns=9, max_chars=99)
    assert [turn.seq for turn in turns] == [1, 2]
    assert matching_turns(session, word="nothing", max_turns=9, max_chars=99) == ((), 0, None)
