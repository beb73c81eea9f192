"""Shapes of the calls on reflect and its proposals."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from memoryd.api.models import AgentId, Reply, Request
from memoryd.domain.memories.reflect.proposals import ProposalKind, ProposalState


class ReflectRequest(Request):
    """A run of reflect over the workspace of an agent."""

    since: Annotated[str, Field(max_length=64)] | None = None
    """How far back it looks for what to propose: `7d`, a date, or an ISO 8601 time; null: `memory.reflect.since`."""
    dry_run: bool = False
    """`true`: say what it would do, and write nothing."""
    allow_loss: bool = False
    """`true`: pages may lose what they told, since it is gone on purpose."""
    agent: AgentId = None


class PageRefusalReply(Reply):
    """A page that was left as it is."""

    path: str
    """Its path in the workspace."""
    why: str
    """What is in the way, and what to do."""


class ProposalSummaryReply(Reply):
    """A proposal, without its diff."""

    id: str
    """Its id; the first four signs or more name it, too."""
    kind: ProposalKind
    """What it is for."""
    path: str
    """The one file that it changes."""
    why: str
    """Why, in one sentence."""


class NearCopiesReply(Reply):
    """Two memories that say nearly the same; nothing is folded."""

    newer: str
    """The id of the one that was recorded last."""
    older: str
    """The id of the other."""


class ReflectReply(Reply):
    """What a run did, or would do."""

    run: str
    """The id of the run, which its changes have."""
    since: str
    """The first day that it looked at, as `2026-01-31`."""
    dry_run: bool
    """Whether nothing was written."""
    memories: int
    """How many memories the workspace has."""
    steps: int
    """How many pieces of evidence were counted for or against opinions."""
    pages: list[str]
    """The pages that were written, or would be."""
    unchanged: int
    """How many pages said it all already."""
    refusals: list[PageRefusalReply]
    """The pages that were left as they are, and why."""
    proposals: list[ProposalSummaryReply]
    """What was put into the queue, or would be."""
    copies: list[NearCopiesReply]
    """Memories that say nearly the same, 50 pairs at most."""
    across_scopes: list[NearCopiesReply]
    """Memories that say the same in several scopes, 50 pairs at most."""
    core_left_out: int
    """How many durable facts were not proposed, since the core file has no room for them."""
    took_ms: float
    """How long it took, in milliseconds."""


class ProposalReply(ProposalSummaryReply):
    """A proposal with its diff."""

    diff: str
    """What it changes, as a unified diff."""
    memories: list[str]
    """The ids of the memories that it rests on."""
    state: ProposalState
    """`open`, or what became of it."""
    made_at: datetime
    """When it was made, ISO 8601."""
    decided_at: datetime | None
    """When it was decided, ISO 8601; null while it is open."""


class ProposalsReply(Reply):
    """Proposals, the oldest first."""

    proposals: list[ProposalReply]
    """Those in the state that was asked for."""
    total: int
    """How many there are in that state."""


class ProposalDecision(Request):
    """A decision about a proposal."""

    agent: AgentId = None


class DecidedProposalReply(ProposalReply):
    """A proposal after it was decided."""

    change: int
    """The number by which `memoryctl undo` takes it back; 0: there is none."""
    note: str
    """Why it cannot be undone; empty if it can, or nothing was written."""
