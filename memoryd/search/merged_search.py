"""Notes and conversations as one answer: asked side by side, as far as the question asks for them, and merged."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from memoryd.domain.documents import Source
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.ranking.selection import Evident, joint_measure, merged
from memoryd.search.backend import CONVERSATIONS, LEXICAL, VECTOR, Arm, ArmState, Found, Query, SearchBackend
from memoryd.search.conversation_arm import ConversationArm
from memoryd.search.hit import Hit
from memoryd.search.selection import BEYOND
from memoryd.search.verdicts import LEADING, judged


class MergedSearch:
    """Asks the engine of the notes and the arm of the conversations; one that is not asked for costs nothing.

    `weights` are the shares of words and meaning where hits of both are compared.
    """

    def __init__(self, *, notes: SearchBackend, conversations: ConversationArm, weights: Weights) -> None:
        self._notes = notes
        self._conversations = conversations
        self._weights = weights

    async def search(self, query: Query) -> Found:
        """Return the best of both within the query's deadline; `Found.conversations` is what is of these."""
        # each index holds one source: to filter by it would only cost
        inner = query.of_any_source()
        if not query.asks(Source.SESSIONS):
            return await self._notes.search(inner) if query.asks(Source.MEMORY) else _unasked(query)
        if not query.asks(Source.MEMORY):
            arm, told = await self._conversations.found(inner)
            return replace(told, arms={**told.arms, CONVERSATIONS: arm}, floors=None, conversations=told)
        notes, (arm, told) = await asyncio.gather(self._notes.search(inner), self._conversations.found(inner))
        return self._joined(query, notes, told, arm)

    def _joined(self, query: Query, notes: Found, told: Found, arm: Arm) -> Found:
        hits, nearest = joined_hits(notes, told, self._weights)
        beyond = [replace(hit, because=BEYOND) for hit in hits[query.limit :]]
        misses = [*beyond, *nearest]
        return replace(
            notes,
            hits=tuple(hits[: query.limit]),
            misses=tuple(misses[: query.limit]),
            arms={**notes.arms, CONVERSATIONS: arm},
            fallback=notes.fallback or told.fallback,
            conversations=told,
        )


def joined_hits(one: Found, other: Found, weights: Weights) -> tuple[list[Hit], list[Hit]]:
    """Return the hits and the misses of two engines, each in one order; of equals that of the first comes first."""
    first, second = judged(one.hits, leading=LEADING), judged(other.hits, leading=LEADING)
    known = [found.floors for found in (one, other) if found.floors is not None]
    measure = joint_measure(known, weights)
    best = _best_bm25(one), _best_bm25(other)
    hits = merged(_evident(first, best[0]), _evident(second, best[1]), measure)
    return hits, merged(_evident(one.misses, best[0]), _evident(other.misses, best[1]), measure)


def _best_bm25(found: Found) -> float:
    return max((hit.bm25 or 0.0 for hit in (*found.hits, *found.misses)), default=0.0)


def _evident(hits: Sequence[Hit], best_bm25: float) -> list[tuple[Hit, Evident]]:
    """Pair hits with what of them is compared; those that an engine found which says nothing have no evidence."""
    return [(hit, _compared(hit, best_bm25)) for hit in hits]


def _compared(hit: Hit, best_bm25: float) -> Evident:
    matching = None if hit.bm25 is None else hit.bm25 / best_bm25 if best_bm25 > 0 else 0.0
    return Evident(hit.terms, matching, hit.cosine, hit.score, hit.decay.factor, hit.verdict, hit.is_noise)


def _unasked(query: Query) -> Found:
    """Return what is found where the request and the question name different sources."""
    return Found((), (), {LEXICAL: Arm(ArmState.OK), VECTOR: Arm(ArmState.OK)}, query.question.terms)
