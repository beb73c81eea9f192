"""Calls on the core file; for the owner alone.

An edit is not sent twice: where the connection breaks before the reply, NotNow is raised, and it may be made.
"""

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.core import CoreEditReply, CoreReply


def core(memory: DaemonConnection, *, session_key: str | None = None, agent: str | None = None) -> CoreReply:
    """Show the core file, and `SOUL.md` beside it."""
    reply: CoreReply = memory.call("GET", target("/core", {"sessionKey": session_key, "agent": agent}))
    return reply


def core_append(
    memory: DaemonConnection,
    text: str,
    *,
    expected: str | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> CoreEditReply:
    """Add lines at the end of the core file."""
    return _edit(memory, "append", {"text": text, "expected": expected, "sessionKey": session_key, "agent": agent})


def core_replace(
    memory: DaemonConnection,
    old: str,
    new: str,
    *,
    expected: str | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> CoreEditReply:
    """Put a text in the place of one that stands in the core file once."""
    return _edit(
        memory, "replace", {"old": old, "new": new, "expected": expected, "sessionKey": session_key, "agent": agent}
    )


def core_insert(
    memory: DaemonConnection,
    text: str,
    *,
    after: str,
    expected: str | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> CoreEditReply:
    """Add lines below a line of the core file."""
    return _edit(
        memory,
        "insert",
        {"text": text, "after": after, "expected": expected, "sessionKey": session_key, "agent": agent},
    )


def _edit(memory: DaemonConnection, verb: str, body: dict[str, str | None]) -> CoreEditReply:
    # on a connection of its own, since a kept one that was closed meanwhile would be tried again
    memory.close()
    reply: CoreEditReply = memory.call("POST", f"/core/{verb}", body)
    return reply
