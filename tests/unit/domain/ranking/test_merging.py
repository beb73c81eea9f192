from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.ranking.calibration import Idf, Thresholds, Verdict
from memoryd.domain.ranking.fusion import Noise, Weights
from memoryd.domain.ranking.selection import HitEvidence, joint_measure, merge_lists

TERMS = ("boiler", "lease", "weir")
WEIGHTS = Weights(vector=0.3, text=0.7)
FRACTIONS = st.floats(0, 1, allow_nan=False)
HITS = st.builds(
    HitEvidence,
    terms=st.sets(st.sampled_from(TERMS)).map(tuple),
    matching=st.none() | FRACTIONS,
    cosine=st.none() | st.floats(-1, 1, allow_nan=False),
    score=FRACTIONS,
    decay=FRACTIONS,
    verdict=st.none() | st.sampled_from(Verdict),
    is_noise=st.booleans(),
)
LISTS = st.lists(HITS, max_size=8)


def floors(weights: dict[str, float], vectors: int = 0, noise: Noise | None = None) -> Thresholds:
    return Thresholds(Idf(10, weights), noise or Noise(), vectors, 1.0, None, 2.0, 4.0)


NOTES = floors({"boiler": 6.0, "lease": 3.0, "weir": 1.0}, 500, Noise(0.2, 0.05))
TALKS = floors({"boiler": 2.0, "lease": 2.0, "weir": 0.0}, 20, Noise(0.5, 0.1))


def order(
    first: list[HitEvidence], second: list[HitEvidence], known: tuple[Thresholds, ...] = (NOTES, TALKS)
) -> list[str]:
    measure = joint_measure(known, WEIGHTS)
    named = [
        [(f"{name}{place}", hit) for place, hit in enumerate(hits)] for name, hits in (("a", first), ("b", second))
    ]
    return merge_lists(named[0], named[1], measure)


@given(first=LISTS, second=LISTS, known=st.sampled_from([(), (NOTES,), (TALKS,), (NOTES, TALKS)]))
def test_each_list_keeps_its_order_and_nothing_is_lost(
    first: list[HitEvidence], second: list[HitEvidence], known: tuple[Thresholds, ...]
) -> None:
    found = order(first, second, known)
    assert [name for name in found if name[0] == "a"] == [f"a{place}" for place in range(len(first))]
    assert [name for name in found if name[0] == "b"] == [f"b{place}" for place in range(len(second))]


@given(hits=LISTS, known=st.sampled_from([(), (NOTES, TALKS)]))
def test_joint_score_is_a_share(hits: list[HitEvidence], known: tuple[Thresholds, ...]) -> None:
    measure = joint_measure(known, WEIGHTS)
    assert all(0 <= measure.score(hit) <= 1 + 1e-9 for hit in hits)


@given(LISTS)
def test_of_equals_the_first_list_comes_first(hits: list[HitEvidence]) -> None:
    found = order(hits, hits)
    assert all(found.index(f"a{place}") < found.index(f"b{place}") for place in range(len(hits)))


def test_better_verdict_comes_before_the_higher_score_and_noise_last() -> None:
    answer = HitEvidence(("weir",), 0.1, verdict=Verdict.ANSWERABLE)
    weak = HitEvidence(TERMS, 1.0, verdict=Verdict.WEAK)
    noise = HitEvidence((), None, 0.9, verdict=Verdict.NONE, is_noise=True)
    assert order([weak, noise], [answer]) == ["b0", "a0", "a1"]
    assert order([noise], [weak]) == ["b0", "a0"]


def test_what_holds_more_of_the_question_comes_first_though_its_index_is_small() -> None:
    """Each list has a best one; and in a small index no word is rare."""
    note, talk = HitEvidence(("boiler",), 1.0), HitEvidence(("boiler", "lease"), 0.5)
    assert order([note], [talk]) == ["b0", "a0"]


def test_of_the_same_words_those_that_match_better_come_first() -> None:
    assert order([HitEvidence(("boiler",), 0.2)], [HitEvidence(("boiler",), 0.5)]) == ["b0", "a0"]


def test_meaning_is_measured_by_one_noise() -> None:
    """By its own noise a cosine of 0.5 would be nothing in the small index."""
    note, talk = HitEvidence(cosine=0.3), HitEvidence(cosine=0.5)
    assert order([note], [talk]) == ["b0", "a0"]
    assert order([talk], [note]) == ["a0", "b0"]


def test_age_counts() -> None:
    fresh, old = HitEvidence(("boiler",), 0.5), HitEvidence(TERMS, 1.0, decay=0.1)
    assert order([old], [fresh]) == ["b0", "a0"]


def test_engine_without_evidence_is_taken_at_its_word() -> None:
    by_qmd = HitEvidence(score=0.9)
    assert order([by_qmd], [HitEvidence(("weir",), 0.5)]) == ["a0", "b0"]
    assert order([replace(by_qmd, score=0.01)], [HitEvidence(TERMS, 0.5)]) == ["b0", "a0"]
