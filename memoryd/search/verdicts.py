"""What hits are worth where their engine does not say, and why an answer is worth no more."""

from collections.abc import Sequence
from dataclasses import replace

from memoryd.domain.ranking.calibration import Floors, Verdict
from memoryd.search.hit import Hit, best_verdict

LEADING = 3
"""Among so many hits of an engine that does not judge them, a word of the question stands for an answer."""


def judged(hits: Sequence[Hit], *, leading: int) -> tuple[Hit, ...]:
    """Return the hits, each with a verdict: of those that nobody judged, the first `leading` may answer."""
    return tuple(
        replace(hit, verdict=Verdict.ANSWERABLE if hit.is_literal and place < leading else Verdict.WEAK)
        if hit.verdict is None
        else hit
        for place, hit in enumerate(hits)
    )


def why_no_better(hits: Sequence[Hit], floors: Floors | None) -> str:
    """Say why hits are worth no more than they are; empty if they answer."""
    match best_verdict(hits):
        case Verdict.WEAK:
            return floors.weakness if floors else f"none of the first {LEADING} hits holds a word of the question"
        case Verdict.NONE:
            return floors.emptiness if floors else "no hit holds a telling word of the question"
    return ""
