"""Calls that find and read notes."""

import os
from urllib.parse import quote

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.files import FileReply
from memoryd.replies.search import SearchReply


def search(
    memory: DaemonConnection,
    query: str,
    *,
    agent: str | None = None,
    max_results: int | None = None,
    min_score: float | None = None,
    session_key: str | None = None,
    sources: list[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    paths: list[str] | None = None,
    deadline_ms: int | None = None,
    explain: bool = False,
) -> SearchReply:
    """Find the chunks that answer `query`, best first.

    None leaves the choice to the configuration (6 results, 5 s). `sources` names "memory" or "sessions", `since`
    and `until` are dates, `paths` globs below the workspace. No hits is a reply with a `reason`, not an error.
    """
    body = {
        "query": query,
        "agent": agent,
        "maxResults": max_results,
        "minScore": min_score,
        "sessionKey": session_key,
        "sources": sources,
        "since": since,
        "until": until,
        "paths": paths,
        "deadlineMs": deadline_ms,
        "explain": explain or None,
    }
    reply: SearchReply = memory.call("POST", "/search", body, wait_ms=deadline_ms or 0)
    return reply


def get(
    memory: DaemonConnection,
    path: str,
    *,
    agent: str | None = None,
    start: int | None = None,
    lines: int | None = None,
    column: int | None = None,
    session_key: str | None = None,
) -> FileReply:
    """Read `lines` lines of a document from line `start` (1-based) on, of that one from character `column` on.

    A reply cut short by the size limit has `truncated`, and `nextFrom` or, inside a line that is too long,
    `nextColumn`. Raises NotFound.
    """
    query = {"agent": agent, "from": start, "lines": lines, "column": column, "sessionKey": session_key}
    reply: FileReply = memory.call("GET", target(f"/files/{quote(os.fsencode(path))}", query))
    return reply
