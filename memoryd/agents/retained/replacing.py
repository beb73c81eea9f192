"""Changing memories of an agent: add, pin, weigh, delete, replace by a new statement, and settle two that disagree.

The owner may change all visible memories; a session may change only those of its own agent, and none in the core, which
others rely on.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.retained.documents import AgentDocuments
from memoryd.agents.retained.retaining import AgentRetaining, retain_reply
from memoryd.agents.search import check_scope, make_searchable
from memoryd.config.team import TeamSection
from memoryd.domain.access import Admitted
from memoryd.domain.documents import person_of
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.changes.replacing import (
    Keep,
    MemoryReplacement,
    ReplacementTarget,
    find_disagreement,
    find_replaced,
    is_of_owner,
    pair_name,
    plan_replacement,
    settlement_of,
    with_missing_parts,
)
from memoryd.domain.memories.documents import visible_memories
from memoryd.domain.memories.edits import OWN_CHANNELS, AttributeChange, MemoryDraft
from memoryd.domain.memories.kinds import GLOBAL, Kind, MemoryId, is_team, short_id, unnamed_scope
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.recall_filters import WORKSPACE, RecallFilters
from memoryd.domain.memories.recall_order import newer_of
from memoryd.domain.memories.versions import Disagreement, Doubt, newness
from memoryd.errors import Denied, InvalidRequest, NotFound, NotNow, StoreError
from memoryd.memory.retaining import SETTLE_HINT, LineEditing, StatementHashes
from memoryd.replies.knowledge import DisagreeingMemoryReply, DisagreementReply, DisagreementsReply, SettledReply
from memoryd.replies.memories import MemoryAddReply, MemoryDeleteReply, MemoryEditReply, RetainReply

NOT_OWN = "a session changes only memories of its own agent"
NOT_OWN_HINT = "the owner may, by `memoryctl memories`"
SAME = "it says so already: nothing was changed"
NEWER = "{} was superseded by {} before, which is what was replaced"
OLDER = "{} stays superseded by {}"
TIMED = "{} has at={}, which the new line has not: say it in its brackets if it holds for it, too"
_AGES = (Keep.NEWER.value, Keep.OLDER.value)
_OWNERS_HINT = (
    "state it beside that, with contradicts={0} behind its kind, and the owner decides; or the owner may, by "
    "`memoryctl replace {0}`"
)


class AgentEdits(Struct, frozen=True, kw_only=True):
    """Adds, changes, deletes and replaces memories of one agent, and settles the disagreements its owner may see."""

    documents: AgentDocuments
    retaining: AgentRetaining
    editing: LineEditing
    stated: StatementHashes

    async def add(
        self,
        text: str,
        *,
        admitted: Admitted,
        kind: Kind | None = None,
        importance: float | None = None,
        scope: str = "",
        tags: Sequence[str] = (),
        pinned: bool = False,
        by_agent: bool = False,
    ) -> MemoryAddReply:
        """State a memory in today's log. Without a scope, a memory from a session belongs to its agent.

        `by_agent`: a model states it through its owner's socket, and gets the rights of a session. Raises what
        `AgentRetaining.retain` does.
        """
        stater = replace(admitted, is_owner=admitted.is_owner and not by_agent)
        draft = MemoryDraft(
            text=text,
            kind=kind,
            default_kind=Kind.NOTE,
            importance=importance,
            scope=self._scope_of_statement(scope, stater),
            tags=tuple(tags),
            is_pinned=pinned,
        )
        reply = await self.retaining.retain(draft, stater)
        if not reply["searchable"] and reply["id"] not in (await self.documents.recall.book.current()).memories:
            raise NotNow(
                "it is written, and not indexed yet", hint="memoryctl status says why; it is found once it is read"
            )
        return MemoryAddReply(
            memory=await self.documents.get(reply["id"], admitted),
            created=reply["created"],
            change=reply["change"],
            searchable=reply["searchable"],
            notes=reply["notes"],
        )

    async def set_pin(self, name: str, admitted: Admitted, *, is_pinned: bool) -> MemoryEditReply:
        """Pin a memory, so that it never decays and is in the core of sessions, or unpin it.

        Only the owner may; raises as `set_importance`.
        """
        return await self._change(name, AttributeChange(is_pinned=is_pinned), admitted)

    async def set_importance(self, name: str, value: float, admitted: Admitted) -> MemoryEditReply:
        """Set the importance, 0 to 1; a session may not set one that makes the memory core.

        Raises NotFound, Denied, and what `LineEditing.change` does.
        """
        if not 0 <= value <= 1:
            raise InvalidRequest(f"an importance is a number from 0 to 1, not {value}")
        return await self._change(name, AttributeChange(importance=value), admitted)

    async def delete(self, name: str, admitted: Admitted, *, is_dry_run: bool = False) -> MemoryDeleteReply:
        """Delete all lines that state a memory; a session may not delete a pinned one. Raises as `set_importance`."""
        memory = await self._own_memory(name, admitted)
        self.retaining.rights.check_unpin(memory.line, is_owner=admitted.is_owner)
        positions = await self.editing.lines(memory)
        lines = [f"{path}#L{first}" + (f"-L{last}" if last > first else "") for path, first, last in positions]
        reply = MemoryDeleteReply(
            id=memory.id, deleted=False, lines=lines, changes=[], run=None, searchable=True, notes=[]
        )
        revoke = partial(self.editing.journal.revoke, [memory.line], {path for path, *_ in positions})
        if is_dry_run:
            return {**reply, "notes": [*await revoke(is_dry_run=True)]}
        written = await self.editing.delete(memory, agent=self.asker(admitted))
        # a memory that was written by hand is not captured again either
        await self.stated.note([memory.text])
        with contextlib.suppress(StoreError, Denied):
            # usage that cannot be dropped now is pruned in a month, like that of any deleted line
            await self.documents.usage.drop([memory.id])
        return {
            **reply,
            "deleted": True,
            "changes": list(written.numbers),
            "run": written.run or None,
            "searchable": await make_searchable(self.documents.index, written.paths),
            "notes": [*await revoke()],
        }

    async def _change(self, name: str, change: AttributeChange, admitted: Admitted) -> MemoryEditReply:
        memory, rights = await self._own_memory(name, admitted), self.retaining.rights
        if change.is_pinned is not None:
            rights.check_pin(is_owner=admitted.is_owner)
        if change.importance is not None:
            rights.check_importance(change.importance, is_owner=admitted.is_owner)
        written = await self.editing.change(memory, change, agent=self.asker(admitted))
        searchable = not written.changes or await make_searchable(self.documents.index, written.paths)
        return MemoryEditReply(
            memory=await self.documents.get(memory.id, admitted),
            changed=bool(written.changes),
            changes=list(written.numbers),
            searchable=searchable,
        )

    async def _own_memory(self, name: str, admitted: Admitted) -> Memory:
        """Return a memory that the asker may change, as on disk now; raises NotFound, Denied."""
        self.editing.journal.check_writable()
        memory = await self.documents.memory(name, admitted)
        if not self.is_own(memory.scope, admitted):
            raise Denied(NOT_OWN, hint=NOT_OWN_HINT)
        return memory

    def is_own(self, scope: str, admitted: Admitted) -> bool:
        """Return whether the asker may change memories of this scope, which it can see."""
        own = f"agent:{self.documents.agent.id}"
        return (
            admitted.is_owner or scope == own or scope.startswith(f"{own}:") or (not scope and self.documents.is_alone)
        )

    def _scope_of_statement(self, scope: str, admitted: Admitted) -> str:
        """Return the scope of a new memory; raises Denied for one that a session may not write.

        If the agent is alone in its workspace, the scope of all agents is its own, and a session may use it.
        """
        check_scope(scope)
        if is_team(scope):
            raise InvalidRequest("nothing is stated for a team", hint="state it, then `memoryctl team promote ID`")
        if scope == GLOBAL and not admitted.is_owner:
            scope = WORKSPACE
        if scope == WORKSPACE and not self.is_own("", admitted):
            raise Denied(NOT_OWN, hint=NOT_OWN_HINT)
        if scope or admitted.is_owner or admitted.channel in OWN_CHANNELS:
            return "" if scope == WORKSPACE else scope
        return unnamed_scope(self.documents.agent.id, is_alone=self.documents.is_alone)

    def asker(self, admitted: Admitted) -> str:
        """Return the id of the asking agent, empty for the owner."""
        return "" if admitted.is_owner else self.documents.agent.id

    async def replace(
        self,
        name: str,
        draft: MemoryDraft,
        admitted: Admitted,
        *,
        is_in_place: bool = False,
        by_agent: bool = False,
    ) -> tuple[RetainReply, bool]:
        """State a text instead of a memory, which is named by its id, a citation, or words in it.

        Return the reply, and whether anything was written.

        The new line is in today's log and names the older one, which is marked in its notes; with `is_in_place` the
        older lines themselves are changed. `by_agent`: a model states it, through any socket. Raises NotFound for a
        name that matches none or several, Denied, InvalidRequest, TooLarge, and what `LineEditing.replace` does.
        """
        stater = replace(admitted, is_owner=admitted.is_owner and not by_agent)
        self.editing.journal.check_writable()
        async with self.editing.journal.write_lock:
            book = await self.documents.now()
            newer = await asyncio.to_thread(lambda: newer_of(book.superseded))
            match = await asyncio.to_thread(
                partial(self._find_replaced, book, newer, name, admitted, is_exact=is_in_place)
            )
            self._check(match.memory, admitted, stater)
            complete_line = partial(with_missing_parts, old=match.memory, is_in_place=is_in_place)
            line, notes = await self._line(replace(draft, default_kind=match.memory.kind), stater, complete_line)
            if not self.documents.recall.visibility(admitted).admits(line.attributes.scope):
                raise InvalidRequest(
                    f"a memory for {line.attributes.scope} would replace one that others see",
                    hint="state it as a memory of its own, without replacing",
                )
            plan = await asyncio.to_thread(_plan, book, match, line, is_in_place=is_in_place)
            return await self._write(book, match, plan, notes, stater, newer.get(match.memory.id, ()))

    def _find_replaced(
        self,
        book: Book,
        newer: Mapping[MemoryId, Sequence[MemoryId]],
        name: str,
        admitted: Admitted,
        *,
        is_exact: bool,
    ) -> ReplacementTarget:
        known = {memory.id: memory for memory in visible_memories(book, self.documents.recall.visibility(admitted))}
        try:
            return find_replaced(known, newer, name, is_exact=is_exact)
        except ValueError as exc:
            raise NotFound(
                str(exc), hint="`memoryctl recall` shows memories with their ids and citations; name one by its id"
            ) from exc

    def _check(self, memory: Memory, admitted: Admitted, stater: Admitted) -> None:
        """Raise Denied if the asker may not replace a memory."""
        if not self.is_own(memory.scope, admitted):
            raise Denied(NOT_OWN, hint=NOT_OWN_HINT)
        if is_of_owner(memory) and not stater.is_owner:
            raise Denied(
                "what the owner stated or pinned holds until the owner changes it",
                hint=_OWNERS_HINT.format(short_id(memory.id)),
            )

    async def _line(
        self, draft: MemoryDraft, stater: Admitted, complete_line: Callable[[RetainedLine], RetainedLine]
    ) -> tuple[RetainedLine, list[str]]:
        retaining = self.retaining
        stated, notes = retaining.prepare_line(draft, stater, complete_line)
        unknown_names = await retaining.unknown_names([stated], stater)
        return stated, [*notes, *unknown_names, *await retaining.release_forgotten([stated], is_owner=stater.is_owner)]

    async def _write(
        self,
        book: Book,
        match: ReplacementTarget,
        plan: MemoryReplacement,
        notes: Sequence[str],
        stater: Admitted,
        newer: Sequence[MemoryId],
    ) -> tuple[RetainReply, bool]:
        old = book.memories[plan.old]
        done = await self.editing.replace(
            old, plan, plan.paths(book), self.retaining.retaining.log(), agent=self.asker(stater)
        )
        # the old statement is not captured again, from anyone
        await self.stated.note([old.text, plan.line.text])
        is_written = bool(done.written.changes)
        messages = [SAME]
        if is_written:
            messages = [*_notes(match, plan, newer), *await self.editing.journal.revoke([old.line], ())]
        reply = retain_reply(
            done.retention,
            filter(None, (*notes, *messages, *done.notes, *(change.note for change in done.written.changes))),
            is_searchable=not is_written or await make_searchable(self.documents.index, done.written.paths),
            replaced=plan.old,
            written=done.written,
        )
        return reply, is_written

    async def disagreements(self, admitted: Admitted, limit: int, after: str = "") -> DisagreementsReply:
        """Return the current pairs, the newest first, after the pair named `after`; raises StoreError."""
        book, pairs = await self._disagreements(admitted)
        start = _start_after(after, pairs, book) if after else 0
        shown, has_more = pairs[start : start + limit], start + limit < len(pairs)
        return DisagreementsReply(
            disagreements=[self._pair(pair, book) for pair in shown],
            total=len(pairs),
            next=pair_name(shown[-1]) if has_more else None,
        )

    async def settle(self, name: str, keep: str, admitted: Admitted) -> SettledReply:
        """Write which memory of a pair is true: one of its names, or `both`.

        Raises NotFound, InvalidRequest, Denied, and what `LineEditing.relate` does.
        """
        self.editing.journal.check_writable()
        async with self.editing.journal.write_lock:
            book, pairs = await self._disagreements(admitted)
            pair = _find_pair(name, pairs)
            if pair.doubt is Doubt.COPY:
                source = book.memories[pair.older].sources[0].citation
                raise InvalidRequest(f"{source} is a copy of a conflict", hint=SETTLE_HINT)
            names = dict(zip((*self._names(pair, book), Keep.BOTH.value), Keep, strict=True))
            if keep not in names:
                raise InvalidRequest(f"what holds is {', '.join(names)}, and not {keep!r}")
            try:
                settlement = settlement_of(pair, names[keep], book.own.memories)
            except ValueError as exc:
                raise InvalidRequest(str(exc), hint="memoryctl retain states it") from exc
            written = await self.editing.relate(book.memories[settlement.memory], settlement.of)
        return SettledReply(**self._pair(pair, book), keep=keep, changes=list(written.numbers))

    def _pair(self, pair: Disagreement, book: Book) -> DisagreementReply:
        names = self._names(pair, book)
        return DisagreementReply(
            id=pair_name(pair),
            # neither is newer
            doubt=pair.doubt.value if names == _AGES or pair.doubt is Doubt.COPY else Doubt.PEOPLE.value,
            leads=pair.leads,
            newer=_memory(book.memories[pair.newer], names[0]),
            older=_memory(book.memories[pair.older], names[1]),
        )

    def _names(self, pair: Disagreement, book: Book) -> tuple[str, str]:
        """Return the names of the two memories: by age or, if two people stated them on the same day, by person.

        The order within a day is known only inside one log, and each person has a log of their own.
        """
        newer, older = book.memories[pair.newer], book.memories[pair.older]
        own = (self.documents.agent.team or TeamSection()).person or ""
        people = [person_of(memory.sources[0].path) or own for memory in (newer, older)]
        is_known = newer.recorded != older.recorded or people[0] == people[1]
        return _AGES if is_known else (people[0], people[1])

    async def _disagreements(self, admitted: Admitted) -> tuple[Book, Sequence[Disagreement]]:
        book, recall = await self.documents.now(), self.documents.recall
        filters = RecallFilters(visibility=recall.visibility(admitted))
        return book, (await recall.eligible.versions(book, filters, recall.clock().date())).disagreements


def _plan(book: Book, match: ReplacementTarget, line: RetainedLine, *, is_in_place: bool) -> MemoryReplacement:
    # a repeated call may continue one that was interrupted before all lines were marked
    is_again = line.id == match.memory.id and short_id(match.named.id) in match.memory.line.attributes.supersedes
    try:
        return plan_replacement(book, match.named if is_again else match.memory, line, is_in_place=is_in_place)
    except ValueError as exc:
        raise InvalidRequest(str(exc), hint="without being edited in place it may be replaced all the same") from exc


def _notes(match: ReplacementTarget, plan: MemoryReplacement, newer: Sequence[MemoryId]) -> list[str]:
    notes: list[str] = []
    old, named = short_id(match.memory.id), short_id(match.named.id)
    if match.named.id != match.memory.id:
        notes.append(NEWER.format(named, old))
    if plan.is_in_place and newer:
        notes.append(OLDER.format(short_id(plan.new), ", ".join(map(short_id, newer))))
    if not plan.is_in_place and (at := match.memory.line.attributes.at) and not plan.line.attributes.at:
        notes.append(TIMED.format(old, at))
    return notes


def _start_after(name: str, pairs: Sequence[Disagreement], book: Book) -> int:
    """Return the index after a named pair. If that pair was settled since, pairs of its day may be returned again."""
    prefix = name.partition("-")[0]
    settled = next((memory for memory in book.memories.values() if memory.id.startswith(prefix)), None)
    for at, pair in enumerate(pairs):
        if pair_name(pair) == name:
            return at + 1
    places = (at for at, pair in enumerate(pairs) if settled and newness(book.memories[pair.newer]) <= newness(settled))
    return next(places, len(pairs) if settled else 0)


def _find_pair(name: str, pairs: Sequence[Disagreement]) -> Disagreement:
    try:
        return find_disagreement(name, pairs)
    except (LookupError, ValueError) as exc:
        error = NotFound if isinstance(exc, LookupError) else InvalidRequest
        raise error(str(exc), hint="memoryctl disagreements lists all of them") from exc


def _memory(memory: Memory, name: str) -> DisagreeingMemoryReply:
    attributes, source, author = memory.line.attributes, memory.sources[0], memory.line.attributes.provenance
    return DisagreeingMemoryReply(
        id=memory.id,
        text=memory.text,
        name=name,
        saidBy="team" if person_of(source.path) else None if author is None else author.value,
        pinned=attributes.is_pinned,
        recorded=memory.recorded.isoformat(),
        source=str(source.citation),
    )
