"""Each part of a significance follows its rule, in English and Chinese."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import Keeping
from memoryd.domain.sessions.making_turns import (
    RawTurn,
    SignificanceParts,
    answer_words,
    context_density,
    emotional_weight,
    made_turn,
    significance_parts,
    uniqueness,
    user_action,
    without_formulas,
)
from memoryd.domain.sessions.turns import Session
from memoryd.search.ranking import commonness

NOW = datetime(2026, 1, 30, tzinfo=UTC)
MATTERS = {
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
PASSES = {
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
    made = made_turn(RawTurn(question, answer, NOW), session, keeping=Keeping(), commonness=commonness)
    return made.turn.significance


@pytest.mark.parametrize(("question", "answer"), MATTERS.items())
def test_answer_that_matters_is_above_the_threshold(question: str, answer: str) -> None:
    assert significance_of(question, answer) > 0.6


@pytest.mark.parametrize(("question", "answer"), PASSES.items())
def test_answer_that_passes_is_far_below_it(question: str, answer: str) -> None:
    assert significance_of(question, answer) < 0.5


def test_weights_are_the_reference_s() -> None:
    assert SignificanceParts(1, 0, 0, 0).significance == 0.3
    assert SignificanceParts(0, 1, 0, 0).significance == 0.2
    assert SignificanceParts(0, 0, 1, 0).significance == 0.25
    assert SignificanceParts(0, 0, 0, 1).significance == 0.25
    assert SignificanceParts(1, 1, 1, 1).significance == 1


def test_uniqueness_falls_with_what_the_question_or_another_answer_says() -> None:
    words = ("sqlite", "journal", "wal", "checkpoint")
    alone = uniqueness(words, (), [])
    assert alone == pytest.approx(1 - 3 ** (-4 / 4))
    assert uniqueness(words, ("sqlite", "wal"), []) < alone
    assert uniqueness(words, (), [("sqlite", "wal"), ("tea",)]) == pytest.approx(alone / 2)
    assert uniqueness(words, (), [words]) == 0
    assert uniqueness((), (), []) == 0


def test_phrases_of_politeness_are_nothing_of_its_own() -> None:
    assert answer_words(without_formulas("Sure! Let me know if you need anything.")) == answer_words(
        "you need anything"
    )
    assert answer_words("好的，没问题！") == ()


@pytest.mark.parametrize(
    "answer", ["Run `make install`, then restart.", "先备份，再运行 `make`。", "1. Open it\n2. Close it"]
)
def test_steps_and_commands_are_acted_on(answer: str) -> None:
    assert user_action(answer) > 0.6


@pytest.mark.parametrize("answer", ["Paris is a city.", "今天晴。", ""])
def test_facts_are_not_acted_on(answer: str) -> None:
    assert user_action(answer) == 0


def test_density_grows_with_reasons_and_with_topics_that_return() -> None:
    assert context_density("It is blue.", ["sky"], []) == 0
    assert context_density("It is blue because of scattering.", ["sky"], []) == pytest.approx(0.5)
    assert context_density("It took 15 of 40.", ["sky"], []) == pytest.approx(1 - 0.5**2)
    assert context_density("因为散射，所以是蓝的。", ["天空"], []) == pytest.approx(1 - 0.5**2)
    assert context_density("It is blue.", ["sky_colour"], ["colour"]) == pytest.approx(1 - 0.5**2)


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("I'm so worried about my mother, what should I do?", "What is a mother?"),
        ("我很担心妈妈的身体，该不该去医院？", "医院几点开门"),
        ("This is urgent!", "This is blue."),
    ],
)
def test_what_is_felt_weighs_more(more: str, less: str) -> None:
    assert emotional_weight(more, "") > emotional_weight(less, "") + 0.2


@given(st.text(), st.text(), st.lists(st.text(max_size=5)), st.lists(st.text(max_size=5)))
def test_every_part_is_a_share(question: str, answer: str, words: list[str], tags: list[str]) -> None:
    parts = significance_parts(
        question, answer, answer_words=words, question_words=tags, stored=[tags], topics=tags, earlier_topics=words
    )
    assert all(
        0 <= part <= 1 for part in (parts.uniqueness, parts.user_action, parts.context_density, parts.emotional_weight)
    )
    assert 0 <= parts.significance <= 1


@pytest.mark.parametrize(
    "piece", ["一", "\n", "a-", "-\n", "1.\n", "三点五", "`", "a.", " ", "1,", "先", "比", "stress", "\n "]
)
def test_hostile_answer_takes_no_longer_than_another(piece: str) -> None:
    """Quadratic time would be half an hour for so long an answer, and the time limit of every test is five minutes."""
    text = piece * (400_000 // len(piece))
    parts = significance_parts(text, text, answer_words=(), question_words=())
    assert 0 <= parts.significance <= 1
