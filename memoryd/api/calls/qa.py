"""`/v1/qa/…`: the turns of conversations, and the sequence of them that a message takes up again."""

import time
from typing import Annotated, Final

from pydantic import Field

from memoryd.agents.conversations.qa import NewTurn, SequenceOptions, turn_reply
from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.call import call
from memoryd.api.models import AgentId, Request, Whole
from memoryd.domain.access import Who
from memoryd.domain.citations import ALL_TURNS, parse_address, parse_seqs
from memoryd.domain.sessions.sequences import BUDGET
from memoryd.errors import InvalidRequest
from memoryd.replies.conversations import (
    QaAddReply,
    QaContextReply,
    QaSessionsReply,
    QaSessionTurnsReply,
    QaStatsReply,
    QaTopicsReply,
    QaTurnReply,
)
from memoryd.wire import (
    ANSWER_CHARS_MAX,
    POSITION_MAX,
    QUESTION_CHARS_MAX,
    SEQUENCE_MAX,
    SEQUENCE_TOKENS_MAX,
    SESSIONS_MAX,
    TOPIC_CHARS_MAX,
    TOPICS_MAX,
)

SessionName = Annotated[str, Field(min_length=1, max_length=512)]
SessionKeyText = Annotated[str, Field(max_length=512)]
AnswerText = Annotated[str, Field(max_length=ANSWER_CHARS_MAX)]


class QaAddRequest(Request):
    """A turn that was said; the session is given by its name, or by its session key."""

    session_id: SessionName | None = None
    """The session, by any name; null: the one of `sessionKey` that goes on, or a new one."""
    session_key: SessionKeyText | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    q: Annotated[str, Field(min_length=1, max_length=QUESTION_CHARS_MAX, pattern=r"\S")]
    """The question, always kept; secrets in it are masked."""
    a: AnswerText | None = None
    """The answer, kept if it is significant; null: there is none."""
    timestamp: Annotated[str, Field(max_length=64)] | None = None
    """When it was said, ISO 8601, in the owner's time zone unless it names one; null: now."""
    significance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    """How significant the answer is, 0 to 1; null: by the rules."""
    topic_tags: (
        Annotated[list[Annotated[str, Field(max_length=TOPIC_CHARS_MAX)]], Field(max_length=TOPICS_MAX)] | None
    ) = None
    """What the turn is about, as tags such as `discord_config`; null: by the rules."""
    agent: AgentId = None


class QaContextRequest(Request):
    """What a sequence of turns is wanted for."""

    message: Annotated[str, Field(max_length=QUESTION_CHARS_MAX)] | None = None
    """What was said now; null: the last turns of the session."""
    session_id: SessionName | None = None
    """The current session by its name; null: the newest one of `sessionKey`."""
    n: Annotated[Whole, Field(ge=1, le=SEQUENCE_MAX)] | None = None
    """How many turns at most; null: `memory.qa.contextTurns`."""
    session_key: SessionKeyText | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    budget: Annotated[Whole, Field(ge=1, le=SEQUENCE_TOKENS_MAX)] = BUDGET
    """How many tokens (estimated) it may cost: answers give way first, then the oldest turns."""
    agent: AgentId = None


class QaMarkRequest(Request):
    """Whether the answer of a turn is kept; the turn is given by its address, or by session and number."""

    keep: bool
    """True: keep the answer; false: drop it."""
    citation: Annotated[str, Field(max_length=600)] | None = None
    """The address of the turn, such as `session:main-20261018#Q17`; null: `session` and `seq` name it."""
    session: SessionName | None = None
    """The session of the turn; null: `citation` names it."""
    seq: Annotated[Whole, Field(ge=1, le=POSITION_MAX)] | None = None
    """The number of the turn; null: `citation` names it."""
    answer: Annotated[AnswerText, Field(min_length=1)] | None = None
    """The answer to keep; null: the one that there is."""
    session_key: SessionKeyText | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    agent: AgentId = None


Name = Annotated[str, Field(description="the session, as the list names it, percent-encoded")]
Seqs = Annotated[str | None, Field(alias="seq", max_length=32, description="which turns: `17`, `10-20`, `10-`, `-20`")]
Word = Annotated[str, Field(max_length=512, description="only turns in which this stands")]
Limit = Annotated[int, Field(ge=1, le=SESSIONS_MAX, description="how many at most")]


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
    return await memories.qa(admitted).add(new)


async def sessions(admitted: AdmittedByQuery, memories: Memories, limit: Limit = 50) -> QaSessionsReply:
    """List the sessions that are not in the archive, the newest first."""
    return await memories.qa(admitted).sessions(limit)


async def session(
    session: Name, admitted: AdmittedByQuery, memories: Memories, seq: Seqs = None, grep: Word = ""
) -> QaSessionTurnsReply:
    """Read turns of a session, in order, also of one in the archive."""
    try:
        seqs = ALL_TURNS if seq is None else parse_seqs(seq)
    except ValueError as exc:
        raise InvalidRequest(f"seq: {exc}") from exc
    return await memories.qa(admitted).session(session, seqs=seqs, word=grep)


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
        tookMs=round((time.monotonic() - began) * 1000, 2),
    )


async def mark(request: QaMarkRequest, caller: Asking, memories: Memories) -> QaTurnReply:
    """Keep the answer of a turn, or drop it; the question stays."""
    admitted = caller.admit(request.agent, request.session_key)
    name, seq = _marked(request)
    return await memories.qa(admitted).mark(
        name,
        seq,
        keep=request.keep,
        answer=request.answer,
        key=caller.key(request.session_key),
        is_owners=caller.binding.is_owners,
    )


async def topics(admitted: AdmittedByQuery, memories: Memories, limit: Limit = 50) -> QaTopicsReply:
    """List what was talked about, and where."""
    return await memories.qa(admitted).topics(limit)


async def stats(admitted: AdmittedByQuery, caller: Asking, memories: Memories) -> QaStatsReply:
    """Count sessions, turns and kept answers, and measure their files."""
    # an agent is not told the names of files that may be of another one's conversations
    return await memories.qa(admitted).census.now(names_all=caller.binding.is_owners)


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


CALLS: Final = (
    call("POST", "/qa/turns", Who.SESSION, add),
    call("GET", "/qa/sessions", Who.SESSION, sessions),
    call("GET", "/qa/sessions/{session}", Who.SESSION, session),
    call("POST", "/qa/context", Who.SESSION, context),
    call("POST", "/qa/mark", Who.SESSION, mark),
    call("GET", "/qa/topics", Who.SESSION, topics),
    call("GET", "/qa/stats", Who.SESSION, stats),
)
