"""Reverting a change in a text that was edited since; uncertain places are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.changes.diffs import UncertainPlaceError, hunks_between, revert_hunks

LINES = st.lists(st.sampled_from(["a", "b", "c", "- x", "", "## Retain"]), max_size=12).map("\n".join)


@given(LINES, LINES)
def test_change_can_be_reverted(before: str, after: str) -> None:
    try:
        assert revert_hunks(after, hunks_between(before, after)) == before
    except UncertainPlaceError:
        # duplicate lines make the place ambiguous
        lines = after.split("\n")
        assert len(set(lines)) < len(lines)


@given(LINES, st.integers(0, 12), st.integers(0, 12))
def test_moved_unique_line_is_removed(text: str, at: int, other: int) -> None:
    lines = text.split("\n")
    place, moved = min(at, len(lines)), min(other, len(lines))
    hunks = hunks_between(text, "\n".join([*lines[:place], "- ours", *lines[place:]]))
    now = "\n".join([*lines[:moved], "- ours", *lines[moved:]])
    assert revert_hunks(now, hunks) == text


def test_edited_line_is_not_reverted() -> None:
    hunks = hunks_between("a\n", "a\n- ours\n")
    with pytest.raises(UncertainPlaceError):
        revert_hunks("a\n- ours, edited\n", hunks)


def test_equal_line_elsewhere_is_not_removed() -> None:
    hunks = hunks_between("top\n- x\nmiddle\nlow\nbottom\n", "top\n- x\nmiddle\nlow\n- x\nbottom\n")
    # a person removed our line; the remaining one is theirs
    with pytest.raises(UncertainPlaceError):
        revert_hunks("top\n- x\nmiddle\nlow\nbottom\n", hunks)


def test_removed_line_is_restored_between_its_neighbours() -> None:
    hunks = hunks_between("a\n- old\nb\nc\n", "a\nb\nc\n")
    assert revert_hunks("new top\na\nb\nc\nmore\n", hunks) == "new top\na\n- old\nb\nc\nmore\n"
    assert revert_hunks("a\nsomething else\nb\n", hunks) == "a\n- old\nsomething else\nb\n"


def test_removed_line_is_restored_beside_remaining_neighbour() -> None:
    hunks = hunks_between("# Day\n- one\n- old\n- two\n- three\n", "# Day\n- one\n- two\n- three\n")
    moved_below = "# Day\n- one\n# Later\n- two\n- three\n- new\n"
    assert revert_hunks(moved_below, hunks) == "# Day\n- one\n- old\n# Later\n- two\n- three\n- new\n"
    assert revert_hunks("- two\n- three\n- one\n", hunks) == "- old\n- two\n- three\n- one\n"
    with pytest.raises(UncertainPlaceError, match="what it took out at line 3 may belong in 2 places"):
        revert_hunks("- one\nx\n- one\n", hunks)
    with pytest.raises(UncertainPlaceError, match="the lines around what it took out at line 3 are others now"):
        revert_hunks("nothing of it\n", hunks)


def test_a_large_change_is_one_hunk() -> None:
    before, after = "\n".join(map(str, range(0, 4_000, 2))), "\n".join(map(str, range(1, 4_000, 2)))
    hunks = hunks_between(before, after)
    assert len(hunks) == 1
    assert revert_hunks(after, hunks) == before


def test_heading_with_new_lines_below_is_kept() -> None:
    first = hunks_between("# Day\n", "# Day\n\n## Retain\n- W: one\n")

    assert revert_hunks("# Day\n\n## Retain\n- W: one\n- W: two\n", first) == "# Day\n\n## Retain\n- W: two\n"
    assert revert_hunks("# Day\n\n## Retain\n- W: one\n\n## Later\n", first) == "# Day\n\n## Later\n"
    assert revert_hunks("# Day\n\n## Retain\n- W: one\n### Later\n", first) == "# Day\n\n## Retain\n### Later\n"


def test_heading_is_removed_if_only_reverted_lines_follow() -> None:
    assert revert_hunks("## Retain\n", hunks_between("\na", "## Retain\n")) == "\na"
