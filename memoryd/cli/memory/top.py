"""memoryctl top: what the daemon does now, as rates between two readings of its metrics."""

import contextlib
import select
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click
from msgspec import Struct
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from memoryd.cli.bars import console, print_view
from memoryd.cli.invocation import Invocation, Number, flag, verb
from memoryd.cli.terminal import count, duration, encoded, harmless_line, is_terminal, size
from memoryd.client import Client
from memoryd.domain.counters import BOUNDS, quantile
from memoryd.errors import DaemonNotRunning, DeadlineExceeded, MemorydError, NotNow
from memoryd.wire import Exit

LABELS = ("process", "agent", "method", "route", "arm", "code", "cache", "on", "part", "le")
"""Those that are read, in the order in which values are kept by them."""
WAITING = ("files", "embeddings", "captures")
LEAVES = frozenset("qQ\x1b\x03\x04")
"""Keys that end it: q, Escape, Ctrl-C and Ctrl-D."""
ROUTES_SHOWN = 12


Figures = dict[str, Any]
"""One line of `memoryctl top --json`, or a row of a table in it; null is what is not known, or of what was not done."""
TIMED = {"perSecond": "/s", "p50Ms": "p50", "p95Ms": "p95"}
TABLES: Mapping[str, Mapping[str, str]] = {
    "routes": {"name": "requests", **TIMED},
    "arms": {"name": "arms", **TIMED},
    "queues": {
        "agent": "queues",
        "pendingFiles": "files",
        "pendingEmbeddings": "vectors",
        "pendingCaptures": "messages",
    },
    "processes": {
        "process": "processes",
        "agent": "agent",
        "cpuPercent": "cpu",
        "rssBytes": "memory",
        "threads": "threads",
        "files": "files",
    },
    "caches": {"cache": "caches", "hits": "hits", "misses": "misses", "sharePercent": "share", "bytes": "bytes"},
}
"""The tables of the screen in their order, and the head of each column."""


LabelValues = tuple[str, ...]


class MetricsSnapshot(Struct, frozen=True):
    """The metrics at one moment (monotonic clock): values by name and labels, in the order of the text."""

    at: float
    values: Mapping[str, Mapping[LabelValues, float]]

    def of(self, name: str) -> Mapping[LabelValues, float]:
        """Return the values of a metric by labels."""
        return self.values.get(f"memoryd_{name}", {})

    def number(self, name: str, labels: LabelValues) -> int:
        """Return one value of a metric, 0 without one."""
        return int(self.of(name).get(labels, 0))

    def sum(self, name: str) -> float:
        """Return the values of a metric added up."""
        return sum(self.of(name).values())

    def since(self, before: "MetricsSnapshot", name: str) -> dict[LabelValues, float]:
        """Return by how much counters grew; one that is smaller than before began anew."""
        known = before.of(name)
        return {
            labels: value - last if value >= (last := known.get(labels, 0.0)) else value
            for labels, value in self.of(name).items()
        }


@click.command("top")
@click.option(
    "-n",
    "--interval",
    "seconds",
    type=Number(0.1, 3600),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between two looks.",
)
@flag("--once", "is_once", help="Show one interval, and leave.")
@verb
def top_command(invocation: Invocation, seconds: float, is_once: bool) -> Exit:
    """Show requests, arms, queues, processes and caches as they change, until q.

    With --json each interval is a line. A daemon that is restarted meanwhile is waited for.
    """
    with invocation.client() as client:
        # without a daemon this raises; only one that was there is waited for
        first = _read_metrics(client)
        if is_once:
            time.sleep(seconds)
            _print(invocation, row_between(first, _read_metrics(client)))
        elif invocation.is_json or not is_terminal(sys.stdout):
            for found in _intervals(client, first, seconds):
                if not isinstance(found, MemorydError):
                    _print(invocation, found)
        else:
            _show_live(client, first, seconds)
    return Exit.DONE


def _read_metrics(client: Client) -> MetricsSnapshot:
    return metrics_of(client.metrics(), time.monotonic())


def _intervals(client: Client, before: MetricsSnapshot, seconds: float) -> Iterator[Figures | MemorydError]:
    """Yield what happened in each interval, or why that cannot be told, for ever."""
    while True:
        if _has_left(seconds):
            return
        try:
            after = _read_metrics(client)
        except (DaemonNotRunning, NotNow, DeadlineExceeded) as exc:
            yield exc
            continue
        yield row_between(before, after)
        before = after


def _print(invocation: Invocation, figures: Figures) -> None:
    if invocation.is_json:
        click.echo(encoded(figures, indent=None))
    else:
        print_view(top_view(figures))


def _show_live(client: Client, first: MetricsSnapshot, seconds: float) -> None:
    waiting = Text(f"looking for {seconds:g} s; q leaves", style="dim")
    with _keys(), Live(waiting, console=console(), auto_refresh=False, screen=True) as live:
        for row in _intervals(client, first, seconds):
            if isinstance(row, MemorydError):
                live.update(Text(f"{harmless_line(str(row))}; looking again, q leaves", style="yellow"), refresh=True)
            else:
                live.update(top_view(row), refresh=True)


@contextmanager
def _keys() -> Iterator[None]:
    """Have keys come as they are pressed, at a terminal."""
    if not is_terminal(sys.stdin):
        yield
        return
    import termios  # not on every system
    import tty

    before = termios.tcgetattr(sys.stdin)
    # not flushed, as it would be else: a q that came before counts
    tty.setcbreak(sys.stdin, termios.TCSADRAIN)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _has_left(seconds: float) -> bool:
    """Wait so long for a key that ends it."""
    if not is_terminal(sys.stdin):
        time.sleep(seconds)
        return False
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        with contextlib.suppress(OSError, ValueError):
            if select.select([sys.stdin], [], [], left)[0] and sys.stdin.read(1) in LEAVES | {""}:
                return True
    return False


def metrics_of(text: str, at: float) -> MetricsSnapshot:
    """Return what a text of metrics says; raises ValueError if it is none."""
    values: defaultdict[str, dict[LabelValues, float]] = defaultdict(dict)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            # the order of labels in the text means nothing
            labels = tuple(sample.labels[name] for name in LABELS if name in sample.labels)
            values[sample.name][labels] = sample.value
    return MetricsSnapshot(at, values)


def row_between(before: MetricsSnapshot, after: MetricsSnapshot) -> Figures:
    """Return what happened between two looks; after a restart, what happened since that."""
    uptime, seconds = after.sum("uptime_seconds"), after.at - before.at
    has_restarted = uptime < before.sum("uptime_seconds")
    if has_restarted:
        before, seconds = MetricsSnapshot(before.at, {}), uptime
    seconds = max(seconds, 0.001)
    codes = after.since(before, "requests_total")
    spent = after.since(before, "process_cpu_seconds_total")
    is_known = before.of("process_cpu_seconds_total").keys()
    hits, misses = (after.since(before, f"cache_{what}_total") for what in ("hits", "misses"))
    return {
        "seconds": round(seconds, 3),
        "uptimeSeconds": uptime,
        "restarted": has_restarted,
        "requestsPerSecond": _round(sum(codes.values()) / seconds),
        "failedPerSecond": _round(sum(n for labels, n in codes.items() if labels[2] == "5xx") / seconds),
        "inFlight": int(after.sum("requests_in_flight")),
        "connections": int(after.sum("connections_open")),
        "degraded": int(after.sum("degraded_parts")),
        "routes": _timed_rows(after.since(before, "request_duration_seconds_bucket"), seconds),
        "arms": _timed_rows(after.since(before, "arm_duration_seconds_bucket"), seconds),
        "queues": [
            {"agent": labels[0]}
            | {f"pending{what.capitalize()}": after.number(f"pending_{what}", labels) for what in WAITING}
            for labels in after.of("pending_files")
        ],
        "processes": [
            {
                "process": labels[0],
                "agent": labels[1],
                "cpuPercent": _round(100 * spent.get(labels, 0) / seconds) if labels in is_known else None,
                "rssBytes": int(rss),
                "threads": after.number("process_threads", labels),
                "files": after.number("process_open_fds", labels),
            }
            for labels, rss in after.of("process_resident_memory_bytes").items()
        ],
        "caches": [
            {
                "cache": labels[0],
                "hits": int(had),
                "misses": int(missed := misses.get(labels, 0)),
                "sharePercent": _round(100 * had / (had + missed)) if had + missed else None,
                "bytes": after.number("cache_bytes", labels),
            }
            for labels, had in hits.items()
        ],
    }


def _timed_rows(buckets: Mapping[LabelValues, float], seconds: float) -> list[Figures]:
    """Return what was done by kind, the most frequent first; the last label of a bucket is its bound."""
    spread: defaultdict[LabelValues, dict[str, float]] = defaultdict(dict)
    for (*labels, bound), number in buckets.items():
        spread[tuple(labels)][bound] = number
    rows = [_timed_row(labels, so_far, seconds) for labels, so_far in spread.items() if so_far.get("+Inf")]
    return sorted(rows, key=lambda row: (-row["perSecond"], row["name"]))


def _timed_row(labels: LabelValues, so_far: Mapping[str, float], seconds: float) -> Figures:
    told = [so_far.get(str(bound), 0.0) for bound in BOUNDS] + [so_far["+Inf"]]
    counts = [here - before for here, before in zip(told, [0.0, *told], strict=False)]
    p50, p95 = (None if at is None else _round(at * 1000) for at in (quantile(counts, 0.5), quantile(counts, 0.95)))
    return {"name": " ".join(labels), "perSecond": _round(told[-1] / seconds), "p50Ms": p50, "p95Ms": p95}


def _round(value: float) -> float:
    return round(value, 2)


def top_view(figures: Figures) -> RenderableType:
    """Return the screen."""
    views: list[RenderableType] = [_headline(figures)]
    for name, heads in TABLES.items():
        rows = figures[name][:ROUTES_SHOWN] if name == "routes" else figures[name]
        if name == "queues":
            rows = [row for row in rows if any(list(row.values())[1:])]
        if rows:
            views += [Text(), _table(heads.values(), [[_cell(key, row[key]) for key in heads] for row in rows])]
        elif name == "queues":
            views += [Text(), Text(f"nothing waits for {count(len(figures[name]), 'agent')}", style="dim")]
    return Group(*views)


def _headline(figures: Figures) -> Text:
    parts = [
        f"up {duration(figures['uptimeSeconds'])}",
        f"{figures['requestsPerSecond']:g} requests a second",
        f"{figures['inFlight']} in flight",
        count(figures["connections"], "connection"),
        f"{figures['failedPerSecond']:g} failed a second" if figures["failedPerSecond"] else "",
        f"{count(figures['degraded'], 'part')} degraded: memoryctl status" if figures["degraded"] else "",
        "restarted meanwhile" if figures["restarted"] else "",
    ]
    is_bad = bool(figures["failedPerSecond"] or figures["degraded"])
    return Text("memoryd " + " · ".join(filter(None, parts)), style="yellow" if is_bad else "green")


def _table(head: Collection[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, overflow="ellipsis", min_width=16)
    for _ in range(len(head) - 1):
        table.add_column(justify="right", no_wrap=True)
    table.add_row(*(Text(cell, style="bold") for cell in head))
    for row in rows:
        table.add_row(*(harmless_line(cell) for cell in row))
    return table


def _cell(key: str, value: float | str | None) -> str:
    """Write a figure by what the end of its name says of it."""
    if value is None or isinstance(value, str):
        return value or ""
    if key.endswith("Ms"):
        return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"
    if key.endswith("Percent"):
        return f"{value:.1f} %"
    if key.lower().endswith("bytes"):
        return size(value)
    return f"{value:g}" if isinstance(value, float) else f"{value:,}"
