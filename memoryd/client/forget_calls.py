"""Calls that forget a memory, and that ask whether a citation still stands."""

from memoryd.client.connection import DaemonConnection, target
from memoryd.client.session_calls import FORGET_MS
from memoryd.replies.forgetting import ForgetReply, VerifyReply


def forget(
    memory: DaemonConnection, what: str, *, dry_run: bool = False, undoable: bool = False, agent: str | None = None
) -> ForgetReply:
    """Take a memory out of everything, or say what would go: by its id, a citation, or words that it says.

    With `undoable` it can be undone for 24 hours. Raises NotFound, Denied but for the owner.
    """
    body = {"target": what, "dryRun": dry_run, "undoable": undoable, "agent": agent}
    reply: ForgetReply = memory.call("POST", "/forget", body, wait_ms=FORGET_MS)
    return reply


def verify(
    memory: DaemonConnection, citation: str, *, session_key: str | None = None, agent: str | None = None
) -> VerifyReply:
    """Ask whether cited lines still stand, moved, were edited or are gone."""
    query = {"citation": citation, "sessionKey": session_key, "agent": agent}
    reply: VerifyReply = memory.call("GET", target("/verify", query))
    return reply
