"""The parts of significance, in English and Chinese."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import AnswerRetention
from memoryd.domain.sessions.making_turns import RawTurn, answer_words, make_turn
from memoryd.domain.sessions.significance import (
    AnswerSigns,
    Sign,
    SignificanceParts,
    answer_signs,
    context_density,
    emotional_weight,
    significance_parts,
    uniqueness,
    user_action,
    without_formulas,
)
from memoryd.domain.sessions.turns import Session
from memoryd.search.ranking import commonness
from tests.sweeps import whole_or
from tests.waiting import soon

NOW = datetime(2026, 1, 30, tzinfo=UTC)
SIGNIFICANT = {
    "My backups keep failing at night and I'm worried about the photos. What should I do?": (
        "First check the disk: run `smartctl -a /dev/sda`, because a failing drive is the usual reason. Then move the "
        "job to 3 am, so that it does not collide with the media scan, and switch to restic instead of rsync."
    ),
    "Should I take the job in Berlin?": (
        "It depends on what matters to you. The salary is higher, but rent in Berlin has doubled and your daughter "
        "changes school; I would take it only if they pay the move, because the trial period is six months. Ask them "
        "for a written offer first, then talk to your wife about the flat."
    ),
    "数据库连接超时怎么办？": (
        "首先检查连接池的大小，然后把 `pool_size` 改成 20。超时通常是因为慢查询占满了连接，所以应该先优化索引，"
        "而不是加大超时时间。"
    ),
}
INSIGNIFICANT = {
    "What's the capital of France?": "Paris.",
    "thanks!": "You're welcome! Let me know if you need anything else.",
    "What time is it in Tokyo?": "It is 14:30 in Tokyo now.",
    "Tell me a joke": "Why did the chicken cross the road? To get to the other side!",
    "今天天气怎么样": "今天晴，最高气温二十度。",
    "好的，谢谢": "不客气，随时告诉我！",
    "你是谁": "我是一个AI助手，很高兴为你服务。",
}


def significance_of(question: str, answer: str) -> float:
    session = Session(SessionId("s"), NOW)
    made = make_turn(RawTurn(question, answer, NOW), session, answer_retention=AnswerRetention(), commonness=commonness)
    return made.turn.significance


@pytest.mark.parametrize(("question", "answer"), SIGNIFICANT.items())
def test_significant_answer_is_above_threshold(question: str, answer: str) -> None:
    assert significance_of(question, answer) > 0.6


@pytest.mark.parametrize(("question", "answer"), INSIGNIFICANT.items())
def test_insignificant_answer_is_below_threshold(question: str, answer: str) -> None:
    assert significance_of(question, answer) < 0.5


def test_weights_are_those_of_the_reference() -> None:
    assert SignificanceParts(1, 0, 0, 0).significance == 0.3
    assert SignificanceParts(0, 1, 0, 0).significance == 0.2
    assert SignificanceParts(0, 0, 1, 0).significance == 0.25
    assert SignificanceParts(0, 0, 0, 1).significance == 0.25
    assert SignificanceParts(1, 1, 1, 1).significance == 1


def signs(**count: int) -> AnswerSigns:
    return AnswerSigns({Sign(name): frozenset(map(str, range(number))) for name, number in count.items()})


def test_uniqueness_grows_with_signs_and_falls_with_overlap() -> None:
    words = ("sqlite", "journal", "wal", "checkpoint")
    alone = uniqueness(signs(figure=2, name=1), words, [])
    assert alone == pytest.approx(1 - 0.57**3)
    assert uniqueness(signs(figure=1), words, []) < alone
    # signs of several kinds count more than many of one kind
    assert uniqueness(signs(figure=40), words, []) == uniqueness(signs(figure=3), words, [])
    assert uniqueness(signs(figure=2, name=1), words, [("sqlite", "wal", "tap"), ("tea",)]) == pytest.approx(alone / 2)
    assert uniqueness(signs(figure=3), words, [words]) == 0
    assert uniqueness(signs(), words, []) == 0
    # one word of a longer answer is not the same answer
    assert uniqueness(signs(plain=1), ("noreen",), [("noreen", "sings", "alto")]) > 0.5
    assert uniqueness(signs(plain=1), ("noreen",), [("noreen",)]) == 0


@pytest.mark.parametrize(
    ("question", "answer", "found"),
    [
        ("what's the code?", "The code is 4711.", {Sign.FIGURE, Sign.PLAIN}),
        ("was it serious?", "It's benign.", {Sign.FINDING, Sign.PLAIN}),
        ("may he have nuts?", "No, never: he is allergic.", {Sign.BAN, Sign.OWN, Sign.PLAIN}),
        ("who holds the key?", "Oskar.", {Sign.PLAIN}),
        ("门禁密码是多少", "xk7q29", {Sign.CODE, Sign.PLAIN}),
        ("弟弟能吃虾吗", "不能，他过敏。", {Sign.BAN, Sign.OWN, Sign.PLAIN}),
        ("最后跟谁签", "跟宏达签。", {Sign.DECISION, Sign.PLAIN}),
        ("and now?", "We decided on the second floor of the house in Rua Verde, as the first one has hardly any light.",
         {Sign.DECISION, Sign.NAME}),
        ("where is the spare key?", "Under the flower pot – behind the shed that isn’t painted.", {Sign.PLAIN}),
        ("谁来修", "找Peter就行。", {Sign.NAME, Sign.PLAIN}),
    ],
)  # fmt: skip
def test_specific_answer_has_signs(question: str, answer: str, found: set[Sign]) -> None:
    assert set(answer_signs(question, answer).by_sign) == found


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how can I save money?", "Studies show that 70 % of people spend too much. Set aside 10 % every month."),
        ("any ideas for the party?", "1. **Quiz** for 8 people\n2. **Picnic** at 3\n3. **Karaoke** with Anna"),
        ("run it", "Traceback (most recent call last):\n  File \"/srv/app.py\", line 12\nKeyError: 'x9'"),
        ("open the page", "502 Bad Gateway. Request ID: 7af3-19."),
        ("When does Lena land on the 4th?", "You want to know when Lena lands on the 4th?"),
        ("I won the race!", "Congratulations! You should be proud of these 42 km."),
        ("你算错了", "非常抱歉，是我疏忽了，3分钟内随时告诉我。"),
        ("打开报表", "系统繁忙，错误代码 5003。"),
        ("怎么提高记忆力", "专家建议每天背诵20分钟，坚持30天。"),
        ("why is that so?", "That's a great question!"),
        ("how are you?", "I'm doing well, thank you for asking!"),
        ("can you tidy up?", "Done, as you asked."),
        ("what's 12 * 30?", "360."),
        ("is the door shut?", "Which door do you mean, the one with number 12?"),
    ],
)
def test_generic_text_has_no_signs(question: str, answer: str) -> None:
    found = answer_signs(question, answer)
    assert set(found.by_sign) <= {Sign.OWN}
    assert (uniqueness(found, ("any",), []), user_action(found)) == (0, 0)


def test_polite_phrases_are_removed() -> None:
    assert answer_words(without_formulas("Sure! Let me know if you need anything.")) == answer_words(
        "you need anything"
    )
    assert answer_words("好的，没问题！") == ()


def test_user_action_counts_decisions_prohibitions_and_codes() -> None:
    assert user_action(signs()) == 0
    assert user_action(signs(decision=1)) == pytest.approx(0.5)
    assert user_action(signs(decision=1, ban=1, code=1)) == pytest.approx(1 - 0.5**3)
    assert user_action(signs(plain=1)) == pytest.approx(1 - 0.5**3)
    assert user_action(signs(name=3, finding=1)) == 0


def test_context_density_grows_with_names_and_recurring_topics() -> None:
    assert context_density(signs(), ["sky_colour", "sea"], ["colour"]) == 0
    assert context_density(signs(finding=1), ["sky"], []) == pytest.approx(0.5)
    assert context_density(signs(name=5), ["sky"], []) == pytest.approx(1 - 0.5**2)
    assert context_density(signs(finding=1), ["sky_colour"], ["colour"]) == pytest.approx(1 - 0.5**3)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("I'm so worried about my mother, what should I do?", "What is a mother?"),
        ("我很担心妈妈的身体，该不该去医院？", "医院几点开门"),
        ("This is urgent!", "This is blue."),
    ],
)
def test_emotional_text_weighs_more(more: str, less: str) -> None:
    assert emotional_weight(more, "") > emotional_weight(less, "") + 0.2


@given(st.text(), st.text(), st.lists(st.text(max_size=5)), st.lists(st.text(max_size=5)))
def test_each_part_is_between_0_and_1(question: str, answer: str, words: list[str], tags: list[str]) -> None:
    parts = significance_parts(question, answer, answer_words=words, stored=[tags], topics=tags, earlier_topics=words)
    assert all(
        0 <= part <= 1 for part in (parts.uniqueness, parts.user_action, parts.context_density, parts.emotional_weight)
    )
    assert 0 <= parts.significance <= 1


@pytest.mark.sweep
@pytest.mark.parametrize(
    "piece",
    ["一", "\n", "a-", "-\n", "1.\n", "三点五", "`", "a.", " ", "1,", "先", "比", "stress", "\n ", "…", "A. "],
)
def test_hostile_answer_is_rated_in_linear_time(piece: str) -> None:
    """Quadratic time would take minutes."""
    text = piece * (whole_or(100_000, 400_000) // len(piece))
    with soon():
        parts = significance_parts(text, text, answer_words=())
    assert 0 <= parts.significance <= 1
