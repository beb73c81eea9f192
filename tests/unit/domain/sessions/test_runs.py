"""Runs of turns: the range around a turn, and the best run for a message."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.sessions.sequences import best_run, run_around


@given(st.integers(1, 40), st.integers(0, 12), st.data())
def test_run_contains_its_turn(count: int, run: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, count - 1))
    first, last = run_around(at, count, run)
    assert 0 <= first <= at <= last < count
    assert last - first + 1 == min(max(run, 1), count)
    # two of five turns come after it, the others before it, as far as there are enough
    assert last - at == max(run, 1) * 2 // 5 or first == 0 or last == count - 1


def test_word_counts_once_in_a_run_and_later_of_equal_runs_wins() -> None:
    words_of_turns = [{"boat"}, {"licence"}, set(), {"boat"}, {"boat", "licence"}, set()]
    weights = {"boat": 0.2, "licence": 0.3}
    rest = np.zeros(6)
    alone = np.array([0.2, 0.3, 0, 0.2, 0.5, 0])
    assert best_run(words_of_turns, weights, rest, alone, run=1).at == 4
    best = best_run(words_of_turns, weights, rest, alone, run=3)
    assert (best.score, best.at, best.first, best.last) == (0.5, 4, 3, 5)
    earlier = best_run(words_of_turns[:4], weights, rest[:4], alone[:4], run=2)
    assert (earlier.score, earlier.at, earlier.first, earlier.last) == (0.5, 1, 0, 1)


def test_best_other_score_of_a_run_counts() -> None:
    rest = np.array([0.1, 0.3, 0.0])
    best = best_run([set(), set(), {"boat"}], {"boat": 0.2}, rest, np.array([0.1, 0.3, 0.2]), run=3)
    assert (best.score, best.at) == (0.5, 1)


def test_best_turn_of_long_session_is_found() -> None:
    alone = np.full(5000, 0.1)
    alone[4321] = 0.4
    words_of_turns = [{"tea"}] * 4321 + [{"tea", "boat"}] + [{"tea"}] * 678
    assert best_run(words_of_turns, {"tea": 0.1, "boat": 0.3}, np.zeros(5000), alone, run=1).at == 4321
