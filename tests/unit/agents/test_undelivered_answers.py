"""What sessions are still to be told: what nobody read, once, in its own session, and nothing that was forgotten."""

from memoryd.agents.turns.shown import PENDING_MAX, START, PendingRecall, RecallText, UndeliveredAnswers
from memoryd.memory.capture.capturing import SESSIONS_MAX

KEY, OTHER = "claude-code:direct:one", "claude-code:direct:two"
NOTHING = PendingRecall()


def said(text: str) -> RecallText:
    return RecallText(text)


def test_what_was_read_is_not_owed_again() -> None:
    sessions = UndeliveredAnswers()
    assert sessions.take(KEY, START) == NOTHING
    assert sessions.take(KEY, said("tea?")) == NOTHING
    # the answer to a message that never came is missed; those before it were read
    sessions.add_unread(KEY, said("gate?"))
    assert sessions.take(KEY, said("ok")) == PendingRecall(texts=(said("gate?"),))
    assert sessions.take(KEY, said("ok")) == NOTHING


def test_what_nobody_read_is_owed_with_all_that_went_with_it() -> None:
    sessions = UndeliveredAnswers()
    sessions.take(KEY, START)
    sessions.add_unread(KEY, START)
    assert sessions.take(OTHER, said("tea?")) == NOTHING
    for text in ("tea?", "gate?"):
        assert sessions.take(KEY, said(text)).is_start
        sessions.add_unread(KEY, said(text))
    assert sessions.take(KEY, said("ok")) == PendingRecall(is_start=True, texts=(said("tea?"), said("gate?")))
    assert sessions.take(KEY, said("ok")) == NOTHING


def test_what_the_agent_drops_is_owed_again() -> None:
    sessions = UndeliveredAnswers()
    for text in ("one?", "two?", "two?", "three?"):
        sessions.take(KEY, said(text))
        sessions.note_recalled(KEY, said(text))
    sessions.add_all(KEY)
    pending = sessions.take(KEY, START)
    assert (pending.is_start, pending.texts) == (True, (said("two?"), said("three?"))[-PENDING_MAX:])
    assert sessions.take(KEY, said("ok")) == NOTHING


def test_failure_is_told_once_unless_nobody_read_that() -> None:
    sessions, failure = UndeliveredAnswers(), RecallText("git push\ndenied", is_failure=True)
    assert sessions.is_new_failure(KEY, failure, is_unread=False)
    sessions.take(KEY, failure)
    assert not sessions.is_new_failure(KEY, failure, is_unread=False)
    assert not sessions.is_new_failure(KEY, failure, is_unread=True), "the time before was read"
    assert sessions.is_new_failure(OTHER, failure, is_unread=True), "the first that is heard of it"
    third = RecallText("make\nlease", is_failure=True)
    assert sessions.is_new_failure(KEY, third, is_unread=False)
    sessions.take(KEY, third)
    assert sessions.is_new_failure(KEY, third, is_unread=True)
    sessions.add_unread(KEY, third)
    assert sessions.take(KEY, said("ok")).texts == (third,)
    sessions.add_all(KEY)
    assert sessions.is_new_failure(KEY, failure, is_unread=False), "the agent has dropped what it was told"


def test_what_is_forgotten_is_owed_no_more() -> None:
    sessions = UndeliveredAnswers()
    sessions.add_unread(KEY, START)
    sessions.add_unread(KEY, said("tea?"))
    sessions.drop_texts()
    assert sessions.take(KEY, said("ok")) == PendingRecall(is_start=True)


def test_little_is_held_and_nothing_without_a_key() -> None:
    sessions = UndeliveredAnswers()
    sessions.add_unread("", said("tea?"))
    assert sessions.take("", said("ok")) == NOTHING
    for number in range(SESSIONS_MAX + 1):
        sessions.add_unread(f"{KEY}{number}", said("x" * 100_000))
    assert sessions.take(f"{KEY}0", said("ok")) == NOTHING
    (held,) = sessions.take(f"{KEY}2", said("ok")).texts
    assert len(held.text) < 5_000


def test_what_was_said_last_is_known_to_the_next_message_of_its_session_until_texts_are_forgotten() -> None:
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
