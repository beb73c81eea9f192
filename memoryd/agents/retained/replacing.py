"""Replacing a memory of an agent by a new statement, and settling two that disagree."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from memoryd.agents.retained.documents import NOT_OWN, NOT_OWN_HINT, AgentDocumentEdits
from memoryd.agents.retained.retaining import retain_reply
from memoryd.agents.search import make_searchable
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
from memoryd.domain.memories.edits import MemoryDraft
from memoryd.domain.memories.kinds import MemoryId, short_id
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.memories.recall_order import newer_of
from memoryd.domain.memories.versions import Disagreement, Doubt, newness
from memoryd.errors import Denied, InvalidRequest, NotFound
from memoryd.memory.retaining import SETTLE_HINT
from memoryd.replies.knowledge import DisagreeingMemoryReply, DisagreementReply, DisagreementsReply, SettledReply
from memoryd.replies.memories import RetainReply

SAME = "it says so already: nothing was changed"
NEWER = "{} was superseded by {} before, which is what was replaced"
OLDER = "{} stays superseded by {}"
TIMED = "{} has at={}, which the new line has not: say it in its brackets if it holds for it, too"
_AGES = (Keep.NEWER.value, Keep.OLDER.value)
_OWNERS_HINT = (
    "state it beside that, with contradicts={0} behind its kind, and the owner decides; or the owner may, by "
    "`memoryctl replace {0}`"
)


class AgentReplacing(AgentDocumentEdits, frozen=True, kw_only=True):
    """Replaces memories of one agent, and settles the disagreements that its owner may see."""

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
