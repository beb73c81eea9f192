from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.calibration import PRIOR_COUNT, USUAL_DEVIATION, CosineSample, noise_of
from memoryd.domain.ranking.fusion import FULL_Z_SCORE, Noise
from memoryd.domain.ranking.vector_space import CLEAR_REACH

COSINES = st.floats(-1, 1)
SAMPLES = st.builds(CosineSample, st.integers(0, 100_000), COSINES, st.floats(0, 1))
STRANGERS = CosineSample(24, 0.06, 0.08**2)


@given(SAMPLES, SAMPLES)
def test_mean_lies_between_both_means(sample: CosineSample, strangers: CosineSample) -> None:
    noise = noise_of(sample, strangers)
    low, high = sorted((sample.mean, strangers.mean))
    assert low - 1e-9 <= noise.mean <= high + 1e-9
    assert 0 <= noise.deviation <= 2


def test_noise_without_notes_is_that_of_strangers() -> None:
    noise = noise_of(CosineSample(0, 0.0, 0.0), STRANGERS)
    assert noise.mean == pytest.approx(0.06)
    assert noise.deviation == pytest.approx(0.08)


def test_weight_of_strangers_falls_with_number_of_notes() -> None:
    means = [noise_of(CosineSample(count, 0.3, 0.1**2), STRANGERS).mean for count in (0, 1, 10, 100, 1_000, 100_000)]
    assert all(before < after for before, after in pairwise(means))
    assert noise_of(CosineSample(PRIOR_COUNT, 0.3, 0.1**2), STRANGERS).mean == pytest.approx((0.3 + 0.06) / 2)
    late = noise_of(CosineSample(100_000, 0.3, 0.1**2), STRANGERS)
    assert late.mean == pytest.approx(0.3, abs=1e-3)
    assert late.deviation == pytest.approx(0.1, rel=0.01)


def test_samples_combine_like_one_sample() -> None:
    cosines = [0.1, 0.2, 0.6]
    mean = sum(cosines) / 3
    variance = sum((one - mean) ** 2 for one in cosines) / 3
    noise = noise_of(CosineSample(3, mean, variance), CosineSample(24, 0.0, 0.01))
    total = PRIOR_COUNT + 3
    expected = sum(cosines) / total
    square = (PRIOR_COUNT * (0.01 + expected**2) + sum((one - expected) ** 2 for one in cosines)) / total
    assert noise.mean == pytest.approx(expected)
    assert noise.deviation == pytest.approx(square**0.5)


def test_single_answer_among_five_notes_stands_out() -> None:
    """Cosines 0.5, 0.1, 0.1, 0.05, 0.05: without strangers the first would not stand out."""
    sample = CosineSample(5, 0.16, 0.0294)
    assert noise_of(sample, STRANGERS).deviations(0.5) > 4
    assert noise_of(sample, None).deviations(0.5) < 3


def test_unknown_strangers_give_usual_deviation() -> None:
    noise = noise_of(CosineSample(1, 0.4, 0.0), None)
    assert noise.mean == pytest.approx(0.4)
    assert noise.deviation == pytest.approx(USUAL_DEVIATION, rel=0.03)


def test_full_score_depends_on_reach_of_the_model() -> None:
    sample = CosineSample(1_000, 0.8, 0.02**2)
    fulls = [noise_of(sample, STRANGERS, reach).full for reach in (None, 4.2, 3.2, 2.7, 1.6)]
    assert fulls[:2] == [FULL_Z_SCORE] * 2
    assert fulls == sorted(fulls, reverse=True)
    assert fulls[-1] >= 2.5
    blind = noise_of(sample, STRANGERS, CLEAR_REACH - 0.1)
    assert (blind.full, blind.is_clear) == (FULL_Z_SCORE, False)


@pytest.mark.parametrize(
    ("noise", "rise"),
    [
        (Noise(0.3, 0.1, unrelated=(0.1, 0.2)), 2.0),
        (Noise(0.3, 0.1), 2.0),
        (Noise(0.3, 0.1, unrelated=(0.1, 0.0)), 2.0),
        (Noise(0.4, 0.1, is_clear=False, unrelated=(0.1, 0.2)), 1.0),
    ],
)
def test_rise_uses_unrelated_cosines_of_the_model_if_known(noise: Noise, rise: float) -> None:
    assert noise.rise(0.5) == pytest.approx(rise)
