"""memoryctl status: the state of the daemon and its agents on one screen.

The screen has a headline, a line with a mark for each part of the daemon and its agents, and next steps.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import IntEnum
from itertools import chain

import click
from msgspec import Struct
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from memoryd.cli.bars import console, print_view
from memoryd.cli.invocation import Invocation, flag, with_invocation
from memoryd.cli.terminal import ago, count, dotted, duration, harmless_line, percent, size, to_json
from memoryd.client import Client
from memoryd.domain.documents import is_conflict_copy, original_of
from memoryd.domain.text.sanitizing import Flag
from memoryd.errors import DaemonNotRunning, DeadlineExceeded
from memoryd.replies.daemon import ConfigReply
from memoryd.replies.status import AgentStatus, StatusReply
from memoryd.wire import FLAGGED_SHOWN, Exit

REFRESH_SECONDS = 1.0
SILENCE_SECONDS = 15.0
"""Seconds to wait for the status reply, which normally takes a fraction of a second."""
NEXT = {
    "workspace": "mount or make the folder, or name another one in the configuration",
    "folder": "mount or make the folder, or name another one in the configuration",
    "embedder": "memoryctl doctor checks the model; until then only words are searched",
    "provider": "memoryctl doctor asks the provider",
    "loopback port": "memoryctl http token shows file and port",
    "privacy": "correct .memoryignore, or put it back",
}
"""Next step by part; for all other parts it is `DOCTOR`."""
DOCTOR = "memoryctl doctor"
NAME_WIDTH = 16
ON_THE_WAY = frozenset({"warming", "downloading"})
"""States of a model that end without help."""
NAMED_PARTS = frozenset({"embedder", "reranker", "text model", "qmd", "watcher"})
"""Parts that have their own line, which also shows why they are degraded."""


class Level(IntEnum):
    """State of a part; a higher value is worse."""

    OFF = 0
    """Turned off."""
    OK = 1
    NOTE = 2
    """It works, but the owner should know something."""
    BUSY = 3
    """Work in progress: wait."""
    WRONG = 4
    """It does less than configured."""

    @property
    def mark(self) -> str:
        """The word on the screen, readable without colours."""
        return self.name.lower()

    @property
    def style(self) -> str:
        """The style of the word on a terminal with colours."""
        return ("dim", "green", "yellow", "yellow", "bold red")[self]


class StatusRow(Struct, frozen=True):
    """The state of one part of the daemon or of an agent's memory; `next_step` is empty if there is nothing to do."""

    level: Level
    name: str
    text: str
    next_step: str = ""


def row(level: Level, name: str, *parts: str | None, next_step: str = "") -> StatusRow:
    """Return a row whose text joins the parts that are not empty."""
    return StatusRow(level, name, dotted(*parts), next_step)


@click.command("status")
@flag("-v", "--verbose", "is_verbose", help="Show all details of each part.")
@flag("--strict", "is_strict", help="Exit 4 if any part does less than configured.")
@flag(
    "--watch",
    "is_watching",
    help="Refresh every second until Ctrl-C; with --json print one line each time.",
)
@with_invocation
def status_command(invocation: Invocation, is_watching: bool, is_verbose: bool, is_strict: bool) -> Exit:
    """Show on one screen what is well, at work or wrong, and what to do about it.

    A single agent is shown with all its parts, several agents with one line each; --agent ID or --verbose shows more.
    """
    with invocation.client(SILENCE_SECONDS) as client:

        def read() -> StatusReply:
            return _status(invocation, client)

        def view(status: StatusReply) -> RenderableType:
            return screen_view(status, datetime.now(UTC), is_verbose=is_verbose)

        status = read()
        if is_watching and invocation.is_json:
            while True:
                click.echo(to_json(status, indent=None))
                time.sleep(REFRESH_SECONDS)
                status = read()
        if is_watching:
            with Live(view(status), console=console(), auto_refresh=False) as live:
                while True:
                    time.sleep(REFRESH_SECONDS)
                    live.update(view(read()), refresh=True)
        if invocation.is_json:
            invocation.print_json(status)
        else:
            print_view(view(status))
    return Exit.INCOMPLETE if is_strict and is_degraded(status) else Exit.DONE


def _status(invocation: Invocation, client: Client) -> StatusReply:
    try:
        status = client.status()
    except DeadlineExceeded as exc:
        # a monitoring program must treat a daemon that hangs as down
        silence = f"memoryd has not answered for {SILENCE_SECONDS:.0f} s"
        raise DaemonNotRunning(silence, hint="memoryctl logs, then memoryctl service restart") from exc
    status["agents"] = invocation.chosen_agents(status)
    return status


def is_degraded(status: StatusReply) -> bool:
    """Return whether any part does less than configured; a part that is busy does not count."""
    now = datetime.now(UTC)
    rows = chain(_daemon_rows(status), *(_agent_rows(agent, now) for agent in status["agents"]))
    return any(part.level is Level.WRONG for part in rows)


def screen_view(status: StatusReply, now: datetime, *, is_verbose: bool) -> RenderableType:
    """Return the screen: the parts of a single agent, or a line for each of several; if verbose, all details."""
    agents = [(agent, list(_agent_rows(agent, now))) for agent in status["agents"]]
    daemon_rows = list(_daemon_rows(status))
    level, headline = _headline(status["version"], [*daemon_rows, *chain.from_iterable(rows for _, rows in agents)])
    daemon_rows += _connections(status) if is_verbose else ()
    views: list[RenderableType] = [Text(headline, style=level.style), Text(), _lines(daemon_rows)]
    for agent, rows in agents if is_verbose or len(agents) == 1 else ():
        title = f"agent {harmless_line(agent['id'])} in {harmless_line(agent['workspace'])}"
        views += [Text(), Text(title, style="bold", overflow="fold"), _lines(rows)]
        views += [Text(), _lines(_details(agent, now), has_marks=False)] if is_verbose else []
    if len(agents) > 1 and not is_verbose:
        lines = [_agent_summary(agent["id"], rows) for agent, rows in agents]
        views += [Text(), Text(f"{len(agents)} agents", style="bold"), _lines(lines, is_short=True)]
        views += [Text(), Text("memoryctl status --agent ID shows all parts of one agent", style="dim")]
    return Group(*views)


def _details(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    """Yield all fields of an agent, by their JSON names: a row for each object, and each entry of a list."""
    plain = {name: value for name, value in agent.items() if not isinstance(value, dict | list)}
    for name, value in {"agent": plain, **agent}.items():
        if isinstance(value, list):
            yield from (row(Level.OK, name, *_fields("", entry, now, has_names=False)) for entry in value)
        elif isinstance(value, dict):
            yield row(Level.OK, name, *_fields("", value, now))


def _fields(name: str, value: object, now: datetime, *, has_names: bool = True) -> Iterator[str]:
    """Yield the fields of a value as text: `bytes 8.4 kB`, `history.changes 12`, `updatedAt 3 s ago`."""
    text = str(value)
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _fields(f"{name}.{key}" if name else key, entry, now, has_names=has_names)
        return
    if isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, int | float):
        text = size(value) if name.lower().endswith("bytes") else f"{value:,}"
    elif isinstance(value, str) and name.endswith(("At", "since")):
        text = ago(value, now)
    elif isinstance(value, list):
        text = ", ".join(" ".join(_fields("", entry, now, has_names=False)) for entry in value)
    if value is not None and text:
        yield f"{name} {text}" if has_names else text


def _lines(parts: Iterable[StatusRow], *, is_short: bool = False, has_marks: bool = True) -> Table:
    parts = list(parts)
    width = max((min(NAME_WIDTH, len(harmless_line(part.name))) for part in parts), default=0)
    table = Table.grid(padding=(0, 1), expand=is_short)
    table.add_column(no_wrap=True, min_width=5)
    # a fixed width, so that a long text beside it cannot shrink the column
    table.add_column(style="dim", no_wrap=True, min_width=width, max_width=width, overflow="ellipsis")
    # a short table expands: without a ratio the text column would squeeze out the marks
    table.add_column(no_wrap=is_short, overflow="ellipsis" if is_short else "fold", ratio=1 if is_short else None)
    previous = ""
    for part in parts:
        name = "" if part.name == previous else _shortened(harmless_line(part.name))
        previous = part.name
        mark = Text(part.level.mark if has_marks else "", style=part.level.style)
        table.add_row(mark, name, harmless_line(part.text))
        if part.next_step and not is_short:
            table.add_row("", "", Text(f"next: {harmless_line(part.next_step)}", style="bold"))
    return table


def _shortened(name: str) -> str:
    """Return a long name without its middle, because numbered ids differ at the end."""
    half = (NAME_WIDTH - 1) // 2
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 1 - half]}…{name[-half:]}"


def _wrong(name: str, *parts: str | None) -> StatusRow:
    return row(Level.WRONG, name, *parts, next_step=NEXT.get(name, DOCTOR))


def _headline(version: str, rows: Sequence[StatusRow]) -> tuple[Level, str]:
    """Return the worst level of all rows, not counting NOTE and OFF, and a sentence about it."""
    levels = Counter(part.level for part in rows)
    if wrong := levels[Level.WRONG]:
        things = "1 thing is" if wrong == 1 else f"{wrong} things are"
        return Level.WRONG, f"memoryd {version} runs, and {things} wrong"
    if levels[Level.BUSY]:
        return Level.BUSY, f"memoryd {version} is well, and at work"
    return Level.OK, f"memoryd {version} is well"


def _agent_summary(name: str, rows: Sequence[StatusRow]) -> StatusRow:
    """Return one line for an agent: its worst part, or the first two parts if all is well."""
    level = max(part.level for part in rows)
    if level < Level.BUSY:
        return row(level, name, *(part.text for part in rows[:2]))
    first, *others = [part for part in rows if part.level is level]
    return row(level, name, f"{first.name}: {first.text}", f"and {len(others)} more" if others else "")


def _agent_rows(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    """Yield the state of each part of an agent's memory."""
    reasons = {part["part"]: dotted(part["reason"], f"began {ago(part['since'], now)}") for part in agent["degraded"]}
    yield _index(agent)
    yield _embedding(agent, reasons)
    yield from _models(agent, reasons)
    if messages := agent.get("pendingCaptures", 0):
        yield row(Level.BUSY, "capture", f"{count(messages, 'message')} to look at for memories")
    yield _watcher(agent, reasons, now)
    yield from _sent(agent)
    for part, reason in reasons.items():
        if part not in NAMED_PARTS:
            path = part.removeprefix("root ") if part.startswith("root ") else ""
            yield _wrong("folder" if path else part, path, reason)
    yield from _remarks(agent, now)


def _index(agent: AgentStatus) -> StatusRow:
    indexed = dotted(count(agent["files"], "file"), count(agent["chunks"], "chunk"))
    if agent["pendingFiles"]:
        pending = f"{count(agent['pendingFiles'], 'file')} to read{_time_left(agent.get('readingSecondsLeft'))}"
        return row(Level.BUSY, "index", pending, indexed)
    if agent["lastScanAt"] is None:
        return row(Level.BUSY, "index", "not compared with the folder yet", indexed)
    memories = agent.get("memories")
    stated = count(memories["memories"], "memory", "memories") if memories and memories["memories"] else ""
    return row(Level.OK, "index", indexed, stated)


def _embedding(agent: AgentStatus, reasons: Mapping[str, str]) -> StatusRow:
    embedder, passages = agent["embedder"], agent.get("passages", agent["chunks"])
    if embedder["state"] in ON_THE_WAY:
        amount = embedder["reason"]
        if wait := embedder["progress"]:
            share = f" ({percent(wait['doneBytes'], wait['totalBytes'])})" if wait["totalBytes"] else ""
            amount = f"{wait['step']} {size(wait['doneBytes'])}{share}"
        return row(Level.BUSY, "meaning", embedder["state"], amount, "only words are searched until then")
    if "embedder" in reasons:
        return row(Level.WRONG, "meaning", reasons["embedder"], next_step=NEXT["embedder"])
    if embedder["state"] == "off":
        return row(Level.OFF, "meaning", "words only", embedder["reason"])
    share = f"{agent['embedded']:,} of {count(passages, 'passage')} ({percent(agent['embedded'], passages)})"
    if agent["pendingEmbeddings"]:
        return row(Level.BUSY, "meaning", share + _time_left(agent.get("embeddingSecondsLeft")), agent["model"])
    worker = embedder.get("worker")
    is_slower = worker and worker["gpuLayers"] and worker["offloads"] is False
    slower = "no graphics card is used: llama-cpp-python is built without" if is_slower else ""
    return row(Level.OK, "meaning", share, agent["model"], slower)


def _time_left(seconds: float | None) -> str:
    return f", about {duration(max(1, seconds))} left" if seconds else ""


def _models(agent: AgentStatus, reasons: Mapping[str, str]) -> Iterator[StatusRow]:
    for name, part in (("reranker", agent.get("reranker")), ("text model", agent.get("llm"))):
        if part is not None:
            summary = (str(part["model"]), part["state"])
            if part["state"] in ON_THE_WAY:
                yield row(Level.BUSY, name, *summary, part["reason"])
            else:
                yield _wrong(name, *summary, part["reason"]) if name in reasons else row(Level.OK, name, *summary)
    qmd = agent.get("qmd")
    if qmd is not None and "qmd" in reasons:
        yield row(Level.WRONG, "qmd", reasons["qmd"], next_step=qmd["hint"] or DOCTOR)
    elif qmd is not None:
        yield row(Level.OK, "qmd", qmd["version"], qmd["searchMode"], qmd["server"])


def _watcher(agent: AgentStatus, reasons: Mapping[str, str], now: datetime) -> StatusRow:
    watcher = agent["watcher"]
    parts = (
        watcher["mode"],
        f"looked {ago(agent['lastScanAt'], now)}",
        reasons.get("watcher") or watcher.get("reason"),
    )
    if not watcher["ok"] and "watcher" in reasons:
        return _wrong("watcher", *parts)
    return row(Level.OK if watcher["ok"] else Level.NOTE, "watcher", *parts)


def _sent(agent: AgentStatus) -> Iterator[StatusRow]:
    """Yield a row for each provider outside the machine that gets text."""
    embedding, llm = agent.get("embedding"), agent.get("llm")
    remote = embedding["remote"] if embedding else None
    if remote is not None:
        name = "sends to" if remote["outstanding"] is not None else "would send to"
        sent = f"about {count(remote['sentToday'], 'token')} today"
        yield row(Level.NOTE, name, remote["destination"], remote["model"], sent)
    if llm is not None and llm["destination"] is not None:
        yield row(Level.NOTE, "sends to", llm["destination"], "memory text")


def _remarks(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    """Yield rows about notes that were deleted together, skipped, flagged or found outside; `--verbose` lists each."""
    if removal := agent.get("massRemoval"):
        deleted = f"{count(removal['files'], 'note')} deleted at once, {ago(removal['at'], now)}"
        yield row(Level.NOTE, "deleted", deleted)
    if agent["skippedCount"]:
        first_skipped = next((f"{file['path']}: {file['reason']}" for file in agent["skipped"]), "")
        yield row(Level.NOTE, "skipped", count(agent["skippedCount"], "file"), first_skipped)
    if flagged := agent.get("flagged"):
        conflicts = [file for file in flagged if Flag.CONFLICT in file["flags"]]
        least = "at least " * (len(flagged) == FLAGGED_SHOWN)
        if odd := [file for file in flagged if file not in conflicts]:
            yield row(Level.NOTE, "odd", least + count(len(odd), "note"), odd[0]["path"], odd[0]["flags"])
        if conflicts:
            first = conflicts[0]["path"]
            pair = f"{first} of {original_of(first)}" if is_conflict_copy(first) else f"{first}, by the marks of git"
            yield row(
                Level.NOTE, "conflicts", least + count(len(conflicts), "note"), pair, next_step="memoryctl conflicts"
            )
    if outside := agent.get("outside"):
        files = f"{'more than ' if outside['more'] else ''}{count(outside['files'], 'Markdown file')} in other places"
        yield row(Level.NOTE, "not indexed", files, next_step=outside["hint"])


def _daemon_rows(status: StatusReply) -> Iterator[StatusRow]:
    """Yield the state of the process, its sockets, its configuration and its log."""
    process = status.get("daemon")
    yield row(Level.OK, "memoryd", f"pid {status['pid']}", f"up {duration(status['uptimeSeconds'])}", status["socket"])
    yield row(Level.OK, "memory", _memory(status))
    yield row(Level.OK, "disk", _disk(status["agents"]))
    load = process.get("load") if process else None
    if load and load["refusedRequests"]:
        refused = f"{load['refusedRequests']:,} refused since the start, as {load['maxRequests']} were at work"
        yield row(Level.NOTE, "requests", refused, next_step="send fewer requests at once, or raise limits.maxRequests")
    for beat in process["heartbeats"] if process else []:
        if beat["state"] == "stalled":
            silent = f"{beat['name']} has been silent for {duration(beat['ageSeconds'])}; the daemon is restarted"
            yield row(Level.WRONG, "heartbeat", silent, next_step="memoryctl logs")
    for closed in status.get("unreachable", []):
        yield _wrong("socket", f"{closed['socket']}: {closed['reason']}")
    if port := status.get("http"):
        parts = (port["address"], "" if port["open"] else "not open", port["reason"], f"token in {port['tokenFile']}")
        level, advice = (Level.WRONG, NEXT["loopback port"]) if port["reason"] else (Level.OK, "")
        yield row(level, "http", *parts, next_step=advice)
    yield from _config(status["config"])
    if log := process.get("log") if process else None:
        used = f"{size(log['bytes'])} of {size(log['maxBytes'])}" if log["maxBytes"] else ""
        left_out = f"{log['leftOut']:,} repeated events left out" if log["leftOut"] else ""
        level = Level.NOTE if log["reason"] else Level.OK
        yield row(level, "log", log["path"] or log["destination"], used, left_out, log["reason"])


def _config(config: ConfigReply) -> Iterator[StatusRow]:
    yield row(Level.OK, "config", config["source"] or "defaults, there is no file: memoryctl init writes one")
    for problem in config.get("problems", []):
        text = f"what was changed is not in effect: {problem}"
        yield row(Level.WRONG, "config", text, next_step="memoryctl config check, then memoryctl reload")
    if keys := config.get("needsRestart"):
        text = f"{', '.join(keys)} take effect with the next start"
        yield row(Level.NOTE, "config", text, next_step="memoryctl service restart")
    for notice in config["notices"]:
        yield row(Level.NOTE, "config", notice)


def _connections(status: StatusReply) -> Iterator[StatusRow]:
    if connections := status.get("connections"):
        refused = [f"{count(number, 'time')}: {why}" for why, number in connections["refused"].items()]
        reasons = f"refused {'; '.join(refused)}" if refused else ""
        yield row(Level.NOTE if refused else Level.OK, "connections", f"{connections['open']} open", reasons)


def _memory(status: StatusReply) -> str:
    # by name and pid, because agents may share a helper process
    helpers = dict(chain.from_iterable(map(_helpers, status["agents"])))
    more = [f"{name} {size(content)}" for (name, _), content in helpers.items() if content]
    total = status["rssBytes"] + sum(helpers.values())
    if not more:
        return size(total)
    return dotted(f"{size(total)} in all", f"daemon {size(status['rssBytes'])}", *more)


def _helpers(agent: AgentStatus) -> Iterator[tuple[tuple[str, int], int]]:
    """Yield the helper processes of an agent: name and pid, and resident bytes."""
    models = (("model", agent["embedder"]), ("reranker", agent.get("reranker")), ("text model", agent.get("llm")))
    for name, part in models:
        worker = part.get("worker") if part else None
        if worker and worker["pid"]:
            yield (name, worker["pid"]), worker["rssBytes"]
    qmd = agent.get("qmd")
    if qmd and qmd["pid"]:
        yield ("qmd", qmd["pid"]), qmd.get("rssBytes", 0)


def _disk(agents: list[AgentStatus]) -> str:
    # agents of one workspace share an index
    indexes = {agent["database"]["path"]: agent["database"]["bytes"] for agent in agents}
    ledgers = {ledger["path"]: ledger["bytes"] for agent in agents if (ledger := agent.get("ledger"))}
    files = {
        "index": sum(indexes.values()),
        "index of conversations": sum(index["bytes"] for agent in agents if (index := agent.get("sessions"))),
        "ledger": sum(ledgers.values()),
        "conversations": sum(qa["bytes"] + qa["archiveBytes"] for agent in agents if (qa := agent.get("qa"))),
    }
    return dotted(*(f"{name} {size(content)}" for name, content in files.items() if content)) or "nothing yet"
