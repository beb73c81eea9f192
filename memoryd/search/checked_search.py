"""An engine whose every hit is held against its file when it is told; what differs is read, and asked for, again."""

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Set
from dataclasses import replace

from memoryd.domain.documents import RelativePath
from memoryd.search.backend import Found, Query, SearchBackend
from memoryd.search.file_check import CheckedRows, FileCheck
from memoryd.search.hit import Hit
from memoryd.search.untold import Untold
from memoryd.store.index.passages import ChunkRow

MAX_REFILLS = 5
"""How often a question is asked for others in the places of what its files do not hold: enough when most are gone."""
IS_GONE = "it is gone, and nothing was looked for in its place in time"
LEAST_SECONDS = 0.05
"""For a look at the files, however late the engine was."""

LookAgain = Callable[[Set[RelativePath], float], Awaitable[bool]]
"""Has the index follow the disk where these documents differ, within so many seconds; returns whether it looked."""


class CheckedSearch:
    """Asks `inner`, and tells what the files hold. `look_again` has the index follow them where they differ.

    `gone` says what the index knows to be gone; it may keep that for a grace.
    """

    def __init__(
        self,
        *,
        inner: SearchBackend,
        check: FileCheck,
        look_again: LookAgain,
        gone: Callable[[], Set[RelativePath]],
    ) -> None:
        self._inner = inner
        self._check = check
        self._look_again = look_again
        self._gone = gone

    async def search(self, query: Query) -> Found:
        """Return what is found and stands in its files; `owed` names what may answer otherwise."""
        end = time.monotonic() + query.deadline
        found, checked = await self._round(query, end)
        # what is gone counts, too: it may have another name by now
        left = min(query.fresh_until, end) - time.monotonic()
        if checked.differing and await self._look_again(checked.differing, left):
            # What changed may be found again, and even by the same chunks: an edit leaves most of them as they are.
            query = replace(query, untold=query.untold | Untold(checked.absent))
            found, checked = await self._round(query, end)
        owed = dict(checked.owed)
        for _ in range(MAX_REFILLS):
            if not checked.differing or time.monotonic() > end:
                break
            # others take the places of what differs still, and may differ, too: of many that are gone all at once
            gone = Untold(frozenset(self._gone())) if checked.absent else Untold()
            query = replace(query, untold=query.untold | checked.untold | gone)
            found, checked = await self._round(query, end)
            owed |= checked.owed
        # what would have taken their places is not told
        owed |= dict.fromkeys(checked.absent, IS_GONE)
        return replace(_told(found, checked, query), owed=owed)

    async def _round(self, query: Query, end: float) -> tuple[Found, CheckedRows]:
        found = await self._inner.search(replace(query, deadline=_left(end)))
        return found, await self._check.check(_rows(found, query), _left(end))


def _left(end: float) -> float:
    return max(LEAST_SECONDS, end - time.monotonic())


def _rows(found: Found, query: Query) -> Iterator[ChunkRow]:
    """Yield what an answer tells or cites."""
    for hit in (*found.hits, *(found.misses if query.is_explained else ())):
        yield hit.chunk
        yield from hit.copies


def _told(found: Found, checked: CheckedRows, query: Query) -> Found:
    """Return what is found as it stands now; misses that nobody is told of stay as they are, for they are counted."""
    hits = tuple(_standing(found.hits, checked))
    misses = tuple(_standing(found.misses, checked)) if query.is_explained else found.misses
    floors = found.floors
    # what differs still, after every refill or when time was up, is not what the others are held against
    if floors is not None and checked.differing:
        floors = floors.of([(hit.terms, hit.cosine) for hit in hits])
    return replace(found, hits=hits, misses=misses, floors=floors)


def _standing(hits: Iterable[Hit], checked: CheckedRows) -> Iterator[Hit]:
    told = checked.told
    for hit in hits:
        if hit.chunk in told:
            chunk, copies = told[hit.chunk], tuple(told[copy] for copy in hit.copies if copy in told)
            is_same = chunk is hit.chunk and copies == hit.copies
            yield hit if is_same else replace(hit, chunk=chunk, copies=copies)
