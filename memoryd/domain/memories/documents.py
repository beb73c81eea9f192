"""Memories as documents, which a program lists, counts, gets by id, edits and exports. A view over lines.

A preview says how their tiers will change in the next days if no one accesses them. An export gives what a line says,
and the days on which it was said.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, tzinfo
from itertools import accumulate, islice

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.memories.abstracts import copies_across_scopes, near_copies
from memoryd.domain.memories.book import Book, Memory, place_of
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.kinds import ID_PREFIX_CHARS, TEAM, Kind, MemoryId, Visibility
from memoryd.domain.memories.line import Provenance
from memoryd.domain.memories.recall_filters import WORKSPACE
from memoryd.domain.memories.tiers import RelevanceTerms, Tier
from memoryd.domain.text.words import normalised
from memoryd.replies.memories import MemoryAheadReply, MemoryStatsReply


class MemoryDocument(Struct, frozen=True, kw_only=True):
    """A memory as a program sees it; times are Unix seconds.

    `scope` is as it is told (`shown_scope`), `terms` what its relevance is made of now. `score` is None where nothing
    was asked.
    """

    memory: Memory
    scope: str
    created_at: float
    """The beginning of the day on which it was written first."""
    accessed_at: float
    """When it was used last; when it was created, if it never was."""
    accessed_day: date
    """The day of `accessed_at`, as the owner's calendar has it."""
    terms: RelevanceTerms
    superseded_by: tuple[MemoryId, ...] = ()
    score: float | None = None


def shown_scope(scope: str, agent: str, *, is_alone: bool, team: str = "") -> str:
    """Return how the scope of a memory is told: without one it is the workspace's, or of the one agent that has it."""
    if scope == TEAM:
        return f"{TEAM}:{team}"
    return scope or (f"agent:{agent}" if is_alone else WORKSPACE)


def within(book: Book, visibility: Visibility) -> list[Memory]:
    """Return the memories that somebody may know of, the newest first."""
    return [one for one in book.newest if visibility.admits(one.scope)]


def named(memories: Iterable[Memory], name: str) -> Memory:
    """Return the memory of a full id, or of a beginning of at least eight signs; raise ValueError.

    Give it only what the asker may know of: then another's id reads as one that there is not.
    """
    prefix = name.strip().lower()
    if len(prefix) < ID_PREFIX_CHARS:
        raise ValueError(f"there is no memory {name!r}: give at least {ID_PREFIX_CHARS} signs of its id")
    matches = [one for one in memories if one.id.startswith(prefix)]
    if not matches:
        raise ValueError(f"there is no memory {name!r}")
    if len(matches) > 1:
        raise ValueError(f"{name!r} is the beginning of {len(matches)} ids: give more of it")
    return matches[0]


def beginning_of(day: date, zone: tzinfo | None) -> float:
    """Return when a day begins in a zone, in Unix seconds; 0 for a day before the zone can tell."""
    try:
        return datetime.combine(day, time.min, tzinfo=zone).timestamp()
    except (OverflowError, ValueError, OSError):
        return 0.0


_DURATION = expression(r"(?P<count>[0-9]{1,5})\s*(?P<unit>[dwmy]?)")
_UNIT_DAYS: Mapping[str, int] = {"d": 1, "w": 7, "m": 30, "y": 365}


class DecayedDocument(Struct, frozen=True):
    """A memory, and what its relevance will be made of if nobody touches it until then."""

    document: MemoryDocument
    then: RelevanceTerms

    @property
    def changes_tier(self) -> bool:
        return self.then.tier is not self.document.terms.tier

    @property
    def loss(self) -> float:
        return self.document.terms.relevance - self.then.relevance


def decay_of(found: Iterable[DecayedDocument], limit: int) -> tuple[list[DecayedDocument], int, int]:
    """Return what goes to another tier, then what loses most; how many change, and how many of them their tier."""
    changing = [one for one in found if one.changes_tier or one.loss]
    first = sorted(changing, key=lambda one: (not one.changes_tier, -one.loss, one.document.memory.id))
    return first[:limit], len(first), sum(one.changes_tier for one in first)


def days_of(text: str) -> float:
    """Read how many days somebody means: `90d`, `12w`, `6m`, `1y`, or a bare number; raise ValueError."""
    duration = _DURATION.fullmatch(text.strip().lower())
    if duration is None:
        raise ValueError(f"{text!r} is no number of days, such as 90d, 12w, 6m or 1y")
    return float(int(duration["count"]) * _UNIT_DAYS[duration["unit"] or "d"])


class DocumentFilters(Struct, frozen=True, kw_only=True):
    """Which documents are listed: all given ones must hold; None, and an empty text, admit all.

    `scope` is as documents tell it, or `workspace` for all that name none. `query` holds words that text, entities
    or tags all hold, in any case. `since` and `until` are days of the newest line, both included. `after` is where a
    list goes on: the `place_of` the last one shown.
    """

    scope: str = ""
    kinds: frozenset[Kind] | None = None
    tier: Tier | None = None
    pinned: bool | None = None
    tag: str = ""
    query: str = ""
    entities: frozenset[EntitySlug] | None = None
    author: Provenance | None = None
    since: date = date.min
    until: date = date.max
    limit: int = 50
    offset: int = 0
    after: str = ""

    def admits(self, memory: Memory, scope: str) -> bool:
        """Tell whether a memory, whose scope is told so, is among those that are asked for, but for its tier."""
        attributes = memory.line.attributes
        return (
            (self.scope in ("", scope, attributes.scope) or (self.scope == WORKSPACE and not attributes.scope))
            and (self.kinds is None or memory.kind in self.kinds)
            and self.pinned in (None, attributes.is_pinned)
            and (not self.tag or self.tag.casefold() in {tag.casefold() for tag in attributes.tags})
            and (self.entities is None or not self.entities.isdisjoint(memory.slugs))
            and self.author in (None, author_of(memory))
            and self.since <= memory.recorded <= self.until
            and (not self.query or _holds_words(memory, self.query))
        )


def author_of(memory: Memory) -> Provenance:
    """Return who said what a memory states; what does not tell was written by a person."""
    return memory.line.attributes.provenance or Provenance.USER


class DocumentPage(Struct, frozen=True):
    """Some of the documents that were asked for, how many there are, and where the list goes on, if it does."""

    documents: tuple[MemoryDocument, ...] = ()
    total: int = 0
    next: str = ""


def page_of(
    admitted: Iterable[Memory],
    filters: DocumentFilters,
    document: Callable[[Memory], MemoryDocument],
    tier_of: Callable[[Memory], Tier],
) -> DocumentPage:
    """Return the documents of memories that filters admit, given the newest first, and how many there are.

    Tiers cost more to know than all else, so that they are asked for only where they are filtered by.
    """
    memories = tuple(admitted)
    if filters.tier is not None:
        memories = tuple(one for one in memories if tier_of(one) is filters.tier)
    start = filters.offset + (bisect_right(memories, filters.after, key=place_of) if filters.after else 0)
    shown = memories[start : start + filters.limit]
    is_last = start + filters.limit >= len(memories)
    return DocumentPage(tuple(map(document, shown)), len(memories), "" if is_last else place_of(shown[-1]))


AHEAD_DAYS = 365
DIGITS = 4
"""Of a relevance that is told."""
_AHEAD_STEP = 5


def ahead_of(terms_in: Callable[[float], RelevanceTerms]) -> MemoryAheadReply:
    """Return what lies ahead of a memory, whose terms in so many days are given: every fifth day of a year."""
    days = [terms_in(day) for day in range(AHEAD_DAYS + 1)]
    leaves = next((day for day, terms in enumerate(days) if terms.tier is not days[0].tier), None)
    return MemoryAheadReply(
        relevance=[round(terms.relevance, DIGITS) for terms in days[::_AHEAD_STEP]],
        leaves_in_days=leaves,
        goes_to=None if leaves is None else days[leaves].tier.value,
    )


def stats_of(documents: Sequence[MemoryDocument]) -> MemoryStatsReply:
    """Count documents, and name pairs of which one may be unnecessary."""
    memories = [one.memory for one in documents]
    across = copies_across_scopes(memories)
    return MemoryStatsReply(
        total=len(documents),
        by_tier=_count_by(documents, lambda one: one.terms.tier),
        by_kind=_count_by(documents, lambda one: one.memory.kind.value),
        by_scope=_count_by(documents, lambda one: one.scope),
        pinned=sum(one.memory.line.attributes.is_pinned for one in documents),
        near_copies=[pair for pair in near_copies(memories) if pair not in across],
        across_scopes=across,
    )


def _holds_words(memory: Memory, query: str) -> bool:
    """Tell whether text, entities or tags hold each word of a query, in any case."""
    line = memory.line
    text = normalised(" ".join([line.text, *line.entities, *line.attributes.tags])).casefold()
    return all(word in text for word in normalised(query).casefold().split())


def _count_by(documents: Iterable[MemoryDocument], part: Callable[[MemoryDocument], str]) -> dict[str, int]:
    return dict(sorted(Counter(map(part, documents)).items()))


PAGE_CHARS = 200_000
"""Characters of the texts of one page of an export, so that it fits into a reply."""


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
    signs = accumulate(len(one.text) for one in least)
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
