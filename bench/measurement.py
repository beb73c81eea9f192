"""What a measurement is, what it works with, and the rows it gives."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bench.yardstick import Yardstick
from memoryd.config.paths import models_dir
from memoryd.models.store import ModelStore
from tests.daemon import STARTER


@dataclass(frozen=True, slots=True)
class Aim:
    """A bound that the figure should keep."""

    bound: float
    is_floor: bool = False
    """Whether the figure should be at least `bound`; else at most."""

    def is_met(self, value: float) -> bool:
        """Tell whether `value` keeps the bound."""
        return value >= self.bound if self.is_floor else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.is_floor else '≤'} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Row:
    """One figure."""

    name: str
    value: float
    unit: str
    aim: Aim | None = None
    note: str = ""


@dataclass(frozen=True)
class Bench:
    """What every measurement shares: a folder of its own, and how much effort is asked for."""

    folder: Path
    is_quick: bool = False
    size: int = 0
    """How many memories or chunks are to be measured with; 0: as many as usual."""
    yardstick: Yardstick = field(default_factory=Yardstick)
    """Laid before and after the measurement; one that compares to a few per cent lays it in between, too."""

    @cached_property
    def model(self) -> Path:
        """The starter model as a GGUF, fetched if it is not in the user's cache; raises MemorydError."""
        return asyncio.run(ModelStore(models_dir()).fetch(STARTER, lambda _progress: None))

    def pick(self, usual: int, quick: int) -> int:
        """Return the size or count that fits the effort."""
        return quick if self.is_quick else usual


@dataclass(frozen=True, slots=True)
class Measurement:
    """A named group of figures that are taken together."""

    name: str
    about: str
    rows: Callable[[Bench], Iterator[Row]]
    is_slow: bool = False
    """Runs only when it is named or slow ones are asked for."""
