from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.clock import Debounce


def test_nothing_is_due_without_a_hint() -> None:
    assert Debounce(quiet=1.5, hold=2).due is None


def test_hint_is_due_after_quiet_time() -> None:
    debounce = Debounce(quiet=1.5, hold=10)
    debounce.hint(100)
    assert debounce.due == 101.5
    debounce.hint(101)
    assert debounce.due == 102.5


def test_endless_hints_are_due_after_the_hold() -> None:
    debounce = Debounce(quiet=1.5, hold=2)
    for tenth in range(100):
        debounce.hint(100 + tenth / 10)
    assert debounce.due == 102


def test_clear_forgets_hints() -> None:
    debounce = Debounce(quiet=1, hold=2)
    debounce.hint(5)
    debounce.clear()
    assert debounce.due is None
    debounce.hint(50)
    assert debounce.due == 51


@given(
    quiet=st.floats(0, 10),
    hold=st.floats(0, 10),
    gaps=st.lists(st.floats(0, 5), min_size=1, max_size=20),
)
def test_due_is_within_quiet_and_hold(quiet: float, hold: float, gaps: list[float]) -> None:
    debounce, now, first = Debounce(quiet=quiet, hold=hold), 0.0, gaps[0]
    for gap in gaps:
        now += gap
        debounce.hint(now)
    due = debounce.due
    assert due is not None
    assert due <= first + max(hold, quiet) + 1e-9
    assert due <= now + quiet + 1e-9
    assert due >= min(now, first + max(hold, quiet)) - 1e-9
