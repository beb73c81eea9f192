"""`/v1/team`: memories that are shared with a team, taken back, and the exchange with the others."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from memoryd.api.access import AdmittedByBody, Memories
from memoryd.api.call import Served, call
from memoryd.api.models import AgentId, Request
from memoryd.domain.access import Who
from memoryd.replies.team import TeamPromoteReply, TeamReply, TeamRevokeReply

EXCHANGE = timedelta(minutes=4)
"""Of an exchange: a fetch and a push of a minute each, some of them again."""


class TeamMemoryRequest(Request):
    """One memory, to be shared or taken back."""

    target: Annotated[str, Field(min_length=1, max_length=4096, pattern=r"\S")]
    """Its id or the beginning of one, a citation such as `memory/2026-11-20.md#L12`, or words that it says."""
    agent: AgentId = None
    dry_run: bool = False
    """Say only what would be shared, as whose, and who would read it; or what would be taken back."""


class TeamSyncRequest(Request):
    """The team whose memory is to be brought up to date."""

    agent: AgentId = None


async def promote(request: TeamMemoryRequest, admitted: AdmittedByBody, memories: Memories) -> TeamPromoteReply:
    """Share a memory with the team, for the owner alone.

    It is written into the repository at once, and sent if that answers soon, else later. What has another scope than
    the workspace's or this agent's own, what looks like a secret and what is a colleague's is refused.
    """
    return await memories.team(admitted).promote(request.target, admitted, is_dry_run=request.dry_run)


async def revoke(request: TeamMemoryRequest, admitted: AdmittedByBody, memories: Memories) -> TeamRevokeReply:
    """Take a memory of one's own back from the team, for the owner alone, and say what cannot be reached."""
    return await memories.team(admitted).revoke(request.target, admitted, is_dry_run=request.dry_run)


async def exchange(request: TeamSyncRequest, admitted: AdmittedByBody, memories: Memories) -> TeamReply:
    """Bring in what others shared, and send what waits; the reply tells whether the other side was reached."""
    return await memories.team(admitted).sync()


CALLS = (
    call("POST", "/team/promote", Who.OWNER, promote, deadline=EXCHANGE, served=Served.SOCKET),
    call("POST", "/team/revoke", Who.OWNER, revoke, deadline=EXCHANGE, served=Served.SOCKET),
    call("POST", "/team/sync", Who.OWNER, exchange, deadline=EXCHANGE),
)
