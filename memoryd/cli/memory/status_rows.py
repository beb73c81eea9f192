"""The whole status in rows, each a name and a text: what the daemon says of itself and of each agent."""

from collections.abc import Iterator
from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memoryd.cli.terminal import ago, cost, count, duration, harmless_line, percent, size, spoken_cost
from memoryd.replies.conversations import QaStatsReply
from memoryd.replies.models import EmbedderReply, EmbeddingReply, RerankerReply, TextModelReply, WorkerReply
from memoryd.replies.status import (
    AgentStatus,
    ConversationsReply,
    LedgerReply,
    MemoryCountsReply,
    QmdReply,
    StatusReply,
    TranscriptsReply,
)

StatusRow = tuple[str, Text]
"""A name and what is told of it; a row without a name goes on with the one before."""
STATE_STYLES = {"ready": "green", "warming": "yellow", "downloading": "yellow", "failed": "red"}


def whole_view(status: StatusReply, now: datetime) -> RenderableType:
    """Return all rows."""
    parts: list[RenderableType] = [_grid(_daemon_rows(status))]
    for agent in status["agents"]:
        parts += [Text(), Text(f"agent {harmless_line(agent['id'])}", style="bold"), _grid(_agent_rows(agent, now))]
    return Group(*parts)


def _grid(rows: Iterator[StatusRow]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(f"  {name}", value)
    return table


def _daemon_rows(status: StatusReply) -> Iterator[StatusRow]:
    up = f"up {duration(status['uptimeSeconds'])}"
    yield "memoryd", row_text(status["version"], f"pid {status['pid']}", up, size(status["rssBytes"]))
    yield "socket", row_text(status["socket"])
    yield "config", row_text(status["config"]["source"] or "defaults, there is no file: memoryctl init writes one")
    connections = status.get("connections")
    if connections:
        refused = [f"{count(number, 'time')}: {why}" for why, number in connections["refused"].items()]
        more = f"refused {'; '.join(refused)}" if refused else ""
        yield "connections", row_text(f"{connections['open']} open", more, style=warning(bool(refused)))
    if port := status.get("http"):
        yield (
            "http",
            row_text(
                port["address"],
                "" if port["open"] else "not open",
                port["reason"] or "",
                f"token in {port['tokenFile']}",
                style=warning(bool(port["reason"])),
            ),
        )
    for notice in status["config"]["notices"]:
        yield "", row_text(notice, style="yellow")
    for problem in status["config"].get("problems", ()):
        yield "", row_text(f"the last reload took nothing: {problem}", style="red")
    if owed := status["config"].get("needsRestart"):
        yield "", row_text(f"held back until memoryd is started again: {', '.join(owed)}", style="yellow")


def _agent_rows(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    yield "workspace", row_text(agent["workspace"])
    yield "backend", row_text(agent["backend"])
    yield from qmd_rows(agent.get("qmd"), now)
    yield from provider_rows(agent.get("embedding"))
    yield from embedder_rows(agent, agent["embedder"], now)
    yield from reranker_rows(agent.get("reranker"), now)
    yield from text_model_rows(agent.get("llm"), now)
    yield from index_rows(agent)
    watcher = agent["watcher"]
    state = "" if watcher["ok"] else "not working"
    yield "watcher", row_text(watcher["mode"], state, watcher.get("reason") or "", style=warning(not watcher["ok"]))
    yield "last scan", row_text(ago(agent["lastScanAt"], now), f"last change {ago(agent['lastSyncAt'], now)}")
    yield "database", row_text(size(agent["database"]["bytes"]), agent["database"]["path"])
    yield from turn_rows(agent.get("qa"))
    yield from ledger_rows(agent.get("ledger"))
    yield from conversation_rows(agent.get("sessions"), agent.get("embedding"), now)
    yield from outside_rows(agent)
    yield from trouble_rows(agent, now)


def row_text(*parts: str, style: str = "") -> Text:
    """Join what is not empty; names of files and reasons may hold anything."""
    return Text(" · ".join(harmless_line(part) for part in parts if part), style=style)


def time_since(moment: str | None, now: datetime) -> str:
    """Return how long it is that way, in words."""
    return ago(moment, now).removesuffix(" ago") if moment else "an unknown time"


def warning(is_bad: bool) -> str:
    """Return the style of what may be bad."""
    return "yellow" if is_bad else ""


def turn_rows(qa: QaStatsReply | None) -> Iterator[StatusRow]:
    """Yield how many questions and answers are kept."""
    if qa is not None and (qa["sessions"] or qa["archived"]):
        kept = f"{count(qa['answers'], 'answer')} kept"
        archived = f"{qa['archived']:,} archived" if qa["archived"] else ""
        files = size(qa["bytes"] + qa["archiveBytes"])
        bound = f"of {size(qa['maxBytes'])}"
        pruned = f"{count(qa['pruned'], 'answer')} gave way" if qa["pruned"] else ""
        yield (
            "sessions",
            row_text(f"{qa['sessions']:,}", count(qa["turns"], "turn"), kept, archived, f"{files} {bound}", pruned),
        )


def ledger_rows(ledger: LedgerReply | None) -> Iterator[StatusRow]:
    """Yield what is held for a while."""
    # one that holds nothing is not even made
    if ledger is not None and ledger["bytes"]:
        held = f"{ledger['heldAnswers']:,} of {count(ledger['maxHeldAnswers'], 'answer')} held for a week"
        room = f"{size(ledger['heldBytes'])} of {size(ledger['maxHeldBytes'])}"
        yield "ledger", row_text(size(ledger["bytes"]), held, room, ledger["path"])
        if kept := ledger.get("history"):
            yield (
                "history",
                row_text(
                    f"{kept['changes']:,} of {count(kept['maxChanges'], 'change')}",
                    f"{size(kept['changeBytes'])} of {size(kept['maxChangeBytes'])} for undo",
                    f"{kept['proposals']:,} of {count(kept['maxProposals'], 'proposal')}",
                    f"{kept['reflectRuns']:,} of {count(kept['maxReflectRuns'], 'run')}",
                ),
            )


def conversation_rows(
    sessions: ConversationsReply | None, embedding: EmbeddingReply | None, now: datetime
) -> Iterator[StatusRow]:
    """Yield how far conversations and transcripts are read."""
    if sessions is None or not (sessions["conversations"] or sessions["transcripts"] or sessions["reason"]):
        return
    held = f"{count(sessions['conversations'], 'conversation')}, {count(sessions['chunks'], 'chunk')}"
    pending = f"{sessions['pendingEmbeddings']:,} passages without a vector" if sessions["pendingEmbeddings"] else ""
    reading = "reading" if sessions["reading"] else f"last read {ago(sessions['lastReadAt'], now)}"
    reason = sessions["reason"] or ""
    yield "conversations", row_text(held, pending, reading, reason, style=warning(bool(reason)))
    outstanding, remote = sessions.get("outstanding"), embedding and embedding["remote"]
    if outstanding is not None and outstanding["passages"] and remote:
        yield "", row_text(f"still to be sent to {remote['destination']}: {spoken_cost(outstanding)}")
    transcripts = sessions["transcripts"]
    if transcripts is None:
        return
    odd = [f"{number:,} {what}" for number, what in _odd_transcripts(sessions, transcripts) if number]
    yield (
        "transcripts",
        row_text(
            count(transcripts["files"], "file"),
            f"{size(transcripts['bytes'])} of {size(transcripts['maxBytes'])}",
            *odd,
        ),
    )
    for folder in transcripts["folders"]:
        yield "", row_text(folder["path"], count(folder["files"], "file"), folder["reason"] or "")


def _odd_transcripts(sessions: ConversationsReply, transcripts: TranscriptsReply) -> Iterator[tuple[int, str]]:
    yield transcripts["unknown"], "of an unknown format"
    yield sessions["unreadable"], "unreadable"
    yield transcripts["withheld"], "not to be remembered"


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


def provider_rows(embedding: EmbeddingReply | None) -> Iterator[StatusRow]:
    """Yield who embeds and why, and what leaves the machine."""
    if embedding is None:
        return
    stand_in = f"fallback {embedding['fallback']}" if embedding["fallback"] else ""
    yield "provider", row_text(embedding["provider"], embedding["rule"], stand_in)
    remote = embedding["remote"]
    if remote is None:
        return
    budget = f" of {remote['tokensPerDay']:,}" if remote["tokensPerDay"] else ""
    sent = f"about {remote['sentToday']:,}{budget} tokens today"
    outstanding = remote["outstanding"]
    verb = "sends to" if outstanding is not None else "would send to"
    yield verb, row_text(remote["destination"], remote["model"], sent, style="yellow")
    if outstanding is not None and outstanding["passages"]:
        yield "", row_text(f"still to be sent: {cost(outstanding)}", "paused" if embedding["paused"] else "")


def embedder_rows(agent: AgentStatus, embedder: EmbedderReply, now: datetime) -> Iterator[StatusRow]:
    """Yield the model of the embedder, what it waits for, and its process."""
    state = embedder["state"] + (f" for {time_since(embedder['since'], now)}" if embedder["state"] != "ready" else "")
    style = STATE_STYLES.get(embedder["state"], "")
    yield "model", row_text(agent["model"] or "none", state, embedder["reason"] or "", style=style)
    transfer = embedder["progress"]
    if transfer:
        done, total = transfer["doneBytes"], transfer["totalBytes"]
        amount = f"{size(done)} of {size(total)}, {percent(done, total)}" if total else size(done)
        yield "", row_text(transfer["step"], amount, style="yellow")
    yield from _worker_rows(embedder["worker"])


def reranker_rows(reranker: RerankerReply | None, now: datetime) -> Iterator[StatusRow]:
    """Yield the model that reranks, and its process."""
    if reranker is None:
        return
    state = reranker["state"] + (f" for {time_since(reranker['since'], now)}" if reranker["state"] != "ready" else "")
    style = STATE_STYLES.get(reranker["state"], "")
    yield (
        "reranker",
        row_text(reranker["model"], state, reranker["family"] or "", reranker["reason"] or "", style=style),
    )
    yield from _worker_rows(reranker["worker"])


def text_model_rows(llm: TextModelReply | None, now: datetime) -> Iterator[StatusRow]:
    """Yield who writes text, what leaves the machine for it, and its process."""
    if llm is None:
        return
    state = llm["state"] + (f" for {time_since(llm['since'], now)}" if llm["state"] != "ready" else "")
    style = STATE_STYLES.get(llm["state"], "")
    yield "text model", row_text(llm["model"], state, llm["provider"], llm["reason"] or "", style=style)
    if llm["destination"] is not None:
        budget = f" of {llm['callsPerDay']:,}" if llm["callsPerDay"] else ""
        calls = f"{llm['callsToday'] or 0:,}{budget} questions today"
        yield "sends to", row_text(llm["destination"], "memory text", calls, style="yellow")
    yield from _worker_rows(llm["worker"])


def _worker_rows(worker: WorkerReply | None) -> Iterator[StatusRow]:
    if worker is None:
        return
    process = f"pid {worker['pid']}, {size(worker['rssBytes'])}" if worker["pid"] else ""
    restarts = count(worker["restarts"], "restart") if worker["restarts"] else ""
    yield "worker", row_text(worker["phase"], process, restarts, worker["lastError"] or "")
