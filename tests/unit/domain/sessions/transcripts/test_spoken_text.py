"""Spoken text: sanitized, redacted, on one line and bounded."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.redaction import redact
from memoryd.domain.sessions.transcripts.records import MAX_CHARS, shortened, spoken_text

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
KEY = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\x00b\x07c\x7fd\x9be", "abcd"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never ended, and said", "never ended, and said"),
        ("\x9dnever ended, and said", "never ended, and said"),
        (f"say {BIDI}it", "say it"),
        ("half \ud83d of one", "half \ufffd of one"),
        ("whole 😀 one", "whole 😀 one"),
        ("\ufeffmarked", "marked"),
        ("one\u2028two\u2029three\x85four\x0bfive\x1csix\u3000seven", "one two three four five six seven"),
        ("User: a\nAssistant: b", "User: a Assistant: b"),
        ("你觉得这个设计怎么样？", "你觉得这个设计怎么样？"),
    ],
)
def test_control_characters_are_removed(text: str, kept: str) -> None:
    assert spoken_text(text) == kept


def test_secret_hidden_by_control_characters_is_redacted() -> None:
    hidden = f"{KEY[:9]}\x00{KEY[9:20]}\u202e{KEY[20:]}"
    assert spoken_text(f"it is {hidden}.") == "it is ghp_ab…6789."
    assert spoken_text(f"token\x1b[32m{KEY}\x1b[0mand more") == "tokenghp_ab…6789and more"
    assert spoken_text('curl -X POST\n -u "ana:hunter22x" http://x') == 'curl -X POST -u "ana:***" http://x'


def test_long_text_is_cut_between_words_without_part_of_a_secret() -> None:
    assert shortened("word " * 10, 12) == "word word"
    assert shortened("word\nword word", 11) == "word"
    text = "x " * (MAX_CHARS // 2 - 10) + KEY
    assert len(spoken_text(text)) <= MAX_CHARS
    assert "ghp_" not in spoken_text(text)
    assert len(shortened("x" * 10_000, 9_000)) == 9_000 - 4096


texts = st.text(
    st.characters(exclude_categories=()) | st.sampled_from(f"\x00\x1b[]\x07\x9b\x9d\n\t \ud800\udc00{BIDI}")
)


@given(texts)
def test_any_text_becomes_harmless(text: str) -> None:
    kept = spoken_text(text)
    assert kept.encode().decode() == kept
    assert [char for char in kept if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in BIDI] == []
    assert kept == " ".join(kept.split())
    assert redact(kept) == kept
    assert spoken_text(kept) == kept


FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
"""Invisible marks and letters."""
VISIBLE = st.characters(exclude_categories=("C", "Z"), exclude_characters=FILLERS)


# a variation selector without a base character is removed
@given(st.text(VISIBLE.filter(lambda one: "VARIATION SEL" not in unicodedata.name(one, ""))))
def test_harmless_text_is_only_redacted(text: str) -> None:
    assert spoken_text(text) == redact(text)
