"""What a row of the status is, and the rows of an agent that `--verbose` adds to those of the screen."""

from collections.abc import Iterator
from datetime import datetime
from enum import IntEnum

from msgspec import Struct

from memoryd.cli.terminal import ago, cost, count, percent, size, spoken_cost
from memoryd.replies.models import EmbeddingReply, WorkerReply
from memoryd.replies.status import AgentStatus, ConversationsReply, LedgerReply


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


def details(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    """Yield what is known of an agent beyond the screen."""
    yield from _engine_rows(agent, now)
    yield from _model_rows(agent)
    yield from _index_rows(agent, now)
    if ledger := agent.get("ledger"):
        yield from _ledger_rows(ledger)
    yield from _turn_rows(agent)
    if sessions := agent.get("sessions"):
        yield from _conversation_rows(sessions, agent.get("embedding"), now)
    for flagged in agent.get("flagged", []):
        yield row(Level.NOTE, "flagged", flagged["path"], flagged["flags"])
    for skipped in agent["skipped"]:
        yield row(Level.NOTE, "skipped", skipped["path"], skipped["reason"])


def _engine_rows(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    yield row(Level.OK, "backend", agent["backend"])
    if qmd := agent.get("qmd"):
        yield row(
            level_of(qmd["reason"]),
            "qmd",
            qmd["version"] or "not found",
            f"updated {ago(qmd['lastUpdateAt'], now)}",
            f"{qmd['vectors']:,} vectors" if qmd["vectors"] else "",
            f"{qmd['exportedSessions']:,} transcripts exported" if qmd.get("exportedSessions") else "",
            f"{qmd['server']}, pid {qmd['pid']}" if qmd["pid"] else qmd["server"],
        )
    if team := agent.get("team"):
        waits = count(team["published"]["pending"], "file")
        yield row(
            level_of(team["offline"] or team["trouble"]),
            "team",
            f"{team['person']} of {team['name']}",
            f"{count(len(team['people']), 'person', 'people')}",
            f"{waits} to be sent" if team["published"]["pending"] else "all is sent",
            f"fetched {ago(team['fetchedAt'], now)}",
        )
    vector = agent["vector"]
    state = "off" if not vector["enabled"] else "" if vector["available"] else "not available"
    dimensions = f"{vector['dimensions']} dimensions" if vector["dimensions"] else ""
    is_bad = vector["enabled"] and not vector["available"]
    yield row(level_of(is_bad), "vectors", vector["engine"], dimensions, state)


def _model_rows(agent: AgentStatus) -> Iterator[StatusRow]:
    """Yield who embeds and why, what leaves the machine, and the processes of models."""
    if embedding := agent.get("embedding"):
        fallback = f"fallback {embedding['fallback']}" if embedding["fallback"] else ""
        yield row(Level.OK, "provider", embedding["provider"], embedding["rule"], fallback)
        if remote := embedding["remote"]:
            budget = f" of {remote['tokensPerDay']:,}" if remote["tokensPerDay"] else ""
            left = remote["outstanding"]
            unsent_text = f"still to be sent: {cost(left)}" if left is not None and left["passages"] else ""
            paused = "paused" if unsent_text and embedding["paused"] else ""
            yield row(Level.NOTE, "sent", f"about {remote['sentToday']:,}{budget} tokens today", unsent_text, paused)
    yield from _worker_rows("model", agent["embedder"]["worker"])
    if reranker := agent.get("reranker"):
        yield row(Level.OK, "reranker", reranker["family"])
        yield from _worker_rows("reranker", reranker["worker"])
    if llm := agent.get("llm"):
        budget = f" of {llm['callsPerDay']:,}" if llm["callsPerDay"] else ""
        asked = f"{llm['callsToday'] or 0:,}{budget} questions today" if llm["destination"] is not None else ""
        yield row(Level.OK, "text model", llm["provider"], asked)
        yield from _worker_rows("text model", llm["worker"])


def _worker_rows(name: str, worker: WorkerReply | None) -> Iterator[StatusRow]:
    if worker is not None:
        process = f"pid {worker['pid']}, {size(worker['rssBytes'])}" if worker["pid"] else ""
        restarts = count(worker["restarts"], "restart") if worker["restarts"] else ""
        yield row(Level.OK, name, f"process {worker['phase']}", process, restarts, _card(worker), worker["lastError"])


def _card(worker: WorkerReply) -> str:
    """Say how a graphics card is used; nothing while nobody knows, or where none is there and nobody asked for it."""
    layers = worker["gpuLayers"]
    if worker["offloads"]:
        return f"graphics card: {'as many layers as fit' if layers is None else count(layers, 'layer')}"
    return "llama-cpp-python is built without a graphics card" if layers and worker["offloads"] is False else ""


def _index_rows(agent: AgentStatus, now: datetime) -> Iterator[StatusRow]:
    passages, messages = agent.get("passages", agent["chunks"]), agent.get("pendingCaptures", 0)
    embedded = f"{agent['embedded']:,} of {count(passages, 'passage')} embedded"
    yield row(Level.OK, "index", f"{embedded} ({percent(agent['embedded'], passages)})")
    if (stated := agent.get("memories")) and stated["lines"]:
        pages = count(stated["pages"], "entity page") if stated["pages"] else ""
        yield row(Level.OK, "memories", f"{stated['memories']:,}", count(stated["lines"], "retained line"), pages)
    if agent["pendingFiles"] or agent["pendingEmbeddings"] or messages:
        pending = f"{count(agent['pendingFiles'], 'file')}, {count(agent['pendingEmbeddings'], 'embedding')}"
        yield row(Level.BUSY, "pending", pending, count(messages, "message") if messages else "")
    yield row(Level.OK, "last change", ago(agent["lastSyncAt"], now))
    yield row(Level.OK, "database", size(agent["database"]["bytes"]), agent["database"]["path"])


def _ledger_rows(ledger: LedgerReply) -> Iterator[StatusRow]:
    # one that holds nothing is not even made
    if ledger["bytes"]:
        amount = f"{ledger['heldAnswers']:,} of {count(ledger['maxHeldAnswers'], 'answer')} held for a week"
        room = f"{size(ledger['heldBytes'])} of {size(ledger['maxHeldBytes'])}"
        yield row(Level.OK, "ledger", size(ledger["bytes"]), amount, room, ledger["path"])
        if history := ledger.get("history"):
            yield row(
                Level.OK,
                "history",
                f"{history['changes']:,} of {count(history['maxChanges'], 'change')}",
                f"{size(history['changeBytes'])} of {size(history['maxChangeBytes'])} for undo",
                f"{history['proposals']:,} of {count(history['maxProposals'], 'proposal')}",
                f"{history['reflectRuns']:,} of {count(history['maxReflectRuns'], 'run')}",
            )


def _turn_rows(agent: AgentStatus) -> Iterator[StatusRow]:
    qa = agent.get("qa")
    if qa and (qa["sessions"] or qa["archived"]):
        yield row(
            Level.OK,
            "sessions",
            f"{qa['sessions']:,}",
            count(qa["turns"], "turn"),
            f"{count(qa['answers'], 'answer')} kept",
            f"{qa['archived']:,} archived" if qa["archived"] else "",
            f"{size(qa['bytes'] + qa['archiveBytes'])} of {size(qa['maxBytes'])}",
            f"{count(qa['pruned'], 'answer')} gave way" if qa["pruned"] else "",
        )


def _conversation_rows(
    sessions: ConversationsReply, embedding: EmbeddingReply | None, now: datetime
) -> Iterator[StatusRow]:
    """Yield how far conversations and transcripts are read."""
    transcripts, outstanding = sessions["transcripts"], sessions.get("outstanding")
    if not (sessions["conversations"] or transcripts or sessions["reason"]):
        return
    amount = f"{count(sessions['conversations'], 'conversation')}, {count(sessions['chunks'], 'chunk')}"
    pending = f"{sessions['pendingEmbeddings']:,} passages without a vector" if sessions["pendingEmbeddings"] else ""
    reading = "reading" if sessions["reading"] else f"last read {ago(sessions['lastReadAt'], now)}"
    yield row(level_of(sessions["reason"]), "conversations", amount, pending, reading, sessions["reason"])
    remote = embedding and embedding["remote"]
    if outstanding is not None and outstanding["passages"] and remote:
        unsent = f"still to be sent to {remote['destination']}: {spoken_cost(outstanding)}"
        yield row(Level.NOTE, "conversations", unsent)
    if transcripts is None:
        return
    odd = {
        "of an unknown format": transcripts["unknown"],
        "unreadable": sessions["unreadable"],
        "not to be remembered": transcripts["withheld"],
    }
    yield row(
        Level.OK,
        "transcripts",
        count(transcripts["files"], "file"),
        f"{size(transcripts['bytes'])} of {size(transcripts['maxBytes'])}",
        *(f"{number:,} {what}" for what, number in odd.items() if number),
    )
    for folder in transcripts["folders"]:
        told = (folder["path"], count(folder["files"], "file"), folder["reason"])
        yield row(level_of(folder["reason"]), "transcripts", *told)
