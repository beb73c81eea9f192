from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.selection import RankedHit, keep_literal, limit_shares, mmr

WORDS = st.frozensets(st.sampled_from("abcdefgh"), max_size=6)
HITS = st.lists(st.builds(RankedHit, st.floats(0, 1), WORDS), max_size=12)


@given(HITS, st.floats(-1, 2))
def test_mmr_is_a_permutation(hits: list[RankedHit], lambda_: float) -> None:
    assert sorted(mmr(hits, lambda_)) == list(range(len(hits)))


@given(HITS, st.floats(0, 1))
def test_mmr_starts_with_the_best(hits: list[RankedHit], lambda_: float) -> None:
    order = mmr(hits, lambda_)
    if hits and lambda_ > 0.01:
        assert hits[order[0]].score >= max(hit.score for hit in hits) - 1e-6


@given(HITS)
def test_mmr_with_full_relevance_sorts_by_score(hits: list[RankedHit]) -> None:
    scores = [round(hits[at].score, 6) for at in mmr(hits, 1.0)]
    assert scores == sorted(scores, reverse=True)


GROUPED_HITS = st.lists(
    st.builds(RankedHit, st.floats(0, 1), path=st.sampled_from("abc"), family=st.integers(0, 2)), max_size=20
)


def hits_in(paths: str, scores: list[float]) -> list[RankedHit]:
    """Return hits in the given documents, all dissimilar."""
    return [RankedHit(score, path=path, family=at) for at, (path, score) in enumerate(zip(paths, scores, strict=True))]


@given(GROUPED_HITS, st.integers(1, 10))
def test_limited_shares_are_a_permutation(hits: list[RankedHit], limit: int) -> None:
    assert sorted(limit_shares(hits, limit)) == list(range(len(hits)))


def test_one_document_leaves_room_for_others() -> None:
    order = limit_shares(hits_in("aaaaaaaabc", [0.8] * 8 + [0.7, 0.7]), 6)
    assert order[:6] == [0, 1, 2, 3, 4, 8]
    assert limit_shares(hits_in("aaaaaaaa", [0.8] * 8), 6) == list(range(8))


def test_similar_notes_leave_room_for_others() -> None:
    alike = [RankedHit(0.8, path=f"{number}.md", family=0) for number in range(8)]
    others = [RankedHit(0.7, path=f"{name}.md", family=at) for at, name in enumerate("xyz", start=8)]
    assert limit_shares([*alike, *others], 6) == [0, 1, 2, 8, 9, 10, 3, 4, 5, 6, 7]
    assert limit_shares(alike, 6) == list(range(8))
    assert limit_shares([*alike[:2], others[0]], 2) == [0, 1, 2]


def test_weak_document_gets_no_reserved_place() -> None:
    assert limit_shares(hits_in("aaaaaab", [0.8] * 6 + [0.1]), 6) == list(range(7))


@given(st.permutations(range(9)), st.permutations(range(9)), st.frozensets(st.integers(0, 8)), st.integers(1, 9))
def test_literal_hits_of_previous_order_are_kept(
    order: list[int], before: list[int], literal: frozenset[int], limit: int
) -> None:
    kept = keep_literal(order, before, literal, limit)
    assert len(kept) == len(set(kept)) == limit
    assert kept[0] == order[0]
    missing = [hit for hit in before[:limit] if hit in literal and hit not in kept]
    assert not missing or all(hit in literal for hit in kept[1:])
    if limit > 1 and before[0] in literal:
        assert before[0] in kept
