"""The calls of the daemon, each as a method; their replies are declared in memoryd.replies.

`memory_id` is an id, or its first eight characters. Changes, the core file, reflect and permanent removal (forget) are
for the owner only. A call that has an effect each time (`undo`, `add_turn`, an edit of the core file) is not sent
twice: if the connection breaks before the reply, NotNow is raised, and the call may have been carried out.
"""

# mypy: disable-error-code="empty-body"
# most calls are only declared: `request` implements them

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack
from urllib.parse import quote

from memoryd.client.connection import Asker, ListBounds, request, target
from memoryd.client.conversation_calls import FORGET_MS, ConversationCalls
from memoryd.wire import EncodingName, SyncGoal

if TYPE_CHECKING:
    # only types: loading them would delay a command
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
"""The deadline of a reload: the daemon waits for calls in flight."""
REFLECT_MS = 600_000
"""The deadline of a run over a large workspace, including a model that writes summaries."""


class SearchBounds(Asker, total=False):
    """The limits of a search; absent ones are taken from the configuration (6 results, 5 s)."""

    max_results: int | None
    min_score: float | None
    sources: Sequence[str] | None
    """`memory` or `sessions`."""
    since: str | None
    """A date, like `until`."""
    until: str | None
    paths: Sequence[str] | None
    """Globs below the workspace."""
    deadline_ms: int | None


class RecallBounds(Asker, total=False):
    """The options of recall; absent ones are taken from the configuration (5 items, 1,200 tokens, 5 s).

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
    """The maximum number of tokens of a bundle."""
    encode: EncodingName
    """The encoding of a bundle: text, or an object for a request to an API."""
    if_none_match: str | None
    """The etag of a stable block, which is then left out of the bundle."""
    deadline_ms: int | None


class MemoryBounds(ListBounds, total=False):
    """The filters of a list of memories."""

    scope: str | None
    kind: str | None
    tier: str | None
    pinned: bool | None
    tag: str | None
    query: str | None
    """Words that a memory must contain, all of them."""
    offset: int | None


class ChangeBounds(TypedDict, total=False):
    """The filters of a list of changes."""

    since: str | None
    by: str | None
    path: str | None
    run: str | None
    limit: int | None
    agent: str | None


class StatementOptions(Asker, total=False):
    """The optional properties of a new memory."""

    kind: str | None
    importance: float | None
    scope: str | None
    entities: Sequence[str] | None
    at: str | None


class Client(ConversationCalls):
    """A client of the daemon at `socket`, by default the socket of this user; `timeout` in seconds without data.

    `agent` and `session_key` are the defaults of calls that do not set them.
    """

    @request("GET", "/health")
    def health(self) -> HealthReply:
        """Return whether the daemon is running (`ok`) and its index has been read once (`ready`)."""

    @request("GET", "/status")
    def status(self) -> StatusReply:
        """Return the daemon's state, per agent."""

    def metrics(self) -> str:
        """Return the metrics in the text format of Prometheus."""
        return self.text("/metrics")

    @request("POST", "/sync")
    def sync(self, wait: SyncGoal = "indexed", timeout_ms: int | None = None, agent: str | None = None) -> SyncReply:
        """Wait until what is on disk now is searchable by words ("indexed") or by vector too ("embedded").

        `timeout_ms` defaults to the client's time-out. When it expires, the reply contains `complete: false` and the
        pending work, which continues.
        """

    @request("POST", "/reindex")
    def reindex(self, force: bool = False, embeddings: bool = False, agent: str | None = None) -> ReindexReply:
        """Start to read every file again (`force`) and to compute every vector again (`embeddings`)."""

    def reload(self, is_dry: bool = False) -> ReloadReply:
        """Have the daemon read its configuration again and apply the changes, without interrupting anything else.

        With `is_dry`, only return what would change.
        """
        reply: ReloadReply = self.call("POST", "/reload" + "?dryRun=true" * is_dry, wait_ms=RELOAD_MS)
        return reply

    @request("POST", "/page")
    def open_page(self, keep: bool = False, *, agent: str | None = None) -> PageReply:
        """Return a link to the page that is valid once, within a minute; with `keep` the page stays open until exit."""

    def events(self, *, silence: float | None = None, **who: Unpack[Asker]) -> Generator[ServerEvent, None, None]:
        """Yield events of indexing, embedding and degradation as they happen, on a separate connection.

        Ends when the daemon stops. Raises DeadlineExceeded after `silence` seconds without data.
        """
        yield from self.stream(target("/events", self.with_asker(who)), silence)

    @request("POST", "/search")
    def search(self, query: str, *, explain: bool = False, **options: Unpack[SearchBounds]) -> SearchReply:
        """Find the chunks that answer `query`, best first. A reply without hits has a `reason`."""

    def get(
        self,
        path: str,
        *,
        start: int | None = None,
        lines: int | None = None,
        column: int | None = None,
        **who: Unpack[Asker],
    ) -> FileReply:
        """Read `lines` lines of a document from line `start` (1-based) on, beginning at character `column` of it.

        A reply shortened by the size limit has `truncated`, and `nextFrom` or, inside a line that is too long,
        `nextColumn`. Raises NotFound.
        """
        place = self.with_asker({"from": start, "lines": lines, "column": column, **who})
        # as bytes, since the name may not be UTF-8; the slashes of its folders stay
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

        `format="bundle"` adds text for a prompt. Returned memories count as used, unless `touch` is false.
        """

    @request("GET", "/entities")
    def entities(self, **bounds: Unpack[ListBounds]) -> EntitiesReply:
        """List the entities that memories are about, the one with most memories first."""

    @request("GET", "/entities/{name}")
    def entity(self, name: str, **bounds: Unpack[ListBounds]) -> EntityShowReply:
        """Return what is known about an entity, given by its name or an alias. Raises NotFound."""

    @request("POST", "/entities/merge")
    def merge_entity(
        self, name: str, into: str, *, dry_run: bool = False, agent: str | None = None
    ) -> EntityChangeReply:
        """Make a name an alias of an entity. Raises InvalidRequest, and Denied unless by the owner."""

    @request("POST", "/entities/split")
    def split_entity(self, alias: str, *, dry_run: bool = False, agent: str | None = None) -> EntityChangeReply:
        """Remove an alias of an entity from its page. Raises NotFound, InvalidRequest, Denied unless by the owner."""

    @request("GET", "/opinions")
    def opinions(self, *, entity: str | None = None, **bounds: Unpack[ListBounds]) -> OpinionsReply:
        """List opinions with their confidence, the most confident first; optionally only those about an entity."""

    @request("GET", "/opinions/{opinion}")
    def why_opinion(self, opinion: str, **who: Unpack[Asker]) -> OpinionWhyReply:
        """Explain an opinion, given by its id or the beginning of it. Raises NotFound."""

    @request("POST", "/opinions/replay")
    def replay_opinions(self, **who: Unpack[Asker]) -> OpinionReplayReply:
        """Recompute all confidences from lines and ledger, and compare them bit for bit."""

    @request("GET", "/changes", of_session=False)
    def changes(self, *, lines: bool = True, **filters: Unpack[ChangeBounds]) -> ChangesReply:
        """List the changes written to the workspace, the newest first; `lines` includes the text of notes."""

    @request("POST", "/undo", is_repeatable=False, change="id")
    def undo(
        self, change: int | None = None, *, run: str | None = None, dry_run: bool = False, agent: str | None = None
    ) -> UndoReply:
        """Undo a change by its number, or all changes of one run, as far as their lines are unchanged."""

    @request("POST", "/reflect", wait_ms=REFLECT_MS)
    def reflect(
        self,
        since: str | None = None,
        *,
        dry_run: bool = False,
        allow_loss: bool = False,
        agent: str | None = None,
    ) -> ReflectReply:
        """Update pages and opinions and propose changes, or return what that would do.

        `since` is `7d` or a date. Raises Denied unless by the owner, and NotNow while the index is not current or
        another run is active.
        """

    @request("GET", "/proposals")
    def proposals(self, state: str | None = "open", **bounds: Unpack[ListBounds]) -> ProposalsReply:
        """List proposals in a state, or all for None, the oldest first."""

    @request("GET", "/proposals/{name}")
    def proposal(self, name: str, *, agent: str | None = None) -> ProposalReply:
        """Return one proposal with its diff. Raises NotFound."""

    @request("POST", "/proposals/{name}/accept")
    def accept_proposal(self, name: str, *, agent: str | None = None) -> DecidedProposalReply:
        """Write a proposal. Raises NotFound, Denied, and InvalidRequest if it is decided or outdated."""

    @request("POST", "/proposals/{name}/reject")
    def reject_proposal(self, name: str, *, agent: str | None = None) -> DecidedProposalReply:
        """Reject a proposal. Raises as `accept_proposal` does."""

    @request("GET", "/disagreements")
    def disagreements(self, *, limit: int | None = None, agent: str | None = None) -> DisagreementsReply:
        """List memories that may contradict each other, the newest first. Raises Denied unless by the owner."""

    @request("POST", "/disagreements/{name}")
    def settle_disagreement(self, name: str, keep: str, *, agent: str | None = None) -> SettledReply:
        """Decide which of two memories is valid, by its `name`, or `both`. Raises NotFound, InvalidRequest, Denied."""

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
        """Write a memory to today's log, once even if sent twice. `by_agent` means that a model states it."""

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
        """Return a memory. Raises NotFound."""

    @request("GET", "/memories/{memory_id}/why")
    def why_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryWhyReply:
        """Explain the rank of a memory. Raises NotFound."""

    @request("GET", "/memories/decay", within="in")
    def decay_memories(self, within: str = "90d", **bounds: Unpack[ListBounds]) -> MemoryDecayReply:
        """Predict the tiers of memories after the time `within` if they are not used until then."""

    @request("DELETE", "/memories/{memory_id}")
    def delete_memory(self, memory_id: str, *, dry_run: bool = False, **who: Unpack[Asker]) -> MemoryDeleteReply:
        """Delete all lines that state a memory. Raises NotFound, Denied."""

    @request("POST", "/memories/{memory_id}/pin")
    def pin_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryEditReply:
        """Pin a memory. Raises NotFound, Denied."""

    @request("POST", "/memories/{memory_id}/unpin")
    def unpin_memory(self, memory_id: str, **who: Unpack[Asker]) -> MemoryEditReply:
        """Unpin a memory. Raises NotFound, Denied."""

    @request("POST", "/memories/{memory_id}/importance")
    def weigh_memory(self, memory_id: str, importance: float, **who: Unpack[Asker]) -> MemoryEditReply:
        """Set the importance of a memory, 0 to 1. Raises NotFound, Denied."""

    @request("POST", "/memories/{memory_id}/replace")
    def replace_memory(
        self, memory_id: str, text: str, *, in_place: bool = False, by_agent: bool = False, **who: Unpack[Asker]
    ) -> MemoryReplaceReply:
        """Replace a memory by what is true now. Raises NotFound, Denied. `by_agent` means that a model states it."""

    @request("GET", "/memories/export")
    def export_memories(
        self,
        *,
        after: str | None = None,
        limit: int | None = None,
        scope: str | None = None,
        agent: str | None = None,
    ) -> ExportReply:
        """Return a page of memories; `after` is the `next` of the previous page."""

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
        """Write exported memories, and notes, 1,000 of each at most; `run` undoes all of it."""

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
        """Write a memory to today's log: a bullet such as `W @Peter: …`, or plain text.

        With `each` every bullet is a separate memory. What is sent twice is written once. `replaces` is the memory to
        replace: its id, a citation, or words that it contains; with `in_place` its lines are changed in place.
        `by_agent` means that a model states it. Raises NotFound if `replaces` matches none or several.
        """

    @request("POST", "/forget", wait_ms=FORGET_MS, what="target")
    def forget(
        self, what: str, *, dry_run: bool = False, undoable: bool = False, agent: str | None = None
    ) -> ForgetReply:
        """Remove a memory everywhere, or return what would be removed.

        `what` is its id, a citation, or words that it contains. With `undoable` it can be undone for 24 hours. Raises
        NotFound, and Denied unless by the owner.
        """

    @request("GET", "/verify")
    def verify(self, citation: str, **who: Unpack[Asker]) -> VerifyReply:
        """Return whether cited lines are unchanged, moved, edited or deleted."""

    @request("GET", "/core")
    def core(self, **who: Unpack[Asker]) -> CoreReply:
        """Return the core file, and `SOUL.md` beside it."""

    @request("POST", "/core/append", is_repeatable=False)
    def core_append(self, text: str, *, expected: str | None = None, **who: Unpack[Asker]) -> CoreEditReply:
        """Append lines to the core file."""

    @request("POST", "/core/replace", is_repeatable=False)
    def core_replace(self, old: str, new: str, *, expected: str | None = None, **who: Unpack[Asker]) -> CoreEditReply:
        """Replace a text that occurs in the core file exactly once."""

    @request("POST", "/core/insert", is_repeatable=False)
    def core_insert(self, text: str, *, after: str, expected: str | None = None, **who: Unpack[Asker]) -> CoreEditReply:
        """Insert lines below a line of the core file."""
