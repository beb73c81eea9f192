"""Confidence of opinions: evidence, the caps of a run, and replay."""

import itertools
import math
import random
from collections.abc import Callable
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.memories.book import Book, EntityPage
from memoryd.domain.memories.kinds import Kind, MemoryId, short_id
from memoryd.domain.memories.line import render
from memoryd.domain.memories.reflect.evidence import DoubtedOpinion, OpinionLabels
from memoryd.domain.memories.reflect.opinions import (
    RUN_CAP,
    STRONG_CAP,
    Label,
    LabelledEvidence,
    OpinionBase,
    Step,
    base_of,
    confidence_after,
    opinion_state_of,
    plan_steps,
    replay_by_base,
    replay_steps,
    run_steps,
    sort_evidence,
)
from tests.unit.domain.memories.opinion_lines import book, day, line_of

TEA = "O(c=0.7) @Peter: prefers tea"
TEA_ID = line_of(TEA).id
START = date(2026, 1, 1)
AGAIN = ("01-02", "O @Peter: prefers tea")

labels = st.sampled_from(list(Label))
shares = st.floats(0, 1) | st.sampled_from([0.0, 0.05, 0.5, 0.95, 1.0])


@st.composite
def evidence(draw: st.DrawFn, size: int = 12) -> list[LabelledEvidence]:
    numbers = draw(st.lists(st.integers(0, 40), max_size=size, unique=True))
    return [
        LabelledEvidence(
            TEA_ID, MemoryId(f"m{number}"), draw(labels), "supports", START + timedelta(draw(st.integers(1, 6)))
        )
        for number in numbers
    ]


def test_opinion_repeated_as_fact_is_reinforced() -> None:
    opinions = book_with_tea(("01-05", "W @Peter: prefers tea"))
    assert opinions.memories[TEA_ID].kind is Kind.OPINION
    assert base_of(opinions.memories[TEA_ID]) == OpinionBase(0.7, day("01-01"))
    assert [(step.label, step.after) for step in plan(opinions)] == [(Label.REINFORCE, 0.75)]
    denied = book_with_tea(("01-05", "W @Peter: prefers tea"), ("01-06", "O @Peter: no longer prefers tea"))
    assert TEA_ID in {one.opinion for one in OpinionLabels(denied).contradictions}


def test_strong_contradiction_needs_three_memories_on_two_days() -> None:
    """Three contradictions on one day move the confidence no further than one."""
    single_day = [LabelledEvidence(TEA_ID, MemoryId(f"m{at}"), Label.CONTRADICT, "supports", START) for at in range(4)]
    steps = list(
        run_steps(
            [*single_day, replace(single_day[0], evidence=MemoryId("w"), label=Label.WEAKEN)], "r", 0.7, 0.7, set()
        )
    )
    assert steps[-1].after == 0.6
    two_days = [*single_day[:2], replace(single_day[2], day=START + timedelta(1))]
    assert list(run_steps(two_days, "r", 0.7, 0.7, set()))[-1].after == 0.5


def book_with_tea(*lines: tuple[str, str]) -> Book:
    return book(("01-01", TEA), *lines)


def plan(opinions: Book, steps: tuple[Step, ...] = (), run: str = "r1") -> tuple[Step, ...]:
    return plan_steps(opinions, OpinionLabels(opinions).stated, steps, run=run)


def confidence(opinions: Book, steps: tuple[Step, ...], opinion: MemoryId = TEA_ID) -> float:
    return opinion_state_of(opinions.memories[opinion], [step for step in steps if step.opinion == opinion]).confidence


def contradiction(number: int) -> str:
    return f"B(contradicts={short_id(TEA_ID)}) @Peter: had coffee, cup {number}"


@pytest.mark.parametrize(
    ("label", "before", "after"),
    [
        (Label.REINFORCE, 0.7, 0.75),
        (Label.REINFORCE, 0.98, 1.0),
        (Label.WEAKEN, 0.7, 0.65),
        (Label.WEAKEN, 0.03, 0.0),
        (Label.CONTRADICT, 0.7, 0.6),
        (Label.CONTRADICT, 0.05, 0.0),
        (Label.NEUTRAL, 0.123456789012345678, 0.123456789012345678),
    ],
)
def test_confidence_after_label(label: Label, before: float, after: float) -> None:
    assert confidence_after(before, label) == after


def test_sums_do_not_drift() -> None:
    up = list(itertools.accumulate(range(10), lambda c, _: confidence_after(c, Label.REINFORCE), initial=0.5))
    assert up[1:4] == [0.55, 0.6, 0.65]
    down = list(itertools.accumulate(range(10), lambda c, _: confidence_after(c, Label.WEAKEN), initial=up[-1]))
    assert down[-1] == 0.5


@given(evidence(), shares)
def test_caps_apply_in_any_order(labelled: list[LabelledEvidence], start: float) -> None:
    for order in (
        labelled,
        list(reversed(labelled)),
        sort_evidence(labelled),
        random.Random(1).sample(labelled, len(labelled)),
    ):
        steps = list(run_steps(order, "r", start, start, set()))
        contradictions = [one for one in labelled if one.label is Label.CONTRADICT]
        is_strong = len(contradictions) >= 3 and len({one.day for one in contradictions}) >= 2
        for step in steps:
            assert 0 <= step.after <= 1
            assert step.after - start <= RUN_CAP + 1e-9
            assert start - step.after <= (STRONG_CAP if is_strong else RUN_CAP) + 1e-9


@given(st.lists(evidence(5), max_size=4), shares)
def test_replay_is_exact(runs: list[list[LabelledEvidence]], base: float) -> None:
    steps: list[Step] = []
    counted: set[tuple[date, Label]] = set()
    for number, labelled in enumerate(runs):
        start = steps[-1].after if steps else base
        steps += run_steps(sort_evidence(labelled), f"r{number}", base, start, counted)
    assert replay_steps(base, steps) == tuple(steps)
    assert replay_by_base(steps) == tuple(steps)


def test_repetition_reinforces_once_a_day() -> None:
    opinions = book_with_tea(AGAIN, ("01-02", "O @Peter: prefers  tea"), ("01-03", TEA))
    steps = plan(opinions)
    assert [(step.day, step.before, step.after) for step in steps] == [
        (day("01-02"), 0.7, 0.75),
        (day("01-03"), 0.75, 0.8),
    ]


def test_evidence_of_one_day_counts_once_per_label() -> None:
    short = short_id(TEA_ID)
    opinions = book_with_tea(
        *(("01-02", f"B(supports={short}) @Peter: made tea, pot {number}") for number in range(4)),
        ("01-02", contradiction(1)),
    )
    steps = plan(opinions)
    assert len(steps) == 5
    assert [step.has_moved for step in steps].count(True) == 2
    assert confidence(opinions, steps) == 0.65


def test_run_is_capped_and_excess_evidence_is_used_up() -> None:
    short = short_id(TEA_ID)
    opinions = book_with_tea(*((f"01-{n:02}", f"B(supports={short}) @Peter: tea on day {n}") for n in range(2, 7)))
    steps = plan(opinions)
    assert confidence(opinions, steps) == 0.8
    assert plan(opinions, steps, "r2") == ()


def test_strong_contradiction_moves_confidence_further() -> None:
    three = [("01-02", contradiction(1)), ("01-03", contradiction(2)), ("01-04", contradiction(3))]
    for lines, expected in ((three, 0.4), (three[:2], 0.6), ([("01-02", text) for _, text in three], 0.6)):
        opinions = book_with_tea(*lines)
        assert confidence(opinions, plan(opinions)) == expected


def test_repeated_run_has_no_effect() -> None:
    opinions = book_with_tea(AGAIN, ("01-03", contradiction(1)))
    steps = plan(opinions)
    assert steps
    assert plan(opinions, steps, "r1") == plan(opinions, steps, "r2") == ()


def test_finished_run_accepts_no_more_steps() -> None:
    steps = plan(book_with_tea(("01-02", contradiction(1))))
    with pytest.raises(ValueError, match="another one"):
        plan(book_with_tea(("01-02", contradiction(1)), ("01-03", contradiction(2))), steps)


def test_one_run_equals_daily_runs_within_caps() -> None:
    lines = [AGAIN, ("01-03", contradiction(1)), ("01-04", "O @Peter: Prefers tea.")]
    daily: tuple[Step, ...] = ()
    for number in range(1, len(lines) + 1):
        daily += plan(book_with_tea(*lines[:number]), daily, f"r{number}")
    at_once = plan(book_with_tea(*lines))
    assert [(step.evidence, step.before, step.after) for step in daily] == [
        (step.evidence, step.before, step.after) for step in at_once
    ]


def test_new_confidence_in_line_sets_earlier_steps_aside() -> None:
    first = book_with_tea(AGAIN, ("01-03", contradiction(1)))
    steps = plan(first)
    edited = book(("01-01", "O(c=0.9) @Peter: prefers tea"), AGAIN, ("01-03", contradiction(1)))
    state = opinion_state_of(edited.memories[TEA_ID], steps)
    assert (state.confidence, state.steps, state.set_aside) == (0.9, (), steps)
    assert plan(edited, steps, "r2") == ()
    later = book(
        ("01-01", "O(c=0.9) @Peter: prefers tea"), ("01-03", contradiction(1)), ("01-04", "O @Peter: prefers tea")
    )
    more = plan(later, steps, "r2")
    assert not more, "moving the line from 01-02 to 01-04 is no repetition"
    labelled = book(*_lines(later), ("01-05", "O @Peter: prefers tea"))
    assert confidence(labelled, (*steps, *plan(labelled, steps, "r3"))) == 0.95


def _lines(opinions: Book) -> list[tuple[str, str]]:
    return [
        (one.path[len("memory/2026-") : -len(".md")], render(one.line))
        for memory in opinions.memories.values()
        for one in memory.sources
    ]


def test_newer_line_with_other_confidence_is_the_new_base() -> None:
    opinions = book_with_tea(AGAIN, ("01-05", "O(c=0.3) @Peter: prefers tea"), ("01-06", contradiction(1)))
    assert base_of(opinions.memories[TEA_ID]) == OpinionBase(0.3, day("01-05"), day("01-05"))
    assert [step.day for step in plan(opinions)] == [day("01-06")]
    assert confidence(opinions, plan(opinions)) == 0.2


def test_page_takes_precedence_whatever_its_age() -> None:
    for seen in (date(2020, 1, 1), date(2030, 1, 1)):
        opinions = book(("bank/opinions.md", "O(c=0.4) @Peter: prefers tea"), ("01-01", TEA), ("01-02", TEA), seen=seen)
        assert base_of(opinions.memories[TEA_ID]).confidence == 0.4
    undated = book(("bank/opinions.md", TEA), ("01-02", "B @Peter: ran"), ("01-03", "O @Peter: Prefers tea"))
    assert [step.day for step in plan(undated)] == [day("01-03")]


def test_deleted_evidence_keeps_its_effect() -> None:
    steps = plan(book_with_tea(("01-02", contradiction(1))))
    assert confidence(book_with_tea(), steps) == 0.6
    assert plan(book_with_tea(), steps, "r2") == ()


def test_ambiguous_and_unknown_evidence_has_no_effect() -> None:
    short = short_id(TEA_ID)
    opinions = book_with_tea(
        ("01-02", f"B(supports={short}, contradicts={short}) @Peter: drank something"),
        ("01-02", "B(supports=00000000) @Peter: drank something else"),
        ("01-02", f"W(supports={short_id(line_of('W @Peter: lives in Graz').id)}) @Peter: has a flat in Graz"),
        ("01-02", "W @Peter: lives in Graz"),
    )
    assert plan(opinions) == ()


def test_explicit_label_takes_precedence_over_label_of_model() -> None:
    opinions = book_with_tea(("01-02", "B @Peter: had coffee, cup 1"), ("01-02", "B @Peter: had tea with milk"))
    labels = OpinionLabels(opinions)
    pair = DoubtedOpinion(TEA_ID, line_of(contradiction(1)).id, day("01-02"))
    neutral = labels.by_model(pair, Label.NEUTRAL, "tiny 1")
    steps = plan_steps(opinions, [neutral], (), run="r1")
    assert [(step.labelled_by, step.has_moved) for step in steps] == [("model:tiny 1", False)]
    assert plan_steps(opinions, [labels.by_model(pair, Label.CONTRADICT, "tiny 2")], steps, run="r2") == ()
    explicit = book_with_tea(("01-02", contradiction(1)))
    assert confidence(explicit, (*steps, *plan(explicit, steps, "r3"))) == 0.6
    both = plan_steps(
        explicit, [*OpinionLabels(explicit).stated, labels.by_model(pair, Label.REINFORCE, "tiny 1")], (), run="r1"
    )
    assert [step.labelled_by for step in both] == ["contradicts"]


def test_evidence_with_narrower_scope_does_not_count() -> None:
    short = short_id(TEA_ID)
    private = book_with_tea(("01-02", f"B(supports={short}, scope=agent:beta) @Peter: tea"))
    assert plan(private) == ()
    opinion = line_of("O(scope=agent:beta:cron) @Peter: prefers tea")
    for scope, counts in (
        ("", True),
        ("scope=global, ", True),
        ("scope=agent:beta, ", True),
        ("scope=agent:beta:cron, ", True),
        ("scope=agent:beta:system, ", False),
        ("scope=agent:bet, ", False),
        ("scope=agent:, ", False),
    ):
        opinions = book(
            ("01-01", "O(scope=agent:beta:cron) @Peter: prefers tea"),
            ("01-02", f"B({scope}supports={short_id(opinion.id)}) @Peter: tea"),
        )
        assert bool(plan(opinions)) is counts, scope


@pytest.mark.parametrize(
    ("opinion", "later"),
    [
        ("O @Peter: prefers tea", "O @Peter: does not prefer tea"),
        ("O @Peter: prefers tea", "O @Peter: no longer prefers tea"),
        ("O @Peter: Likes long answers in chat", "W @Peter: never likes long answers in chat"),
        ("O @Peter: likes tea", "O @Peter: doesn’t like tea"),
        ("O @Peter: does not like coffee", "O @Peter: likes coffee"),
        ("O @王芳: 喜欢喝茶", "O @王芳: 不再喜欢喝茶"),
        ("O @王芳: 喜欢喝茶", "O @王芳: 不喜欢喝茶"),
        ("O @王芳: 在家喝茶", "O @王芳: 没在家喝茶"),
        ("O @王芳: 不喜欢吃辣", "O @王芳: 喜欢吃辣"),
    ],
)
def test_explicit_negation_is_a_contradiction(opinion: str, later: str) -> None:
    opinions = book(("01-01", opinion), ("01-02", later))
    found = OpinionLabels(opinions)
    assert found.stated == ()
    assert found.contradictions == (DoubtedOpinion(line_of(opinion).id, line_of(later).id, day("01-02")),)


@pytest.mark.parametrize(
    ("opinion", "later"),
    [
        ("O @Peter: prefers tea", "O @Anna: does not prefer tea"),
        ("O @Peter: prefers tea", "O @Peter: does not prefer coffee"),
        ("O @Peter: prefers tea", "O @Peter: not only prefers tea"),
        ("O @Peter: prefers tea", "O @Peter: prefers tea in the morning"),
        ("O @王芳: 咖啡错了", "O @王芳: 咖啡不错了"),
        ("O @[Room 101]: is warm", "O @[Room 102]: is not warm"),
        ("O @王芳: 喜欢喝茶", "O @王方: 不喜欢喝茶"),
        ("W @Peter: likes tea", "W @Peter: does not like tea"),
    ],
)
def test_other_statement_is_no_contradiction(opinion: str, later: str) -> None:
    found = OpinionLabels(book(("01-01", opinion), ("01-02", later)))
    assert not found.stated
    assert not found.contradictions


def test_earlier_statement_is_no_evidence() -> None:
    found = OpinionLabels(
        book_with_tea(("01-01", "O @Peter: does not prefer tea"), ("01-01", "W @Peter: Prefers tea!"))
    )
    assert not found.stated
    assert not found.contradictions


def test_statement_about_alias_is_evidence() -> None:
    pages = [EntityPage("bank/entities/peter.md", "Peter", ("Pete",))]
    opinions = book(("01-01", TEA), ("01-02", "O @Pete: prefers tea"), pages=pages)
    assert [one.opinion for one in OpinionLabels(opinions).stated] == [TEA_ID]


def test_explicit_evidence_is_no_contradiction_to_decide() -> None:
    opinions = book_with_tea(("01-02", f"O(contradicts={short_id(TEA_ID)}) @Peter: does not prefer tea"))
    found = OpinionLabels(opinions)
    assert [one.label for one in found.stated] == [Label.CONTRADICT]
    assert found.contradictions == ()


def test_model_is_asked_about_similar_undecided_statements() -> None:
    text = "B @Peter: asked for tea with milk and prefers the green one"
    opinions = book_with_tea(("01-02", text), ("01-02", "B @Anna: prefers tea with milk"))
    found = OpinionLabels(opinions)
    pairs = found.unlabelled(())
    assert pairs == (DoubtedOpinion(TEA_ID, line_of(text).id, day("01-02")),)
    assert found.unlabelled([found.by_model(pairs[0], Label.NEUTRAL, "tiny 1")]) == ()


def test_replay_corrects_changed_steps() -> None:
    opinions = book_with_tea(("01-02", contradiction(1)), ("01-03", "O @Peter: prefers tea"))
    steps = plan(opinions)
    assert replay_by_base(steps) == steps
    off = math.nextafter(steps[0].after, 1)
    assert replay_by_base((replace(steps[0], after=off), steps[1])) == steps
    relabelled = (replace(steps[0], label=Label.WEAKEN), steps[1])
    assert [step.after for step in replay_by_base(relabelled)] == [0.65, 0.7]


@given(st.lists(st.sampled_from(["again", "copy", "against", "other"]), max_size=8), st.integers(0, 8))
def test_steps_do_not_depend_on_order_of_lines(kinds: list[str], cut: int) -> None:
    texts: dict[str, Callable[[int], str]] = {
        "again": lambda n: "O @Peter: prefers tea",
        "copy": lambda n: "W @Peter: Prefers TEA.",
        "against": contradiction,
        "other": lambda n: f"B @Peter: ran {n} km",
    }
    lines = [(f"01-{n:02}", texts[kind](n)) for n, kind in enumerate(kinds, 2)]
    one = plan(book(("01-01", TEA), *lines))
    other = plan(book(*lines[cut:], ("01-01", TEA), *lines[:cut]))
    assert one == other
    assert all(0 <= step.after <= 1 for step in one)
