"""When qmd is worked on: each wait with its reason, and how what happens changes them."""

from collections.abc import Callable

import pytest

from memoryd.qmd.upkeep_plan import (
    EMBED_RETRY,
    NEVER,
    Schedule,
    UpkeepPlan,
    UpkeepRules,
    Wait,
    WaitReason,
    first_schedule,
    plan,
)

NOW = 1000.0
RULES = UpkeepRules(makes_vectors=True, interval=300, debounce=15, embed_interval=3600, probe_again=60)
DUE = Wait(0.0, WaitReason.DEMAND)
OFF = Wait(NEVER, WaitReason.OFF)


def planned(schedule: Schedule, *, at: float = NOW, rules: UpkeepRules = RULES) -> UpkeepPlan:
    return plan(schedule, rules, at)


def settled() -> Schedule:
    """Return what is owed right after all of it was done."""
    begun = first_schedule(RULES, NOW).update_begun(NOW).embed_begun()
    return begun.embed_succeeded(NOW, RULES).succeeded()


@pytest.mark.parametrize(
    ("happened", "at", "update", "embed"),
    [
        pytest.param([], 0, (300, "INTERVAL"), (3600, "INTERVAL"), id="nothing"),
        pytest.param([], 299, (1, "INTERVAL"), (3301, "INTERVAL"), id="nearly the interval"),
        pytest.param([], 301, (0, "INTERVAL"), (3299, "INTERVAL"), id="the interval is over"),
        pytest.param([Schedule.changed], 5, (10, "CHANGES"), (3595, "INTERVAL"), id="a change within the debounce"),
        pytest.param([Schedule.changed], 20, (0, "CHANGES"), (3580, "INTERVAL"), id="a change after the debounce"),
        pytest.param([Schedule.demanded], 0, (0, "DEMAND"), (3600, "INTERVAL"), id="a demand"),
        pytest.param([Schedule.changed, Schedule.demanded], 0, (0, "DEMAND"), (3600, "INTERVAL"), id="both"),
        pytest.param([lambda s: s.followed(embeds=False)], 0, (0, "DEMAND"), (3600, "INTERVAL"), id="words"),
        pytest.param([lambda s: s.followed(embeds=True)], 0, (0, "DEMAND"), (0, "DEMAND"), id="meaning"),
        pytest.param([Schedule.vectors_lost], 0, (300, "INTERVAL"), (0, "INTERVAL"), id="vectors lost"),
        pytest.param([Schedule.index_lost], 0, (0, "DEMAND"), (0, "INTERVAL"), id="index lost"),
        pytest.param([lambda s: s.embed_failed(NOW)], 0, (300, "INTERVAL"), (5, "RETRY"), id="embedding failed"),
        pytest.param(
            [lambda s: s.embed_failed(NOW).embed_failed(NOW)], 0, (300, "INTERVAL"), (10, "RETRY"), id="failed twice"
        ),
        pytest.param(
            [lambda s: s.embed_failed(NOW).followed(embeds=True)],
            0,
            (0, "DEMAND"),
            (0, "DEMAND"),
            id="asked",
        ),
        pytest.param(
            [Schedule.changed, lambda s: s.update_begun(NOW + 7)], 10, (297, "INTERVAL"), (3590, "INTERVAL"), id="begun"
        ),
        pytest.param(
            [lambda s: s.update_begun(NOW), Schedule.changed],
            5,
            (10, "CHANGES"),
            (3595, "INTERVAL"),
            id="since",
        ),
    ],
)
def test_waits_of_an_update_and_of_vectors(
    happened: list[Callable[[Schedule], Schedule]], at: float, update: tuple[float, str], embed: tuple[float, str]
) -> None:
    schedule = settled()
    for one in happened:
        schedule = one(schedule)
    found = planned(schedule, at=NOW + at)
    assert found.update == Wait(update[0], WaitReason[update[1]])
    assert found.embed == Wait(embed[0], WaitReason[embed[1]])
    assert found.pause is None
    assert found.wait == min(found.update, found.embed, key=lambda wait: wait.seconds)


@pytest.mark.parametrize(
    ("rules", "update", "embed"),
    [
        (UpkeepRules(), Wait(300.0, WaitReason.INTERVAL), OFF),
        (UpkeepRules(interval=0), Wait(NEVER, WaitReason.OFF), Wait(NEVER, WaitReason.OFF)),
        (UpkeepRules(makes_vectors=True), Wait(300.0, WaitReason.INTERVAL), Wait(3600.0, WaitReason.INTERVAL)),
        (
            UpkeepRules(makes_vectors=True, embed_interval=0),
            Wait(300.0, WaitReason.INTERVAL),
            Wait(NEVER, WaitReason.OFF),
        ),
    ],
)
def test_interval_of_zero_is_never(rules: UpkeepRules, update: Wait, embed: Wait) -> None:
    schedule = first_schedule(rules, NOW).update_begun(NOW).embed_begun().embed_succeeded(NOW, rules).succeeded()
    found = planned(schedule, rules=rules)
    assert (found.update, found.embed) == (update, embed)


@pytest.mark.parametrize(
    ("boot_delay", "pause", "update"),
    [
        (0.0, 0.0, DUE),
        (120.0, 120.0, DUE),
        (None, 0.0, Wait(300.0, WaitReason.INTERVAL)),
    ],
)
def test_start_looks_for_the_program_and_may_put_off_the_first_update(
    boot_delay: float | None, pause: float, update: Wait
) -> None:
    found = planned(first_schedule(UpkeepRules(boot_delay=boot_delay), NOW))
    assert found.wait == found.pause == Wait(pause, WaitReason.BOOT)
    assert found.update == update


def test_delay_at_the_start_ends_when_somebody_waits_for_an_update() -> None:
    first = first_schedule(UpkeepRules(boot_delay=120), NOW)
    assert planned(first.demanded().changed()).wait.reason is WaitReason.BOOT
    assert planned(first.followed(embeds=False)).wait == DUE


@pytest.mark.parametrize(
    ("has_program", "seconds", "reason"), [(True, 1.0, WaitReason.BACK_OFF), (False, 60.0, WaitReason.NO_PROGRAM)]
)
def test_pause_after_a_failure_holds_whatever_comes(has_program: bool, seconds: float, reason: WaitReason) -> None:
    failed = settled().failed(NOW, 0.0, has_program=has_program, rules=RULES)
    for schedule in (failed, failed.demanded(), failed.changed(), failed.followed(embeds=True), failed.index_lost()):
        assert planned(schedule).wait == Wait(seconds, reason)
    assert planned(failed, at=NOW + seconds).wait.is_over, "what failed is tried again, though nothing is owed"
    assert planned(failed.succeeded(), at=NOW + seconds).pause is None


def test_pause_grows_with_each_failure_and_starts_anew_after_a_success() -> None:
    schedule, pauses = settled(), []
    for _ in range(4):
        schedule = schedule.failed(NOW, 0.0, has_program=True, rules=RULES)
        pauses.append(planned(schedule).wait.seconds)
    assert pauses == [1, 2, 4, 8]
    again = schedule.succeeded().failed(NOW + 100, 0.0, has_program=True, rules=RULES)
    assert planned(again, at=NOW + 100).wait.seconds == 1


def test_vectors_that_cannot_be_made_are_tried_at_least_every_hour() -> None:
    schedule = settled()
    for _ in range(40):
        schedule = schedule.embed_failed(NOW)
    assert planned(schedule).embed == Wait(EMBED_RETRY[1], WaitReason.RETRY)
    assert planned(schedule.embed_succeeded(NOW, RULES)).embed == Wait(3600, WaitReason.INTERVAL)


@pytest.mark.parametrize("owes_update", [False, True])
def test_vectors_are_made_again_after_an_update_that_is_still_owed(owes_update: bool) -> None:
    asked = settled().followed(embeds=True).update_begun(NOW)
    begun = (asked.demanded() if owes_update else asked).embed_begun().embed_succeeded(NOW, RULES)
    assert planned(begun).embed.is_over == owes_update


def test_first_vectors_are_due_at_once() -> None:
    assert planned(first_schedule(RULES, NOW)).embed.is_over
