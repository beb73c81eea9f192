"""Tier of a memory over months: touches, pins, importance, and wrong clocks."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Attributes, RetainedLine
from memoryd.domain.memories.tiers import (
    Aged,
    Tier,
    TierBasis,
    TierReason,
    TierSettings,
    Usage,
    facts_of,
    relevance_now,
    terms_now,
    tier_now,
    with_access,
    with_current_tier,
    without_unearned,
)

DEFAULTS = TierSettings()
DAY = 86_400.0
WRITTEN = 1_700_000_000.0
UNUSED = Usage()


def line(importance: float | None = None, *, is_pinned: bool = False, kind: Kind = Kind.FACT) -> RetainedLine:
    return RetainedLine(kind, "Anna has the key.", (), Attributes(importance=importance, is_pinned=is_pinned))


def at(days: float, stated: RetainedLine | None = None) -> Aged:
    """Return the memory `days` after it was written."""
    return Aged(stated or line(), WRITTEN, WRITTEN + days * DAY)


def touched_on(*days: float, usage: Usage = UNUSED, stated: RetainedLine | None = None) -> Usage:
    for day in days:
        usage = with_access(usage, at(day, stated), DEFAULTS)
    return usage


def tier_and_reason(usage: Usage, aged: Aged) -> tuple[Tier, TierReason]:
    return tier_now(usage, aged, DEFAULTS)


def tier(usage: Usage, aged: Aged) -> Tier:
    return tier_and_reason(usage, aged)[0]


def evaluated(usage: Usage, aged: Aged) -> Usage:
    return with_current_tier(usage, aged, DEFAULTS)


def test_untouched_memory_is_working_for_60_days() -> None:
    assert tier_and_reason(UNUSED, at(0)) == (Tier.WORKING, TierReason.NEW)
    assert tier(UNUSED, at(60)) is Tier.WORKING
    assert tier_and_reason(UNUSED, at(60.1)) == (Tier.PERIPHERAL, TierReason.OLD)


def test_age_counts_from_the_last_touch() -> None:
    usage = touched_on(50)
    assert facts_of(usage, at(110)).age_days == 60
    assert tier(usage, at(110)) is Tier.WORKING
    assert tier(usage, at(110.1)) is Tier.PERIPHERAL
    # repeated since, which is later
    assert facts_of(usage, replace(at(110), recorded_until=WRITTEN + 100 * DAY)).age_days == 10


def test_peripheral_memory_needs_three_touches() -> None:
    assert [touched_on(*days).tier for days in ((100,), (100, 101), (100, 101, 102))] == [
        Tier.PERIPHERAL,
        Tier.PERIPHERAL,
        Tier.WORKING,
    ]


def test_15_touches_make_memory_core_while_it_is_used() -> None:
    assert touched_on(*range(14)).tier is Tier.WORKING
    core = touched_on(*range(15))
    assert core.tier is Tier.CORE
    assert tier_and_reason(core, at(74)) == (Tier.CORE, TierReason.ACCESS)
    assert tier_and_reason(core, at(74.1)) == (Tier.WORKING, TierReason.UNUSED)
    # the same whether it was evaluated meanwhile or not
    assert tier_and_reason(evaluated(core, at(75)), at(900)) == tier_and_reason(core, at(900))
    assert touched_on(900, usage=core).tier is Tier.CORE


def test_unearned_touches_promote_nothing() -> None:
    unearned = replace(touched_on(*range(20)), is_earned=False)
    assert unearned.tier is Tier.CORE
    reset = without_unearned(unearned, line(), DEFAULTS)
    assert (reset.access_count, reset.tier, reset.is_earned) == (3, Tier.WORKING, True)
    assert reset.touched_at == unearned.touched_at
    assert tier(reset, at(20)) is Tier.WORKING
    assert touched_on(21, usage=reset).tier is Tier.WORKING
    assert without_unearned(reset, line(), DEFAULTS) is reset
    few = replace(touched_on(1), is_earned=False)
    assert without_unearned(few, line(), DEFAULTS).access_count == 1
    eager = TierSettings(promotion=replace(DEFAULTS.promotion, access_only=2))
    assert without_unearned(unearned, line(), eager).access_count == 1


def test_core_memory_of_a_person_stays_without_touches() -> None:
    for stated in (line(is_pinned=True), line(0.95), line(kind=Kind.LESSON)):
        unearned = replace(touched_on(*range(20), stated=stated), is_earned=False)
        reset = without_unearned(unearned, stated, DEFAULTS)
        assert reset.access_count == 3
        assert tier(reset, at(900, stated)) is Tier.CORE
    # a lesson that its owner made less important was evaluated again then
    lowered = with_current_tier(
        evaluated(UNUSED, at(1, line(kind=Kind.LESSON))), at(2, line(0.5, kind=Kind.LESSON)), DEFAULTS
    )
    reset = without_unearned(replace(lowered, is_earned=False), line(0.5, kind=Kind.LESSON), DEFAULTS)
    assert tier(reset, at(3, line(0.5, kind=Kind.LESSON))) is Tier.WORKING


def test_important_memory_is_core_with_five_touches() -> None:
    stated = line(0.8)
    assert touched_on(1, 2, 3, 4, stated=stated).tier is Tier.WORKING
    assert touched_on(1, 2, 3, 4, 5, stated=stated).tier is Tier.CORE


def test_unpinned_memory_is_evaluated_again() -> None:
    pinned = line(is_pinned=True)
    kept = evaluated(UNUSED, at(1, pinned))
    assert tier_and_reason(kept, at(900, pinned)) == (Tier.CORE, TierReason.PINNED)
    assert tier(kept, at(10)) is Tier.WORKING
    assert tier(kept, at(900)) is Tier.PERIPHERAL
    unpinned = evaluated(kept, at(10))
    assert unpinned.judged == TierBasis(at(10).now, 0.6, False)
    assert tier(unpinned, at(11)) is Tier.WORKING


def test_unpinned_memory_stays_core_for_other_reasons() -> None:
    pinned = line(is_pinned=True)
    touched = touched_on(*range(15), stated=pinned)
    assert tier_and_reason(touched, at(20)) == (Tier.CORE, TierReason.ACCESS)
    lesson = evaluated(UNUSED, at(1, line(is_pinned=True, kind=Kind.LESSON)))
    assert tier_and_reason(lesson, at(2, line(kind=Kind.LESSON))) == (Tier.CORE, TierReason.LESSON)


def test_lesson_is_core_until_its_importance_is_lowered() -> None:
    lesson = line(kind=Kind.LESSON)
    kept = evaluated(UNUSED, at(1, lesson))
    assert tier_and_reason(kept, at(900, lesson)) == (Tier.CORE, TierReason.LESSON)
    lower = line(0.5, kind=Kind.LESSON)
    assert tier(kept, at(2, lower)) is Tier.WORKING
    after = evaluated(kept, at(2, lower))
    assert tier(after, at(3, lower)) is Tier.WORKING
    assert tier(after, at(90, lower)) is Tier.PERIPHERAL
    # written with this importance, it was not lowered
    assert tier(UNUSED, at(90, lower)) is Tier.CORE


def test_changed_importance_is_evaluated_again() -> None:
    kept = evaluated(UNUSED, at(1, line(0.95)))
    assert kept.tier is Tier.CORE
    assert tier(kept, at(2, line(0.9))) is Tier.WORKING
    assert tier(kept, at(90, line(0.9))) is Tier.PERIPHERAL
    after = evaluated(kept, at(2, line(0.9)))
    assert tier(after, at(3, line(1.0))) is Tier.CORE


def test_used_core_memory_stays_core_under_stricter_thresholds() -> None:
    kept = evaluated(UNUSED, at(1, line(0.95)))
    stricter = TierSettings(promotion=replace(DEFAULTS.promotion, importance_only=0.99))
    assert tier_now(kept, at(60, line(0.95)), stricter) == (Tier.CORE, TierReason.STAYS)
    assert tier(touched_on(50, usage=kept, stated=line(0.95)), at(110, line(0.95))) is Tier.CORE
    assert tier_now(kept, at(61, line(0.95)), stricter) == (Tier.PERIPHERAL, TierReason.OLD)


def test_usage_is_stored_only_if_needed() -> None:
    assert evaluated(UNUSED, at(1)) is UNUSED
    assert evaluated(UNUSED, at(900)) is UNUSED
    kept = touched_on(1)
    assert evaluated(kept, at(2)) is kept
    assert evaluated(kept, at(900)).tier is Tier.PERIPHERAL


def test_clock_ahead_has_no_lasting_effect() -> None:
    kept = touched_on(1)
    faded = evaluated(kept, at(40_000))
    assert faded.tier is Tier.PERIPHERAL
    assert tier(faded, at(2)) is Tier.WORKING
    assert evaluated(faded, at(2)).tier is Tier.WORKING


def test_touch_in_the_future_is_corrected_by_the_next() -> None:
    ahead = touched_on(40_000)
    assert facts_of(ahead, at(1)).age_days == 0
    assert relevance_now(ahead, at(1), DEFAULTS) <= 1
    mended = with_access(ahead, at(1), DEFAULTS)
    assert mended.touched_at == at(1).now
    assert facts_of(mended, at(11)).age_days == 10


def test_touch_in_the_past_counts_without_aging() -> None:
    behind = with_access(touched_on(5), at(4.9), DEFAULTS)
    assert behind.access_count == 2
    assert behind.touched_at == at(5).now
    long_ago = touched_on(-20_000)
    assert facts_of(long_ago, at(10)).age_days == 10


def test_terms_have_tier_and_relevance() -> None:
    usage = touched_on(1, 2)
    terms = terms_now(usage, at(10), DEFAULTS)
    assert (terms.tier, terms.access_count, terms.age_days) == (Tier.WORKING, 2, 8)
    assert terms.relevance == relevance_now(usage, at(10), DEFAULTS)


@given(st.lists(st.floats(-50_000, 50_000), max_size=30), st.floats(-50_000, 50_000), st.booleans())
def test_any_order_of_touches_is_within_bounds(days: list[float], now: float, is_pinned: bool) -> None:
    stated = line(is_pinned=is_pinned)
    usage = touched_on(*days, stated=stated)
    terms = terms_now(usage, at(now, stated), DEFAULTS)
    assert usage.access_count == len(days)
    assert terms.age_days >= 0
    assert 0.1 <= terms.relevance <= 1
    assert terms.tier is Tier.CORE or not is_pinned
    assert terms.tier is Tier.CORE or len(days) < 15 or terms.age_days > 60
