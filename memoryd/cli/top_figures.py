"""What happened between two looks at the metrics: rates, times, and what processes took."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypedDict

from prometheus_client.parser import text_string_to_metric_families

from memoryd.domain.counters import BOUNDS, quantile

LABELS: Final = ("process", "agent", "method", "route", "arm", "code", "cache", "on", "part", "le")
"""Those that are read, in the order in which values are kept by them."""


class TimedRow(TypedDict):
    """What was done of one kind: how often a second, and how long it took, null if nothing was."""

    name: str
    perSecond: float
    p50Ms: float | None
    p95Ms: float | None


class QueueRow(TypedDict):
    """What waits in an agent's memory."""

    agent: str
    pendingFiles: int
    pendingEmbeddings: int
    pendingCaptures: int


class ProcessRow(TypedDict):
    """A process: 100 % is one processor; null in the first look at it."""

    process: str
    agent: str
    cpuPercent: float | None
    rssBytes: int
    threads: int
    files: int


class CacheRow(TypedDict):
    """A cache: how often it had what was wanted since the last look, and what it takes."""

    cache: str
    hits: int
    misses: int
    bytes: int


class TopFigures(TypedDict):
    """One line of `memoryctl top --json`."""

    seconds: float
    uptimeSeconds: float
    restarted: bool
    requestsPerSecond: float
    failedPerSecond: float
    inFlight: int
    connections: int
    degraded: int
    routes: list[TimedRow]
    arms: list[TimedRow]
    queues: list[QueueRow]
    processes: list[ProcessRow]
    caches: list[CacheRow]


@dataclass(frozen=True, slots=True)
class TopLook:
    """The metrics at one moment (monotonic clock): values by name and labels, in the order of the text."""

    at: float
    values: Mapping[str, Mapping[tuple[str, ...], float]]

    def of(self, name: str) -> Mapping[tuple[str, ...], float]:
        """Return the values of a metric by labels."""
        return self.values.get(f"memoryd_{name}", {})

    def sum(self, name: str) -> float:
        """Return the values of a metric added up."""
        return sum(self.of(name).values())


def look_of(text: str, at: float) -> TopLook:
    """Return what a text of metrics says; raises ValueError if it is none."""
    values: defaultdict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            # the order of labels in the text means nothing
            labels = tuple(sample.labels[name] for name in LABELS if name in sample.labels)
            values[sample.name][labels] = sample.value
    return TopLook(at, values)


def figures_between(before: TopLook, after: TopLook) -> TopFigures:
    """Return what happened between two looks; after a restart, what happened since that."""
    has_restarted = after.sum("uptime_seconds") < before.sum("uptime_seconds")
    seconds = after.sum("uptime_seconds") if has_restarted else after.at - before.at
    between = _Between({} if has_restarted else before.values, after, max(seconds, 0.001))
    codes = between.gained("requests_total")
    return TopFigures(
        seconds=round(seconds, 3),
        uptimeSeconds=after.sum("uptime_seconds"),
        restarted=has_restarted,
        requestsPerSecond=_rounded(sum(codes.values()) / between.seconds),
        failedPerSecond=_rounded(sum(n for labels, n in codes.items() if labels[2] == "5xx") / between.seconds),
        inFlight=int(after.sum("requests_in_flight")),
        connections=int(after.sum("connections_open")),
        degraded=int(after.sum("degraded_parts")),
        routes=list(between.timed("request_duration_seconds")),
        arms=list(between.timed("arm_duration_seconds")),
        queues=list(_queues(after)),
        processes=list(between.processes()),
        caches=list(between.caches()),
    )


def _queues(after: TopLook) -> Iterator[QueueRow]:
    embeddings, captures = after.of("pending_embeddings"), after.of("pending_captures")
    for labels, files in after.of("pending_files").items():
        yield QueueRow(
            agent=labels[0],
            pendingFiles=int(files),
            pendingEmbeddings=int(embeddings.get(labels, 0)),
            pendingCaptures=int(captures.get(labels, 0)),
        )


@dataclass(frozen=True, slots=True)
class _Between:
    before: Mapping[str, Mapping[tuple[str, ...], float]]
    after: TopLook
    seconds: float

    def gained(self, name: str) -> dict[tuple[str, ...], float]:
        """Return by how much counters grew; one that is smaller than before began anew."""
        known = self.before.get(f"memoryd_{name}", {})
        found = {}
        for labels, value in self.after.of(name).items():
            last = known.get(labels, 0.0)
            found[labels] = value - last if value >= last else value
        return found

    def timed(self, name: str) -> Iterator[TimedRow]:
        """Yield what was done by kind, the most frequent first."""
        spread: defaultdict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
        for (*labels, bound), count in self.gained(f"{name}_bucket").items():
            spread[tuple(labels)][bound] = count
        rows = [self._row(labels, counts) for labels, counts in spread.items() if counts.get("+Inf")]
        yield from sorted(rows, key=lambda row: (-row["perSecond"], row["name"]))

    def _row(self, labels: tuple[str, ...], so_far: Mapping[str, float]) -> TimedRow:
        told = [so_far.get(str(bound), 0.0) for bound in BOUNDS] + [so_far["+Inf"]]
        counts = [here - before for here, before in zip(told, [0.0, *told], strict=False)]
        half, most = quantile(counts, 0.5), quantile(counts, 0.95)
        return TimedRow(
            name=" ".join(labels),
            perSecond=_rounded(told[-1] / self.seconds),
            p50Ms=None if half is None else _rounded(half * 1000),
            p95Ms=None if most is None else _rounded(most * 1000),
        )

    def processes(self) -> Iterator[ProcessRow]:
        """Yield what each process takes."""
        known, spent = (
            self.before.get("memoryd_process_cpu_seconds_total", {}),
            self.gained("process_cpu_seconds_total"),
        )
        threads, files = self.after.of("process_threads"), self.after.of("process_open_fds")
        for labels, rss in self.after.of("process_resident_memory_bytes").items():
            yield ProcessRow(
                process=labels[0],
                agent=labels[1],
                cpuPercent=_rounded(100 * spent.get(labels, 0) / self.seconds) if labels in known else None,
                rssBytes=int(rss),
                threads=int(threads.get(labels, 0)),
                files=int(files.get(labels, 0)),
            )

    def caches(self) -> Iterator[CacheRow]:
        """Yield how caches did."""
        hits, misses = self.gained("cache_hits_total"), self.gained("cache_misses_total")
        for labels, found in hits.items():
            octets = self.after.of("cache_bytes").get(labels, 0)
            yield CacheRow(cache=labels[0], hits=int(found), misses=int(misses.get(labels, 0)), bytes=int(octets))


def _rounded(value: float) -> float:
    return round(value, 2)
