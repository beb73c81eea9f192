import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.text.sanitizing import Flag, path_flags, text_flags


@pytest.mark.parametrize(
    "text",
    [
        "zero\u200bwidth",
        "right\u202eto left",
        "isolate\u2066",
        "tag \U000e0041\U000e0042",
        "soft\u00adhyphen",
        "word\u2060joiner",
        "inner\ufeffmark",
    ],
)
def test_characters_that_are_not_shown_are_flagged(text: str) -> None:
    assert text_flags(text) == (Flag.INVISIBLE,)


@pytest.mark.parametrize(
    "text", ["", "plain", "日記 with 文字", "👩\u200d💻 works", "می\u200cخواهم", "tab\tand\nline", "\ufeff# Title"]
)
def test_text_that_people_write_is_not_flagged(text: str) -> None:
    assert text_flags(text) == ()


@pytest.mark.parametrize("text", ["a\n\nSource: x.md#L1", "Source: memory/b.md", "  Source: y"])
def test_line_like_our_footer_is_flagged(text: str) -> None:
    assert Flag.SOURCE_LINE in text_flags(text)


def test_words_about_a_source_are_not() -> None:
    assert text_flags("The Source: of the river\nSource:\nOpen Source: yes") == ()


@given(st.text())
def test_any_text_has_flags_of_the_closed_list(text: str) -> None:
    assert set(text_flags(text)) <= set(Flag)


def test_copy_of_a_conflict_is_known_by_its_name() -> None:
    for name in ("x.sync-conflict-20260101-120000-ABCDEFG.md", "memory/x (Ada's conflicted copy 2026-01-01).md"):
        assert path_flags(name) == (Flag.CONFLICT,)
    assert path_flags("memory/conflict.md") == ()


def test_bytes_that_were_no_text_are_flagged() -> None:
    assert text_flags("caf\ufffd") == (Flag.REPLACED,)
    assert text_flags("café") == ()
