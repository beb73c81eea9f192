"""`POST /v1/turns`: the one call that an agent makes for each message."""

import time
from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import Field

from memoryd.agents.turns.log import NewMessage
from memoryd.api.access import Asking, Memories
from memoryd.api.call import call
from memoryd.api.calls.qa import SessionKeyText
from memoryd.api.models import AgentId, Encode, Request, Whole
from memoryd.domain.access import Who
from memoryd.domain.memories.bundle import Encoding
from memoryd.domain.sessions.turns import MessageEvent, MessageEventType, MessageRole
from memoryd.replies.conversations import TurnReply
from memoryd.wire import ANSWER_CHARS_MAX, DEADLINE_MS_MAX

MAX_RECALLED = 12


class TurnEventRequest(Request):
    """Something that happened in a conversation."""

    type: Literal["failure", "end", "compact"]
    """`failure`: the agent got stuck; `end`: the conversation is over; `compact`: the agent shortens what it holds."""
    text: Annotated[str, Field(max_length=ANSWER_CHARS_MAX)] = ""
    """What happened, in words."""
    tool: Annotated[str, Field(max_length=200)] = ""
    """The tool that it happened with."""


class TurnRequest(Request):
    """A message of a conversation, and what is wanted for it; what is absent comes from the configuration."""

    session_key: SessionKeyText | None = None
    """The session that it belongs to, such as `agent:main:main`; null: none, and it is not kept."""
    role: Literal["user", "assistant", "tool", "system"]
    """Who said it."""
    text: Annotated[str, Field(max_length=ANSWER_CHARS_MAX)] = ""
    """What was said; may be empty where there is an `event`."""
    channel: Annotated[str, Field(max_length=100)] | None = None
    """`cron`, `heartbeat` or `system`, where the session key does not say so: nothing is recalled for these."""
    at: Annotated[str, Field(max_length=64)] | None = None
    """When it was said, ISO 8601, in the owner's time zone unless it names one; null: now."""
    event: TurnEventRequest | None = None
    """What happened; null: nothing but that it was said."""
    agent: AgentId = None
    budget: Annotated[Whole, Field(ge=0, le=100_000)] | None = None
    """Tokens of the bundle at most, estimated; null: as configured (`agents.defaults.memory.retrieval.maxTokens`)."""
    encode: Encode = Encoding.TEXT
    """How the bundle is written: as delimited text, or in the message shape of an API, for its request."""
    if_none_match: Annotated[str, Field(max_length=200)] | None = None
    """The `etag` of the stable block that the asker has: it is left out of the bundle while it is the same."""
    k: Annotated[Whole, Field(ge=1, le=MAX_RECALLED)] | None = None
    """How many memories and passages are recalled; null: as configured (`agents.defaults.memory.recall_final_k`)."""
    deadline_ms: Annotated[Whole, Field(ge=1, le=DEADLINE_MS_MAX)] | None = None
    """Milliseconds until what is recalled must be there; null: `query.deadlineMs`."""


async def take(request: TurnRequest, caller: Asking, memories: Memories) -> TurnReply:
    """Carry out the command that a message is, keep it, and answer with what is recalled and what was said before."""
    began = time.monotonic()
    admitted = caller.admit(request.agent, request.session_key)
    event = request.event
    message = NewMessage(
        admitted=admitted,
        role=MessageRole(request.role),
        text=request.text,
        key=caller.key(request.session_key),
        at=request.at,
        channel=request.channel or "",
        event=None if event is None else MessageEvent(MessageEventType(event.type), event.text, event.tool),
        k=request.k,
        budget=request.budget,
        if_none_match=request.if_none_match or "",
        encoding=request.encode,
        is_owners=caller.binding.is_owners,
        deadline=None if request.deadline_ms is None else timedelta(milliseconds=request.deadline_ms),
    )
    reply = await memories.turns(admitted).take(message)
    reply["tookMs"] = round((time.monotonic() - began) * 1000, 2)
    return reply


CALLS: Final = (call("POST", "/turns", Who.SESSION, take),)
