"""Intent of a question: opinions, everything known, entities and days."""

from datetime import date

import pytest

from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.recall_filters import asks_for_all, asks_for_opinion, query_intent
from memoryd.domain.memories.times.parsing import QueryDays
from memoryd.domain.memories.times.spans import DaySpan

WEEK = QueryDays(DaySpan(date(2025, 11, 17), date(2025, 11, 23)), is_matter=True)


@pytest.mark.parametrize(
    "question",
    [
        "what does Peter prefer?",
        "What does Peter like",
        "what do you think of SQLite",
        "王芳喜欢什么",
        "favourite tea",
        "他对辣的看法",
    ],
)
def test_question_asks_for_opinion(question: str) -> None:
    assert asks_for_opinion(question)


@pytest.mark.parametrize(
    "question", ["what does the castle look like", "something like a lock", "门锁密码是多少", "who called"]
)
def test_question_about_facts_asks_for_no_opinion(question: str) -> None:
    assert not asks_for_opinion(question)


@pytest.mark.parametrize(
    ("question", "names", "days", "is_bare"),
    [
        ("tell me about The Castle", ["The-Castle"], None, True),
        ("Tell me about Peter's news", ["Peter"], None, True),
        ("the castle", ["the-castle"], None, True),
        ("what did the castle's roof cost", ["the-castle"], None, False),
        ("介绍一下王芳", ["王芳"], None, True),
        ("王芳住在哪里", ["王芳"], None, False),
        ("what happened last week?", [], WEEK, True),
        ("what did we talk about last week", [], WEEK, True),
        ("what did I tell you last week?", [], WEEK, True),
        ("what is on my calendar next week", [], WEEK, True),
        ("what did we talk about the roof last week", [], WEEK, False),
        ("talk to you next week", [], WEEK, False),
        ("let's discuss it next week", [], WEEK, False),
        ("was war letzte Woche los?", [], WEEK, True),
        ("Was haben wir letzten Dienstag gemacht?", [], WEEK, True),
        ("was hat letzte Woche das Dach gekostet?", [], WEEK, False),
        ("上周我们聊了什么", [], WEEK, True),
        ("上周发生了什么", [], WEEK, True),
        ("上周谁修了屋顶", [], WEEK, False),
        ("what happened around Nov 27", [], WEEK, True),
        ("what does Peter prefer", ["Peter"], None, True),
        ("which tea does Peter prefer", ["Peter"], None, False),
        ("what happened", [], None, False),
        ("where is Peter's calendar?", ["Peter"], None, False),
        ("when did I talk to Peter?", ["Peter"], None, False),
        ("王芳和谁讨论过", ["王芳"], None, False),
        ("上周我和王芳聊了什么", ["王芳"], WEEK, True),
        ("what has Peter planned for next week?", ["Peter"], WEEK, True),
    ],
)
def test_bare_question_has_only_entities_or_days(
    question: str, names: list[str], days: QueryDays | None, is_bare: bool
) -> None:
    slugs = [slug_of(name) for name in names]
    assert query_intent(question, entities=slugs, names=names, days=days).is_bare is is_bare


def test_hostile_question_is_parsed_in_linear_time() -> None:
    for text in ("do " * 33_000, "上个" * 50_000, "a" * 100_000, "like " * 20_000, "'" * 100_000, "1" * 100_000):
        found = query_intent(text, entities=[slug_of("a")], names=["a"], days=None)
        assert found.entities


@pytest.mark.parametrize(
    "question",
    [
        "what do you know about me?",
        "so what do you know about me by now",
        "tell me everything you remember about us",
        "what have you got on me",
        "Was weißt du eigentlich über mich?",
        "你都记住我什么了",
        "关于我你知道些什么",
    ],
)
def test_question_asks_for_everything_known(question: str) -> None:
    assert asks_for_all(question)


@pytest.mark.parametrize(
    "question",
    [
        "what do you know about meerkats?",
        "what do you know about me and Ana's trip to Oslo last year, and who paid for the tickets",
        "do you know me?",
        "你知道我什么时候出发吗",
        "Was weißt du über Michael?",
    ],
)
def test_specific_question_does_not_ask_for_everything(question: str) -> None:
    assert not asks_for_all(question)
