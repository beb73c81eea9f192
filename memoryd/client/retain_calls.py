"""Calls that state memories."""

from memoryd.client.connection import DaemonConnection
from memoryd.replies.retained import RetainReply


def retain(
    memory: DaemonConnection,
    text: str,
    *,
    each: bool = False,
    remember: bool = False,
    kind: str | None = None,
    importance: float | None = None,
    scope: str | None = None,
    entities: list[str] | None = None,
    at: str | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> RetainReply:
    """State a memory in today's log: a bullet such as `W @Peter: …`, or plain text; with `each` every bullet is one.

    What is sent twice is written once.
    """
    body = {
        "text": text,
        "each": each,
        "remember": remember,
        "kind": kind,
        "importance": importance,
        "scope": scope,
        "entities": entities,
        "at": at,
        "sessionKey": session_key,
        "agent": agent,
    }
    reply: RetainReply = memory.call("POST", "/retain", body)
    return reply
