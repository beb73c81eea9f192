"""`GET /metrics`: what is counted and how things stand, in the text format of Prometheus."""

import asyncio
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.responses import Response

from memoryd.agents.status.status import MemoryStatus
from memoryd.api.dependencies import AllServices
from memoryd.api.metric_kinds import Labels, Metric, MetricKind, Scrape
from memoryd.api.metric_readings import workers
from memoryd.api.metric_table import METRICS
from memoryd.api.process_figures import ProcessFigures, process_figures

Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


class MetricsText(Response):
    """The text format of Prometheus."""

    media_type = CONTENT_TYPE_LATEST


async def get_metrics(services: AllServices) -> MetricsText:
    """Tell requests, queues, caches and processes in the text format of Prometheus."""
    agents = await services.memories.status(None)
    moment = Scrape(
        now=datetime.now(UTC),
        daemon=services.daemon(),
        agents=agents,
        measures=services.memories.measures(),
        requests=services.requests,
        # the system is asked for each process, which may take a while on a busy machine
        processes=await asyncio.to_thread(partial(_processes, agents)),
    )
    return MetricsText(text_of(moment))


def text_of(moment: Scrape) -> bytes:
    """Return the text of all metrics at one moment."""
    # a registry for each text, so that nothing is shared with anybody who uses the library in this process
    registry = CollectorRegistry()
    registry.register(_Told(moment))
    return generate_latest(registry)


class _Told(Collector):
    """One moment as the library wants it."""

    def __init__(self, moment: Scrape) -> None:
        self._moment = moment

    def collect(self) -> Iterable[Any]:
        """Yield all families."""
        yield from (_family(metric, self._moment) for metric in METRICS)


def _family(metric: Metric, moment: Scrape) -> Family:
    if metric.kind is MetricKind.HISTOGRAM:
        spread = HistogramMetricFamily(metric.name, metric.says, labels=metric.labels)
        for labels, durations in metric.spread(moment):
            spread.add_metric(labels, list(durations.buckets()), durations.total)
        return spread
    kind = CounterMetricFamily if metric.kind is MetricKind.COUNTER else GaugeMetricFamily
    family = kind(metric.name, metric.says, labels=metric.labels)
    for labels, value in metric.read(moment):
        family.add_metric(labels, value)
    return family


def _processes(agents: list[MemoryStatus]) -> dict[Labels, ProcessFigures]:
    """Return what the daemon takes and each of its children; one that agents share is named after the first."""
    found: dict[Labels, ProcessFigures] = {}
    seen: set[int] = set()
    for labels, pid in _pids(agents):
        figures = None if pid is None or pid in seen else process_figures(pid)
        if pid is not None and figures is not None:
            seen.add(pid)
            found[labels] = figures
    return found


def _pids(agents: list[MemoryStatus]) -> Iterator[tuple[Labels, int | None]]:
    yield ("daemon", ""), os.getpid()
    for one in agents:
        yield from (((name, one.state.id), worker.pid) for name, worker in workers(one))
        if one.state.qmd is not None:
            yield ("qmd", one.state.id), one.state.qmd.pid
