"""Recall: a question → memories and passages that are in their files, current first, with a verdict and the reasons."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import Source
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.recall_filters import is_known_to
from memoryd.domain.memories.recall_order import Lifts
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.duplicates import gist
from memoryd.errors import StoreError
from memoryd.memory.book import cleared_hits
from memoryd.memory.recall.engine import RecallDraft, RecallEngine
from memoryd.memory.recall.evidence import is_on
from memoryd.memory.recall.items import EntityPages, StandingCheck, StandingItems, chunks_lost
from memoryd.memory.recall.query import (
    CutItem,
    Recalled,
    RecalledEntity,
    RecalledItem,
    RecalledMemory,
    RecalledPassage,
    RecallQuery,
)
from memoryd.search.answer import CatchUp, with_snippets
from memoryd.search.arms import RECALL, ArmTimes
from memoryd.search.file_check import CheckedRows, LookAgain
from memoryd.search.protocol import ArmState, Found, Freshness, Query, Untold, why_empty, why_no_better, with_pending

MAX_LOOKS: Final = 3
"""How often a question is asked while its files, or its index, change."""
LEAST_SECONDS: Final = 0.05
NOTHING_ABOVE: Final = "no item stands above the noise of these notes"


class RecallFreshness(Struct, frozen=True, kw_only=True):
    """How recall follows the disk: `owed` tells what the index lacks, `seconds` how long a question waits for it."""

    owed: Callable[[], Freshness]
    on_search: Callable[[], None]
    catch_up: CatchUp
    look_again: LookAgain
    seconds: float


class Recaller:
    """Recalls for one agent."""

    def __init__(
        self,
        *,
        engine: RecallEngine,
        standing: StandingCheck,
        pages: EntityPages,
        fresh: RecallFreshness,
        times: ArmTimes,
    ) -> None:
        self._engine = engine
        self._standing = standing
        self._pages = pages
        self._fresh = fresh
        self._times = times

    async def recall(self, query: RecallQuery) -> Recalled:
        """Answer within the query's deadline; what fails or is late costs its part, never the answer."""
        start = time.monotonic()
        end = start + query.deadline
        fresh = min(self._fresh.seconds, query.deadline / 2)
        self._fresh.on_search()
        pending = await self._fresh.catch_up(fresh)
        draft, held = await self._looked(replace(query, fresh_until=start + fresh), end)
        pages = await self._pages.of(
            draft.asking.entities, draft.book, query.filters, max(LEAST_SECONDS, end - time.monotonic())
        )
        reach = query.filters.reach
        within = _within(held.items, reach)
        items, left_out = _chosen(_beside(pages, within), query, draft)
        left_out += [CutItem(one, SkipReason.BELOW_NOISE) for one in _within(draft.below, reach)]
        if query.said and not items:
            # a page alone tells no more than the name that was said
            pages = ()
        freshness = self._fresh.owed()
        freshness = replace(freshness, pending_files=max(pending, len(held.checked.owed)))
        self._times.note(RECALL, start)
        found = Recalled(
            entities=pages,
            items=tuple(items),
            left_out=(*left_out, *(CutItem(one, SkipReason.NOT_STANDING) for one in _within(held.lost, reach))),
            arms=with_pending(draft.arms, freshness),
            freshness=freshness,
            verdict=_best(items),
            floors=draft.floors,
            engine=draft.engine,
            fallback=draft.fallback,
            took_ms=(time.monotonic() - start) * 1000,
        )
        return replace(found, reason=why_nothing(found, query, draft))

    async def _looked(self, query: RecallQuery, end: float) -> tuple[RecallDraft, StandingItems]:
        """Ask until what is told stands in its files, and the index held still, or time is up."""
        for look in range(MAX_LOOKS):
            draft = await self._engine.draft(replace(query, deadline=max(LEAST_SECONDS / 2, end - time.monotonic())))
            held = await self._held(draft, query, end)
            is_late = time.monotonic() > end or look == MAX_LOOKS - 1
            if is_late or not (held.has_replaced or held.checked.differing):
                break
            left = min(query.fresh_until, end) - time.monotonic()
            has_looked = bool(held.checked.differing) and await self._fresh.look_again(held.checked.differing, left)
            gone = Untold(held.checked.absent)
            lost = Untold() if has_looked else Untold(chunks=chunks_lost(held.lost))
            query = replace(query, untold=query.untold | gone | lost)
        return draft, held

    async def _held(self, draft: RecallDraft, query: RecallQuery, end: float) -> StandingItems:
        try:
            return await self._standing.of(draft.items, max(LEAST_SECONDS, end - time.monotonic()))
        except StoreError:
            # what nobody can hold against its file is not told
            return StandingItems((), tuple(draft.items), CheckedRows())


def _within(items: Sequence[RecalledItem], reach: MemoryReach) -> list[RecalledItem]:
    """Return the items without the lines of passages that are for somebody else."""
    within: list[RecalledItem] = []
    for item in items:
        if isinstance(item, RecalledPassage):
            within += [replace(item, hit=hit) for hit in cleared_hits([item.hit], reach)]
        else:
            within.append(item)
    return within


def _beside(pages: Sequence[RecalledEntity], items: Sequence[RecalledItem]) -> list[RecalledItem]:
    """Return the items without passages of pages that are told as such."""
    shown = {page.path for page in pages}
    return [item for item in items if not (isinstance(item, RecalledPassage) and item.hit.chunk.path in shown)]


def _chosen(
    items: Sequence[RecalledItem], query: RecallQuery, draft: RecallDraft
) -> tuple[list[RecalledItem], list[CutItem]]:
    """Return the first `limit` items, copies folded, each with the reasons of its place; and those that came near."""
    kept, left_out = _without_copies(_shown(items, draft))
    chosen = [replace(one, because=because_of(one, draft)) for one in kept[: query.limit]]
    beyond = [CutItem(one, SkipReason.BEYOND_K) for one in kept[query.limit :]]
    return chosen, [*left_out, *beyond]


def _shown(items: Sequence[RecalledItem], draft: RecallDraft) -> list[RecalledItem]:
    """Return the items with the passages as they are told: with snippet and focus."""
    hits = [item.hit for item in items if isinstance(item, RecalledPassage)]
    found = Found((), (), draft.arms, draft.terms, engine=draft.engine, floors=draft.floors)
    shown = iter(with_snippets(hits, found, has_footer=False))
    return [replace(item, hit=next(shown)) if isinstance(item, RecalledPassage) else item for item in items]


def _without_copies(items: Sequence[RecalledItem]) -> tuple[list[RecalledItem], list[CutItem]]:
    """Fold what says the same: memories of one scope that differ in kind alone, and passages that memories tell."""
    kept: list[RecalledItem] = []
    left_out: list[CutItem] = []
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
        if isinstance(item, RecalledPassage) and is_on(item.hit, places):
            left_out.append(CutItem(item, SkipReason.SAME_AS_MEMORY))
        elif first is not None:
            leader = kept[first]
            left_out.append(CutItem(item, SkipReason.SAME_AS_ANOTHER))
            if isinstance(leader, RecalledMemory) and isinstance(item, RecalledMemory):
                kept[first] = _led(leader, item)
        else:
            if key:
                said[key] = len(kept)
            kept.append(item)
    return kept, left_out


def _says(item: RecalledItem) -> tuple[str, ...]:
    """Return what an item says; of another day it is another one."""
    if isinstance(item, RecalledPassage):
        said = gist(item.hit.chunk.text, item.hit.chunk.heading)
        return (said,) if said else ()
    line, event = item.memory.line, item.lead.source.event
    said = gist(line.text)
    # what others may not see does not speak for what they may
    scope = line.attributes.scope
    return (said, *item.memory.slugs, line.network, scope, str(event) if event else "") if said else ()


def _led(leader: RecalledMemory, copy: RecalledMemory) -> RecalledMemory:
    """Return the newer of two that say the same, with the other as its copy, in the place of the first."""
    newest, other = sorted((leader, copy), key=lambda one: one.memory.recorded, reverse=True)
    return replace(newest, placed=leader.placed, copies=(*newest.copies, other.memory.id, *other.copies))


def _best(items: Sequence[RecalledItem]) -> Verdict:
    given = {item.placed.verdict for item in items}
    return next((verdict for verdict in Verdict if verdict in given), Verdict.NONE)


_LIFTED = {
    Lifts.ENTITY: "the question names its entity",
    Lifts.TEMPORAL: "it is of the days that are asked about, which come first",
    Lifts.OPINION: "an opinion is asked for",
}


def because_of(item: RecalledItem, draft: RecallDraft) -> str:
    """Say why an item stands where it stands."""
    if not isinstance(item, RecalledMemory):
        reasons = _arm_reasons(item.hit.ranks.words, item.hit.ranks.vector, item.hit.terms)
    else:
        reasons = _arm_reasons(item.evidence.words_rank, item.evidence.vector_rank, item.evidence.terms)
    reasons += [f"{_LIFTED[arm]} (+{lift:.2f})" for arm, lift in item.placed.lifts.items()]
    if draft.asking.is_bare:
        reasons.append(_bare_reason(item, "best" if draft.asking.is_of_opinion else "newest"))
    elif item.placed.is_noise:
        reasons.append("its words and meaning answer nothing: it stands behind what does")
    if isinstance(item, RecalledMemory):
        reasons += _version_reasons(item)
    return "; ".join(reasons)


def _bare_reason(item: RecalledItem, then: str) -> str:
    """Say by what an item is placed where a question names somebody or some days and asks for nothing else."""
    count = len(item.placed.lifts)
    has = f"has {count} of what the question names" if count else "has nothing of what the question names"
    day = f"is of {item.placed.day}" if item.placed.day else "has no date"
    return f"it {has} and {day}: no other words are asked for, so what has most comes first, then the {then}"


def _arm_reasons(words: int | None, vector: int | None, terms: tuple[str, ...]) -> list[str]:
    reasons = [f"{words}. by words ({', '.join(terms)})"] if words else []
    return reasons + ([f"{vector}. by meaning"] if vector else [])


def _version_reasons(item: RecalledMemory) -> list[str]:
    reasons = []
    if item.moved_before:
        reasons.append(f"moved up before {item.moved_before}, which says what it was before")
    if item.supersedes:
        reasons.append(f"the current version of {', '.join(map(short_id, item.supersedes))}")
    if item.superseded_by:
        reasons.append(f"superseded by {', '.join(map(short_id, item.superseded_by))}")
    if item.doubted_by:
        reasons.append(f"may contradict {', '.join(map(short_id, item.doubted_by))}")
    if item.copies:
        reasons.append(f"{len(item.copies)} that say the same folded into it")
    return reasons


def why_nothing(found: Recalled, query: RecallQuery, draft: RecallDraft) -> str | None:
    """Say why there is nothing, or why what there is is worth no more; None if there is nothing to say."""
    if draft.silence is not None:
        return f"nothing is recalled: {draft.silence}"
    if found.items:
        if found.verdict is Verdict.ANSWERABLE:
            return found.freshness.hold or None
        return _no_better(found) or found.freshness.hold or None
    if all(arm.state is not ArmState.OK for arm in found.arms.values()):
        return "no arm of recall could answer: " + "; ".join(dict.fromkeys(arm.reason for arm in found.arms.values()))
    if any(one.item for one in found.left_out) and found.freshness.pending_files:
        return "what was found is not in its files as it was read; they are read again now"
    if draft.below:
        return f"nothing is recalled: {NOTHING_ABOVE}"
    narrowed = _narrowed(query, draft)
    if narrowed and found.freshness.files and not found.freshness.pending_files:
        return narrowed
    empty = Found((), (), found.arms, query.question.terms)
    return why_empty(empty, found.freshness, _for_notes(query.as_search(0.0)))


def _for_notes(query: Query) -> Query:
    filters = replace(query.filters, sources=(Source.MEMORY,))
    return replace(query, filters=filters, asked=replace(query.question, filters=filters))


def _no_better(found: Recalled) -> str:
    if found.verdict is Verdict.WEAK:
        return found.floors.weakness if found.floors else why_no_better((), None)
    return found.floors.emptiness if found.floors else ""


def _narrowed(query: RecallQuery, draft: RecallDraft) -> str:
    """Say which filters left nothing."""
    filters = query.filters
    if filters.entities is not None and not is_known_to(draft.book, filters.entities, filters.reach):
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
