"""The status on one screen: a headline, a line with a mark for each part of the daemon and its agents, next steps."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from enum import IntEnum
from typing import Final

from msgspec import Struct
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memoryd.cli.memory.status_rows import time_since
from memoryd.cli.terminal import ago, count, duration, harmless_line, percent, size
from memoryd.replies.daemon import ConfigReply, ProcessReply
from memoryd.replies.status import AgentStatus, StatusReply

NEXT: Final = {
    "workspace": "make the folder, or name another one in the configuration",
    "folder": "make the folder, or name another one in the configuration",
    "embedder": "memoryctl doctor looks at the model; words answer meanwhile",
    "provider": "memoryctl doctor asks the provider",
    "loopback port": "memoryctl http token shows file and port",
    "privacy": "mend .memoryignore; nothing new is indexed meanwhile",
}
"""By part; of any other the doctor knows more."""
DOCTOR: Final = "memoryctl doctor"
NAME_WIDTH: Final = 16
ON_THE_WAY: Final = frozenset({"warming", "downloading"})
"""States of a model that pass by themselves."""
TOLD_BY_NAME: Final = frozenset({"embedder", "reranker", "text model", "qmd", "watcher"})
"""Parts with a line of their own, which tells what is wrong with them, too."""


class Level(IntEnum):
    """How a part does, the worse the higher."""

    OFF = 0
    """Nobody wants it."""
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


class StatusPart(Struct, frozen=True):
    """One part of the daemon or of an agent's memory; `next_step` is empty where there is nothing to do."""

    level: Level
    name: str
    told: str
    next_step: str = ""


def is_degraded(status: StatusReply) -> bool:
    """Tell whether anything does less than the configuration asks for; what is on its way is not counted."""
    now = datetime.now(UTC)
    parts = [*daemon_parts(status), *(part for agent in status["agents"] for part in agent_parts(agent, now))]
    return any(part.level is Level.WRONG for part in parts)


def screen_view(status: StatusReply, now: datetime) -> RenderableType:
    """Return the screen: of one agent its parts, of several a line for each."""
    agents = [(agent, list(agent_parts(agent, now))) for agent in status["agents"]]
    of_daemon = list(daemon_parts(status))
    level, said = headline(status["version"], [*of_daemon, *(part for _, parts in agents for part in parts)])
    views: list[RenderableType] = [Text(said, style=level.style), Text(), _lines(of_daemon)]
    if len(agents) == 1:
        agent, parts = agents[0]
        title = f"agent {harmless_line(agent['id'])} in {harmless_line(agent['workspace'])}"
        views += [Text(), Text(title, style="bold", overflow="fold"), _lines(parts)]
    elif agents:
        lines = [of_agent_as_one(agent["id"], parts) for agent, parts in agents]
        views += [Text(), Text(f"{len(agents)} agents", style="bold"), _lines(lines, is_short=True)]
        views += [Text(), Text("memoryctl status --agent ID shows one of them whole", style="dim")]
    return Group(*views)


def _lines(parts: Iterable[StatusPart], *, is_short: bool = False) -> Table:
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
        table.add_row(Text(part.level.mark, style=part.level.style), name, harmless_line(part.told))
        if part.next_step and not is_short:
            table.add_row("", "", Text(f"next: {harmless_line(part.next_step)}", style="bold"))
    return table


def _cut(name: str) -> str:
    """Leave out the middle of a long name: ids that somebody numbered differ at the end."""
    half = (NAME_WIDTH - 1) // 2
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 1 - half]}…{name[-half:]}"


def joined(*parts: str) -> str:
    """Join what is not empty."""
    return " · ".join(part for part in parts if part)


def next_step(part: str) -> str:
    """Return what to do about a part that is wrong."""
    return NEXT.get(part, DOCTOR)


def worst(parts: Iterable[StatusPart]) -> Level:
    """Return how the worst of them does."""
    return max((part.level for part in parts), default=Level.OK)


def headline(version: str, parts: Iterable[StatusPart]) -> tuple[Level, str]:
    """Return how all of it does, in a sentence."""
    found = list(parts)
    wrong, busy = (sum(part.level is level for part in found) for level in (Level.WRONG, Level.BUSY))
    if wrong:
        things = "1 thing is" if wrong == 1 else f"{wrong} things are"
        return Level.WRONG, f"memoryd {version} runs, and {things} wrong"
    if busy:
        return Level.BUSY, f"memoryd {version} is well, and at work"
    return Level.OK, f"memoryd {version} is well"


def of_agent_as_one(name: str, parts: Iterable[StatusPart]) -> StatusPart:
    """Return all parts of an agent as one line: the worst of them, or the first where all is well."""
    found = list(parts)
    level = worst(found)
    shown = [part for part in found if part.level is level] if level >= Level.BUSY else found[:2]
    more = f"and {len(shown) - 1} more" if level >= Level.BUSY and len(shown) > 1 else ""
    told = [f"{part.name}: {part.told}" for part in shown[:1]] if level >= Level.BUSY else [it.told for it in shown]
    return StatusPart(level, name, joined(*told, more), shown[0].next_step if shown else "")


def agent_parts(agent: AgentStatus, now: datetime) -> Iterator[StatusPart]:
    """Yield what the agent's memory holds, does and lacks."""
    reasons = {one["part"]: f"{one['reason']}, for {time_since(one['since'], now)}" for one in agent["degraded"]}
    yield _index(agent)
    yield _embedding(agent, reasons)
    yield from _models(agent, reasons)
    yield from _captures(agent)
    yield _watcher(agent, reasons, now)
    yield from _sent(agent)
    for part, reason in reasons.items():
        if part not in TOLD_BY_NAME:
            folder, _, path = part.partition(" ") if part.startswith("root ") else (part, "", "")
            name = "folder" if path else folder
            yield StatusPart(Level.WRONG, name, joined(path, reason), next_step(name))
    yield from _remarks(agent, now)


def _index(agent: AgentStatus) -> StatusPart:
    held = joined(count(agent["files"], "file"), count(agent["chunks"], "chunk"))
    memories = agent.get("memories")
    stated = f"{memories['memories']:,} memories" if memories and memories["memories"] else ""
    if not agent["pendingFiles"]:
        return StatusPart(Level.OK, "index", joined(held, stated))
    left = f"{count(agent['pendingFiles'], 'file')} to read{_time_left(agent.get('readingSecondsLeft'))}"
    return StatusPart(Level.BUSY, "index", joined(left, held))


def _embedding(agent: AgentStatus, reasons: dict[str, str]) -> StatusPart:
    embedder, passages = agent["embedder"], agent.get("passages", agent["chunks"])
    model, wait = agent["model"] or "", embedder["progress"]
    if embedder["state"] in ON_THE_WAY:
        share = f" ({percent(wait['doneBytes'], wait['totalBytes'])})" if wait and wait["totalBytes"] else ""
        amount = f"{wait['step']} {size(wait['doneBytes'])}{share}" if wait else embedder["reason"] or ""
        return StatusPart(Level.BUSY, "meaning", joined(embedder["state"], amount, "words answer meanwhile"))
    if "embedder" in reasons:
        return StatusPart(Level.WRONG, "meaning", reasons["embedder"], next_step("embedder"))
    if embedder["state"] == "off":
        return StatusPart(Level.OFF, "meaning", joined("words only", embedder["reason"] or ""))
    share = f"{agent['embedded']:,} of {count(passages, 'passage')} ({percent(agent['embedded'], passages)})"
    if agent["pendingEmbeddings"]:
        return StatusPart(
            Level.BUSY, "meaning", joined(f"{share}{_time_left(agent.get('embeddingSecondsLeft'))}", model)
        )
    return StatusPart(Level.OK, "meaning", joined(share, model))


def _time_left(seconds: float | None) -> str:
    return f", about {duration(max(1, seconds))} left" if seconds else ""


def _models(agent: AgentStatus, reasons: dict[str, str]) -> Iterator[StatusPart]:
    for name, part in (("reranker", agent.get("reranker")), ("text model", agent.get("llm"))):
        if part is not None:
            is_coming = part["state"] in ON_THE_WAY
            level = Level.BUSY if is_coming else Level.WRONG if name in reasons else Level.OK
            told = joined(str(part["model"]), part["state"], "" if level is Level.OK else part["reason"] or "")
            yield StatusPart(level, name, told, next_step(name) if level is Level.WRONG else "")
    qmd = agent.get("qmd")
    if qmd is not None and "qmd" in reasons:
        yield StatusPart(Level.WRONG, "qmd", reasons["qmd"], qmd["hint"] or next_step("qmd"))
    elif qmd is not None:
        yield StatusPart(Level.OK, "qmd", joined(qmd["version"] or "", qmd["searchMode"], qmd["server"]))


def _captures(agent: AgentStatus) -> Iterator[StatusPart]:
    messages = agent.get("pendingCaptures", 0)
    if messages:
        yield StatusPart(Level.BUSY, "capture", f"{count(messages, 'message')} to look at for memories")


def _watcher(agent: AgentStatus, reasons: dict[str, str], now: datetime) -> StatusPart:
    watcher = agent["watcher"]
    looked = f"looked {ago(agent['lastScanAt'], now)}"
    why = reasons.get("watcher") or watcher.get("reason") or ""
    level = Level.OK if watcher["ok"] else Level.WRONG if "watcher" in reasons else Level.NOTE
    return StatusPart(level, "watcher", joined(watcher["mode"], looked, why), next_step("watcher") if level > 2 else "")


def _sent(agent: AgentStatus) -> Iterator[StatusPart]:
    """Say what leaves the machine."""
    embedding, llm = agent.get("embedding"), agent.get("llm")
    remote = embedding["remote"] if embedding else None
    if remote is not None:
        verb = "sends to" if remote["outstanding"] is not None else "would send to"
        sent = f"about {count(remote['sentToday'], 'token')} today"
        yield StatusPart(Level.NOTE, verb, joined(remote["destination"], remote["model"], sent))
    if llm is not None and llm["destination"] is not None:
        yield StatusPart(Level.NOTE, "sends to", joined(llm["destination"], "memory text"))


def _remarks(agent: AgentStatus, now: datetime) -> Iterator[StatusPart]:
    """Say what is left out or odd; details are told with the rest."""
    removal, outside = agent.get("massRemoval"), agent.get("outside")
    if removal:
        gone = f"{count(removal['files'], 'note')} went at once, {ago(removal['at'], now)}"
        yield StatusPart(Level.NOTE, "deleted", gone)
    if agent["skippedCount"]:
        first = agent["skipped"][0] if agent["skipped"] else None
        shown = f"{first['path']}: {first['reason']}" if first else ""
        yield StatusPart(Level.NOTE, "skipped", joined(count(agent["skippedCount"], "file"), shown))
    if flagged := agent.get("flagged"):
        yield StatusPart(
            Level.NOTE, "odd", joined(count(len(flagged), "note"), flagged[0]["path"], flagged[0]["flags"])
        )
    if outside:
        more = "more than " if outside["more"] else ""
        yield StatusPart(
            Level.NOTE,
            "not indexed",
            f"{more}{count(outside['files'], 'Markdown file')} in other places",
            outside["hint"],
        )


def daemon_parts(status: StatusReply) -> Iterator[StatusPart]:
    """Yield the process and its sockets, and what is wrong with them."""
    pid, up = f"pid {status['pid']}", f"up {duration(status['uptimeSeconds'])}"
    yield StatusPart(Level.OK, "memoryd", joined(pid, up, status["socket"]))
    yield StatusPart(Level.OK, "memory", _memory(status))
    yield StatusPart(Level.OK, "disk", _disk(status["agents"]))
    yield from _load(status.get("daemon"))
    yield from _stalled(status)
    yield from _sockets(status)
    yield from _config(status["config"])
    yield from _log(status.get("daemon"))


def _config(config: ConfigReply) -> Iterator[StatusPart]:
    yield StatusPart(Level.OK, "config", config["source"] or "defaults, there is no file: memoryctl init writes one")
    for problem in config.get("problems", []):
        told = f"what was changed is not in effect: {problem}"
        yield StatusPart(Level.WRONG, "config", told, "memoryctl config check, then memoryctl reload")
    if keys := config.get("needsRestart"):
        told = f"{', '.join(keys)} take effect with the next start"
        yield StatusPart(Level.NOTE, "config", told, "memoryctl service restart")
    for notice in config["notices"]:
        yield StatusPart(Level.NOTE, "config", notice)


def _load(process: ProcessReply | None) -> Iterator[StatusPart]:
    load = process.get("load") if process else None
    if load and load["refusedRequests"]:
        refused = f"{load['refusedRequests']:,} refused since the start, as {load['maxRequests']} were at work"
        yield StatusPart(Level.NOTE, "requests", refused, "ask less at once, or raise limits.maxRequests")


def _log(process: ProcessReply | None) -> Iterator[StatusPart]:
    found = process.get("log") if process else None
    if found is None:
        return
    kept = f"{size(found['bytes'])} of {size(found['maxBytes'])}" if found["maxBytes"] else ""
    left_out = f"{found['leftOut']:,} repeated events left out" if found["leftOut"] else ""
    told = joined(found["path"] or found["destination"], kept, left_out, found["reason"] or "")
    yield StatusPart(Level.NOTE if found["reason"] else Level.OK, "log", told)


def _sockets(status: StatusReply) -> Iterator[StatusPart]:
    for lost in status.get("unreachable", []):
        yield StatusPart(Level.WRONG, "socket", f"{lost['socket']}: {lost['reason']}", next_step("socket"))
    port = status.get("http")
    if port:
        level = Level.WRONG if port["reason"] else Level.OK
        state = "" if port["open"] else "not open"
        told = joined(port["address"], state, port["reason"] or "", f"token in {port['tokenFile']}")
        yield StatusPart(level, "http", told, next_step("loopback port") if port["reason"] else "")


def _stalled(status: StatusReply) -> Iterator[StatusPart]:
    process = status.get("daemon")
    for one in process["heartbeats"] if process else []:
        if one["state"] == "stalled":
            told = f"{one['name']} has been silent for {duration(one['ageSeconds'])}; the daemon is restarted"
            yield StatusPart(Level.WRONG, "heartbeat", told, "memoryctl logs")


def _memory(status: StatusReply) -> str:
    helpers = dict(found for agent in status["agents"] for found in _helpers(agent))
    more = [f"{name} {size(octets)}" for (name, _), octets in helpers.items() if octets]
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
    return joined(*(f"{name} {size(octets)}" for name, octets in named if octets)) or "nothing yet"
