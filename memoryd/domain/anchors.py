"""Where to cut a text that is too large, so that an edit moves the cuts around it and no others.

The rule is that of a treap: the best place within a stretch divides it, and both parts are divided alike until
they fit. What is best depends on the text at that place only, never on its distance from the start of the file.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np

from memoryd.domain.lines import IndexArray
from memoryd.domain.segments import RANK_SHIFT, KeyArray
from memoryd.domain.structure import Rank

MARGIN = 0.4
"""Least size of a part, as a share of the budget, where the text allows it."""

_STAGES = (
    (0.25, Rank.HEADING_6),
    (MARGIN, Rank.SENTENCE),
    (MARGIN / 2, Rank.SENTENCE),
    (MARGIN, Rank.CHARACTER),
    (MARGIN / 2, Rank.CHARACTER),
    (MARGIN, Rank.GLUED),
    (0.0, Rank.GLUED),
)
"""What is looked for in turn: a place that leaves both parts such a share of the budget, of such a rank or better."""

EVEN = 0.8
_SMALL = 128
"""Pieces up to which plain lists are faster than arrays."""

Costs = Sequence[int] | IndexArray
Keys = Sequence[int] | KeyArray


def divide(costs: Costs, keys: Keys, budget: int) -> list[int]:
    """Choose the pieces that start a part, so that no part costs more than the budget unless it is one piece.

    `costs` are cumulative and have one entry more than `keys`. The first piece always starts a part; the result
    ascends.
    """
    starts = []
    stack = [(0, len(keys))]
    while stack:
        first, last = stack.pop()
        if last - first <= _SMALL and not isinstance(costs, list):
            starts += [first + at for at in divide(_plain(costs[first : last + 1]), _plain(keys[first:last]), budget)]
        elif last - first < 2 or costs[last] - costs[first] <= budget:
            starts.append(first)
        else:
            middle = _choose(costs, keys, first, last, budget)
            stack += [(middle, last), (first, middle)]
    return starts


def _plain(column: Costs | Keys) -> list[int]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _choose(costs: Costs, keys: Keys, first: int, last: int, budget: int) -> int:
    """Choose the piece that starts the second part of a stretch of at least two pieces."""
    low, high = costs[first], costs[last]
    for share, rank in _STAGES:
        margin = share * budget
        choice = _best(costs, keys, first, last, low + margin, high - margin, budget)
        if choice and _rank(keys, choice) >= rank:
            break
    fitting = _best(
        costs, keys, first, last, max(low + margin, high - budget), min(high - margin, low + budget), budget
    )
    return fitting if fitting and _rank(keys, fitting) == _rank(keys, choice) else choice


def _rank(keys: Keys, at: int) -> int:
    return int(keys[at]) >> RANK_SHIFT


def _best(costs: Costs, keys: Keys, first: int, last: int, low: float, high: float, budget: int) -> int:
    """Find the best place within a stretch that costs between `low` and `high`; 0 if there is none."""
    begin = max(_left(costs, low, first, last), first + 1)
    end = min(_right(costs, high, begin, last), last) if begin < last else begin
    if begin >= end:
        return 0
    if isinstance(keys, np.ndarray):
        top = keys[begin:end].max()
        ties = (np.flatnonzero(keys[begin:end] == top) + begin).tolist()
    else:
        part = keys[begin:end]
        top = max(part)
        ties = [part.index(top) + begin] if part.count(top) == 1 else [i for i in range(begin, end) if keys[i] == top]
    if len(ties) == 1:
        return ties[0]
    size = costs[last] - costs[first]
    half = max(round(size / 2 / EVEN / budget), 1) * EVEN * budget if size > 2 * budget else size / 2
    target = costs[first] + half
    return min(ties, key=lambda at: abs(costs[at] - target))


def _left(costs: Costs, value: float, first: int, last: int) -> int:
    if isinstance(costs, np.ndarray):
        return first + int(np.searchsorted(costs[first:last], value, "left"))
    return bisect_left(costs, value, first, last)


def _right(costs: Costs, value: float, first: int, last: int) -> int:
    if isinstance(costs, np.ndarray):
        return first + int(np.searchsorted(costs[first:last], value, "right"))
    return bisect_right(costs, value, first, last)
