"""Recalled items held against their files, moved lines relocated; and the pages of entities, each summarised."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book, CitedState, EntityPage, MemorySource
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.generated import citations_in
from memoryd.domain.memories.kinds import MemoryId, ShortId
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.files.excerpts import Presence, PresentFiles
from memoryd.memory.recall.query import (
    CheckedSource,
    RecalledEntity,
    RecalledItem,
    RecalledMemory,
    RecalledPassage,
)
from memoryd.search.file_check import CheckedRows, FileCheck
from memoryd.store.index.database import Database
from memoryd.store.index.passages import ChunkRow

SUMMARY_CHARS: Final = 600
MAX_PAGES: Final = 3
"""Of one question."""
_PAGE_BYTES: Final = 64 * 1024
_LINE_CHARS: Final = 2_000
"""So much of a page, and of a line of it, is read for its summary."""
_LINK: Final = expression(r"\s*\(?\[[^\[\]\n]{0,400}+\]\([^()\s]{1,2000}+(?: \"[0-9a-f]{8}\")?\)\)?")
_COMMENT: Final = expression(r"<!--.{0,200}?-->")


class EntityPages(Struct, frozen=True, kw_only=True):
    """Reads the pages of one workspace; one that is private, gone or late is not told."""

    files: PresentFiles
    executor: Executor

    async def of(
        self, entities: Iterable[EntitySlug], book: Book, filters: RecallFilters, seconds: float
    ) -> tuple[RecalledEntity, ...]:
        """Return the pages of these entities, as far as they can be read within so many seconds."""
        named = [
            (slug, book.pages[slug]) for slug in sorted(entities) if slug in book.pages and filters.admits_entity(slug)
        ][:MAX_PAGES]
        if not named or filters.turns_back or not filters.admits_pages:
            # what a page said then nobody knows
            return ()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                texts = await loop.run_in_executor(self.executor, lambda: [self._text(page) for _, page in named])
        except TimeoutError:
            return ()
        found = (_summed_up(slug, page, text, book, filters) for (slug, page), text in zip(named, texts, strict=True))
        return tuple(one for one in found if one.summary)

    def _text(self, page: EntityPage) -> str:
        seen = self.files.look(RelativePath(page.path), None, self.files.moment())
        if seen.presence is not Presence.OTHER:
            return ""
        body = seen.data[: len(seen.data) - len(PADDING)]
        return body[front_matter_bytes(seen.data) :][:_PAGE_BYTES].decode("utf-8", "replace")


def _summed_up(slug: EntitySlug, page: EntityPage, text: str, book: Book, filters: RecallFilters) -> RecalledEntity:
    """Return the first lines of a page that the asker may see, and the memories that these rest on."""
    told, memories, left = list[str](), dict[MemoryId, None](), SUMMARY_CHARS
    for line, cited in _summary_lines(text):
        rests_on = [key for one in cited if (key := book.of_short(one)) is not None]
        # a line that rests on what is beyond the asker's reach tells of it
        if len(rests_on) < len(cited) or not all(filters.standing(book.memories[one]) for one in rests_on):
            continue
        if len(line) > left:
            break
        told.append(line)
        memories |= dict.fromkeys(rests_on)
        left -= len(line) + 1
    return RecalledEntity(slug, page.name, page.path, "\n".join(told), tuple(memories))


def _summary_lines(text: str) -> Iterator[tuple[str, list[ShortId]]]:
    """Yield the lines that say something, without links, and which memories each links to."""
    for raw in text.split("\n"):
        line = _COMMENT.sub("", raw[:_LINE_CHARS]).strip()
        if not line or line.startswith("#"):
            continue
        cited = [memory for memory, _ in citations_in(line)]
        if plain := _LINK.sub("", line).strip():
            yield plain, cited


class CheckedItems(Struct, frozen=True):
    """The items that stand in their files, those that do not, and what the look at the files gave."""

    items: tuple[RecalledItem, ...]
    lost: tuple[RecalledItem, ...]
    checked: CheckedRows
    has_replaced: bool = False
    """Whether the index put something else in the place of a line meanwhile."""


async def checked_items(
    items: Sequence[RecalledItem], database: Database, check: FileCheck, seconds: float
) -> CheckedItems:
    """Hold these items against their files, within so many seconds; raises StoreError."""
    memories = (item for item in items if isinstance(item, RecalledMemory))
    chunks = {source.source.chunk for one in memories for source in one.sources}
    rows = await database.documents.chunks(sorted(chunks))
    passages = [row for one in items if isinstance(one, RecalledPassage) for row in one.hit.rows]
    checked = await check.check([*rows.values(), *passages], seconds)
    held = [(one, _checked_item(one, rows, checked)) for one in items]
    return CheckedItems(
        items=tuple(now for _, now in held if now is not None),
        lost=tuple(one for one, now in held if now is None),
        checked=checked,
        has_replaced=len(rows) < len(chunks),
    )


def _checked_item(item: RecalledItem, rows: Mapping[int, ChunkRow], checked: CheckedRows) -> RecalledItem | None:
    """Return an item as it stands now, None if nothing of it does."""
    if isinstance(item, RecalledPassage):
        hit = checked.hit(item.hit)
        return None if hit is None else replace(item, hit=hit)
    states = [_checked_source(one.source, rows.get(one.source.chunk), checked) for one in item.sources]
    standing = [one for one in states if one.state in (CitedState.VERIFIED, CitedState.MOVED)]
    if not standing:
        return None
    return replace(item, sources=(*standing, *(one for one in states if one not in standing)))


def _checked_source(source: MemorySource, row: ChunkRow | None, checked: CheckedRows) -> CheckedSource:
    """Tell what became of a line: of a document that is there but holds it no more, it was edited."""
    now = None if row is None else checked.told.get(row)
    if row is None or (now is None and row.path in checked.absent):
        return CheckedSource(source, CitedState.GONE)
    if now is None:
        return CheckedSource(source, CitedState.EDITED)
    if now.start_line == row.start_line == source.start_line:
        return CheckedSource(source, CitedState.VERIFIED)
    moved = replace(source, start_line=now.start_line, end_line=now.end_line)
    return CheckedSource(moved, CitedState.MOVED)


def chunks_lost(items: Iterable[RecalledItem]) -> frozenset[int]:
    """Return the chunks of items that do not stand."""
    return frozenset(
        chunk
        for one in items
        for chunk in (
            (source.source.chunk for source in one.sources)
            if isinstance(one, RecalledMemory)
            else (row.id for row in one.hit.rows)
        )
        if chunk
    )
