"""Replacing one memory of an agent by what is said now, and settling two that disagree: who may, and what is told."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from memoryd.agents.retained.documents import NOT_OWN, NOT_OWN_HINT, AgentDocumentEdits
from memoryd.agents.retained.retaining import retain_reply
from memoryd.agents.search import is_searchable
from memoryd.config.team import TeamSection
from memoryd.domain.access import Admitted
from memoryd.domain.documents import person_of
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.changes.replacing import (
    Keep,
    MemoryReplacement,
    Replaced,
    is_of_owner,
    named_pair,
    pair_name,
    replaced,
    replacement,
    settlement_of,
    with_missing_parts,
)
from memoryd.domain.memories.documents import within
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
_NAME_HINT = "`memoryctl recall` shows memories with their ids and citations; name one by its id"
_BEYOND = "what is for {} would take the place of what others are told"
_BEYOND_HINT = "state it as a memory of its own, without replacing"
_OWNERS = "what its owner said or pinned stands until the owner says otherwise"
_OWNERS_HINT = (
    "state it beside that, with contradicts={0} behind its kind, and the owner decides; or the owner may, by "
    "`memoryctl replace {0}`"
)


class AgentReplacing(AgentDocumentEdits, frozen=True, kw_only=True):
    """Replaces memories of one agent, too, and settles the disagreements within reach of its owner."""

    async def replace(
        self,
        name: str,
        said: MemoryDraft,
        admitted: Admitted,
        *,
        is_in_place: bool = False,
        by_agent: bool = False,
    ) -> tuple[RetainReply, bool]:
        """State a text in the place of a memory: by its id, a citation, or words that it says.

        Return the reply, and whether anything was written.

        The new line stands in the log of today and names the older one, which is marked in its notes; with
        `is_in_place` its own lines say it instead. `by_agent`: a model says it, whoever's socket it asks by. Raises
        NotFound for a name that means none or several, Denied, InvalidRequest, TooLarge, and what
        `LineEditing.replace` does.
        """
        stater = replace(admitted, is_owner=admitted.is_owner and not by_agent)
        self.editing.journal.check_writable()
        async with self.editing.journal.one_at_a_time:
            book = await self.documents.now()
            newer = await asyncio.to_thread(lambda: newer_of(book.superseded))
            meant = await asyncio.to_thread(
                partial(self._meant_memory, book, newer, name, admitted, is_exact=is_in_place)
            )
            self._check(meant.memory, admitted, stater)
            stands_in = partial(with_missing_parts, old=meant.memory, is_in_place=is_in_place)
            line, notes = await self._line(replace(said, default_kind=meant.memory.kind), stater, stands_in)
            if not self.documents.recall.visibility(admitted).admits(line.attributes.scope):
                raise InvalidRequest(_BEYOND.format(line.attributes.scope), hint=_BEYOND_HINT)
            plan = await asyncio.to_thread(_plan, book, meant, line, is_in_place=is_in_place)
            return await self._write(book, meant, plan, notes, stater, newer.get(meant.memory.id, ()))

    def _meant_memory(
        self,
        book: Book,
        newer: Mapping[MemoryId, Sequence[MemoryId]],
        name: str,
        admitted: Admitted,
        *,
        is_exact: bool,
    ) -> Replaced:
        known = {one.id: one for one in within(book, self.documents.recall.visibility(admitted))}
        try:
            return replaced(known, newer, name, is_exact=is_exact)
        except ValueError as exc:
            raise NotFound(str(exc), hint=_NAME_HINT) from exc

    def _check(self, memory: Memory, admitted: Admitted, stater: Admitted) -> None:
        """Raise Denied for who may not replace a memory."""
        if not self.is_own(memory.scope, admitted):
            raise Denied(NOT_OWN, hint=NOT_OWN_HINT)
        if is_of_owner(memory) and not stater.is_owner:
            raise Denied(_OWNERS, hint=_OWNERS_HINT.format(short_id(memory.id)))

    async def _line(
        self, said: MemoryDraft, stater: Admitted, stands_in: Callable[[RetainedLine], RetainedLine]
    ) -> tuple[RetainedLine, list[str]]:
        retaining = self.retaining
        stated, notes = retaining.stated(said, stater, stands_in)
        unknown_names = await retaining.unknown_names([stated], stater)
        return stated, [*notes, *unknown_names, *await retaining.release_forgotten([stated], is_owner=stater.is_owner)]

    async def _write(
        self,
        book: Book,
        meant: Replaced,
        plan: MemoryReplacement,
        notes: Sequence[str],
        stater: Admitted,
        newer: Sequence[MemoryId],
    ) -> tuple[RetainReply, bool]:
        old = book.memories[plan.old]
        done = await self.editing.replace(
            old, plan, plan.paths(book), self.retaining.retaining.log(), agent=self.asker(stater)
        )
        # what it said is not captured again, whoever wrote it
        await self.stated.note([old.text, plan.line.text])
        is_written = bool(done.written.changes)
        told = [SAME]
        if is_written:
            told = [*_notes(meant, plan, newer), *await self.editing.journal.revoke([old.line], ())]
        reply = retain_reply(
            done.retention,
            filter(None, (*notes, *told, *done.notes, *(one.note for one in done.written.changes))),
            is_searchable=not is_written or await is_searchable(self.documents.index, done.written.paths),
            replaced=plan.old,
            written=done.written,
        )
        return reply, is_written

    async def disagreements(self, admitted: Admitted, limit: int, after: str = "") -> DisagreementsReply:
        """Return the pairs as the disk has them now, the newest first, behind a named one; raises StoreError."""
        book, pairs = await self._disagreements(admitted)
        start = _start_behind(after, pairs, book) if after else 0
        shown, has_more = pairs[start : start + limit], start + limit < len(pairs)
        return DisagreementsReply(
            disagreements=[self._pair(one, book) for one in shown],
            total=len(pairs),
            next=pair_name(shown[-1]) if has_more else None,
        )

    async def settle(self, name: str, keep: str, admitted: Admitted) -> SettledReply:
        """Write which of a pair holds, the one of a name, or `both`.

        Raises NotFound, InvalidRequest, Denied, and what `LineEditing.relate` does.
        """
        self.editing.journal.check_writable()
        async with self.editing.journal.one_at_a_time:
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
            # neither came later
            doubt=pair.doubt.value if names == _AGES or pair.doubt is Doubt.COPY else Doubt.PEOPLE.value,
            leads=pair.leads,
            newer=_memory(book.memories[pair.newer], names[0]),
            older=_memory(book.memories[pair.older], names[1]),
        )

    def _names(self, pair: Disagreement, book: Book) -> tuple[str, str]:
        """Return what the two are called where one is kept: by age or, if two people said them on one day, by those.

        What came first of a day is known of one log alone, and each of the two has another one for their own.
        """
        newer, older = book.memories[pair.newer], book.memories[pair.older]
        own = (self.documents.agent.team or TeamSection()).person or ""
        people = [person_of(one.sources[0].path) or own for one in (newer, older)]
        is_known = newer.recorded != older.recorded or people[0] == people[1]
        return _AGES if is_known else (people[0], people[1])

    async def _disagreements(self, admitted: Admitted) -> tuple[Book, Sequence[Disagreement]]:
        book, recall = await self.documents.now(), self.documents.recall
        filters = RecallFilters(visibility=recall.visibility(admitted))
        return book, (await recall.eligible.versions(book, filters, recall.clock().date())).disagreements


def _plan(book: Book, meant: Replaced, line: RetainedLine, *, is_in_place: bool) -> MemoryReplacement:
    # who says the same again may have been cut short before all was marked
    is_again = line.id == meant.memory.id and short_id(meant.named.id) in meant.memory.line.attributes.supersedes
    try:
        return replacement(book, meant.named if is_again else meant.memory, line, is_in_place=is_in_place)
    except ValueError as exc:
        raise InvalidRequest(str(exc), hint="without being edited in place it may be replaced all the same") from exc


def _notes(meant: Replaced, plan: MemoryReplacement, newer: Sequence[MemoryId]) -> list[str]:
    told: list[str] = []
    old, named = short_id(meant.memory.id), short_id(meant.named.id)
    if meant.named.id != meant.memory.id:
        told.append(NEWER.format(named, old))
    if plan.is_in_place and newer:
        told.append(OLDER.format(short_id(plan.new), ", ".join(map(short_id, newer))))
    if not plan.is_in_place and (at := meant.memory.line.attributes.at) and not plan.line.attributes.at:
        told.append(TIMED.format(old, at))
    return told


def _start_behind(name: str, pairs: Sequence[Disagreement], book: Book) -> int:
    """Return which pair comes behind one that may be settled by now: then others of its day may come again."""
    settled = next((one for one in book.memories.values() if one.id.startswith(name.partition("-")[0])), None)
    for at, pair in enumerate(pairs):
        if pair_name(pair) == name:
            return at + 1
    places = (at for at, one in enumerate(pairs) if settled and newness(book.memories[one.newer]) <= newness(settled))
    return next(places, len(pairs) if settled else 0)


def _find_pair(name: str, found: Sequence[Disagreement]) -> Disagreement:
    try:
        return named_pair(name, found)
    except (LookupError, ValueError) as exc:
        error = NotFound if isinstance(exc, LookupError) else InvalidRequest
        raise error(str(exc), hint="memoryctl disagreements lists all of them") from exc


def _memory(memory: Memory, name: str) -> DisagreeingMemoryReply:
    attributes, source, said_by = memory.line.attributes, memory.sources[0], memory.line.attributes.provenance
    return DisagreeingMemoryReply(
        id=memory.id,
        text=memory.text,
        name=name,
        saidBy="team" if person_of(source.path) else None if said_by is None else said_by.value,
        pinned=attributes.is_pinned,
        recorded=memory.recorded.isoformat(),
        source=str(source.citation),
    )
