"""The call that recalls."""

from typing import Literal

from memoryd.client.connection import DaemonConnection
from memoryd.replies.recall import Encode, RecallReply


def recall(
    memory: DaemonConnection,
    query: str,
    *,
    k: int | None = None,
    since: str | None = None,
    until: str | None = None,
    as_of: str | None = None,
    known_by: str | None = None,
    entity: str | None = None,
    kind: str | None = None,
    scope: str | None = None,
    budget: int | None = None,
    format: Literal["items", "bundle"] = "items",
    encode: Encode = "text",
    if_none_match: str | None = None,
    deadline_ms: int | None = None,
    touch: bool = True,
    explain: bool = False,
    agent: str | None = None,
    session_key: str | None = None,
) -> RecallReply:
    """Recall the memories and passages that answer `query`, best first, each with its citation.

    None leaves the choice to the configuration (5 items, 1,200 tokens of a bundle, 5 s). Days are `30d`, `2026-10-01`
    or ISO 8601. `format="bundle"` adds text for a prompt, whose stable block is left out if `if_none_match` names it;
    with `encode` it is an object for a request to that API. What is told counts as used, unless `touch` is false.
    """
    body = {
        "query": query,
        "k": k,
        "since": since,
        "until": until,
        "asOf": as_of,
        "knownBy": known_by,
        "entity": entity,
        "kind": kind,
        "scope": scope,
        "budget": budget,
        "format": format,
        "encode": encode,
        "ifNoneMatch": if_none_match,
        "deadlineMs": deadline_ms,
        "touch": None if touch else False,
        "explain": explain or None,
        "agent": agent,
        "sessionKey": session_key,
    }
    reply: RecallReply = memory.call("POST", "/recall", body, wait_ms=deadline_ms or 0)
    return reply
