import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.text.lines import encode_padded, tabulate
from memoryd.domain.text.markdown import FRONT_MATTER_CHARS, PATH_CHARS, FrontMatter, Headings, front_matter
from memoryd.domain.text.structure import Rank, analyse


def ranks(text: str) -> dict[str, Rank | int]:
    """Return the rank of each non-blank line by its text."""
    structure = analyse(tabulate(encode_padded(text)))
    lines = text.split("\n")
    return {
        lines[number].strip(): int(rank)
        for number, rank in zip(structure.lines.numbers.tolist(), structure.ranks.tolist(), strict=True)
    }


def path(text: str, place: str) -> str:
    return Headings(analyse(tabulate(encode_padded(text)))).path(len(text[: text.index(place)].encode()))


def test_front_matter_has_values_and_end() -> None:
    text = "---\ntitle: Trip\nmemory: false\nday: 2024-05-01\n---\nbody"
    found = front_matter(text)
    assert found.values == {"title": "Trip", "memory": False, "day": datetime.date(2024, 5, 1)}
    assert text[found.end :] == "body"


@pytest.mark.parametrize(
    "text",
    ["", "body", "--- x\na: 1\n---\n", "---\n\na thematic break\n---\n", "---\na: 1\n", "text\n---\na: 1\n---\n"],
)
def test_text_without_front_matter_has_none(text: str) -> None:
    assert front_matter(text) == FrontMatter({}, 0)


def test_front_matter_survives_byte_order_mark_and_crlf() -> None:
    text = "\ufeff---\r\na: b\r\n---\r\nbody"
    assert front_matter(text) == FrontMatter({"a": "b"}, text.index("body"))


def test_impossible_date_in_front_matter_is_text() -> None:
    assert front_matter("---\na: 2024-99-99\nb: 1\n---\n").values == {"a": "2024-99-99", "b": 1}


@pytest.mark.parametrize(
    "block",
    [
        "a: [",
        "just text",
        "a: &x [1]\nb: *x",
        "a: !!python/object/apply:os.system [x]",
        "[" * 10_000,
        "a: " + "9" * 5000,
        "\0: 1",
        "? [1]\n: 2\n? {a: 1}\n: 3",
        "\ud800: 1",
    ],
)
def test_broken_or_hostile_front_matter_has_no_values_and_an_end(block: str) -> None:
    assert front_matter(f"---\n{block}\n---\nbody") == FrontMatter({}, len(block) + 9)


def test_broken_front_matter_still_keeps_a_note_private() -> None:
    assert front_matter("---\ntags: [a\nmemory: false\nshare: on\n---\n").values == {"memory": False, "share": True}


def test_front_matter_is_bounded() -> None:
    assert front_matter("---\n" + "a: 1\n" * (FRONT_MATTER_CHARS // 5) + "---\n").end == 0


@given(st.text("-:[]{}&*!ab \n\t\"'", max_size=80))
def test_front_matter_never_raises(body: str) -> None:
    assert 0 <= front_matter(f"---\n{body}\n---\n").end <= len(body) + 9


def test_headings_rank_by_level_above_paragraphs_items_and_lines() -> None:
    found = ranks("text\n\n# one\n\nx\n\n###### six\n\ny\n\npara\nline\n\npara two\n- item\n")
    assert found["# one"] > found["###### six"] > found["para two"] > found["- item"] > found["line"]


def test_line_after_heading_is_glued_to_it() -> None:
    found = ranks("# title\n\nfirst\n\nsecond\n\nSetext\n======\nunder\n")
    assert found["first"] == found["======"] == found["under"] == Rank.GLUED
    assert found["Setext"] == Rank.HEADING_1
    assert found["second"] == Rank.PARAGRAPH


@pytest.mark.parametrize("line", ["#tag", "####### seven", "    # code", r"\# escaped"])
def test_text_that_resembles_a_heading_is_none(line: str) -> None:
    assert ranks(f"a\n{line}\n")[line.strip()] < Rank.HEADING_6


def test_fenced_code_is_kept_together_and_has_no_headings() -> None:
    found = ranks("a\n\n````py\n# no\n```\n\nstill\n~~~\n````\n\nafter\n")
    assert found["````py"] == found["after"] == Rank.PARAGRAPH
    assert found["# no"] == found["```"] == found["~~~"] == found["````"] == Rank.INSIDE
    assert found["still"] == Rank.NESTED


def test_unclosed_fence_runs_to_the_end() -> None:
    assert ranks("a\n\n~~~\n# no\n\nb\n# nor this\n")["# nor this"] == Rank.INSIDE


def test_inline_code_opens_no_fence() -> None:
    assert ranks("a\n```x``` y\n# yes\n")["# yes"] == Rank.HEADING_1


def test_list_item_keeps_its_lines() -> None:
    found = ranks("x\n\n- one\n  more\n  - nested\n\n  para\nlazy\n- two\n10. ten\n\nout\nof\n")
    assert found["more"] == found["lazy"] == Rank.INSIDE
    assert found["- nested"] == found["para"] == Rank.NESTED
    assert found["- two"] == found["10. ten"] == Rank.ITEM
    assert found["out"] == Rank.PARAGRAPH
    assert found["of"] == Rank.LINE


def test_table_is_kept_together() -> None:
    found = ranks("x\n\n| a |\n|---|\n| 1 |\n\ny\n")
    assert found["| a |"] == Rank.PARAGRAPH
    assert found["|---|"] == found["| 1 |"] == Rank.INSIDE


@pytest.mark.parametrize("announcement", ["Buy:", "要买："])
def test_list_stays_with_its_introduction(announcement: str) -> None:
    assert ranks(f"x\n\n{announcement}\n\n- milk\n- tea\n")["- milk"] < Rank.ITEM


def test_front_matter_has_no_headings() -> None:
    text = "---\n# comment\na: 1\n---\n# Title\n"
    structure = analyse(tabulate(encode_padded(text)), front_matter(text).end)
    assert structure.levels.tolist() == [0, 0, 0, 0, 1]


def test_path_names_the_enclosing_headings() -> None:
    text = "intro\n# A #\na\n## B\nb\n#### *D*\nd\n## 丙\nc\n# E\n"
    assert path(text, "intro") == ""
    assert path(text, "b\n") == "A > B"
    assert path(text, "d\n") == "A > B > *D*"
    assert path(text, "## 丙") == path(text, "c\n") == "A > 丙"
    assert path(text, "# E") == "E"


def test_path_is_bounded_and_keeps_innermost_heading() -> None:
    text = "".join(f"{'#' * level} {'very long title ' * 50}{level}\n" for level in range(1, 6)) + "###### here\nx"
    found = path(text, "x")
    assert len(found) <= PATH_CHARS
    assert found.endswith(" > here")


def test_line_numbers_count_line_feeds_only() -> None:
    assert tabulate(encode_padded("a\rb\r\n\r\n\x0c\u2028c\n \t\nd")).numbers.tolist() == [0, 2, 4]
