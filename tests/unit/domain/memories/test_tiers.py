"""The formula and the transitions of the tiers, held against decimals, against a table by hand, and its promises."""

import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Attributes, Provenance, RetainedLine
from memoryd.domain.memories.tiers import (
    Demotion,
    Promotion,
    Tier,
    TierFacts,
    TierReason,
    TierSettings,
    age_days,
    composite,
    first_tier,
    frequency,
    half_life_days,
    recency,
    relevance,
    terms_of,
    transition,
)

USUAL = TierSettings()
CORE, WORKING, PERIPHERAL = Tier
TABLE = {CORE: ("0.8", "0.9"), WORKING: ("1.0", "0.3"), PERIPHERAL: ("1.3", "0.1")}
"""Beta and floor, as the model has them."""
AGES = (0, 0.25, 1, 7, 30, 60, 61, 90, 365, 3650)
COUNTS = (0, 1, 3, 5, 15, 100)
IMPORTANCES = (0.0, 0.4, 0.5, 0.6, 0.8, 0.95, 1.0)


def by_hand(tier: Tier, importance: float, count: int, age: float) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """Return recency, frequency, composite and relevance by the words of the model, to forty digits."""
    with localcontext() as context:
        context.prec = 40
        beta, floor = map(Decimal, TABLE[tier])
        weight, days, two = Decimal(str(importance)), Decimal(str(age)), Decimal(2)
        half = Decimal(30) * min((Decimal("1.5") * weight).exp(), Decimal(10))
        aged = (beta * days.ln()).exp() if days else Decimal(0)
        recent = (-two.ln() / half * aged).exp()
        often = 1 - (-Decimal(count) / 5).exp()
        whole = Decimal("0.4") * recent + Decimal("0.3") * often + Decimal("0.3") * weight
        return recent, often, whole, min(Decimal(1), max(floor, whole))


@pytest.mark.parametrize("tier", list(Tier))
def test_every_term_is_what_decimals_give(tier: Tier) -> None:
    for importance in IMPORTANCES:
        for count in COUNTS:
            for age in AGES:
                facts = TierFacts(importance, False, count, age)
                got = (
                    recency(age, importance, tier, USUAL),
                    frequency(count),
                    composite(facts, tier, USUAL),
                    relevance(facts, tier, USUAL),
                )
                for one, wanted in zip(got, by_hand(tier, importance, count, age), strict=True):
                    assert math.isclose(one, float(wanted), rel_tol=1e-12, abs_tol=1e-15), (
                        tier,
                        importance,
                        count,
                        age,
                    )


def test_values_that_somebody_can_check_on_paper() -> None:
    assert half_life_days(0, USUAL) == 30
    assert recency(30, 0, WORKING, USUAL) == pytest.approx(0.5, abs=1e-15)
    assert half_life_days(1, USUAL) == pytest.approx(134.450672, abs=1e-6)
    # exp(1.5) is 4.48: with importance up to 1 the bound of ten is never reached, and it holds all the same
    assert half_life_days(2, USUAL) == 300
    assert frequency(0) == 0
    assert frequency(5) == pytest.approx(0.632120559, abs=1e-9)
    assert composite(TierFacts(0.5, False, 0, 0), WORKING, USUAL) == pytest.approx(0.55)
    assert relevance(TierFacts(0, False, 0, 10_000), CORE, USUAL) == 0.9
    assert relevance(TierFacts(0, False, 0, 10_000), WORKING, USUAL) == 0.3
    assert relevance(TierFacts(0, False, 0, 10_000), PERIPHERAL, USUAL) == 0.1


@pytest.mark.parametrize(
    ("tier", "facts", "wanted", "reason"),
    [
        (WORKING, TierFacts(0.1, True, 0, 900), CORE, TierReason.PINNED),
        (PERIPHERAL, TierFacts(0.1, True, 0, 900), CORE, TierReason.PINNED),
        (WORKING, TierFacts(0.1, False, 15, 60), CORE, TierReason.ACCESS),
        (WORKING, TierFacts(0.1, False, 14, 0), WORKING, TierReason.STAYS),
        (PERIPHERAL, TierFacts(0.1, False, 15, 60), CORE, TierReason.ACCESS),
        (WORKING, TierFacts(0.95, False, 0, 900), CORE, TierReason.IMPORTANCE),
        (WORKING, TierFacts(0.94, False, 0, 0), WORKING, TierReason.STAYS),
        (PERIPHERAL, TierFacts(0.95, False, 0, 900), CORE, TierReason.IMPORTANCE),
        (WORKING, TierFacts(0.8, False, 5, 60), CORE, TierReason.BOTH),
        (WORKING, TierFacts(0.79, False, 5, 0), WORKING, TierReason.STAYS),
        (WORKING, TierFacts(0.8, False, 4, 0), WORKING, TierReason.STAYS),
        (PERIPHERAL, TierFacts(0.8, False, 5, 60), CORE, TierReason.BOTH),
        # what only touches brought there leaves when nothing used it for more than sixty days, and what fades at once
        (CORE, TierFacts(0.6, False, 15, 60.01), WORKING, TierReason.UNUSED),
        (CORE, TierFacts(0.8, False, 5, 60.01), WORKING, TierReason.UNUSED),
        (CORE, TierFacts(0.6, False, 2, 60.01), PERIPHERAL, TierReason.OLD),
        (WORKING, TierFacts(0.6, False, 15, 60.01), WORKING, TierReason.UNUSED),
        (PERIPHERAL, TierFacts(0.1, False, 15, 900), PERIPHERAL, TierReason.STAYS),
        # what a person said for the core, a pin and importance have no such end
        (CORE, TierFacts(0.0, False, 0, 9_000, True), CORE, TierReason.STAYS),
        (CORE, TierFacts(0.1, True, 15, 9_000), CORE, TierReason.PINNED),
        (CORE, TierFacts(0.95, False, 15, 9_000), CORE, TierReason.IMPORTANCE),
        (CORE, TierFacts(0.6, False, 1, 59), CORE, TierReason.STAYS),
        # 0.3 · 0.4 and next to nothing for recency: 0.12
        (WORKING, TierFacts(0.4, False, 0, 900), PERIPHERAL, TierReason.LOW),
        # 0.3 · 0.451 for use, and 0.3 · 0.05: 0.1504
        (WORKING, TierFacts(0.05, False, 3, 900), WORKING, TierReason.STAYS),
        (WORKING, TierFacts(0.0, False, 3, 900), PERIPHERAL, TierReason.LOW),
        (WORKING, TierFacts(0.9, False, 0, 60), WORKING, TierReason.STAYS),
        (WORKING, TierFacts(0.9, False, 0, 60.01), PERIPHERAL, TierReason.OLD),
        (WORKING, TierFacts(0.9, False, 2, 60.01), PERIPHERAL, TierReason.OLD),
        (WORKING, TierFacts(0.79, False, 3, 60.01), WORKING, TierReason.STAYS),
        (PERIPHERAL, TierFacts(0.5, False, 3, 0), WORKING, TierReason.AGAIN),
        (PERIPHERAL, TierFacts(0.5, False, 2, 0), PERIPHERAL, TierReason.STAYS),
        # 0.4 · 0.002 + 0.3 · 0.451 + 0.3 · 0.5: 0.286
        (PERIPHERAL, TierFacts(0.5, False, 3, 120), PERIPHERAL, TierReason.STAYS),
    ],
)
def test_every_transition(tier: Tier, facts: TierFacts, wanted: Tier, reason: TierReason) -> None:
    assert transition(tier, facts, USUAL) == (wanted, reason)


def test_memory_starts_working_and_a_lesson_core() -> None:
    for kind in Kind:
        assert first_tier(RetainedLine(kind, "text")) is (CORE if kind is Kind.LESSON else WORKING)


@pytest.mark.parametrize(
    ("provenance", "tier"),
    [
        (Provenance.USER, CORE),
        (Provenance.AGENT, WORKING),
        (Provenance.TOOL, WORKING),
        (Provenance.IMPORT, WORKING),
    ],
)
def test_a_lesson_is_core_from_the_first_only_where_a_person_says_it(provenance: Provenance, tier: Tier) -> None:
    assert first_tier(RetainedLine(Kind.LESSON, "text", attributes=Attributes(provenance=provenance))) is tier


def test_thresholds_are_those_that_are_set() -> None:
    settings = TierSettings(10, Promotion(2, 0.5, 1, 0.4, 1, 0.2), Demotion(0.5, 3, 1))
    assert half_life_days(0, settings) == 10
    assert transition(WORKING, TierFacts(0.1, False, 2, 0), settings) == (CORE, TierReason.ACCESS)
    assert transition(WORKING, TierFacts(0.5, False, 0, 0), settings) == (CORE, TierReason.IMPORTANCE)
    assert transition(WORKING, TierFacts(0.4, False, 1, 0), settings) == (CORE, TierReason.BOTH)
    assert transition(WORKING, TierFacts(0.3, False, 0, 2), settings) == (PERIPHERAL, TierReason.LOW)
    assert transition(PERIPHERAL, TierFacts(0.1, False, 1, 0), settings) == (WORKING, TierReason.AGAIN)


def test_time_that_ran_backwards_makes_nothing_younger_than_new() -> None:
    assert age_days(2_000.0, 1_000.0) == 0
    assert age_days(0.0, 86_400.0 * 2.5) == 2.5


FACTS = st.builds(
    TierFacts,
    importance=st.floats(0, 1),
    is_pinned=st.booleans(),
    access_count=st.integers(0, 10**9),
    age_days=st.floats(0, 10**6),
)
TIERS = st.sampled_from(list(Tier))


@given(FACTS, TIERS, st.floats(0, 10**5))
def test_older_is_never_more_relevant(facts: TierFacts, tier: Tier, more: float) -> None:
    older = TierFacts(facts.importance, facts.is_pinned, facts.access_count, facts.age_days + more)
    assert composite(older, tier, USUAL) <= composite(facts, tier, USUAL)
    assert relevance(older, tier, USUAL) <= relevance(facts, tier, USUAL)


@given(FACTS, TIERS)
def test_everything_has_its_bounds(facts: TierFacts, tier: Tier) -> None:
    terms = terms_of(tier, TierReason.STAYS, facts, USUAL)
    assert 0 <= terms.recency <= 1
    assert 0 <= terms.frequency <= 1
    assert 0 <= terms.composite <= 1 + 1e-9
    assert float(TABLE[tier][1]) == terms.floor <= terms.relevance <= 1


@given(FACTS, TIERS)
def test_what_is_used_more_is_never_less_relevant(facts: TierFacts, tier: Tier) -> None:
    more = TierFacts(facts.importance, facts.is_pinned, facts.access_count + 1, facts.age_days)
    assert relevance(more, tier, USUAL) >= relevance(facts, tier, USUAL)


@given(FACTS, TIERS)
def test_pinned_is_core_and_what_a_person_put_there_never_leaves_by_itself(facts: TierFacts, tier: Tier) -> None:
    pinned = TierFacts(facts.importance, True, facts.access_count, facts.age_days)
    assert transition(tier, pinned, USUAL) == (CORE, TierReason.PINNED)
    lesson = TierFacts(facts.importance, facts.is_pinned, facts.access_count, facts.age_days, starts_core=True)
    assert transition(CORE, lesson, USUAL)[0] is CORE
    assert terms_of(CORE, TierReason.STAYS, lesson, USUAL).leaves_core_in is None
    left = transition(CORE, facts, USUAL)[0] is not CORE
    assert left == (not facts.is_pinned and facts.importance < 0.95 and facts.age_days > 60)


def test_how_long_it_stays_in_the_core_is_told_of_what_only_touches_brought_there() -> None:
    used = TierFacts(0.6, False, 15, 16)
    assert terms_of(CORE, TierReason.ACCESS, used, USUAL).leaves_core_in == 44
    assert terms_of(WORKING, TierReason.STAYS, used, USUAL).leaves_core_in is None
    for kept in (TierFacts(0.6, True, 15, 16), TierFacts(0.95, False, 15, 16), TierFacts(0.6, False, 15, 16, True)):
        assert terms_of(CORE, TierReason.STAYS, kept, USUAL).leaves_core_in is None
    sooner = TierSettings(demotion=Demotion(core_days=10))
    assert terms_of(CORE, TierReason.STAYS, used, sooner).leaves_core_in == 0


@given(FACTS, TIERS)
def test_tier_that_was_found_stays_found(facts: TierFacts, tier: Tier) -> None:
    found, _reason = transition(tier, facts, USUAL)
    assert transition(found, facts, USUAL)[0] is found
