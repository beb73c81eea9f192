"""Memories on their way to another workspace: what a line says, and the days on which it was said."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import date
from itertools import accumulate, islice
from typing import Final

from msgspec import Struct

from memoryd.domain.memories.book import Book, Memory

PAGE_CHARS: Final = 200_000
"""Signs of the texts of one page, so that it fits into a reply."""


class TransferPage(Struct, frozen=True):
    """Some memories, the cursor of the last of them (empty: there are no more), and how many there are in all."""

    memories: tuple[Memory, ...]
    cursor: str
    total: int


def days_of_memory(memory: Memory) -> tuple[date, ...]:
    """Return the days on which a memory was said, the earliest first."""
    return tuple(sorted({source.day for source in memory.sources}))


def page_behind(book: Book, admits: Callable[[Memory], bool], cursor: str, limit: int) -> TransferPage:
    """Return what is admitted behind a cursor, what was said first before the others; what comes meanwhile is told too.

    The cursor names a place and no memory: one that is gone by now does no harm.
    """
    ordered = book.by_day
    behind = bisect_right(ordered, cursor, key=cursor_of) if cursor else 0
    least = list(islice(filter(admits, islice(ordered, behind, None)), limit + 1))
    signs = accumulate(len(one.line.text) for one in least)
    page = [one for at, (one, so_far) in enumerate(zip(least, signs, strict=True)) if not at or so_far <= PAGE_CHARS]
    page = page[:limit]
    return TransferPage(tuple(page), cursor_of(page[-1]) if len(page) < len(least) else "", sum(map(admits, ordered)))


def cursor_of(memory: Memory) -> str:
    """Return its place in the order of an export."""
    return f"{memory.first_recorded.isoformat()}:{memory.id}"


def missing_days(wanted: Sequence[date], memory: Memory | None, today: date) -> tuple[date, ...]:
    """Return the days on which a memory is yet to be stated: those that no line of it is of; none to come."""
    past = tuple(dict.fromkeys(min(day, today) for day in sorted(wanted))) or (today,)
    if memory is None:
        return past
    known = set(days_of_memory(memory))
    # without a day it is enough that it is known at all
    return tuple(day for day in past if day not in known) if wanted else ()
