"""Removal of the language mean from vectors, and the reach of a model's answers."""

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


def unit_vectors(rows: NDArray[np.floating[Any]]) -> Matrix:
    found: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def texts_in(language: str, topics: Matrix = TOPICS) -> Matrix:
    """Return vectors of topics in a language, whose offset is larger than they are."""
    return unit_vectors(topics + OFFSETS[language] / 4)


BOTH, LANGUAGES = np.concatenate([texts_in("en"), texts_in("zh")]), ["en"] * 40 + ["zh"] * 40
KNOWN = [
    UnrelatedVectors(code, unit_vectors(rows), unit_vectors(rows + DRAWN[130:154] / 4))
    for code, rows in (("en", DRAWN[40:64]), ("zh", DRAWN[64:88]))
]
"""Strangers of a model that knows both languages and is not narrow."""


def top1_rate(questions: Matrix, texts: Matrix) -> float:
    """Return the rate of questions whose text is the nearest one."""
    return float(((questions @ texts.T).argmax(axis=1) == np.arange(len(questions))).mean())


def test_answer_in_other_language_is_nearest_without_means() -> None:
    means = LanguageMeans.of(BOTH, LANGUAGES, KNOWN)
    assert means.languages == ("en", "zh")
    bare = means.without(BOTH, means.groups(BOTH, LANGUAGES))
    assert np.allclose(np.linalg.norm(bare, axis=1), 1, atol=1e-6)
    # apart from the text itself, the same topic in the other language is nearest
    others = bare[:40] @ bare.T
    np.fill_diagonal(others, -1)
    assert (others.argmax(axis=1) == np.arange(40, 80)).mean() > 0.95
    with_means = BOTH[:40] @ BOTH.T
    np.fill_diagonal(with_means, -1)
    assert (with_means.argmax(axis=1) >= 40).mean() < 0.2


@pytest.mark.parametrize(
    "languages",
    [["en"] * 40, ["en"] * 36 + ["zh"] * 4, ["en"] * 35 + [""] * 5],
    ids=["one", "too few of another", "unknown ones"],
)
def test_vectors_of_one_language_are_unchanged(languages: list[str]) -> None:
    means, vectors = LanguageMeans.of(TOPICS, languages, KNOWN), texts_in("en")
    assert means.without(vectors, means.groups(vectors, languages)) is vectors


def test_monolingual_model_has_no_language_means() -> None:
    blind = UnrelatedVectors("zh", KNOWN[1].vectors, unit_vectors(DRAWN[100:124]))
    assert is_multilingual(KNOWN)
    for known in ((), (KNOWN[0], blind)):
        assert not is_multilingual(known)
        assert not LanguageMeans.of(BOTH, LANGUAGES, known).languages


def test_few_passages_among_many_do_not_count_as_language() -> None:
    assert languages_in({"en": 2_000, "de": 10, "": 300}) == {"en"}
    assert languages_in({"en": 900, "zh": 20, "fr": 4}) == {"en", "zh"}


def test_text_of_unknown_language_gets_nearest_mean() -> None:
    means = LanguageMeans.of(BOTH, LANGUAGES, KNOWN)
    assert means.groups(BOTH, [""] * 80).tolist() == [0] * 40 + [1] * 40
    assert means.groups(BOTH[:2], ["fr", "zh"]).tolist() == [0, 1]


def strangers(language: str) -> UnrelatedVectors:
    """Return strangers of a narrow model: all texts share one direction, each language another."""
    common, topics = 8 * DRAWN[150], DRAWN[160:184]
    texts = unit_vectors(topics + OFFSETS[language] / 4 + common)
    return UnrelatedVectors(language, texts, unit_vectors(topics + OFFSETS[language] / 4 + common + DRAWN[170:194] / 4))


def test_common_direction_of_narrow_model_is_removed() -> None:
    known, common = [strangers("en"), strangers("zh")], 8 * DRAWN[150]
    assert is_narrow(known)
    assert not is_narrow([])
    assert not is_narrow([known[0], UnrelatedVectors("zh", unit_vectors(DRAWN[:24]), unit_vectors(DRAWN[:24]))])
    english, chinese = (texts_in(code, TOPICS + common) for code in ("en", "zh"))
    few, languages = np.concatenate([english[:5], chinese[5:10]]), ["en"] * 5 + ["zh"] * 5
    means = LanguageMeans.of(few, languages, known)
    bare = [means.without(rows, means.groups(rows, [code] * 40)) for rows, code in ((english, "en"), (chinese, "zh"))]
    assert (bare[0] @ bare[1].T).mean() < (english @ chinese.T).mean() - 0.1
    assert top1_rate(*bare) == 1.0
    assert not LanguageMeans.of(english, ["en"] * 40, known).languages


def test_many_passages_outweigh_strangers() -> None:
    known, many = [strangers("en"), strangers("zh")], np.repeat(texts_in("en"), 100, axis=0)
    both = np.concatenate([many, many + OFFSETS["zh"]])
    means = LanguageMeans.of(both, ["en"] * len(many) + ["zh"] * len(many), known)
    assert np.allclose(means.means[0], many.mean(axis=0), atol=0.02)


def test_language_without_strangers_starts_at_nearest_ones() -> None:
    known, few = [strangers("en"), strangers("zh")], texts_in("de", TOPICS[:6] + OFFSETS["en"] / 4 + 8 * DRAWN[150])
    means = LanguageMeans.of(np.repeat(few, 2, axis=0), ["de", "fr"] * 6, known)
    assert means.languages == ("de", "en", "fr", "zh")
    assert means.means[0] @ known[0].mean > means.means[0] @ known[1].mean


def test_reach_is_high_only_if_model_understands_language() -> None:
    texts = unit_vectors(DRAWN[:24])
    near = UnrelatedVectors("en", texts, unit_vectors(DRAWN[:24] + DRAWN[50:74]))
    assert near.reach > 3
    assert abs(UnrelatedVectors("en", texts, unit_vectors(DRAWN[80:104])).reach) < 1
    assert UnrelatedVectors("en", np.ones((24, 2), np.float32), np.ones((24, 2), np.float32)).reach == 0


def test_unrelated_moments_omit_answers() -> None:
    cosines = np.array([[1.0, 0.1, 0.3], [0.3, 1.0, 0.1], [0.1, 0.3, 1.0]], np.float32)
    assert unrelated_moments(cosines) == pytest.approx((0.2, 0.1))
