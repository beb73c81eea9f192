"""A change beside which something was forgotten can be taken back; one that told it cannot."""

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
GONE = Forgotten(lambda text: CANARY in text)


def left(text: str) -> str:
    """Return a note as forgetting leaves it."""
    return "\n".join(line for line in lines_of(text) if CANARY not in line)


def undone(before: str, after: str, now: str) -> str:
    hunks = without_forgotten(hunks_between(before, after), GONE)
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
def test_what_stays_can_be_taken_back(before: str, after: str) -> None:
    assert undone(before, after, left(after)) == left(before)


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
def test_a_change_that_only_told_it_cannot_be_taken_back(before: str, after: str) -> None:
    """Nor one that put another text in its place: nothing would come back for that."""
    assert without_forgotten(hunks_between(before, after), GONE) is None


def test_words_that_run_over_lines_leave_no_part() -> None:
    over = Forgotten(lambda text: "yellow bird" in " ".join(text.split()))
    beside = without_forgotten(hunks_between("- yellow\n  bird\n", "- yellow\n  bird\n- b\n"), over)
    assert beside is not None
    assert "yellow" not in str(beside)
    assert revert_hunks("- b\n", beside) == ""
    assert without_forgotten(hunks_between("x\n", "x\n- yellow\n  bird\n"), over) is None


def test_a_line_that_stays_without_its_words_stays_so() -> None:
    cut = Forgotten(lambda text: CANARY in text, lambda line: line.replace("canary", "[forgotten]"))
    hunks = without_forgotten(hunks_between("x\n", "x\n- session: canary\n"), cut)
    assert hunks is not None
    assert revert_hunks("x\n- session: [forgotten]\n", hunks) == "x\n"


LINES = st.lists(st.sampled_from(["- a", "- b", "- c", "- d", "", "## Retain", "- the canary"]), max_size=8)


@given(LINES, LINES)
def test_no_part_of_it_is_kept_and_no_other_line_is_lost(before: list[str], after: list[str]) -> None:
    hunks: tuple[Hunk, ...] = hunks_between("\n".join(before), "\n".join(after))
    kept = without_forgotten(hunks, GONE)
    assert CANARY not in str(kept)
    said = [line for hunk in hunks for line in (*hunk.added, *hunk.removed) if line.startswith("- ")]
    if kept is not None:
        told = [line for hunk in kept for line in (*hunk.added, *hunk.removed) if line.startswith("- ")]
        assert told == [line for line in said if CANARY not in line]
