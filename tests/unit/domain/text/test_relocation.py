"""The current line of a chunk in a changed document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.entries import PresentText
from memoryd.domain.text.lines import encode_padded
from tests.chunks import chunk

OLD = "# Trees\n\nThe alder stands by the brook.\n\n## Birds\n\nThe wren sings at dawn.\nSo does the robin.\n"
BIRDS = "## Birds\n\nThe wren sings at dawn.\nSo does the robin.\n"


def line_now(text: str, body: str = BIRDS, heading: str = "Trees > Birds", line: int = 5) -> int | None:
    return PresentText(encode_padded(text)).line_of(body, heading, line)


def test_unmoved_text_is_at_its_line() -> None:
    assert line_now(OLD) == 5
    assert line_now(OLD + "\nA line below.\n") == 5
    assert line_now(OLD.replace("alder", "birch")) == 5


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_above_move_text(end: str) -> None:
    body, text = BIRDS.replace("\n", end), OLD.replace("\n", end)
    assert line_now(f"one{end}two{end}{end}{text}", body) == 8
    assert line_now(text.replace(f"The alder stands by the brook.{end}{end}", ""), body) == 3


@pytest.mark.parametrize(
    "changed",
    [
        OLD.replace("wren", "lark"),
        OLD.replace("So does", "\nSo does"),
        OLD.replace("The wren", "Never say that the wren"),
        OLD.replace("So does the robin.\n", "So does the robin. No, it does not.\n"),
        OLD.replace("\n", "\r\n"),
        OLD.replace("## Birds", "    ## Birds"),
        "",
        "\n\n",
    ],
)
def test_changed_text_is_not_found(changed: str) -> None:
    assert line_now(changed) is None


def test_only_complete_lines_match() -> None:
    assert line_now("no robin\n", "robin\n", "", 1) is None
    assert line_now("robins\n", "robin", "", 1) is None
    assert line_now("robin\r\nwren", "robin", "", 1) == 1
    assert line_now("wren\nrobin", "robin", "", 1) == 2


def test_text_under_other_heading_does_not_match() -> None:
    body = "It sings at dawn.\n"
    assert line_now(f"# Wren\n\n{body}", body, "Wren", 3) == 3
    assert line_now(f"# Owl\n\n{body}", body, "Wren", 3) is None
    assert line_now(f"# Owl\n\n{body}\n# Wren\n\n{body}", body, "Wren", 3) == 7


def test_nearest_of_several_places_is_found() -> None:
    text = "same\nother\nsame\nother\nsame\n"
    assert [line_now(text, "same\n", "", line) for line in (1, 2, 3, 4, 5, 99)] == [1, 1, 3, 3, 5, 5]


def test_overlap_from_previous_section_is_found() -> None:
    # a chunk has the headings of its own part, but its overlap may belong to the previous section
    text = "# One\n\nends here\n# Two\n\nbegins here\n"
    assert line_now(text, "ends here\n# Two\n\nbegins here\n", "Two", 3) == 3


def test_front_matter_belongs_to_the_heading_after_it() -> None:
    text = "---\ntitle: x\n---\n# Wren\n\nsings\n"
    assert line_now(text, text, "Wren", 1) == 1
    assert line_now(text.replace("# Wren", "# Owl"), "---\ntitle: x\n---\n", "Wren", 1) is None


def test_nul_bytes_and_lone_surrogates_are_found() -> None:
    assert line_now("first\n\0wren\0\n\udc80\n", "\0wren\0\n\udc80\n", "", 1) == 2


def test_20_000_lines_are_searched() -> None:
    lines = [f"line {number}\n" for number in range(20_000)]
    body = "".join(lines[15_000:15_010])
    assert line_now("".join(["new\n", *lines]), body, "", 15_001) == 15_002
    assert line_now("same\n" * 20_000, "same\n", "Nowhere", 7) is None


_LINES = st.sampled_from(
    [
        "",
        " ",
        "# A",
        "###### b",
        "```",
        "- item",
        "---",
        "===",
        "memory: true",
        "a\r",
        "word " * 60,
        "\ud83d",
        "漢字。" * 9,
    ]
)


@given(st.lists(_LINES | st.text(max_size=30), max_size=40).map("\n".join))
def test_chunk_of_complete_lines_is_found_at_its_line(text: str) -> None:
    present = PresentText(encode_padded(text))
    for part in chunk(text, tokens=40, overlap=10):
        body = text[part.start : part.end]
        begins = part.start == 0 or text[part.start - 1] == "\n"
        ends = body.endswith("\n") or text[part.end : part.end + 1] in ("", "\n")
        if begins and ends:
            assert present.line_of(body, part.heading, part.start_line) == part.start_line
