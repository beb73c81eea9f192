"""Adding memories to a log: other lines are kept, and the memory parses again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.edits import NoPlaceError, add_memories
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.text.lines import encode_padded

LOG = RelativePath("memory/2026-11-18.md")
TEA = RetainedLine(Kind.WORLD, "drinks tea", ("Peter",))
BULLET = "- W @Peter: drinks tea"

LINES = st.lists(
    st.sampled_from(
        [
            "# Wednesday",
            "## Retain",
            "### Retain",
            "## Other",
            "- W @Anna: is here",
            "    more of it",
            "- a bullet",
            "some prose",
            "",
            "```",
            "~~~~",
            "<!-- memoryd:begin -->",
            "<!-- memoryd:end -->",
            "---",
            "> quoted",
            "| a | b |",
            "\tindented",
            "- 0(c=.9): nearly",
            "1. one",
            "<!-- a comment",
        ]
    ),
    max_size=14,
)
TEXTS = st.lists(
    st.sampled_from(
        [
            "tea",
            "\n## Retain\n",
            "\n- W: another",
            "\n<!-- memoryd:begin -->",
            "\n```",
            "---",
            "\n\n",
            "\n# x",
            " @Anna: ",
            "(c=1)",
            "\u2028- W: x",
            "\t",
            "`",
            "<!--",
            "\n    - O: y",
        ]
    )
    | st.text(max_size=6),
    min_size=1,
    max_size=6,
).map("".join)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f"## Retain\n{BULLET}\n"),
        ("# Wednesday\n", f"# Wednesday\n\n## Retain\n{BULLET}\n"),
        ("# Wednesday", f"# Wednesday\n\n## Retain\n{BULLET}"),
        ("## Retain\n", f"## Retain\n{BULLET}\n"),
        ("## Retain\n- W: one\n\n## Other\nx\n", f"## Retain\n- W: one\n{BULLET}\n\n## Other\nx\n"),
        ("## Retain\n- W: one\n## Other\n", f"## Retain\n- W: one\n{BULLET}\n## Other\n"),
        ("## Retain\n- W: one\n\n```\nopen\n", f"## Retain\n- W: one\n{BULLET}\n\n```\nopen\n"),
        ("# Log\n```\nopen\n", f"## Retain\n{BULLET}\n\n# Log\n```\nopen\n"),
        ("---\na: b\n---\n```\nopen\n", f"---\na: b\n---\n\n## Retain\n{BULLET}\n\n```\nopen\n"),
    ],
)
def test_memory_is_added_below_heading(before: str, after: str) -> None:
    assert add_memories(before, LOG, [TEA]).text == after


def test_stated_memory_is_not_added_again() -> None:
    text = f"## Retain\n{BULLET}\n"
    found = add_memories(text, LOG, [TEA, TEA])
    assert found.text == text
    assert not found.added
    assert [one.start_line for one in found.placed] == [2, 2]


@given(LINES.map("\n".join), TEXTS, st.sampled_from([(), ("Anna",), ("Two Words",)]))
def test_other_lines_are_kept_and_memory_parses(before: str, text: str, entities: tuple[str, ...]) -> None:
    try:
        line = RetainedLine(Kind.WORLD, text, entities)
    except ValueError:
        return
    if parse_line(f"- W: {line.text}") is None:
        return
    try:
        found = add_memories(before, LOG, [line])
    except NoPlaceError:
        assert any(sign in before for sign in ("```", "~~~", "memoryd:", "---", "#"))
        return
    known = [one.line for one in memory_sections(encode_padded(before), LOG).lines]
    now = [one.line for one in memory_sections(encode_padded(found.text), LOG).lines]
    fresh = [] if line.id in {one.id for one in known} else [line]
    assert sorted(map(str, now)) == sorted(map(str, [*known, *fresh]))
    assert found.placed[0].line.id == line.id
    kept = found.text.split("\n")
    for one in before.split("\n"):
        assert one in kept
        kept.remove(one)
