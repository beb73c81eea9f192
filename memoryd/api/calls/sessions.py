"""`/v1/sessions…`: a session begins; conversations as a whole are listed, read, forgotten, or not remembered."""

from datetime import timedelta
from typing import Annotated, Final

from pydantic import Field

from memoryd.agents.conversations.showing import StoredConversations
from memoryd.agents.sync import DEFAULT_WAIT
from memoryd.api.access import AdmittedByQuery, Asking, Caller, Memories, Waited
from memoryd.api.call import FORGETTING, LONGEST_WAIT, AtReload, Served, call
from memoryd.api.calls.qa import Limit
from memoryd.api.models import AgentId, Encode, Request, Whole
from memoryd.domain.access import Who
from memoryd.domain.clock import rfc3339
from memoryd.domain.memories.bundle import Encoding, encoded
from memoryd.errors import Denied, InvalidRequest
from memoryd.replies.conversations import (
    SessionForgetReply,
    SessionLinesReply,
    SessionRememberReply,
    SessionsReply,
    SessionStartReply,
    SessionSyncReply,
)
from memoryd.wire import NEIGHBOURS_MAX

Named = Annotated[str, Field(min_length=1, max_length=1024)]


class SessionSyncRequest(Request):
    """Read transcripts, and sessions that others wrote, now."""

    agent: AgentId = None
    wait: bool = True
    """Whether to answer when all that was there before the call was read."""
    timeout_ms: Annotated[Whole, Field(ge=1, le=3_600_000)] | None = None
    """How long to wait at most, in milliseconds; null: 30 seconds."""


class SessionForgetRequest(Request):
    """A conversation to be taken out of everything."""

    session: Named
    """The conversation, as the list names it, or the bare name of its session or file."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    agent: AgentId = None
    dry_run: bool = False
    """Say only what would go."""


class SessionRememberRequest(Request):
    """A conversation, or a session key whose conversations are to come."""

    session: Named | None = None
    """The conversation, as the list names it; null: turns given under `sessionKey`, now and later."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks, and that is meant if `session` names none."""
    agents_marks: bool = False
    """True: all session keys that the agent itself marked are meant; only the owner takes them back."""
    remember: bool
    """False: nothing of it is stored, indexed, exported or logged from now on; true takes that back."""
    agent: AgentId = None


class SessionStartRequest(Request):
    """A session that begins; its key decides who may see what."""

    session_key: Annotated[str, Field(max_length=512)]
    """The session that begins, such as `agent:main:main`."""
    remember: bool | None = None
    """False: nothing that is said under this key is stored or indexed from now on; only the owner may say true; null:
    as it is."""
    encode: Encode = Encoding.TEXT
    """How the bundle is written: as delimited text, or in the message shape of an API, for its request."""
    agent: AgentId = None


CitationParameter = Annotated[
    str, Field(min_length=1, max_length=1024, description="what to read, such as `sessions/main/a.jsonl#L120-L130`")
]
Around = Annotated[
    int, Field(ge=0, le=NEIGHBOURS_MAX, description="so many lines before and after those of the citation, too")
]


async def start(request: SessionStartRequest, caller: Asking, memories: Memories) -> SessionStartReply:
    """Begin a session with what was said last; with `sync.onSessionStart` the index looks at the disk now."""
    admitted = caller.admit(request.agent, request.session_key)
    if request.remember is not None:
        _check_may(caller, remember=request.remember)
    is_scheduled = memories.start_session(admitted)
    context, sequence = await memories.qa(admitted).start(caller.key(request.session_key))
    if request.remember is not None:
        room = memories.conversations(admitted)
        key, is_owners = caller.key(request.session_key), caller.binding.is_owners
        await room.remember_key(key, is_remembered=request.remember, is_owners=is_owners)
    bundle = await memories.retained(admitted).recall.beginning(admitted)
    told = encoded(bundle, request.encode) if bundle.text else None
    return SessionStartReply(bundle=told, context=context, sequence=sequence, syncScheduled=is_scheduled)


async def listing(admitted: AdmittedByQuery, caller: Asking, memories: Memories, limit: Limit = 50) -> SessionsReply:
    """List conversations: sessions of questions and answers, and transcripts of other programs."""
    room = memories.conversations(admitted)
    found = await room.all()
    marks = await room.marked_by_agent() if caller.binding.is_owners else []
    return SessionsReply(
        sessions=found[:limit],
        total=len(found),
        withheldKeys=await room.withheld_keys(),
        agentsMarks=[*map(rfc3339, marks)],
    )


async def lines(
    citation: CitationParameter, admitted: AdmittedByQuery, memories: Memories, context: Around = 0
) -> SessionLinesReply:
    """Read lines of a conversation, without secrets; what it no longer says is not found."""
    return await memories.conversations(admitted).show(citation, around=context)


async def sync(request: SessionSyncRequest, caller: Asking, memories: Memories, waited: Waited) -> SessionSyncReply:
    """Read transcripts, and sessions that others wrote, now; with `wait`, answer when that is done."""
    limit = DEFAULT_WAIT if request.timeout_ms is None else timedelta(milliseconds=request.timeout_ms)
    limit = max(timedelta(), limit - waited)
    return await memories.sync_conversations(caller.agent_of(request.agent), wait=request.wait, limit=limit)


async def forget(request: SessionForgetRequest, caller: Asking, memories: Memories) -> SessionForgetReply:
    """Take a conversation out of everything, for the owner alone, and say what cannot be reached."""
    room = memories.conversations(caller.admit(request.agent, request.session_key))
    return await (room.would_forget(request.session) if request.dry_run else room.forget(request.session))


async def remember(request: SessionRememberRequest, caller: Asking, memories: Memories) -> SessionRememberReply:
    """Mark a conversation, or what is said under a session key, "do not remember"; only the owner takes that back."""
    room = memories.conversations(caller.admit(request.agent, request.session_key))
    key, is_owners = caller.key(request.session_key), caller.binding.is_owners
    _check_may(caller, remember=request.remember)
    if request.agents_marks:
        return await _release_marks(room, caller, request)
    if request.session is None and not key:
        raise InvalidRequest("nothing is named", hint="give session, or the sessionKey that is meant")
    if request.session is None:
        return await room.remember_key(key, is_remembered=request.remember, is_owners=is_owners)
    if is_owners or await room.is_opened_with(request.session, key):
        return await room.remember(request.session, is_remembered=request.remember)
    raise Denied("the conversation was opened with another session key", hint="ask on the owner's socket")


async def _release_marks(
    room: StoredConversations, caller: Caller, request: SessionRememberRequest
) -> SessionRememberReply:
    if not request.remember or request.session is not None:
        raise InvalidRequest("agentsMarks are all taken back", hint="give remember: true, and no session")
    _check_may(caller, remember=True)
    return await room.release_marks_of_agent()


def _check_may(caller: Caller, *, remember: bool) -> None:
    """Raise Denied for an agent that would take back what its owner may have marked."""
    if remember and not caller.binding.is_owners:
        raise Denied("only the owner has a conversation be remembered again", hint="ask on the owner's socket")


CALLS: Final = (
    call("POST", "/sessions/start", Who.SESSION, start),
    call("GET", "/sessions", Who.SESSION, listing),
    call("GET", "/sessions/lines", Who.SESSION, lines),
    call("POST", "/sessions/sync", Who.AGENT, sync, deadline=LONGEST_WAIT, at_reload=AtReload.AGAIN),
    call("POST", "/sessions/forget", Who.OWNER, forget, deadline=FORGETTING, served=Served.SOCKET),
    call("POST", "/sessions/remember", Who.SESSION, remember),
)
