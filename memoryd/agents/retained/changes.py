"""Changes of an agent's workspace: list, undo, correct lines, and settle conflicts; for its owner only.

`Retained` groups the services for the retained memories of one agent.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.retained.documents import AgentDocuments
from memoryd.agents.retained.entities import AgentEntities
from memoryd.agents.retained.opinions import AgentOpinions, ReflectUse
from memoryd.agents.retained.recall import AgentRecall
from memoryd.agents.retained.replacing import AgentEdits
from memoryd.agents.retained.retaining import SHOWS_SECRET, AgentCore, AgentRetaining
from memoryd.agents.retained.transfer import AgentTransfer
from memoryd.agents.search import AgentVerifying, make_searchable
from memoryd.agents.turns.capture import AgentCapture
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.config.agents import Agent
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import (
    Citation,
    RelativePath,
    is_conversation,
    is_copy_at_top,
    is_outside,
    original_of,
    parse,
    printable_name,
)
from memoryd.domain.memories.changes.diffs import merge_versions, unified_diff
from memoryd.domain.memories.changes.forgetting import with_other_lines
from memoryd.domain.memories.generated import block_in
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.domain.ranking.filters import parse_instant
from memoryd.domain.redaction import secrets_in
from memoryd.domain.text.sanitizing import Flag, KeepVersion, marked_conflicts, resolve_conflicts
from memoryd.errors import InvalidRequest, MemorydError, NotFound
from memoryd.memory.book import MemoryCache
from memoryd.memory.forgetting.forgetting import MemoryForgetting
from memoryd.memory.forgetting.planning import copied_memories, lines_undone
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.journal import Edit, Journal, NoteChange, stored_hunks, undoing_run
from memoryd.memory.note_files import NoteFiles
from memoryd.memory.reflect.proposals import ProposalQueue
from memoryd.memory.retaining import with_undo_hint
from memoryd.memory.touches import NO_FILE
from memoryd.memory.usage import UsageCache
from memoryd.replies.changes import (
    ChangedLinesReply,
    ChangeReply,
    ChangesReply,
    ConflictReply,
    ConflictSettledReply,
    ConflictsReply,
    LinesReplacedReply,
    UndoneReply,
    UndoReply,
)
from memoryd.store.ledger.changes import BLANK_HASH, ChangeFilter, ChangeRow

AGENT = "agent"
"""Filter value for changes requested by agents, instead of a writer."""
CONFLICTS_SHOWN = 50
FLAGGED_MAX = 10_000
"""Maximum number of flagged documents that are scanned for conflicts."""
_CATCH_UP_SECONDS = 2.0
_CONFLICTS_HINT = "memoryctl conflicts shows both versions as they are now"


class AgentChanges(Struct, frozen=True, kw_only=True):
    """Changes of one agent's workspace, and conflicts between two versions of a note. `now` is in the owner's zone."""

    journal: Journal
    usage: UsageCache
    index: WorkspaceIndex
    proposals: ProposalQueue
    tombstones: TombstoneStore
    now: Callable[[], datetime]

    async def list_changes(
        self, filters: ChangeFilter, *, since: str = "", by: str = "", has_lines: bool
    ) -> ChangesReply:
        """Return changes, the newest first; raises InvalidRequest, and StoreError if the ledger cannot be read.

        `since` is a date in the user's notation, `by` a writer, `agent`, or `agent:ID`.
        """
        await self.journal.check_interrupted()
        filters = replace(_with_writer(filters, by), since=self.moment(since, filters.since))
        rows = await self.journal.changes.select(filters)
        standing = await self._are_current(rows)
        changes = [_change_reply(row, has_lines=has_lines, standing=standing.get(row.id)) for row in rows]
        return ChangesReply(changes=changes, sessions=[], trouble=self.journal.trouble)

    async def _are_current(self, rows: Sequence[ChangeRow]) -> Mapping[int, bool]:
        """Return for each change whether its file still has the bytes it wrote; unreadable files are left out."""
        now: dict[RelativePath, bytes] = {}
        for path in dict.fromkeys(row.path for row in rows):
            with contextlib.suppress(MemorydError):
                note = await self.journal.read(path)
                now[path] = b"" if note.stat is None else note.sha256
        known = (row for row in rows if row.path in now and row.hash_after != BLANK_HASH)
        return {row.id: now[row.path] == row.hash_after for row in known}

    def moment(self, since: str, otherwise: float = float("-inf")) -> float:
        """Return the start of a date in the user's notation, in seconds since 1970; raises InvalidRequest."""
        try:
            return parse_instant(since, self.now()).timestamp() if since else otherwise
        except (ValueError, OverflowError) as exc:
            raise InvalidRequest(f"since: {exc}", hint="give a date, 2026-11-18, or 7d for as long ago") from exc

    async def undo(self, number: int | None, run: str | None, *, is_dry_run: bool) -> UndoReply:
        """Undo a change, or all changes of one run; raises what `Journal.undo` does, and InvalidRequest for neither."""
        if (number is None) == (run is None):
            raise InvalidRequest("give the number of a change, or a run", hint="memoryctl changes lists both")
        row = None if number is None else await self.journal.changes.get(number)
        if row is not None and row.writer == WrittenBy.FORGET and not is_dry_run:
            # if the change cannot be undone, its memory must stay forgotten
            await self.journal.undo(row.id, is_dry_run=True)
            # before its lines are restored: otherwise they would be removed as reappeared memories
            for memory in copied_memories([row]).memories.values():
                await self.tombstones.release(memory.id, memory.text)
        left: list[str] = []
        if number is None:
            undone, left = await self.journal.undo_run(run or "", is_dry_run=is_dry_run)
        elif row is not None and row.path == NO_FILE:
            undone = [(row, await self._restore_tiers(row, is_dry_run=is_dry_run))]
        else:
            undone = await self.journal.undo(number, is_dry_run=is_dry_run)
        for row, by in undone:
            if by and row.writer == WrittenBy.PROPOSAL:
                await self.proposals.reopen(row.run)
        written = [RelativePath(row.path) for row, by in undone if by and row.path != NO_FILE]
        if written:
            # the next query finds the restored lines
            await make_searchable(self.index, written)
        rows = [row for row, _ in undone]
        notes = await self.journal.revoke(lines_undone(rows), {row.path for row in rows}, is_dry_run=is_dry_run)
        replies = [UndoneReply(change=_change_reply(row), undoneBy=by or None) for row, by in undone]
        run = "" if is_dry_run else undoing_run(rows)
        return UndoReply(undone=replies, left=left, run=run or None, dryRun=is_dry_run, notes=list(notes))

    async def replace_lines(self, citation: str, old: str, new: str) -> LinesReplacedReply:
        """Replace the cited lines if they are still `old`; raises what `Journal.change` does.

        Raises InvalidRequest for a citation without lines of a note, for lines that changed, and for lines that reflect
        wrote.
        """
        try:
            place = parse(citation)
        except ValueError as exc:
            raise InvalidRequest(str(exc)) from exc
        if place.start_line is None or is_conversation(place.path):
            raise InvalidRequest(f"{citation} names no lines of a note", hint="give such as memory/2026-11-20.md#L3")
        edit = partial(_with_other_lines, place, old, new)
        made = await self.journal.change(
            RelativePath(place.path), edit, by=WrittenBy.LINES, why="lines were corrected by their place"
        )
        notes = [SHOWS_SECRET if secrets_in(new) else "", made.note]
        return LinesReplacedReply(
            path=made.path,
            changed=made.is_written,
            change=made.id or None,
            searchable=not made.is_written or await make_searchable(self.index, [made.path]),
            notes=list(filter(None, notes)),
        )

    async def _restore_tiers(self, row: ChangeRow, *, is_dry_run: bool) -> int:
        """Undo a change of touches and tiers; return the number of the new change, 0 on a dry run."""
        self.journal.check_writable()
        stored_hunks(row)
        return 0 if is_dry_run else await self.usage.undo(row, self.journal.changes)

    async def conflicts(self) -> ConflictsReply:
        """Return the first `CONFLICTS_SHOWN` conflicts, each with a diff of its versions; raises StoreError.

        A sync program leaves a copy with a name of its own, git leaves both versions between marks. This lists the
        notes of the workspace, and copies of its core file, which no index has.
        """
        # wait for the index: git may have merged a moment ago
        await self.index.catch_up(_CATCH_UP_SECONDS)
        paths = await self._conflict_paths()
        return ConflictsReply(
            conflicts=[await self._conflict_reply(path) for path in paths[:CONFLICTS_SHOWN]], total=len(paths)
        )

    async def settle_conflict(self, path: RelativePath, keep: KeepVersion) -> ConflictSettledReply:
        """Keep one version or both, as changes of one run; raises NotFound, InvalidRequest, and as `Journal.change`."""
        self.journal.check_writable()
        original, text = original_of(path), (await self.journal.read(path)).text
        if text is None:
            raise NotFound(f"there is no note {path}", hint=_CONFLICTS_HINT)
        if original == path:
            if not any(marked_conflicts(text.encode())):
                raise InvalidRequest(
                    f"{path} is no copy of a conflict, and has none of git's marks", hint=_CONFLICTS_HINT
                )
            edits: list[tuple[RelativePath, Edit]] = [(path, lambda note: resolve_conflicts(note or "", keep))]
        else:
            edits = [(original, partial(_new_original, text, keep)), (path, partial(_empty_copy, path, text))]
        run, done = uuid4().hex, list[NoteChange]()
        async with self.journal.write_lock:
            for at, edit in edits:
                why = f"a conflict was settled: {keep} kept"
                try:
                    done.append(
                        await self.journal.change(at, edit, by=WrittenBy.LINES, why=why, run=run, delete=at != original)
                    )
                except MemorydError as exc:
                    raise with_undo_hint(exc, done) from exc
        changes = [change.id for change in done if change.is_written]
        searchable = await make_searchable(self.index, [path, original])
        return ConflictSettledReply(
            path=path, original=original, keep=keep.value, changes=changes, run=run, searchable=searchable
        )

    async def _conflict_paths(self) -> list[RelativePath]:
        flagged = await self.index.database.documents.flagged(FLAGGED_MAX)
        known = {path for path, flags in flagged if Flag.CONFLICT in flags and not is_outside(path)}
        withdrawn = self.index.indexer.withdrawn
        # the index may still have a file that was deleted a moment ago
        existing = await asyncio.to_thread(_existing_conflicts, self.journal.files, known)
        return [path for path in existing if path not in withdrawn]

    async def _conflict_reply(self, path: RelativePath) -> ConflictReply:
        original = original_of(path)
        try:
            text, other = (await self.journal.read(path)).text or "", None
            if original != path:
                other = (await self.journal.read(original, is_shown=True)).text
        except MemorydError as exc:
            return ConflictReply(path=path, original=original, diff="", note=str(exc))
        if original == path:
            before, after = (resolve_conflicts(text, keep) for keep in (KeepVersion.ORIGINAL, KeepVersion.COPY))
            return ConflictReply(path=path, original=path, diff=unified_diff(path, before, after), note=None)
        note = f"there is no {original}: only the copy can be kept" if other is None else None
        return ConflictReply(path=path, original=original, diff=unified_diff(original, other or "", text), note=note)


def _with_other_lines(place: Citation, old: str, new: str, text: str | None) -> str:
    """Return a note with the cited lines corrected; raises InvalidRequest."""
    before = text or ""
    after = with_other_lines(before, place.start_line or 1, _lines(old), _lines(new))
    if after is None:
        raise InvalidRequest(f"{place} says something else by now: nothing was written", hint="look at it again")
    if block_in(before) != block_in(after):
        raise InvalidRequest(
            f"reflect writes {place}, and would write it again", hint="correct the memory that the line cites"
        )
    return after


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


def _with_writer(filters: ChangeFilter, name: str) -> ChangeFilter:
    if not name:
        return filters
    kind, _, agent = name.partition(":")
    if kind == AGENT:
        return replace(filters, agents_only=True, agent=agent)
    if name not in {str(writer) for writer in WrittenBy}:
        raise InvalidRequest(
            f"by: nothing is written by {name!r}", hint=f"by: {', '.join(WrittenBy)}, agent, agent:ID, qa"
        )
    return replace(filters, writer=name)


def _change_reply(row: ChangeRow, *, has_lines: bool = True, standing: bool | None = None) -> ChangeReply:
    # forgotten lines that are stored for undo are never shown
    hunks = row.hunks or () if has_lines and row.writer != WrittenBy.FORGET else ()
    return ChangeReply(
        id=row.id,
        at=rfc3339(datetime.fromtimestamp(row.at, UTC)),
        by=row.writer,
        agent=row.agent or None,
        why=row.why,
        path=row.path,
        run=row.run or None,
        state=row.state,
        undoes=row.undoes or None,
        undoable=row.hunks is not None,
        hashBefore=_hash_reply(row.hash_before),
        hashAfter=_hash_reply(row.hash_after),
        standing=standing,
        lines=[ChangedLinesReply(line=hunk.line, removed=list(hunk.removed), added=list(hunk.added)) for hunk in hunks],
    )


def _hash_reply(digest: bytes) -> str | None:
    return "" if digest == BLANK_HASH else digest.hex() or None


def _existing_conflicts(files: NoteFiles, known: Set[str]) -> list[RelativePath]:
    """Return those of these conflicts that exist on disk, and the copies of files at the top; no private note."""
    names = [printable_name(path.name) for path in files.workspace.glob("*.md")]
    paths = map(RelativePath, sorted({*known, *filter(is_copy_at_top, names)}))
    return [path for path in paths if (files.workspace / path).exists() and not files.is_private(path)]


def _new_original(copy: str, keep: KeepVersion, text: str | None) -> str | None:
    """Return the new text of the original, None to leave it; raises InvalidRequest if there is none to keep."""
    if keep is KeepVersion.ORIGINAL:
        if text is None:
            raise InvalidRequest("there is no original to be kept", hint="keep the copy")
        return None
    return copy if keep is KeepVersion.COPY or text is None else merge_versions(text, copy)


def _empty_copy(path: str, copy: str, text: str | None) -> str:
    """Return the empty text for a copy; raises InvalidRequest if the copy was edited since."""
    if text not in (copy, None):
        raise InvalidRequest(f"{path} has been edited since, and stays", hint=_CONFLICTS_HINT)
    return ""


class Retained(Struct, frozen=True, kw_only=True):
    """The services for the retained memories of one agent."""

    agent: Agent
    book: MemoryCache
    """The book of the workspace; scopes decide what the agent may see."""
    journal: Journal
    """The writer into its workspace."""
    retaining: AgentRetaining
    forgetting: MemoryForgetting
    """Shared by the workspace."""
    verifying: AgentVerifying
    opinions: AgentOpinions
    core: AgentCore
    entities: AgentEntities
    changes: AgentChanges
    reflect: ReflectUse
    """Reflect over the workspace, and its proposals."""
    recall: AgentRecall
    capture: AgentCapture
    """Capture from messages to the agent."""
    documents: AgentDocuments
    document_edits: AgentEdits
    transfer: AgentTransfer

    @property
    def trouble(self) -> str:
        """Problems that the owner should check; empty if there are none."""
        return "; ".join(
            filter(None, [*self.journal.trouble, self.forgetting.trouble, self.reflect.reflecting.trouble])
        )
