"""Repeated messages, and answers in parts."""

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.making_turns import RETRY, join_answer, repeated_turn
from memoryd.domain.sessions.turns import Session, Turn
from memoryd.wire import ANSWER_CHARS_MAX

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TURN = Turn(1, "Which port?", NOW)
SESSION = Session(SessionId("s"), NOW, (TURN,))


def test_repeated_message_is_the_same_turn_until_answered() -> None:
    assert repeated_turn(SESSION, "Which port?", NOW + timedelta(seconds=30), is_timed=False) is TURN
    assert repeated_turn(SESSION, "Which host?", NOW, is_timed=False) is None
    assert repeated_turn(SESSION, "Which port?", NOW + RETRY, is_timed=False) is None
    answered = replace(SESSION, turns=(replace(TURN, significance=0.2),))
    assert answered.turns[0].is_answered
    assert repeated_turn(answered, "Which port?", NOW, is_timed=False) is None


def test_message_whose_reply_a_stop_cut_off_is_the_same_behind_those_of_others() -> None:
    others = Turn(2, "And the host?", NOW + timedelta(seconds=1))
    both, started, at = replace(SESSION, turns=(TURN, others)), NOW + timedelta(seconds=9), NOW + timedelta(seconds=20)
    assert repeated_turn(both, "Which port?", at, is_timed=False, started=started) is TURN
    assert repeated_turn(both, "And the host?", at, is_timed=False, started=started) is others
    assert repeated_turn(both, "Which port?", at, is_timed=False, started=NOW) is None, "it was replied to"
    answered = replace(both, turns=(replace(TURN, significance=0.2), others))
    assert repeated_turn(answered, "Which port?", at, is_timed=False, started=started) is None


def test_timed_message_is_the_same_only_at_that_time() -> None:
    later = replace(
        SESSION, turns=(replace(TURN, answer="18790"), Turn(2, "And the host?", NOW + timedelta(minutes=1)))
    )
    assert repeated_turn(later, "Which port?", NOW, is_timed=True) is later.turns[0]
    assert repeated_turn(later, "And the host?", NOW + timedelta(minutes=2), is_timed=True) is None
    assert repeated_turn(Session(SessionId("s"), NOW), "Which port?", NOW, is_timed=True) is None


def test_answer_parts_are_joined_and_repeated_part_is_ignored() -> None:
    assert join_answer("", "Let me look.") == "Let me look."
    joined = join_answer("Let me look.", "It is 18790.")
    assert joined == "Let me look.\n\nIt is 18790."
    assert join_answer(joined, "It is 18790.") is None
    assert join_answer(joined, "Let me look.") is None, "sent again after a part of another client"
    assert join_answer(joined, "Let me") == f"{joined}\n\nLet me"
    assert join_answer("It is 18790.", "It is 18790.") is None
    assert len(join_answer("a" * ANSWER_CHARS_MAX, "b") or "") == ANSWER_CHARS_MAX
