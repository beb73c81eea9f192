"""Undo of changes that contain forgotten text: the other lines can be reverted, the forgotten ones cannot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.changes.diffs import (
    Forgotten,
    Hunk,
    hunks_between,
    lines_of,
    revert_hunks,
    without_forgotten,
)

CANARY = "canary"
FORGOTTEN = Forgotten(lambda text: CANARY in text)


def forget(text: str) -> str:
    """Return a note after forgetting."""
    return "\n".join(line for line in lines_of(text) if CANARY not in line)


def undone(before: str, after: str, now: str) -> str:
    hunks = without_forgotten(hunks_between(before, after), FORGOTTEN)
    assert hunks is not None
    assert CANARY not in str(hunks)
    return revert_hunks(now, hunks)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# D\n- canary\n", "# D\n- canary\n- b\n"),
        ("# D\n- canary\n- b\n", "# D\n- canary\n- b(pin)\n"),
        ("# D\n- a\n- canary\n- b\n- c\n", "# D\n- a\n- canary\n- c\n"),
        ("# D\n", "# D\n- a\n- canary\n- b\n"),
        ("# D\n- a\n- canary\n- b\n", "# D\n- a\n- canary(pin)\n- b(pin)\n"),
        ("# D\n- a\n- canary\n- b\n", "# D\n- a\n"),
    ],
)
def test_remaining_lines_can_be_reverted(before: str, after: str) -> None:
    assert undone(before, after, forget(after)) == forget(before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# D\n", "# D\n- canary\n"),
        ("", "## Retain\n- canary\n"),
        ("- canary\n", "- canary(pin)\n"),
        ("- a\n- canary\n", "- a\n"),
        ("- canary\n", "- a bird\n"),
    ],
)
def test_change_with_only_forgotten_text_cannot_be_reverted(before: str, after: str) -> None:
    """The same if another text replaced it: there would be nothing to restore."""
    assert without_forgotten(hunks_between(before, after), FORGOTTEN) is None


def test_forgotten_words_across_lines_are_removed_completely() -> None:
    forgotten = Forgotten(lambda text: "yellow bird" in " ".join(text.split()))
    hunks = without_forgotten(hunks_between("- yellow\n  bird\n", "- yellow\n  bird\n- b\n"), forgotten)
    assert hunks is not None
    assert "yellow" not in str(hunks)
    assert revert_hunks("- b\n", hunks) == ""
    assert without_forgotten(hunks_between("x\n", "x\n- yellow\n  bird\n"), forgotten) is None


def test_line_with_masked_words_can_be_reverted() -> None:
    cut = Forgotten(lambda text: CANARY in text, lambda line: line.replace("canary", "[forgotten]"))
    hunks = without_forgotten(hunks_between("x\n", "x\n- session: canary\n"), cut)
    assert hunks is not None
    assert revert_hunks("x\n- session: [forgotten]\n", hunks) == "x\n"


LINES = st.lists(st.sampled_from(["- a", "- b", "- c", "- d", "", "## Retain", "- the canary"]), max_size=8)


@given(LINES, LINES)
def test_hunks_lose_exactly_the_forgotten_lines(before: list[str], after: list[str]) -> None:
    hunks: tuple[Hunk, ...] = hunks_between("\n".join(before), "\n".join(after))
    kept = without_forgotten(hunks, FORGOTTEN)
    assert CANARY not in str(kept)
    changed = [line for hunk in hunks for line in (*hunk.added, *hunk.removed) if line.startswith("- ")]
    if kept is not None:
        remaining = [line for hunk in kept for line in (*hunk.added, *hunk.removed) if line.startswith("- ")]
        assert remaining == [line for line in changed if CANARY not in line]
