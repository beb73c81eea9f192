"""Calls on questions and answers: add turns, and find them again in their order."""

from urllib.parse import quote

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.qa import (
    QaAddReply,
    QaContextReply,
    QaSessionsReply,
    QaSessionTurnsReply,
    QaStatsReply,
    QaTopicsReply,
    QaTurnReply,
)


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
