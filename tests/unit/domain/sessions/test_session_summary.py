"""Summaries of conversations in their own words."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.sessions.keeping import Keeping
from memoryd.domain.sessions.making_turns import RawTurn, made_turn
from memoryd.domain.sessions.session_summary import session_summary
from memoryd.domain.sessions.turns import Session, SessionId

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
MOST = 12 * 170 + 40
"""Twelve sentences with what stands between them."""


def session_of(*said: tuple[str, str | None]) -> Session:
    session = Session(SessionId("s"), NOW)
    for number, (question, answer) in enumerate(said):
        raw = RawTurn(question, answer, NOW + timedelta(minutes=number))
        turn = made_turn(raw, session, keeping=Keeping()).turn
        session = Session(session.id, NOW, (*session.turns, turn))
    return session


def test_says_what_was_asked_decided_and_left_open() -> None:
    session = session_of(
        ("Hello there. Which router should I buy for the cottage?", "The second one, because it is quieter."),
        ("We decided to go with the second router.", "Good."),
        ("I still need to call Peter about the roof.", None),
        ("Who repairs the gutter?", None),
    )
    found = session_summary(session)
    assert found.text.split("\n") == [
        "Asked: Which router should I buy for the cottage? · Who repairs the gutter?",
        "Decided: We decided to go with the second router.",
        "Open: I still need to call Peter about the roof. · Who repairs the gutter?",
    ]
    assert found.titled(session.id).startswith("Session s: Asked: ")


def test_stays_in_the_language_of_the_questions() -> None:
    found = session_summary(
        session_of(
            ("网关用哪个端口？", "18790。"), ("我们决定用第二个路由器。", None), ("明天提醒我给王芳打电话。", None)
        )
    )
    assert found.text == "问过：网关用哪个端口？\n决定：我们决定用第二个路由器。\n未决：明天提醒我给王芳打电话。"


def test_tells_no_secret() -> None:
    key = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG"
    told = session_summary(
        session_of((f"Is the key {key} still good?", None), (f"We decided to use {key}.", None))
    ).text
    assert "Is the key" in told
    assert key not in told


def test_nothing_is_said_of_nothing() -> None:
    assert session_summary(Session(SessionId("s"), NOW)).text == ""
    assert session_summary(Session(SessionId("s"), NOW)).titled(SessionId("s")) == ""


@given(st.lists(st.tuples(st.text(max_size=400), st.none() | st.text(max_size=400)), max_size=12))
def test_is_bounded_and_the_same_for_the_same_session(said: list[tuple[str, str | None]]) -> None:
    session = session_of(*said)
    text = session_summary(session).text
    assert text == session_summary(session).text
    assert len(text) <= MOST
    assert text.count("\n") <= 2
