"""Candidates held against their files: told as they stand there now, moved lines relocated, or not at all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memoryd.domain.memories.book import MemorySource
from memoryd.memory.recall.recalled import CheckedSource, RecalledItem, RecalledMemory, RecalledPassage, SourceState
from memoryd.search.file_check import CheckedRows, FileCheck
from memoryd.store.index.database import Database
from memoryd.store.index.passages import ChunkRow

MAX_SOURCES = 16
"""Of one memory, the newest: so many are looked at and told."""


@dataclass(frozen=True, slots=True)
class StandingItems:
    """The items that stand in their files, those that do not, and what the look at the files gave."""

    items: tuple[RecalledItem, ...]
    lost: tuple[RecalledItem, ...]
    checked: CheckedRows
    has_replaced: bool = False
    """Whether the index put something else in the place of a line meanwhile."""


class StandingCheck:
    """Holds items against the files of one workspace."""

    def __init__(self, *, database: Database, check: FileCheck) -> None:
        self._database = database
        self._check = check

    async def of(self, items: Sequence[RecalledItem], seconds: float) -> StandingItems:
        """Look at the files of these items, within so many seconds; raises StoreError."""
        bounded = [_bounded(one) for one in items]
        chunks = {source.source.chunk for one in bounded for source in _sources(one)}
        rows = await self._database.documents.chunks(sorted(chunks))
        passages = [row for one in bounded if isinstance(one, RecalledPassage) for row in _rows(one)]
        checked = await self._check.check([*rows.values(), *passages], seconds)
        held = [(one, _held(one, rows, checked)) for one in bounded]
        return StandingItems(
            items=tuple(now for _, now in held if now is not None),
            lost=tuple(one for one, now in held if now is None),
            checked=checked,
            has_replaced=len(rows) < len(chunks),
        )


def _bounded(item: RecalledItem) -> RecalledItem:
    return replace(item, sources=item.sources[:MAX_SOURCES]) if isinstance(item, RecalledMemory) else item


def _sources(item: RecalledItem) -> Sequence[CheckedSource]:
    return item.sources if isinstance(item, RecalledMemory) else ()


def _rows(item: RecalledPassage) -> Iterator[ChunkRow]:
    yield item.hit.chunk
    yield from item.hit.copies


def _held(item: RecalledItem, rows: Mapping[int, ChunkRow], checked: CheckedRows) -> RecalledItem | None:
    """Return an item as it stands now, None if nothing of it does."""
    told = checked.told
    if isinstance(item, RecalledPassage):
        if item.hit.chunk not in told:
            return None
        copies = tuple(told[copy] for copy in item.hit.copies if copy in told)
        return replace(item, hit=replace(item.hit, chunk=told[item.hit.chunk], copies=copies))
    states = [_state(one.source, rows.get(one.source.chunk), checked) for one in item.sources]
    standing = [one for one in states if one.state in (SourceState.VERIFIED, SourceState.MOVED)]
    if not standing:
        return None
    return replace(item, sources=(*standing, *(one for one in states if one not in standing)))


def _state(source: MemorySource, row: ChunkRow | None, checked: CheckedRows) -> CheckedSource:
    """Tell what became of a line: of a document that is there but holds it no more, it was edited."""
    now = None if row is None else checked.told.get(row)
    if row is None or (now is None and row.path in checked.absent):
        return CheckedSource(source, SourceState.GONE)
    if now is None:
        return CheckedSource(source, SourceState.EDITED)
    if now.start_line == row.start_line == source.start_line:
        return CheckedSource(source, SourceState.VERIFIED)
    moved = replace(source, start_line=now.start_line, end_line=now.end_line)
    return CheckedSource(moved, SourceState.MOVED)


def chunks_lost(items: Iterable[RecalledItem]) -> frozenset[int]:
    """Return the chunks of items that do not stand."""
    return frozenset(
        chunk
        for one in items
        for chunk in (
            (source.source.chunk for source in one.sources)
            if isinstance(one, RecalledMemory)
            else (row.id for row in _rows(one))
        )
        if chunk
    )
