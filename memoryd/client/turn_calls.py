"""The call for each message of a conversation."""

from typing import Literal

from memoryd.client.connection import DaemonConnection
from memoryd.replies.recall import Encode
from memoryd.replies.turns import TurnReply


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
