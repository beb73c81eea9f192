import itertools
from typing import Any

import pytest

from memoryd.domain.ranking.selection import NextStep, next_step

LIMIT = 6


def step(**changes: Any) -> NextStep:
    options: dict[str, Any] = {
        "hits": LIMIT,
        "has_room": False,
        "has_dominant": False,
        "unread": 0,
        "may_have_more": True,
        "has_asked_others": False,
        "is_deepest": False,
        "is_late": False,
    }
    return next_step(LIMIT, **options | changes)


def test_full_answer_needs_no_further_step() -> None:
    assert step(unread=100) is NextStep.ANSWER
    assert step() is NextStep.ANSWER


@pytest.mark.parametrize(("hits", "room", "dominant"), [(5, False, False), (6, True, False), (6, False, True)])
def test_incomplete_answer_reads_unread_candidates_first(hits: int, room: bool, dominant: bool) -> None:
    assert step(hits=hits, has_room=room, has_dominant=dominant, unread=1) is NextStep.READ_MORE
    assert (
        step(hits=hits, has_room=room, has_dominant=dominant, unread=1, is_late=True, may_have_more=False)
        is NextStep.READ_MORE
    )


def test_exhausted_arms_are_not_asked_again() -> None:
    assert step(hits=2, has_room=True, has_dominant=True, may_have_more=False) is NextStep.ANSWER


def test_late_search_asks_no_arm() -> None:
    assert step(hits=2, has_room=True, has_dominant=True, is_late=True) is NextStep.ANSWER


def test_other_documents_are_asked_once_before_going_deeper() -> None:
    assert step(has_dominant=True, has_room=True) is NextStep.ASK_OTHERS
    assert step(has_dominant=True, has_room=True, has_asked_others=True) is NextStep.ASK_DEEPER
    assert step(has_dominant=True, has_asked_others=True) is NextStep.ANSWER


def test_deepest_query_is_the_last() -> None:
    assert step(has_room=True) is NextStep.ASK_DEEPER
    assert step(has_room=True, is_deepest=True) is NextStep.ANSWER
    assert step(hits=2) is NextStep.ANSWER, "no copies, so no place for deeper candidates"


def test_every_search_ends_with_an_answer() -> None:
    """Each step uses up unread candidates, the query for other documents, or remaining depth."""
    for room, dominant, full in itertools.product((False, True), repeat=3):
        unread, asked_others, depth, steps = 3, False, 3, 0
        while True:
            done = step(
                hits=1,
                has_room=room,
                has_dominant=dominant,
                unread=unread,
                may_have_more=full,
                has_asked_others=asked_others,
                is_deepest=not depth,
            )
            if done is NextStep.ANSWER:
                break
            unread -= done is NextStep.READ_MORE
            asked_others |= done is NextStep.ASK_OTHERS
            depth -= done is NextStep.ASK_DEEPER
            steps += 1
        assert steps <= 7
