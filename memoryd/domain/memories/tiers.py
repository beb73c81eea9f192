"""Three tiers, which determine the relevance of a memory by its importance, age and use.

    recency    = exp(-ln 2 / half_life · age_days^beta)     half_life = 30 · min(exp(1.5 · importance), 10)
    frequency  = 1 - exp(-access_count / 5)
    composite  = 0.4 · recency + 0.3 · frequency + 0.3 · importance
    relevance  = clamp(composite, floor, 1)

with beta and floor by tier, as in RsClaw's three-tier memory. The age is the time since the last access. Lower
relevance means a lower rank; nothing is ever deleted because of it.

A wrong clock has no lasting effect: a tier judged at a future time is judged again; an access in the future has age 0,
and the next access corrects it.
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
"""Accesses after which the frequency is about two thirds."""
_SLOWER = 1.5
_MAX_SLOWER = 10.0


class Tier(StrEnum):
    """The tier of a memory."""

    CORE = "core"
    WORKING = "working"
    PERIPHERAL = "peripheral"


_BETA: Mapping[Tier, float] = {Tier.CORE: 0.8, Tier.WORKING: 1.0, Tier.PERIPHERAL: 1.3}
_FLOOR: Mapping[Tier, float] = {Tier.CORE: 0.9, Tier.WORKING: 0.3, Tier.PERIPHERAL: 0.1}


class Promotion(Struct, frozen=True):
    """The thresholds for promotion to core, and from peripheral to working."""

    access_only: int = 15
    importance_only: float = 0.95
    both_access: int = 5
    both_importance: float = 0.8
    working_access: int = 3
    working_relevance: float = 0.4


class Demotion(Struct, frozen=True):
    """The thresholds for demotion to peripheral: a composite below `relevance`, or a greater age with few accesses.

    A memory that is core only by accesses is demoted after more than `core_days` without use.
    """

    relevance: float = 0.15
    age_days: float = 60.0
    access: int = 3
    core_days: float = 60.0


class TierSettings(Struct, frozen=True):
    """The thresholds, and the half-life of the recency at importance 0, in days."""

    half_life_days: float = 30.0
    promotion: Promotion = field(default=Promotion())
    demotion: Demotion = field(default=Demotion())


class TierReason(StrEnum):
    """The reason for a memory's tier."""

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


class TierBasis(Struct, frozen=True):
    """The basis of a judged tier, and its time (seconds since 1970); removing pin or importance triggers a new one."""

    at: float
    importance: float
    is_pinned: bool


class Usage(Struct, frozen=True):
    """The accesses of a memory, the last time (seconds since 1970; None: never), and its judged tier.

    The current tier is that of `tier_now`: time and changes of the line may have changed it since.
    """

    access_count: int = 0
    touched_at: float | None = None
    tier: Tier = Tier.WORKING
    judged: TierBasis | None = None
    """None if the tier is not judged yet; then `tier` is meaningless."""
    is_earned: bool = True
    """Whether every access was a use; older versions counted every returned memory."""
    elsewhere: int = 0
    """The accesses counted by other machines, included in `access_count`."""


class TierFacts(Struct, frozen=True):
    """The facts that determine a tier, besides the settings. `age_days` is 0 or more, `importance` 0 to 1."""

    importance: float
    is_pinned: bool
    access_count: int
    age_days: float
    starts_core: bool = False
    """Whether a person stated it as a core memory (`first_tier`)."""


class RelevanceTerms(Struct, frozen=True, kw_only=True):
    """All terms of a memory's relevance, and its tier with the reason."""

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
    """Days until it leaves the core if it is not used; None if it is not core, or stays."""


def age_days(since: float, now: float) -> float:
    """Return the days between two times in seconds since 1970; 0 if the clock was set back in between."""
    return max(0.0, (now - since) / DAY_SECONDS)


def half_life_days(importance: float, settings: TierSettings) -> float:
    """Return the days after which the recency is one half, for a beta of 1."""
    return settings.half_life_days * min(math.exp(_SLOWER * importance), _MAX_SLOWER)


def recency(age: float, importance: float, tier: Tier, settings: TierSettings) -> float:
    """Return the recency of a memory with an age in days, 0 to 1."""
    return math.exp(-math.log(2) / half_life_days(importance, settings) * float(age) ** _BETA[tier])


def frequency(access_count: int) -> float:
    """Return the frequency of use of a memory, 0 to 1."""
    return 1 - math.exp(-access_count / OFTEN)


def composite(facts: TierFacts, tier: Tier, settings: TierSettings) -> float:
    """Return the weighted sum of recency, frequency and importance, 0 to 1."""
    recent = recency(facts.age_days, facts.importance, tier, settings)
    used = frequency(facts.access_count)
    return RECENCY_SHARE * recent + FREQUENCY_SHARE * used + IMPORTANCE_SHARE * facts.importance


def relevance(facts: TierFacts, tier: Tier, settings: TierSettings) -> float:
    """Return the composite, raised to the floor of the tier; 0.1 to 1."""
    return min(1.0, max(_FLOOR[tier], composite(facts, tier, settings)))


def first_tier(line: RetainedLine) -> Tier:
    """Return the initial tier of a memory: core for a lesson, unless an agent or a program stated it."""
    is_core = line.kind is Kind.LESSON and line.attributes.provenance in BY_PEOPLE
    return Tier.CORE if is_core else Tier.WORKING


def transition(tier: Tier, facts: TierFacts, settings: TierSettings) -> tuple[Tier, TierReason]:
    """Return the next tier of a memory, and the reason.

    A memory that is core by a pin, its importance or a person's word does not leave the core by age or disuse.
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
    was_core = tier is Tier.CORE or _use_reason(facts, settings) is not None
    return Tier.WORKING, TierReason.UNUSED if was_core else TierReason.STAYS


def terms_of(tier: Tier, reason: TierReason, facts: TierFacts, settings: TierSettings) -> RelevanceTerms:
    """Return all terms of a memory in a tier."""
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
    """Return why a memory is core, the most lasting reason if there are several."""
    if facts.is_pinned:
        return TierReason.PINNED
    if facts.importance >= settings.promotion.importance_only:
        return TierReason.IMPORTANCE
    return None if _is_unused(facts, settings) else _use_reason(facts, settings)


def _use_reason(facts: TierFacts, settings: TierSettings) -> TierReason | None:
    promotion = settings.promotion
    if facts.access_count >= promotion.access_only:
        return TierReason.ACCESS
    is_used = facts.access_count >= promotion.both_access
    return TierReason.BOTH if is_used and facts.importance >= promotion.both_importance else None


def _is_unused(facts: TierFacts, settings: TierSettings) -> bool:
    return facts.age_days > settings.demotion.core_days


def _days_in_core(facts: TierFacts, settings: TierSettings) -> float | None:
    stays = facts.is_pinned or facts.starts_core or facts.importance >= settings.promotion.importance_only
    return None if stays else max(0.0, settings.demotion.core_days - facts.age_days)


def _fading_reason(facts: TierFacts, settings: TierSettings) -> TierReason | None:
    demotion = settings.demotion
    # the composite is at least the share of the importance
    may_fade = IMPORTANCE_SHARE * facts.importance < demotion.relevance
    if may_fade and composite(facts, Tier.WORKING, settings) < demotion.relevance:
        return TierReason.LOW
    is_old = facts.age_days > demotion.age_days and facts.access_count < demotion.access
    return TierReason.OLD if is_old else None


SLACK_SECONDS = 3600.0
"""Tolerance for clocks that were adjusted."""


class Aged(Struct, frozen=True):
    """A memory at a time: its newest line, the end of that line's day, and the time, in seconds since 1970."""

    line: RetainedLine
    recorded_until: float
    now: float


def facts_of(usage: Usage, aged: Aged) -> TierFacts:
    """Return the facts for the tier: the age is since the last access, or since the day of the newest line if later."""
    touched = usage.touched_at
    since = aged.recorded_until if touched is None else max(touched, aged.recorded_until)
    line, age = aged.line, age_days(since, aged.now)
    starts_core = first_tier(line) is Tier.CORE
    return TierFacts(line.importance, line.attributes.is_pinned, usage.access_count, age, starts_core)


def tier_now(usage: Usage, aged: Aged, settings: TierSettings) -> tuple[Tier, TierReason]:
    """Return the tier of a memory at a time, and the reason."""
    return _tier_of(usage, aged, facts_of(usage, aged), settings)


def relevance_now(usage: Usage, aged: Aged, settings: TierSettings) -> float:
    """Return the relevance of a memory at a time, 0.1 to 1."""
    facts = facts_of(usage, aged)
    return relevance(facts, _tier_of(usage, aged, facts, settings)[0], settings)


def terms_now(usage: Usage, aged: Aged, settings: TierSettings) -> RelevanceTerms:
    """Return all terms of the relevance of a memory at a time."""
    facts = facts_of(usage, aged)
    tier, reason = _tier_of(usage, aged, facts, settings)
    return terms_of(tier, reason, facts, settings)


def with_access(usage: Usage, aged: Aged, settings: TierSettings) -> Usage:
    """Return the usage of a memory after an access: its current tier, changed by the access."""
    before = tier_now(usage, aged, settings)[0]
    last = usage.touched_at
    # a last access more than a day ahead was recorded with a wrong clock
    is_later = last is None or last <= aged.now or last - aged.now > DAY_SECONDS
    accessed = Usage(usage.access_count + 1, aged.now if is_later else last, elsewhere=usage.elsewhere)
    tier, _reason = transition(before, facts_of(accessed, aged), settings)
    return replace(accessed, tier=tier, judged=current_basis(aged))


def without_unearned(usage: Usage, line: RetainedLine, settings: TierSettings) -> Usage:
    """Return the usage of a memory without the effect of accesses that were not uses.

    It is unknown which of them were uses: as many are retained as prevent demotion without causing promotion. A memory
    that they promoted to core gets its first tier again; other tiers do not change.
    """
    if usage.is_earned:
        return usage
    promotion = settings.promotion
    most = max(0, min(settings.demotion.access, promotion.both_access - 1, promotion.access_only - 1))
    tier = first_tier(line) if usage.tier is Tier.CORE else usage.tier
    return replace(usage, access_count=min(usage.access_count, most), tier=tier, is_earned=True)


def with_current_tier(usage: Usage, aged: Aged, settings: TierSettings) -> Usage:
    """Return the usage with the current tier; the same object if nothing that is stored changed."""
    tier = tier_now(usage, aged, settings)[0]
    judged, previous = current_basis(aged), usage.judged
    if previous is None:
        # a tier by time alone can be recomputed at any time, and a wrong clock must not fix it
        return replace(usage, tier=tier, judged=judged) if tier is Tier.CORE else usage
    is_same = tier is usage.tier and (previous.importance, previous.is_pinned) == (judged.importance, judged.is_pinned)
    return usage if is_same and not _is_ahead(previous, aged) else replace(usage, tier=tier, judged=judged)


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


def _is_ahead(judged: TierBasis, aged: Aged) -> bool:
    return judged.at > aged.now + SLACK_SECONDS


def current_basis(aged: Aged) -> TierBasis:
    """Return the current basis for judging a memory."""
    return TierBasis(aged.now, aged.line.importance, aged.line.attributes.is_pinned)
