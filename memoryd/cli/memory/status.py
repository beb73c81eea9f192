"""memoryctl status: what the daemon knows, does and lacks, on one screen.

A headline, a line with a mark for each part of the daemon and its agents, and next steps.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import IntEnum

import click
from msgspec import Struct
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from memoryd.cli.bars import console, print_view
from memoryd.cli.invocation import Invocation, flag, verb
from memoryd.cli.terminal import ago, count, duration, encoded, harmless_line, percent, size
from memoryd.client import Client
from memoryd.domain.documents import is_conflict_copy, original_of
from memoryd.domain.text.sanitizing import Flag
from memoryd.errors import DaemonNotRunning, DeadlineExceeded
from memoryd.replies.daemon import ConfigReply
from memoryd.replies.status import AgentStatus, StatusReply
from memoryd.wire import Exit

REFRESH_SECONDS = 1.0
SILENCE_SECONDS = 15.0
"""How long it may take to tell how it does, which takes a fraction of a second."""
NEXT = {
    "workspace": "make the folder, or name another one in the configuration",
    "folder": "make the folder, or name another one in the configuration",
    "embedder": "memoryctl doctor looks at the model; words answer meanwhile",
    "provider": "memoryctl doctor asks the provider",
    "loopback port": "memoryctl http token shows file and port",
    "privacy": "mend .memoryignore; nothing new is indexed meanwhile",
}
"""By part; of any other the doctor knows more."""
DOCTOR = "memoryctl doctor"
NAME_WIDTH = 16
ON_THE_WAY = frozenset({"warming", "downloading"})
"""States of a model that pass by themselves."""
NAMED_PARTS = frozenset({"embedder", "reranker", "text model", "qmd", "watcher"})
"""Parts with a line of their own, which tells what is wrong with them, too."""


class Level(IntEnum):
    """How a part does, the worse the higher."""

    OFF = 0
    """It is turned off."""
    OK = 1
    NOTE = 2
    """It works, and its owner should know something."""
    BUSY = 3
    """It is on its way: nothing to do but wait."""
    WRONG = 4
    """It does less than the configuration asks for."""

    @property
    def mark(self) -> str:
        """The word for it: readable without colours, the same on every terminal."""
        return self.name.lower()

    @property
    def style(self) -> str:
        """How the word is coloured where there are colours."""
        return ("dim", "green", "yellow", "yellow", "bold red")[self]


class StatusRow(Struct, frozen=True):
    """One part of the daemon or of an agent's memory; `next_step` is empty where there is nothing to do."""

    level: Level
    name: str
    told: str
    next_step: str = ""


def row(level: Level, name: str, *told: str | None, next_step: str = "") -> StatusRow:
    """Return a row of the texts that are not empty."""
    return StatusRow(level, name, joined(*told), next_step)


def joined(*parts: str | None) -> str:
    """Join the texts that are not empty."""
    return " · ".join(filter(None, parts))


def time_since(moment: str | None, now: datetime) -> str:
    """Return how long it is that way, in words."""
    return ago(moment, now).removesuffix(" ago") if moment else "an unknown time"


def level_of(is_odd: object) -> Level:
    """Return OK, or NOTE for what is odd."""
    return Level.NOTE if is_odd else Level.OK


@click.command("status")
@flag("-v", "--verbose", "is_verbose", help="Show all that is known of each part.")
@flag("--strict", "is_strict", help="Exit 4 if anything does less than it should.")
@flag(
    "--watch",
    "is_watching",
    help="Keep showing it, every second, until Ctrl-C; with --json one line each time.",
)
@verb
def status_command(invocation: Invocation, is_watching: bool, is_verbose: bool, is_strict: bool) -> Exit:
    """Show on one screen what is well, at work or wrong, and what to do about it.

    Of one agent each part is shown, of several a line each; --agent ID or --verbose shows more.
    """
    with invocation.client(SILENCE_SECONDS) as client:

        def look() -> StatusReply:
            return _status(invocation, client)

        def view(status: StatusReply) -> RenderableType:
            return screen_view(status, datetime.now(UTC), is_verbose=is_verbose)

        status = look()
        if is_watching and invocation.is_json:
            while True:
                click.echo(encoded(status, indent=None))
                time.sleep(REFRESH_SECONDS)
                status = look()
        if is_watching:
            with Live(view(status), console=console(), auto_refresh=False) as live:
                while True:
                    time.sleep(REFRESH_SECONDS)
                    live.update(view(look()), refresh=True)
        if invocation.is_json:
            invocation.print_json(status)
        else:
            print_view(view(status))
    return Exit.INCOMPLETE if is_strict and is_degraded(status) else Exit.DONE


def _status(invocation: Invocation, client: Client) -> StatusReply:
    try:
        status = client.status()
    except DeadlineExceeded as exc:
        # for a program that watches over it, one that hangs is down
        silence = f"memoryd has not answered for {SILENCE_SECONDS:.0f} s"
        raise DaemonNotRunning(silence, hint="memoryctl logs, then memoryctl service restart") from exc
    status["agents"] = invocation.chosen_agents(status)
    return status


def is_degraded(status: StatusReply) -> bool:
    """Tell whether anything does less than the configuration asks for; what is on its way is not counted."""
    now = datetime.now(UTC)
    rows = [*_daemon_rows(status), *(one for agent in status["agents"] for one in _agent_rows(agent, now))]
    return any(one.level is Level.WRONG for one in rows)


def screen_view(status: StatusReply, now: datetime, *, is_verbose: bool) -> RenderableType:
    """Return the screen: of one agent its parts, of several a line for each; verbose, of each all that is known."""
    agents = [(agent, list(_agent_rows(agent, now))) for agent in status["agents"]]
    of_daemon = list(_daemon_rows(status))
    level, said = _headline(status["version"], [*of_daemon, *(one for _, rows in agents for one in rows)])
    of_daemon += _connections(status) if is_verbose else ()
    views: list[RenderableType] = [Text(said, style=level.style), Text(), _lines(of_daemon)]
    for agent, rows in agents if is_verbose or len(agents) == 1 else ():
        title = f"agent {harmless_line(agent['id'])} in {harmless_line(agent['workspace'])}"
        views += [Text(), Text(title, style="bold", overflow="fold"), _lines(rows)]
        views += [Text(), _lines(_details(agent, now), has_marks=False)] if is_verbose else []
    if len(agents) > 1 and not is_verbose:
        lines = [_agent_as_one(agent["id"], rows) for agent, rows in agents]
        views += [Text(), Text(f"{len(agents)} agents", style="bold"), _lines(lines, is_short=True)]
        views += [Text(), Text("memoryctl status --agent ID shows one of them whole", style="dim")]
    return Group(*views)


def _details(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    """Yield all that the reply has of an agent by its names there: a row for each part, and each entry of a list."""
    plain = {name: value for name, value in agent.items() if not isinstance(value, dict | list)}
    for name, value in {"agent": plain, **agent}.items():
        if isinstance(value, list):
            yield from (row(Level.OK, name, *_fields("", one, now, has_names=False)) for one in value)
        elif isinstance(value, dict):
            yield row(Level.OK, name, *_fields("", value, now))


def _fields(name: str, value: object, now: datetime, *, has_names: bool = True) -> Iterator[str]:
    """Yield what is known of a value: `bytes 8.4 kB`, `history.changes 12`, `updatedAt 3 s ago`."""
    told = str(value)
    if isinstance(value, dict):
        for inner, one in value.items():
            yield from _fields(f"{name}.{inner}" if name else inner, one, now, has_names=has_names)
        return
    if isinstance(value, bool):
        told = "yes" if value else "no"
    elif isinstance(value, int | float):
        told = size(value) if name.lower().endswith("bytes") else f"{value:,}"
    elif isinstance(value, str) and name.endswith(("At", "since")):
        told = ago(value, now)
    elif isinstance(value, list):
        told = ", ".join(" ".join(_fields("", one, now, has_names=False)) for one in value)
    if value is not None and told:
        yield f"{name} {told}" if has_names else told


def _lines(parts: Iterable[StatusRow], *, is_short: bool = False, has_marks: bool = True) -> Table:
    parts = list(parts)
    width = max((min(NAME_WIDTH, len(harmless_line(part.name))) for part in parts), default=0)
    table = Table.grid(padding=(0, 1), expand=is_short)
    table.add_column(no_wrap=True, min_width=5)
    # as wide as it is: a long text beside it takes what is left, and no more
    table.add_column(style="dim", no_wrap=True, min_width=width, max_width=width, overflow="ellipsis")
    # with a share of the width, or it would squeeze the marks away
    ratio = 1 if is_short else None
    table.add_column(no_wrap=is_short, overflow="ellipsis" if is_short else "fold", ratio=ratio)
    before = ""
    for part in parts:
        name = "" if part.name == before else _cut(harmless_line(part.name))
        before = part.name
        mark = Text(part.level.mark if has_marks else "", style=part.level.style)
        table.add_row(mark, name, harmless_line(part.told))
        if part.next_step and not is_short:
            table.add_row("", "", Text(f"next: {harmless_line(part.next_step)}", style="bold"))
    return table


def _cut(name: str) -> str:
    """Leave out the middle of a long name: numbered ids differ at the end."""
    half = (NAME_WIDTH - 1) // 2
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 1 - half]}…{name[-half:]}"


def _wrong(name: str, *told: str | None) -> StatusRow:
    return row(Level.WRONG, name, *told, next_step=NEXT.get(name, DOCTOR))


def _headline(version: str, rows: Sequence[StatusRow]) -> tuple[Level, str]:
    """Return how all of it does, in a sentence."""
    wrong, busy = (sum(one.level is level for one in rows) for level in (Level.WRONG, Level.BUSY))
    if wrong:
        things = "1 thing is" if wrong == 1 else f"{wrong} things are"
        return Level.WRONG, f"memoryd {version} runs, and {things} wrong"
    if busy:
        return Level.BUSY, f"memoryd {version} is well, and at work"
    return Level.OK, f"memoryd {version} is well"


def _agent_as_one(name: str, rows: Sequence[StatusRow]) -> StatusRow:
    """Return all parts of an agent as one line: the worst of them, or the first two where all is well."""
    level = max(one.level for one in rows)
    if level < Level.BUSY:
        return row(level, name, *(one.told for one in rows[:2]))
    shown = [one for one in rows if one.level is level]
    more = f"and {len(shown) - 1} more" if len(shown) > 1 else ""
    return row(level, name, f"{shown[0].name}: {shown[0].told}", more)


def _agent_rows(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    """Yield what the agent's memory holds, does and lacks."""
    reasons = {one["part"]: f"{one['reason']}, for {time_since(one['since'], now)}" for one in agent["degraded"]}
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
            name = "folder" if path else part
            yield _wrong(name, path, reason)
    yield from _remarks(agent, now)


def _index(agent: AgentStatus) -> StatusRow:
    held = joined(count(agent["files"], "file"), count(agent["chunks"], "chunk"))
    if agent["pendingFiles"]:
        left = f"{count(agent['pendingFiles'], 'file')} to read{_time_left(agent.get('readingSecondsLeft'))}"
        return row(Level.BUSY, "index", left, held)
    memories = agent.get("memories")
    return row(
        Level.OK, "index", held, f"{memories['memories']:,} memories" if memories and memories["memories"] else ""
    )


def _embedding(agent: AgentStatus, reasons: Mapping[str, str]) -> StatusRow:
    embedder, passages = agent["embedder"], agent.get("passages", agent["chunks"])
    if embedder["state"] in ON_THE_WAY:
        amount = embedder["reason"]
        if wait := embedder["progress"]:
            share = f" ({percent(wait['doneBytes'], wait['totalBytes'])})" if wait["totalBytes"] else ""
            amount = f"{wait['step']} {size(wait['doneBytes'])}{share}"
        return row(Level.BUSY, "meaning", embedder["state"], amount, "words answer meanwhile")
    if "embedder" in reasons:
        return row(Level.WRONG, "meaning", reasons["embedder"], next_step=NEXT["embedder"])
    if embedder["state"] == "off":
        return row(Level.OFF, "meaning", "words only", embedder["reason"])
    share = f"{agent['embedded']:,} of {count(passages, 'passage')} ({percent(agent['embedded'], passages)})"
    if agent["pendingEmbeddings"]:
        return row(Level.BUSY, "meaning", share + _time_left(agent.get("embeddingSecondsLeft")), agent["model"])
    worker = embedder.get("worker")
    is_slower = worker and worker["gpuLayers"] and worker["offloads"] is False
    lost = "no graphics card is used: llama-cpp-python is built without" if is_slower else ""
    return row(Level.OK, "meaning", share, agent["model"], lost)


def _time_left(seconds: float | None) -> str:
    return f", about {duration(max(1, seconds))} left" if seconds else ""


def _models(agent: AgentStatus, reasons: Mapping[str, str]) -> Iterator[StatusRow]:
    for name, part in (("reranker", agent.get("reranker")), ("text model", agent.get("llm"))):
        if part is not None:
            told = (str(part["model"]), part["state"])
            if part["state"] in ON_THE_WAY:
                yield row(Level.BUSY, name, *told, part["reason"])
            else:
                yield _wrong(name, *told, part["reason"]) if name in reasons else row(Level.OK, name, *told)
    qmd = agent.get("qmd")
    if qmd is not None and "qmd" in reasons:
        yield row(Level.WRONG, "qmd", reasons["qmd"], next_step=qmd["hint"] or DOCTOR)
    elif qmd is not None:
        yield row(Level.OK, "qmd", qmd["version"], qmd["searchMode"], qmd["server"])


def _watcher(agent: AgentStatus, reasons: Mapping[str, str], now: datetime) -> StatusRow:
    watcher = agent["watcher"]
    told = (watcher["mode"], f"looked {ago(agent['lastScanAt'], now)}", reasons.get("watcher") or watcher.get("reason"))
    is_wrong = not watcher["ok"] and "watcher" in reasons
    return _wrong("watcher", *told) if is_wrong else row(level_of(not watcher["ok"]), "watcher", *told)


def _sent(agent: AgentStatus) -> Iterator[StatusRow]:
    """Say what leaves the machine."""
    embedding, llm = agent.get("embedding"), agent.get("llm")
    remote = embedding["remote"] if embedding else None
    if remote is not None:
        verb = "sends to" if remote["outstanding"] is not None else "would send to"
        sent = f"about {count(remote['sentToday'], 'token')} today"
        yield row(Level.NOTE, verb, remote["destination"], remote["model"], sent)
    if llm is not None and llm["destination"] is not None:
        yield row(Level.NOTE, "sends to", llm["destination"], "memory text")


def _remarks(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    """Say what is left out or odd; `--verbose` names each."""
    if removal := agent.get("massRemoval"):
        gone = f"{count(removal['files'], 'note')} went at once, {ago(removal['at'], now)}"
        yield row(Level.NOTE, "deleted", gone)
    if agent["skippedCount"]:
        shown = next((f"{first['path']}: {first['reason']}" for first in agent["skipped"]), "")
        yield row(Level.NOTE, "skipped", count(agent["skippedCount"], "file"), shown)
    if flagged := agent.get("flagged"):
        conflicts = [one for one in flagged if Flag.CONFLICT in one["flags"]]
        if odd := [one for one in flagged if one not in conflicts]:
            yield row(Level.NOTE, "odd", count(len(odd), "note"), odd[0]["path"], odd[0]["flags"])
        if conflicts:
            first = conflicts[0]["path"]
            pair = f"{first} of {original_of(first)}" if is_conflict_copy(first) else f"{first}, by the marks of git"
            yield row(Level.NOTE, "conflicts", count(len(conflicts), "note"), pair, next_step="memoryctl conflicts")
    if outside := agent.get("outside"):
        found = f"{'more than ' if outside['more'] else ''}{count(outside['files'], 'Markdown file')} in other places"
        yield row(Level.NOTE, "not indexed", found, next_step=outside["hint"])


def _daemon_rows(status: StatusReply) -> Iterator[StatusRow]:
    """Yield the process and its sockets, and what is wrong with them."""
    process = status.get("daemon")
    up = f"up {duration(status['uptimeSeconds'])}"
    yield row(Level.OK, "memoryd", f"pid {status['pid']}", up, status["socket"])
    yield row(Level.OK, "memory", _memory(status))
    yield row(Level.OK, "disk", _disk(status["agents"]))
    load = process.get("load") if process else None
    if load and load["refusedRequests"]:
        refused = f"{load['refusedRequests']:,} refused since the start, as {load['maxRequests']} were at work"
        yield row(Level.NOTE, "requests", refused, next_step="ask less at once, or raise limits.maxRequests")
    for beat in process["heartbeats"] if process else []:
        if beat["state"] == "stalled":
            silent = f"{beat['name']} has been silent for {duration(beat['ageSeconds'])}; the daemon is restarted"
            yield row(Level.WRONG, "heartbeat", silent, next_step="memoryctl logs")
    for lost in status.get("unreachable", []):
        yield _wrong("socket", f"{lost['socket']}: {lost['reason']}")
    if port := status.get("http"):
        told = (port["address"], "" if port["open"] else "not open", port["reason"], f"token in {port['tokenFile']}")
        level, advice = (Level.WRONG, NEXT["loopback port"]) if port["reason"] else (Level.OK, "")
        yield row(level, "http", *told, next_step=advice)
    yield from _config(status["config"])
    if found := process.get("log") if process else None:
        kept = f"{size(found['bytes'])} of {size(found['maxBytes'])}" if found["maxBytes"] else ""
        left_out = f"{found['leftOut']:,} repeated events left out" if found["leftOut"] else ""
        where = found["path"] or found["destination"]
        yield row(level_of(found["reason"]), "log", where, kept, left_out, found["reason"])


def _config(config: ConfigReply) -> Iterator[StatusRow]:
    yield row(Level.OK, "config", config["source"] or "defaults, there is no file: memoryctl init writes one")
    for problem in config.get("problems", []):
        told = f"what was changed is not in effect: {problem}"
        yield row(Level.WRONG, "config", told, next_step="memoryctl config check, then memoryctl reload")
    if keys := config.get("needsRestart"):
        told = f"{', '.join(keys)} take effect with the next start"
        yield row(Level.NOTE, "config", told, next_step="memoryctl service restart")
    for notice in config["notices"]:
        yield row(Level.NOTE, "config", notice)


def _connections(status: StatusReply) -> Iterator[StatusRow]:
    if connections := status.get("connections"):
        refused = [f"{count(number, 'time')}: {why}" for why, number in connections["refused"].items()]
        told = (f"{connections['open']} open", f"refused {'; '.join(refused)}" if refused else "")
        yield row(level_of(refused), "connections", *told)


def _memory(status: StatusReply) -> str:
    helpers = dict(found for agent in status["agents"] for found in _helpers(agent))
    more = [f"{name} {size(content)}" for (name, _), content in helpers.items() if content]
    total = status["rssBytes"] + sum(helpers.values())
    if not more:
        return size(total)
    return joined(f"{size(total)} in all", f"daemon {size(status['rssBytes'])}", *more)


def _helpers(agent: AgentStatus) -> Iterator[tuple[tuple[str, int], int]]:
    """Yield processes by name and number, and what they take: agents may share one."""
    named = (("model", agent["embedder"]), ("reranker", agent.get("reranker")), ("text model", agent.get("llm")))
    for name, part in named:
        worker = part.get("worker") if part else None
        if worker and worker["pid"]:
            yield (name, worker["pid"]), worker["rssBytes"]
    qmd = agent.get("qmd")
    if qmd and qmd["pid"]:
        yield ("qmd", qmd["pid"]), qmd.get("rssBytes", 0)


def _disk(agents: list[AgentStatus]) -> str:
    # agents of one workspace share an index
    indexes = {agent["database"]["path"]: agent["database"]["bytes"] for agent in agents}
    ledgers = {found["path"]: found["bytes"] for agent in agents if (found := agent.get("ledger"))}
    turns = sum(kept["bytes"] + kept["archiveBytes"] for agent in agents if (kept := agent.get("qa")))
    talks = sum(index["bytes"] for agent in agents if (index := agent.get("sessions")))
    named = (
        ("index", sum(indexes.values())),
        ("index of conversations", talks),
        ("ledger", sum(ledgers.values())),
        ("conversations", turns),
    )
    return joined(*(f"{name} {size(content)}" for name, content in named if content)) or "nothing yet"
