"""`/v1/opinions`: what is thought, how firmly, and why."""

from typing import Annotated

from pydantic import Field

from memoryd.api.access import AdmittedByQuery, Asking, Memories
from memoryd.api.call import call
from memoryd.api.models import AgentId, Request, SessionKeyText
from memoryd.domain.access import Who
from memoryd.replies.knowledge import OpinionReplayReply, OpinionsReply, OpinionWhyReply
from memoryd.wire import LISTED_MAX


class OpinionReplayRequest(Request):
    """Whose opinions are to be computed anew."""

    session_key: SessionKeyText = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    agent: AgentId = None


OpinionName = Annotated[str, Field(max_length=64, description="id of the opinion, or its first signs")]
EntityName = Annotated[str | None, Field(max_length=200, description="only opinions about this entity, or its alias")]
OpinionLimit = Annotated[int, Field(ge=1, le=LISTED_MAX, description="how many at most")]


async def listing(
    admitted: AdmittedByQuery, memories: Memories, entity: EntityName = None, limit: OpinionLimit = 50
) -> OpinionsReply:
    """List the opinions that reach the caller, the firmest first."""
    return await memories.retained(admitted).opinions.all(admitted, entity, limit)


async def why(opinion: OpinionName, admitted: AdmittedByQuery, memories: Memories) -> OpinionWhyReply:
    """Say why an opinion is held: each step with its evidence, and what it made of the confidence."""
    return await memories.retained(admitted).opinions.one(admitted, opinion)


async def replay(request: OpinionReplayRequest, caller: Asking, memories: Memories) -> OpinionReplayReply:
    """Compute all confidences anew from lines and ledger, and compare them, bit for bit; nothing is changed."""
    admitted = caller.admit(request.agent, request.session_key)
    return await memories.retained(admitted).opinions.replay(admitted)


CALLS = (
    call("GET", "/opinions", Who.SESSION, listing),
    call("GET", "/opinions/{opinion}", Who.SESSION, why),
    call("POST", "/opinions/replay", Who.SESSION, replay),
)
