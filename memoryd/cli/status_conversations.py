"""Rows of the status about conversations: turns, what is held of them, transcripts."""

from collections.abc import Iterator
from datetime import datetime

from memoryd.cli.status_row import StatusRow, row_text, warning
from memoryd.cli.terminal import ago, count, size, spoken_cost
from memoryd.replies.conversations import QaStatsReply
from memoryd.replies.status import ConversationsReply, EmbeddingReply, LedgerReply, TranscriptsReply


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
