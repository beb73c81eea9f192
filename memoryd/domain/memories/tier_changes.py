"""How the tier of one memory goes on: by its line, by time, and by being touched. No clock can move it for good.

Of what was judged at a time that is still to come, a clock was ahead: it is judged anew. Of a touch in the future the
age is 0, and the next touch puts it right.
"""

from dataclasses import dataclass, replace
from typing import Final

from memoryd.domain.memories.retained import RetainedLine
from memoryd.domain.memories.tiers import (
    DAY_SECONDS,
    Judged,
    RelevanceTerms,
    Tier,
    TierFacts,
    TierReason,
    TierSettings,
    Usage,
    age_days,
    first_tier,
    relevance,
    terms_of,
    transition,
)

SLACK_SECONDS: Final = 3600.0
"""Clocks are put right by so much without anybody having been wrong."""


@dataclass(frozen=True, slots=True)
class Aged:
    """A memory at a moment: its newest line, the end of the day of that, and now, in seconds since 1970."""

    line: RetainedLine
    recorded_until: float
    now: float


def facts_of(usage: Usage, aged: Aged) -> TierFacts:
    """Return what a tier goes by: age counts from the last touch, before one from when the memory was written."""
    touched = usage.touched_at
    since = aged.recorded_until if touched is None else max(touched, aged.recorded_until)
    line = aged.line
    return TierFacts(line.importance, line.attributes.is_pinned, usage.access_count, age_days(since, aged.now))


def tier_now(usage: Usage, aged: Aged, settings: TierSettings) -> tuple[Tier, TierReason]:
    """Return the tier of a memory at a moment, and why."""
    return _tier_of(usage, aged, facts_of(usage, aged), settings)


def relevance_now(usage: Usage, aged: Aged, settings: TierSettings) -> float:
    """Return the relevance of a memory at a moment, 0.1 to 1."""
    facts = facts_of(usage, aged)
    return relevance(facts, _tier_of(usage, aged, facts, settings)[0], settings)


def terms_now(usage: Usage, aged: Aged, settings: TierSettings) -> RelevanceTerms:
    """Return every term of the relevance of a memory at a moment."""
    facts = facts_of(usage, aged)
    tier, reason = _tier_of(usage, aged, facts, settings)
    return terms_of(tier, reason, facts, settings)


def touched(usage: Usage, aged: Aged, settings: TierSettings) -> Usage:
    """Return the usage of a memory that is touched now: its tier as it was before, moved by the touch."""
    before = tier_now(usage, aged, settings)[0]
    last = usage.touched_at
    # a touch that lies a day ahead was noted by a clock that was wrong
    is_later = last is None or last <= aged.now or last - aged.now > DAY_SECONDS
    counted = Usage(usage.access_count + 1, aged.now if is_later else last)
    tier, _reason = transition(before, facts_of(counted, aged), settings)
    return replace(counted, tier=tier, judged=_judged(aged))


def settled(usage: Usage, aged: Aged, settings: TierSettings) -> Usage:
    """Return the usage with the tier as it is now; the same one where nothing that is kept changed."""
    tier = tier_now(usage, aged, settings)[0]
    judged, was = _judged(aged), usage.judged
    if was is None:
        # what time alone gives can be worked out again at any time, and a clock that was wrong must not fix it
        return replace(usage, tier=tier, judged=judged) if tier is Tier.CORE else usage
    is_same = tier is usage.tier and (was.importance, was.is_pinned) == (judged.importance, judged.is_pinned)
    return usage if is_same and not _is_ahead(was, aged) else replace(usage, tier=tier, judged=judged)


def _tier_of(usage: Usage, aged: Aged, facts: TierFacts, settings: TierSettings) -> tuple[Tier, TierReason]:
    start, why = _start(usage, aged)
    tier, reason = transition(start, facts, settings)
    return tier, why if reason is TierReason.STAYS else reason


def _start(usage: Usage, aged: Aged) -> tuple[Tier, TierReason]:
    judged, line, first = usage.judged, aged.line, first_tier(aged.line)
    why = TierReason.LESSON if first is Tier.CORE else TierReason.NEW
    if judged is not None and line.importance < judged.importance:
        return Tier.WORKING, TierReason.NEW
    if judged is None or _is_ahead(judged, aged) or (judged.is_pinned and not line.attributes.is_pinned):
        return first, why
    return usage.tier, why if usage.tier is first else TierReason.STAYS


def _is_ahead(judged: Judged, aged: Aged) -> bool:
    return judged.at > aged.now + SLACK_SECONDS


def _judged(aged: Aged) -> Judged:
    return Judged(aged.now, aged.line.importance, aged.line.attributes.is_pinned)
