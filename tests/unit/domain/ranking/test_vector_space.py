"""What a vector says of its language is taken out of it, and how far a model's answers reach is measured."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memoryd.domain.ranking.vector_space import (
    LanguageMeans,
    UnrelatedVectors,
    is_multilingual,
    is_narrow,
    languages_in,
    unrelated_moments,
)
from memoryd.domain.vector import Matrix

SIZE = 64
DRAWN = np.random.default_rng(1).standard_normal((200, SIZE)).astype(np.float32)
TOPICS, OFFSETS = DRAWN[:40], {"en": 6 * DRAWN[100], "zh": 6 * DRAWN[101], "de": 6 * DRAWN[102]}


def turned(rows: NDArray[np.floating[Any]]) -> Matrix:
    found: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def told(language: str, topics: Matrix = TOPICS) -> Matrix:
    """Return what a model says of some topics in a language, whose mark is larger than theirs."""
    return turned(topics + OFFSETS[language] / 4)


KNOWN = [
    UnrelatedVectors(code, turned(rows), turned(rows + DRAWN[130:154] / 4))
    for code, rows in (("en", DRAWN[40:64]), ("zh", DRAWN[64:88]))
]
"""Of a model that knows both languages and is not narrow."""


def firsts(questions: Matrix, texts: Matrix) -> float:
    """Return how often the text at the place of a question is nearest to it."""
    return float(((questions @ texts.T).argmax(axis=1) == np.arange(len(questions))).mean())


def test_what_answers_in_another_language_is_nearest_without_the_means() -> None:
    english, chinese = told("en"), told("zh")
    both, languages = np.concatenate([english, chinese]), ["en"] * 40 + ["zh"] * 40
    means = LanguageMeans.of(both, languages, KNOWN)
    assert means.languages == ("en", "zh")
    bare = means.without(both, means.groups(both, languages))
    assert np.allclose(np.linalg.norm(bare, axis=1), 1, atol=1e-6)
    # beside its own text, which is the very same, comes the one that says so in the other language
    others = bare[:40] @ bare.T
    np.fill_diagonal(others, -1)
    assert (others.argmax(axis=1) == np.arange(40, 80)).mean() > 0.95
    with_marks = english @ both.T
    np.fill_diagonal(with_marks, -1)
    assert (with_marks.argmax(axis=1) >= 40).mean() < 0.2


@pytest.mark.parametrize(
    "languages",
    [["en"] * 40, ["en"] * 36 + ["zh"] * 4, ["en"] * 35 + [""] * 5],
    ids=["one", "too few of another", "unknown ones"],
)
def test_of_one_language_nothing_is_taken(languages: list[str]) -> None:
    means, vectors = LanguageMeans.of(TOPICS, languages, KNOWN), told("en")
    assert means.without(vectors, means.groups(vectors, languages)) is vectors


def test_under_a_model_of_one_language_nothing_is_taken() -> None:
    both, languages = np.concatenate([told("en"), told("zh")]), ["en"] * 40 + ["zh"] * 40
    blind = UnrelatedVectors("zh", KNOWN[1].vectors, turned(DRAWN[100:124]))
    assert is_multilingual(KNOWN)
    for known in ((), (KNOWN[0], blind)):
        assert not is_multilingual(known)
        assert not LanguageMeans.of(both, languages, known).languages


def test_few_passages_among_many_are_no_language() -> None:
    assert languages_in({"en": 2_000, "de": 10, "": 300}) == {"en"}
    assert languages_in({"en": 900, "zh": 20, "fr": 4}) == {"en", "zh"}


def test_text_of_an_unknown_language_goes_with_the_nearest_mean() -> None:
    both, languages = np.concatenate([told("en"), told("zh")]), ["en"] * 40 + ["zh"] * 40
    means = LanguageMeans.of(both, languages, KNOWN)
    assert means.groups(both, [""] * 80).tolist() == [0] * 40 + [1] * 40
    assert means.groups(both[:2], ["fr", "zh"]).tolist() == [0, 1]


def strangers(language: str) -> UnrelatedVectors:
    """Return those of a narrow model: everything has one direction, and its language another."""
    common, topics = 8 * DRAWN[150], DRAWN[160:184]
    texts = turned(topics + OFFSETS[language] / 4 + common)
    return UnrelatedVectors(language, texts, turned(topics + OFFSETS[language] / 4 + common + DRAWN[170:194] / 4))


def test_narrow_model_is_freed_of_its_direction_with_the_first_notes() -> None:
    known, common = [strangers("en"), strangers("zh")], 8 * DRAWN[150]
    assert is_narrow(known)
    assert not is_narrow([])
    assert not is_narrow([known[0], UnrelatedVectors("zh", turned(DRAWN[:24]), turned(DRAWN[:24]))])
    english, chinese = (told(code, TOPICS + common) for code in ("en", "zh"))
    few, languages = np.concatenate([english[:5], chinese[5:10]]), ["en"] * 5 + ["zh"] * 5
    means = LanguageMeans.of(few, languages, known)
    bare = [means.without(rows, means.groups(rows, [code] * 40)) for rows, code in ((english, "en"), (chinese, "zh"))]
    assert (bare[0] @ bare[1].T).mean() < (english @ chinese.T).mean() - 0.1
    assert firsts(*bare) == 1.0
    assert not LanguageMeans.of(english, ["en"] * 40, known).languages


def test_many_passages_outweigh_what_strangers_say() -> None:
    known, many = [strangers("en"), strangers("zh")], np.repeat(told("en"), 100, axis=0)
    both = np.concatenate([many, many + OFFSETS["zh"]])
    means = LanguageMeans.of(both, ["en"] * len(many) + ["zh"] * len(many), known)
    assert np.allclose(means.means[0], many.mean(axis=0), atol=0.02)


def test_language_without_strangers_begins_where_the_nearest_ones_are() -> None:
    known, few = [strangers("en"), strangers("zh")], told("de", TOPICS[:6] + OFFSETS["en"] / 4 + 8 * DRAWN[150])
    means = LanguageMeans.of(np.repeat(few, 2, axis=0), ["de", "fr"] * 6, known)
    assert means.languages == ("de", "en", "fr", "zh")
    assert means.means[0] @ known[0].mean > means.means[0] @ known[1].mean


def test_reach_tells_a_model_that_understands_from_one_that_does_not() -> None:
    texts = turned(DRAWN[:24])
    near = UnrelatedVectors("en", texts, turned(DRAWN[:24] + DRAWN[50:74]))
    assert near.reach > 3
    assert abs(UnrelatedVectors("en", texts, turned(DRAWN[80:104])).reach) < 1
    assert UnrelatedVectors("en", np.ones((24, 2), np.float32), np.ones((24, 2), np.float32)).reach == 0


def test_what_is_usual_leaves_out_what_answers() -> None:
    cosines = np.array([[1.0, 0.1, 0.3], [0.3, 1.0, 0.1], [0.1, 0.3, 1.0]], np.float32)
    assert unrelated_moments(cosines) == pytest.approx((0.2, 0.1))
