"""Calls about reflect and its proposals."""

from urllib.parse import quote

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.reflect import DecidedProposalReply, ProposalReply, ProposalsReply, ReflectReply

REFLECT_MS = 600_000
"""How long a run over a large workspace may take, a model that writes summaries included."""


def reflect(
    memory: DaemonConnection,
    since: str | None = None,
    *,
    dry_run: bool = False,
    allow_loss: bool = False,
    agent: str | None = None,
) -> ReflectReply:
    """Bring pages and opinions up to date and propose changes, or say what that would do.

    `since` is `7d` or a date. Raises Denied but for the owner, and NotNow while the index or another run is in the way.
    """
    body = {"since": since, "dryRun": dry_run, "allowLoss": allow_loss, "agent": agent}
    reply: ReflectReply = memory.call("POST", "/reflect", body, wait_ms=REFLECT_MS)
    return reply


def proposals(
    memory: DaemonConnection,
    state: str | None = "open",
    *,
    limit: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> ProposalsReply:
    """List proposals in a state, all for None, the oldest first."""
    limited = None if limit is None else str(limit)
    query = {"state": state, "limit": limited, "sessionKey": session_key, "agent": agent}
    reply: ProposalsReply = memory.call("GET", target("/proposals", query))
    return reply


def proposal(memory: DaemonConnection, name: str, *, agent: str | None = None) -> ProposalReply:
    """Return one proposal with its diff; raises NotFound."""
    reply: ProposalReply = memory.call("GET", target(f"/proposals/{quote(name, safe='')}", {"agent": agent}))
    return reply


def accept_proposal(memory: DaemonConnection, name: str, *, agent: str | None = None) -> DecidedProposalReply:
    """Have a proposal written; raises NotFound, InvalidRequest for one that is decided or outdated, Denied."""
    reply: DecidedProposalReply = memory.call("POST", f"/proposals/{quote(name, safe='')}/accept", {"agent": agent})
    return reply


def reject_proposal(memory: DaemonConnection, name: str, *, agent: str | None = None) -> DecidedProposalReply:
    """Take a proposal out of the queue; raises as `accept_proposal` does."""
    reply: DecidedProposalReply = memory.call("POST", f"/proposals/{quote(name, safe='')}/reject", {"agent": agent})
    return reply
