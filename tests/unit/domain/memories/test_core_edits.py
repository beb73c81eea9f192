"""Edits of the core file change the intended lines only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.reflect.core import append_lines, insert_lines, replace_text

TEXT = "# Memory\n\n## People\n- Peter lives in Graz.\n\n## Places\n"
LINES = st.lists(st.sampled_from(["a", "b", "", "## C", "é"]), max_size=8).map("\n".join)


@pytest.mark.parametrize(
    ("before", "after"), [("", "- x\n"), ("a\n", "a\n- x\n"), ("a", "a\n- x"), ("a\n\n", "a\n\n- x\n")]
)
def test_lines_are_appended(before: str, after: str) -> None:
    assert append_lines(before, "- x\n") == after


@given(LINES, LINES)
def test_appending_keeps_existing_text(text: str, added: str) -> None:
    if added.strip():
        assert append_lines(text, added).startswith(text.removesuffix("\n"))


def test_unique_text_is_replaced() -> None:
    assert replace_text(TEXT, "Graz", "Wien") == TEXT.replace("Graz", "Wien")
    assert replace_text(TEXT, "- Peter lives in Graz.", "") == TEXT.replace("- Peter lives in Graz.\n", "")
    assert replace_text(TEXT, "- Peter lives in Graz.\r\n", "- x\r\n") == TEXT.replace("- Peter lives in Graz.", "- x")


@pytest.mark.parametrize(
    ("old", "message"), [("##", "2 times"), ("Vienna", "does not occur"), (" \n", "nothing"), ("", "nothing")]
)
def test_text_that_is_not_unique_is_not_replaced(old: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace_text(TEXT, old, "x")


def test_lines_are_inserted_below_heading() -> None:
    assert insert_lines(TEXT, "- Anna\n- Otto", after="## People") == TEXT.replace(
        "## People\n", "## People\n- Anna\n- Otto\n"
    )
    assert insert_lines(TEXT, "- x", after=" ## Places ") == TEXT + "- x\n"
    for after in ("## Nowhere", "", " "):
        with pytest.raises(ValueError, match="once"):
            insert_lines(TEXT, "- x", after=after)
    with pytest.raises(ValueError, match="nothing"):
        insert_lines(TEXT, "\n", after="## People")
