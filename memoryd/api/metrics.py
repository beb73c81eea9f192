"""`GET /metrics` in the text format of Prometheus: a table of metrics with name, kind, help text, labels and reader.

Label values come only from fixed lists and from the configuration (ids of agents, names of loops). So a client cannot
create series, and no label contains memory text or a path.
"""

import asyncio
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any

from msgspec import Struct
from starlette.responses import Response

from memoryd.agents.status.figures import Counters
from memoryd.agents.status.status import MemoryStatus
from memoryd.api.access import AllServices, DaemonState
from memoryd.api.http.counting import RequestCounts
from memoryd.domain.clock import HeartState
from memoryd.domain.counters import Durations

Labels = tuple[str, ...]
Samples = Iterable[tuple[Labels, float | Durations]]


class ProcessUsage(Struct, frozen=True, kw_only=True):
    """The resource usage of one process: memory, CPU time since its start, threads and open files."""

    rss_bytes: int
    cpu_seconds: float
    threads: int
    files: int


def process_usage(pid: int) -> ProcessUsage | None:
    """Return the usage of a process; None if it does not exist or may not be inspected."""
    # imported here: only the status needs it
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            spent = process.cpu_times()
            return ProcessUsage(
                rss_bytes=process.memory_info().rss,
                cpu_seconds=spent.user + spent.system,
                threads=process.num_threads(),
                files=process.num_fds(),
            )
    except (psutil.Error, OSError):
        return None


class Scrape(Struct, frozen=True, kw_only=True):
    """The data of all metrics at one moment."""

    now: datetime
    daemon: DaemonState
    agents: list[MemoryStatus]
    counters: Counters
    requests: RequestCounts
    processes: Mapping[Labels, ProcessUsage]
    """By the labels process and agent."""


class MetricKind(StrEnum):
    """A gauge goes up and down, a counter only rises until the next start, a histogram counts durations."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Metric(Struct, frozen=True):
    """One metric. `read` yields its values by labels; those of a histogram are durations."""

    name: str
    kind: MetricKind
    help: str
    labels: Labels
    read: Callable[[Scrape], Samples]


class MetricsText(Response):
    """The text format of Prometheus."""

    media_type = "text/plain; version=1.0.0; charset=utf-8"


async def get_metrics(services: AllServices) -> MetricsText:
    """Return metrics of requests, queues, caches and processes in the text format of Prometheus."""
    agents = await services.memories.status(None)
    moment = Scrape(
        now=datetime.now(UTC),
        daemon=services.daemon(),
        agents=agents,
        counters=services.memories.counters(),
        requests=services.requests,
        # in a thread: querying each process may take a while on a busy machine
        processes=await asyncio.to_thread(partial(_processes, agents)),
    )
    return MetricsText(text_of(moment))


def text_of(moment: Scrape) -> bytes:
    """Return the text of all metrics at one moment."""
    # imported here, since most daemons never serve metrics
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.registry import Collector

    class AtMoment(Collector):
        def collect(self) -> Iterable[Any]:
            return (_family(metric, moment) for metric in METRICS)

    # a separate registry for each text, independent of any other use of the library in this process
    registry = CollectorRegistry()
    registry.register(AtMoment())
    return generate_latest(registry)


def _family(metric: Metric, moment: Scrape) -> Any:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

    kinds = {
        MetricKind.COUNTER: CounterMetricFamily,
        MetricKind.GAUGE: GaugeMetricFamily,
        MetricKind.HISTOGRAM: HistogramMetricFamily,
    }
    family: Any = kinds[metric.kind](metric.name, metric.help, labels=metric.labels)
    for labels, value in metric.read(moment):
        values = (list(value.buckets()), value.total) if isinstance(value, Durations) else (value,)
        family.add_metric(labels, *values)
    return family


def _processes(agents: list[MemoryStatus]) -> dict[Labels, ProcessUsage]:
    """Return the usage of the daemon and of each child; a child shared by agents is labelled with the first agent."""
    usage: dict[Labels, ProcessUsage] = {}
    seen: set[int] = set()
    for labels, pid in _pids(agents):
        if pid is not None and pid not in seen and (figures := process_usage(pid)) is not None:
            seen.add(pid)
            usage[labels] = figures
    return usage


def _pids(agents: list[MemoryStatus]) -> Iterator[tuple[Labels, int | None]]:
    yield ("daemon", ""), os.getpid()
    for agent in agents:
        yield from (((name, agent.state.id), worker.state()["pid"]) for name, worker in agent.workers.items())
        if agent.state.qmd is not None:
            yield ("qmd", agent.state.id), agent.state.qmd.pid


def sidecar_states(moment: Scrape) -> Samples:
    """Yield 1 for the current state of each model, its process and qmd."""
    for agent in moment.agents:
        yield from (((agent.state.id, name, phase), 1) for name, phase in _phases(agent))


def _phases(status: MemoryStatus) -> Iterator[tuple[str, str]]:
    state, worker = status.state, status.workers.get("embedder")
    yield "embedder", state.embedder.phase.value
    if worker is not None:
        yield "embedder worker", worker.phase.value
    if state.reranker is not None:
        yield "reranker", state.reranker["state"]
    if state.text is not None:
        yield "text model", state.text["state"]
    if state.qmd is not None:
        yield "qmd", state.qmd.server.value


def breakers(moment: Scrape) -> Samples:
    """Yield 1 for each process that failed so often that it is retried only occasionally."""
    for agent in moment.agents:
        for name, worker in agent.workers.items():
            yield (agent.state.id, name), worker.is_failing
        if agent.state.qmd is not None:
            yield (agent.state.id, "qmd"), agent.state.qmd.is_failing


def sidecar_restarts(moment: Scrape) -> Samples:
    """Yield the number of exits of each process of a model or of qmd."""
    for agent in moment.agents:
        yield from (((agent.state.id, name), worker.state()["restarts"]) for name, worker in agent.workers.items())
        if agent.state.qmd is not None:
            yield (agent.state.id, "qmd"), agent.state.qmd.restarts


def degraded_parts(moment: Scrape) -> Samples:
    """Yield the number of degraded parts, by part."""
    for agent in moment.agents:
        # the name of a missing folder is a path
        parts = Counter("folder" if it["part"].startswith("root ") else it["part"] for it in agent.degraded)
        yield from (((agent.state.id, part), number) for part, number in parts.items())


def connections(moment: Scrape) -> Samples:
    """Yield the number of open connections."""
    daemon = moment.daemon
    yield ("socket",), 0 if daemon.connections is None else daemon.connections["open"]
    if daemon.port is not None:
        yield ("port",), daemon.port["connections"]


def refusals(moment: Scrape) -> Samples:
    """Yield the numbers of refused connections and requests."""
    for name, place in (("socket", moment.daemon.connections), ("port", moment.daemon.port)):
        yield from (((name, why), number) for why, number in (place["refused"].items() if place else ()))


def scan_age(moment: Scrape) -> Samples:
    """Yield the seconds since the last scan of the disk."""
    for agent in moment.agents:
        at = agent.state.sync.last_scan_at
        if at is not None:
            yield (agent.state.id,), max(0.0, (moment.now - at).total_seconds())


AGENT = ("agent",)
PROCESS = ("process", "agent")


def _counter(name: str, help_: str, labels: Labels, read: Callable[[Scrape], Samples]) -> Metric:
    return Metric(f"memoryd_{name}_total", MetricKind.COUNTER, help_, labels, read)


def _gauge(name: str, help_: str, labels: Labels, read: Callable[[Scrape], Samples]) -> Metric:
    return Metric(f"memoryd_{name}", MetricKind.GAUGE, help_, labels, read)


def _of_agents(name: str, help_: str, value: Callable[[MemoryStatus], float | None]) -> Metric:
    """Return a gauge with a value for each agent; agents of the same workspace have the same value."""

    def read(moment: Scrape) -> Samples:
        for agent in moment.agents:
            figure = value(agent)
            if figure is not None:
                yield (agent.state.id,), figure

    return _gauge(name, help_, AGENT, read)


def _of_processes(name: str, help_: str, value: Callable[[ProcessUsage], float]) -> Metric:
    make = _counter if name.endswith("cpu_seconds") else _gauge
    return make(name, help_, PROCESS, lambda moment: ((key, value(usage)) for key, usage in moment.processes.items()))


METRICS = (
    _gauge(
        "build_info",
        "Always 1: the version of the daemon and of its Python.",
        ("version", "python"),
        lambda moment: [((moment.daemon.version, platform.python_version()), 1)],
    ),
    _gauge(
        "uptime_seconds",
        "Time since the daemon started.",
        (),
        lambda moment: [((), moment.daemon.uptime_seconds)],
    ),
    _counter(
        "requests",
        "Requests answered on sockets and port, by route, method and class of the status code; `abandoned`: the "
        "client left before its answer began. `unmatched` are unknown paths, and requests that were refused before "
        "routing, such as a body that is not JSON.",
        ("route", "method", "code"),
        lambda moment: moment.requests.codes.items(),
    ),
    Metric(
        "memoryd_request_duration_seconds",
        MetricKind.HISTOGRAM,
        "Time until the answer began.",
        ("route", "method"),
        lambda moment: moment.requests.seconds.items(),
    ),
    _gauge(
        "requests_in_flight",
        "Requests being answered, including this one, and open streams.",
        (),
        lambda moment: [((), moment.requests.in_flight)],
    ),
    _counter(
        "requests_refused",
        "Requests refused as `overloaded`, since `limits.maxRequests` were being answered.",
        (),
        lambda moment: [((), moment.daemon.load["refusedRequests"])],
    ),
    Metric(
        "memoryd_arm_duration_seconds",
        MetricKind.HISTOGRAM,
        "Duration of a part of an answer: `lexical` (including word weights if no vector is needed), `embedding` of "
        "the question, `vector`, `rerank`, `qmd`, and a complete `recall`; with the prefix `conversations ` for those "
        "over conversations.",
        ("arm",),
        lambda moment: (((arm,), durations) for arm, durations in moment.counters.seconds.items()),
    ),
    _counter(
        "arm_answers",
        "Outcome of such a part: `ok`, `partial`, `off`, `waiting`, `failed` or `timeout`.",
        ("arm", "state"),
        lambda moment: moment.counters.states.items(),
    ),
    _gauge("connections_open", "Open connections, on the sockets and on the loopback port.", ("on",), connections),
    _counter(
        "connections_refused",
        "Connections of sockets, and requests on the port, that were refused or cut off.",
        ("on", "reason"),
        refusals,
    ),
    _of_agents("index_files", "Files in the index.", lambda agent: agent.figures.stored.files),
    _of_agents("index_chunks", "Chunks in the index.", lambda agent: agent.figures.stored.chunks),
    _of_agents("index_passages", "Passages in the index.", lambda agent: agent.figures.stored.passages),
    _of_agents("index_embedded_passages", "Passages with a vector of the model in use.", lambda agent: agent.embedded),
    _of_agents("index_memories", "Memories that retained lines state.", lambda agent: agent.figures.memories.memories),
    _of_agents("index_bytes", "Size of the file of the index.", lambda agent: agent.figures.stored.bytes),
    _of_agents(
        "conversations_index_bytes",
        "Size of the file of the index of conversations.",
        lambda agent: None if agent.conversations is None else agent.conversations["bytes"],
    ),
    _of_agents("ledger_bytes", "Size of the ledger.", lambda agent: agent.ledger["bytes"]),
    _of_agents("pending_files", "Files still to be read.", lambda agent: agent.state.sync.pending_files),
    _of_agents("pending_embeddings", "Passages still to get a vector.", lambda agent: agent.pending_embeddings),
    _of_agents(
        "pending_captures", "Messages still to be searched for memories.", lambda agent: agent.state.pending_captures
    ),
    _of_agents("index_dirty", "1 if the index may differ from the disk.", lambda agent: agent.state.sync.is_dirty),
    _of_agents("watcher_ok", "1 if file events work, or are switched off.", lambda agent: agent.state.watcher["ok"]),
    _gauge("scan_age_seconds", "Time since the last scan of the disk.", AGENT, scan_age),
    _counter(
        "scans",
        "Scans of the disk, by reason: `start`, `event`, `timer`, `question`, `asked`, `reindex` or `clock`.",
        ("reason",),
        lambda moment: (((reason,), number) for reason, number in moment.counters.scans.items()),
    ),
    _of_agents("cache_entries", "Vectors in the index.", lambda agent: agent.figures.stored.vectors),
    _counter(
        "cache_hits",
        "Hits: the cached `memories` of a workspace, and `vectors` that another index has.",
        ("cache",),
        lambda moment: (((name,), uses.hits) for name, uses in moment.counters.caches.items()),
    ),
    _counter(
        "cache_misses",
        "Misses: memories that were read again, and passages that had to be embedded.",
        ("cache",),
        lambda moment: (((name,), uses.misses) for name, uses in moment.counters.caches.items()),
    ),
    _gauge(
        "cache_bytes",
        "Memory of the vectors that questions are compared with.",
        ("cache",),
        lambda moment: [(("vectors",), moment.counters.vector_bytes)],
    ),
    _gauge(
        "sidecar_state",
        "1 for the current state of a model, its process or qmd.",
        ("agent", "sidecar", "state"),
        sidecar_states,
    ),
    _gauge(
        "breaker_open",
        "1 if it failed so often that it is retried only occasionally.",
        ("agent", "sidecar"),
        breakers,
    ),
    _counter("sidecar_restarts", "Exits of a process of a model or of qmd.", ("agent", "sidecar"), sidecar_restarts),
    _counter(
        "loop_restarts",
        "Restarts of a failed loop of the daemon.",
        ("loop",),
        lambda moment: (((name,), number) for name, number in moment.daemon.restarts.items()),
    ),
    _gauge(
        "stalled_parts",
        "Parts that must never hang, but are at work and silent for too long.",
        (),
        lambda moment: [((), sum(beat.state is HeartState.STALLED for beat in moment.daemon.heartbeats))],
    ),
    _gauge(
        "heartbeat_age_seconds",
        "Time since the last progress of a part that must never hang, while it had work.",
        ("part",),
        lambda moment: (((beat.name,), beat.silent_seconds) for beat in moment.daemon.heartbeats),
    ),
    _gauge("degraded_parts", "Degraded parts, by part.", ("agent", "part"), degraded_parts),
    _of_processes("process_resident_memory_bytes", "Memory of a process.", lambda usage: usage.rss_bytes),
    _of_processes("process_cpu_seconds", "CPU time of a process.", lambda usage: usage.cpu_seconds),
    _of_processes("process_threads", "Threads of a process.", lambda usage: usage.threads),
    _of_processes("process_open_fds", "Open files of a process.", lambda usage: usage.files),
)
