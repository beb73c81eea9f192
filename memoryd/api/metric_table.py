"""All metrics as one table: name, kind, what it says, its labels, and where its figures are read.

Labels take values from closed lists and from the configuration alone (ids of agents, names of loops), so that a client
cannot make more series, and none holds a word of the memory or a path.
"""

import platform
from collections.abc import Callable, Iterator
from typing import Final

from memoryd.agents.status.status import MemoryStatus
from memoryd.api.metric_kinds import Labels, Metric, MetricKind, Samples, Scrape
from memoryd.api.metric_readings import (
    breakers,
    connections,
    degraded,
    refused,
    scan_age,
    sidecar_restarts,
    sidecar_states,
)
from memoryd.api.process_figures import ProcessFigures
from memoryd.domain.heartbeats import HeartState

AGENT: Final = ("agent",)
PROCESS: Final = ("process", "agent")


def _counter(name: str, says: str, labels: Labels, read: Callable[[Scrape], Samples]) -> Metric:
    return Metric(f"memoryd_{name}_total", MetricKind.COUNTER, says, labels, read)


def _gauge(name: str, says: str, labels: Labels, read: Callable[[Scrape], Samples]) -> Metric:
    return Metric(f"memoryd_{name}", MetricKind.GAUGE, says, labels, read)


def _of_agents(name: str, says: str, value: Callable[[MemoryStatus], float | None]) -> Metric:
    """Return a gauge with a value for each agent; those of one workspace have the same."""

    def read(moment: Scrape) -> Iterator[tuple[Labels, float]]:
        for one in moment.agents:
            figure = value(one)
            if figure is not None:
                yield (one.state.id,), figure

    return _gauge(name, says, AGENT, read)


def _of_processes(name: str, says: str, value: Callable[[ProcessFigures], float]) -> Metric:
    make = _counter if name.endswith("cpu_seconds") else _gauge
    return make(name, says, PROCESS, lambda moment: ((key, value(one)) for key, one in moment.processes.items()))


METRICS: Final = (
    _gauge(
        "build_info",
        "Always 1: the version of the daemon and of its Python.",
        ("version", "python"),
        lambda moment: [((moment.daemon.version, platform.python_version()), 1)],
    ),
    _gauge(
        "uptime_seconds",
        "How long the daemon has run.",
        (),
        lambda moment: [((), moment.daemon.uptime_seconds)],
    ),
    _counter(
        "requests",
        "Requests answered on sockets and port, by the pattern of the path, the method and the class of the code; "
        "`abandoned`: the client left before its answer began. `unmatched` is what was refused before a route was "
        "looked for, a body that is no JSON among it, and paths that there are not.",
        ("route", "method", "code"),
        lambda moment: moment.requests.codes.items(),
    ),
    Metric(
        "memoryd_request_duration_seconds",
        MetricKind.HISTOGRAM,
        "How long until the answer began.",
        ("route", "method"),
        spread=lambda moment: moment.requests.seconds.items(),
    ),
    _gauge(
        "requests_in_flight",
        "Requests that are being answered, this one among them, and streams that go on.",
        (),
        lambda moment: [((), moment.requests.in_flight)],
    ),
    _counter(
        "requests_refused",
        "Requests that were refused as `overloaded`, since `limits.maxRequests` were at work.",
        (),
        lambda moment: [((), moment.daemon.load.refused_requests)],
    ),
    Metric(
        "memoryd_arm_duration_seconds",
        MetricKind.HISTOGRAM,
        "How long a part of answering took: `lexical`, `embedding` of the question, `vector`, `rerank`, `qmd`, and a "
        "whole `recall`; with `conversations ` before it over the conversations.",
        ("arm",),
        spread=lambda moment: (((arm,), durations) for arm, durations in moment.measures.seconds.items()),
    ),
    _counter(
        "arm_answers",
        "How such a part took part: `ok`, `partial`, `off`, `waiting`, `failed` or `timeout`.",
        ("arm", "state"),
        lambda moment: moment.measures.states.items(),
    ),
    _gauge("connections_open", "Open connections, on the sockets and on the loopback port.", ("on",), connections),
    _counter(
        "connections_refused",
        "Connections of sockets, and requests on the port, that were turned away or cut off.",
        ("on", "reason"),
        refused,
    ),
    _of_agents("index_files", "Files in the index.", lambda one: one.figures.held.files),
    _of_agents("index_chunks", "Chunks in the index.", lambda one: one.figures.held.chunks),
    _of_agents("index_passages", "Passages in the index.", lambda one: one.figures.held.passages),
    _of_agents("index_embedded_passages", "Passages with a vector of the model in use.", lambda one: one.embedded),
    _of_agents("index_memories", "Memories that retained lines state.", lambda one: one.figures.memories.memories),
    _of_agents("index_bytes", "Size of the file of the index.", lambda one: one.figures.held.bytes),
    _of_agents(
        "conversations_index_bytes",
        "Size of the file of the index of conversations.",
        lambda one: None if one.conversations is None else one.conversations.stored.bytes,
    ),
    _of_agents("ledger_bytes", "Size of the ledger.", lambda one: one.ledger.file_bytes),
    _of_agents("pending_files", "Files still to be read.", lambda one: one.state.index.sync.pending_files),
    _of_agents("pending_embeddings", "Passages still to get a vector.", lambda one: one.pending_embeddings),
    _of_agents("pending_captures", "Messages still to be looked at.", lambda one: one.state.pending_captures),
    _of_agents("index_dirty", "1 if the index may differ from the disk.", lambda one: one.state.index.sync.is_dirty),
    _of_agents("watcher_ok", "1 if file events flow, or none are wanted.", lambda one: one.state.index.watcher.is_ok),
    _gauge("scan_age_seconds", "How long ago the disk was last looked at.", AGENT, scan_age),
    _counter(
        "scans",
        "Looks at the disk, by what for: `start`, `event`, `timer`, `question`, `asked`, `reindex` or `clock`.",
        ("reason",),
        lambda moment: (((reason,), number) for reason, number in moment.measures.looks.items()),
    ),
    _of_agents("cache_entries", "Vectors in the index.", lambda one: one.figures.held.vectors),
    _counter(
        "cache_hits",
        "What was there when it was wanted: the `memories` of a workspace as they were read last, and `vectors` that "
        "another index has.",
        ("cache",),
        lambda moment: (((name,), uses.hits) for name, uses in moment.measures.caches.items()),
    ),
    _counter(
        "cache_misses",
        "What had to be made: memories read again, and passages that were to be embedded.",
        ("cache",),
        lambda moment: (((name,), uses.misses) for name, uses in moment.measures.caches.items()),
    ),
    _gauge(
        "cache_bytes",
        "What vectors take that questions are compared with.",
        ("cache",),
        lambda moment: [(("vectors",), moment.measures.vector_bytes)],
    ),
    _gauge(
        "sidecar_state",
        "1 for the state that a model, its process or qmd is in.",
        ("agent", "sidecar", "state"),
        sidecar_states,
    ),
    _gauge(
        "breaker_open",
        "1 where something failed so often that it is tried only now and then.",
        ("agent", "sidecar"),
        breakers,
    ),
    _counter(
        "sidecar_restarts", "How often a process of a model or of qmd ended.", ("agent", "sidecar"), sidecar_restarts
    ),
    _counter(
        "loop_restarts",
        "How often a loop of the daemon failed and was started again.",
        ("loop",),
        lambda moment: (((name,), number) for name, number in moment.daemon.restarts.items()),
    ),
    _gauge(
        "stalled_parts",
        "How many parts that must never be stuck are at work and silent for longer than they may be.",
        (),
        lambda moment: [((), sum(one.state is HeartState.STALLED for one in moment.daemon.heartbeats))],
    ),
    _gauge(
        "heartbeat_age_seconds",
        "How long ago a part that must never be stuck last showed that it gets on, while it had work.",
        ("part",),
        lambda moment: (((one.name,), one.silent_seconds) for one in moment.daemon.heartbeats),
    ),
    _gauge("degraded_parts", "How many parts do less than they should, by part.", ("agent", "part"), degraded),
    _of_processes("process_resident_memory_bytes", "Memory of a process.", lambda one: one.rss_bytes),
    _of_processes("process_cpu_seconds", "Time of processors that a process took.", lambda one: one.cpu_seconds),
    _of_processes("process_threads", "Threads of a process.", lambda one: one.threads),
    _of_processes("process_open_fds", "Open files of a process.", lambda one: one.files),
)
