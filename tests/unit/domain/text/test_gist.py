"""Recognition of copies, with pairs written by hand and with generated changes."""

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memoryd.domain.text.duplicates import gist, may_repeat

FOLDER = Path(__file__).parents[3] / "data" / "similarity"
NOTE = (FOLDER / "note.md").read_text()
"""A note as long as a chunk, with a placeholder for a sentence."""


def pairs(name: str) -> list[tuple[str, str, str]]:
    """Read rows of kind, first and second text, separated by tabs; ⏎ is a line end in a text, → a tab."""
    rows = (map(_text, line.split("\t")) for line in lines(name))
    return [(kind, first, second) for kind, first, second in rows]


def _text(written: str) -> str:
    return written.replace("⏎", "\n").replace("\\r", "\r").replace("→", "\t")


def lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.tsv").read_text().splitlines()


FACTS = [*pairs("facts_en"), *pairs("facts_zh")]
COPIES = pairs("copies")
WORDS = (
    *("anchor", "boiler", "choir", "dentist", "eleven", "ferry", "garlic", "hall", "Ida", "june", "not", "some", "all"),
    *("monday", "8832", "10", "20", "-5", "+5", "5", "1.2", "mg", "µg", "kg", "aB", "AB", "GW-4172", "😀", "😢"),
    *("周五", "周一", "不", "没", "三", "四", "上午", "下午", "李明", "王芳"),
)
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=2, max_size=40)


def test_there_are_enough_pairs() -> None:
    assert len(FACTS) >= 200
    assert len(pairs("facts_zh")) >= 80
    assert len(COPIES) >= 60
    assert all(first != second for _, first, second in [*FACTS, *COPIES])


def test_other_fact_is_no_copy() -> None:
    assert [pair for pair in FACTS if gist(pair[1]) == gist(pair[2])] == []


def test_other_fact_in_a_long_note_is_no_copy() -> None:
    assert [pair for pair in FACTS if gist(NOTE.replace("{}", pair[1])) == gist(NOTE.replace("{}", pair[2]))] == []


@pytest.mark.parametrize(("kind", "first", "second"), COPIES)
def test_other_notation_of_a_fact_is_a_copy(kind: str, first: str, second: str) -> None:
    assert gist(first) == gist(second) != "", kind
    assert all(may_repeat([first, second])), kind


@given(SENTENCES, st.data())
def test_replaced_word_is_no_copy(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    word = data.draw(st.sampled_from(WORDS))
    assume(word != words[at])
    assert gist(" ".join(words)) != gist(" ".join([*words[:at], word, *words[at + 1 :]]))


@given(SENTENCES, st.data())
def test_replaced_character_is_no_copy(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    at = data.draw(st.integers(0, len(text) - 1))
    char = data.draw(st.sampled_from("0123456789abcxyzåéß不没三四五上下%€$°µ½²!?-+~<>=/"))
    assume(text[at] not in (char, char.upper(), " "))
    assert gist(text) != gist(f"{text[:at]}{char}{text[at + 1 :]}")


@given(SENTENCES, st.data())
def test_missing_word_is_no_copy(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    assert gist(" ".join(words)) != gist(" ".join(words[:at] + words[at + 1 :]))


PLAIN = st.lists(st.sampled_from([word for word in WORDS if word[0].isalnum()]), min_size=2, max_size=40)


@given(PLAIN, st.data())
def test_white_space_is_ignored(words: list[str], data: st.DataObject) -> None:
    spaces = data.draw(st.lists(st.sampled_from([" ", "  ", " \r\n", "\n", " \n  "]), min_size=40, max_size=40))
    between = [space if word.isascii() else " " for word, space in zip(words, spaces, strict=False)]
    spaced = "".join(word + space for word, space in zip(words, between, strict=True))
    assert gist(f"\n\n{spaced}\n") == gist(" ".join(words))


@given(PLAIN, st.data())
def test_case_matters(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    at = data.draw(st.sampled_from(range(len(text))).filter(lambda at: text[at] != text[at].swapcase()))
    assert gist(text) != gist(f"{text[:at]}{text[at].swapcase()}{text[at + 1 :]}")


@given(PLAIN, st.sampled_from(["**{}**", "***{}***", "> {}", "\n\n---\n\n{}\n\n***\n", "{}\n\n- [ ]"]))
def test_markup_is_ignored(words: list[str], markup: str) -> None:
    text = f"note {' '.join(words)} here"
    assert gist(markup.format(text)) == gist(text)


@given(PLAIN, st.sampled_from(["* {}", "• {}", "-   {}", "  - {}", "> - {}", "- {}  "]))
def test_kind_of_bullet_is_ignored(words: list[str], markup: str) -> None:
    text = f"note {' '.join(words)} here"
    assert gist(markup.format(text)) == gist(f"- {text}") != gist(text)


def test_headings_are_part_of_the_gist() -> None:
    assert gist("10 mg daily", "Anna > Medicine") != gist("10 mg daily", "Peter > Medicine")
    assert gist("## Medicine\n\n10 mg", "Anna > Medicine") != gist("## Medicine\n\n10 mg", "Peter > Medicine")
    assert gist("# Medicine\n\n10 mg", "Medicine") == gist("## Medicine\n\n10 mg", "Medicine")


@pytest.mark.parametrize("text", ["", "  \n", "---", "- [ ]\n- [ ]", "| | |\n|---|---|"])
def test_text_without_words_has_no_gist(text: str) -> None:
    assert gist(text) == ""


@given(st.text())
def test_any_text_is_a_copy_of_itself(text: str) -> None:
    assert gist(text) == gist(text)
    assert all(may_repeat([text, text]))


@pytest.mark.parametrize("piece", [" a", " _a", " *a", "_ ", "`a "])
def test_long_line_is_processed_in_linear_time(piece: str) -> None:
    """Quadratic time would exceed the time limit of a test."""
    assert gist("_a" + piece * 100_000)
