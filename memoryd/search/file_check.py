"""Checking chunks against their files and the asker: an answer returns what a file has now, and who asks may see.

What differs is indexed again.
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
from memoryd.domain.syncplan import Known
from memoryd.files.excerpts import Presence, PresentFiles
from memoryd.search.hits import Hit
from memoryd.search.protocol import DiskFollower, Exclusions, Found, Query, SearchBackend, seconds_left
from memoryd.store.index.passages import ChunkRow

MAX_OVERDUE = 2
"""So many looks at the disk may hang; the threads are those of the index, too."""
MAX_REFILLS = 5
"""How often a question is asked for others in the places of what its files do not hold: enough when most are gone."""


class CheckedRows(Struct, frozen=True):
    """Rows held against their files: what is not named here stands as it was read."""

    moved: Mapping[ChunkRow, ChunkRow] = {}
    """Those whose files hold something else by now, and them, with the lines on which they stand now."""
    absent: frozenset[RelativePath] = frozenset()
    """Documents that are gone or private: nothing of them is owed to anybody."""
    lost: frozenset[ChunkRow] = frozenset()
    """Rows that their files do not hold, as far as anybody can say."""
    owed: Mapping[RelativePath, str] = {}
    """Documents that hold something else than what was read of them, or may do so, and why it is not known."""

    @property
    def exclusions(self) -> Exclusions:
        """What a second search need not find again; of an engine whose rows have no numbers, the whole document."""
        unnumbered = frozenset(row.path for row in self.lost if not row.id)
        return Exclusions(self.absent | unnumbered, frozenset(row.id for row in self.lost if row.id))

    @property
    def differing(self) -> Set[RelativePath]:
        """The documents of which not all rows are told."""
        return {*self.absent, *(row.path for row in self.lost)}

    def now(self, row: ChunkRow) -> ChunkRow | None:
        """Return a row that was checked, with the lines on which its file holds it now; None if it does not."""
        if not self.owed and not self.absent:
            return row
        return None if row.path in self.absent or row in self.lost else self.moved.get(row, row)

    def hit(self, hit: Hit) -> Hit | None:
        """Return a hit with the lines on which its file holds it now; None if it does not."""
        chunk, copies = self.now(hit.chunk), tuple(filter(None, map(self.now, hit.copies)))
        if chunk is None:
            return None
        return hit if chunk is hit.chunk and copies == hit.copies else replace(hit, chunk=chunk, copies=copies)


class FileCheck:
    """Holds rows of one agent's answers against the disk, in a thread of the pool.

    What was cut by another chunker than `chunker` was perhaps judged by other rules of privacy, too, and is read anew.
    """

    def __init__(self, *, files: PresentFiles, executor: Executor, chunker: str) -> None:
        self._files = files
        self._executor = executor
        self._chunkers = (None, chunker, MEDIA_CHUNKER)
        self._overdue: set[Future[CheckedRows]] = set()

    async def check(self, rows: Iterable[ChunkRow], seconds: float) -> CheckedRows:
        """Look at the file of each row once; what is not done in so many seconds is owed."""
        wanted = list(rows)
        if not wanted:
            return CheckedRows()
        self._overdue = {work for work in self._overdue if not work.done()}
        if len(self._overdue) >= MAX_OVERDUE:
            return _unchecked(wanted)
        work = self._executor.submit(lambda: self._check_now(wanted))
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(work)
        except TimeoutError:
            return _unchecked(wanted)
        finally:
            # also of whoever is cancelled: a thread that began goes on
            if not work.done():
                self._overdue.add(work)

    def _check_now(self, rows: Sequence[ChunkRow]) -> CheckedRows:
        moment = self._files.moment()
        by_file: dict[tuple[RelativePath, Known | None], list[ChunkRow]] = defaultdict(list)
        for row in rows:
            by_file[row.path, row.known if row.chunker in self._chunkers else None].append(row)
        moved: dict[ChunkRow, ChunkRow] = {}
        lost: list[ChunkRow] = []
        absent: set[RelativePath] = set()
        owed: dict[RelativePath, str] = {}
        for (path, known), group in by_file.items():
            present = self._files.look(path, known, moment)
            match present.presence:
                case Presence.ABSENT:
                    absent.add(path)
                case Presence.STALE:
                    owed[path] = present.reason
                    lost += group
                case Presence.OTHER:
                    owed[path] = SkipReason.CHANGED
                    now = _as_they_stand(group, PresentText(present.data))
                    moved |= now
                    lost += [row for row in group if row not in now]
        # the rules last: they may have changed while a file was read that holds something else
        if moved and not moment.rules.is_current():
            owed = dict.fromkeys(owed, SkipReason.IN_DOUBT)
            lost, moved = [*lost, *moved], {}
        return CheckedRows(moved, frozenset(absent), frozenset(lost), owed)


def _unchecked(rows: Sequence[ChunkRow]) -> CheckedRows:
    return CheckedRows(lost=frozenset(rows), owed={row.path: SkipReason.LATE for row in rows})


def _as_they_stand(rows: Iterable[ChunkRow], text: PresentText) -> dict[ChunkRow, ChunkRow]:
    """Return those that stand in a text, each with the lines on which it does."""
    lines = ((row, text.line_of(row.text, row.heading, row.start_line)) for row in rows)
    return {
        row: replace(row, start_line=line, end_line=row.end_line + line - row.start_line)
        for row, line in lines
        if line is not None
    }


class NotesSearch(Struct, frozen=True, kw_only=True):
    """Asks `inner`, and tells what the files hold and the asker may see.

    What states a memory beyond the reach of whoever asks is neither found nor told, nor counted; `hidden` names its
    chunks. The index may learn of such a line between that and the search, and another engine cuts documents otherwise:
    so the text of every hit is looked at, too.
    """

    inner: SearchBackend
    check: FileCheck
    disk: DiskFollower
    hidden: Callable[[Visibility], Awaitable[frozenset[int]]]

    async def search(self, query: Query) -> Found:
        """Return what is found and stands in its files; `owed` names what may answer otherwise."""
        visibility = query.visibility
        if visibility is None:
            return await self._search_checked(query)
        found = await self._search_checked(
            replace(query, exclusions=query.exclusions | Exclusions(chunks=await self.hidden(visibility)))
        )
        hits, misses = tuple(cleared_hits(found.hits, visibility)), tuple(cleared_hits(found.misses, visibility))
        return replace(found, hits=hits, misses=misses)

    async def _search_checked(self, query: Query) -> Found:
        end = time.monotonic() + query.deadline
        found, checked = await self._round(query, end)
        # what is gone counts, too: it may have another name by now
        left = min(query.fresh_until, end) - time.monotonic()
        if checked.differing and await self.disk.rescan(checked.differing, left):
            # What changed may be found again, and even by the same chunks: an edit leaves most of them as they are.
            query = replace(query, exclusions=query.exclusions | Exclusions(checked.absent))
            found, checked = await self._round(query, end)
        owed = dict(checked.owed)
        for _ in range(MAX_REFILLS):
            if not checked.differing or time.monotonic() > end:
                break
            # others take the places of what differs still, and may differ, too: of many that are gone all at once
            gone = Exclusions(frozenset(self.disk.gone())) if checked.absent else Exclusions()
            query = replace(query, exclusions=query.exclusions | checked.exclusions | gone)
            found, checked = await self._round(query, end)
            owed |= checked.owed
        # what would have taken their places is not told
        owed |= dict.fromkeys(checked.absent, SkipReason.GONE)
        return replace(_as_files_are(found, checked, query), owed=owed)

    async def _round(self, query: Query, end: float) -> tuple[Found, CheckedRows]:
        found = await self.inner.search(query.until(end))
        # misses are returned only where an answer is explained
        hits = (*found.hits, *found.misses) if query.is_explained else found.hits
        return found, await self.check.check((row for hit in hits for row in hit.rows), seconds_left(end))


def _as_files_are(found: Found, checked: CheckedRows, query: Query) -> Found:
    """Return what is found as it stands now; misses that nobody is told of stay as they are, for they are counted."""
    hits = _hits_in_files(found.hits, checked)
    misses = _hits_in_files(found.misses, checked) if query.is_explained else found.misses
    floors = found.floors
    # what differs still, after every refill or when time was up, is not what the others are held against
    if floors is not None and checked.differing:
        floors = floors.of([(hit.terms, hit.cosine) for hit in hits])
    return replace(found, hits=hits, misses=misses, floors=floors)


def _hits_in_files(hits: Iterable[Hit], checked: CheckedRows) -> tuple[Hit, ...]:
    return tuple(now for hit in hits if (now := checked.hit(hit)) is not None)


def cleared_hits(hits: Iterable[Hit], visibility: Visibility) -> Iterator[Hit]:
    """Yield the hits without the lines beyond reach; one that was found by these alone is none."""
    for hit in hits:
        chunk, copies = _clear_row(hit.chunk, visibility), tuple(_clear_row(copy, visibility) for copy in hit.copies)
        if chunk is hit.chunk and all(new is old for new, old in zip(copies, hit.copies, strict=True)):
            yield hit
        elif chunk.text.strip() and (not hit.terms or _holds(chunk, hit.terms)):
            yield replace(hit, chunk=chunk, near=(), copies=tuple(copy for copy in copies if copy.text.strip()))


def _clear_row(row: ChunkRow, visibility: Visibility) -> ChunkRow:
    """Return a row with nothing on the lines that are beyond reach; its lines stay where they are."""
    text = visible_text(row.text, row.path, visibility)
    return row if text == row.text else replace(row, text=text)


def _holds(chunk: ChunkRow, terms: Iterable[str]) -> bool:
    text = f"{chunk.path} {chunk.heading} {chunk.text}".lower()
    return any(term in text for term in terms)
