"""Calls on what was written into a workspace; for the owner alone."""

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.changes import ChangesReply, UndoReply


def changes(
    memory: DaemonConnection,
    *,
    since: str | None = None,
    by: str | None = None,
    path: str | None = None,
    run: str | None = None,
    limit: int | None = None,
    lines: bool = True,
    agent: str | None = None,
) -> ChangesReply:
    """List what was written into the workspace, the newest first; without `lines` no text of a note is told."""
    query = {"since": since, "by": by, "path": path, "run": run, "limit": limit, "agent": agent}
    query |= {} if lines else {"lines": "false"}
    reply: ChangesReply = memory.call("GET", target("/changes", query))
    return reply


def undo(
    memory: DaemonConnection,
    change: int | None = None,
    *,
    run: str | None = None,
    dry_run: bool = False,
    agent: str | None = None,
) -> UndoReply:
    """Take back a change by its number, or all of one run, where their lines still stand.

    Not sent twice: where the connection breaks before the reply, NotNow is raised, and `changes` tells what was done.
    """
    # on a connection of its own, since a kept one that was closed meanwhile would be tried again
    memory.close()
    body = {"id": change, "run": run, "dryRun": dry_run, "agent": agent}
    reply: UndoReply = memory.call("POST", "/undo", body)
    return reply
