"""Rows of the status about the index: what it holds, who else answers, what lies outside, what is wrong."""

from collections.abc import Iterator
from datetime import datetime

from memoryd.cli.status_row import StatusRow, row_text, time_since, warning
from memoryd.cli.terminal import ago, count, percent
from memoryd.replies.status import AgentStatus, MemoryCountsReply, QmdReply


def qmd_rows(qmd: QmdReply | None, now: datetime) -> Iterator[StatusRow]:
    """Yield how the sidecar does, for an agent that has one."""
    if qmd is None:
        return
    version = qmd["version"] or "not found"
    updated = f"updated {ago(qmd['lastUpdateAt'], now)}"
    vectors = f"{qmd['vectors']:,} vectors" if qmd["vectors"] else ""
    exported = f"{qmd['exportedSessions']:,} transcripts exported" if qmd.get("exportedSessions") else ""
    process = f"{qmd['server']}, pid {qmd['pid']}" if qmd["pid"] else qmd["server"]
    yield (
        "qmd",
        row_text(version, qmd["searchMode"], updated, vectors, exported, process, style=warning(bool(qmd["reason"]))),
    )


def index_rows(agent: AgentStatus) -> Iterator[StatusRow]:
    """Yield what is indexed, what is pending, and what answers by vector."""
    passages = agent.get("passages", agent["chunks"])
    embedded = (
        f"{agent['embedded']:,} of {count(passages, 'passage')} embedded ({percent(agent['embedded'], passages)})"
    )
    yield "index", row_text(count(agent["files"], "file"), count(agent["chunks"], "chunk"), embedded)
    yield from _memory_rows(agent.get("memories"))
    messages = agent.get("pendingCaptures", 0)
    waiting = bool(agent["pendingFiles"] or agent["pendingEmbeddings"] or messages)
    pending = f"{count(agent['pendingFiles'], 'file')}, {count(agent['pendingEmbeddings'], 'embedding')}"
    said = f"{count(messages, 'message')} to look at for memories" if messages else ""
    yield "pending", row_text(pending if waiting else "nothing", said, style="yellow" if waiting else "")
    vector = agent["vector"]
    dimensions = f"{vector['dimensions']} dimensions" if vector["dimensions"] else ""
    state = "off" if not vector["enabled"] else "" if vector["available"] else "not available"
    is_bad = vector["enabled"] and not vector["available"]
    yield (
        "vectors",
        row_text(vector["engine"] or "", dimensions, state, vector.get("reason") or "", style=warning(is_bad)),
    )


def _memory_rows(stated: MemoryCountsReply | None) -> Iterator[StatusRow]:
    if stated is not None and stated["lines"]:
        pages = count(stated["pages"], "entity page") if stated["pages"] else ""
        yield "memories", row_text(f"{stated['memories']:,}", count(stated["lines"], "retained line"), pages)


def outside_rows(agent: AgentStatus) -> Iterator[StatusRow]:
    """Yield what lies where nobody looks."""
    outside = agent.get("outside")
    if outside:
        more = "more than " if outside["more"] else ""
        found = f"{more}{count(outside['files'], 'Markdown file')} in other places"
        yield "not indexed", row_text(found, outside["hint"], style=warning(not agent["files"]))


def trouble_rows(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    """Yield what is degraded, left out or odd, and since when."""
    for root in agent["roots"]:
        if root["state"] != "ok":
            yield "folder", row_text(root["path"], root["state"], root.get("reason") or "", style="yellow")
    if agent["fallback"]:
        since = time_since(agent["fallback"]["since"], now)
        yield "fallback", row_text(agent["fallback"]["reason"], f"for {since}", style="yellow")
    for part in agent["degraded"]:
        reason = row_text(part["part"], part["reason"], f"for {time_since(part['since'], now)}", style="red")
        yield "degraded", reason
    if removal := agent.get("massRemoval"):
        left = f"{count(removal['files'], 'note')} of {removal['files'] + removal['left']:,} went at once"
        yield "deleted", row_text(left, ago(removal["at"], now), style="yellow")
    for flagged in agent.get("flagged", []):
        yield "flagged", row_text(flagged["path"], flagged["flags"], style="yellow")
    if agent["skippedCount"]:
        yield "skipped", row_text(count(agent["skippedCount"], "file"), style="yellow")
    for skipped in agent["skipped"]:
        yield "", row_text(skipped["path"], skipped["reason"])
