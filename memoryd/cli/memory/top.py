"""memoryctl top: the present load of the daemon, as rates between two readings of its metrics."""

import contextlib
import select
import sys
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import click
from msgspec import Struct
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from memoryd.cli.bars import console, print_view
from memoryd.cli.invocation import Invocation, Number, flag, with_invocation
from memoryd.cli.terminal import count, dotted, duration, harmless_line, is_terminal, size, to_json
from memoryd.client import Client
from memoryd.domain.counters import BOUNDS, quantile
from memoryd.errors import DaemonNotRunning, DeadlineExceeded, MemorydError, NotNow
from memoryd.wire import Exit

LABELS = ("process", "agent", "method", "route", "arm", "code", "cache", "on", "part", "le")
"""Labels that are read; `LabelValues` has their values in this order."""
WAITING = ("files", "embeddings", "captures")
"""Queues; each has a metric `memoryd_pending_NAME`."""
QUIT_KEYS = frozenset("qQ\x1b\x03\x04")
"""Keys that end the command: q, Escape, Ctrl-C and Ctrl-D."""
ROUTES_SHOWN = 12


Figures = dict[str, Any]
"""One line of `memoryctl top --json`, or a row of a table in it; null if a value is unknown or nothing was measured."""
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
"""The tables of the screen in order: the JSON key and the heading of each column."""


LabelValues = tuple[str, ...]


class MetricsSnapshot(Struct, frozen=True):
    """The metrics at one moment: values by name and labels, in the order of the text; `at` in monotonic seconds."""

    at: float
    values: Mapping[str, Mapping[LabelValues, float]]

    def of(self, name: str) -> Mapping[LabelValues, float]:
        """Return the values of the metric `memoryd_NAME` by labels; empty if there is none."""
        return self.values.get(f"memoryd_{name}", {})

    def number(self, name: str, labels: LabelValues) -> int:
        """Return the value of a metric for these labels, 0 if there is none."""
        return int(self.of(name).get(labels, 0))

    def sum(self, name: str) -> float:
        """Return the sum of the values of a metric."""
        return sum(self.of(name).values())

    def since(self, before: "MetricsSnapshot", name: str) -> dict[LabelValues, float]:
        """Return by how much counters grew since `before`; a counter that is smaller than then restarted from zero."""
        earlier = before.of(name)
        return {
            labels: value - last if value >= (last := earlier.get(labels, 0.0)) else value
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
    help="Seconds between two readings.",
)
@flag("--once", "is_once", help="Show one interval, and exit.")
@with_invocation
def top_command(invocation: Invocation, seconds: float, is_once: bool) -> Exit:
    """Show requests, arms, queues, processes and caches as they change, until q.

    With --json each interval is a line. If the daemon restarts, the command waits for it.
    """
    with invocation.client() as client:
        # raises if there is no daemon: only a daemon that answered once is waited for
        first = _read_metrics(client)
        if is_once:
            time.sleep(seconds)
            _print(invocation, row_between(first, _read_metrics(client)))
        elif invocation.is_json or not is_terminal(sys.stdout):
            for row in _intervals(client, first, seconds):
                if not isinstance(row, MemorydError):
                    _print(invocation, row)
        else:
            _show_live(client, first, seconds)
    return Exit.DONE


def _read_metrics(client: Client) -> MetricsSnapshot:
    return metrics_of(client.metrics(), time.monotonic())


def _intervals(client: Client, before: MetricsSnapshot, seconds: float) -> Iterator[Figures | MemorydError]:
    """Yield the figures of each interval, or the error if the daemon does not answer, until a key ends the command."""
    while not _is_quit(seconds):
        try:
            after = _read_metrics(client)
        except (DaemonNotRunning, NotNow, DeadlineExceeded) as exc:
            yield exc
            continue
        yield row_between(before, after)
        before = after


def _print(invocation: Invocation, figures: Figures) -> None:
    if invocation.is_json:
        click.echo(to_json(figures, indent=None))
    else:
        print_view(top_view(figures))


def _show_live(client: Client, first: MetricsSnapshot, seconds: float) -> None:
    waiting = Text(f"measuring for {seconds:g} s; q quits", style="dim")
    with _keys(), Live(waiting, console=console(), auto_refresh=False, screen=True) as live:
        for row in _intervals(client, first, seconds):
            if isinstance(row, MemorydError):
                live.update(Text(f"{harmless_line(str(row))}; trying again, q quits", style="yellow"), refresh=True)
            else:
                live.update(top_view(row), refresh=True)


@contextmanager
def _keys() -> Iterator[None]:
    """Make a terminal deliver each key as it is pressed, without waiting for Enter."""
    if not is_terminal(sys.stdin):
        yield
        return
    import termios  # not on every system
    import tty

    before = termios.tcgetattr(sys.stdin)
    # TCSADRAIN, not the default that discards input: a q typed before this counts
    tty.setcbreak(sys.stdin, termios.TCSADRAIN)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _is_quit(seconds: float) -> bool:
    """Wait up to `seconds` for a key; return True if it ends the command, or if the input ended."""
    if not is_terminal(sys.stdin):
        time.sleep(seconds)
        return False
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        with contextlib.suppress(OSError, ValueError):
            if select.select([sys.stdin], [], [], left)[0] and sys.stdin.read(1) in QUIT_KEYS | {""}:
                return True
    return False


def metrics_of(text: str, at: float) -> MetricsSnapshot:
    """Parse metrics in the Prometheus text format; raise ValueError if the text is invalid."""
    values: defaultdict[str, dict[LabelValues, float]] = defaultdict(dict)
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            # the text may list labels in any order
            labels = tuple(sample.labels[name] for name in LABELS if name in sample.labels)
            values[sample.name][labels] = sample.value
    return MetricsSnapshot(at, values)


def row_between(before: MetricsSnapshot, after: MetricsSnapshot) -> Figures:
    """Return the figures of the interval between two readings; after a restart, those since the restart."""
    uptime, seconds = after.sum("uptime_seconds"), after.at - before.at
    has_restarted = uptime < before.sum("uptime_seconds")
    if has_restarted:
        before, seconds = MetricsSnapshot(before.at, {}), uptime
    seconds = max(seconds, 0.001)
    codes = after.since(before, "requests_total")
    cpu_seconds = after.since(before, "process_cpu_seconds_total")
    earlier_processes = before.of("process_cpu_seconds_total").keys()
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
                "cpuPercent": _round(100 * cpu_seconds.get(labels, 0) / seconds)
                if labels in earlier_processes
                else None,
                "rssBytes": int(rss),
                "threads": after.number("process_threads", labels),
                "files": after.number("process_open_fds", labels),
            }
            for labels, rss in after.of("process_resident_memory_bytes").items()
        ],
        "caches": [
            {
                "cache": labels[0],
                "hits": int(hit),
                "misses": int(missed := misses.get(labels, 0)),
                "sharePercent": _round(100 * hit / (hit + missed)) if hit + missed else None,
                "bytes": after.number("cache_bytes", labels),
            }
            for labels, hit in hits.items()
        ],
    }


def _timed_rows(buckets: Mapping[LabelValues, float], seconds: float) -> list[Figures]:
    """Return a row for each histogram, the most frequent first; the last label of a bucket is its upper bound."""
    histograms: defaultdict[LabelValues, dict[str, float]] = defaultdict(dict)
    for (*labels, bound), number in buckets.items():
        histograms[tuple(labels)][bound] = number
    rows = [_timed_row(labels, at_most, seconds) for labels, at_most in histograms.items() if at_most.get("+Inf")]
    return sorted(rows, key=lambda row: (-row["perSecond"], row["name"]))


def _timed_row(labels: LabelValues, at_most: Mapping[str, float], seconds: float) -> Figures:
    """Return the row of one histogram; `at_most` has the cumulative count of each bound."""
    cumulative = [at_most.get(str(bound), 0.0) for bound in BOUNDS] + [at_most["+Inf"]]
    counts = [upper - lower for lower, upper in pairwise([0.0, *cumulative])]
    p50, p95 = (None if at is None else _round(at * 1000) for at in (quantile(counts, 0.5), quantile(counts, 0.95)))
    return {"name": " ".join(labels), "perSecond": _round(cumulative[-1] / seconds), "p50Ms": p50, "p95Ms": p95}


def _round(value: float) -> float:
    return round(value, 2)


def top_view(figures: Figures) -> RenderableType:
    """Return the screen of one interval: a headline and the tables."""
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
    text = dotted(
        f"up {duration(figures['uptimeSeconds'])}",
        f"{figures['requestsPerSecond']:g} requests a second",
        f"{figures['inFlight']} in flight",
        count(figures["connections"], "connection"),
        f"{figures['failedPerSecond']:g} failed a second" if figures["failedPerSecond"] else "",
        f"{count(figures['degraded'], 'part')} degraded: memoryctl status" if figures["degraded"] else "",
        "restarted" if figures["restarted"] else "",
    )
    is_bad = figures["failedPerSecond"] or figures["degraded"]
    return Text(f"memoryd {text}", style="yellow" if is_bad else "green")


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
    """Return a figure as text, with the unit that the end of its key names."""
    if value is None or isinstance(value, str):
        return value or ""
    if key.endswith("Ms"):
        return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"
    if key.endswith("Percent"):
        return f"{value:.1f} %"
    if key.lower().endswith("bytes"):
        return size(value)
    return f"{value:g}" if isinstance(value, float) else f"{value:,}"
