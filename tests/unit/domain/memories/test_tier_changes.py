"""A memory over months: touched, pinned, unpinned, made less important, and beside clocks that are wrong."""

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

USUAL = TierSettings()
DAY = 86_400.0
WRITTEN = 1_700_000_000.0
NEW = Usage()


def line(importance: float | None = None, *, is_pinned: bool = False, kind: Kind = Kind.FACT) -> RetainedLine:
    return RetainedLine(kind, "Anna has the key.", (), Attributes(importance=importance, is_pinned=is_pinned))


def at(days: float, stated: RetainedLine | None = None) -> Aged:
    """The memory so many days after the day on which it was written."""
    return Aged(stated or line(), WRITTEN, WRITTEN + days * DAY)


def touched_on(*days: float, usage: Usage = NEW, stated: RetainedLine | None = None) -> Usage:
    for day in days:
        usage = with_access(usage, at(day, stated), USUAL)
    return usage


def tier(usage: Usage, aged: Aged) -> Tier:
    return tier_now(usage, aged, USUAL)[0]


def test_untouched_it_works_for_sixty_days_and_then_fades() -> None:
    assert tier_now(NEW, at(0), USUAL) == (Tier.WORKING, TierReason.NEW)
    assert tier(NEW, at(60)) is Tier.WORKING
    assert tier_now(NEW, at(60.1), USUAL) == (Tier.PERIPHERAL, TierReason.OLD)


def test_age_counts_from_the_last_touch() -> None:
    usage = touched_on(50)
    assert facts_of(usage, at(110)).age_days == 60
    assert tier(usage, at(110)) is Tier.WORKING
    assert tier(usage, at(110.1)) is Tier.PERIPHERAL
    # said again since: that is the later one
    assert facts_of(usage, replace(at(110), recorded_until=WRITTEN + 100 * DAY)).age_days == 10


def test_faded_memory_needs_three_touches_to_work_again() -> None:
    assert [touched_on(*days).tier for days in ((100,), (100, 101), (100, 101, 102))] == [
        Tier.PERIPHERAL,
        Tier.PERIPHERAL,
        Tier.WORKING,
    ]


def test_fifteen_touches_make_it_core_while_something_uses_it() -> None:
    assert touched_on(*range(14)).tier is Tier.WORKING
    core = touched_on(*range(15))
    assert core.tier is Tier.CORE
    assert tier_now(core, at(74), USUAL) == (Tier.CORE, TierReason.ACCESS)
    assert tier_now(core, at(74.1), USUAL) == (Tier.WORKING, TierReason.UNUSED)
    # the same whether somebody judged it meanwhile or not
    assert tier_now(with_current_tier(core, at(75), USUAL), at(900), USUAL) == tier_now(core, at(900), USUAL)
    assert touched_on(900, usage=core).tier is Tier.CORE


def test_what_counted_whatever_was_told_promotes_nothing() -> None:
    junk = replace(touched_on(*range(20)), is_earned=False)
    assert junk.tier is Tier.CORE
    anew = without_unearned(junk, line(), USUAL)
    assert (anew.access_count, anew.tier, anew.is_earned) == (3, Tier.WORKING, True)
    assert anew.touched_at == junk.touched_at
    assert tier(anew, at(20)) is Tier.WORKING
    assert touched_on(21, usage=anew).tier is Tier.WORKING
    assert without_unearned(anew, line(), USUAL) is anew
    few = replace(touched_on(1), is_earned=False)
    assert without_unearned(few, line(), USUAL).access_count == 1
    eager = TierSettings(promotion=replace(USUAL.promotion, access_only=2))
    assert without_unearned(junk, line(), eager).access_count == 1


def test_what_a_person_put_into_the_core_stays_there_without_its_touches() -> None:
    for stated in (line(is_pinned=True), line(0.95), line(kind=Kind.LESSON)):
        junk = replace(touched_on(*range(20), stated=stated), is_earned=False)
        anew = without_unearned(junk, stated, USUAL)
        assert anew.access_count == 3
        assert tier(anew, at(900, stated)) is Tier.CORE
    # a lesson that its owner made less important was judged anew then
    lowered = with_current_tier(
        with_current_tier(NEW, at(1, line(kind=Kind.LESSON)), USUAL), at(2, line(0.5, kind=Kind.LESSON)), USUAL
    )
    anew = without_unearned(replace(lowered, is_earned=False), line(0.5, kind=Kind.LESSON), USUAL)
    assert tier(anew, at(3, line(0.5, kind=Kind.LESSON))) is Tier.WORKING


def test_important_memory_is_core_with_five_touches() -> None:
    stated = line(0.8)
    assert touched_on(1, 2, 3, 4, stated=stated).tier is Tier.WORKING
    assert touched_on(1, 2, 3, 4, 5, stated=stated).tier is Tier.CORE


def test_pinned_is_core_and_unpinned_is_judged_anew() -> None:
    pinned = line(is_pinned=True)
    kept = with_current_tier(NEW, at(1, pinned), USUAL)
    assert tier_now(kept, at(900, pinned), USUAL) == (Tier.CORE, TierReason.PINNED)
    assert tier(kept, at(10)) is Tier.WORKING
    assert tier(kept, at(900)) is Tier.PERIPHERAL
    unpinned = with_current_tier(kept, at(10), USUAL)
    assert unpinned.judged == TierBasis(at(10).now, 0.6, False)
    assert tier(unpinned, at(11)) is Tier.WORKING


def test_unpinned_stays_core_where_something_else_makes_it_so() -> None:
    pinned = line(is_pinned=True)
    often = touched_on(*range(15), stated=pinned)
    assert tier_now(often, at(20), USUAL) == (Tier.CORE, TierReason.ACCESS)
    lesson = with_current_tier(NEW, at(1, line(is_pinned=True, kind=Kind.LESSON)), USUAL)
    assert tier_now(lesson, at(2, line(kind=Kind.LESSON)), USUAL) == (Tier.CORE, TierReason.LESSON)


def test_lesson_is_core_until_a_person_makes_it_less_important() -> None:
    lesson = line(kind=Kind.LESSON)
    kept = with_current_tier(NEW, at(1, lesson), USUAL)
    assert tier_now(kept, at(900, lesson), USUAL) == (Tier.CORE, TierReason.LESSON)
    lower = line(0.5, kind=Kind.LESSON)
    assert tier(kept, at(2, lower)) is Tier.WORKING
    after = with_current_tier(kept, at(2, lower), USUAL)
    assert tier(after, at(3, lower)) is Tier.WORKING
    assert tier(after, at(90, lower)) is Tier.PERIPHERAL
    # written so from the beginning nobody lowered anything
    assert tier(NEW, at(90, lower)) is Tier.CORE


def test_less_important_is_judged_anew_and_more_important_moves_up() -> None:
    kept = with_current_tier(NEW, at(1, line(0.95)), USUAL)
    assert kept.tier is Tier.CORE
    assert tier(kept, at(2, line(0.9))) is Tier.WORKING
    assert tier(kept, at(90, line(0.9))) is Tier.PERIPHERAL
    after = with_current_tier(kept, at(2, line(0.9)), USUAL)
    assert tier(after, at(3, line(1.0))) is Tier.CORE


def test_what_was_core_stays_core_under_other_thresholds_while_it_is_used() -> None:
    kept = with_current_tier(NEW, at(1, line(0.95)), USUAL)
    stricter = TierSettings(promotion=replace(USUAL.promotion, importance_only=0.99))
    assert tier_now(kept, at(60, line(0.95)), stricter) == (Tier.CORE, TierReason.STAYS)
    assert tier(touched_on(50, usage=kept, stated=line(0.95)), at(110, line(0.95))) is Tier.CORE
    assert tier_now(kept, at(61, line(0.95)), stricter) == (Tier.PERIPHERAL, TierReason.OLD)


def test_what_can_be_worked_out_again_is_not_kept() -> None:
    assert with_current_tier(NEW, at(1), USUAL) is NEW
    assert with_current_tier(NEW, at(900), USUAL) is NEW
    kept = touched_on(1)
    assert with_current_tier(kept, at(2), USUAL) is kept
    assert with_current_tier(kept, at(900), USUAL).tier is Tier.PERIPHERAL


def test_clock_that_was_ahead_for_a_while_fades_nothing_for_good() -> None:
    kept = touched_on(1)
    faded = with_current_tier(kept, at(40_000), USUAL)
    assert faded.tier is Tier.PERIPHERAL
    assert tier(faded, at(2)) is Tier.WORKING
    assert with_current_tier(faded, at(2), USUAL).tier is Tier.WORKING


def test_touch_of_a_clock_that_was_ahead_is_put_right_by_the_next() -> None:
    ahead = touched_on(40_000)
    assert facts_of(ahead, at(1)).age_days == 0
    assert relevance_now(ahead, at(1), USUAL) <= 1
    mended = with_access(ahead, at(1), USUAL)
    assert mended.touched_at == at(1).now
    assert facts_of(mended, at(11)).age_days == 10


def test_touch_of_a_clock_that_was_behind_counts_and_makes_nothing_older() -> None:
    behind = with_access(touched_on(5), at(4.9), USUAL)
    assert behind.access_count == 2
    assert behind.touched_at == at(5).now
    long_ago = touched_on(-20_000)
    assert facts_of(long_ago, at(10)).age_days == 10


def test_terms_say_what_the_tier_and_the_relevance_are() -> None:
    usage = touched_on(1, 2)
    terms = terms_now(usage, at(10), USUAL)
    assert (terms.tier, terms.access_count, terms.age_days) == (Tier.WORKING, 2, 8)
    assert terms.relevance == relevance_now(usage, at(10), USUAL)


@given(st.lists(st.floats(-50_000, 50_000), max_size=30), st.floats(-50_000, 50_000), st.booleans())
def test_no_order_of_touches_leaves_the_bounds(days: list[float], now: float, is_pinned: bool) -> None:
    stated = line(is_pinned=is_pinned)
    usage = touched_on(*days, stated=stated)
    terms = terms_now(usage, at(now, stated), USUAL)
    assert usage.access_count == len(days)
    assert terms.age_days >= 0
    assert 0.1 <= terms.relevance <= 1
    assert terms.tier is Tier.CORE or not is_pinned
    assert terms.tier is Tier.CORE or len(days) < 15 or terms.age_days > 60
