"""Search over several engines: notes and conversations merged, the fallback of a failing engine, duplicates left out.

Both are asked side by side; conversations that fail or are late cost their part, never the answer. The fallback answers
within the same call. A transcript and the session that its turns were taken into are returned once.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath, conversation_path, turns_path
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.ranking.selection import Evident, joint_measure, merged
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
    Found,
    LateBackend,
    Query,
    SearchBackend,
    judged,
    nothing_found,
)

NOTHING_TO_ASK = Arm(
    ArmState.OFF,
    "no conversation is indexed: set memory.qa.enabled to true for questions and answers, and for transcripts "
    'memorySearch.experimental.sessionMemory to true with "sessions" in memorySearch.sources',
)
"""Of an agent whose conversations nobody keeps."""
FIRST_SHARE = 0.8
"""Of the deadline; the rest is kept for the second engine."""


async def always_current(_seconds: float) -> Arm:
    """Return the arm of an index that follows nothing."""
    return Arm(ArmState.OK)


class ConversationArm(Struct, frozen=True):
    """Asks the index of one agent's conversations; one that fails or is late costs its part, never the answer.

    `standing` waits so many seconds at most until the index has what changed, and tells how it is then: off, failed,
    or partial while there is more to read, and why.
    """

    search: SearchBackend | None = None
    standing: Callable[[float], Awaitable[Arm]] = always_current

    async def found(self, query: Query) -> tuple[Arm, Found]:
        """Return how it took part within the deadline, and what it found."""
        begun = time.monotonic()
        end = begun + query.deadline
        standing = NOTHING_TO_ASK if self.search is None else await self.standing(min(query.fresh_until, end) - begun)
        if self.search is None or not standing.took_part:
            return standing, nothing_found(query.question.terms, standing)
        query = query.until(end)
        try:
            async with asyncio.timeout(query.deadline):
                found = await search_once(self.search, query)
        except TimeoutError:
            late = Arm(ArmState.TIMEOUT, "it did not answer before the deadline")
            return late, nothing_found(query.question.terms, late)
        except MemorydError as exc:
            failed = Arm(ArmState.FAILED, str(exc))
            return failed, nothing_found(query.question.terms, failed)
        arm = _arm_of_all(standing, found.arms)
        # what is not kept at all is worth a word where nothing was found
        return (Arm(ArmState.OK) if found.hits and arm.state is ArmState.OK else arm), found


def _arm_of_all(standing: Arm, arms: Mapping[str, Arm]) -> Arm:
    """Return how the whole took part: as its arms did, and as far as everything was read."""
    if not any(arm.took_part for arm in arms.values()):
        return arms[LEXICAL]
    if standing.state is not ArmState.OK:
        return standing
    lacking = [(name, arm) for name, arm in arms.items() if not arm.is_as_configured]
    if not lacking:
        return standing
    return Arm(ArmState.PARTIAL, "; ".join(f"{name}: {arm.reason or arm.state}" for name, arm in lacking))


class FallbackSearch(Struct, kw_only=True):
    """Remembers who is standing in, why and since when.

    What the first engine cannot know yet, since it was written after its last update, is added from `recent`.
    """

    first: LateBackend
    second: SearchBackend
    recent: SearchBackend
    name: str
    fallback: Fallback | None = None
    """The outage that the last question or `note` met, None while the first engine works."""
    times: ArmTimes = field(default_factory=ArmTimes)

    def note(self, unavailable_because: str | None) -> Fallback | None:
        """Take the news that the first engine is out, or that it may be asked again; return what holds now."""
        since = self.fallback.since if self.fallback else datetime.now(UTC)
        self.fallback = None if unavailable_because is None else Fallback(self.name, unavailable_because, since)
        return self.fallback

    async def search(self, query: Query) -> Found:
        """Answer with the first engine, else with the second; `fallback` in what is found says so."""
        begun = time.monotonic()
        end = begun + query.deadline
        try:
            found = await self.first.search(replace(query, deadline=query.deadline * FIRST_SHARE))
        except SidecarError as exc:
            self.times.note(self.name, begun, ArmState.FAILED)
            # what is noted meanwhile is for the next question
            met = self.note(str(exc))
            return replace(await self.second.search(query.until(end)), fallback=met)
        self.times.note(self.name, begun)
        self.note(None)
        if not found.hits and found.doubt:
            reason = Fallback(self.name, found.doubt, datetime.now(UTC))
            return replace(await self.second.search(query.until(end)), fallback=reason)
        return found if found.as_of is None else await self._with_recent(found, found.as_of, query.until(end))

    async def _with_recent(self, found: Found, as_of: float, query: Query) -> Found:
        """Put hits in documents changed since `as_of` where the second engine ranks them, and its noise behind all."""
        others = (await self.recent.search(query)).hits
        changed = self.first.changed_since([hit.chunk.path for hit in others], as_of)
        hits = [hit for hit in found.hits if hit.chunk.path not in changed]
        for rank, hit in enumerate(others):
            if hit.chunk.path in changed:
                hits.insert(len(hits) if hit.is_noise else rank, hit)
        return replace(found, hits=tuple(hits[: query.limit]))


def joined(query: Query, notes: Found, exchanges: Found, arm: Arm, weights: Weights) -> Found:
    """Return what was found of both as one; `weights` are the shares of words and meaning where they are compared."""
    hits, nearest = joined_hits(notes, exchanges, weights)
    return replace(
        _within_limit(notes, hits, nearest, query.limit),
        arms={**notes.arms, CONVERSATIONS: arm},
        fallback=notes.fallback or exchanges.fallback,
        conversations=exchanges,
    )


def _within_limit(found: Found, hits: Sequence[Hit], misses: Iterable[Hit], limit: int) -> Found:
    """Return what was found with the first of these hits; the others are misses, before those that there are."""
    beyond = (replace(hit, because=SkipReason.BEYOND_MAX_RESULTS) for hit in hits[limit:])
    return replace(found, hits=tuple(hits[:limit]), misses=(*beyond, *misses)[:limit])


def joined_hits(one: Found, other: Found, weights: Weights) -> tuple[list[Hit], list[Hit]]:
    """Return the hits and the misses of two engines, each in one order; of equals that of the first comes first."""
    measure = joint_measure([found.floors for found in (one, other) if found.floors is not None], weights)
    first, second = (_pairs(judged(found.hits, leading=LEADING), found) for found in (one, other))
    return merged(first, second, measure), merged(_pairs(one.misses, one), _pairs(other.misses, other), measure)


def _pairs(hits: Sequence[Hit], found: Found) -> list[tuple[Hit, Evident]]:
    """Pair hits with what of them is compared; those that an engine found which says nothing have no evidence."""
    best = max((hit.bm25 or 0.0 for hit in (*found.hits, *found.misses)), default=0.0)
    return [
        (
            hit,
            Evident(
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


async def search_once(search: SearchBackend, query: Query) -> Found:
    """Return what is found, of each two conversations that are one the better: what it holds need not be in both.

    Places that the others leave go to more hits.
    """
    found = await search.search(query)
    shown = _shown_names(found.hits)
    if _deduplicate(found.hits) == found.hits and _deduplicate(found.misses, shown) == found.misses:
        return found
    found = await search.search(replace(query, limit=2 * query.limit))
    hits = _deduplicate(found.hits)
    return _within_limit(found, hits, _deduplicate(found.misses, _shown_names(hits)), query.limit)


def _deduplicate(
    hits: Iterable[Hit], shown_names: Mapping[RelativePath, RelativePath] | None = None
) -> tuple[Hit, ...]:
    """Return the hits of each conversation under the name that it is told by, or that its best hit has."""
    names = dict(shown_names or {})
    return tuple(
        hit for hit in hits if names.setdefault(_conversation(hit), path := conversation_path(hit.chunk.path)) == path
    )


def _shown_names(hits: Iterable[Hit]) -> Mapping[RelativePath, RelativePath]:
    return {_conversation(hit): conversation_path(hit.chunk.path) for hit in hits}


def _conversation(hit: Hit) -> RelativePath:
    """Return what a transcript and the session of its turns have in common: the path of the session."""
    path = conversation_path(hit.chunk.path)
    folder, _, rest = path.partition("/")
    agent, _, file = rest.partition("/")
    return turns_path(transcript_session(agent, file)) if folder == "sessions" and file else path
