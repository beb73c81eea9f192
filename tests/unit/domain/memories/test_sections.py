"""Places of memories and generated text in a document."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.generated import BEGIN, END
from memoryd.domain.memories.kinds import Kind, scope_admits
from memoryd.domain.memories.line import RetainedLine, render
from memoryd.domain.memories.sections import MemorySections, aliases_of, holds_memories, is_daily_log, memory_sections
from memoryd.domain.text.lines import encode_padded

LOG = RelativePath("memory/2025-11-27.md")
WORLD = RelativePath("bank/world.md")


def sections(text: str, path: RelativePath = LOG) -> MemorySections:
    return memory_sections(encode_padded(text), path)


def texts(text: str, path: RelativePath = LOG) -> list[str]:
    return [one.line.text for one in sections(text, path).lines]


def reasons(text: str, path: RelativePath = LOG) -> list[tuple[int, str]]:
    return [(one.line, one.reason) for one in sections(text, path).misses]


def test_only_bullets_below_retain_heading_are_memories() -> None:
    text = """---
title: Day
---
- W: front
# Retain
- W: level one
## Morning
- W: morning
## Retain
- W: one
- prose
### Evening
- B: two
## Next
- W: no more
### retain:
- O: three
#### deeper
- O: four
### other
- O: five
"""
    assert texts(text) == ["one", "two", "three", "four"]


@pytest.mark.parametrize(
    "heading", ["## Retain", "##  RETAIN  ##", "## **Retain**:", "###### retain", "Retain\n------", "## Retain\r"]
)
def test_retain_heading_is_recognised(heading: str) -> None:
    assert texts(f"{heading}\n- W: x\n") == ["x"]


@pytest.mark.parametrize(
    "heading", ["# Retain", "## Retained", "## Retain this", "Retain", "    ## Retain", "`## Retain`"]
)
def test_other_heading_is_not_recognised(heading: str) -> None:
    assert texts(f"{heading}\n\n- W: x\n") == []


def test_memories_are_complete_lines() -> None:
    text = "\ufeff## Retain\r\n\r\n- W @Peter: one\r\n  more\r\n\r\n  apart\r\n* b：二\r\n- W: last"
    found = sections(text).lines
    data = encode_padded(text)
    assert [(one.start_line, one.end_line) for one in found] == [(3, 4), (7, 7), (8, 8)]
    assert [data[one.start : one.end].decode() for one in found] == [
        "- W @Peter: one\r\n  more\r\n",
        "* b：二\r\n",
        "- W: last",
    ]
    assert [one.line.text for one in found] == ["one\nmore", "二", "last"]


def test_indented_lines_belong_to_memory_above() -> None:
    text = "## Retain\n- W: steps\n  - first\n    - second\n - W: beside\n\n    - W: far\n"
    assert texts(text)[:2] == ["steps\n- first\n- second", "beside"]


def test_head_within_a_memory_is_reported() -> None:
    text = "## Retain\n- W @Peter: in Marrakech\n  - B @Peter: met Andy\n  - Note: of any list\n"
    assert len(texts(text)) == 1
    assert [line for line, _ in reasons(text)] == [3]


def test_bullet_below_prose_is_a_memory() -> None:
    assert texts("## Retain\n- in the morning\n  - W: one\n  - B: two\n- W: three\n") == ["one", "two", "three"]


def test_code_has_no_memories() -> None:
    assert texts("## Retain\n```\n- W: in\n```\n- W: out\n~~~\n- W: open to the end\n") == ["out"]


def test_plain_bullets_get_kind_of_page() -> None:
    text = "# World\n- plain: words\n- W @Peter: told\n\nprose\n---\n* * *\n1. listed\n"
    found = sections(text, WORLD).lines
    assert [(one.line.kind, one.line.text) for one in found] == [(Kind.WORLD, "plain: words"), (Kind.WORLD, "told")]
    kinds = {
        path: sections("- x\n", RelativePath(path)).lines[0].line.kind
        for path in ("bank/experience.md", "bank/opinions.md")
    }
    assert kinds == {"bank/experience.md": Kind.EXPERIENCE, "bank/opinions.md": Kind.OPINION}


def test_paths_with_memories() -> None:
    logs = ["memory/2025-11-27.md", "memory/2025/11/2025-11-27-trip.md", "memory/2025-11-27.MD"]
    assert all(is_daily_log(path) and holds_memories(path) for path in logs)
    others = [
        "2025-11-27.md",
        "memory/trip.md",
        "bank/entities/peter.md",
        "MEMORY.md",
        "bank/other.md",
        "memory/2025-13-27.md",
    ]
    assert not any(holds_memories(path) for path in others)
    assert sections("## Retain\n- W: x\n", RelativePath("memory/trip.md")) == MemorySections()


def test_generated_text_has_no_memories() -> None:
    text = f"- mine\n{BEGIN}\n- theirs\n```\n- theirs too\n{END}\n- mine again\n"
    for path in (WORLD, RelativePath("bank/entities/peter.md")):
        found = sections(text, path)
        assert [text[start:end] for start, end in found.generated] == [text[7 : text.index("- mine again")]]
    assert texts(text, WORLD) == ["mine", "mine again"]
    assert reasons(text, WORLD) == []
    assert texts(f"## Retain\n{text}".replace("\n- ", "\n- W: ")) == ["mine", "mine again"]


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{BEGIN}\n```\n- mine\n",
        f"    {BEGIN}\n\n- mine\n",
        f"says {BEGIN}\n\n- mine\n",
        f"---\na: |\n {BEGIN}\n---\n- mine\n",
    ],
)
def test_marker_in_code_or_prose_is_ignored(text: str) -> None:
    assert texts(text, WORLD) == ["mine"]
    assert sections(text, WORLD).generated == ()


def test_unmatched_marker_is_reported_and_ambiguous_lines_ignored() -> None:
    unclosed = f"- mine\n{BEGIN}\n- whose?\n# Heading\n- whose too?\n"
    assert texts(unclosed, WORLD) == ["mine"]
    assert sections(unclosed, WORLD).generated == ()
    assert [(line, "is not closed" in reason) for line, reason in reasons(unclosed, WORLD)] == [(2, True)]
    again = f"{unclosed}{BEGIN}\n- theirs\n{END}\n- mine again\n"
    assert texts(again, WORLD) == ["mine", "mine again"]
    assert len(sections(again, WORLD).generated) == 1
    stray = f"- whose?\n{END}\n- mine\n"
    assert texts(stray, WORLD) == ["mine"]
    assert [(line, "closes nothing" in reason) for line, reason in reasons(stray, WORLD)] == [(2, True)]


def test_malformed_lines_have_line_numbers() -> None:
    text = "## Retain\n- 0(c=.9): x\nW @Peter: no mark\n-O: no blank\n- W @Peter no colon\n- prose\n"
    found = reasons(text)
    assert [line for line, _ in found] == [2, 3, 4, 5]
    assert found[0][1] == "did you mean O?"
    assert "bullet" in found[1][1]
    assert "bullet" in found[2][1]
    assert reasons("- 0(c=.9): x\n") == []


def test_aliases_are_distinct_valid_names() -> None:
    assert aliases_of({"aliases": ["Pete", " The  Boss ", "Pete", 7, None, True, ["x"], "", "y" * 300]}) == (
        "Pete",
        "The Boss",
        "7",
    )
    assert aliases_of({"aliases": "Pete"}) == ("Pete",)
    assert aliases_of({}) == aliases_of({"aliases": {"a": 1}}) == ()
    assert len(aliases_of({"aliases": [str(at) for at in range(500)]})) == 64


@pytest.mark.parametrize(
    ("scope", "agent", "channel", "expected"),
    [
        ("", "main", None, True),
        ("global", "other", "cron", True),
        ("agent:main", "main", None, True),
        ("agent:main", "main", "cron", True),
        ("agent:main", "other", None, False),
        ("agent:main:cron", "main", "cron", True),
        ("agent:main:cron", "main", None, False),
        ("agent:main:cron", "main", "system", False),
        ("agent:main:", "main", "", False),
        ("agent:", "", None, False),
        ("agent", "agent", None, False),
        ("Global", "main", None, False),
        ("nonsense", "main", None, False),
    ],
)
def test_scope_admits_its_agent_and_channel(scope: str, agent: str, channel: str | None, expected: bool) -> None:
    assert scope_admits(scope, agent, channel) is expected


LINES = st.sampled_from(
    [
        "## Retain",
        "# Top",
        "- W: x",
        "  more",
        "```",
        "~~~",
        BEGIN,
        END,
        "",
        "- prose",
        "  - B: y",
        "---",
        "text",
        "\t- O: z",
        "\x0c",
        "====",
    ]
)


@given(st.lists(LINES, max_size=14), st.sampled_from(["\n", "\r\n"]), st.sampled_from([LOG, WORLD]))
def test_places_are_disjoint_and_outside_generated_text(lines: list[str], end: str, path: RelativePath) -> None:
    text = end.join(lines)
    data = encode_padded(text)
    found = sections(text, path)
    places = sorted([*((one.start, one.end) for one in found.lines), *found.generated])
    assert all(start < stop for start, stop in places)
    assert all(before[1] <= behind[0] for before, behind in pairwise(places))
    assert all(
        stop <= len(text.encode()) and (start == 0 or data[start - 1 : start] == b"\n") for start, stop in places
    )
    for one in found.lines:
        assert data.count(b"\n", 0, one.start) == one.start_line - 1


@given(st.lists(st.text(min_size=1).filter(lambda text: bool(text.strip())), min_size=1, max_size=5))
def test_any_memory_text_leaves_next_one_readable(statements: list[str]) -> None:
    lines = [RetainedLine(Kind.WORLD, text) for text in statements]
    text = "## Retain\n" + "\n".join(map(render, lines)) + "\n"
    assert [one.line for one in sections(text).lines] == lines


@pytest.mark.parametrize(
    "line", ["- W: x", "- x", "```", BEGIN, END, "## Retain", "#", "- ", "  - W: x", "W: x", "~", "`" * 9]
)
def test_hostile_text_is_parsed_in_linear_time(line: str) -> None:
    for text in (f"## Retain\n{f'{line}' + chr(10)}" * 5_000, f"## Retain\n{line * 20_000}"):
        for path in (LOG, WORLD):
            assert len(sections(text, path).lines) <= 10_000
