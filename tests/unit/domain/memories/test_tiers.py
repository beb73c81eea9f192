"""Relevance and transitions of the tiers, compared with decimals and with a table."""

import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

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

DEFAULTS = TierSettings()
CORE, WORKING, PERIPHERAL = Tier
TABLE = {CORE: ("0.8", "0.9"), WORKING: ("1.0", "0.3"), PERIPHERAL: ("1.3", "0.1")}
"""Beta and floor of each tier."""
AGES = (0, 0.25, 1, 7, 30, 60, 61, 90, 365, 3650)
COUNTS = (0, 1, 3, 5, 15, 100)
IMPORTANCES = (0.0, 0.4, 0.5, 0.6, 0.8, 0.95, 1.0)


def in_decimals(tier: Tier, importance: float, count: int, age: float) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """Return recency, frequency, composite and relevance by the formulas, to 40 digits."""
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
def test_each_term_matches_decimals(tier: Tier) -> None:
    for importance in IMPORTANCES:
        for count in COUNTS:
            for age in AGES:
                facts = TierFacts(importance, False, count, age)
                got = (
                    recency(age, importance, tier, DEFAULTS),
                    frequency(count),
                    composite(facts, tier, DEFAULTS),
                    relevance(facts, tier, DEFAULTS),
                )
                for one, expected in zip(got, in_decimals(tier, importance, count, age), strict=True):
                    assert math.isclose(one, float(expected), rel_tol=1e-12, abs_tol=1e-15), (
                        tier,
                        importance,
                        count,
                        age,
                    )


def test_terms_match_values_calculated_by_hand() -> None:
    assert half_life_days(0, DEFAULTS) == 30
    assert recency(30, 0, WORKING, DEFAULTS) == pytest.approx(0.5, abs=1e-15)
    assert half_life_days(1, DEFAULTS) == pytest.approx(134.450672, abs=1e-6)
    # exp(1.5) is 4.48, so with importance up to 1 the limit of ten is never reached
    assert half_life_days(2, DEFAULTS) == 300
    assert frequency(0) == 0
    assert frequency(5) == pytest.approx(0.632120559, abs=1e-9)
    assert composite(TierFacts(0.5, False, 0, 0), WORKING, DEFAULTS) == pytest.approx(0.55)
    assert relevance(TierFacts(0, False, 0, 10_000), CORE, DEFAULTS) == 0.9
    assert relevance(TierFacts(0, False, 0, 10_000), WORKING, DEFAULTS) == 0.3
    assert relevance(TierFacts(0, False, 0, 10_000), PERIPHERAL, DEFAULTS) == 0.1


@pytest.mark.parametrize(
    ("tier", "facts", "expected", "reason"),
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
        # core by touches alone ends after 60 days without use
        (CORE, TierFacts(0.6, False, 15, 60.01), WORKING, TierReason.UNUSED),
        (CORE, TierFacts(0.8, False, 5, 60.01), WORKING, TierReason.UNUSED),
        (CORE, TierFacts(0.6, False, 2, 60.01), PERIPHERAL, TierReason.OLD),
        (WORKING, TierFacts(0.6, False, 15, 60.01), WORKING, TierReason.UNUSED),
        (PERIPHERAL, TierFacts(0.1, False, 15, 900), PERIPHERAL, TierReason.STAYS),
        # lessons, pins and importance have no such end
        (CORE, TierFacts(0.0, False, 0, 9_000, True), CORE, TierReason.STAYS),
        (CORE, TierFacts(0.1, True, 15, 9_000), CORE, TierReason.PINNED),
        (CORE, TierFacts(0.95, False, 15, 9_000), CORE, TierReason.IMPORTANCE),
        (CORE, TierFacts(0.6, False, 1, 59), CORE, TierReason.STAYS),
        # 0.3 · 0.4 and almost nothing for recency: 0.12
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
def test_transition(tier: Tier, facts: TierFacts, expected: Tier, reason: TierReason) -> None:
    assert transition(tier, facts, DEFAULTS) == (expected, reason)


def test_lesson_starts_core_and_others_working() -> None:
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
def test_lesson_starts_core_only_if_a_person_states_it(provenance: Provenance, tier: Tier) -> None:
    assert first_tier(RetainedLine(Kind.LESSON, "text", attributes=Attributes(provenance=provenance))) is tier


def test_thresholds_are_configurable() -> None:
    settings = TierSettings(10, Promotion(2, 0.5, 1, 0.4, 1, 0.2), Demotion(0.5, 3, 1))
    assert half_life_days(0, settings) == 10
    assert transition(WORKING, TierFacts(0.1, False, 2, 0), settings) == (CORE, TierReason.ACCESS)
    assert transition(WORKING, TierFacts(0.5, False, 0, 0), settings) == (CORE, TierReason.IMPORTANCE)
    assert transition(WORKING, TierFacts(0.4, False, 1, 0), settings) == (CORE, TierReason.BOTH)
    assert transition(WORKING, TierFacts(0.3, False, 0, 2), settings) == (PERIPHERAL, TierReason.LOW)
    unlikely = TierSettings(demotion=Demotion(relevance=0.4))
    assert transition(WORKING, TierFacts(0.8, False, 0, 900), unlikely) == (PERIPHERAL, TierReason.LOW)
    assert transition(WORKING, TierFacts(0.8, False, 0, 2), unlikely)[0] is WORKING
    assert transition(PERIPHERAL, TierFacts(0.1, False, 1, 0), settings) == (WORKING, TierReason.AGAIN)


def test_age_is_never_negative() -> None:
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
    older = replace(facts, age_days=facts.age_days + more)
    assert composite(older, tier, DEFAULTS) <= composite(facts, tier, DEFAULTS)
    assert relevance(older, tier, DEFAULTS) <= relevance(facts, tier, DEFAULTS)


@given(FACTS, TIERS)
def test_all_terms_are_bounded(facts: TierFacts, tier: Tier) -> None:
    terms = terms_of(tier, TierReason.STAYS, facts, DEFAULTS)
    assert 0 <= terms.recency <= 1
    assert 0 <= terms.frequency <= 1
    assert 0 <= terms.composite <= 1 + 1e-9
    assert float(TABLE[tier][1]) == terms.floor <= terms.relevance <= 1


@given(FACTS, TIERS)
def test_more_use_is_never_less_relevant(facts: TierFacts, tier: Tier) -> None:
    more = replace(facts, access_count=facts.access_count + 1)
    assert relevance(more, tier, DEFAULTS) >= relevance(facts, tier, DEFAULTS)


@given(FACTS, TIERS)
def test_pinned_memory_and_core_lesson_never_leave_core(facts: TierFacts, tier: Tier) -> None:
    pinned = replace(facts, is_pinned=True)
    assert transition(tier, pinned, DEFAULTS) == (CORE, TierReason.PINNED)
    lesson = replace(facts, starts_core=True)
    assert transition(CORE, lesson, DEFAULTS)[0] is CORE
    assert terms_of(CORE, TierReason.STAYS, lesson, DEFAULTS).leaves_core_in is None
    leaves = transition(CORE, facts, DEFAULTS)[0] is not CORE
    assert leaves == (not facts.is_pinned and facts.importance < 0.95 and facts.age_days > 60)


def test_days_until_leaving_core_are_known_for_touched_memories() -> None:
    used = TierFacts(0.6, False, 15, 16)
    assert terms_of(CORE, TierReason.ACCESS, used, DEFAULTS).leaves_core_in == 44
    assert terms_of(WORKING, TierReason.STAYS, used, DEFAULTS).leaves_core_in is None
    for permanent in (
        TierFacts(0.6, True, 15, 16),
        TierFacts(0.95, False, 15, 16),
        TierFacts(0.6, False, 15, 16, True),
    ):
        assert terms_of(CORE, TierReason.STAYS, permanent, DEFAULTS).leaves_core_in is None
    sooner = TierSettings(demotion=Demotion(core_days=10))
    assert terms_of(CORE, TierReason.STAYS, used, sooner).leaves_core_in == 0


@given(FACTS, TIERS)
def test_transition_is_idempotent(facts: TierFacts, tier: Tier) -> None:
    found, _reason = transition(tier, facts, DEFAULTS)
    assert transition(found, facts, DEFAULTS)[0] is found
