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
HIT_LISTS = st.lists(HITS, max_size=8)


def thresholds(weights: dict[str, float], vectors: int = 0, noise: Noise | None = None) -> Thresholds:
    return Thresholds(Idf(10, weights), noise or Noise(), vectors, 1.0, None, 2.0, 4.0)


NOTES = thresholds({"boiler": 6.0, "lease": 3.0, "weir": 1.0}, 500, Noise(0.2, 0.05))
CONVERSATIONS = thresholds({"boiler": 2.0, "lease": 2.0, "weir": 0.0}, 20, Noise(0.5, 0.1))


def merged_order(
    first: list[HitEvidence], second: list[HitEvidence], known: tuple[Thresholds, ...] = (NOTES, CONVERSATIONS)
) -> list[str]:
    measure = joint_measure(known, WEIGHTS)
    named = [
        [(f"{name}{place}", hit) for place, hit in enumerate(hits)] for name, hits in (("a", first), ("b", second))
    ]
    return merge_lists(named[0], named[1], measure)


@given(
    first=HIT_LISTS, second=HIT_LISTS, known=st.sampled_from([(), (NOTES,), (CONVERSATIONS,), (NOTES, CONVERSATIONS)])
)
def test_each_list_keeps_order_and_all_hits(
    first: list[HitEvidence], second: list[HitEvidence], known: tuple[Thresholds, ...]
) -> None:
    found = merged_order(first, second, known)
    assert [name for name in found if name[0] == "a"] == [f"a{place}" for place in range(len(first))]
    assert [name for name in found if name[0] == "b"] == [f"b{place}" for place in range(len(second))]


@given(hits=HIT_LISTS, known=st.sampled_from([(), (NOTES, CONVERSATIONS)]))
def test_joint_score_is_between_0_and_1(hits: list[HitEvidence], known: tuple[Thresholds, ...]) -> None:
    measure = joint_measure(known, WEIGHTS)
    assert all(0 <= measure.score(hit) <= 1 + 1e-9 for hit in hits)


@given(HIT_LISTS)
def test_equal_hits_of_first_list_come_first(hits: list[HitEvidence]) -> None:
    found = merged_order(hits, hits)
    assert all(found.index(f"a{place}") < found.index(f"b{place}") for place in range(len(hits)))


def test_better_verdict_ranks_before_higher_score_and_noise_last() -> None:
    answer = HitEvidence(("weir",), 0.1, verdict=Verdict.ANSWERABLE)
    weak = HitEvidence(TERMS, 1.0, verdict=Verdict.WEAK)
    noise = HitEvidence((), None, 0.9, verdict=Verdict.NONE, is_noise=True)
    assert merged_order([weak, noise], [answer]) == ["b0", "a0", "a1"]
    assert merged_order([noise], [weak]) == ["b0", "a0"]


def test_larger_share_of_question_ranks_first_in_small_index() -> None:
    """Scores of separate indexes are not comparable: in a small one no word is rare."""
    note, turn = HitEvidence(("boiler",), 1.0), HitEvidence(("boiler", "lease"), 0.5)
    assert merged_order([note], [turn]) == ["b0", "a0"]


def test_better_match_of_same_words_ranks_first() -> None:
    assert merged_order([HitEvidence(("boiler",), 0.2)], [HitEvidence(("boiler",), 0.5)]) == ["b0", "a0"]


def test_meaning_of_both_lists_is_compared_with_one_noise() -> None:
    """With the noise of the small index, a cosine of 0.5 would count nothing."""
    note, turn = HitEvidence(cosine=0.3), HitEvidence(cosine=0.5)
    assert merged_order([note], [turn]) == ["b0", "a0"]
    assert merged_order([turn], [note]) == ["a0", "b0"]


def test_decay_lowers_joint_score() -> None:
    fresh, old = HitEvidence(("boiler",), 0.5), HitEvidence(TERMS, 1.0, decay=0.1)
    assert merged_order([old], [fresh]) == ["b0", "a0"]


def test_hit_without_evidence_keeps_its_own_score() -> None:
    by_qmd = HitEvidence(score=0.9)
    assert merged_order([by_qmd], [HitEvidence(("weir",), 0.5)]) == ["a0", "b0"]
    assert merged_order([replace(by_qmd, score=0.01)], [HitEvidence(TERMS, 0.5)]) == ["b0", "a0"]
