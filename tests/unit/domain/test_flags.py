import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.flags import Flag, text_flags


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
