"""What happens to hits after their scores are merged: places are shared, diversity is sought, words are kept.

Each function takes hits best first and returns positions in that order, so that any kind of hit can be ranked.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memoryd.domain.ranking.similarity import Tokens, jaccard

FILE_SHARE = 5 / 6
"""Most of an answer that one document may fill while others match too: five of six hits."""
FAMILY_SHARE, MIN_FAMILY = 1 / 2, 2
"""Most of an answer that notes may fill which are alike but for a word or a number: three of six hits, two of two."""
WORTH_A_PLACE = 0.75
"""Share of the score of the hit that it replaces; from 0.5 down, two answers in 150 are lost in long documents."""
WORTH_FOR_ALIKE = 0.5
"""The same where the hit says little more than those before it."""
WORST_OF_BEST = 0.2
"""MMR takes the least relevant hit for worth nothing, but never one above this share of the best.

OpenClaw does so whatever its score is; among a few good hits, a copy then outranks the last one.
"""
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Contender:
    """A hit as those rules see it: its score, its words, its document, and the number of the notes it is alike with."""

    score: float
    tokens: Tokens = frozenset()
    path: str = ""
    family: int = 0


def mmr(hits: Sequence[Contender], lambda_: float) -> list[int]:
    """Return all positions, the next one being that with most of λ × relevance − (1 − λ) × similarity to those before.

    Relevance is the score, stretched to 0..1 over the hits; similarity is Jaccard on their words; λ is held to 0..1;
    the higher score wins a tie. Takes time by the square of the number of hits.
    """
    share = min(1.0, max(0.0, lambda_))
    scores = [hit.score for hit in hits]
    best = max(scores, default=0.0)
    low = min([*scores, WORST_OF_BEST * best])
    relevance = [(score - low) / (best - low) if best > low else 1.0 for score in scores]
    nearest = [0.0] * len(hits)
    left = sorted(range(len(hits)), key=lambda at: -scores[at])
    chosen: list[int] = []
    while left:
        # rounded, so that the order of additions decides no tie: the higher score does, being further left
        taken = max(left, key=lambda at: round(share * relevance[at] - (1 - share) * nearest[at], _DIGITS))
        left.remove(taken)
        chosen.append(taken)
        for at in left if share < 1 else ():
            nearest[at] = max(nearest[at], jaccard(hits[at].tokens, hits[taken].tokens))
    return chosen


def file_share(limit: int) -> int:
    """Return how many of `limit` hits one document may have while others match."""
    return max(1, math.ceil(limit * FILE_SHARE))


def family_share(limit: int) -> int:
    """Return how many of `limit` hits may be alike while others match."""
    return max(MIN_FAMILY, math.ceil(limit * FAMILY_SHARE))


def shared(hits: Sequence[Contender], limit: int, *, taken: Sequence[Contender] = ()) -> list[int]:
    """Return all positions; hits beyond their document's or their family's share of `limit` places stand behind others.

    They do so only for others that score at least WORTH_A_PLACE, or WORTH_FOR_ALIKE, of what they do. Those in `taken`
    have places already.
    """
    paths = Counter(hit.path for hit in taken)
    families = Counter(hit.family for hit in taken)
    left = list(range(len(hits)))
    first: list[int] = []
    while left and len(taken) + len(first) < limit:
        at = left[0]
        if not _has_share(hits[at], paths, families, limit):
            is_alike = families[hits[at].family] >= family_share(limit)
            worth = (WORTH_FOR_ALIKE if is_alike else WORTH_A_PLACE) * hits[at].score
            others = (other for other in left if hits[other].score >= worth)
            at = next((other for other in others if _has_share(hits[other], paths, families, limit)), at)
        left.remove(at)
        paths[hits[at].path] += 1
        families[hits[at].family] += 1
        first.append(at)
    return first + left


def _has_share(hit: Contender, paths: Counter[str], families: Counter[int], limit: int) -> bool:
    return paths[hit.path] < file_share(limit) and families[hit.family] < family_share(limit)


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
