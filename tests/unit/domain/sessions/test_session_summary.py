"""Extractive summaries of conversations."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import AnswerRetention
from memoryd.domain.sessions.making_turns import RawTurn, make_turn
from memoryd.domain.sessions.summary import CHARS, SHORT_CHARS, session_summary
from memoryd.domain.sessions.turns import Session

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def session_of(*said: tuple[str, str | None]) -> Session:
    session = Session(SessionId("s"), NOW)
    for number, (question, answer) in enumerate(said):
        raw = RawTurn(question, answer, NOW + timedelta(minutes=number))
        turn = make_turn(raw, session, answer_retention=AnswerRetention()).turn
        session = Session(session.id, NOW, (*session.turns, turn))
    return session


def summary_of(*said: tuple[str, str | None]) -> str:
    return session_summary(session_of(*said)).text


ROUTER = (
    (
        "Hello there. Which router should I buy for the cottage?",
        "Good question. You should buy the second one before Friday, because it is quieter and needs 5 watts.",
    ),
    ("We decided to go with the second router.", "Good."),
    ("My aunt is a judge.", "Nice."),
    ("I still need to call Peter about the roof.", None),
    ("Who repairs the gutter?", None),
)


def test_summary_has_questions_answers_decisions_and_open_points() -> None:
    found = session_summary(session_of(*ROUTER))
    assert found.text == (
        "Asked: Which router should I buy for the cottage? "
        "Answered: You should buy the second one before Friday, because it is quieter and needs 5 watts. "
        "Decided: We decided to go with the second router. Said: My aunt is a judge. "
        "Open: I still need to call Peter about the roof. Who repairs the gutter?"
    )
    assert found.titled(SessionId("s")).startswith("Session s: Asked: ")
    assert not found.is_short


def test_summary_omits_excluded_sentences_and_earlier_turns() -> None:
    session = session_of(*ROUTER)
    assert "judge" not in session_summary(session, is_left_out=lambda one: one == "My aunt is a judge.").text
    rest = session_summary(session, after=2)
    assert rest.text.startswith("Said: My aunt is a judge. Open: ")
    assert rest.turns == 3
    assert session_summary(session, after=5).text == ""


def test_summary_omits_small_talk_sums_and_instructions() -> None:
    idle = (
        "lol you're funny",
        "今天好累",
        "再简短些",
        "翻译成英文：项目已完成",
        "what's 15% of 260?",
        "no, more formal please",
    )
    chinese = ("我的工位在五楼靠门", "我领导是谁", "打印机在几楼")
    assert summary_of(*((one, None) for one in (*idle, *chinese, "done"))) == "Asked: 我领导是谁 · 打印机在几楼"
    assert summary_of(*((one, None) for one in (*idle, chinese[0], "done"))) == "Said: 我的工位在五楼靠门"


def test_correction_appears_only_with_its_corrected_sentence() -> None:
    session = session_of(
        ("The dentist sees Theo on Monday at 10:30", "Okay."),
        ("no, Tuesday, not Monday", "Okay."),
        ROUTER[1],
        ("My mother's birthday is on the 14. März and we bake", "Okay."),
    )
    text = "Decided: We decided to go with the second router. Said: My mother's birthday is on the 14. März and we bake"
    first = "The dentist sees Theo on Monday at 10:30"

    assert session_summary(session).text == f"Said: {first} · no, Tuesday, not Monday · {text}"
    assert session_summary(session, is_left_out=lambda one: one == first).text == text


def test_correction_of_omitted_sentence_is_omitted() -> None:
    session = session_of(("My aunt is a judge. The class is on Monday.", "Okay."), ("no, Tuesday, not Monday", "Okay."))
    found = session_summary(session, is_left_out=lambda one: one == "The class is on Monday.")
    assert found.text == "Said: My aunt is a judge."


def test_correction_that_is_only_a_value_is_included() -> None:
    said = (("The class is on Monday", "Okay."), ("no, Tuesday", "Okay."), ("no problem", "Okay."))
    assert summary_of(*said) == "Said: The class is on Monday · no, Tuesday"


def test_answer_follows_its_question() -> None:
    long = [(f"Which of the {word} keys opens the door of the barn?", None) for word in ("red", "blue")]
    text = summary_of(*ROUTER[:1], *long)
    assert text.index("Asked: Which router") < text.index("Answered: You should buy")


def test_most_significant_sentence_is_kept_within_limit() -> None:
    chat = [(f"The weather over field number {number} was grey and calm all day.", None) for number in range(20)]
    text = summary_of(*chat[:10], ROUTER[1], *chat[10:])
    assert "Decided: We decided to go with the second router." in text
    assert len(text) <= CHARS


@pytest.mark.parametrize(
    ("said", "is_significant"),
    [
        (ROUTER[:1], True),
        (ROUTER[:3], True),
        ((("Is it noon?", None), ("Is it late?", "Yes."), ("Is it warm?", "No.")), False),
        ((("My aunt is a judge.", None),) * 3, False),
    ],
)
def test_summary_of_small_talk_is_short(said: tuple[tuple[str, str | None], ...], is_significant: bool) -> None:
    assert session_summary(session_of(*said)).is_short is not is_significant


EGGS = (
    ("How do I boil an egg?", "Six minutes for soft."),
    ("And hard?", "Ten minutes."),
    ("what about altitude", "A bit longer."),
    ("Thanks!", "You are welcome."),
    ("How do I boil an egg?", "As I said."),
    ("My aunt is a judge.", "Nice."),
)


def test_questions_are_summarised_if_nothing_is_significant() -> None:
    assert summary_of(*EGGS) == "Asked: How do I boil an egg? · And hard? · what about altitude"
    assert summary_of(*EGGS[3:4], EGGS[5]) == "Said: My aunt is a judge."
    assert session_summary(session_of(*EGGS), is_left_out=lambda _sentence: True).text == ""
    boxes = [(f"How many eggs are there in box number {number}?", "Some.") for number in range(30)]
    assert 100 < len(summary_of(*boxes, EGGS[3])) <= SHORT_CHARS
    assert summary_of(("为什么？", "不知道。"), ("你好", "你好")) == "问：为什么？"


def test_omitting_an_introduction_omits_what_follows() -> None:
    session = session_of(
        ("My passphrase is:\ncorrect horse battery. We decided to buy a boat.", "Good."),
        ("What is my passphrase?", "You should say correct horse battery, because you decided to. It is Friday."),
    )
    text = session_summary(session, is_left_out=lambda one: "passphrase" in one).text
    assert "horse" not in text
    assert "Decided: We decided to buy a boat." in text


def test_summary_is_in_language_of_questions() -> None:
    text = summary_of(
        ("网关用哪个端口？", "18790。你应该先停掉第二个进程，因为它占着租约，然后重新启动网关。"),
        ("我们决定用第二个路由器。", None),
        ("明天提醒我给王芳打电话。", None),
    )
    assert text == (
        "问：网关用哪个端口？答：你应该先停掉第二个进程，因为它占着租约，然后重新启动网关。"
        "决定：我们决定用第二个路由器。未决：明天提醒我给王芳打电话。"
    )


def test_summary_contains_no_secret() -> None:
    key = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG"
    text = summary_of((f"Is the key {key} still good?", None), (f"We decided to use {key}.", None))
    assert "Is the key" in text
    assert key not in text


def test_empty_session_has_no_summary() -> None:
    assert session_summary(Session(SessionId("s"), NOW)).text == ""
    assert session_summary(Session(SessionId("s"), NOW)).titled(SessionId("s")) == ""


@given(st.lists(st.tuples(st.text(max_size=400), st.none() | st.text(max_size=400)), max_size=12))
def test_summary_is_bounded_and_deterministic(said: list[tuple[str, str | None]]) -> None:
    text = summary_of(*said)
    assert text == summary_of(*said)
    assert len(text) <= CHARS
    assert "\n" not in text
