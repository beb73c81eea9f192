"""Calls that find: notes, recalled memories, entities, opinions, proposals, changes; and calls about the daemon.

Changes are for the owner alone.
"""

import os
from collections.abc import Generator
from typing import Literal
from urllib.parse import quote

from memoryd.client.connection import DaemonConnection, target
from memoryd.replies.changes import ChangesReply, UndoReply
from memoryd.replies.knowledge import (
    DecidedProposalReply,
    DisagreementsReply,
    EntitiesReply,
    EntityChangeReply,
    EntityShowReply,
    OpinionReplayReply,
    OpinionsReply,
    OpinionWhyReply,
    ProposalReply,
    ProposalsReply,
    ReflectReply,
    SettledReply,
)
from memoryd.replies.recall import Encode, RecallReply
from memoryd.replies.search import (
    FileReply,
    HealthReply,
    ReindexReply,
    ReloadReply,
    SearchReply,
    ServerEvent,
    SyncReply,
)
from memoryd.replies.status import StatusReply
from memoryd.wire import SyncGoal

RELOAD_MS = 14 * 60_000
"""How long it may take: the daemon waits for what is in flight."""
REFLECT_MS = 600_000
"""How long a run over a large workspace may take, a model that writes summaries included."""


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


def health(memory: DaemonConnection) -> HealthReply:
    """Say whether the daemon is up (`ok`) and its index has been read once (`ready`)."""
    reply: HealthReply = memory.call("GET", "/health")
    return reply


def status(memory: DaemonConnection) -> StatusReply:
    """Report the daemon's state, per agent."""
    reply: StatusReply = memory.call("GET", "/status")
    return reply


def metrics(memory: DaemonConnection) -> str:
    """Return what is counted and how things stand, in the text format of Prometheus."""
    return memory.text("/metrics")


def sync(
    memory: DaemonConnection, wait: SyncGoal = "indexed", timeout_ms: int | None = None, agent: str | None = None
) -> SyncReply:
    """Wait until what is on disk now is found by words ("indexed") or by vector too ("embedded").

    `timeout_ms` defaults to the client's time-out. When it passes, the reply says `complete: false` and
    what is pending; the work goes on.
    """
    limit_ms = int(memory.timeout * 1000) if timeout_ms is None else timeout_ms
    body = {"agent": agent, "wait": wait, "timeoutMs": limit_ms}
    reply: SyncReply = memory.call("POST", "/sync", body, wait_ms=limit_ms)
    return reply


def reindex(
    memory: DaemonConnection, force: bool = False, embeddings: bool = False, agent: str | None = None
) -> ReindexReply:
    """Start to read every file again (`force`) and to compute every vector again (`embeddings`)."""
    body = {"agent": agent, "force": force, "embeddings": embeddings}
    reply: ReindexReply = memory.call("POST", "/reindex", body)
    return reply


def reload(memory: DaemonConnection, is_dry: bool = False) -> ReloadReply:
    """Have the daemon read its configuration again, and bring to bear what changed; nothing else is interrupted.

    With `is_dry` it only says what would change.
    """
    path = target("/reload", {"dryRun": "true"}) if is_dry else "/reload"
    reply: ReloadReply = memory.call("POST", path, wait_ms=RELOAD_MS)
    return reply


def events(
    memory: DaemonConnection, *, agent: str | None = None, session_key: str | None = None, silence: float | None = None
) -> Generator[ServerEvent, None, None]:
    """Yield events of indexing, embedding and degradation as they happen, on a connection of its own.

    Ends when the daemon stops; raises DeadlineExceeded after `silence` seconds without a byte.
    """
    query = {"agent": agent, "sessionKey": session_key}
    yield from memory.stream(target("/events", query), silence)


def entities(
    memory: DaemonConnection, *, limit: int | None = None, session_key: str | None = None, agent: str | None = None
) -> EntitiesReply:
    """List what memories are about, that with most memories first."""
    query = {"limit": limit, "sessionKey": session_key, "agent": agent}
    reply: EntitiesReply = memory.call("GET", target("/entities", query))
    return reply


def entity(
    memory: DaemonConnection,
    name: str,
    *,
    limit: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> EntityShowReply:
    """Tell what is known of an entity, by its name or an alias. Raises NotFound."""
    query = {"limit": limit, "sessionKey": session_key, "agent": agent}
    reply: EntityShowReply = memory.call("GET", target(f"/entities/{quote(name, safe='')}", query))
    return reply


def merge_entity(
    memory: DaemonConnection, name: str, into: str, *, dry_run: bool = False, agent: str | None = None
) -> EntityChangeReply:
    """Make a name an alias of an entity. Raises InvalidRequest, Denied but for the owner."""
    body = {"name": name, "into": into, "dryRun": dry_run, "agent": agent}
    reply: EntityChangeReply = memory.call("POST", "/entities/merge", body)
    return reply


def split_entity(
    memory: DaemonConnection, alias: str, *, dry_run: bool = False, agent: str | None = None
) -> EntityChangeReply:
    """Take an alias out of the page of its entity. Raises NotFound, InvalidRequest, Denied but for the owner."""
    body = {"alias": alias, "dryRun": dry_run, "agent": agent}
    reply: EntityChangeReply = memory.call("POST", "/entities/split", body)
    return reply


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


def opinions(
    memory: DaemonConnection,
    *,
    entity: str | None = None,
    limit: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> OpinionsReply:
    """List opinions with their confidence, the firmest first; about an entity, if one is named."""
    query = {"entity": entity, "limit": limit, "sessionKey": session_key, "agent": agent}
    reply: OpinionsReply = memory.call("GET", target("/opinions", query))
    return reply


def why_opinion(
    memory: DaemonConnection, opinion: str, *, session_key: str | None = None, agent: str | None = None
) -> OpinionWhyReply:
    """Say why an opinion is held; `opinion` is its id, or the first signs of it. Raises NotFound."""
    query = {"sessionKey": session_key, "agent": agent}
    reply: OpinionWhyReply = memory.call("GET", target(f"/opinions/{quote(opinion, safe='')}", query))
    return reply


def replay_opinions(
    memory: DaemonConnection, *, session_key: str | None = None, agent: str | None = None
) -> OpinionReplayReply:
    """Compute all confidences anew from lines and ledger, and compare them, bit for bit."""
    body = {"sessionKey": session_key, "agent": agent}
    reply: OpinionReplayReply = memory.call("POST", "/opinions/replay", body)
    return reply


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


def reflect(
    memory: DaemonConnection,
    since: str | None = None,
    *,
    dry_run: bool = False,
    allow_loss: bool = False,
    agent: str | None = None,
) -> ReflectReply:
    """Bring pages and opinions up to date and propose changes, or say what that would do.

    `since` is `7d` or a date. Raises Denied but for the owner, and NotNow while the index or another run is in the way.
    """
    body = {"since": since, "dryRun": dry_run, "allowLoss": allow_loss, "agent": agent}
    reply: ReflectReply = memory.call("POST", "/reflect", body, wait_ms=REFLECT_MS)
    return reply


def proposals(
    memory: DaemonConnection,
    state: str | None = "open",
    *,
    limit: int | None = None,
    session_key: str | None = None,
    agent: str | None = None,
) -> ProposalsReply:
    """List proposals in a state, all for None, the oldest first."""
    limited = None if limit is None else str(limit)
    query = {"state": state, "limit": limited, "sessionKey": session_key, "agent": agent}
    reply: ProposalsReply = memory.call("GET", target("/proposals", query))
    return reply


def proposal(memory: DaemonConnection, name: str, *, agent: str | None = None) -> ProposalReply:
    """Return one proposal with its diff; raises NotFound."""
    reply: ProposalReply = memory.call("GET", target(f"/proposals/{quote(name, safe='')}", {"agent": agent}))
    return reply


def accept_proposal(memory: DaemonConnection, name: str, *, agent: str | None = None) -> DecidedProposalReply:
    """Have a proposal written; raises NotFound, InvalidRequest for one that is decided or outdated, Denied."""
    reply: DecidedProposalReply = memory.call("POST", f"/proposals/{quote(name, safe='')}/accept", {"agent": agent})
    return reply


def reject_proposal(memory: DaemonConnection, name: str, *, agent: str | None = None) -> DecidedProposalReply:
    """Take a proposal out of the queue; raises as `accept_proposal` does."""
    reply: DecidedProposalReply = memory.call("POST", f"/proposals/{quote(name, safe='')}/reject", {"agent": agent})
    return reply


def disagreements(
    memory: DaemonConnection, *, limit: int | None = None, agent: str | None = None
) -> DisagreementsReply:
    """List memories that may contradict each other, the newest first; raises Denied but for the owner."""
    query = {"limit": None if limit is None else str(limit), "agent": agent}
    reply: DisagreementsReply = memory.call("GET", target("/disagreements", query))
    return reply


def settle_disagreement(memory: DaemonConnection, name: str, keep: str, *, agent: str | None = None) -> SettledReply:
    """Have the `newer`, the `older` or `both` of two memories hold; raises NotFound, InvalidRequest, Denied."""
    body = {"keep": keep, "agent": agent}
    reply: SettledReply = memory.call("POST", f"/disagreements/{quote(name, safe='')}", body)
    return reply
