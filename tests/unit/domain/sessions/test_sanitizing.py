"""Sanitizing of texts: lines and visible characters are kept, and invisible ones cannot hide a secret."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.redaction import redact, redact_pieces
from memoryd.domain.sessions.names import named_id, safe_id
from memoryd.domain.text.sanitizing import harmless_text

KEY = "sk-ant-api03-" + "aB3dE6gH9j" * 6
PASSWORD = "hunter2hunter2"
INVISIBLE = (
    "\u200b",
    "\u200c",
    "\u200d",
    "\u2060",
    "\xad",
    "\ufeff",
    "\x00",
    "\u202e",
    "\x1b[31m",
    "\ufe0f",
    "\U000e0041",
)

VISIBLE = (
    "two\nlines\tand a tab",
    "👩‍👩‍👧 and ❤️‍🔥, 1️⃣, 👍🏽",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "क्‍ष and ර්‍ය, می‌خواهم",
    "密码长度为8位",
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\x00b\x1b[1;31mc\x1b[0m\u202ed", "abcd"),
        ("one\r\ntwo\rthree\x0bfour\x1ffive", "one\ntwo\nthree\nfour five"),
        ("a\u200d\u200cb\ufe0fc\u2060\xadd\U000e0041e", "abcde"),
        ("half \ud83d", "half ?"),
        *zip(VISIBLE, VISIBLE, strict=True),
    ],
)
def test_only_invisible_characters_are_removed(text: str, kept: str) -> None:
    assert harmless_text(text) == kept


@pytest.mark.parametrize("char", INVISIBLE, ids=ascii)
@pytest.mark.parametrize("at", [4, 20, 45])
def test_invisible_character_does_not_hide_a_secret(char: str, at: int) -> None:
    assert "6gH9j" not in harmless_text(f"it is {KEY[:at]}{char}{KEY[at:]} so")[20:-8]
    assert PASSWORD not in harmless_text(f"pass{char}word: {PASSWORD}")
    assert PASSWORD not in harmless_text(f"passwd={char}{PASSWORD}")
    assert PASSWORD not in harmless_text(f"passwd={PASSWORD[:at]}{char}{PASSWORD[at:]}").replace(char, "")
    assert "abc123456" not in harmless_text(f"密{char}码是abc123456")


def test_secret_that_starts_a_piece_is_redacted() -> None:
    assert redact_pieces(["token", KEY, "more"]) == f"token{KEY[:6]}…{KEY[-4:]}more"


TEXTS = st.text(st.characters() | st.sampled_from("".join(INVISIBLE) + "\n\t ❤👩ा"), max_size=40)


@given(TEXTS)
def test_harmless_text_has_no_control_characters_or_secrets(text: str) -> None:
    kept = harmless_text(text)
    assert [char for char in kept if unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"] == []
    assert redact(kept) == kept


@pytest.mark.parametrize("name", ["ports", "discord-常规-20260130", "transcript-0d9f-0123abcd", "Ünïcode Name"])
def test_name_without_secrets_is_only_made_safe(name: str) -> None:
    assert named_id(name) == safe_id(name)


@pytest.mark.parametrize("secret", [PASSWORD, "AKIAIOSFODNN7QWERTYU"])
def test_name_contains_no_secret(secret: str) -> None:
    name = named_id(f"my password={secret} here")
    assert secret.lower() not in name
    assert name == safe_id(name) == named_id(name)
