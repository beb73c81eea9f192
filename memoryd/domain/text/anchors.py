"""Where to cut a text that is too large, so that an edit moves the cuts around it and no others.

The rule is that of a treap (Seidel and Aragon, 1996): the best place within a stretch divides it, and both parts
are divided alike until they fit. What is best depends on the text at that place, never on its distance from the
start of the file. Small parts that this leaves are then joined with a neighbour, the worst cut first.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np

from memoryd.domain.text.lines import IndexArray
from memoryd.domain.text.segments import RANK_SHIFT, KeyArray
from memoryd.domain.text.structure import Rank

MARGIN = 0.2
"""Least size of a part at first, as a share of the budget. More would fill the parts better, but then a new cut
forbids its neighbours, which moves theirs."""

SMALL_PART = 0.4
"""Size below which a part is joined with a neighbour if both fit into one, as a share of the budget."""

_EVEN_PART = 0.8
"""Size of a part in text that repeats itself, as a share of the budget."""

_FREE_KEY = (Rank.GLUED + 1) << RANK_SHIFT
"""Least key of a place that does not tear a heading from what it heads."""

_BLOCK = 256
_MANY = 64
"""Blocks with the same greatest key from which scanning the whole range is faster."""

_SHORT = 128
"""Pieces up to which plain lists are faster than arrays."""

Costs = Sequence[int] | IndexArray


class _BlockKeys:
    """Keys with the greatest of each block: a range is searched in time that hardly grows with its length.

    Without it, lines sorted by their hash would take quadratic time.
    """

    def __init__(self, keys: KeyArray) -> None:
        self.keys = keys
        self._tops = np.maximum.reduceat(keys, np.arange(0, len(keys), _BLOCK))

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, at: int) -> int:
        return int(self.keys[at])

    def best(self, begin: int, end: int) -> list[int]:
        """Find the places of a range that have its greatest key."""
        first, last = -(-begin // _BLOCK), end // _BLOCK
        if last - first < 2:
            return self._scan(begin, end, self.keys[begin:end].max())
        tops = self._tops[first:last]
        edges = ((begin, first * _BLOCK), (last * _BLOCK, end))
        top = max([tops.max(), *(self.keys[slice(*edge)].max() for edge in edges if edge[0] < edge[1])])
        blocks = np.flatnonzero(tops == top) + first
        if len(blocks) > _MANY:
            return self._scan(begin, end, top)
        ranges = [edges[0], *((at * _BLOCK, (at + 1) * _BLOCK) for at in blocks.tolist()), edges[1]]
        return [at for part in ranges for at in self._scan(*part, top)]

    def _scan(self, begin: int, end: int, top: np.uint64) -> list[int]:
        return (np.flatnonzero(self.keys[begin:end] == top) + begin).tolist()


def divide(costs: IndexArray, keys: KeyArray, budget: int) -> list[int]:
    """Choose the pieces that start a part, so that no part costs more than the budget unless it is one piece.

    `costs` are cumulative and have one entry more than `keys`. The first piece always starts a part; the result
    ascends.
    """
    if len(keys) <= _SHORT:
        plain = costs.tolist(), keys.tolist()
        return _join(*plain, _cut(*plain, budget), budget)
    starts = _cut(costs, _BlockKeys(keys), budget)
    return _join(costs, keys, starts, budget)


def _cut(costs: Costs, keys: Sequence[int] | _BlockKeys, budget: int) -> list[int]:
    starts = []
    stack = [(0, len(keys))]
    while stack:
        first, last = stack.pop()
        if last - first < 2 or costs[last] - costs[first] <= budget:
            starts.append(first)
        elif last - first <= _SHORT and isinstance(keys, _BlockKeys) and isinstance(costs, np.ndarray):
            part = _cut(costs[first : last + 1].tolist(), keys.keys[first:last].tolist(), budget)
            starts += [first + at for at in part]
        else:
            middle = _choose(costs, keys, first, last, budget)
            stack += [(middle, last), (first, middle)]
    return starts


def _choose(costs: Costs, keys: Sequence[int] | _BlockKeys, first: int, last: int, budget: int) -> int:
    """Choose the piece that starts the second part of a stretch of at least two pieces."""
    margin = int(MARGIN * budget)
    begin = max(_first_at_least(costs, costs[first] + margin, first, last), first + 1)
    end = _first_above(costs, costs[last] - margin, first, last)
    ties = _best(keys, begin, end)
    if not ties or keys[ties[0]] < _FREE_KEY:
        anywhere = _best(keys, first + 1, last)
        if not ties or keys[anywhere[0]] >= _FREE_KEY:
            ties = anywhere
    return ties[0] if len(ties) == 1 else _even(costs, ties, first, last, budget)


def _best(keys: Sequence[int] | _BlockKeys, begin: int, end: int) -> list[int]:
    """Find the pieces of a range that have its greatest key."""
    if begin >= end:
        return []
    if isinstance(keys, _BlockKeys):
        return keys.best(begin, end)
    part = keys[begin:end]
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


def _first_at_least(costs: Costs, value: int, first: int, last: int) -> int:
    if isinstance(costs, np.ndarray):
        return first + int(np.searchsorted(costs[first:last], value, "left"))
    return bisect_left(costs, value, first, last)


def _first_above(costs: Costs, value: int, first: int, last: int) -> int:
    if isinstance(costs, np.ndarray):
        return first + int(np.searchsorted(costs[first:last], value, "right"))
    return bisect_right(costs, value, first, last)


def _join(costs: Costs, keys: Sequence[int] | KeyArray, starts: list[int], budget: int) -> list[int]:
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
