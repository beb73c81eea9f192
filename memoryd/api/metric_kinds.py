"""What a metric is, and the moment that all of them are read at."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memoryd.agents.status.figures import Measures
from memoryd.agents.status.status import MemoryStatus
from memoryd.api.daemon_state import DaemonState
from memoryd.api.http.measured import RequestCounts
from memoryd.api.process_figures import ProcessFigures
from memoryd.domain.counters import Durations

Labels = tuple[str, ...]
Samples = Iterable[tuple[Labels, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrape:
    """All that is told at one moment."""

    now: datetime
    daemon: DaemonState
    agents: list[MemoryStatus]
    measures: Measures
    requests: RequestCounts
    processes: Mapping[Labels, ProcessFigures]
    """By process and agent, as in the labels."""


class MetricKind(StrEnum):
    """What a figure does: a gauge goes up and down, a counter only up until the next start."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric; `read` yields its values by labels, of a histogram by `spread`."""

    name: str
    kind: MetricKind
    says: str
    labels: Labels = ()
    read: Callable[[Scrape], Samples] = lambda _moment: ()
    spread: Callable[[Scrape], Iterable[tuple[Labels, Durations]]] = lambda _moment: ()
