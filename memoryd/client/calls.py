"""The calls of the daemon, each a method; what they answer is in memoryd.replies.

`memory_id` is an id, or the first eight characters of one. Changes, the core file, reflect and what is for good
(forget) are for the owner alone. What adds or takes back on each call (`undo`, `add_turn`, an edit of the core file) is
not sent twice: where the connection breaks before the reply, NotNow is raised, and it may have been done.
"""

import os
from collections.abc import Generator, Sequence
from typing import Any, Literal, TypedDict, Unpack
from urllib.parse import quote

from memoryd.client.connection import Asker, ListBounds, quoted, target
from memoryd.client.conversation_calls import FORGET_MS, ConversationCalls
from memoryd.client.team_calls import TeamCalls
from memoryd.replies.changes import ChangesReply, CoreEditReply, CoreReply, ForgetReply, UndoReply, VerifyReply
from memoryd.replies.daemon import PageReply
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
from memoryd.replies.memories import (
    ExportReply,
    ImportReply,
    MemoryAddReply,
    MemoryDecayReply,
    MemoryDeleteReply,
    MemoryEditReply,
    MemoryListReply,
    MemoryReplaceReply,
    MemoryReply,
    MemorySearchReply,
    MemoryStatsReply,
    MemoryWhyReply,
    RetainReply,
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


class SearchBounds(Asker, total=False):
    """What a search may be bounded by; what is absent comes from the configuration (6 results, 5 s)."""

    max_results: int | None
    min_score: float | None
    sources: Sequence[str] | None
    """`memory` or `sessions`."""
    since: str | None
    """A date; so is `until`."""
    until: str | None
    paths: Sequence[str] | None
    """Globs below the workspace."""
    deadline_ms: int | None


class RecallBounds(Asker, total=False):
    """What may be asked of recall; what is absent comes from the configuration (5 items, 1,200 tokens, 5 s).

    Days are `30d`, `2026-10-01` or ISO 8601.
    """

    k: int | None
    since: str | None
    until: str | None
    as_of: str | None
    known_by: str | None
    entity: str | None
    kind: str | None
    scope: str | None
    budget: int | None
    """Tokens of a bundle."""
    encode: Encode
    """A bundle is text, or an object for a request to that API."""
    if_none_match: str | None
    """Names a stable block, which is then left out of the bundle."""
    deadline_ms: int | None


class MemoryBounds(ListBounds, total=False):
    """Which memories are listed."""

    scope: str | None
    kind: str | None
    tier: str | None
    pinned: bool | None
    tag: str | None
    query: str | None
    """Words that all stand in them."""
    offset: int | None


class ChangeBounds(TypedDict, total=False):
    """Which changes are listed."""

    since: str | None
    by: str | None
    path: str | None
    run: str | None
    limit: int | None
    agent: str | None


class StatementOptions(Asker, total=False):
    """What may be said of a memory beside its text."""

    kind: str | None
    importance: float | None
    scope: str | None
    entities: Sequence[str] | None
    at: str | None


class Client(ConversationCalls, TeamCalls):
    """Asks the daemon behind `socket`, by default where a daemon of this user listens; `timeout` in seconds of silence.

    `agent` and `session_key` are who asks where a call does not say it.
    """

    def health(self) -> HealthReply:
        """Say whether the daemon is up (`ok`) and its index has been read once (`ready`)."""
        reply: HealthReply = self.call("GET", "/health")
        return reply

    def status(self) -> StatusReply:
        """Report the daemon's state, per agent."""
        reply: StatusReply = self.call("GET", "/status")
        return reply

    def metrics(self) -> str:
        """Return what is counted and how things stand, in the text format of Prometheus."""
        return self.text("/metrics")

    def sync(self, wait: SyncGoal = "indexed", timeout_ms: int | None = None, agent: str | None = None) -> SyncReply:
        """Wait until what is on disk now is found by words ("indexed") or by vector too ("embedded").

        `timeout_ms` defaults to the client's time-out. When it passes, the reply says `complete: false` and
        what is pending; the work goes on.
        """
        limit_ms = self._limit_ms(timeout_ms)
        body = {"wait": wait, "timeoutMs": limit_ms, "agent": agent}
        return self._send(SyncReply, "/sync", body, wait_ms=limit_ms)

    def reindex(self, force: bool = False, embeddings: bool = False, agent: str | None = None) -> ReindexReply:
        """Start to read every file again (`force`) and to compute every vector again (`embeddings`)."""
        return self._send(ReindexReply, "/reindex", {"force": force, "embeddings": embeddings, "agent": agent})

    def reload(self, is_dry: bool = False) -> ReloadReply:
        """Have the daemon read its configuration again, and bring to bear what changed; nothing else is interrupted.

        With `is_dry` it only says what would change.
        """
        reply: ReloadReply = self.call("POST", "/reload" + "?dryRun=true" * is_dry, wait_ms=RELOAD_MS)
        return reply

    def open_page(self, keep: bool = False, *, agent: str | None = None) -> PageReply:
        """Return a link to the page that lets in once, within a minute; with `keep` until the daemon ends."""
        return self._send(PageReply, "/page", {"keep": keep, "agent": agent})

    def events(self, *, silence: float | None = None, **who: Unpack[Asker]) -> Generator[ServerEvent, None, None]:
        """Yield events of indexing, embedding and degradation as they happen, on a connection of its own.

        Ends when the daemon stops; raises DeadlineExceeded after `silence` seconds without a byte.
        """
        yield from self.stream(target("/events", self._asked({}, who)), silence)

    def search(self, query: str, *, explain: bool = False, **options: Unpack[SearchBounds]) -> SearchReply:
        """Find the chunks that answer `query`, best first. No hits is a reply with a `reason`, not an error."""
        wait_ms = options.get("deadline_ms") or 0
        body = {"query": query, "explain": explain or None}
        return self._send(SearchReply, "/search", body, options, wait_ms=wait_ms)

    def get(
        self,
        path: str,
        *,
        start: int | None = None,
        lines: int | None = None,
        column: int | None = None,
        **who: Unpack[Asker],
    ) -> FileReply:
        """Read `lines` lines of a document from line `start` (1-based) on, of that one from character `column` on.

        A reply cut short by the size limit has `truncated`, and `nextFrom` or, inside a line that is too long,
        `nextColumn`. Raises NotFound.
        """
        place = {"from": start, "lines": lines, "column": column}
        return self._fetch(FileReply, f"/files/{quote(os.fsencode(path))}", place, who)

    def recall(
        self,
        query: str,
        *,
        format: Literal["items", "bundle"] = "items",
        touch: bool = True,
        explain: bool = False,
        **options: Unpack[RecallBounds],
    ) -> RecallReply:
        """Recall the memories and passages that answer `query`, best first, each with its citation.

        `format="bundle"` adds text for a prompt. What is told counts as used, unless `touch` is false.
        """
        body = {"query": query, "format": format, "touch": None if touch else False, "explain": explain or None}
        return self._send(RecallReply, "/recall", body, options, wait_ms=options.get("deadline_ms") or 0)

    def entities(self, **bounds: Unpack[ListBounds]) -> EntitiesReply:
        """List what memories are about, that with most memories first."""
        return self._fetch(EntitiesReply, "/entities", {}, bounds)

    def entity(self, name: str, **bounds: Unpack[ListBounds]) -> EntityShowReply:
        """Tell what is known of an entity, by its name or an alias. Raises NotFound."""
        return self._fetch(EntityShowReply, f"/entities/{quoted(name)}", {}, bounds)

    def merge_entity(
        self, name: str, into: str, *, dry_run: bool = False, agent: str | None = None
    ) -> EntityChangeReply:
        """Make a name an alias of an entity. Raises InvalidRequest, Denied but for the owner."""
        return self._send(
            EntityChangeReply, "/entities/merge", {"name": name, "into": into, "dryRun": dry_run, "agent": agent}
        )

    def split_entity(self, alias: str, *, dry_run: bool = False, agent: str | None = None) -> EntityChangeReply:
        """Take an alias out of the page of its entity. Raises NotFound, InvalidRequest, Denied but for the owner."""
        return self._send(EntityChangeReply, "/entities/split", {"alias": alias, "dryRun": dry_run, "agent": agent})

    def opinions(self, *, entity: str | None = None, **bounds: Unpack[ListBounds]) -> OpinionsReply:
        """List opinions with their confidence, the firmest first; about an entity, if one is named."""
        return self._fetch(OpinionsReply, "/opinions", {"entity": entity}, bounds)

    def why_opinion(self, opinion: str, **who: Unpack[Asker]) -> OpinionWhyReply:
        """Say why an opinion is held; `opinion` is its id, or the first signs of it. Raises NotFound."""
        return self._fetch(OpinionWhyReply, f"/opinions/{quoted(opinion)}", {}, who)

    def replay_opinions(self, **who: Unpack[Asker]) -> OpinionReplayReply:
        """Compute all confidences anew from lines and ledger, and compare them, bit for bit."""
        return self._send(OpinionReplayReply, "/opinions/replay", {}, who)

    def changes(self, *, lines: bool = True, **filters: Unpack[ChangeBounds]) -> ChangesReply:
        """List what was written into the workspace, the newest first; without `lines` no text of a note is told."""
        return self._fetch(ChangesReply, "/changes", {**filters, "lines": None if lines else False})

    def undo(
        self, change: int | None = None, *, run: str | None = None, dry_run: bool = False, agent: str | None = None
    ) -> UndoReply:
        """Take back a change by its number, or all of one run, where their lines still stand."""
        return self._send_once(UndoReply, "/undo", {"id": change, "run": run, "dryRun": dry_run, "agent": agent})

    def reflect(
        self,
        since: str | None = None,
        *,
        dry_run: bool = False,
        allow_loss: bool = False,
        agent: str | None = None,
    ) -> ReflectReply:
        """Bring pages and opinions up to date and propose changes, or say what that would do.

        `since` is `7d` or a date. Raises Denied but for the owner, and NotNow while the index or another run is in the
        way.
        """
        body = {"since": since, "dryRun": dry_run, "allowLoss": allow_loss, "agent": agent}
        return self._send(ReflectReply, "/reflect", body, wait_ms=REFLECT_MS)

    def proposals(self, state: str | None = "open", **bounds: Unpack[ListBounds]) -> ProposalsReply:
        """List proposals in a state, all for None, the oldest first."""
        return self._fetch(ProposalsReply, "/proposals", {"state": state}, bounds)

    def proposal(self, name: str, *, agent: str | None = None) -> ProposalReply:
        """Return one proposal with its diff; raises NotFound."""
        return self._fetch(ProposalReply, f"/proposals/{quoted(name)}", {"agent": agent})

    def accept_proposal(self, name: str, *, agent: str | None = None) -> DecidedProposalReply:
        """Have a proposal written; raises NotFound, InvalidRequest for one that is decided or outdated, Denied."""
        return self._send(DecidedProposalReply, f"/proposals/{quoted(name)}/accept", {"agent": agent})

    def reject_proposal(self, name: str, *, agent: str | None = None) -> DecidedProposalReply:
        """Take a proposal out of the queue; raises as `accept_proposal` does."""
        return self._send(DecidedProposalReply, f"/proposals/{quoted(name)}/reject", {"agent": agent})

    def disagreements(self, *, limit: int | None = None, agent: str | None = None) -> DisagreementsReply:
        """List memories that may contradict each other, the newest first; raises Denied but for the owner."""
        return self._fetch(DisagreementsReply, "/disagreements", {"limit": limit, "agent": agent})

    def settle_disagreement(self, name: str, keep: str, *, agent: str | None = None) -> SettledReply:
        """Have the `newer`, the `older` or `both` of two memories hold; raises NotFound, InvalidRequest, Denied."""
        return self._send(SettledReply, f"/disagreements/{quoted(name)}", {"keep": keep, "agent": agent})

    def memories(self, **filters: Unpack[MemoryBounds]) -> MemoryListReply:
        """List memories, the newest first."""
        return self._fetch(MemoryListReply, "/memories", {}, filters)

    def add_memory(
        self,
        text: str,
        *,
        kind: str | None = None,
        importance: float | None = None,
        scope: str | None = None,
        tags: list[str] | None = None,
        pinned: bool = False,
        by_agent: bool = False,
        **who: Unpack[Asker],
    ) -> MemoryAddReply:
        """State a memory in today's log; what is sent twice is written once. `by_agent`: a model states it."""
        body = {"text": text, "kind": kind, "importance": importance, "scope": scope, "tags": tags}
        return self._send(MemoryAddReply, "/memories", {**body, "pinned": pinned, "byAgent": by_agent}, who)

    def search_memories(
        self,
        query: str,
        *,
        scope: str | None = None,
        kind: str | None = None,
        top_k: int | None = None,
        **who: Unpack[Asker],
    ) -> MemorySearchReply:
        """Find memories that answer, best first."""
        body = {"query": query, "scope": scope, "kind": kind, "top_k": top_k}
        return self._send(MemorySearchReply, "/memories/search", body, who)

    def memory_stats(self, **who: Unpack[Asker]) -> MemoryStatsReply:
        """Count memories by tier, kind and scope."""
        return self._fetch(MemoryStatsReply, "/memories/stats", {}, who)

    def get_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryReply:
        """Tell a memory; raises NotFound."""
        return self._fetch(MemoryReply, f"/memories/{quoted(memory_id)}", {}, who)

    def why_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryWhyReply:
        """Say why a memory stands where it does; raises NotFound."""
        return self._fetch(MemoryWhyReply, f"/memories/{quoted(memory_id)}/why", {}, who)

    def decay_memories(self, within: str = "90d", **bounds: Unpack[ListBounds]) -> MemoryDecayReply:
        """Say how memories will stand in so long if nobody touches them."""
        return self._fetch(MemoryDecayReply, "/memories/decay", {"in": within}, bounds)

    def delete_memory(self, memory_id: str, *, dry_run: bool = False, **who: Unpack[Asker]) -> MemoryDeleteReply:
        """Take out all lines that state a memory; raises NotFound, Denied."""
        asked = self._asked({"dryRun": dry_run or None}, who)
        reply: MemoryDeleteReply = self.call("DELETE", target(f"/memories/{quoted(memory_id)}", asked))
        return reply

    def pin_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryEditReply:
        """Pin a memory; raises NotFound, Denied."""
        return self._send(MemoryEditReply, f"/memories/{quoted(memory_id)}/pin", {}, who)

    def unpin_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryEditReply:
        """Take the pin of a memory away; raises NotFound, Denied."""
        return self._send(MemoryEditReply, f"/memories/{quoted(memory_id)}/unpin", {}, who)

    def weigh_memory(self, memory_id: str, importance: float, **who: Unpack[Asker]) -> MemoryEditReply:
        """Write how important a memory is, 0 to 1; raises NotFound, Denied."""
        return self._send(MemoryEditReply, f"/memories/{quoted(memory_id)}/importance", {"importance": importance}, who)

    def replace_memory(
        self, memory_id: str, text: str, *, in_place: bool = False, by_agent: bool = False, **who: Unpack[Asker]
    ) -> MemoryReplaceReply:
        """Say what holds now in the place of a memory; raises NotFound, Denied. `by_agent`: a model says it."""
        body = {"text": text, "inPlace": in_place, "byAgent": by_agent}
        return self._send(MemoryReplaceReply, f"/memories/{quoted(memory_id)}/replace", body, who)

    def export_memories(
        self,
        *,
        after: str | None = None,
        limit: int | None = None,
        scope: str | None = None,
        agent: str | None = None,
    ) -> ExportReply:
        """Return a page of memories; `after` is the `next` of the page before."""
        return self._fetch(
            ExportReply, "/memories/export", {"after": after, "limit": limit, "scope": scope, "agent": agent}
        )

    def import_memories(
        self,
        memories: list[dict[str, Any]],
        *,
        run: str,
        notes: Sequence[dict[str, str]] = (),
        dry_run: bool = False,
        with_secrets: bool = False,
        agent: str | None = None,
    ) -> ImportReply:
        """State memories as an export has them, and write notes, 1,000 of each at most; `run` undoes all of it."""
        how = {"run": run, "dryRun": dry_run, "withSecrets": with_secrets, "agent": agent}
        return self._send(ImportReply, "/memories/import", {"memories": memories, "notes": list(notes), **how})

    def retain(
        self,
        text: str,
        *,
        each: bool = False,
        remember: bool = False,
        replaces: str | None = None,
        in_place: bool = False,
        **options: Unpack[StatementOptions],
    ) -> RetainReply:
        """State a memory in today's log: a bullet such as `W @Peter: …`, or plain text.

        With `each` every bullet is one. What is sent twice is written once. `replaces` is the memory whose place it
        takes: its id, a citation, or words that it says; with `in_place` its own lines say it. Raises NotFound where
        that means none, or several.
        """
        body = {"text": text, "each": each, "remember": remember, "replaces": replaces, "inPlace": in_place}
        return self._send(RetainReply, "/retain", body, options)

    def forget(
        self, what: str, *, dry_run: bool = False, undoable: bool = False, agent: str | None = None
    ) -> ForgetReply:
        """Take a memory out of everything, or say what would go: by its id, a citation, or words that it says.

        With `undoable` it can be undone for 24 hours. Raises NotFound, Denied but for the owner.
        """
        body = {"target": what, "dryRun": dry_run, "undoable": undoable, "agent": agent}
        return self._send(ForgetReply, "/forget", body, wait_ms=FORGET_MS)

    def verify(self, citation: str, **who: Unpack[Asker]) -> VerifyReply:
        """Ask whether cited lines still stand, moved, were edited or are gone."""
        return self._fetch(VerifyReply, "/verify", {"citation": citation}, who)

    def core(self, **who: Unpack[Asker]) -> CoreReply:
        """Show the core file, and `SOUL.md` beside it."""
        return self._fetch(CoreReply, "/core", {}, who)

    def core_append(self, text: str, *, expected: str | None = None, **who: Unpack[Asker]) -> CoreEditReply:
        """Add lines at the end of the core file."""
        return self._send_once(CoreEditReply, "/core/append", {"text": text, "expected": expected}, who)

    def core_replace(self, old: str, new: str, *, expected: str | None = None, **who: Unpack[Asker]) -> CoreEditReply:
        """Put a text in the place of one that stands in the core file once."""
        return self._send_once(CoreEditReply, "/core/replace", {"old": old, "new": new, "expected": expected}, who)

    def core_insert(self, text: str, *, after: str, expected: str | None = None, **who: Unpack[Asker]) -> CoreEditReply:
        """Add lines below a line of the core file."""
        return self._send_once(CoreEditReply, "/core/insert", {"text": text, "after": after, "expected": expected}, who)
