"""Only the owner may pin memories or make them important enough for the core."""

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
def test_highest_importance_is_one_hundredth_below_the_core(threshold: float, most: float) -> None:
    assert CoreRights(threshold).most_importance == most


@pytest.mark.parametrize(("stated", "written"), [(1.0, 0.94), (0.95, 0.94), (0.94, 0.94), (0.3, 0.3)])
def test_importance_is_limited_unless_the_owner_states_it(stated: float, written: float) -> None:
    limited = RIGHTS.limit_line(line(f"W(i={stated}): tea"), is_owner=False)
    assert limited.importance == written
    assert RIGHTS.limit_line(line(f"W(i={stated}): tea"), is_owner=True).importance == stated


def test_default_importance_of_a_kind_is_limited_too() -> None:
    """A low threshold must not let the kind alone make a memory core."""
    assert CoreRights(0.5).limit_line(line("fact: tea"), is_owner=False).importance == 0.49
    assert RIGHTS.limit_line(line("fact: tea"), is_owner=False) == line("fact: tea")


def test_only_the_owner_pins_unpins_raises_importance_and_edits() -> None:
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
        with pytest.raises(Denied) as denied:
            refused()
        assert "owner" in str(denied.value.hint)
