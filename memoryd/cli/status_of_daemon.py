"""The parts of the daemon on the screen of the status."""

from collections.abc import Iterator

from memoryd.cli.status_parts import Level, StatusPart, joined, next_step
from memoryd.cli.terminal import duration, size
from memoryd.replies.status import AgentStatus, ConfigReply, ProcessReply, StatusReply


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
    yield StatusPart(Level.OK, "config", config["source"] or "defaults, there is no file")
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
