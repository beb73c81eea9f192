"""What a recall answers: copies folded, each item with the reasons of its place, and why there is no more."""

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
from memoryd.domain.memories.recall_filters import QueryIntent, RecallFilters, is_known_to
from memoryd.domain.memories.recall_order import Boosts
from memoryd.domain.memories.visibility import WithheldFromGroups
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.selection import COPY_BEHIND, originals_first
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.duplicates import gist
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.markdown import front_matter_bytes
from memoryd.domain.text.standing import STANDINGS
from memoryd.files.excerpts import Presence, PresentFiles
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
from memoryd.search.file_check import cleared_hits
from memoryd.search.hits import Hit
from memoryd.search.protocol import ArmState, Found, why_no_notes

NOTHING_ABOVE = "no item stands above the noise of these notes"


class RecallDraft(Struct, frozen=True, kw_only=True):
    """What one look at the index gives: the best candidates, best first, not yet held against their files."""

    book: Book = Book()
    asking: QueryIntent = QueryIntent()
    found: Found
    """How the arms took part; no hit is in it."""
    items: Sequence[RecalledItem] = ()
    below: Sequence[RecalledItem] = ()
    """What came nearest to a message that asked nothing, and does not stand above the noise."""
    silence: SkipReason | None = None
    """Why nothing was looked for."""


def visible_items(items: Sequence[RecalledItem], visibility: Visibility) -> list[RecalledItem]:
    """Return the items without the lines of passages that are for somebody else."""
    within: list[RecalledItem] = []
    for item in items:
        if isinstance(item, RecalledPassage):
            within += [replace(item, hit=hit) for hit in cleared_hits([item.hit], visibility)]
        else:
            within.append(item)
    return within


def beside_pages(pages: Sequence[RecalledEntity], items: Sequence[RecalledItem]) -> list[RecalledItem]:
    """Return the items without passages of pages that are told as such."""
    shown = {page.path for page in pages}
    return [item for item in items if not (isinstance(item, RecalledPassage) and item.hit.chunk.path in shown)]


def chosen(
    items: Sequence[RecalledItem], query: RecallQuery, draft: RecallDraft
) -> tuple[list[RecalledItem], list[RecalledItem]]:
    """Return the first `limit` items, copies folded, each with the reasons of its place; and those that came near."""
    kept, left_out = _without_copies(_shown(items, draft))
    beyond = [cut_because(one, SkipReason.BEYOND_K) for one in kept[query.limit :]]
    first = originals_first(kept[: query.limit], lambda item: item.citation.path)
    return [replace(one, because=because_of(one, draft)) for one in first], [*left_out, *beyond]


def _shown(items: Sequence[RecalledItem], draft: RecallDraft) -> list[RecalledItem]:
    """Return the items with the passages as they are told: with snippet and focus."""
    hits = [item.hit for item in items if isinstance(item, RecalledPassage)]
    shown = iter(with_snippets(hits, draft.found, has_footer=False))
    return [replace(item, hit=next(shown)) if isinstance(item, RecalledPassage) else item for item in items]


def _without_copies(items: Sequence[RecalledItem]) -> tuple[list[RecalledItem], list[RecalledItem]]:
    """Fold what says the same: memories of one scope that differ in kind alone, and passages that memories tell."""
    kept: list[RecalledItem] = []
    left_out: list[RecalledItem] = []
    said: dict[tuple[str, ...], int] = {}
    places = [
        (one.source.path, one.source.start_line, one.source.end_line)
        for item in items
        if isinstance(item, RecalledMemory)
        for one in item.sources
    ]
    for item in items:
        key = _says(item)
        first = said.get(key) if key else None
        if isinstance(item, RecalledPassage) and _is_on(item.hit, places):
            left_out.append(cut_because(item, SkipReason.SAME_AS_MEMORY))
        elif first is not None:
            leader = kept[first]
            left_out.append(cut_because(item, SkipReason.SAME_AS_ANOTHER))
            if isinstance(leader, RecalledMemory) and isinstance(item, RecalledMemory):
                kept[first] = _fold_copy(leader, item)
        else:
            if key:
                said[key] = len(kept)
            kept.append(item)
    return kept, left_out


def _is_on(hit: Hit, places: Sequence[tuple[str, int, int]]) -> bool:
    """Tell whether what answers best of a passage lies on one of these lines (path, first, last) of memories."""
    lines = hit.snippet.focus.lines if hit.snippet.focus else hit.chunk
    return any(
        path == hit.chunk.path and lines.start_line <= end and start <= lines.end_line for path, start, end in places
    )


def _says(item: RecalledItem) -> tuple[str, ...]:
    """Return what an item says; of another day it is another one."""
    if isinstance(item, RecalledPassage):
        said, about = gist(item.hit.chunk.text, item.hit.chunk.heading), tuple[str, ...]()
    else:
        line, event = item.memory.line, item.lead.source.event
        # what others may not see does not speak for what they may
        said = gist(line.text)
        scope = "" if line.attributes.scope == TEAM else line.attributes.scope
        about = (*item.memory.slugs, line.network, scope, str(event or ""))
    return (said, *about) if said else ()


def _fold_copy(leader: RecalledMemory, copy: RecalledMemory) -> RecalledMemory:
    """Return the newer of two that say the same, with the other as its copy, in the place of the first.

    What is said here stands for what others say.
    """

    def lead(one: RecalledMemory) -> tuple[bool, date]:
        return one.memory.scope != TEAM, one.memory.recorded

    newest, other = sorted((leader, copy), key=lead, reverse=True)
    return replace(newest, placed=leader.placed, copies=(*newest.copies, other.memory.id, *other.copies))


def best_of(items: Sequence[RecalledItem]) -> Verdict:
    """Return what the best of them is worth."""
    given = {item.placed.verdict for item in items}
    return next((verdict for verdict in Verdict if verdict in given), Verdict.NONE)


_NOTHING_FOR_GROUPS = "there is nothing that may be told in a group"
"""Whether something was kept back or not: else who asks in a group learns that something is."""


def for_groups(recalled: Recalled, kept: WithheldFromGroups | None, most: int) -> Recalled:
    """Return what may be told in a group, `most` items of it; nothing while nobody knows what is pinned."""

    def may(item: RecalledItem) -> bool:
        if kept is None:
            return False
        if isinstance(item, RecalledMemory):
            return not kept.keeps(item.memory.text, memory=item.memory.id)
        return not kept.keeps(item.hit.snippet.text, path=item.hit.chunk.path)

    items = tuple(filter(may, recalled.items))[:most]
    return replace(
        recalled,
        entities=tuple(page for page in recalled.entities if kept and not kept.keeps(page.summary, path=page.path)),
        items=items,
        left_out=tuple(filter(may, recalled.left_out)),
        verdict=best_of(items),
        reason=recalled.reason if items else _NOTHING_FOR_GROUPS,
    )


LIFTED = {
    Boosts.ENTITY: "the question names its entity",
    Boosts.TEMPORAL: "it is of the days that are asked about, which come first",
    Boosts.OPINION: "an opinion is asked for",
}


def because_of(item: RecalledItem, draft: RecallDraft) -> str:
    """Say why an item stands where it stands."""
    ranks, terms = item.evidence.ranks, item.evidence.terms
    reasons = [f"{ranks.words}. by words ({', '.join(terms)})"] if ranks.words else []
    reasons += [f"{ranks.vector}. by meaning"] if ranks.vector else []
    reasons += [f"{LIFTED[arm]} (+{lift:.2f})" for arm, lift in item.placed.lifts.items()]
    if draft.asking.is_bare:
        reasons.append(_bare_reason(item, "best" if draft.asking.is_of_opinion else "newest"))
    elif item.placed.is_noise:
        reasons.append("its words and meaning answer nothing: it stands behind what does")
    if is_conflict_copy(item.citation.path):
        reasons.append(COPY_BEHIND)
    reasons += [STANDINGS[flag].because for flag in item.standing]
    if isinstance(item, RecalledMemory):
        reasons += _version_reasons(item)
    return "; ".join(reasons)


def _bare_reason(item: RecalledItem, then: str) -> str:
    """Say by what an item is placed where a question names somebody or some days and asks for nothing else."""
    count = len(item.placed.lifts)
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


def why_nothing(found: Recalled, query: RecallQuery, draft: RecallDraft) -> str | None:
    """Say why there is nothing, or why what there is is worth no more; None if there is nothing to say."""
    if draft.silence is not None:
        return f"nothing is recalled: {draft.silence}"
    if found.items:
        return _no_better(found) or found.freshness.hold or None
    arms = found.found.arms.values()
    if all(arm.state is not ArmState.OK for arm in arms):
        return "no arm of recall could answer: " + "; ".join(dict.fromkeys(arm.reason for arm in arms))
    if found.left_out and found.freshness.pending_files:
        return "what was found is not in its files as it was read; they are read again now"
    if draft.below:
        return f"nothing is recalled: {NOTHING_ABOVE}"
    narrowed = _narrowing(query, draft)
    if narrowed and found.freshness.files and not found.freshness.pending_files:
        return narrowed
    return why_no_notes(found.found, found.freshness, query)


def _no_better(found: Recalled) -> str:
    floors = found.found.floors
    if floors is None or found.verdict is Verdict.ANSWERABLE:
        return ""
    return floors.weakness if found.verdict is Verdict.WEAK else floors.emptiness


def _narrowing(query: RecallQuery, draft: RecallDraft) -> str:
    """Say which filters left nothing."""
    filters = query.memory_filters
    if filters.entities is not None and not is_known_to(draft.book, filters.entities, filters.visibility):
        return "no memory names this entity: memoryctl entities list"
    given = {
        "since": filters.since,
        "until": filters.until,
        "asOf": filters.as_of,
        "knownBy": filters.known_by,
        "entity": filters.entities,
        "kind": filters.kinds,
        "scope": filters.scope,
    }
    names = [name for name, value in given.items() if value]
    return f"nothing matches within what {', '.join(names)} leave" if names else ""


SUMMARY_CHARS = 600
MAX_PAGES = 3
"""Of one question."""
_PAGE_BYTES = 64 * 1024
_LINE_CHARS = 2_000
"""So much of a page, and of a line of it, is read for its summary."""
_LINK = expression(r"\s*\(?\[[^\[\]\n]{0,400}+\]\([^()\s]{1,2000}+(?: \"[0-9a-f]{8}\")?\)\)?")
_COMMENT = expression(r"<!--.{0,200}?-->")


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
