"""Where to cut a text that is too large, so that an edit moves the cuts around it and no others.

The rule is that of a treap: the best place within a stretch divides it, and both parts are divided alike until
they fit. What is best depends on the text at that place, never on its distance from the start of the file. Small
parts that this leaves are then joined with a neighbour, the worst cut first.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np

from memoryd.domain.lines import IndexArray
from memoryd.domain.segments import RANK_SHIFT, KeyArray
from memoryd.domain.structure import Rank

MARGIN = 0.2
"""Least size of a part at first, as a share of the budget. More would fill the parts better, but then a new cut
forbids its neighbours, which moves theirs."""

SMALL_PART = 0.4
"""Size below which a part is joined with a neighbour if both fit into one, as a share of the budget."""

_EVEN_PART = 0.8
_SHORT = 128
"""Pieces up to which plain lists are faster than arrays."""

Costs = Sequence[int] | IndexArray
Keys = Sequence[int] | KeyArray


def divide(costs: Costs, keys: Keys, budget: int) -> list[int]:
    """Choose the pieces that start a part, so that no part costs more than the budget unless it is one piece.

    `costs` are cumulative and have one entry more than `keys`. The first piece always starts a part; the result
    ascends.
    """
    if len(keys) <= _SHORT:
        costs, keys = _plain(costs), _plain(keys)
    return _join(costs, keys, _cut(costs, keys, budget), budget)


def _plain(column: Costs | Keys) -> list[int]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _cut(costs: Costs, keys: Keys, budget: int) -> list[int]:
    starts = []
    stack = [(0, len(keys))]
    while stack:
        first, last = stack.pop()
        if last - first < 2 or costs[last] - costs[first] <= budget:
            starts.append(first)
        elif last - first <= _SHORT and isinstance(keys, np.ndarray):
            part = _cut(_plain(costs[first : last + 1]), _plain(keys[first:last]), budget)
            starts += [first + at for at in part]
        else:
            middle = _choose(costs, keys, first, last, budget)
            stack += [(middle, last), (first, middle)]
    return starts


def _choose(costs: Costs, keys: Keys, first: int, last: int, budget: int) -> int:
    """Choose the piece that starts the second part of a stretch of at least two pieces."""
    margin = MARGIN * budget
    begin = max(_first_at_least(costs, costs[first] + margin, first, last), first + 1)
    end = _first_above(costs, costs[last] - margin, first, last)
    ties = _best(keys, begin, end)
    if not ties or int(keys[ties[0]]) >> RANK_SHIFT == Rank.GLUED:
        anywhere = _best(keys, first + 1, last)
        if not ties or int(keys[anywhere[0]]) >> RANK_SHIFT > Rank.GLUED:
            ties = anywhere
    return ties[0] if len(ties) == 1 else _even(costs, ties, first, last, budget)


def _best(keys: Keys, begin: int, end: int) -> list[int]:
    """Find the pieces of a range that have its greatest key."""
    part = keys[begin:end]
    if not len(part):
        return []
    if isinstance(part, np.ndarray):
        return (np.flatnonzero(part == part.max()) + begin).tolist()
    top = max(part)
    if part.count(top) == 1:
        return [begin + part.index(top)]
    return [at for at, key in enumerate(part, begin) if key == top]


def _even(costs: Costs, ties: list[int], first: int, last: int, budget: int) -> int:
    """Choose among places that look alike: near the middle, but so that parts get one size.

    In text that repeats itself all parts but the last are then the same text, wherever an edit stands.
    """
    at = np.array([costs[tie] for tie in ties], np.int64)
    gap = float(np.median(np.diff(at)))
    per_part = max(int(_EVEN_PART * budget / gap), 1)
    uneven = np.rint((at - costs[first]) / gap) % per_part
    off_middle = np.abs(2 * at - costs[first] - costs[last])
    return ties[int(np.lexsort((off_middle, uneven))[0])]


def _first_at_least(costs: Costs, value: float, first: int, last: int) -> int:
    if isinstance(costs, np.ndarray):
        return first + int(np.searchsorted(costs[first:last], value, "left"))
    return bisect_left(costs, value, first, last)


def _first_above(costs: Costs, value: float, first: int, last: int) -> int:
    if isinstance(costs, np.ndarray):
        return first + int(np.searchsorted(costs[first:last], value, "right"))
    return bisect_right(costs, value, first, last)


def _join(costs: Costs, keys: Keys, starts: list[int], budget: int) -> list[int]:
    """Undo cuts beside a small part while both parts fit into one, the cut with the least key first."""
    if len(starts) < 2:
        return starts
    edges = [int(costs[at]) for at in [*starts, len(keys)]]
    left, right = list(range(-1, len(starts))), list(range(1, len(starts) + 1))
    kept = [True] * len(starts)
    for cut in sorted(range(1, len(starts)), key=lambda at: int(keys[starts[at]])):
        before, after = left[cut], right[cut]
        small = min(edges[cut] - edges[before], edges[after] - edges[cut])
        if small < SMALL_PART * budget and edges[after] - edges[before] <= budget:
            kept[cut] = False
            right[before], left[after] = after, before
    return [at for at, is_kept in zip(starts, kept, strict=True) if is_kept]
