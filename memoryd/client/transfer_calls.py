"""Calls that hand memories out and take them in."""

from typing import Any

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.transfer import ExportReply, ImportReply


def export_memories(
    memory: DaemonConnection,
    *,
    after: str | None = None,
    limit: int | None = None,
    scope: str | None = None,
    agent: str | None = None,
) -> ExportReply:
    """Return a page of memories; `after` is the `next` of the page before."""
    asked = {"after": after, "limit": limit, "scope": scope, "agent": agent}
    reply: ExportReply = memory.call("GET", target("/memories/export", asked))
    return reply


def import_memories(
    memory: DaemonConnection,
    memories: list[dict[str, Any]],
    *,
    run: str,
    dry_run: bool = False,
    with_secrets: bool = False,
    agent: str | None = None,
) -> ImportReply:
    """State memories as an export has them, 100 at most; `run` is what all of them are undone by."""
    body = {"memories": memories, "run": run, "dryRun": dry_run, "withSecrets": with_secrets, "agent": agent}
    reply: ImportReply = memory.call("POST", "/memories/import", body)
    return reply
