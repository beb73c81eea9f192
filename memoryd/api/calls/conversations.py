"""`/v1/qa/…` and `/v1/sessions…`: the turns of sessions, sequences of turns for a message, and complete conversations.

A session can be started; conversations can be listed, read, forgotten, or excluded from being remembered.
"""

import time
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from memoryd.agents.conversations.qa import SequenceOptions, turn_reply
from memoryd.agents.conversations.showing import StoredConversations
from memoryd.api.access import AdmittedByBody, AdmittedByQuery, Caller, Memories, RequestCaller, Waited, wait_left
from memoryd.api.call import FORGETTING, LONGEST_WAIT, AtReload, Transport, call
from memoryd.api.models import (
    AnswerText,
    Encode,
    JsonInteger,
    NamedText,
    QuestionText,
    Request,
    SessionKeyText,
    SessionRequest,
    Share,
    WaitMs,
)
from memoryd.domain.access import Who
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import ALL_TURNS, parse_address, parse_seqs
from memoryd.domain.memories.bundle import Encoding, encode_bundle
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


class QaAddRequest(SessionRequest):
    """A turn to store; the session is given by its name, or by its session key."""

    session_id: SessionName | None = None
    """The session, by any name; null: the open one of `sessionKey`, or a new one."""
    q: QuestionText
    """The question, always stored; secrets in it are masked."""
    a: AnswerText | None = None
    """The answer, stored if it is significant; null: there is none."""
    timestamp: Annotated[str, Field(max_length=64)] | None = None
    """The time of the turn, ISO 8601, in the owner's time zone unless it has one; null: now."""
    significance: Share | None = None
    """The significance of the answer, 0 to 1; null: by the rules."""
    topic_tags: (
        Annotated[list[Annotated[str, Field(max_length=TOPIC_CHARS_MAX)]], Field(max_length=TOPICS_MAX)] | None
    ) = None
    """The topics of the turn, as tags such as `discord_config`; null: by the rules."""


class QaContextRequest(SessionRequest):
    """The message for which a sequence of turns is chosen."""

    message: Annotated[str, Field(max_length=QUESTION_CHARS_MAX)] | None = None
    """The current message; null: the last turns of the session."""
    session_id: SessionName | None = None
    """The current session by its name; null: the newest one of `sessionKey`."""
    n: Annotated[JsonInteger, Field(ge=1, le=SEQUENCE_MAX)] | None = None
    """The maximum number of turns; null: `memory.qa.contextTurns`."""
    budget: Annotated[JsonInteger, Field(ge=1, le=SEQUENCE_TOKENS_MAX)] = BUDGET
    """The maximum number of tokens, estimated: answers are dropped first, then the oldest turns."""


class QaMarkRequest(SessionRequest):
    """Whether to store the answer of a turn; the turn is given by its address, or by session and number."""

    keep: bool
    """True: store the answer; false: drop it."""
    citation: Annotated[str, Field(max_length=600)] | None = None
    """The address of the turn, such as `session:main-20261018#Q17`; null: `session` and `seq` name it."""
    session: SessionName | None = None
    """The session of the turn; null: `citation` names it."""
    seq: Annotated[JsonInteger, Field(ge=1, le=POSITION_MAX)] | None = None
    """The number of the turn; null: `citation` names it."""
    answer: Annotated[AnswerText, Field(min_length=1)] | None = None
    """The answer to store; null: the existing one."""


Name = Annotated[str, Field(description="the session, as the list names it, percent-encoded")]
Seqs = Annotated[str | None, Field(alias="seq", max_length=32, description="which turns: `17`, `10-20`, `10-`, `-20`")]
Word = Annotated[str, Field(max_length=512, description="only turns that contain this text")]
AfterPlace = Annotated[
    str, Field(max_length=2048, description="only conversations after this place, `next` of the previous reply")
]
Limit = Annotated[int, Field(ge=1, le=SESSIONS_MAX, description="maximum number")]


async def add(request: QaAddRequest, admitted: AdmittedByBody, caller: RequestCaller, memories: Memories) -> QaAddReply:
    """Store a turn: always the question, and the answer if it is significant, both without secrets."""
    return await memories.qa(admitted).add(
        request.q,
        request.a,
        session=request.session_id,
        key=caller.key(request.session_key),
        is_owners=caller.binding.is_owner,
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
    """Read turns of a session, in order; the session may be in the archive."""
    try:
        seqs = ALL_TURNS if seq is None else parse_seqs(seq)
    except ValueError as exc:
        raise InvalidRequest(f"seq: {exc}") from exc
    return await memories.qa(admitted).session(session, seqs=seqs, word=grep)


async def context(
    request: QaContextRequest, admitted: AdmittedByBody, caller: RequestCaller, memories: Memories
) -> QaContextReply:
    """Choose the turns to show to an agent for a message: of the current session, or those up to the best match."""
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


async def mark(
    request: QaMarkRequest, admitted: AdmittedByBody, caller: RequestCaller, memories: Memories
) -> QaTurnReply:
    """Store the answer of a turn, or drop it; the question stays."""
    name, seq = _turn_of(request)
    return await memories.qa(admitted).mark(
        name,
        seq,
        keep=request.keep,
        answer=request.answer,
        key=caller.key(request.session_key),
        is_owners=caller.binding.is_owner,
    )


async def topics(admitted: AdmittedByQuery, memories: Memories, limit: Limit = 50) -> QaTopicsReply:
    """List the topics of conversations, with their turns."""
    return await memories.qa(admitted).topics(limit)


async def stats(admitted: AdmittedByQuery, caller: RequestCaller, memories: Memories) -> QaStatsReply:
    """Count sessions, turns and stored answers, and measure their files."""
    # the names of files, which may belong to conversations of another agent, are for the owner only
    return await memories.qa(admitted).counter.now(names_all=caller.binding.is_owner)


def _turn_of(request: QaMarkRequest) -> tuple[str, int]:
    """Return the session and the number of the turn. Raises InvalidRequest unless they name exactly one."""
    try:
        address = parse_address(request.citation or "")
    except ValueError as exc:
        raise InvalidRequest(f"citation: {exc}") from exc
    name, seq = (address.session, address.seq) if request.citation else (request.session, request.seq)
    if not name or seq is None:
        raise InvalidRequest("the turn is missing", hint="give citation (session:<id>#Q17), or session and seq")
    if request.answer is not None and not request.keep:
        raise InvalidRequest("an answer is given, but keep is false", hint="give keep: true, or no answer")
    return name, seq


class SessionSyncRequest(Request):
    """Read transcripts, and sessions written by other programs, now."""

    wait: bool = True
    """Whether to answer only when everything that existed before the call was read."""
    timeout_ms: WaitMs = None
    """The maximum wait in milliseconds; null: 30 seconds."""


class SessionForgetRequest(SessionRequest):
    """A conversation to be removed everywhere."""

    session: NamedText
    """The conversation, as the list names it, or the bare name of its session or file."""
    dry_run: bool = False
    """Only report what would be removed."""


class SessionRememberRequest(Request):
    """A conversation, or a session key with its present and future conversations."""

    session: NamedText | None = None
    """The conversation, as the list names it; null: present and future turns under `sessionKey`."""
    session_key: SessionKeyText = None
    """The session of the caller, which is also the target if `session` is null."""
    agents_marks: bool = False
    """True: the target are all session keys that the agent itself marked; only the owner can take these marks back."""
    remember: bool
    """False: nothing of the target is stored, indexed, exported or logged from now on; true takes that back."""


class SessionStartRequest(Request):
    """A session that begins; its key decides what it may see."""

    session_key: Annotated[str, Field(max_length=512)]
    """The session that begins, such as `agent:main:main`."""
    remember: bool | None = None
    """False: nothing under this key is stored or indexed from now on; only the owner may set true; null: unchanged."""
    encode: Encode = Encoding.TEXT
    """The encoding of the bundle: delimited text, or the message shape of an API, for its request."""
    unread: bool = False
    """The reply is not read: the stable block is returned with the next message whose `ifNoneMatch` is `*`."""


CitationParameter = Annotated[
    str, Field(min_length=1, max_length=1024, description="what to read, such as `sessions/main/a.jsonl#L120-L130`")
]
Around = Annotated[
    int, Field(ge=0, le=NEIGHBOURS_MAX, description="number of additional lines before and after the cited ones")
]


async def start(
    request: SessionStartRequest, admitted: AdmittedByBody, caller: RequestCaller, memories: Memories
) -> SessionStartReply:
    """Begin a session with the last turns; with `sync.onSessionStart` the index scans the disk now."""
    if request.remember is not None:
        _check_may(caller, remember=request.remember)
    key = caller.key(request.session_key)
    is_scheduled = memories.start_session(admitted)
    # before any other await: a later call may say that this reply is not read
    bundle = await memories.turns(admitted).begin(key, admitted, is_unread=request.unread)
    context, sequence = await memories.qa(admitted).start(key)
    if request.remember is not None:
        is_owners = caller.binding.is_owner
        await memories.conversations(admitted).remember_key(key, is_remembered=request.remember, is_owners=is_owners)
    return SessionStartReply(
        bundle=encode_bundle(bundle, request.encode) if bundle.text else None,
        context=context,
        sequence=sequence,
        syncScheduled=is_scheduled,
    )


async def listing(
    admitted: AdmittedByQuery, caller: RequestCaller, memories: Memories, limit: Limit = 50, after: AfterPlace = ""
) -> SessionsReply:
    """List conversations: sessions of questions and answers, and transcripts of other programs."""
    conversations = memories.conversations(admitted)
    entries = await conversations.all()
    try:
        last = _sort_key(after) if after else None
    except ValueError as exc:
        raise InvalidRequest("after is no place in the list", hint="give `next` of the reply before") from exc
    rest = [entry for entry in entries if last is None or _sort_key(_place(entry)) < last]
    marks = await conversations.marked_by_agent() if caller.binding.is_owner else []
    return SessionsReply(
        sessions=rest[:limit],
        total=len(entries),
        next=_place(rest[limit - 1]) if len(rest) > limit else None,
        withheldKeys=await conversations.withheld_keys(),
        agentsMarks=[*map(rfc3339, marks)],
    )


def _place(entry: SessionEntryReply) -> str:
    """Return the position of an entry in the list, which is sorted descending by the time of the last message."""
    return f"{entry['lastActivity'] or ''} {entry['id']}"


def _sort_key(place: str) -> tuple[datetime, str]:
    """Return the sort key of a position. Raises ValueError if its time is invalid."""
    at, _, name = place.partition(" ")
    moment = datetime.fromisoformat(at or "0001-01-01")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC), name


async def lines(
    citation: CitationParameter, admitted: AdmittedByQuery, memories: Memories, context: Around = 0
) -> SessionLinesReply:
    """Read lines of a conversation, without secrets; a citation whose text has changed is not found."""
    return await memories.conversations(admitted).show(citation, around=context)


async def sync(
    request: SessionSyncRequest, caller: RequestCaller, memories: Memories, waited: Waited
) -> SessionSyncReply:
    """Read transcripts, and sessions written by other programs, now; with `wait`, answer when that is done."""
    agent, limit = caller.agent_of(request.agent), wait_left(request.timeout_ms, waited)
    return await memories.sync_conversations(agent, wait=request.wait, limit=limit)


async def forget(request: SessionForgetRequest, admitted: AdmittedByBody, memories: Memories) -> SessionForgetReply:
    """Remove a conversation everywhere, for the owner only, and report what cannot be reached."""
    conversations = memories.conversations(admitted)
    return await (conversations.would_forget if request.dry_run else conversations.forget)(request.session)


async def remember(
    request: SessionRememberRequest, admitted: AdmittedByBody, caller: RequestCaller, memories: Memories
) -> SessionRememberReply:
    """Exclude a conversation, or a session key, from being remembered; only the owner can take that back."""
    conversations = memories.conversations(admitted)
    key, is_owners = caller.key(request.session_key), caller.binding.is_owner
    _check_may(caller, remember=request.remember)
    if request.agents_marks:
        return await _release_marks(conversations, caller, request)
    if request.session is None and not key:
        raise InvalidRequest("the conversation is missing", hint="give session or sessionKey")
    if request.session is None:
        return await conversations.remember_key(key, is_remembered=request.remember, is_owners=is_owners)
    if is_owners or await conversations.is_opened_with(request.session, key):
        return await conversations.remember(request.session, is_remembered=request.remember)
    raise Denied("the conversation was opened with another session key", hint="ask on the owner's socket")


async def _release_marks(
    conversations: StoredConversations, caller: Caller, request: SessionRememberRequest
) -> SessionRememberReply:
    if not request.remember or request.session is not None:
        raise InvalidRequest("agentsMarks takes back all marks", hint="give remember: true, and no session")
    _check_may(caller, remember=True)
    return await conversations.release_marks_of_agent()


def _check_may(caller: Caller, *, remember: bool) -> None:
    """Raise Denied if an agent would take back a mark that its owner may have made."""
    if remember and not caller.binding.is_owner:
        raise Denied("only the owner can have a conversation remembered again", hint="ask on the owner's socket")


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
    call("POST", "/sessions/forget", Who.OWNER, forget, deadline=FORGETTING, served=Transport.SOCKET),
    call("POST", "/sessions/remember", Who.SESSION, remember),
)
