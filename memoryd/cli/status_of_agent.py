"""The parts of an agent's memory on the screen of the status."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from memoryd.cli.status_parts import Level, StatusPart, joined, next_step
from memoryd.cli.status_row import time_since
from memoryd.cli.terminal import ago, count, duration, percent, size
from memoryd.replies.status import AgentStatus

ON_THE_WAY: Final = frozenset({"warming", "downloading"})
"""States of a model that pass by themselves."""
TOLD_BY_NAME: Final = frozenset({"embedder", "reranker", "text model", "qmd", "watcher"})
"""Parts with a line of their own, which tells what is wrong with them, too."""


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
    yield from _notes(agent, now)


def _index(agent: AgentStatus) -> StatusPart:
    held = joined(count(agent["files"], "file"), count(agent["chunks"], "chunk"))
    memories = agent.get("memories")
    stated = f"{memories['memories']:,} memories" if memories and memories["memories"] else ""
    if not agent["pendingFiles"]:
        return StatusPart(Level.OK, "index", joined(held, stated))
    left = f"{count(agent['pendingFiles'], 'file')} to read{_left(agent.get('readingSecondsLeft'))}"
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
        return StatusPart(Level.BUSY, "meaning", joined(f"{share}{_left(agent.get('embeddingSecondsLeft'))}", model))
    return StatusPart(Level.OK, "meaning", joined(share, model))


def _left(seconds: float | None) -> str:
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


def _notes(agent: AgentStatus, now: datetime) -> Iterator[StatusPart]:
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
