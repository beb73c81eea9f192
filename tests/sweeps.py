"""How much of a sweep is tried: a part of it in `make test`, the whole in `make torture`.

A sweep tries one claim at many points: system calls, kills, sizes, examples. Its tests carry the mark `sweep`. What
hunts for a moment by storms, crowds and repeated kills, or tries in other surroundings what another test holds, carries
the mark `torture`, and is tried there alone, or where somebody asks for it by name.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest

Point = TypeVar("Point")

WHOLE = bool(os.environ.get("MEMORYD_TEST_SWEEPS"))


def some(points: Sequence[Point], count: int) -> Sequence[Point]:
    """Return all points, or `count` of them from the first to the last, spread evenly."""
    if WHOLE or count >= len(points):
        return points
    steps = max(1, count - 1)
    return [points[round(number * (len(points) - 1) / steps)] for number in range(count)]


def whole_or(part: int, whole: int) -> int:
    """Return how many or how much is tried."""
    return whole if WHOLE else part


def swept(names: str | Sequence[str], points: Sequence[Any], count: int, **options: Any) -> Callable[[Any], Any]:
    """Have a test tried at some points, as `parametrize` does, and all of them in `make torture`."""
    rows = pytest.mark.parametrize(names, some(points, count), **options)
    return lambda test: pytest.mark.sweep(rows(test))
