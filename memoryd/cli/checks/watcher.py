"""The part of `memoryctl doctor` about noticing changes: events, and scans. Both are the daemon's own word."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import ago
from memoryd.replies.status import AgentStatus

LATE: Final = 4
"""So many times its interval, and half a minute, a scan may take to come: a large workspace takes long."""
_GRACE_SECONDS: Final = 30.0


def alive(examination: Examination) -> Iterator[Finding]:
    """Tell whether the daemon hears of changes."""
    for agent in examination.status["agents"] if examination.status else ():
        watcher, part = agent["watcher"], f"watcher of {agent['id']}"
        if watcher["mode"] == "off":
            yield Finding(part, "look", "changes are noticed by scans alone", "sync.watch: true has events followed")
        elif watcher["ok"]:
            yield Finding(part, "ok", f"follows {watcher['mode']}")
        else:
            hint = "the folder is scanned meanwhile; see the checks about file events, then restart memoryd"
            yield Finding(part, "wrong", watcher.get("reason") or "it hears nothing", hint)


def scanned(examination: Examination) -> Iterator[Finding]:
    """Hold the time of the last scan against how often there is one."""
    if examination.status is None:
        return
    wanted = {agent.id: agent.memory_search.sync.reconcile_seconds for agent in examination.config.resolved_agents()}
    for agent in examination.status["agents"]:
        yield scan_finding(agent, wanted.get(agent["id"], 0.0), datetime.now(UTC))


def scan_finding(agent: AgentStatus, every_seconds: float, now: datetime) -> Finding:
    """Judge the age of a scan; 0 seconds: there is none by the clock."""
    part, at = f"scanner of {agent['id']}", agent["lastScanAt"]
    told = f"last scan {ago(at, now)}"
    hint = "memoryctl sync asks for one; if that does not end, restart memoryd"
    if at is None:
        return Finding(part, "look", "the folder was not looked at yet", hint)
    age = (now - datetime.fromisoformat(at)).total_seconds()
    if age < -_GRACE_SECONDS:
        return Finding(part, "look", "the last scan was in the future: the clock was set back", "memoryctl sync")
    if every_seconds and age > LATE * every_seconds + _GRACE_SECONDS:
        return Finding(part, "wrong", f"{told}, though there is to be one every {every_seconds:g} s", hint)
    return Finding(part, "ok", told)


LOOKS: Looks = {"watcher.alive": alive, "watcher.scan": scanned}
