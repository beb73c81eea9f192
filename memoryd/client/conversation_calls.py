"""Calls on conversations: each message, questions and answers in their order, and conversations as a whole."""

from typing import Literal
from urllib.parse import quote

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.conversations import (
    QaAddReply,
    QaContextReply,
    QaSessionsReply,
    QaSessionTurnsReply,
    QaStatsReply,
    QaTopicsReply,
    QaTurnReply,
    SessionForgetReply,
    SessionLinesReply,
    SessionRememberReply,
    SessionsReply,
    SessionStartReply,
    SessionSyncReply,
    TurnReply,
)
from memoryd.replies.recall import Encode

FORGET_MS = 120_000
"""How long a forgetting may take: the words of a large index are written anew."""


def add_turn(
    memory: DaemonConnection,
    question: str,
    answer: str | None = None,
    *,
    session: str | None = None,
    session_key: str | None = None,
    timestamp: str | None = None,
    significance: float | None = None,
    topics: list[str] | None = None,
    agent: str | None = None,
) -> QaAddReply:
    """Store a turn of the session of this name, else of the one of a session key that goes on.

    Not sent twice: where the connection breaks before the reply, NotNow is raised, and the turn may be there.
    """
    # on a connection of its own, since a kept one that was closed meanwhile would be tried again
    memory.close()
    body = {
        "q": question,
        "a": answer,
        "sessionId": session,
        "sessionKey": session_key,
        "timestamp": timestamp,
        "significance": significance,
        "topicTags": topics,
        "agent": agent,
    }
    reply: QaAddReply = memory.call("POST", "/qa/turns", body)
    return reply


def qa_sessions(
    memory: DaemonConnection, *, limit: int | None = None, session_key: str | None = None, agent: str | None = None
) -> QaSessionsReply:
    """List the sessions that are not in the archive, the newest first."""
    query = {"limit": limit, "sessionKey": session_key, "agent": agent}
    reply: QaSessionsReply = memory.call("GET", target("/qa/sessions", query))
    return reply


def qa_session(
    memory: DaemonConnection,
    session: str,
    *,
    seq: str | None = None,
    grep: str | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> QaSessionTurnsReply:
    """Read turns of a session: those of a range (`10-20`), and those in which a word stands. Raises NotFound."""
    query = {"seq": seq, "grep": grep, "sessionKey": session_key, "agent": agent}
    reply: QaSessionTurnsReply = memory.call("GET", target(f"/qa/sessions/{quote(session, safe='')}", query))
    return reply


def qa_context(
    memory: DaemonConnection,
    message: str | None = None,
    *,
    session: str | None = None,
    n: int | None = None,
    budget: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> QaContextReply:
    """Return the turns to put before an agent for a message, or without one the last turns of the session."""
    body = {
        "message": message,
        "sessionId": session,
        "n": n,
        "budget": budget,
        "sessionKey": session_key,
        "agent": agent,
    }
    reply: QaContextReply = memory.call("POST", "/qa/context", body)
    return reply


def qa_mark(
    memory: DaemonConnection,
    citation: str,
    *,
    keep: bool = True,
    answer: str | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> QaTurnReply:
    """Keep the answer of the turn at `session:<id>#Q17`, this one if it is given, or drop it. Raises NotFound."""
    body = {"citation": citation, "keep": keep, "answer": answer, "sessionKey": session_key, "agent": agent}
    reply: QaTurnReply = memory.call("POST", "/qa/mark", body)
    return reply


def qa_topics(
    memory: DaemonConnection, *, limit: int | None = None, session_key: str | None = None, agent: str | None = None
) -> QaTopicsReply:
    """List what was talked about, the most frequent first."""
    query = {"limit": limit, "sessionKey": session_key, "agent": agent}
    reply: QaTopicsReply = memory.call("GET", target("/qa/topics", query))
    return reply


def qa_stats(memory: DaemonConnection, *, session_key: str | None = None, agent: str | None = None) -> QaStatsReply:
    """Count sessions, turns and kept answers, and measure their files."""
    query = {"sessionKey": session_key, "agent": agent}
    reply: QaStatsReply = memory.call("GET", target("/qa/stats", query))
    return reply


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


def turn(
    memory: DaemonConnection,
    text: str = "",
    *,
    role: Literal["user", "assistant", "tool", "system"] = "user",
    session_key: str | None = None,
    channel: str | None = None,
    at: str | None = None,
    event: Literal["failure", "end", "compact"] | None = None,
    event_text: str | None = None,
    tool: str | None = None,
    budget: int | None = None,
    encode: Encode = "text",
    if_none_match: str | None = None,
    k: int | None = None,
    deadline_ms: int | None = None,
    agent: str | None = None,
) -> TurnReply:
    """Tell of a message, and return what is recalled for it and what was said before.

    The same message sent again is kept once. `event` says what happened, `event_text` and `tool` with what. Raises
    Denied for a command that would write where nothing may be written.
    """
    happened = {"type": event, "text": event_text, "tool": tool}
    body = {
        "sessionKey": session_key,
        "role": role,
        "text": text,
        "channel": channel,
        "at": at,
        "event": None if event is None else {name: value for name, value in happened.items() if value is not None},
        "agent": agent,
        "budget": budget,
        "encode": encode,
        "ifNoneMatch": if_none_match,
        "k": k,
        "deadlineMs": deadline_ms,
    }
    reply: TurnReply = memory.call("POST", "/turns", body, wait_ms=deadline_ms or 0)
    return reply
