"""What happens to hits after their scores are merged: copies fold, files share, diversity is sought, words are kept.

Each function takes hits best first and returns positions in that order, so that any kind of hit can be ranked.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memoryd.domain.similarity import Tokens, is_near_copy, jaccard

FILE_SHARE = 5 / 6
"""Most of an answer that one document may fill while others match too: five of six hits."""
WORTH_A_PLACE = 0.75
"""Share of the score of the hit that it replaces; from 0.5 down, two answers in 150 are lost in long documents."""
WORST_OF_BEST = 0.2
"""MMR takes the least relevant hit for worth nothing, but never one above this share of the best.

OpenClaw does so whatever its score is; among a few good hits, a copy then outranks the last one.
"""
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Weighed:
    """A hit as diversity sees it."""

    score: float
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Entry:
    """A hit as folding sees it: what it says, and which words of the question stand in it."""

    tokens: Tokens
    terms: frozenset[str] = frozenset()


def mmr(hits: Sequence[Weighed], lambda_: float) -> list[int]:
    """Return all positions, the next one being that with most of λ × relevance − (1 − λ) × similarity to those before.

    Relevance is the score, stretched to 0..1 over the hits; similarity is Jaccard on their words; λ is held to 0..1;
    the higher score wins a tie. Takes time by the square of the number of hits.
    """
    share = min(1.0, max(0.0, lambda_))
    relevance = _relevance([hit.score for hit in hits])
    nearest = [0.0] * len(hits)
    left = sorted(range(len(hits)), key=lambda at: -hits[at].score)
    chosen: list[int] = []
    while left:
        best = max(left, key=lambda at: round(share * relevance[at] - (1 - share) * nearest[at], _DIGITS))
        left.remove(best)
        chosen.append(best)
        for at in left if share < 1 else ():
            nearest[at] = max(nearest[at], jaccard(hits[at].tokens, hits[best].tokens))
    return chosen


def fold(leaders: Sequence[Entry], entry: Entry) -> int | None:
    """Return the first of the hits before it that `entry` is a near copy of, None if it says something of its own.

    A hit that holds a word of the question that its better copy lacks is never folded away.
    """
    for at, leader in enumerate(leaders):
        if entry.terms <= leader.terms and is_near_copy(leader.tokens, entry.tokens):
            return at
    return None


def file_share(limit: int) -> int:
    """Return how many of `limit` hits one document may have while others match."""
    return max(1, math.ceil(limit * FILE_SHARE))


def shared_by_files(paths: Sequence[str], scores: Sequence[float], limit: int) -> list[int]:
    """Return all positions; hits beyond a document's share of the first `limit` places stand behind those of others.

    They do so only for others that score at least WORTH_A_PLACE of what they do.
    """
    most = file_share(limit)
    counts: Counter[str] = Counter()
    left = list(range(len(paths)))
    first: list[int] = []
    while left and len(first) < limit:
        at = left[0]
        if counts[paths[at]] >= most:
            worth = WORTH_A_PLACE * scores[at]
            at = next((other for other in left if counts[paths[other]] < most and scores[other] >= worth), at)
        left.remove(at)
        counts[paths[at]] += 1
        first.append(at)
    return first + left


def with_literal(order: Sequence[int], before: Sequence[int], literal: frozenset[int], limit: int) -> list[int]:
    """Return the first `limit` of `order`, with every literal hit that would have been among them `before`.

    Such a hit takes the last places from hits that hold no word of the question; the very best one, if none is left,
    from any but the first.
    """
    kept = list(order[:limit])
    owed = [hit for hit in before[:limit] if hit in literal and hit not in kept]
    weak = [hit for hit in kept[1:] if hit not in literal]
    for rank, hit in enumerate(owed):
        if weak:
            kept.remove(weak.pop())
        elif rank == 0 and hit == before[0] and len(kept) > 1:
            kept.pop()
        else:
            break
        kept.append(hit)
    return kept


def _relevance(scores: Sequence[float]) -> list[float]:
    best = max(scores, default=0.0)
    low = min([*scores, WORST_OF_BEST * best])
    return [(score - low) / (best - low) if best > low else 1.0 for score in scores]
