"""Search over several engines: merging of notes and conversations, fallback for a failing engine, duplicates removed.

Notes and conversations are searched concurrently; if conversations fail or are late, the answer goes without them. The
fallback answers within the same call. A transcript and the session made from its turns are returned only once.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, conversation_path, turns_path
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.ranking.selection import HitEvidence, joint_measure, merge_lists
from memoryd.domain.sessions.making_turns import transcript_session
from memoryd.domain.skips import SkipReason
from memoryd.errors import MemorydError, SidecarError
from memoryd.search.arms import ArmTimes
from memoryd.search.hits import Hit
from memoryd.search.protocol import (
    CONVERSATIONS,
    LEADING,
    LEXICAL,
    Arm,
    ArmState,
    Fallback,
    LateBackend,
    Query,
    SearchBackend,
    SearchResult,
    empty_result,
    with_verdicts,
)

NOT_INDEXED = Arm(
    ArmState.OFF,
    "no conversation is indexed: set memory.qa.enabled to true for questions and answers, and for transcripts "
    'memorySearch.experimental.sessionMemory to true with "sessions" in memorySearch.sources',
)
"""The arm of an agent without indexed conversations."""
FIRST_SHARE = 0.8
"""Share of the deadline for the first engine; the rest is for the second."""


async def always_current(_seconds: float) -> Arm:
    """Return the state of an index that is always up to date."""
    return Arm(ArmState.OK)


class ConversationArm(Struct, frozen=True):
    """Searches one agent's conversations; failures and timeouts become the state of the arm.

    `index_state` waits at most so many seconds for the index to be up to date, and returns its state then: off,
    failed, or partial if there is more to read, with the reason.
    """

    search: SearchBackend | None = None
    index_state: Callable[[float], Awaitable[Arm]] = always_current

    async def ask(self, query: Query) -> tuple[Arm, SearchResult]:
        """Return the state of the arm and its result, within the deadline."""
        began = time.monotonic()
        end = began + query.deadline
        index = NOT_INDEXED if self.search is None else await self.index_state(min(query.fresh_until, end) - began)
        if self.search is None or not index.took_part:
            return index, empty_result(query.question.terms, index)
        query = query.until(end)
        try:
            async with asyncio.timeout(query.deadline):
                result = await search_once(self.search, query)
        except TimeoutError:
            late = Arm(ArmState.TIMEOUT, "it did not answer before the deadline")
            return late, empty_result(query.question.terms, late)
        except MemorydError as exc:
            failed = Arm(ArmState.FAILED, str(exc))
            return failed, empty_result(query.question.terms, failed)
        arm = _combined_arm(index, result.arms)
        # the reason of an OK arm, such as conversations that are not stored, matters only without hits
        return (Arm(ArmState.OK) if result.hits and arm.state is ArmState.OK else arm), result


def _combined_arm(index: Arm, arms: Mapping[str, Arm]) -> Arm:
    """Return the state of the conversations from the state of their index and of the arms."""
    if not any(arm.took_part for arm in arms.values()):
        return arms[LEXICAL]
    if index.state is not ArmState.OK:
        return index
    lacking = [(name, arm) for name, arm in arms.items() if not arm.is_as_configured]
    if not lacking:
        return index
    return Arm(ArmState.PARTIAL, "; ".join(f"{name}: {arm.reason or arm.state}" for name, arm in lacking))


class FallbackSearch(Struct, kw_only=True):
    """Searches with the first engine, or with the second if the first fails; remembers why and since when.

    Documents changed after the first engine's last update are added from `recent`.
    """

    first: LateBackend
    second: SearchBackend
    recent: SearchBackend
    name: str
    fallback: Fallback | None = None
    """The outage at the last query or `note`, None while the first engine works."""
    times: ArmTimes = field(default_factory=ArmTimes)

    def note(self, unavailable_because: str | None) -> Fallback | None:
        """Record that the first engine is unavailable, or (None) available again; return the current outage."""
        since = self.fallback.since if self.fallback else datetime.now(UTC)
        self.fallback = None if unavailable_because is None else Fallback(self.name, unavailable_because, since)
        return self.fallback

    async def search(self, query: Query) -> SearchResult:
        """Answer with the first engine, else with the second; the result's `fallback` is then set."""
        began = time.monotonic()
        end = began + query.deadline
        try:
            result = await self.first.search(replace(query, deadline=query.deadline * FIRST_SHARE))
        except SidecarError as exc:
            self.times.note(self.name, began, ArmState.FAILED)
            # keep the value: `fallback` may change during the search
            fallback = self.note(str(exc))
            return replace(await self.second.search(query.until(end)), fallback=fallback)
        self.times.note(self.name, began)
        self.note(None)
        if not result.hits and result.doubt:
            reason = Fallback(self.name, result.doubt, datetime.now(UTC))
            return replace(await self.second.search(query.until(end)), fallback=reason)
        return result if result.as_of is None else await self._with_recent(result, result.as_of, query.until(end))

    async def _with_recent(self, result: SearchResult, as_of: float, query: Query) -> SearchResult:
        """Insert the hits of `recent` in documents changed since `as_of` at their ranks there; noise at the end."""
        others = (await self.recent.search(query)).hits
        changed = self.first.changed_since([hit.chunk.path for hit in others], as_of)
        hits = [hit for hit in result.hits if hit.chunk.path not in changed]
        for rank, hit in enumerate(others):
            if hit.chunk.path in changed:
                hits.insert(len(hits) if hit.is_noise else rank, hit)
        return replace(result, hits=tuple(hits[: query.limit]))


def merge_results(
    query: Query, notes: SearchResult, exchanges: SearchResult, arm: Arm, weights: Weights
) -> SearchResult:
    """Merge the results of notes and conversations; `weights` are the shares of words and meaning in the comparison."""
    hits, nearest = merge_hits(notes, exchanges, weights)
    return replace(
        _within_limit(notes, hits, nearest, query.limit),
        arms={**notes.arms, CONVERSATIONS: arm},
        fallback=notes.fallback or exchanges.fallback,
        conversations=exchanges,
    )


def _within_limit(result: SearchResult, hits: Sequence[Hit], misses: Iterable[Hit], limit: int) -> SearchResult:
    """Return the result with the first `limit` hits; the others become misses, before the given ones."""
    over_limit = (replace(hit, because=SkipReason.BEYOND_MAX_RESULTS) for hit in hits[limit:])
    return replace(result, hits=tuple(hits[:limit]), misses=(*over_limit, *misses)[:limit])


def merge_hits(first: SearchResult, second: SearchResult, weights: Weights) -> tuple[list[Hit], list[Hit]]:
    """Merge the hits of two engines, and their misses; of equals, that of the first engine comes first."""
    measure = joint_measure([result.floors for result in (first, second) if result.floors is not None], weights)
    ours, theirs = (_pairs(with_verdicts(result.hits, leading=LEADING), result) for result in (first, second))
    return merge_lists(ours, theirs, measure), merge_lists(
        _pairs(first.misses, first), _pairs(second.misses, second), measure
    )


def _pairs(hits: Sequence[Hit], result: SearchResult) -> list[tuple[Hit, HitEvidence]]:
    """Pair hits with the evidence for their comparison; an engine may give none."""
    best = max((hit.bm25 or 0.0 for hit in (*result.hits, *result.misses)), default=0.0)
    return [
        (
            hit,
            HitEvidence(
                terms=hit.terms,
                matching=None if hit.bm25 is None else hit.bm25 / best if best > 0 else 0.0,
                cosine=hit.cosine,
                score=hit.score,
                decay=hit.decay.factor,
                verdict=hit.verdict,
                is_noise=hit.is_noise,
            ),
        )
        for hit in hits
    ]


async def search_once(search: SearchBackend, query: Query) -> SearchResult:
    """Search, and of a transcript and the session made from it, keep only the one with the better hit.

    Either may contain text that the other lacks. Freed places go to further hits: the search is repeated with twice the
    limit.
    """
    result = await search.search(query)
    names = _shown_names(result.hits)
    if _deduplicate(result.hits) == result.hits and _deduplicate(result.misses, names) == result.misses:
        return result
    result = await search.search(replace(query, limit=2 * query.limit))
    hits = _deduplicate(result.hits)
    return _within_limit(result, hits, _deduplicate(result.misses, _shown_names(hits)), query.limit)


def _deduplicate(
    hits: Iterable[Hit], shown_names: Mapping[RelativePath, RelativePath] | None = None
) -> tuple[Hit, ...]:
    """Keep the hits of each conversation under a single name: that in `shown_names`, else that of its best hit."""
    names = dict(shown_names or {})
    return tuple(
        hit for hit in hits if names.setdefault(_conversation(hit), path := conversation_path(hit.chunk.path)) == path
    )


def _shown_names(hits: Iterable[Hit]) -> Mapping[RelativePath, RelativePath]:
    return {_conversation(hit): conversation_path(hit.chunk.path) for hit in hits}


def _conversation(hit: Hit) -> RelativePath:
    """Return the path of the session, which a transcript and the session made from it have in common."""
    path = conversation_path(hit.chunk.path)
    folder, _, rest = path.partition("/")
    agent, _, file = rest.partition("/")
    return turns_path(transcript_session(agent, file)) if folder == "sessions" and file else path
