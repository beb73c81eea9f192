"""Memories of one agent on their way out of its workspace and into another one; for its owner alone."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import date
from enum import StrEnum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.retained.documents import AgentDocuments
from memoryd.agents.retained.recall import check_scope
from memoryd.agents.retained.retaining import AgentRetaining
from memoryd.domain.access import Admitted
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.changes.forgetting import is_of_session
from memoryd.domain.memories.changes.tombstones import Tombstones
from memoryd.domain.memories.documents import TransferPage, missing_days, page_behind, shown_scope
from memoryd.domain.memories.edits import Stater, admitted_scope, not_taken
from memoryd.domain.memories.kinds import WrittenBy
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.scopes import Visibility
from memoryd.domain.redaction import secrets_in
from memoryd.errors import InvalidRequest

_FORGOTTEN: Final = "it was forgotten here, and is not brought back; memoryctl retain states it again"
_SECRET: Final = "it holds what looks like a secret; --with-secrets takes it all the same"
_OTHERS: Final = "it is for another agent alone; import it as that one, with --agent"


class Taken(StrEnum):
    """What became of a memory that was handed over."""

    ADDED = "added"
    """It was written, or would be."""
    KNOWN = "known"
    """It stood there already."""
    REFUSED = "refused"
    """It was not taken; the reason says why."""


class TakenMemory(Struct, frozen=True):
    """One memory that was handed over, its id (empty where it has none), and why it was not taken, or not whole."""

    outcome: Taken
    id: str = ""
    reason: str = ""


class TakenMemories(Struct, frozen=True):
    """All that were handed over, in order, and the changes by which that can be undone."""

    memories: tuple[TakenMemory, ...]
    changes: tuple[int, ...]


class TransferWishes(Struct, frozen=True):
    """How memories are to be taken: all changes get the same `run`."""

    run: str
    is_dry_run: bool = False
    takes_secrets: bool = False


class AgentTransfer(Struct, frozen=True, kw_only=True):
    """Hands memories out, and takes them in. `today` is the owner's day."""

    documents: AgentDocuments
    retaining: AgentRetaining
    today: Callable[[], date]

    async def page(self, cursor: str, limit: int, scope: str, admitted: Admitted) -> TransferPage:
        """Return the memories within reach behind a cursor, by the day on which they were said first."""
        check_scope(scope)
        visibility, book = self.documents.recall.visibility(admitted), await self.documents.now()

        def admits(one: Memory) -> bool:
            return visibility.admits(one.line.attributes.scope) and (not scope or self._scope_reply(one.line) == scope)

        return await asyncio.to_thread(page_behind, book, admits, cursor, limit)

    async def take(
        self, lines: Sequence[RetainedLine | str], days: Sequence[Sequence[date]], wishes: TransferWishes
    ) -> TakenMemories:
        """State memories on the days on which they were said; what stands there already is left as it is.

        In the place of a line stands why there is none. Raises Denied with `memory.readOnly`, StoreError.
        """
        book, stones = await self.documents.now(), await self.retaining.tombstones.all()
        taken: list[TakenMemory] = []
        due: defaultdict[date, list[tuple[int, RetainedLine]]] = defaultdict(list)
        judgements = await asyncio.to_thread(lambda: [self._judged(one, book, stones, wishes) for one in lines])
        for number, (said_on, judged) in enumerate(zip(days, judgements, strict=True)):
            if isinstance(judged, RetainedLine):
                taken.append(self._planned(number, judged, said_on, book, due))
            else:
                taken.append(judged)
        changes = [] if wishes.is_dry_run else await self._write(due, taken, wishes)
        return TakenMemories(tuple(taken), tuple(changes))

    def _judged(
        self, line: RetainedLine | str, book: Book, stones: Tombstones, wishes: TransferWishes
    ) -> RetainedLine | TakenMemory:
        if isinstance(line, str):
            return TakenMemory(Taken.REFUSED, "", line)
        try:
            if is_of_session(line):
                # as forgetting leaves them
                line = replace(line, text=stones.cut_from(line.text))
            admitted_scope(line.attributes.scope, Stater(self.retaining.agent))
        except ValueError as exc:
            return TakenMemory(Taken.REFUSED, "", str(exc))
        if not Visibility(self.retaining.agent, is_owner=True).admits(line.attributes.scope):
            return TakenMemory(Taken.REFUSED, line.id, _OTHERS)
        if stones.hold(line.id, line.text) or (line.id not in book.memories and stones.hold_part_of(line.text)):
            return TakenMemory(Taken.REFUSED, line.id, _FORGOTTEN)
        if secrets_in(line.text) and not wishes.takes_secrets:
            return TakenMemory(Taken.REFUSED, line.id, _SECRET)
        return line

    def _planned(
        self,
        number: int,
        line: RetainedLine,
        said_on: Sequence[date],
        book: Book,
        due: defaultdict[date, list[tuple[int, RetainedLine]]],
    ) -> TakenMemory:
        known = book.memories.get(line.id)
        days = missing_days(said_on, known, self.today())
        for day in days:
            due[day].append((number, line))
        keys = not_taken(line, known.line) if known is not None and not days else ()
        reason = f"{', '.join(keys)} of the line that stands there stays as it is" if keys else ""
        return TakenMemory(Taken.ADDED if days else Taken.KNOWN, line.id, reason)

    async def _write(
        self,
        due: defaultdict[date, list[tuple[int, RetainedLine]]],
        taken: list[TakenMemory],
        wishes: TransferWishes,
    ) -> list[int]:
        """Write the memories of each day at once, the earliest day first; what has no place is refused."""
        changes = []
        for day in sorted(due):
            numbers, lines = zip(*due[day], strict=True)
            try:
                done = await self.retaining.retaining.retain(lines, by=WrittenBy.IMPORT, day=day, run=wishes.run)
            except InvalidRequest as exc:
                for number in numbers:
                    taken[number] = TakenMemory(Taken.REFUSED, taken[number].id, str(exc))
                continue
            if done.change.id:
                changes.append(done.change.id)
            if not done.change.is_written:
                for number in numbers:
                    taken[number] = replace(taken[number], outcome=Taken.KNOWN)
        return changes

    def _scope_reply(self, line: RetainedLine) -> str:
        return shown_scope(line.attributes.scope, self.documents.agent.id, is_alone=self.documents.is_alone)
