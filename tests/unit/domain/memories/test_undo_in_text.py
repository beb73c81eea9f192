"""Undoing a change removes no memory that the change did not write."""

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.diffs import UncertainPlaceError, hunks_between
from memoryd.domain.memories.changes.note_text import undo_in_text
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.text.lines import encode_padded

LOG = RelativePath("memory/2025-11-27.md")
PARTS = ["## Retain", "## Plans", "# Day", "- W: tea", "- O @Peter: figs", "  and more", "```", "", "prose"]
TEXTS = st.lists(st.sampled_from(PARTS), max_size=8).map("\n".join)


def stated_texts(text: str) -> Counter[str]:
    return Counter(one.line.text for one in memory_sections(encode_padded(text), LOG).lines)


@example("  and more\n## Retain", "## Retain\n## Retain\n## Retain\n  and more", 3, "- B: mine")
@given(TEXTS, TEXTS, st.integers(0, 8), st.sampled_from(["- B: mine", "- W @Ada: yours\n  with a tail"]))
def test_later_memory_remains_after_undo(before: str, after: str, at: int, added: str) -> None:
    lines = after.split("\n")
    now = "\n".join([*lines[:at], added, *lines[at:]])
    mine = added.partition(": ")[2].split("\n")[0]
    is_stated = any(mine in text for text in stated_texts(now))
    try:
        undone = undo_in_text(now, LOG, hunks_between(before, after))
    except UncertainPlaceError:
        return
    assert not is_stated or any(mine in text for text in stated_texts(undone))


def test_undo_that_would_lose_a_memory_is_refused() -> None:
    hunks = hunks_between("# Day\n```\n## Retain\n", "# Day\n## Retain\n")

    with pytest.raises(UncertainPlaceError, match="1 memory that came"):
        undo_in_text("# Day\n## Retain\n- W: tea\n", LOG, hunks)
    assert undo_in_text("# Day\n## Retain\n", LOG, hunks) == "# Day\n```\n## Retain\n"


def test_lines_of_the_change_are_removed() -> None:
    hunks = hunks_between("## Retain\n", "## Retain\n- W: tea\n  with milk\n")

    assert undo_in_text("## Retain\n- W: tea\n  with milk\n- W: figs\n", LOG, hunks) == "## Retain\n- W: figs\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## Retain\n- W @NAS: foo\n", "## Retain\n- W @NAS: foo\n    <!-- bar -->\n"),
        ("## Retain\n- W @NAS: foo\n    abc\n", "## Retain\n- W @NAS: foo\n    <!-- bar -->\n"),
        ("## Retain\n- W @NAS:\n", "## Retain\n- W @NAS:\n    foo\n"),
        ("## Retain\n- W @NAS: foo\n", "## Retain\n- W @NAS: foo\n  with a tail\n"),
    ],
)
def test_continuation_lines_of_other_memory_are_reverted(before: str, after: str) -> None:
    assert undo_in_text(after, LOG, hunks_between(before, after)) == before
