"""Three tiers: how near at hand a memory is kept, by its importance, its age and its use.

    recency    = exp(-ln 2 / half_life · age_days^beta)     half_life = 30 · min(exp(1.5 · importance), 10)
    frequency  = 1 - exp(-access_count / 5)
    composite  = 0.4 · recency + 0.3 · frequency + 0.3 · importance
    relevance  = clamp(composite, floor, 1)

with beta and floor by tier, as in RsClaw's three-tier memory. Age counts from the last access. Lower relevance means a
lower rank; nothing is ever deleted for it.

No wrong clock lasts: a tier judged at a time that is still to come is judged anew; an access in the future has age 0,
and the next access puts it right.
"""

import math
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import BY_PEOPLE, RetainedLine

DAY_SECONDS = 86400.0
RECENCY_SHARE = 0.4
FREQUENCY_SHARE = 0.3
IMPORTANCE_SHARE = 0.3
OFTEN = 5
"""Touches after which a memory has two thirds of what use can give it."""
_SLOWER = 1.5
_MAX_SLOWER = 10.0


class Tier(StrEnum):
    """How near at hand a memory is kept."""

    CORE = "core"
    WORKING = "working"
    PERIPHERAL = "peripheral"


_BETA: Mapping[Tier, float] = {Tier.CORE: 0.8, Tier.WORKING: 1.0, Tier.PERIPHERAL: 1.3}
_FLOOR: Mapping[Tier, float] = {Tier.CORE: 0.9, Tier.WORKING: 0.3, Tier.PERIPHERAL: 0.1}


class Promotion(Struct, frozen=True):
    """When a memory becomes core by itself, and when a peripheral one works again."""

    access_only: int = 15
    importance_only: float = 0.95
    both_access: int = 5
    both_importance: float = 0.8
    working_access: int = 3
    working_relevance: float = 0.4


class Demotion(Struct, frozen=True):
    """When a working memory becomes peripheral: below a composite, or older than so many days with few touches.

    What touches alone made core leaves it when nothing used it for more than `core_days`.
    """

    relevance: float = 0.15
    age_days: float = 60.0
    access: int = 3
    core_days: float = 60.0


class TierSettings(Struct, frozen=True):
    """The thresholds, and how long half of the recency lasts where nothing is important, in days."""

    half_life_days: float = 30.0
    promotion: Promotion = field(default=Promotion())
    demotion: Demotion = field(default=Demotion())


class TierReason(StrEnum):
    """Why a memory is in its tier."""

    NEW = "it starts there"
    LESSON = "it is a lesson"
    PINNED = "it is pinned"
    ACCESS = "it is used often"
    IMPORTANCE = "it is important"
    BOTH = "it is used, and important"
    STAYS = "nothing moves it"
    LOW = "its composite is low"
    OLD = "it was not used for long"
    AGAIN = "it is used again"
    UNUSED = "nothing used it for long enough to leave the core"


class Judged(Struct, frozen=True):
    """By what a tier was judged, and when (seconds since 1970): who takes a pin or importance away wants it anew."""

    at: float
    importance: float
    is_pinned: bool


class Usage(Struct, frozen=True):
    """How often a memory was touched, when last (seconds since 1970; None: never), and its tier as it was judged.

    The tier that counts is that of `tier_now`: time and the line itself may have changed it since.
    """

    access_count: int = 0
    touched_at: float | None = None
    tier: Tier = Tier.WORKING
    judged: Judged | None = None
    """None: nobody has, and `tier` says nothing."""
    is_earned: bool = True
    """Whether each touch was a use; before that was asked, all that was told counted."""
    elsewhere: int = 0
    """How many of the touches other machines counted."""


class TierFacts(Struct, frozen=True):
    """What a memory's tier goes by, beside its settings. `age_days` is 0 or more, `importance` 0 to 1."""

    importance: float
    is_pinned: bool
    access_count: int
    age_days: float
    starts_core: bool = False
    """Whether a person said it for the core (`first_tier`)."""


class RelevanceTerms(Struct, frozen=True, kw_only=True):
    """Every term of a memory's relevance, and its tier with the reason for it."""

    tier: Tier
    reason: TierReason
    is_pinned: bool
    importance: float
    access_count: int
    age_days: float
    half_life_days: float
    beta: float
    recency: float
    frequency: float
    composite: float
    floor: float
    relevance: float
    leaves_core_in: float | None = None
    """In how many days it leaves the core if nothing uses it; None: it is not there, or stays."""


def age_days(since: float, now: float) -> float:
    """Return the days between two times in seconds since 1970; 0 where a clock was set back in between."""
    return max(0.0, (now - since) / DAY_SECONDS)


def half_life_days(importance: float, settings: TierSettings) -> float:
    """Return after how many days half of the recency is left, where beta is 1."""
    return settings.half_life_days * min(math.exp(_SLOWER * importance), _MAX_SLOWER)


def recency(age: float, importance: float, tier: Tier, settings: TierSettings) -> float:
    """Return how recent a memory of an age in days is, 0 to 1."""
    return math.exp(-math.log(2) / half_life_days(importance, settings) * float(age) ** _BETA[tier])


def frequency(access_count: int) -> float:
    """Return how often a memory is used, 0 to 1."""
    return 1 - math.exp(-access_count / OFTEN)


def composite(facts: TierFacts, tier: Tier, settings: TierSettings) -> float:
    """Return recency, frequency and importance in one number, 0 to 1."""
    recent = recency(facts.age_days, facts.importance, tier, settings)
    used = frequency(facts.access_count)
    return RECENCY_SHARE * recent + FREQUENCY_SHARE * used + IMPORTANCE_SHARE * facts.importance


def relevance(facts: TierFacts, tier: Tier, settings: TierSettings) -> float:
    """Return the composite within the bounds of a tier: never below its floor, 0.1 to 1."""
    return min(1.0, max(_FLOOR[tier], composite(facts, tier, settings)))


def first_tier(line: RetainedLine) -> Tier:
    """Return the tier in which a memory starts: a lesson is core, unless an agent or a program says it."""
    is_by_people = line.attributes.provenance in BY_PEOPLE
    return Tier.CORE if line.kind is Kind.LESSON and is_by_people else Tier.WORKING


def transition(tier: Tier, facts: TierFacts, settings: TierSettings) -> tuple[Tier, TierReason]:
    """Return the tier of a memory that was in one, and why.

    Neither age nor disuse takes out of the core what a pin, its importance or a person's word holds there.
    """
    if (reason := _core_reason(facts, settings)) is not None:
        return Tier.CORE, reason
    if tier is Tier.CORE and (facts.starts_core or not _is_unused(facts, settings)):
        return Tier.CORE, TierReason.STAYS
    if tier is Tier.PERIPHERAL:
        promotion = settings.promotion
        is_accessed = facts.access_count >= promotion.working_access
        is_used_again = is_accessed and composite(facts, tier, settings) >= promotion.working_relevance
        return (Tier.WORKING, TierReason.AGAIN) if is_used_again else (tier, TierReason.STAYS)
    if (reason := _fading_reason(facts, settings)) is not None:
        return Tier.PERIPHERAL, reason
    was_core = tier is Tier.CORE or _use_reason(facts, settings.promotion) is not None
    return Tier.WORKING, TierReason.UNUSED if was_core else TierReason.STAYS


def terms_of(tier: Tier, reason: TierReason, facts: TierFacts, settings: TierSettings) -> RelevanceTerms:
    """Return every term of a memory in a tier."""
    return RelevanceTerms(
        tier=tier,
        reason=reason,
        is_pinned=facts.is_pinned,
        importance=facts.importance,
        access_count=facts.access_count,
        age_days=facts.age_days,
        half_life_days=half_life_days(facts.importance, settings),
        beta=_BETA[tier],
        recency=recency(facts.age_days, facts.importance, tier, settings),
        frequency=frequency(facts.access_count),
        composite=composite(facts, tier, settings),
        floor=_FLOOR[tier],
        relevance=relevance(facts, tier, settings),
        leaves_core_in=_days_in_core(facts, settings) if tier is Tier.CORE else None,
    )


def _core_reason(facts: TierFacts, settings: TierSettings) -> TierReason | None:
    """Return what holds a memory in the core, of several what holds longest."""
    if facts.is_pinned:
        return TierReason.PINNED
    if facts.importance >= settings.promotion.importance_only:
        return TierReason.IMPORTANCE
    return None if _is_unused(facts, settings) else _use_reason(facts, settings.promotion)


def _use_reason(facts: TierFacts, promotion: Promotion) -> TierReason | None:
    if facts.access_count >= promotion.access_only:
        return TierReason.ACCESS
    is_used = facts.access_count >= promotion.both_access
    return TierReason.BOTH if is_used and facts.importance >= promotion.both_importance else None


def _is_unused(facts: TierFacts, settings: TierSettings) -> bool:
    return facts.age_days > settings.demotion.core_days


def _days_in_core(facts: TierFacts, settings: TierSettings) -> float | None:
    is_held = facts.is_pinned or facts.starts_core or facts.importance >= settings.promotion.importance_only
    return None if is_held else max(0.0, settings.demotion.core_days - facts.age_days)


def _fading_reason(facts: TierFacts, settings: TierSettings) -> TierReason | None:
    demotion = settings.demotion
    if composite(facts, Tier.WORKING, settings) < demotion.relevance:
        return TierReason.LOW
    is_old = facts.age_days > demotion.age_days and facts.access_count < demotion.access
    return TierReason.OLD if is_old else None


SLACK_SECONDS = 3600.0
"""Clocks are put right by so much without anybody having been wrong."""


class Aged(Struct, frozen=True):
    """A memory at a moment: its newest line, the end of the day of that, and now, in seconds since 1970."""

    line: RetainedLine
    recorded_until: float
    now: float


def facts_of(usage: Usage, aged: Aged) -> TierFacts:
    """Return what a tier goes by: age counts from the last touch, before one from when the memory was written."""
    touched = usage.touched_at
    since = aged.recorded_until if touched is None else max(touched, aged.recorded_until)
    line, age = aged.line, age_days(since, aged.now)
    starts_core = first_tier(line) is Tier.CORE
    return TierFacts(line.importance, line.attributes.is_pinned, usage.access_count, age, starts_core)


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
    counted = Usage(usage.access_count + 1, aged.now if is_later else last, elsewhere=usage.elsewhere)
    tier, _reason = transition(before, facts_of(counted, aged), settings)
    return replace(counted, tier=tier, judged=judged_now(aged))


def without_unearned(usage: Usage, line: RetainedLine, settings: TierSettings) -> Usage:
    """Return the usage of a memory, without what touches gave that counted whatever was told.

    Nobody knows any more which of them were uses: so many stay as keep it from fading, and promote nothing. What these
    made core is working again, and every other tier is as it was.
    """
    if usage.is_earned:
        return usage
    promotion = settings.promotion
    most = max(0, min(settings.demotion.access, promotion.both_access - 1, promotion.access_only - 1))
    tier = first_tier(line) if usage.tier is Tier.CORE else usage.tier
    return replace(usage, access_count=min(usage.access_count, most), tier=tier, is_earned=True)


def settled(usage: Usage, aged: Aged, settings: TierSettings) -> Usage:
    """Return the usage with the tier as it is now; the same one where nothing that is kept changed."""
    tier = tier_now(usage, aged, settings)[0]
    judged, was = judged_now(aged), usage.judged
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


def judged_now(aged: Aged) -> Judged:
    """Return by what a memory is judged now."""
    return Judged(aged.now, aged.line.importance, aged.line.attributes.is_pinned)
