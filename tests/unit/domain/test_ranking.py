from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking import Entry, Weighed, fold, mmr, shared_by_files, with_literal
from memoryd.domain.similarity import tokens

WORDS = st.frozensets(st.sampled_from("abcdefgh"), max_size=6)
HITS = st.lists(st.builds(Weighed, st.floats(0, 1), WORDS), max_size=12)
COPY = tokens("error GW-4172 means that a second process holds the lease of the gateway")


@given(HITS, st.floats(-1, 2))
def test_mmr_is_a_permutation(hits: list[Weighed], lambda_: float) -> None:
    assert sorted(mmr(hits, lambda_)) == list(range(len(hits)))


@given(HITS, st.floats(0, 1))
def test_mmr_starts_with_the_best(hits: list[Weighed], lambda_: float) -> None:
    order = mmr(hits, lambda_)
    if hits and lambda_ > 0.01:
        assert hits[order[0]].score >= max(hit.score for hit in hits) - 1e-6


@given(HITS)
def test_mmr_with_full_relevance_sorts(hits: list[Weighed]) -> None:
    scores = [round(hits[at].score, 6) for at in mmr(hits, 1.0)]
    assert scores == sorted(scores, reverse=True)


def test_copy_folds_into_the_first_that_says_the_same() -> None:
    leaders = [Entry(tokens("something else")), Entry(COPY), Entry(COPY)]
    assert fold(leaders, Entry(COPY)) == 1
    assert fold(leaders, Entry(tokens("quite another note about bread"))) is None


def test_copy_with_a_word_of_the_question_of_its_own_stays() -> None:
    leader, copy = Entry(COPY, frozenset({"gw"})), Entry(COPY | {"boiler"}, frozenset({"gw", "boiler"}))
    assert fold([leader], copy) is None
    assert fold([copy], leader) == 0


@given(st.lists(st.sampled_from("abc"), max_size=20), st.integers(1, 10))
def test_sharing_moves_and_loses_nothing(paths: list[str], limit: int) -> None:
    assert sorted(shared_by_files(paths, [1.0] * len(paths), limit)) == list(range(len(paths)))


def test_one_document_leaves_a_place_to_others() -> None:
    order = shared_by_files(["a"] * 8 + ["b", "c"], [0.8] * 8 + [0.7, 0.7], 6)
    assert order[:6] == [0, 1, 2, 3, 4, 8]
    assert shared_by_files(["a"] * 8, [0.8] * 8, 6) == list(range(8))


def test_document_that_hardly_matches_takes_no_place() -> None:
    assert shared_by_files(["a"] * 6 + ["b"], [0.8] * 6 + [0.1], 6) == list(range(7))


@given(st.permutations(range(9)), st.permutations(range(9)), st.frozensets(st.integers(0, 8)), st.integers(1, 9))
def test_literal_hits_of_before_are_kept(
    order: list[int], before: list[int], literal: frozenset[int], limit: int
) -> None:
    kept = with_literal(order, before, literal, limit)
    assert len(kept) == len(set(kept)) == limit
    assert kept[0] == order[0]
    lost = [hit for hit in before[:limit] if hit in literal and hit not in kept]
    assert not lost or all(hit in literal for hit in kept[1:])
    if limit > 1 and before[0] in literal:
        assert before[0] in kept
