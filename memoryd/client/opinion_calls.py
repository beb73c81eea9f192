"""Calls on opinions."""

from urllib.parse import quote

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.opinions import OpinionReplayReply, OpinionsReply, OpinionWhyReply


def opinions(
    memory: DaemonConnection,
    *,
    entity: str | None = None,
    limit: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> OpinionsReply:
    """List opinions with their confidence, the firmest first; about an entity, if one is named."""
    query = {"entity": entity, "limit": limit, "sessionKey": session_key, "agent": agent}
    reply: OpinionsReply = memory.call("GET", target("/opinions", query))
    return reply


def why_opinion(
    memory: DaemonConnection, opinion: str, *, session_key: str | None = None, agent: str | None = None
) -> OpinionWhyReply:
    """Say why an opinion is held; `opinion` is its id, or the first signs of it. Raises NotFound."""
    query = {"sessionKey": session_key, "agent": agent}
    reply: OpinionWhyReply = memory.call("GET", target(f"/opinions/{quote(opinion, safe='')}", query))
    return reply


def replay_opinions(
    memory: DaemonConnection, *, session_key: str | None = None, agent: str | None = None
) -> OpinionReplayReply:
    """Compute all confidences anew from lines and ledger, and compare them, bit for bit."""
    body = {"sessionKey": session_key, "agent": agent}
    reply: OpinionReplayReply = memory.call("POST", "/opinions/replay", body)
    return reply
