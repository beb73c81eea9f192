"""Text is made safe for a terminal; numbers are formatted for people."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.cli.terminal import ago, count, duration, harmless, harmless_line, percent, size, to_json

NOW = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
ALPHABET = st.sampled_from("a端 \t\n\r\x00\x07\x08\x1b[]()PX^_;0m\\\x7f\x84\x90\x9b\x9c\x9d\u202e\u2066")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain 端口 naïve 🎉\tx\n", "plain 端口 naïve 🎉\tx\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0;2\x1b\\after", "after"),
        ("\x9b2Jafter", "after"),
        ("\x1bcafter", "after"),
        ("\x1b(Bafter", "after"),
        ("pay\rfree\x08\x7f", "payfree"),
        ("a\r\nb", "a\nb"),
        ("\u202egpj.exe\u2066", "gpj.exe"),
        ("cut \x1b[3", "cut "),
        ("cut \x1b", "cut "),
    ],
)
def test_terminal_sequences_are_removed(text: str, expected: str) -> None:
    assert harmless(text) == expected


@given(st.text(ALPHABET))
def test_harmless_text_has_no_control_character_and_is_stable(text: str) -> None:
    clean = harmless(text)
    assert not {letter for letter in clean if ord(letter) < 32 or 127 <= ord(letter) < 160} - {"\t", "\n"}
    assert harmless(clean) == clean


@given(st.text())
def test_letters_are_never_lost(text: str) -> None:
    letters = [letter for letter in text if letter.isalpha()]
    if not set(text) & set("\x1b\x90\x98\x9b\x9d\x9e\x9f"):
        assert [letter for letter in harmless(text) if letter.isalpha()] == letters


def test_harmless_line_is_one_line() -> None:
    assert harmless_line(" a\n\x1b[1mb\tc ") == "a b c"


@given(st.text())
def test_json_keeps_the_value_and_no_raw_control_character(text: str) -> None:
    line = to_json({"text": text}, indent=None)
    assert json.loads(line) == {"text": text}
    assert not any(ord(letter) < 32 or 127 <= ord(letter) < 160 for letter in line)


@pytest.mark.parametrize(
    ("content", "text"),
    [(0, "0 B"), (980, "980 B"), (1000, "1.0 kB"), (12_345_678, "12.3 MB"), (250e9, "250 GB"), (3e12, "3.0 TB")],
)
def test_size(content: float, text: str) -> None:
    assert size(content) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (0.4, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (125, "2 min 5 s"),
        (15_000, "4 h 10 min"),
        (180_000, "2 d 2 h"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_percent_is_hundred_only_if_complete() -> None:
    assert [percent(999, 1000), percent(1000, 1000), percent(0, 0)] == ["99 %", "100 %", "100 %"]


def test_count() -> None:
    assert [count(0, "file"), count(1, "file"), count(1203, "chunk")] == ["0 files", "1 file", "1,203 chunks"]


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (None, "never"),
        ("2026-01-05T11:58:00Z", "2 min ago"),
        ("2026-01-05T13:00:00+02:00", "1 h ago"),
        ("soon", "soon"),
    ],
)
def test_ago(moment: str | None, text: str) -> None:
    assert ago(moment, NOW) == text
