"""memoryctl status: what the daemon knows, does and lacks."""

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import click
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from memoryd.cli.bars import console
from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.terminal import (
    ago,
    cost,
    count,
    duration,
    encoded,
    harmless_line,
    is_coloured,
    percent,
    size,
    spoken_cost,
)
from memoryd.client import Client
from memoryd.replies.conversation import ConversationsReply, TranscriptsReply
from memoryd.replies.embedding import EmbedderReply, EmbeddingReply, RerankerReply, WorkerReply
from memoryd.replies.index import LedgerReply
from memoryd.replies.qa import QaStatsReply
from memoryd.replies.status import AgentStatus, QmdReply, StatusReply
from memoryd.wire import Exit

REFRESH_SECONDS = 1.0
EMBEDDER_STYLES = {"ready": "green", "warming": "yellow", "downloading": "yellow", "failed": "red"}

StatusRow = tuple[str, Text]


@click.command("status", context_settings=HELP)
@click.option(
    "--watch",
    "is_watching",
    is_flag=True,
    help="Keep showing it, every second, until Ctrl-C; with --json one line each time.",
)
@shared
@click.pass_obj
def command(invocation: Invocation, is_watching: bool) -> Exit:
    """Show agents, index, model, pending work and what is degraded."""
    with invocation.client() as client:
        if is_watching:
            _watch(invocation, client)
        elif invocation.is_json:
            invocation.print_json(_status(invocation, client))
        else:
            _print(_view(_status(invocation, client)))
    return Exit.DONE


def _print(view: RenderableType) -> None:
    screen = console()
    with screen.capture() as captured:
        screen.print(view)
    # rich fills the last column with blanks, which make pasted output ugly
    lines = (line.rstrip() for line in captured.get().splitlines())
    click.echo("\n".join(lines), color=is_coloured(sys.stdout))


def _watch(invocation: Invocation, client: Client) -> None:
    if invocation.is_json:
        while True:
            click.echo(encoded(_status(invocation, client), indent=None))
            time.sleep(REFRESH_SECONDS)
    with Live(_view(_status(invocation, client)), console=console(), auto_refresh=False) as live:
        while True:
            time.sleep(REFRESH_SECONDS)
            live.update(_view(_status(invocation, client)), refresh=True)


def _status(invocation: Invocation, client: Client) -> StatusReply:
    status = client.status()
    status["agents"] = invocation.chosen_agents(status)
    return status


def _view(status: StatusReply) -> RenderableType:
    now = datetime.now(UTC)
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


def _text(*parts: str, style: str = "") -> Text:
    """Join what is not empty; names of files and reasons may hold anything."""
    return Text(" · ".join(harmless_line(part) for part in parts if part), style=style)


def _daemon_rows(status: StatusReply) -> Iterator[StatusRow]:
    up = f"up {duration(status['uptimeSeconds'])}"
    yield "memoryd", _text(status["version"], f"pid {status['pid']}", up, size(status["rssBytes"]))
    yield "socket", _text(status["socket"])
    yield "config", _text(status["config"]["source"] or "defaults, there is no file")
    connections = status.get("connections")
    if connections:
        refused = [f"{count(number, 'time')}: {why}" for why, number in connections["refused"].items()]
        more = f"refused {'; '.join(refused)}" if refused else ""
        yield "connections", _text(f"{connections['open']} open", more, style=_warn(bool(refused)))
    for notice in status["config"]["notices"]:
        yield "", _text(notice, style="yellow")


def _agent_rows(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    yield "workspace", _text(agent["workspace"])
    yield "backend", _text(agent["backend"])
    yield from _qmd_rows(agent.get("qmd"), now)
    yield from _provider_rows(agent.get("embedding"))
    yield from _embedder_rows(agent, agent["embedder"], now)
    yield from _reranker_rows(agent.get("reranker"), now)
    yield from _index_rows(agent)
    watcher = agent["watcher"]
    state = "" if watcher["ok"] else "not working"
    yield "watcher", _text(watcher["mode"], state, watcher.get("reason") or "", style=_warn(not watcher["ok"]))
    yield "last scan", _text(ago(agent["lastScanAt"], now), f"last change {ago(agent['lastSyncAt'], now)}")
    yield "database", _text(size(agent["database"]["bytes"]), agent["database"]["path"])
    yield from _conversation_rows(agent.get("qa"))
    yield from _ledger_rows(agent.get("ledger"))
    yield from _heard_rows(agent.get("sessions"), agent.get("embedding"), now)
    yield from _outside_rows(agent)
    yield from _trouble_rows(agent, now)


def _conversation_rows(qa: QaStatsReply | None) -> Iterator[StatusRow]:
    if qa is not None and (qa["sessions"] or qa["archived"]):
        kept = f"{count(qa['answers'], 'answer')} kept"
        archived = f"{qa['archived']:,} archived" if qa["archived"] else ""
        files = size(qa["bytes"] + qa["archiveBytes"])
        bound = f"of {size(qa['maxBytes'])}"
        pruned = f"{count(qa['pruned'], 'answer')} gave way" if qa["pruned"] else ""
        yield (
            "sessions",
            _text(f"{qa['sessions']:,}", count(qa["turns"], "turn"), kept, archived, f"{files} {bound}", pruned),
        )


def _ledger_rows(ledger: LedgerReply | None) -> Iterator[StatusRow]:
    # one that holds nothing is not even made
    if ledger is not None and ledger["bytes"]:
        held = f"{count(ledger['heldAnswers'], 'answer')} held for a week, {size(ledger['heldBytes'])}"
        yield "ledger", _text(held, ledger["path"])


def _heard_rows(
    sessions: ConversationsReply | None, embedding: EmbeddingReply | None, now: datetime
) -> Iterator[StatusRow]:
    if sessions is None or not (sessions["conversations"] or sessions["transcripts"] or sessions["reason"]):
        return
    held = f"{count(sessions['conversations'], 'conversation')}, {count(sessions['chunks'], 'chunk')}"
    pending = f"{sessions['pendingEmbeddings']:,} passages without a vector" if sessions["pendingEmbeddings"] else ""
    reading = "reading" if sessions["reading"] else f"last read {ago(sessions['lastReadAt'], now)}"
    reason = sessions["reason"] or ""
    yield "conversations", _text(held, pending, reading, reason, style=_warn(bool(reason)))
    outstanding, remote = sessions.get("outstanding"), embedding and embedding["remote"]
    if outstanding is not None and outstanding["passages"] and remote:
        yield "", _text(f"still to be sent to {remote['destination']}: {spoken_cost(outstanding)}")
    transcripts = sessions["transcripts"]
    if transcripts is None:
        return
    odd = [f"{number:,} {what}" for number, what in _odd_transcripts(sessions, transcripts) if number]
    yield "transcripts", _text(count(transcripts["files"], "file"), size(transcripts["bytes"]), *odd)
    for folder in transcripts["folders"]:
        yield "", _text(folder["path"], count(folder["files"], "file"), folder["reason"] or "")


def _odd_transcripts(sessions: ConversationsReply, transcripts: TranscriptsReply) -> Iterator[tuple[int, str]]:
    yield transcripts["unknown"], "of an unknown format"
    yield sessions["unreadable"], "unreadable"
    yield transcripts["withheld"], "not to be remembered"


def _provider_rows(embedding: EmbeddingReply | None) -> Iterator[StatusRow]:
    if embedding is None:
        return
    stand_in = f"fallback {embedding['fallback']}" if embedding["fallback"] else ""
    yield "provider", _text(embedding["provider"], embedding["rule"], stand_in)
    remote = embedding["remote"]
    if remote is None:
        return
    budget = f" of {remote['tokensPerDay']:,}" if remote["tokensPerDay"] else ""
    sent = f"about {remote['sentToday']:,}{budget} tokens today"
    outstanding = remote["outstanding"]
    verb = "sends to" if outstanding is not None else "would send to"
    yield verb, _text(remote["destination"], remote["model"], sent, style="yellow")
    if outstanding is not None and outstanding["passages"]:
        yield "", _text(f"still to be sent: {cost(outstanding)}", "paused" if embedding["paused"] else "")


def _embedder_rows(agent: AgentStatus, embedder: EmbedderReply, now: datetime) -> Iterator[StatusRow]:
    state = embedder["state"] + (f" for {_since(embedder['since'], now)}" if embedder["state"] != "ready" else "")
    style = EMBEDDER_STYLES.get(embedder["state"], "")
    yield "model", _text(agent["model"] or "none", state, embedder["reason"] or "", style=style)
    transfer = embedder["progress"]
    if transfer:
        done, total = transfer["doneBytes"], transfer["totalBytes"]
        amount = f"{size(done)} of {size(total)}, {percent(done, total)}" if total else size(done)
        yield "", _text(transfer["step"], amount, style="yellow")
    yield from _worker_rows(embedder["worker"])


def _worker_rows(worker: WorkerReply | None) -> Iterator[StatusRow]:
    if worker is None:
        return
    process = f"pid {worker['pid']}, {size(worker['rssBytes'])}" if worker["pid"] else ""
    restarts = count(worker["restarts"], "restart") if worker["restarts"] else ""
    yield "worker", _text(worker["phase"], process, restarts, worker["lastError"] or "")


def _reranker_rows(reranker: RerankerReply | None, now: datetime) -> Iterator[StatusRow]:
    if reranker is None:
        return
    state = reranker["state"] + (f" for {_since(reranker['since'], now)}" if reranker["state"] != "ready" else "")
    style = EMBEDDER_STYLES.get(reranker["state"], "")
    yield "reranker", _text(reranker["model"], state, reranker["family"] or "", reranker["reason"] or "", style=style)
    yield from _worker_rows(reranker["worker"])


def _qmd_rows(qmd: QmdReply | None, now: datetime) -> Iterator[StatusRow]:
    if qmd is None:
        return
    version = qmd["version"] or "not found"
    updated = f"updated {ago(qmd['lastUpdateAt'], now)}"
    vectors = f"{qmd['vectors']:,} vectors" if qmd["vectors"] else ""
    exported = f"{qmd['exportedSessions']:,} transcripts exported" if qmd.get("exportedSessions") else ""
    process = f"{qmd['server']}, pid {qmd['pid']}" if qmd["pid"] else qmd["server"]
    yield (
        "qmd",
        _text(version, qmd["searchMode"], updated, vectors, exported, process, style=_warn(bool(qmd["reason"]))),
    )


def _index_rows(agent: AgentStatus) -> Iterator[StatusRow]:
    passages = agent.get("passages", agent["chunks"])
    embedded = (
        f"{agent['embedded']:,} of {count(passages, 'passage')} embedded ({percent(agent['embedded'], passages)})"
    )
    yield "index", _text(count(agent["files"], "file"), count(agent["chunks"], "chunk"), embedded)
    waiting = bool(agent["pendingFiles"] or agent["pendingEmbeddings"])
    pending = f"{count(agent['pendingFiles'], 'file')}, {count(agent['pendingEmbeddings'], 'embedding')}"
    yield "pending", _text(pending if waiting else "nothing", style="yellow" if waiting else "")
    vector = agent["vector"]
    dimensions = f"{vector['dimensions']} dimensions" if vector["dimensions"] else ""
    state = "off" if not vector["enabled"] else "" if vector["available"] else "not available"
    is_bad = vector["enabled"] and not vector["available"]
    yield "vectors", _text(vector["engine"] or "", dimensions, state, vector.get("reason") or "", style=_warn(is_bad))


def _outside_rows(agent: AgentStatus) -> Iterator[StatusRow]:
    outside = agent.get("outside")
    if outside:
        more = "more than " if outside["more"] else ""
        found = f"{more}{count(outside['files'], 'Markdown file')} in other places"
        yield "not indexed", _text(found, outside["hint"], style=_warn(not agent["files"]))


def _trouble_rows(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    for root in agent["roots"]:
        if root["state"] != "ok":
            yield "folder", _text(root["path"], root["state"], root.get("reason") or "", style="yellow")
    if agent["fallback"]:
        since = _since(agent["fallback"]["since"], now)
        yield "fallback", _text(agent["fallback"]["reason"], f"for {since}", style="yellow")
    for part in agent["degraded"]:
        reason = _text(part["part"], part["reason"], f"for {_since(part['since'], now)}", style="red")
        yield "degraded", reason
    if removal := agent.get("massRemoval"):
        left = f"{count(removal['files'], 'note')} of {removal['files'] + removal['left']:,} went at once"
        yield "deleted", _text(left, ago(removal["at"], now), style="yellow")
    for flagged in agent.get("flagged", []):
        yield "flagged", _text(flagged["path"], flagged["flags"], style="yellow")
    if agent["skippedCount"]:
        yield "skipped", _text(count(agent["skippedCount"], "file"), style="yellow")
    for skipped in agent["skipped"]:
        yield "", _text(skipped["path"], skipped["reason"])


def _since(moment: str | None, now: datetime) -> str:
    return ago(moment, now).removesuffix(" ago") if moment else "an unknown time"


def _warn(is_bad: bool) -> str:
    return "yellow" if is_bad else ""
