"""Calls on entities."""

from urllib.parse import quote

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.entities import EntitiesReply, EntityChangeReply, EntityShowReply


def entities(
    memory: DaemonConnection, *, limit: int | None = None, session_key: str | None = None, agent: str | None = None
) -> EntitiesReply:
    """List what memories are about, that with most memories first."""
    query = {"limit": limit, "sessionKey": session_key, "agent": agent}
    reply: EntitiesReply = memory.call("GET", target("/entities", query))
    return reply


def entity(
    memory: DaemonConnection,
    name: str,
    *,
    limit: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> EntityShowReply:
    """Tell what is known of an entity, by its name or an alias. Raises NotFound."""
    query = {"limit": limit, "sessionKey": session_key, "agent": agent}
    reply: EntityShowReply = memory.call("GET", target(f"/entities/{quote(name, safe='')}", query))
    return reply


def merge_entity(
    memory: DaemonConnection, name: str, into: str, *, dry_run: bool = False, agent: str | None = None
) -> EntityChangeReply:
    """Make a name an alias of an entity. Raises InvalidRequest, Denied but for the owner."""
    body = {"name": name, "into": into, "dryRun": dry_run, "agent": agent}
    reply: EntityChangeReply = memory.call("POST", "/entities/merge", body)
    return reply


def split_entity(
    memory: DaemonConnection, alias: str, *, dry_run: bool = False, agent: str | None = None
) -> EntityChangeReply:
    """Take an alias out of the page of its entity. Raises NotFound, InvalidRequest, Denied but for the owner."""
    body = {"alias": alias, "dryRun": dry_run, "agent": agent}
    reply: EntityChangeReply = memory.call("POST", "/entities/split", body)
    return reply
