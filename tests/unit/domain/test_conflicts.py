"""Conflict markers of git, and merging of both versions of a note."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.changes.diffs import merge_versions
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.text.lines import encode_padded
from memoryd.domain.text.sanitizing import (
    Flag,
    KeepVersion,
    marked_conflicts,
    resolve_conflicts,
    text_flags,
    without_other_side,
)

MERGED = "# Day\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> laptop\nend\n"
DIFF3 = "# Day\n<<<<<<< HEAD\nours\n||||||| 1a2b3c4\nbase\n=======\ntheirs\n>>>>>>> laptop\nend\n"
LINES = st.lists(st.sampled_from(["<<<<<<< a", "=======", "||||||| b", ">>>>>>> c", "x", "- y", ""]), max_size=30)


@pytest.mark.parametrize("text", [MERGED, DIFF3, MERGED.replace("\n", "\r\n")])
def test_each_side_can_be_kept(text: str) -> None:
    kept = {keep: resolve_conflicts(text, keep).replace("\r", "") for keep in KeepVersion}
    assert kept[KeepVersion.ORIGINAL] == "# Day\nours\nend\n"
    assert kept[KeepVersion.COPY] == "# Day\ntheirs\nend\n"
    assert kept[KeepVersion.BOTH] == "# Day\ntheirs\nours\nend\n"


@pytest.mark.parametrize(
    "text", ["Title\n=======\ntext\n", "<<<<<<< HEAD\nours\n=======\ntheirs\n", "=======\n>>>>>>> x\n", " <<<<<<< a\n"]
)
def test_incomplete_markers_are_left_alone(text: str) -> None:
    assert list(marked_conflicts(text.encode())) == []
    assert resolve_conflicts(text, KeepVersion.COPY) == text


@given(LINES)
def test_blanking_one_side_keeps_lines_and_offsets(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    blank = without_other_side(data)
    assert len(blank) == len(data)
    assert [at for at, byte in enumerate(blank) if byte == 10] == [at for at, byte in enumerate(data) if byte == 10]
    assert len(list(marked_conflicts(data))) <= lines.count(">>>>>>> c")


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd")))
def test_merge_contains_every_line_of_both_versions(original: list[str], copy: list[str]) -> None:
    both = iter(merge_versions("\n".join(original), "\n".join(copy)).split("\n"))
    assert all(line in both for line in original or [""])
    both = iter(merge_versions("\n".join(original), "\n".join(copy)).split("\n"))
    assert all(line in both for line in copy or [""])
    assert merge_versions("a\nb", "a\nb") == "a\nb"


def test_merge_puts_line_of_original_last() -> None:
    original, copy = (f"## Retain\n\n- W: tea\n- W: The pier is number {number}.\n" for number in (9, 4))
    merged = f"## Retain\n\n- W: tea\n<<<<<<< a\n{original[20:]}=======\n{copy[20:]}>>>>>>> b\n"
    for both in (merge_versions(original, copy), resolve_conflicts(merged, KeepVersion.BOTH)):
        assert both == "## Retain\n\n- W: tea\n- W: The pier is number 4.\n- W: The pier is number 9.\n"


def test_other_side_of_unresolved_conflict_has_no_memories() -> None:
    text = "## Retain\n<<<<<<< HEAD\n- W @Ada: Lisbon\n=======\n- W @Ada: Turin\n>>>>>>> x\n- W @Ada: tea\n"
    lines = memory_sections(encode_padded(text), "memory/2026-11-02.md").lines  # type: ignore[arg-type]
    assert [(one.line.text, one.start_line) for one in lines] == [("Lisbon", 3), ("tea", 7)]
    assert text_flags("x\n<<<<<<< HEAD\ny") == text_flags("y\n>>>>>>> other\n") == (Flag.CONFLICT,)
    assert text_flags("a <<<<<<< b\n<<<<<<<<<< c") == ()
