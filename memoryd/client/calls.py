"""The calls of the daemon, each a method; what they answer is in memoryd.replies.

`memory_id` is an id, or the first eight characters of one. Changes, the core file, reflect and what is for good
(forget) are for the owner alone. What adds or takes back on each call (`undo`, `add_turn`, an edit of the core file) is
not sent twice: where the connection breaks before the reply, NotNow is raised, and it may have been done.
"""

# mypy: disable-error-code="empty-body"
# a declaration is all that there is of most calls: `request` makes them

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack
from urllib.parse import quote

from memoryd.client.connection import Asker, ListBounds, request, target
from memoryd.client.conversation_calls import FORGET_MS, ConversationCalls
from memoryd.wire import EncodingName, SyncGoal

if TYPE_CHECKING:
    # only types: a command would wait for them
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
    from memoryd.replies.recall import RecallReply
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
    encode: EncodingName
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


class Client(ConversationCalls):
    """Asks the daemon behind `socket`, by default where a daemon of this user listens; `timeout` in seconds of silence.

    `agent` and `session_key` are who asks where a call does not say it.
    """

    @request("GET", "/health")
    def health(self) -> HealthReply:
        """Say whether the daemon is up (`ok`) and its index has been read once (`ready`)."""

    @request("GET", "/status")
    def status(self) -> StatusReply:
        """Report the daemon's state, per agent."""

    def metrics(self) -> str:
        """Return what is counted and how things stand, in the text format of Prometheus."""
        return self.text("/metrics")

    @request("POST", "/sync")
    def sync(self, wait: SyncGoal = "indexed", timeout_ms: int | None = None, agent: str | None = None) -> SyncReply:
        """Wait until what is on disk now is found by words ("indexed") or by vector too ("embedded").

        `timeout_ms` defaults to the client's time-out. When it passes, the reply says `complete: false` and
        what is pending; the work goes on.
        """

    @request("POST", "/reindex")
    def reindex(self, force: bool = False, embeddings: bool = False, agent: str | None = None) -> ReindexReply:
        """Start to read every file again (`force`) and to compute every vector again (`embeddings`)."""

    def reload(self, is_dry: bool = False) -> ReloadReply:
        """Have the daemon read its configuration again, and bring to bear what changed; nothing else is interrupted.

        With `is_dry` it only says what would change.
        """
        reply: ReloadReply = self.call("POST", "/reload" + "?dryRun=true" * is_dry, wait_ms=RELOAD_MS)
        return reply

    @request("POST", "/page")
    def open_page(self, keep: bool = False, *, agent: str | None = None) -> PageReply:
        """Return a link to the page that lets in once, within a minute; with `keep` until the daemon ends."""

    def events(self, *, silence: float | None = None, **who: Unpack[Asker]) -> Generator[ServerEvent, None, None]:
        """Yield events of indexing, embedding and degradation as they happen, on a connection of its own.

        Ends when the daemon stops; raises DeadlineExceeded after `silence` seconds without a byte.
        """
        yield from self.stream(target("/events", self.with_asker(who)), silence)

    @request("POST", "/search")
    def search(self, query: str, *, explain: bool = False, **options: Unpack[SearchBounds]) -> SearchReply:
        """Find the chunks that answer `query`, best first. No hits is a reply with a `reason`, not an error."""

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
        place = self.with_asker({"from": start, "lines": lines, "column": column, **who})
        # a name that is no UTF-8, with the slashes of its folders
        reply: FileReply = self.call("GET", target(f"/files/{quote(os.fsencode(path))}", place))
        return reply

    @request("POST", "/recall")
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

    @request("GET", "/entities")
    def entities(self, **bounds: Unpack[ListBounds]) -> EntitiesReply:
        """List what memories are about, that with most memories first."""

    @request("GET", "/entities/{name}")
    def entity(self, name: str, **bounds: Unpack[ListBounds]) -> EntityShowReply:
        """Tell what is known of an entity, by its name or an alias. Raises NotFound."""

    @request("POST", "/entities/merge")
    def merge_entity(
        self, name: str, into: str, *, dry_run: bool = False, agent: str | None = None
    ) -> EntityChangeReply:
        """Make a name an alias of an entity. Raises InvalidRequest, Denied but for the owner."""

    @request("POST", "/entities/split")
    def split_entity(self, alias: str, *, dry_run: bool = False, agent: str | None = None) -> EntityChangeReply:
        """Take an alias out of the page of its entity. Raises NotFound, InvalidRequest, Denied but for the owner."""

    @request("GET", "/opinions")
    def opinions(self, *, entity: str | None = None, **bounds: Unpack[ListBounds]) -> OpinionsReply:
        """List opinions with their confidence, the firmest first; about an entity, if one is named."""

    @request("GET", "/opinions/{opinion}")
    def why_opinion(self, opinion: str, **who: Unpack[Asker]) -> OpinionWhyReply:
        """Say why an opinion is held; `opinion` is its id, or the first signs of it. Raises NotFound."""

    @request("POST", "/opinions/replay")
    def replay_opinions(self, **who: Unpack[Asker]) -> OpinionReplayReply:
        """Compute all confidences anew from lines and ledger, and compare them, bit for bit."""

    @request("GET", "/changes", of_session=False)
    def changes(self, *, lines: bool = True, **filters: Unpack[ChangeBounds]) -> ChangesReply:
        """List what was written into the workspace, the newest first; without `lines` no text of a note is told."""

    @request("POST", "/undo", is_repeatable=False, change="id")
    def undo(
        self, change: int | None = None, *, run: str | None = None, dry_run: bool = False, agent: str | None = None
    ) -> UndoReply:
        """Take back a change by its number, or all of one run, where their lines still stand."""

    @request("POST", "/reflect", wait_ms=REFLECT_MS)
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

    @request("GET", "/proposals")
    def proposals(self, state: str | None = "open", **bounds: Unpack[ListBounds]) -> ProposalsReply:
        """List proposals in a state, all for None, the oldest first."""

    @request("GET", "/proposals/{name}")
    def proposal(self, name: str, *, agent: str | None = None) -> ProposalReply:
        """Return one proposal with its diff; raises NotFound."""

    @request("POST", "/proposals/{name}/accept")
    def accept_proposal(self, name: str, *, agent: str | None = None) -> DecidedProposalReply:
        """Have a proposal written; raises NotFound, InvalidRequest for one that is decided or outdated, Denied."""

    @request("POST", "/proposals/{name}/reject")
    def reject_proposal(self, name: str, *, agent: str | None = None) -> DecidedProposalReply:
        """Take a proposal out of the queue; raises as `accept_proposal` does."""

    @request("GET", "/disagreements")
    def disagreements(self, *, limit: int | None = None, agent: str | None = None) -> DisagreementsReply:
        """List memories that may contradict each other, the newest first; raises Denied but for the owner."""

    @request("POST", "/disagreements/{name}")
    def settle_disagreement(self, name: str, keep: str, *, agent: str | None = None) -> SettledReply:
        """Have one of two memories hold, by its `name`, or `both`; raises NotFound, InvalidRequest, Denied."""

    @request("GET", "/memories")
    def memories(self, **filters: Unpack[MemoryBounds]) -> MemoryListReply:
        """List memories, the newest first."""

    @request("POST", "/memories")
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

    @request("POST", "/memories/search", top_k="top_k")
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

    @request("GET", "/memories/stats")
    def memory_stats(self, **who: Unpack[Asker]) -> MemoryStatsReply:
        """Count memories by tier, kind and scope."""

    @request("GET", "/memories/{memory_id}")
    def get_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryReply:
        """Tell a memory; raises NotFound."""

    @request("GET", "/memories/{memory_id}/why")
    def why_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryWhyReply:
        """Say why a memory stands where it does; raises NotFound."""

    @request("GET", "/memories/decay", within="in")
    def decay_memories(self, within: str = "90d", **bounds: Unpack[ListBounds]) -> MemoryDecayReply:
        """Say how memories will stand in so long if nobody touches them."""

    @request("DELETE", "/memories/{memory_id}")
    def delete_memory(self, memory_id: str, *, dry_run: bool = False, **who: Unpack[Asker]) -> MemoryDeleteReply:
        """Take out all lines that state a memory; raises NotFound, Denied."""

    @request("POST", "/memories/{memory_id}/pin")
    def pin_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryEditReply:
        """Pin a memory; raises NotFound, Denied."""

    @request("POST", "/memories/{memory_id}/unpin")
    def unpin_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryEditReply:
        """Take the pin of a memory away; raises NotFound, Denied."""

    @request("POST", "/memories/{memory_id}/importance")
    def weigh_memory(self, memory_id: str, importance: float, **who: Unpack[Asker]) -> MemoryEditReply:
        """Write how important a memory is, 0 to 1; raises NotFound, Denied."""

    @request("POST", "/memories/{memory_id}/replace")
    def replace_memory(
        self, memory_id: str, text: str, *, in_place: bool = False, by_agent: bool = False, **who: Unpack[Asker]
    ) -> MemoryReplaceReply:
        """Say what holds now in the place of a memory; raises NotFound, Denied. `by_agent`: a model says it."""

    @request("GET", "/memories/export")
    def export_memories(
        self,
        *,
        after: str | None = None,
        limit: int | None = None,
        scope: str | None = None,
        agent: str | None = None,
    ) -> ExportReply:
        """Return a page of memories; `after` is the `next` of the page before."""

    @request("POST", "/memories/import")
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

    @request("POST", "/retain")
    def retain(
        self,
        text: str,
        *,
        each: bool = False,
        remember: bool = False,
        replaces: str | None = None,
        in_place: bool = False,
        by_agent: bool = False,
        **options: Unpack[StatementOptions],
    ) -> RetainReply:
        """State a memory in today's log: a bullet such as `W @Peter: …`, or plain text.

        With `each` every bullet is one. What is sent twice is written once. `replaces` is the memory whose place it
        takes: its id, a citation, or words that it says; with `in_place` its own lines say it. `by_agent`: a model
        states it. Raises NotFound where that means none, or several.
        """

    @request("POST", "/forget", wait_ms=FORGET_MS, what="target")
    def forget(
        self, what: str, *, dry_run: bool = False, undoable: bool = False, agent: str | None = None
    ) -> ForgetReply:
        """Take a memory out of everything, or say what would go: by its id, a citation, or words that it says.

        With `undoable` it can be undone for 24 hours. Raises NotFound, Denied but for the owner.
        """

    @request("GET", "/verify")
    def verify(self, citation: str, **who: Unpack[Asker]) -> VerifyReply:
        """Ask whether cited lines still stand, moved, were edited or are gone."""

    @request("GET", "/core")
    def core(self, **who: Unpack[Asker]) -> CoreReply:
        """Show the core file, and `SOUL.md` beside it."""

    @request("POST", "/core/append", is_repeatable=False)
    def core_append(self, text: str, *, expected: str | None = None, **who: Unpack[Asker]) -> CoreEditReply:
        """Add lines at the end of the core file."""

    @request("POST", "/core/replace", is_repeatable=False)
    def core_replace(self, old: str, new: str, *, expected: str | None = None, **who: Unpack[Asker]) -> CoreEditReply:
        """Put a text in the place of one that stands in the core file once."""

    @request("POST", "/core/insert", is_repeatable=False)
    def core_insert(self, text: str, *, after: str, expected: str | None = None, **who: Unpack[Asker]) -> CoreEditReply:
        """Add lines below a line of the core file."""
