"""The figures of an interval on a screen."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memoryd.cli.terminal import count, duration, harmless_line, percent, size
from memoryd.cli.top_figures import TimedRow, TopFigures

ROUTES_SHOWN = 12


def top_view(figures: TopFigures) -> RenderableType:
    """Return the screen."""
    views: list[RenderableType] = [_headline(figures)]
    if figures["routes"]:
        views += [Text(), _timed("requests", figures["routes"][:ROUTES_SHOWN])]
    if figures["arms"]:
        views += [Text(), _timed("arms", figures["arms"])]
    waiting = [row for row in figures["queues"] if any(isinstance(it, int) and it for it in row.values())]
    rows = [
        (row["agent"], f"{row['pendingFiles']:,}", f"{row['pendingEmbeddings']:,}", f"{row['pendingCaptures']:,}")
        for row in waiting
    ]
    idle = "" if rows else f"nothing waits for {count(len(figures['queues']), 'agent')}"
    views += [Text(), Text(idle, style="dim") if idle else _table(("queues", "files", "vectors", "messages"), rows)]
    views += [Text(), _processes(figures), Text(), _caches(figures)]
    return Group(*views)


def _headline(figures: TopFigures) -> Text:
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


def _timed(name: str, rows: Iterable[TimedRow]) -> Table:
    cells = [(row["name"], f"{row['perSecond']:g}", _ms(row["p50Ms"]), _ms(row["p95Ms"])) for row in rows]
    return _table((name, "/s", "p50", "p95"), cells)


def _processes(figures: TopFigures) -> Table:
    rows = [
        (
            f"{row['process']} {row['agent']}".strip(),
            "" if row["cpuPercent"] is None else f"{row['cpuPercent']:.1f} %",
            size(row["rssBytes"]),
            str(row["threads"]),
            str(row["files"]),
        )
        for row in figures["processes"]
    ]
    return _table(("processes", "cpu", "memory", "threads", "files"), rows)


def _caches(figures: TopFigures) -> Table:
    rows = []
    for row in figures["caches"]:
        wanted = row["hits"] + row["misses"]
        share = percent(row["hits"], wanted) if wanted else ""
        rows.append((row["cache"], f"{row['hits']:,}", f"{row['misses']:,}", share, size(row["bytes"])))
    return _table(("caches", "hits", "misses", "share", "bytes"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, overflow="ellipsis", min_width=16)
    for _ in head[1:]:
        table.add_column(justify="right", no_wrap=True)
    table.add_row(*(Text(cell, style="bold") for cell in head))
    for row in rows:
        table.add_row(*(harmless_line(cell) for cell in row))
    return table


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"
