"""`/v1/qa/…`: the turns of conversations, and the sequence of them that a message takes up again."""

import time
from typing import Annotated

from fastapi import Path, Query

from memoryd.agents.conversations.qa import NewTurn, SequenceOptions, TakenTurn
from memoryd.agents.status.figures import QaFigures
from memoryd.api.dependencies import AdmittedByQuery, Asking, Memories
from memoryd.api.qa_models import (
    QaAddReply,
    QaAddRequest,
    QaContextReply,
    QaContextRequest,
    QaMarkRequest,
    QaSessionReply,
    QaSessionsReply,
    QaSessionTurnsReply,
    QaStatsReply,
    QaTopicReply,
    QaTopicsReply,
    QaTurnReply,
)
from memoryd.domain.citations import ALL_TURNS, parse_address, parse_seqs, turn_address
from memoryd.domain.sessions.documents import counted
from memoryd.domain.sessions.turns import SessionId, Turn
from memoryd.errors import InvalidRequest
from memoryd.sessions.known_sessions import Entry, head_of
from memoryd.wire import SESSIONS_MAX

CITATIONS_SHOWN = 20

Name = Annotated[str, Path(description="the session, as the list names it, percent-encoded")]
Seqs = Annotated[str | None, Query(alias="seq", max_length=32, description="which turns: `17`, `10-20`, `10-`, `-20`")]
Word = Annotated[str, Query(max_length=512, description="only turns in which this stands")]
Limit = Annotated[int, Query(ge=1, le=SESSIONS_MAX, description="how many at most")]


async def add(request: QaAddRequest, caller: Asking, memories: Memories) -> QaAddReply:
    """Store a turn: the question always, the answer if it is significant, both without secrets."""
    admitted = caller.admit(request.agent, request.session_key)
    new = NewTurn(
        question=request.q,
        answer=request.a,
        session=request.session_id,
        key=caller.key(request.session_key),
        is_owners=caller.binding.is_owners,
        timestamp=request.timestamp,
        significance=request.significance,
        topics=request.topic_tags,
    )
    return _added(await memories.qa(admitted).add(new))


async def sessions(admitted: AdmittedByQuery, memories: Memories, limit: Limit = 50) -> QaSessionsReply:
    """List the sessions that are not in the archive, the newest first."""
    found = await memories.qa(admitted).sessions()
    return QaSessionsReply(sessions=[_head(one) for one in found[:limit]], total=len(found))


async def session(
    session: Name, admitted: AdmittedByQuery, memories: Memories, seq: Seqs = None, grep: Word = ""
) -> QaSessionTurnsReply:
    """Read turns of a session, in order, also of one in the archive."""
    try:
        seqs = ALL_TURNS if seq is None else parse_seqs(seq)
    except ValueError as exc:
        raise InvalidRequest(f"seq: {exc}") from exc
    found = await memories.qa(admitted).session(session, seqs=seqs, word=grep)
    return QaSessionTurnsReply(
        **_head(found.session).model_dump(),
        matched=found.matched,
        sequence=[turn_reply(found.session.id, turn) for turn in found.turns],
        next_seq=found.next_seq,
    )


async def context(request: QaContextRequest, caller: Asking, memories: Memories) -> QaContextReply:
    """Choose the turns to put before an agent for a message: of the current session, or up to the best match."""
    began = time.monotonic()
    admitted = caller.admit(request.agent, request.session_key)
    options = SequenceOptions(
        message=request.message,
        session=request.session_id,
        key=caller.key(request.session_key),
        turns=request.n,
        budget=request.budget,
    )
    found = await memories.qa(admitted).context(options)
    chosen = found.choice.session
    return QaContextReply(
        session=chosen,
        sequence=[turn_reply(chosen, turn) for turn in found.turns] if chosen else [],
        why=found.choice.sentence,
        took_ms=round((time.monotonic() - began) * 1000, 2),
    )


async def mark(request: QaMarkRequest, caller: Asking, memories: Memories) -> QaTurnReply:
    """Keep the answer of a turn, or drop it; the question stays."""
    admitted = caller.admit(request.agent, request.session_key)
    name, seq = _marked(request)
    session, turn = await memories.qa(admitted).mark(
        name,
        seq,
        keep=request.keep,
        answer=request.answer,
        key=caller.key(request.session_key),
        is_owners=caller.binding.is_owners,
    )
    return turn_reply(session, turn)


async def topics(admitted: AdmittedByQuery, memories: Memories, limit: Limit = 50) -> QaTopicsReply:
    """List what was talked about, and where."""
    found = await memories.qa(admitted).topics()
    rows = [
        QaTopicReply(topic=topic, turns=len(places), citations=places[-CITATIONS_SHOWN:])
        for topic, places in found[:limit]
    ]
    return QaTopicsReply(topics=rows, total=len(found))


async def stats(admitted: AdmittedByQuery, caller: Asking, memories: Memories) -> QaStatsReply:
    """Count sessions, turns and kept answers, and measure their files."""
    # an agent is not told the names of files that may be of another one's conversations
    return stats_reply(await memories.qa(admitted).census.now(names_all=caller.binding.is_owners))


def _added(taken: TakenTurn) -> QaAddReply:
    turn = taken.turn
    if turn is None or taken.session is None:
        return QaAddReply(session=taken.session, topics=[])
    return QaAddReply(
        session=taken.session,
        seq=turn.seq,
        significance=turn.significance,
        kept=turn.answer is not None,
        remembered=True,
        topics=list(turn.topics),
        citation=turn_address(taken.session, turn.seq),
    )


def _head(entry: Entry) -> QaSessionReply:
    session, (turns, answers) = head_of(entry), counted(entry)
    return QaSessionReply(
        session=session.id,
        key=session.key or None,
        created=session.created,
        last_activity=entry.last_activity,
        turns=turns,
        answers=answers,
        remembered=session.is_remembered,
    )


def _marked(request: QaMarkRequest) -> tuple[str, int]:
    """Return which turn is meant; raises InvalidRequest unless it is one."""
    try:
        address = parse_address(request.citation or "")
    except ValueError as exc:
        raise InvalidRequest(f"citation: {exc}") from exc
    name, seq = (address.session, address.seq) if request.citation else (request.session, request.seq)
    if not name or seq is None:
        raise InvalidRequest(
            "which turn is meant is missing", hint="give citation (session:<id>#Q17), or session and seq"
        )
    if request.answer is not None and not request.keep:
        raise InvalidRequest("an answer is given and not to be kept", hint="give keep: true, or no answer")
    return name, seq


def turn_reply(name: SessionId, turn: Turn) -> QaTurnReply:
    """Return how a turn is told."""
    return QaTurnReply(
        session=name,
        seq=turn.seq,
        q=turn.question,
        a=turn.answer,
        significance=turn.significance,
        timestamp=turn.timestamp,
        topics=list(turn.topics),
        citation=turn_address(name, turn.seq),
    )


def stats_reply(figures: QaFigures) -> QaStatsReply:
    """Return how much there is."""
    return QaStatsReply(
        sessions=figures.sessions,
        turns=figures.totals.turns,
        answers=figures.totals.answers,
        ratio=figures.totals.ratio,
        archived=figures.footprint.archived,
        bytes=figures.footprint.bytes,
        archive_bytes=figures.footprint.archive_bytes,
        max_bytes=figures.usage.max_bytes,
        full=figures.usage.is_full,
        pruned=figures.usage.pruned,
        problems=figures.problems.sentences,
    )
