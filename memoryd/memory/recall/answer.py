"""The answer of a recall: copies folded, each item with the reasons of its rank, and why nothing was recalled."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from datetime import date

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, is_conflict_copy
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book, EntityPage
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.generated import citations_in
from memoryd.domain.memories.kinds import TEAM, MemoryId, ShortId, Visibility, short_id
from memoryd.domain.memories.recall_filters import QueryIntent, RecallFilters, is_visible_entity
from memoryd.domain.memories.recall_order import Boosts
from memoryd.domain.memories.visibility import WithheldFromGroups
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.selection import COPY_REASON, originals_first
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.duplicates import gist
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.domain.text.note_status import STATUS_EFFECTS
from memoryd.files.excerpts import DiskState, FileChecker
from memoryd.memory.recall.query import (
    Recalled,
    RecalledEntity,
    RecalledItem,
    RecalledMemory,
    RecalledPassage,
    RecallQuery,
    cut_because,
)
from memoryd.search.answer import with_snippets
from memoryd.search.file_check import visible_hits
from memoryd.search.hits import Hit
from memoryd.search.protocol import ArmState, SearchResult, why_no_notes

NOTHING_ABOVE = "no item is above the noise of these notes"


class RecallDraft(Struct, frozen=True, kw_only=True):
    """Candidates from one state of the index, best first, before the check against their files."""

    book: Book = Book()
    asking: QueryIntent = QueryIntent()
    arms_found: SearchResult
    """State of the search arms; it contains no hits."""
    items: Sequence[RecalledItem] = ()
    below: Sequence[RecalledItem] = ()
    """Best items below the noise threshold, for a message that asked nothing."""
    silence: SkipReason | None = None
    """Why nothing was searched."""


def visible_items(items: Sequence[RecalledItem], visibility: Visibility) -> list[RecalledItem]:
    """Return the items without the lines of passages that the asker may not see."""
    visible: list[RecalledItem] = []
    for item in items:
        if isinstance(item, RecalledPassage):
            visible += [replace(item, hit=hit) for hit in visible_hits([item.hit], visibility)]
        else:
            visible.append(item)
    return visible


def beside_pages(pages: Sequence[RecalledEntity], items: Sequence[RecalledItem]) -> list[RecalledItem]:
    """Return the items without passages of pages that are returned as entities."""
    shown = {page.path for page in pages}
    return [item for item in items if not (isinstance(item, RecalledPassage) and item.hit.chunk.path in shown)]


def choose_items(
    items: Sequence[RecalledItem], query: RecallQuery, draft: RecallDraft
) -> tuple[list[RecalledItem], list[RecalledItem]]:
    """Return the first `limit` items, copies folded, each with the reasons of its rank; and the items left out."""
    folded, left_out = _without_copies(_with_snippets(items, draft))
    over_limit = [cut_because(item, SkipReason.BEYOND_K) for item in folded[query.limit :]]
    first = originals_first(folded[: query.limit], lambda item: item.citation.path)
    return [replace(item, because=because_of(item, draft)) for item in first], [*left_out, *over_limit]


def _with_snippets(items: Sequence[RecalledItem], draft: RecallDraft) -> list[RecalledItem]:
    """Return the items, passages with their snippet and focus."""
    hits = [item.hit for item in items if isinstance(item, RecalledPassage)]
    shown = iter(with_snippets(hits, draft.arms_found, has_footer=False))
    return [replace(item, hit=next(shown)) if isinstance(item, RecalledPassage) else item for item in items]


def _without_copies(items: Sequence[RecalledItem]) -> tuple[list[RecalledItem], list[RecalledItem]]:
    """Fold equal items: memories of one scope that differ only in kind, and passages that state a memory."""
    folded: list[RecalledItem] = []
    left_out: list[RecalledItem] = []
    position_of: dict[tuple[str, ...], int] = {}
    places = [
        (source.source.path, source.source.start_line, source.source.end_line)
        for item in items
        if isinstance(item, RecalledMemory)
        for source in item.sources
    ]
    for item in items:
        key = _statement_key(item)
        position = position_of.get(key) if key else None
        if isinstance(item, RecalledPassage) and _is_on(item.hit, places):
            left_out.append(cut_because(item, SkipReason.SAME_AS_MEMORY))
        elif position is not None:
            leader = folded[position]
            left_out.append(cut_because(item, SkipReason.SAME_AS_ANOTHER))
            if isinstance(leader, RecalledMemory) and isinstance(item, RecalledMemory):
                folded[position] = _fold_copy(leader, item)
        else:
            if key:
                position_of[key] = len(folded)
            folded.append(item)
    return folded, left_out


def _is_on(hit: Hit, places: Sequence[tuple[str, int, int]]) -> bool:
    """Return whether the focus of a passage overlaps one of these lines (path, first, last) of memories."""
    lines = hit.snippet.focus.lines if hit.snippet.focus else hit.chunk
    return any(
        path == hit.chunk.path and lines.start_line <= end and start <= lines.end_line for path, start, end in places
    )


def _statement_key(item: RecalledItem) -> tuple[str, ...]:
    """Return the key of an item's statement; the same statement about another day has another key."""
    if isinstance(item, RecalledPassage):
        statement, about = gist(item.hit.chunk.text, item.hit.chunk.heading), tuple[str, ...]()
    else:
        line, event = item.memory.line, item.lead.source.event
        # a memory that others may not see must not replace one that they may
        statement = gist(line.text)
        scope = "" if line.attributes.scope == TEAM else line.attributes.scope
        about = (*item.memory.slugs, line.network, scope, str(event or ""))
    return (statement, *about) if statement else ()


def _fold_copy(leader: RecalledMemory, copy: RecalledMemory) -> RecalledMemory:
    """Return the newer of two equal memories, with the other as its copy, at the rank of the first.

    A memory of this workspace replaces one shared by the team.
    """

    def lead(memory: RecalledMemory) -> tuple[bool, date]:
        return memory.memory.scope != TEAM, memory.memory.recorded

    newest, other = sorted((leader, copy), key=lead, reverse=True)
    return replace(newest, placed=leader.placed, copies=(*newest.copies, other.memory.id, *other.copies))


def best_of(items: Sequence[RecalledItem]) -> Verdict:
    """Return the best verdict of the items."""
    present = {item.placed.verdict for item in items}
    return next((verdict for verdict in Verdict if verdict in present), Verdict.NONE)


_NOTHING_FOR_GROUPS = "nothing may be shown in a group"
"""Used whether or not something was withheld: otherwise the text would reveal it to the group."""


def for_groups(recalled: Recalled, withheld: WithheldFromGroups | None, limit: int) -> Recalled:
    """Return at most `limit` items that may be shown in a group; none while it is unknown what is pinned."""

    def is_allowed(item: RecalledItem) -> bool:
        if withheld is None:
            return False
        if isinstance(item, RecalledMemory):
            return not withheld.hides(item.memory.text, memory=item.memory.id)
        return not withheld.hides(item.hit.snippet.text, path=item.hit.chunk.path)

    items = tuple(filter(is_allowed, recalled.items))[:limit]
    return replace(
        recalled,
        entities=tuple(
            page for page in recalled.entities if withheld and not withheld.hides(page.summary, path=page.path)
        ),
        items=items,
        left_out=tuple(filter(is_allowed, recalled.left_out)),
        verdict=best_of(items),
        reason=recalled.reason if items else _NOTHING_FOR_GROUPS,
    )


BOOSTED = {
    Boosts.ENTITY: "the question names its entity",
    Boosts.TEMPORAL: "it is of the days that are asked about, which come first",
    Boosts.OPINION: "an opinion is asked for",
}


def because_of(item: RecalledItem, draft: RecallDraft) -> str:
    """Return the reasons of an item's rank, as text."""
    ranks, terms = item.evidence.ranks, item.evidence.terms
    reasons = [f"{ranks.words}. by words ({', '.join(terms)})"] if ranks.words else []
    reasons += [f"{ranks.vector}. by meaning"] if ranks.vector else []
    reasons += [f"{BOOSTED[arm]} (+{boost:.2f})" for arm, boost in item.placed.boosts.items()]
    if draft.asking.is_bare:
        reasons.append(_bare_reason(item, "best" if draft.asking.is_of_opinion else "newest"))
    elif item.placed.is_noise:
        reasons.append("its words and meaning answer nothing: it comes after items that do")
    if is_conflict_copy(item.citation.path):
        reasons.append(COPY_REASON)
    reasons += [STATUS_EFFECTS[flag].because for flag in item.standing]
    if isinstance(item, RecalledMemory):
        reasons += _version_reasons(item)
    return "; ".join(reasons)


def _bare_reason(item: RecalledItem, then: str) -> str:
    """Return the reason of a rank when a query names an entity or days and asks for nothing else."""
    count = len(item.placed.boosts)
    has = f"has {count} of what the question names" if count else "has nothing of what the question names"
    day = f"is of {item.placed.day}" if item.placed.day else "has no date"
    return f"it {has} and {day}: no other words are asked for, so what has most comes first, then the {then}"


def _version_reasons(item: RecalledMemory) -> list[str]:
    reasons = []
    if item.moved_before:
        reasons.append(f"moved up before {item.moved_before}, which says what it was before")
    others = {
        "the current version of": item.supersedes,
        "superseded by": item.superseded_by,
        "may contradict": item.doubted_by,
    }
    reasons += [f"{what} {', '.join(map(short_id, ids))}" for what, ids in others.items() if ids]
    if item.copies:
        reasons.append(f"{len(item.copies)} that say the same folded into it")
    return reasons


def why_nothing(recalled: Recalled, query: RecallQuery, draft: RecallDraft) -> str | None:
    """Return why nothing was recalled, or why the results are weak; None if there is nothing to report."""
    if draft.silence is not None:
        return f"nothing is recalled: {draft.silence}"
    if recalled.items:
        return _weakness(recalled) or recalled.freshness.hold or None
    arms = recalled.result.arms.values()
    if all(arm.state is not ArmState.OK for arm in arms):
        return "no arm of recall could answer: " + "; ".join(dict.fromkeys(arm.reason for arm in arms))
    if recalled.left_out and recalled.freshness.pending_files and recalled.freshness.has_folder:
        return "what was found is not in its files as it was read; they are read again now"
    if draft.below:
        return f"nothing is recalled: {NOTHING_ABOVE}"
    narrowed = _narrowing(query, draft)
    if narrowed and recalled.freshness.files and not recalled.freshness.pending_files:
        return narrowed
    return why_no_notes(recalled.result, recalled.freshness, query)


def _weakness(recalled: Recalled) -> str:
    floors = recalled.result.floors
    if floors is None or recalled.verdict is Verdict.ANSWERABLE:
        return ""
    return floors.why_weak if recalled.verdict is Verdict.WEAK else floors.why_empty


def _narrowing(query: RecallQuery, draft: RecallDraft) -> str:
    """Return which filters left nothing."""
    filters = query.memory_filters
    if filters.entities is not None and not is_visible_entity(draft.book, filters.entities, filters.visibility):
        return "no memory names this entity: memoryctl entities list"
    filter_values = {
        "since": filters.since,
        "until": filters.until,
        "asOf": filters.as_of,
        "knownBy": filters.known_by,
        "entity": filters.entities,
        "kind": filters.kinds,
        "scope": filters.scope,
    }
    names = [name for name, value in filter_values.items() if value]
    return f"nothing matches within the limits of {', '.join(names)}" if names else ""


SUMMARY_CHARS = 600
MAX_PAGES = 3
"""Maximum number of entity pages in one answer."""
_PAGE_BYTES = 64 * 1024
_LINE_CHARS = 2_000
"""Maximum bytes of a page, and characters of a line, that are read for its summary."""
_LINK = expression(r"\s*\(?\[[^\[\]\n]{0,400}+\]\([^()\s]{1,2000}+(?: \"[0-9a-f]{8}\")?\)\)?")
_COMMENT = expression(r"<!--.{0,200}?-->")


class EntityPages(Struct, frozen=True, kw_only=True):
    """Reads entity pages of one workspace; a private, missing or late page is left out."""

    files: FileChecker
    executor: Executor

    async def of(
        self, entities: Iterable[EntitySlug], book: Book, filters: RecallFilters, seconds: float
    ) -> tuple[RecalledEntity, ...]:
        """Return the pages of these entities that can be read within `seconds`."""
        named = [
            (slug, book.pages[slug]) for slug in sorted(entities) if slug in book.pages and filters.admits_entity(slug)
        ][:MAX_PAGES]
        if not named or filters.is_historical or not filters.admits_pages:
            # the past text of a page is unknown
            return ()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(seconds):
                texts = await loop.run_in_executor(self.executor, lambda: [self._text(page) for _, page in named])
        except TimeoutError:
            return ()
        pages = (_summarize(slug, page, text, book, filters) for (slug, page), text in zip(named, texts, strict=True))
        return tuple(page for page in pages if page.summary)

    def _text(self, page: EntityPage) -> str:
        file = self.files.check(RelativePath(page.path), None, self.files.begin_check())
        if file.presence is not DiskState.OTHER:
            return ""
        body = file.data[: len(file.data) - len(PADDING)]
        return body[front_matter_bytes(file.data) :][:_PAGE_BYTES].decode("utf-8", "replace")


def _summarize(slug: EntitySlug, page: EntityPage, text: str, book: Book, filters: RecallFilters) -> RecalledEntity:
    """Return the first lines of a page that the asker may see, and the memories that they cite."""
    lines, memories, left = list[str](), dict[MemoryId, None](), SUMMARY_CHARS
    for line, cited in _summary_lines(text):
        keys = [key for short in cited if (key := book.of_short(short)) is not None]
        # a line that rests on a memory that the asker may not see would reveal it
        if len(keys) < len(cited) or not all(filters.visible_sources(book.memories[key]) for key in keys):
            continue
        if len(line) > left:
            break
        lines.append(line)
        memories |= dict.fromkeys(keys)
        left -= len(line) + 1
    return RecalledEntity(slug, page.name, page.path, "\n".join(lines), tuple(memories))


def _summary_lines(text: str) -> Iterator[tuple[str, list[ShortId]]]:
    """Yield the lines with text, without links, and the memories that each line links to."""
    for raw in text.split("\n"):
        line = _COMMENT.sub("", raw[:_LINE_CHARS]).strip()
        if not line or line.startswith("#"):
            continue
        cited = [memory for memory, _ in citations_in(line)]
        if plain := _LINK.sub("", line).strip():
            yield plain, cited
