"""Edits of the lines of a memory: only the attributes after its kind change."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.edits import AttributeChange, NoPlaceError, lines_of_memory, with_memory
from memoryd.domain.memories.sections import PlacedLine, memory_sections
from memoryd.domain.text.lines import encode_padded

LOG = RelativePath("memory/2026-11-18.md")
WORLD = RelativePath("bank/world.md")
PIN, UNPIN, WEIGHED = AttributeChange(is_pinned=True), AttributeChange(is_pinned=False), AttributeChange(importance=0.8)
CHANGES = (PIN, UNPIN, WEIGHED, AttributeChange(is_pinned=True, importance=0))

LINES = st.lists(
    st.sampled_from(
        [
            "# Wednesday",
            "## Retain",
            "## Other",
            "- W @Anna: is here",
            "- W(pin) @Anna: is here",
            "*  O(c=0.9 ,  i=.2, pin) @[A B]： 更多",
            "-\tfact（i=0.2，pin）: 住在上海。",
            "  - B(at=2025-11-27,tags=a b): indented",
            "    more of it",
            "- a bullet without a head",
            "- @Peter: names no kind",
            "- (c=0.4): brackets alone",
            "- W(scope=agent:main, pin): of one",
            "- Note: of a list",
            "- W(piin): nearly",
            "some prose",
            "",
            "```",
            "<!-- memoryd:begin -->",
            "<!-- memoryd:end -->",
            "\tindented",
            "- 0(c=.9): nearly",
        ]
    ),
    max_size=16,
)


def lines_in(text: str, path: RelativePath = LOG) -> Sequence[PlacedLine]:
    return memory_sections(encode_padded(text), path).lines


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ("- W @Peter: x", PIN, "- W(pin) @Peter: x"),
        ("-  W ( i=0.2 ) @Peter : x  ", PIN, "-  W (i=0.2, pin) @Peter : x  "),
        ("* opinion（c=0.9，pin）：喜欢茶", UNPIN, "* opinion（c=0.9）：喜欢茶"),
        ("+ W(pin): x", UNPIN, "+ W: x"),
        ("- W(PIN, at=2025-11-27): x", UNPIN, "- W(at=2025-11-27): x"),
        ("- W(i=.5, pin): x", WEIGHED, "- W(i=0.8, pin): x"),
        ("- W(pin): x", WEIGHED, "- W(pin, i=0.8): x"),
        ("- W(at=2025-11, I = 0.3 ,tags=a b): x", WEIGHED, "- W(at=2025-11, i=0.8,tags=a b): x"),
        ("- W: x\n    and more\n    lines", PIN, "- W(pin): x\n    and more\n    lines"),
        ("- W: x", UNPIN, "- W: x"),
    ],
)
def test_only_attributes_are_changed(before: str, change: AttributeChange, after: str) -> None:
    text = f"# Day\n\n## Retain\n{before}\n\n## Other\n- W: x"
    [line] = lines_in(text)
    assert with_memory(text, LOG, line.line.id, change.of) == text.replace(before, after, 1)


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ("- I like tea: green", PIN, "- W(pin): I like tea: green"),
        ("- @Peter: is here", PIN, "- W(pin) @Peter: is here"),
        ("- (c=0.4): foo", PIN, "- (c=0.4, pin): foo"),
        ("- (pin): foo", UNPIN, "- W: foo"),
        ("- (pin) @Peter: foo", UNPIN, "- W @Peter: foo"),
        ("- 我住在上海。\n  更多", WEIGHED, "- W(i=0.8): 我住在上海。\n  更多"),
    ],
)
def test_bullet_of_page_gets_a_head(before: str, change: AttributeChange, after: str) -> None:
    text = f"# World\n\n{before}\n- another"
    line = lines_in(text, WORLD)[0]
    assert with_memory(text, WORLD, line.line.id, change.of) == text.replace(before, after, 1)


@given(lines=LINES, path=st.sampled_from([LOG, WORLD]), change=st.sampled_from(CHANGES), at=st.integers(0, 20))
def test_edit_keeps_all_other_lines(lines: list[str], path: RelativePath, change: AttributeChange, at: int) -> None:
    """All lines parse as before except the edited one, and its text is identical."""
    text = "\n".join(lines)
    stated = lines_in(text, path)
    if not stated:
        assert with_memory(text, path, _UNKNOWN, change.of) is None
        return
    target = stated[at % len(stated)].line.id
    try:
        edited = with_memory(text, path, target, change.of)
    except NoPlaceError:
        # an edit that would parse differently is refused
        return
    assert edited is not None
    after = lines_in(edited, path)
    assert [one.line for one in after] == [change.of(one.line) if one.line.id == target else one.line for one in stated]
    heads = {one.start_line - 1 for one in stated if one.line.id == target}
    rows = zip(text.split("\n"), edited.split("\n"), strict=True)
    assert all(old == new for number, (old, new) in enumerate(rows) if number not in heads)
    assert with_memory(edited, path, target, change.of) == edited, "the edit is idempotent"


@given(lines=LINES, path=st.sampled_from([LOG, WORLD]), at=st.integers(0, 20))
def test_delete_removes_exactly_the_lines_of_a_memory(lines: list[str], path: RelativePath, at: int) -> None:
    text = "\n".join(lines)
    stated = lines_in(text, path)
    if not stated:
        assert with_memory(text, path, _UNKNOWN, lambda _: None) is None
        return
    target = stated[at % len(stated)].line.id
    try:
        left = with_memory(text, path, target, lambda _: None)
    except NoPlaceError:
        return
    assert left is not None
    assert not lines_of_memory(left, path, target)
    assert [one.line for one in lines_in(left, path)] == [one.line for one in stated if one.line.id != target]
    gone = sum(one.end_line - one.start_line + 1 for one in stated if one.line.id == target)
    assert len(text.split("\n")) - len(left.split("\n")) in (gone, gone - 1)


def test_every_line_of_a_memory_is_edited() -> None:
    text = "## Retain\n- W: x\n- W(c=1): y\n- O(i=0.1): x"
    target = lines_in(text)[0].line.id
    assert with_memory(text, LOG, target, PIN.of) == "## Retain\n- W(pin): x\n- W(c=1): y\n- O(i=0.1, pin): x"


_UNKNOWN = lines_in("## Retain\n- W: nobody says this")[0].line.id
