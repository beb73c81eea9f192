"""Rows of the status about models: who embeds and reranks, and what leaves the machine."""

from collections.abc import Iterator
from datetime import datetime

from memoryd.cli.status_row import StatusRow, row_text, time_since
from memoryd.cli.terminal import cost, count, percent, size
from memoryd.replies.status import (
    AgentStatus,
    EmbedderReply,
    EmbeddingReply,
    RerankerReply,
    TextModelReply,
    WorkerReply,
)

STATE_STYLES = {"ready": "green", "warming": "yellow", "downloading": "yellow", "failed": "red"}


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
