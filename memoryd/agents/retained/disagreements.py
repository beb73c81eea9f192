"""The disagreements of one agent's memories: what may contradict what, and how their owner settles it."""

from collections.abc import Sequence

from msgspec import Struct

from memoryd.agents.retained.documents import AgentDocuments
from memoryd.domain.access import Admitted
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.disagreements import Keep, named_pair, pair_name, settlement_of
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.memories.versions import Disagreement, Doubt
from memoryd.errors import InvalidRequest, NotFound
from memoryd.memory.retaining import LineEditing, WrittenLines


class DisagreeingPair(Struct, frozen=True):
    """Two memories that may contradict each other, and why."""

    name: str
    newer: Memory
    older: Memory
    doubt: Doubt
    leads: Memory
    """The one that is told first."""


class SettledPair(Struct, frozen=True):
    """A pair that was settled, and what that wrote."""

    pair: DisagreeingPair
    keep: Keep
    written: WrittenLines


class AgentDisagreements(Struct, frozen=True, kw_only=True):
    """Tells and settles the disagreements within reach of one agent's owner."""

    documents: AgentDocuments
    editing: LineEditing

    async def all(self, admitted: Admitted) -> Sequence[DisagreeingPair]:
        """Return the pairs as the disk has them now, the newest first; raises StoreError."""
        book, found = await self._found(admitted)
        return [_pair(one, book) for one in found]

    async def settle(self, name: str, keep: Keep, admitted: Admitted) -> SettledPair:
        """Write which of a pair holds; raises NotFound, InvalidRequest, Denied, and what `LineEditing.relate` does."""
        self.editing.journal.check_writable()
        async with self.editing.journal.one_at_a_time:
            book, found = await self._found(admitted)
            one = _named(name, found)
            settlement = settlement_of(one, keep)
            written = await self.editing.relate(book.memories[settlement.memory], settlement.of)
        return SettledPair(_pair(one, book), keep, written)

    async def _found(self, admitted: Admitted) -> tuple[Book, Sequence[Disagreement]]:
        book, recall = await self.documents.now(), self.documents.recall
        filters = RecallFilters(reach=recall.reach(admitted))
        return book, (await recall.eligible.versions(book, filters, recall.clock().date())).disagreements


def _named(name: str, found: Sequence[Disagreement]) -> Disagreement:
    try:
        return named_pair(name, found)
    except ValueError as exc:
        error = InvalidRequest if "part of" in str(exc) else NotFound
        raise error(str(exc), hint="memoryctl disagreements lists all of them") from exc


def _pair(one: Disagreement, book: Book) -> DisagreeingPair:
    newer, older = book.memories[one.newer], book.memories[one.older]
    return DisagreeingPair(pair_name(one), newer, older, one.doubt, book.memories[one.leads])
