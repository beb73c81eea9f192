"""The schedule of qmd's maintenance: each wait, and how events change it."""

from collections.abc import Callable

import pytest

from memoryd.qmd.index_writer import MaintenanceRules
from memoryd.qmd.maintenance import EMBED_RETRY, NEVER, Schedule, first_schedule

NOW = 1000.0
RULES = MaintenanceRules(makes_vectors=True, interval=300, debounce=15, embed_interval=3600, probe_again=60)


def all_done() -> Schedule:
    """Return the schedule right after all work was done."""
    begun = first_schedule(RULES, NOW).begin_update(NOW).begin_embed()
    return begun.finish_embed(NOW).succeed()


@pytest.mark.parametrize(
    ("happened", "at", "update", "embed"),
    [
        pytest.param([], 0, 300, 3600, id="nothing"),
        pytest.param([], 299, 1, 3301, id="nearly the interval"),
        pytest.param([], 301, 0, 3299, id="the interval is over"),
        pytest.param([Schedule.note_change], 5, 10, 3595, id="a change within the debounce"),
        pytest.param([Schedule.note_change], 20, 0, 3580, id="a change after the debounce"),
        pytest.param([Schedule.demand], 0, 0, 3600, id="a demand"),
        pytest.param([Schedule.note_change, Schedule.demand], 0, 0, 3600, id="both"),
        pytest.param([lambda s: s.follow(embeds=False)], 0, 0, 3600, id="words"),
        pytest.param([lambda s: s.follow(embeds=True)], 0, 0, 0, id="meaning"),
        pytest.param([Schedule.lose_vectors], 0, 300, 0, id="vectors lost"),
        pytest.param([Schedule.lose_index], 0, 0, 0, id="index lost"),
        pytest.param([lambda s: s.fail_embed(NOW)], 0, 300, 5, id="embedding failed"),
        pytest.param([lambda s: s.fail_embed(NOW).fail_embed(NOW)], 0, 300, 10, id="failed twice"),
        pytest.param(
            [lambda s: s.fail_embed(NOW).follow(embeds=True)],
            0,
            0,
            0,
            id="asked",
        ),
        pytest.param([Schedule.note_change, lambda s: s.begin_update(NOW + 7)], 10, 297, 3590, id="begun"),
        pytest.param(
            [lambda s: s.begin_update(NOW), Schedule.note_change],
            5,
            10,
            3595,
            id="since",
        ),
    ],
)
def test_waits_of_an_update_and_of_vectors(
    happened: list[Callable[[Schedule], Schedule]], at: float, update: float, embed: float
) -> None:
    schedule = all_done()
    for event in happened:
        schedule = event(schedule)
    now = NOW + at
    assert (schedule.update_in(now), schedule.embed_in(now)) == (update, embed)
    assert schedule.wait(now) == min(update, embed)


@pytest.mark.parametrize(
    ("rules", "update", "embed"),
    [
        (MaintenanceRules(), 300.0, NEVER),
        (MaintenanceRules(interval=0), NEVER, NEVER),
        (MaintenanceRules(makes_vectors=True), 300.0, 3600.0),
        (
            MaintenanceRules(makes_vectors=True, embed_interval=0),
            300.0,
            NEVER,
        ),
    ],
)
def test_interval_of_zero_means_never(rules: MaintenanceRules, update: float, embed: float) -> None:
    schedule = first_schedule(rules, NOW).begin_update(NOW).begin_embed().finish_embed(NOW).succeed()
    assert (schedule.update_in(NOW), schedule.embed_in(NOW)) == (update, embed)


@pytest.mark.parametrize(
    ("boot_delay", "pause", "update"),
    [
        (0.0, 0.0, 0.0),
        (120.0, 120.0, 0.0),
        (None, 0.0, 300.0),
    ],
)
def test_boot_delay_puts_off_the_first_update(boot_delay: float | None, pause: float, update: float) -> None:
    first = first_schedule(MaintenanceRules(boot_delay=boot_delay), NOW)
    assert (first.wait(NOW), first.update_in(NOW)) == (pause, update)


def test_boot_delay_ends_when_an_update_is_awaited() -> None:
    first = first_schedule(MaintenanceRules(boot_delay=120), NOW)
    assert first.demand().note_change().wait(NOW) == 120
    assert first.follow(embeds=False).wait(NOW) == 0.0


@pytest.mark.parametrize(("has_program", "seconds"), [(True, 1.0), (False, 60.0)])
def test_pause_after_a_failure_applies_to_everything(has_program: bool, seconds: float) -> None:
    failed = all_done().fail(NOW, 0.0, has_program=has_program)
    for schedule in (failed, failed.demand(), failed.note_change(), failed.follow(embeds=True), failed.lose_index()):
        assert schedule.wait(NOW) == seconds
    assert failed.wait(NOW + seconds) <= 0, "failed work is tried again, though nothing is due"
    assert failed.succeed().pause_until is None


def test_pause_grows_with_each_failure_until_a_success() -> None:
    schedule, pauses = all_done(), []
    for _ in range(4):
        schedule = schedule.fail(NOW, 0.0, has_program=True)
        pauses.append(schedule.wait(NOW))
    assert pauses == [1, 2, 4, 8]
    again = schedule.succeed().fail(NOW + 100, 0.0, has_program=True)
    assert again.wait(NOW + 100) == 1


def test_failing_embedding_is_tried_at_least_every_hour() -> None:
    schedule = all_done()
    for _ in range(40):
        schedule = schedule.fail_embed(NOW)
    assert schedule.embed_in(NOW) == EMBED_RETRY[1]
    assert schedule.finish_embed(NOW).embed_in(NOW) == 3600


@pytest.mark.parametrize("owes_update", [False, True])
def test_vectors_are_due_again_after_a_pending_update(owes_update: bool) -> None:
    asked = all_done().follow(embeds=True).begin_update(NOW)
    begun = (asked.demand() if owes_update else asked).begin_embed().finish_embed(NOW)
    assert (begun.embed_in(NOW) <= 0) == owes_update


def test_first_vectors_are_due_at_once() -> None:
    assert first_schedule(RULES, NOW).embed_in(NOW) <= 0
