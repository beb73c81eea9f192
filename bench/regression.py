"""Logistic regressions over thousands of features of which each row has few, and their weights as a table of text."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final
from unicodedata import east_asian_width

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.memories.unasked.form import ALWAYS

LEAST_ROWS: Final = 3
"""That have a feature which is weighed."""
STEPS, NEAR = 60, 1e-4
ROW_WIDTH, ROUNDED = 114, 5
Row = NDArray[np.float64]


class Rows(Struct):
    """The rows of a regression: what they come to with some weights, and what each of their columns does with values.

    Of wording each row has few of thousands of features.
    """

    of: Callable[[Row], Row]
    back: Callable[[Row], Row]


def fitted_features(
    rows: Sequence[Mapping[str, float]],
    labels: Sequence[bool],
    sources: Sequence[str],
    *,
    ridge: float,
    least_sources: int,
    least_weight: float,
) -> dict[str, float]:
    """Return the weight of each feature that enough rows have, of enough of their sources.

    `ridge`: as much as so many rows speaks for no weight at all. Features that weigh less than the least
    are left out.
    """
    counts = Counter(name for row in rows for name in row)
    seen = defaultdict[str, set[str]](set)
    for row, source in zip(rows, sources, strict=True):
        for name in row:
            seen[name].add(source)
    kept = {name for name, count in counts.items() if count >= LEAST_ROWS and len(seen[name]) >= least_sources}
    weights = _fitted(rows, labels, kept, ridge)
    # those that are left take over what those said that go
    kept = {name for name, weight in weights.items() if abs(weight) >= least_weight}
    weights = _fitted(rows, labels, kept, ridge)
    return {name: weight for name, weight in weights.items() if name == ALWAYS or round(weight, 2)}


def _fitted(
    rows: Sequence[Mapping[str, float]], labels: Sequence[bool], kept: Collection[str], ridge: float
) -> dict[str, float]:
    names = [ALWAYS, *sorted(set(kept) - {ALWAYS})]
    places = {name: at for at, name in enumerate(names)}
    held = [[(places[name], value) for name, value in row.items() if name in places] for row in rows]
    flat = np.array([place for row in held for place, _ in row])
    values = np.array([value for row in held for _, value in row])
    lengths = np.array(list(map(len, held)))
    starts = np.cumsum(lengths) - lengths
    table = Rows(
        lambda weights: np.add.reduceat(weights[flat] * values, starts),
        lambda found: np.bincount(flat, np.repeat(found, lengths) * values, len(names)).astype(np.float64),
    )
    held_to = np.array([0.01, *[ridge] * (len(names) - 1)])
    weights = regressed(table, np.array(labels, dtype=np.float64), np.ones(len(labels)), np.zeros(len(names)), held_to)
    return dict(zip(names, weights.tolist(), strict=True))


def regressed(rows: Rows, labels: Row, counts: Row, standing: Row, ridge: Row) -> Row:
    """Return the weights of a logistic regression, by Newton's method, each held to one that stands.

    Its steps are solved by conjugate gradients: wording has thousands of features, and no room for their square.
    """
    weights = standing.copy()
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-np.clip(rows.of(weights), -30, 30)))
        slope = rows.back(counts * (likely - labels)) + ridge * (weights - standing)
        spread = counts * likely * (1 - likely)
        step = _solved(partial(_curve, rows, spread, ridge), slope)
        weights = weights - step
        if np.abs(step).max() < NEAR:
            break
    return weights


def _curve(rows: Rows, spread: Row, ridge: Row, way: Row) -> Row:
    return rows.back(spread * rows.of(way)) + ridge * way


def _solved(curve: Callable[[Row], Row], slope: Row) -> Row:
    """Return what the curve makes the slope of, by conjugate gradients."""
    found, rest = np.zeros_like(slope), slope
    way, size = rest, float(rest @ rest)
    for _ in range(len(slope)):
        if size < NEAR**2 * 1e-2:
            break
        bent = curve(way)
        length = size / float(way @ bent)
        found, rest = found + length * way, rest - length * bent
        before, size = size, float(rest @ rest)
        way = rest + size / before * way
    return found


def write_table(weights: Mapping[str, float], path: Path) -> int:
    """Write weights into the table of the module that goes by them; returns how many there are."""
    by_weight: dict[int, list[str]] = {}
    for feature, weight in sorted(weights.items()):
        by_weight.setdefault(ROUNDED * round(100 * weight / ROUNDED), []).append(feature)
    by_weight.pop(0, None)
    rows = [f"{weight} {row}" for weight, several in sorted(by_weight.items()) for row in _rows_of(several)]
    table = "\n".join(rows)
    before, _, rest = path.read_text(encoding="utf-8").partition('TABLE = """\n')
    behind = rest.partition('"""\n')[2]
    path.write_text(f'{before}TABLE = """\n{table}\n"""\n{behind}', encoding="utf-8")
    return sum(map(len, by_weight.values()))


def _rows_of(features: Sequence[str]) -> Iterator[str]:
    """Yield features joined as far as a row is wide, in which a sign of a script without spaces takes two places."""
    row, width = list[str](), 0
    for one in features:
        size = len(one) + sum(east_asian_width(sign) in "WF" for sign in one) + len(" | ")
        if row and width + size > ROW_WIDTH:
            yield " | ".join(row)
            row, width = [], 0
        row.append(one)
        width += size
    yield " | ".join(row)
