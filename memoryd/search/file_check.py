"""Checks rows of the index against their files, and filters what the client may see, before an answer is returned.

Documents that differ are indexed again.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor, Future

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.entries import MEDIA_CHUNKER, PresentText
from memoryd.domain.memories.kinds import Visibility
from memoryd.domain.memories.visibility import visible_text
from memoryd.domain.skips import SkipReason
from memoryd.domain.syncplan import IndexedFile
from memoryd.files.excerpts import DiskState, FileChecker
from memoryd.search.hits import Hit
from memoryd.search.protocol import DiskFollower, Exclusions, Query, SearchBackend, SearchResult, seconds_left
from memoryd.store.index.passages import ChunkRow

MAX_OVERDUE = 2
"""How many checks may be overdue on a hanging disk; the index uses the same threads."""
MAX_REFILLS = 5
"""How often a search is repeated to replace hits that their files no longer contain; enough if most are deleted."""


class CheckedRows(Struct, frozen=True):
    """The result of a check of rows against their files; rows not named here are unchanged."""

    moved: Mapping[ChunkRow, ChunkRow] = {}
    """Rows whose files have changed but still contain them; the value has the current line numbers."""
    absent: frozenset[RelativePath] = frozenset()
    """Documents that are missing or private, and so need not be returned."""
    unmatched: frozenset[ChunkRow] = frozenset()
    """Rows that their files do not contain, or for which that is unknown."""
    pending: Mapping[RelativePath, str] = {}
    """Documents whose current content is, or may be, different from the index, and why."""

    @property
    def exclusions(self) -> Exclusions:
        """What a repeated search must leave out; for an engine whose rows have no ids, the whole document."""
        without_id = frozenset(row.path for row in self.unmatched if not row.id)
        return Exclusions(self.absent | without_id, frozenset(row.id for row in self.unmatched if row.id))

    @property
    def differing(self) -> Set[RelativePath]:
        """The documents with rows that are left out."""
        return {*self.absent, *(row.path for row in self.unmatched)}

    def current(self, row: ChunkRow) -> ChunkRow | None:
        """Return a checked row with its current line numbers; None if its file no longer contains it."""
        if not self.pending and not self.absent:
            return row
        return None if row.path in self.absent or row in self.unmatched else self.moved.get(row, row)

    def hit(self, hit: Hit) -> Hit | None:
        """Return a hit with its current line numbers; None if its file no longer contains it."""
        chunk, copies = self.current(hit.chunk), tuple(filter(None, map(self.current, hit.copies)))
        if chunk is None:
            return None
        return hit if chunk is hit.chunk and copies == hit.copies else replace(hit, chunk=chunk, copies=copies)


class FileCheck(Struct, kw_only=True, eq=False):
    """Checks rows of one agent's answers against the disk, in a thread of the pool.

    A row of another chunker than `chunker` may be from a version with other privacy rules, so its file is read again.
    """

    files: FileChecker
    executor: Executor
    chunker: str
    _overdue: set[Future[CheckedRows]] = set()

    async def check(self, rows: Iterable[ChunkRow], seconds: float) -> CheckedRows:
        """Check the file of each row once; if that takes longer than `seconds`, all rows count as stale."""
        batch = list(rows)
        if not batch:
            return CheckedRows()
        self._overdue = {work for work in self._overdue if not work.done()}
        if len(self._overdue) >= MAX_OVERDUE:
            return _unchecked(batch)
        work = self.executor.submit(lambda: self._check_now(batch))
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(work)
        except TimeoutError:
            return _unchecked(batch)
        finally:
            # also if the caller is cancelled: a running thread goes on
            if not work.done():
                self._overdue.add(work)

    def _check_now(self, rows: Sequence[ChunkRow]) -> CheckedRows:
        moment, chunkers = self.files.begin_check(), (None, self.chunker, MEDIA_CHUNKER)
        by_file: dict[tuple[RelativePath, IndexedFile | None], list[ChunkRow]] = defaultdict(list)
        for row in rows:
            by_file[row.path, row.known if row.chunker in chunkers else None].append(row)
        moved: dict[ChunkRow, ChunkRow] = {}
        unmatched: list[ChunkRow] = []
        absent: set[RelativePath] = set()
        stale: dict[RelativePath, str] = {}
        for (path, known), group in by_file.items():
            present = self.files.check(path, known, moment)
            match present.presence:
                case DiskState.ABSENT:
                    absent.add(path)
                case DiskState.STALE:
                    stale[path] = present.reason
                    unmatched += group
                case DiskState.OTHER:
                    stale[path] = SkipReason.CHANGED
                    located = _locate_rows(group, PresentText(present.data))
                    moved |= located
                    unmatched += [row for row in group if row not in located]
        # the rules last: they may have changed while a changed file was read
        if moved and not moment.rules.is_current():
            stale = dict.fromkeys(stale, SkipReason.IN_DOUBT)
            unmatched, moved = [*unmatched, *moved], {}
        return CheckedRows(moved, frozenset(absent), frozenset(unmatched), stale)


def _unchecked(rows: Sequence[ChunkRow]) -> CheckedRows:
    return CheckedRows(unmatched=frozenset(rows), pending={row.path: SkipReason.LATE for row in rows})


def _locate_rows(rows: Iterable[ChunkRow], text: PresentText) -> dict[ChunkRow, ChunkRow]:
    """Return the rows that a text contains, each with its line numbers there."""
    lines = ((row, text.line_of(row.text, row.heading, row.start_line)) for row in rows)
    return {
        row: replace(row, start_line=line, end_line=row.end_line + line - row.start_line)
        for row, line in lines
        if line is not None
    }


class NotesSearch(Struct, frozen=True, kw_only=True):
    """Searches with `inner`, and returns only text that the files contain and the client may see.

    Chunks with memories that the client may not see (`hidden`) are not searched, returned or counted. The text of each
    hit is filtered, too: the index may learn of such a line between the two steps, and other engines cut documents
    differently.
    """

    inner: SearchBackend
    check: FileCheck
    disk: DiskFollower
    hidden: Callable[[Visibility], Awaitable[frozenset[int]]]

    async def search(self, query: Query) -> SearchResult:
        """Return the hits that their files contain; `stale`: documents that may answer, but were left out."""
        visibility = query.visibility
        if visibility is None:
            return await self._search_checked(query)
        result = await self._search_checked(
            replace(query, exclusions=query.exclusions | Exclusions(chunks=await self.hidden(visibility)))
        )
        hits, misses = tuple(visible_hits(result.hits, visibility)), tuple(visible_hits(result.misses, visibility))
        return replace(result, hits=hits, misses=misses)

    async def _search_checked(self, query: Query) -> SearchResult:
        end = time.monotonic() + query.deadline
        result, checked = await self._round(query, end)
        # missing documents count, too: they may have been renamed
        left = min(query.fresh_until, end) - time.monotonic()
        if checked.differing and await self.disk.rescan(checked.differing, left):
            # changed documents may be found again, even by the same chunks: an edit leaves most chunks unchanged
            query = replace(query, exclusions=query.exclusions | Exclusions(checked.absent))
            result, checked = await self._round(query, end)
        stale = dict(checked.pending)
        for _ in range(MAX_REFILLS):
            if not checked.differing or time.monotonic() > end:
                break
            # other hits take the places of those that still differ, and may differ, too; if many documents are
            # missing, leave them out all at once
            missing = Exclusions(frozenset(self.disk.missing())) if checked.absent else Exclusions()
            query = replace(query, exclusions=query.exclusions | checked.exclusions | missing)
            result, checked = await self._round(query, end)
            stale |= checked.pending
        # still missing after all rounds: the hits that would replace them are not returned
        stale |= dict.fromkeys(checked.absent, SkipReason.GONE)
        return replace(_update_hits(result, checked, query), stale=stale)

    async def _round(self, query: Query, end: float) -> tuple[SearchResult, CheckedRows]:
        result = await self.inner.search(query.until(end))
        # misses are returned only if the query is explained
        hits = (*result.hits, *result.misses) if query.is_explained else result.hits
        return result, await self.check.check((row for hit in hits for row in hit.rows), seconds_left(end))


def _update_hits(result: SearchResult, checked: CheckedRows, query: Query) -> SearchResult:
    """Return the result with checked hits; misses that are not returned stay unchecked, since they are only counted."""
    hits = _hits_in_files(result.hits, checked)
    misses = _hits_in_files(result.misses, checked) if query.is_explained else result.misses
    floors = result.floors
    # hits that still differ must not affect the thresholds of the others
    if floors is not None and checked.differing:
        floors = floors.restricted_to([(hit.terms, hit.cosine) for hit in hits])
    return replace(result, hits=hits, misses=misses, floors=floors)


def _hits_in_files(hits: Iterable[Hit], checked: CheckedRows) -> tuple[Hit, ...]:
    return tuple(now for hit in hits if (now := checked.hit(hit)) is not None)


def visible_hits(hits: Iterable[Hit], visibility: Visibility) -> Iterator[Hit]:
    """Yield the hits without the lines that the client may not see; drop a hit that only these lines matched."""
    for hit in hits:
        chunk, copies = _clear_row(hit.chunk, visibility), tuple(_clear_row(copy, visibility) for copy in hit.copies)
        if chunk is hit.chunk and all(new is old for new, old in zip(copies, hit.copies, strict=True)):
            yield hit
        elif chunk.text.strip() and (not hit.terms or _holds(chunk, hit.terms)):
            yield replace(hit, chunk=chunk, near=(), copies=tuple(copy for copy in copies if copy.text.strip()))


def _clear_row(row: ChunkRow, visibility: Visibility) -> ChunkRow:
    """Return a row with the lines that the client may not see emptied; line numbers do not change."""
    text = visible_text(row.text, row.path, visibility)
    return row if text == row.text else replace(row, text=text)


def _holds(chunk: ChunkRow, terms: Iterable[str]) -> bool:
    text = f"{chunk.path} {chunk.heading} {chunk.text}".lower()
    return any(term in text for term in terms)
