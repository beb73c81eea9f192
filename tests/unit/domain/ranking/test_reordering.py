from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.ranking.fusion import dealt

scores_and_orders = st.lists(st.floats(0, 1), max_size=30).flatmap(
    lambda scores: st.tuples(st.just(scores), st.permutations(range(len(scores))))
)


@given(scores_and_orders)
def test_scores_stay_the_same_set_and_follow_the_order(case: tuple[list[float], list[int]]) -> None:
    scores, order = case
    after = dealt(scores, order)
    assert sorted(after) == sorted(scores)
    in_order = [after[position] for position in order]
    assert in_order == sorted(in_order, reverse=True)


@given(scores_and_orders)
def test_order_of_the_scores_changes_nothing(case: tuple[list[float], list[int]]) -> None:
    scores, _ = case
    best_first = sorted(range(len(scores)), key=lambda at: -scores[at])
    assert dealt(scores, best_first) == scores


def test_case_by_hand() -> None:
    assert dealt([0.9, 0.5, 0.1], [2, 0, 1]) == [0.5, 0.1, 0.9]
