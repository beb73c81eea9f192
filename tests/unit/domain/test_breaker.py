from hypothesis import given
from hypothesis import strategies as st

from memoryd.retry import Breaker, BreakerRule, Circuit


def _after_failures(count: int, *, every: float = 0.0, rule: BreakerRule | None = None) -> Breaker:
    breaker = Breaker(rule=rule or BreakerRule())
    for number in range(count):
        breaker = breaker.note_failure(number * every, 0.0)
    return breaker


def test_new_breaker_never_waits() -> None:
    assert Breaker().wait(0.0) == 0
    assert Breaker().wait(-1e9) == 0


def test_delay_doubles_from_one_second() -> None:
    waits = [_after_failures(count).wait(0.0) for count in (1, 2, 3, 4)]
    assert waits == [1.0, 2.0, 4.0, 8.0]


def test_delay_has_a_maximum() -> None:
    patient = BreakerRule(failures_to_open=1000)
    assert _after_failures(6, rule=patient).wait(0.0) == 32.0
    assert _after_failures(7, rule=patient).wait(0.0) == 60.0
    assert _after_failures(500, rule=patient).wait(0.0) == 60.0


def test_jitter_adds_at_most_a_quarter() -> None:
    assert Breaker().note_failure(0.0, 0.0).wait(0.0) == 1.0
    assert 1.2 < Breaker().note_failure(0.0, 0.999).wait(0.0) < 1.25


def test_fifth_failure_within_window_opens_circuit() -> None:
    assert _after_failures(4, every=15.0).circuit is Circuit.CLOSED
    opened = _after_failures(5, every=14.0)
    assert opened.circuit is Circuit.OPEN
    assert opened.wait(4 * 14.0) == 60.0


def test_rare_failures_never_open_circuit() -> None:
    assert _after_failures(50, every=15.0).circuit is Circuit.CLOSED


def test_open_circuit_lets_exactly_one_probe_through() -> None:
    opened = _after_failures(5)
    assert opened.wait(59.9) > 0
    assert opened.wait(60.0) == 0
    probing = opened.note_try(60.0)
    assert probing.circuit is Circuit.HALF_OPEN
    assert probing.wait(60.1) > 0


def test_successful_probe_resets_breaker() -> None:
    closed = _after_failures(5).note_try(60.0).note_success()
    assert closed == Breaker()


def test_failed_probe_reopens_for_longest_delay() -> None:
    reopened = _after_failures(5).note_try(200.0).note_failure(201.0, 0.0)
    assert reopened.circuit is Circuit.OPEN
    assert reopened.wait(201.0) == 60.0


def test_lost_probe_expires() -> None:
    probing = _after_failures(5).note_try(60.0)
    assert probing.wait(120.0) == 0


def test_success_resets_delay_but_not_failures_in_window() -> None:
    flapping = Breaker()
    for second in range(5):
        assert flapping.circuit is Circuit.CLOSED
        flapping = flapping.note_success().note_failure(float(second), 0.0)
    assert flapping.circuit is Circuit.OPEN


def test_try_while_closed_changes_nothing() -> None:
    breaker = _after_failures(1)
    assert breaker.note_try(5.0) is breaker


@given(
    st.lists(st.tuples(st.floats(0, 300), st.floats(0, 1, exclude_max=True), st.booleans()), min_size=1, max_size=60)
)
def test_wait_and_history_are_bounded(steps: list[tuple[float, float, bool]]) -> None:
    breaker, now = Breaker(), 0.0
    for pause, chance, is_failure in steps:
        now += pause
        if breaker.wait(now) == 0:
            breaker = breaker.note_try(now)
        breaker = breaker.note_failure(now, chance) if is_failure else breaker.note_success()
        assert 0.0 <= breaker.wait(now) <= 75.0
        assert len(breaker.failures) <= 5
        assert is_failure == (breaker.wait(now) >= 1.0 - 1e-9)  # adding to `now` rounds
