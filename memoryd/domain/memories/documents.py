"""Memories as documents, which a program lists, counts, gets by id, edits and exports. Documents are views of lines.

A preview shows how their tiers will change in the next days if they are not accessed. An export has the content of a
line, and the days on which it was said.
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

    `scope` is as returned by `shown_scope`; `terms` are the current terms of its relevance. `score` is None without a
    query.
    """

    memory: Memory
    scope: str
    created_at: float
    """The start of the day on which it was first written."""
    accessed_at: float
    """The time of the last use; the time of creation if it was never used."""
    accessed_day: date
    """The day of `accessed_at` in the owner's calendar."""
    terms: RelevanceTerms
    superseded_by: tuple[MemoryId, ...] = ()
    score: float | None = None


def shown_scope(scope: str, agent: str, *, is_alone: bool, team: str = "") -> str:
    """Return the scope of a memory for display: without one it is the workspace's, or its only agent's."""
    if scope == TEAM:
        return f"{TEAM}:{team}"
    return scope or (f"agent:{agent}" if is_alone else WORKSPACE)


def visible_memories(book: Book, visibility: Visibility) -> list[Memory]:
    """Return the memories that are visible to a client, newest first."""
    return [memory for memory in book.newest if visibility.admits(memory.scope)]


def find_memory(memories: Iterable[Memory], name: str) -> Memory:
    """Return the memory with an id, or the beginning of one of at least eight characters; raise ValueError.

    Pass only memories visible to the client, so that ids of others look like unknown ones.
    """
    prefix = name.strip().lower()
    if len(prefix) < ID_PREFIX_CHARS:
        raise ValueError(f"there is no memory {name!r}: give at least {ID_PREFIX_CHARS} signs of its id")
    matches = [memory for memory in memories if memory.id.startswith(prefix)]
    if not matches:
        raise ValueError(f"there is no memory {name!r}")
    if len(matches) > 1:
        raise ValueError(f"{name!r} is the beginning of {len(matches)} ids: give more of it")
    return matches[0]


def day_start(day: date, zone: tzinfo | None) -> float:
    """Return the start of a day in a zone, in Unix seconds; 0 for a day that the platform cannot represent."""
    try:
        return datetime.combine(day, time.min, tzinfo=zone).timestamp()
    except (OverflowError, ValueError, OSError):
        return 0.0


_DURATION = expression(r"(?P<count>[0-9]{1,5})\s*(?P<unit>[dwmy]?)")
_UNIT_DAYS: Mapping[str, int] = {"d": 1, "w": 7, "m": 30, "y": 365}


class DecayedDocument(Struct, frozen=True):
    """A memory, and the terms of its relevance at a later time if it is not accessed until then."""

    document: MemoryDocument
    then: RelevanceTerms

    @property
    def changes_tier(self) -> bool:
        return self.then.tier is not self.document.terms.tier

    @property
    def loss(self) -> float:
        return self.document.terms.relevance - self.then.relevance


def largest_losses(documents: Iterable[DecayedDocument], limit: int) -> tuple[list[DecayedDocument], int, int]:
    """Return at most `limit` documents that change, the number of changes, and the number of tier changes.

    Tier changes come first, then the greatest losses of relevance.
    """
    changing = [document for document in documents if document.changes_tier or document.loss]
    ordered = sorted(
        changing, key=lambda document: (not document.changes_tier, -document.loss, document.document.memory.id)
    )
    return ordered[:limit], len(ordered), sum(document.changes_tier for document in ordered)


def days_of(text: str) -> float:
    """Parse a number of days: `90d`, `12w`, `6m`, `1y`, or a bare number; raise ValueError."""
    duration = _DURATION.fullmatch(text.strip().lower())
    if duration is None:
        raise ValueError(f"{text!r} is no number of days, such as 90d, 12w, 6m or 1y")
    return float(int(duration["count"]) * _UNIT_DAYS[duration["unit"] or "d"])


class DocumentFilters(Struct, frozen=True, kw_only=True):
    """Filters of a list of documents: all given ones must match; None and an empty text match all.

    `scope` is as displayed, or `workspace` for memories without one. `query` has words that must all occur in text,
    entities or tags, in any case. `since` and `until` are days of the newest line, inclusive. `after` continues a list:
    the `place_of` the last memory shown.
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
        """Return whether a memory, with its displayed scope, matches all filters except the tier."""
        attributes = memory.line.attributes
        return (
            (self.scope in ("", scope, attributes.scope) or (self.scope == WORKSPACE and not attributes.scope))
            and (self.kinds is None or memory.kind in self.kinds)
            and self.pinned in (None, attributes.is_pinned)
            and (not self.tag or self.tag.casefold() in {tag.casefold() for tag in attributes.tags})
            and (self.entities is None or not self.entities.isdisjoint(memory.slugs))
            and self.author in (None, author_of(memory))
            and self.since <= memory.recorded <= self.until
            and (not self.query or _contains_words(memory, self.query))
        )


def author_of(memory: Memory) -> Provenance:
    """Return who said what a memory states; without provenance it is the user."""
    return memory.line.attributes.provenance or Provenance.USER


class DocumentPage(Struct, frozen=True):
    """One page of matching documents, the number of all matches, and the cursor of the next page, empty if none."""

    documents: tuple[MemoryDocument, ...] = ()
    total: int = 0
    next: str = ""


def page_of(
    admitted: Iterable[Memory],
    filters: DocumentFilters,
    document: Callable[[Memory], MemoryDocument],
    tier_of: Callable[[Memory], Tier],
) -> DocumentPage:
    """Return one page of the memories, given newest first, that filters admit, and the number of all matches.

    Tiers are expensive to compute, and only requested if they are filtered by.
    """
    memories = tuple(admitted)
    if filters.tier is not None:
        memories = tuple(memory for memory in memories if tier_of(memory) is filters.tier)
    start = filters.offset + (bisect_right(memories, filters.after, key=place_of) if filters.after else 0)
    shown = memories[start : start + filters.limit]
    is_last = start + filters.limit >= len(memories)
    return DocumentPage(tuple(map(document, shown)), len(memories), "" if is_last else place_of(shown[-1]))


AHEAD_DAYS = 365
DIGITS = 4
"""Decimals of a relevance in replies."""
_AHEAD_STEP = 5


def relevance_forecast(terms_in: Callable[[float], RelevanceTerms]) -> MemoryAheadReply:
    """Return the forecast for a memory over a year, every five days; `terms_in` returns its terms in some days."""
    days = [terms_in(day) for day in range(AHEAD_DAYS + 1)]
    leaves = next((day for day, terms in enumerate(days) if terms.tier is not days[0].tier), None)
    return MemoryAheadReply(
        relevance=[round(terms.relevance, DIGITS) for terms in days[::_AHEAD_STEP]],
        leaves_in_days=leaves,
        goes_to=None if leaves is None else days[leaves].tier.value,
    )


def stats_of(documents: Sequence[MemoryDocument]) -> MemoryStatsReply:
    """Count documents, and list pairs that may be redundant."""
    memories = [document.memory for document in documents]
    across = copies_across_scopes(memories)
    return MemoryStatsReply(
        total=len(documents),
        by_tier=_count_by(documents, lambda document: document.terms.tier),
        by_kind=_count_by(documents, lambda document: document.memory.kind.value),
        by_scope=_count_by(documents, lambda document: document.scope),
        pinned=sum(document.memory.line.attributes.is_pinned for document in documents),
        near_copies=[pair for pair in near_copies(memories) if pair not in across],
        across_scopes=across,
    )


def _contains_words(memory: Memory, query: str) -> bool:
    """Return whether each word of a query occurs in text, entities or tags, in any case."""
    line = memory.line
    text = normalised(" ".join([line.text, *line.entities, *line.attributes.tags])).casefold()
    return all(word in text for word in normalised(query).casefold().split())


def _count_by(documents: Iterable[MemoryDocument], part: Callable[[MemoryDocument], str]) -> dict[str, int]:
    return dict(sorted(Counter(map(part, documents)).items()))


PAGE_CHARS = 200_000
"""Most characters of the texts on one page of an export, so that it fits into a reply."""


class TransferPage(Struct, frozen=True):
    """One page of an export, the cursor of its last memory (empty on the last page), and the number of all memories."""

    memories: tuple[Memory, ...]
    cursor: str
    total: int


def days_of_memory(memory: Memory) -> tuple[date, ...]:
    """Return the days on which a memory was said, earliest first."""
    return tuple(sorted({source.day for source in memory.sources}))


def export_page(book: Book, admits: Callable[[Memory], bool], cursor: str, limit: int) -> TransferPage:
    """Return the admitted memories after a cursor, ordered by the day they were first said.

    The cursor is a position, so it stays valid if its memory is deleted, and memories added later are included.
    """
    ordered = book.by_day
    begin = bisect_right(ordered, cursor, key=cursor_of) if cursor else 0
    following = list(islice(filter(admits, islice(ordered, begin, None)), limit + 1))
    sizes = accumulate(len(memory.text) for memory in following)
    fitting = [
        memory for at, (memory, size) in enumerate(zip(following, sizes, strict=True)) if not at or size <= PAGE_CHARS
    ]
    page = fitting[:limit]
    next_cursor = cursor_of(page[-1]) if len(page) < len(following) else ""
    return TransferPage(tuple(page), next_cursor, sum(map(admits, ordered)))


def cursor_of(memory: Memory) -> str:
    """Return the position of a memory in the order of an export."""
    return f"{memory.first_recorded.isoformat()}:{memory.id}"


def missing_days(wanted: Sequence[date], memory: Memory | None, today: date) -> tuple[date, ...]:
    """Return the days for which a memory has no line; days in the future count as today."""
    past = tuple(dict.fromkeys(min(day, today) for day in sorted(wanted))) or (today,)
    if memory is None:
        return past
    known = set(days_of_memory(memory))
    # if no days are wanted, any existing line is sufficient
    return tuple(day for day in past if day not in known) if wanted else ()
