import itertools

import pytest

from memoryd.domain.ranking.selection import NextStep, next_step

LIMIT = 6


def step(
    *,
    hits: int = LIMIT,
    room: bool = False,
    dominant: bool = False,
    unread: int = 0,
    full: bool = True,
    asked_others: bool = False,
    deepest: bool = False,
    late: bool = False,
) -> NextStep:
    return next_step(
        LIMIT,
        hits=hits,
        has_room=room,
        has_dominant=dominant,
        unread=unread,
        may_have_more=full,
        has_asked_others=asked_others,
        is_deepest=deepest,
        is_late=late,
    )


def test_full_answer_needs_no_further_step() -> None:
    assert step(unread=100) is NextStep.ANSWER
    assert step() is NextStep.ANSWER


@pytest.mark.parametrize(("hits", "room", "dominant"), [(5, False, False), (6, True, False), (6, False, True)])
def test_incomplete_answer_reads_unread_candidates_first(hits: int, room: bool, dominant: bool) -> None:
    assert step(hits=hits, room=room, dominant=dominant, unread=1) is NextStep.READ_MORE
    assert step(hits=hits, room=room, dominant=dominant, unread=1, late=True, full=False) is NextStep.READ_MORE


def test_exhausted_arms_are_not_asked_again() -> None:
    assert step(hits=2, room=True, dominant=True, full=False) is NextStep.ANSWER


def test_late_search_asks_no_arm() -> None:
    assert step(hits=2, room=True, dominant=True, late=True) is NextStep.ANSWER


def test_other_documents_are_asked_once_before_going_deeper() -> None:
    assert step(dominant=True, room=True) is NextStep.ASK_OTHERS
    assert step(dominant=True, room=True, asked_others=True) is NextStep.ASK_DEEPER
    assert step(dominant=True, asked_others=True) is NextStep.ANSWER


def test_deepest_query_is_the_last() -> None:
    assert step(room=True) is NextStep.ASK_DEEPER
    assert step(room=True, deepest=True) is NextStep.ANSWER
    assert step(hits=2) is NextStep.ANSWER, "no copies, so no place for deeper candidates"


def test_every_search_ends_with_an_answer() -> None:
    """Each step uses up unread candidates, the query for other documents, or remaining depth."""
    for room, dominant, full in itertools.product((False, True), repeat=3):
        unread, asked_others, depth, steps = 3, False, 3, 0
        while True:
            done = step(
                hits=1,
                room=room,
                dominant=dominant,
                unread=unread,
                full=full,
                asked_others=asked_others,
                deepest=not depth,
            )
            if done is NextStep.ANSWER:
                break
            unread -= done is NextStep.READ_MORE
            asked_others |= done is NextStep.ASK_OTHERS
            depth -= done is NextStep.ASK_DEEPER
            steps += 1
        assert steps <= 7
