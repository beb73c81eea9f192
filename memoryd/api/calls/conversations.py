"""`/v1/qa/…` and `/v1/sessions…`: turns of conversations and sequences of them, and conversations as a whole.

A session begins; its conversation is listed, read, forgotten, or not remembered.
"""

import time
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from memoryd.agents.conversations.qa import SequenceOptions, turn_reply
from memoryd.agents.conversations.showing import StoredConversations
from memoryd.api.access import AdmittedByBody, AdmittedByQuery, Asking, Caller, Memories, Waited, wait_left
from memoryd.api.call import FORGETTING, LONGEST_WAIT, AtReload, Served, call
from memoryd.api.models import (
    AnswerText,
    Encode,
    NamedText,
    QuestionText,
    Request,
    SessionKeyText,
    Share,
    WaitMs,
    Whole,
)
from memoryd.domain.access import Who
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import ALL_TURNS, parse_address, parse_seqs
from memoryd.domain.memories.bundle import Encoding, encoded
from memoryd.domain.sessions.sequences import BUDGET
from memoryd.errors import Denied, InvalidRequest
from memoryd.replies.conversations import (
    QaAddReply,
    QaContextReply,
    QaSessionsReply,
    QaSessionTurnsReply,
    QaStatsReply,
    QaTopicsReply,
    QaTurnReply,
    SessionEntryReply,
    SessionForgetReply,
    SessionLinesReply,
    SessionRememberReply,
    SessionsReply,
    SessionStartReply,
    SessionSyncReply,
)
from memoryd.wire import (
    NEIGHBOURS_MAX,
    POSITION_MAX,
    QUESTION_CHARS_MAX,
    SEQUENCE_MAX,
    SEQUENCE_TOKENS_MAX,
    SESSIONS_MAX,
    TOPIC_CHARS_MAX,
    TOPICS_MAX,
)

SessionName = Annotated[str, Field(min_length=1, max_length=512)]


class QaAddRequest(Request):
    """A turn that was said; the session is given by its name, or by its session key."""

    session_id: SessionName | None = None
    """The session, by any name; null: the one of `sessionKey` that goes on, or a new one."""
    session_key: SessionKeyText = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    q: QuestionText
    """The question, always kept; secrets in it are masked."""
    a: AnswerText | None = None
    """The answer, kept if it is significant; null: there is none."""
    timestamp: Annotated[str, Field(max_length=64)] | None = None
    """When it was said, ISO 8601, in the owner's time zone unless it names one; null: now."""
    significance: Share | None = None
    """How significant the answer is, 0 to 1; null: by the rules."""
    topic_tags: (
        Annotated[list[Annotated[str, Field(max_length=TOPIC_CHARS_MAX)]], Field(max_length=TOPICS_MAX)] | None
    ) = None
    """What the turn is about, as tags such as `discord_config`; null: by the rules."""


class QaContextRequest(Request):
    """What a sequence of turns is wanted for."""

    message: Annotated[str, Field(max_length=QUESTION_CHARS_MAX)] | None = None
    """What was said now; null: the last turns of the session."""
    session_id: SessionName | None = None
    """The current session by its name; null: the newest one of `sessionKey`."""
    n: Annotated[Whole, Field(ge=1, le=SEQUENCE_MAX)] | None = None
    """How many turns at most; null: `memory.qa.contextTurns`."""
    session_key: SessionKeyText = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    budget: Annotated[Whole, Field(ge=1, le=SEQUENCE_TOKENS_MAX)] = BUDGET
    """How many tokens (estimated) it may cost: answers give way first, then the oldest turns."""


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
    session_key: SessionKeyText = None
    """The session that asks, such as `agent:main:main`; null: no session."""


Name = Annotated[str, Field(description="the session, as the list names it, percent-encoded")]
Seqs = Annotated[str | None, Field(alias="seq", max_length=32, description="which turns: `17`, `10-20`, `10-`, `-20`")]
Word = Annotated[str, Field(max_length=512, description="only turns in which this stands")]
_NEVER = datetime.min.replace(tzinfo=UTC)
Behind = Annotated[str, Field(max_length=2048, description="only those behind this place, `next` of the reply before")]
Limit = Annotated[int, Field(ge=1, le=SESSIONS_MAX, description="how many at most")]


async def add(request: QaAddRequest, admitted: AdmittedByBody, caller: Asking, memories: Memories) -> QaAddReply:
    """Store a turn: the question always, the answer if it is significant, both without secrets."""
    return await memories.qa(admitted).add(
        request.q,
        request.a,
        session=request.session_id,
        key=caller.key(request.session_key),
        is_owners=caller.binding.is_owners,
        timestamp=request.timestamp,
        significance=request.significance,
        topics=request.topic_tags,
    )


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


async def context(
    request: QaContextRequest, admitted: AdmittedByBody, caller: Asking, memories: Memories
) -> QaContextReply:
    """Choose the turns to put before an agent for a message: of the current session, or up to the best match."""
    began = time.monotonic()
    options = SequenceOptions(
        message=request.message,
        session=request.session_id,
        key=caller.key(request.session_key),
        turns=request.n,
        budget=request.budget,
    )
    context = await memories.qa(admitted).context(options)
    session = context.choice.session
    return QaContextReply(
        session=session,
        sequence=[turn_reply(session, turn) for turn in context.turns] if session else [],
        why=context.choice.sentence,
        tookMs=round((time.monotonic() - began) * 1000, 2),
    )


async def mark(request: QaMarkRequest, admitted: AdmittedByBody, caller: Asking, memories: Memories) -> QaTurnReply:
    """Keep the answer of a turn, or drop it; the question stays."""
    name, seq = _turn_of(request)
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
    # the names of files, which may be of conversations of another agent, are for the owner
    return await memories.qa(admitted).counter.now(names_all=caller.binding.is_owners)


def _turn_of(request: QaMarkRequest) -> tuple[str, int]:
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


class SessionSyncRequest(Request):
    """Read transcripts, and sessions that others wrote, now."""

    wait: bool = True
    """Whether to answer when all that was there before the call was read."""
    timeout_ms: WaitMs = None
    """How long to wait at most, in milliseconds; null: 30 seconds."""


class SessionForgetRequest(Request):
    """A conversation to be taken out of everything."""

    session: NamedText
    """The conversation, as the list names it, or the bare name of its session or file."""
    session_key: SessionKeyText = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    dry_run: bool = False
    """Say only what would go."""


class SessionRememberRequest(Request):
    """A conversation, or a session key whose conversations are to come."""

    session: NamedText | None = None
    """The conversation, as the list names it; null: turns given under `sessionKey`, now and later."""
    session_key: SessionKeyText = None
    """The session that asks, and that is meant if `session` names none."""
    agents_marks: bool = False
    """True: all session keys that the agent itself marked are meant; only the owner takes them back."""
    remember: bool
    """False: nothing of it is stored, indexed, exported or logged from now on; true takes that back."""


class SessionStartRequest(Request):
    """A session that begins; its key decides who may see what."""

    session_key: Annotated[str, Field(max_length=512)]
    """The session that begins, such as `agent:main:main`."""
    remember: bool | None = None
    """False: nothing that is said under this key is stored or indexed from now on; only the owner may say true; null:
    as it is."""
    encode: Encode = Encoding.TEXT
    """How the bundle is written: as delimited text, or in the message shape of an API, for its request."""
    unread: bool = False
    """Nobody reads the reply: the stable block is told with the next message, where `ifNoneMatch` is `*`."""


CitationParameter = Annotated[
    str, Field(min_length=1, max_length=1024, description="what to read, such as `sessions/main/a.jsonl#L120-L130`")
]
Around = Annotated[
    int, Field(ge=0, le=NEIGHBOURS_MAX, description="so many lines before and after those of the citation, too")
]


async def start(
    request: SessionStartRequest, admitted: AdmittedByBody, caller: Asking, memories: Memories
) -> SessionStartReply:
    """Begin a session with what was said last; with `sync.onSessionStart` the index looks at the disk now."""
    if request.remember is not None:
        _check_may(caller, remember=request.remember)
    key = caller.key(request.session_key)
    is_scheduled = memories.start_session(admitted)
    # before anything else is waited for: a later call may say that this one is not read
    bundle = await memories.turns(admitted).begin(key, admitted, is_unread=request.unread)
    context, sequence = await memories.qa(admitted).start(key)
    if request.remember is not None:
        is_owners = caller.binding.is_owners
        await memories.conversations(admitted).remember_key(key, is_remembered=request.remember, is_owners=is_owners)
    return SessionStartReply(
        bundle=encoded(bundle, request.encode) if bundle.text else None,
        context=context,
        sequence=sequence,
        syncScheduled=is_scheduled,
    )


async def listing(
    admitted: AdmittedByQuery, caller: Asking, memories: Memories, limit: Limit = 50, after: Behind = ""
) -> SessionsReply:
    """List conversations: sessions of questions and answers, and transcripts of other programs."""
    conversations = memories.conversations(admitted)
    entries = await conversations.all()
    place = _read_place(after) if after else None
    rest = [one for one in entries if place is None or _place(one) < place]
    marks = await conversations.marked_by_agent() if caller.binding.is_owners else []
    return SessionsReply(
        sessions=rest[:limit],
        total=len(entries),
        next=f"{rest[limit - 1]['lastActivity'] or ''} {rest[limit - 1]['id']}" if len(rest) > limit else None,
        withheldKeys=await conversations.withheld_keys(),
        agentsMarks=[*map(rfc3339, marks)],
    )


def _place(entry: SessionEntryReply) -> tuple[datetime, str]:
    """Return where an entry stands in the list, which goes down from the last word said."""
    return _last_word(entry["lastActivity"] or ""), entry["id"]


def _read_place(named: str) -> tuple[datetime, str]:
    at, _, name = named.partition(" ")
    try:
        return _last_word(at), name
    except ValueError as exc:
        raise InvalidRequest("after is no place in the list", hint="give `next` of the reply before") from exc


def _last_word(at: str) -> datetime:
    found = datetime.fromisoformat(at) if at else _NEVER
    return found if found.tzinfo else found.replace(tzinfo=UTC)


async def lines(
    citation: CitationParameter, admitted: AdmittedByQuery, memories: Memories, context: Around = 0
) -> SessionLinesReply:
    """Read lines of a conversation, without secrets; what it no longer says is not found."""
    return await memories.conversations(admitted).show(citation, around=context)


async def sync(request: SessionSyncRequest, caller: Asking, memories: Memories, waited: Waited) -> SessionSyncReply:
    """Read transcripts, and sessions that others wrote, now; with `wait`, answer when that is done."""
    agent, limit = caller.agent_of(request.agent), wait_left(request.timeout_ms, waited)
    return await memories.sync_conversations(agent, wait=request.wait, limit=limit)


async def forget(request: SessionForgetRequest, admitted: AdmittedByBody, memories: Memories) -> SessionForgetReply:
    """Take a conversation out of everything, for the owner alone, and say what cannot be reached."""
    conversations = memories.conversations(admitted)
    return await (conversations.would_forget if request.dry_run else conversations.forget)(request.session)


async def remember(
    request: SessionRememberRequest, admitted: AdmittedByBody, caller: Asking, memories: Memories
) -> SessionRememberReply:
    """Mark a conversation, or what is said under a session key, "do not remember"; only the owner takes that back."""
    conversations = memories.conversations(admitted)
    key, is_owners = caller.key(request.session_key), caller.binding.is_owners
    _check_may(caller, remember=request.remember)
    if request.agents_marks:
        return await _release_marks(conversations, caller, request)
    if request.session is None and not key:
        raise InvalidRequest("nothing is named", hint="give session, or the sessionKey that is meant")
    if request.session is None:
        return await conversations.remember_key(key, is_remembered=request.remember, is_owners=is_owners)
    if is_owners or await conversations.is_opened_with(request.session, key):
        return await conversations.remember(request.session, is_remembered=request.remember)
    raise Denied("the conversation was opened with another session key", hint="ask on the owner's socket")


async def _release_marks(
    conversations: StoredConversations, caller: Caller, request: SessionRememberRequest
) -> SessionRememberReply:
    if not request.remember or request.session is not None:
        raise InvalidRequest("agentsMarks are all taken back", hint="give remember: true, and no session")
    _check_may(caller, remember=True)
    return await conversations.release_marks_of_agent()


def _check_may(caller: Caller, *, remember: bool) -> None:
    """Raise Denied for an agent that would take back what its owner may have marked."""
    if remember and not caller.binding.is_owners:
        raise Denied("only the owner has a conversation be remembered again", hint="ask on the owner's socket")


CALLS = (
    call("POST", "/qa/turns", Who.SESSION, add),
    call("GET", "/qa/sessions", Who.SESSION, sessions),
    call("GET", "/qa/sessions/{session}", Who.SESSION, session),
    call("POST", "/qa/context", Who.SESSION, context),
    call("POST", "/qa/mark", Who.SESSION, mark),
    call("GET", "/qa/topics", Who.SESSION, topics),
    call("GET", "/qa/stats", Who.SESSION, stats),
    call("POST", "/sessions/start", Who.SESSION, start),
    call("GET", "/sessions", Who.SESSION, listing),
    call("GET", "/sessions/lines", Who.SESSION, lines),
    call("POST", "/sessions/sync", Who.AGENT, sync, deadline=LONGEST_WAIT, at_reload=AtReload.AGAIN),
    call("POST", "/sessions/forget", Who.OWNER, forget, deadline=FORGETTING, served=Served.SOCKET),
    call("POST", "/sessions/remember", Who.SESSION, remember),
)
