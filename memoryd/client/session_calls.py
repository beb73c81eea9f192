"""Calls on conversations as a whole: begin, list, read and forget them."""

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.recall import Encode
from memoryd.replies.sessions import (
    SessionForgetReply,
    SessionLinesReply,
    SessionRememberReply,
    SessionsReply,
    SessionStartReply,
    SessionSyncReply,
)

FORGET_MS = 120_000
"""How long a forgetting may take: the words of a large index are written anew."""


def start_session(
    memory: DaemonConnection,
    session_key: str,
    *,
    remember: bool | None = None,
    encode: Encode = "text",
    agent: str | None = None,
) -> SessionStartReply:
    """Say that a session begins, and be told what was said last with this key.

    The index looks at the disk (`sync.onSessionStart`). `context` is text for a prompt.
    """
    body = {"sessionKey": session_key, "remember": remember, "encode": encode, "agent": agent}
    reply: SessionStartReply = memory.call("POST", "/sessions/start", body)
    return reply


def sessions(
    memory: DaemonConnection, *, limit: int | None = None, session_key: str | None = None, agent: str | None = None
) -> SessionsReply:
    """List conversations and transcripts, that in which something was said last first."""
    query = {"limit": limit, "sessionKey": session_key, "agent": agent}
    reply: SessionsReply = memory.call("GET", target("/sessions", query))
    return reply


def session_lines(
    memory: DaemonConnection,
    citation: str,
    *,
    context: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> SessionLinesReply:
    """Read the lines of a citation, with so many around them. Raises NotFound if they no longer say that."""
    query = {"citation": citation, "context": context, "sessionKey": session_key, "agent": agent}
    reply: SessionLinesReply = memory.call("GET", target("/sessions/lines", query))
    return reply


def sync_sessions(
    memory: DaemonConnection, *, wait: bool = True, timeout_ms: int | None = None, agent: str | None = None
) -> SessionSyncReply:
    """Read transcripts now, and wait until all that was there is indexed; `timeout_ms` as in `sync`."""
    limit_ms = int(memory.timeout * 1000) if timeout_ms is None else timeout_ms
    body = {"agent": agent, "wait": wait, "timeoutMs": limit_ms}
    reply: SessionSyncReply = memory.call("POST", "/sessions/sync", body, wait_ms=limit_ms)
    return reply


def forget_session(
    memory: DaemonConnection,
    session: str,
    *,
    dry_run: bool = False,
    session_key: str | None = None,
    agent: str | None = None,
) -> SessionForgetReply:
    """Take a conversation out of everything, or say what would go. Raises NotFound, Denied but for the owner."""
    body = {"session": session, "dryRun": dry_run, "sessionKey": session_key, "agent": agent}
    reply: SessionForgetReply = memory.call("POST", "/sessions/forget", body, wait_ms=FORGET_MS)
    return reply


def remember_session(
    memory: DaemonConnection,
    session: str | None = None,
    *,
    remember: bool = False,
    agents_marks: bool = False,
    session_key: str | None = None,
    agent: str | None = None,
) -> SessionRememberReply:
    """Mark a conversation, else what is said under `session_key`, "do not remember", or take that back.

    With `agents_marks` all marks of session keys are taken back that the agent made itself.
    """
    body: dict[str, object] = {"session": session, "remember": remember, "sessionKey": session_key, "agent": agent}
    if agents_marks:
        body["agentsMarks"] = True
    reply: SessionRememberReply = memory.call("POST", "/sessions/remember", body)
    return reply
