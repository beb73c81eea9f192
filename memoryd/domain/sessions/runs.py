"""A run: neighbouring turns that are looked at together, for what a message takes up is seldom said in one turn."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

RUN: Final = 5
"""Turns, where a caller does not say how many."""
_LOOKED_AT: Final = 100
"""Turns of a session, the best alone."""


@dataclass(frozen=True, slots=True)
class BestRun:
    """The run of a session that has most in common with a message; `at` is the turn that it was found by.

    `at`, `first` and `last` count from 0 within the session.
    """

    score: float
    at: int
    first: int
    last: int


def run_to(at: int, count: int, run: int) -> tuple[int, int]:
    """Return the first and the last index of the run of a turn, which is one of `count`: what led to it.

    Where fewer than `run` turns stand up to it, those after it fill the run: what came of it.
    """
    run = max(run, 1)
    last = min(count - 1, max(at, run - 1))
    return max(0, last - run + 1), last


def best_run(
    said: Sequence[Collection[str]],
    worth: Mapping[str, float],
    rest: NDArray[np.float64],
    alone: NDArray[np.float64],
    run: int,
) -> BestRun:
    """Return the best run of a session, of equal ones that of the better turn, and then the later.

    `said` has the keywords of each turn, and `worth` what each word of the message counts, once in a run. `rest` is
    what else a turn has in common with the message, of which the best of a run counts, and `alone` its whole score.
    """
    places = np.flatnonzero(alone)
    if len(places) > _LOOKED_AT:
        places = places[np.argpartition(alone[places], -_LOOKED_AT)[-_LOOKED_AT:]]
    best = (0.0, 0.0, 0)
    for at in map(int, places):
        first, last = run_to(at, len(said), run)
        near = said[first : last + 1]
        shared = sum(share for word, share in worth.items() if any(word in words for words in near))
        best = max(best, (shared + float(rest[first : last + 1].max()), float(alone[at]), at))
    return BestRun(best[0], best[2], *run_to(best[2], len(said), run))
