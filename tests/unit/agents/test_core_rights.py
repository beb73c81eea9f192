"""What only the owner says of the core, by one rule for whatever states, pins and weighs."""

import pytest

from memoryd.agents.retained.retaining import CoreRights
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.tiers import Promotion
from memoryd.errors import Denied

RIGHTS = CoreRights(Promotion().importance_only)


def line(text: str) -> RetainedLine:
    found = parse_line(text)
    assert isinstance(found, RetainedLine)
    return found


@pytest.mark.parametrize(
    ("threshold", "most"),
    [(0.95, 0.94), (0.9, 0.89), (0.955, 0.95), (1.0, 0.99), (0.01, 0.0), (0.0, 0.0), (0.29, 0.28)],
)
def test_most_is_the_last_hundredth_below_the_core(threshold: float, most: float) -> None:
    assert CoreRights(threshold).most_importance == most


@pytest.mark.parametrize(("said", "written"), [(1.0, 0.94), (0.95, 0.94), (0.94, 0.94), (0.3, 0.3)])
def test_importance_is_bounded_for_who_is_not_the_owner(said: float, written: float) -> None:
    stated = RIGHTS.limit_line(line(f"W(i={said}): tea"), is_owner=False)
    assert stated.importance == written
    assert RIGHTS.limit_line(line(f"W(i={said}): tea"), is_owner=True).importance == said


def test_usual_importance_of_a_kind_is_bounded_too() -> None:
    """Where the threshold is so low that a kind alone would make a memory core."""
    assert CoreRights(0.5).limit_line(line("fact: tea"), is_owner=False).importance == 0.49
    assert RIGHTS.limit_line(line("fact: tea"), is_owner=False) == line("fact: tea")


def test_only_the_owner_pins_unpins_weighs_and_edits() -> None:
    pinned = line("W(pin): tea")
    assert RIGHTS.limit_line(pinned, is_owner=True) == pinned
    RIGHTS.check_pin(is_owner=True)
    RIGHTS.check_unpin(pinned, is_owner=True)
    RIGHTS.check_importance(1.0, is_owner=True)
    RIGHTS.check_importance(0.94, is_owner=False)
    RIGHTS.check_unpin(line("W: tea"), is_owner=False)
    for refused in (
        lambda: RIGHTS.limit_line(pinned, is_owner=False),
        lambda: RIGHTS.check_pin(is_owner=False),
        lambda: RIGHTS.check_unpin(pinned, is_owner=False),
        lambda: RIGHTS.check_importance(0.95, is_owner=False),
        lambda: RIGHTS.check_file(is_owner=False),
    ):
        with pytest.raises(Denied) as told:
            refused()
        assert "owner" in str(told.value.hint)
