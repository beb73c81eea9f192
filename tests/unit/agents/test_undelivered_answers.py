"""Answers that an agent did not read are delivered once with its session's next message, unless forgotten."""

from memoryd.agents.turns.shown import PENDING_MAX, START, PendingRecall, RecallText, UndeliveredAnswers
from memoryd.memory.capture.capturing import SESSIONS_MAX

KEY, OTHER = "claude-code:direct:one", "claude-code:direct:two"
NOTHING = PendingRecall()


def message(text: str) -> RecallText:
    return RecallText(text)


def test_answer_that_was_read_is_not_pending() -> None:
    sessions = UndeliveredAnswers()
    assert sessions.take(KEY, START) == NOTHING
    assert sessions.take(KEY, message("tea?")) == NOTHING
    # the answer to a message that never came is missed; those before it were read
    sessions.add_unread(KEY, message("gate?"))
    assert sessions.take(KEY, message("ok")) == PendingRecall(texts=(message("gate?"),))
    assert sessions.take(KEY, message("ok")) == NOTHING


def test_unread_answer_is_pending_with_the_earlier_unread_ones() -> None:
    sessions = UndeliveredAnswers()
    sessions.take(KEY, START)
    sessions.add_unread(KEY, START)
    assert sessions.take(OTHER, message("tea?")) == NOTHING
    for text in ("tea?", "gate?"):
        assert sessions.take(KEY, message(text)).is_start
        sessions.add_unread(KEY, message(text))
    assert sessions.take(KEY, message("ok")) == PendingRecall(is_start=True, texts=(message("tea?"), message("gate?")))
    assert sessions.take(KEY, message("ok")) == NOTHING


def test_answers_dropped_by_the_agent_are_pending_again() -> None:
    sessions = UndeliveredAnswers()
    for text in ("one?", "two?", "two?", "three?"):
        sessions.take(KEY, message(text))
        sessions.note_recalled(KEY, message(text))
    sessions.add_all(KEY)
    pending = sessions.take(KEY, START)
    assert (pending.is_start, pending.texts) == (True, (message("two?"), message("three?"))[-PENDING_MAX:])
    assert sessions.take(KEY, message("ok")) == NOTHING


def test_failure_is_new_once_unless_it_was_not_read() -> None:
    sessions, failure = UndeliveredAnswers(), RecallText("git push\ndenied", is_failure=True)
    assert sessions.is_new_failure(KEY, failure, is_unread=False)
    sessions.take(KEY, failure)
    assert not sessions.is_new_failure(KEY, failure, is_unread=False)
    assert not sessions.is_new_failure(KEY, failure, is_unread=True), "the first report was read"
    assert sessions.is_new_failure(OTHER, failure, is_unread=True), "this session has not heard of it"
    third = RecallText("make\nlease", is_failure=True)
    assert sessions.is_new_failure(KEY, third, is_unread=False)
    sessions.take(KEY, third)
    assert sessions.is_new_failure(KEY, third, is_unread=True)
    sessions.add_unread(KEY, third)
    assert sessions.take(KEY, message("ok")).texts == (third,)
    sessions.add_all(KEY)
    assert sessions.is_new_failure(KEY, failure, is_unread=False), "the agent has dropped what it read"


def test_forgotten_texts_are_not_pending() -> None:
    sessions = UndeliveredAnswers()
    sessions.add_unread(KEY, START)
    sessions.add_unread(KEY, message("tea?"))
    sessions.drop_texts()
    assert sessions.take(KEY, message("ok")) == PendingRecall(is_start=True)


def test_pending_answers_are_bounded_and_need_a_session_key() -> None:
    sessions = UndeliveredAnswers()
    sessions.add_unread("", message("tea?"))
    assert sessions.take("", message("ok")) == NOTHING
    for number in range(SESSIONS_MAX + 1):
        sessions.add_unread(f"{KEY}{number}", message("x" * 100_000))
    assert sessions.take(f"{KEY}0", message("ok")) == NOTHING
    (held,) = sessions.take(f"{KEY}2", message("ok")).texts
    assert len(held.text) < 5_000


def test_last_three_messages_of_a_session_are_known_until_forgotten() -> None:
    sessions = UndeliveredAnswers()
    assert [sessions.note_message(KEY, text) for text in ("a", "b", "c", "d")] == [
        (),
        ("a",),
        ("a", "b"),
        ("a", "b", "c"),
    ]
    assert sessions.note_message(KEY, "e") == ("b", "c", "d")
    assert sessions.note_message(OTHER, "f") == ()
    assert sessions.note_message("", "g") == sessions.note_message("", "h") == ()
    sessions.drop_texts()
    assert sessions.note_message(KEY, "i") == ()
