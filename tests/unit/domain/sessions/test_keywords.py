"""Keywords, hashes and topics of questions in English and Chinese."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.sessions.topics import MAX_KEYWORDS, NEAR, distance, keywords, simhash, topics
from memoryd.search.ranking import commonness

NEAR_QUESTIONS = (
    ("How do I deploy the database server to production?", "how can I deploy the Database server on production now"),
    ("怎么把数据库服务器部署到生产环境", "如何将数据库服务器部署到生产环境？"),
    ("Why does the nightly backup of the photos fail?", "why did the nightly photos backup fail"),
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("你觉得这个设计怎么样？", ("设计",)),
        ("记忆的架构应该怎么设计，才能让检索又快又准？", ("记忆", "架构", "设计", "检索")),
        ("为什么部署到服务器后数据库连接超时", ("部署", "服务", "数据", "连接", "超时")),
        ("想知道在Discord里面如何避免每次都要艾特你", ("discord", "避免", "艾特")),
        ("What do you think of this design?", ("design",)),
        ("How do I restart nginx on the NAS?", ("restart", "nginx", "nas")),
        ("東京の天気はどうですか", ("東京", "天気")),
        ("hi", ()),
        ("好的，谢谢你", ()),
        ("", ()),
        ("??? 🙂", ()),
    ],
)
def test_keywords_are_significant_words(text: str, words: tuple[str, ...]) -> None:
    assert keywords(text, commonness) == words


def test_rarest_keywords_are_kept_in_order() -> None:
    text = " ".join(f"common{number} rare{number}" for number in range(20))
    found = keywords(text, lambda word: 0.2 if word.startswith("common") else 0.0)
    assert found == tuple(f"rare{number}" for number in range(MAX_KEYWORDS))


@given(st.text())
def test_keywords_are_bounded_and_distinct(text: str) -> None:
    found = keywords(text)
    assert len(found) <= MAX_KEYWORDS
    assert len(set(found)) == len(found)


def test_hash_is_stable() -> None:
    assert simhash(("design",)) == "dd38fa41e9522123"
    assert simhash(("设计", "记忆")) == simhash(("记忆", "设计"))
    assert simhash((), "hi") == simhash((), " HI ") != simhash((), "hello")


@pytest.mark.parametrize(("one", "other"), NEAR_QUESTIONS)
def test_similar_questions_have_near_hashes(one: str, other: str) -> None:
    first, second = (simhash(keywords(text, commonness), text) for text in (one, other))
    assert distance(first, second) <= NEAR


def test_different_questions_have_far_hashes() -> None:
    hashes = [simhash(keywords(one, commonness), one) for one, _ in NEAR_QUESTIONS]
    assert min(distance(one, other) for one in hashes for other in hashes if one != other) > NEAR + 6


def test_foreign_hash_is_equal_or_far() -> None:
    assert distance("abc123", "abc123") == 0
    assert distance("abc123", "def456") == distance("abc123", "0" * 16) == 64


@pytest.mark.parametrize(
    ("question", "answer", "tags"),
    [
        ("如何配置Discord的消息", "", ("discord_config", "messaging")),
        ("How do I configure Discord so that messages arrive?", "", ("discord_config", "messaging")),
        ("你的记忆应该怎么设计？", "", ("memory_design",)),
        ("How would you design a memory?", "", ("memory_design",)),
        ("为什么LLM的架构要这样", "", ("llm_architecture",)),
        ("The database is too slow", "", ("database_performance",)),
        ("数据库太慢了", "", ("database_performance",)),
        ("你觉得这个设计怎么样？", None, ("design",)),
        ("阳台漏水的费用是多少", "", ("阳台_cost",)),
        ("hi", "hello", ()),
        ("好的", "不客气", ()),
    ],
)
def test_question_has_topics(question: str, answer: str | None, tags: tuple[str, ...]) -> None:
    assert topics(question, answer, keywords(question, commonness)) == tags


@given(st.text(), st.text() | st.none())
def test_topics_are_at_most_three_without_spaces(question: str, answer: str | None) -> None:
    tags = topics(question, answer, keywords(question))
    assert len(tags) <= 3
    assert all(tag and not any(sign.isspace() for sign in tag) for tag in tags)
