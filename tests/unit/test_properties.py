"""Properties of chunking for any input."""

from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryd.domain.text.tokens import estimate
from tests.chunks import chunk
from tests.unit.markdown_texts import HABITS, document, paragraph, sentence

_LINES = st.sampled_from(
    [
        *("", " ", "\t", "# A", "###### b", "```", "~~~~ x", "    ```", "- item", "  - nested", "12) x"),
        *("| a | b |", "|--|--|", "---", "===", "> quote", "a\r", "Sentence one. Two! Three? Four:"),
        *("word " * 60, "漢字。仮名、" * 20, "b" * 200),
    ]
)
_TEXTS = st.lists(_LINES | st.text(max_size=30), max_size=40).map("\n".join)


@settings(max_examples=40)
@given(_TEXTS, st.integers(16, 200), st.integers(-1, 120), st.integers(10, 60))
def test_chunks_cover_every_line_and_stay_bounded(text: str, tokens: int, overlap: int, passage: int) -> None:
    end = 0
    for part in chunk(text, tokens=tokens, overlap=overlap, passage_tokens=passage):
        assert not text[end : part.own_start].strip()
        assert estimate(text[part.start : part.end]) <= tokens
        assert (part.start_line, part.end_line) == (
            text.count("\n", 0, part.start) + 1,
            text.count("\n", 0, part.end - 1) + 1,
        )
        edges = [part.own_start, *(span.end for span in part.passages)]
        assert edges[-1] == part.end
        assert [span.start for span in part.passages] == edges[:-1]
        assert all(estimate(text[span.start : span.end]) <= passage for span in part.passages)
        end = part.end
    assert not text[end:].strip()


def new_chunks(before: str, after: str) -> int:
    """Count the chunks of `after` whose text is in no chunk of `before`."""
    known = {before[part.start : part.end] for part in chunk(before)}
    return len({after[part.start : part.end] for part in chunk(after)} - known)


def inserted(text: str, count: int, random: Random) -> list[str]:
    """Insert a line or a paragraph at the top and at line starts spread over the text."""
    starts = [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
    places = [0, *random.sample(starts, count - 1)]
    fresh = (f"{paragraph(random)}\n\n", f"{sentence(random)}\n")
    return [text[:at] + fresh[number % 2] + text[at:] for number, at in enumerate(places)]


def rewritten(text: str, count: int, random: Random) -> list[str]:
    """Delete or replace a line."""
    lines = text.splitlines(keepends=True)
    places = random.sample(range(len(lines)), count)
    fresh = ("", f"{sentence(random)}\n")
    return ["".join([*lines[:at], fresh[number % 2], *lines[at + 1 :]]) for number, at in enumerate(places)]


@pytest.mark.parametrize("habit", [habit for habit in HABITS if habit != "one line"])
def test_edit_changes_only_chunks_around_it(habit: str) -> None:
    text = document(habit, 20_000 if habit != "Chinese prose" else 7_000)
    inserts = [new_chunks(text, after) for after in inserted(text, 8, Random(7))]
    rewrites = [new_chunks(text, after) for after in rewritten(text, 6, Random(7))]
    assert max(inserts) <= 3
    assert max(rewrites) <= 4
    assert sum(inserts + rewrites) < 2.2 * len(inserts + rewrites)


def test_insert_at_the_top_of_a_large_file_changes_at_most_three_chunks() -> None:
    text = document("sections", 500_000)
    assert len(chunk(text)) > 400
    assert new_chunks(text, f"{sentence(Random(3))}\n\n{text}") <= 3


def test_edit_within_one_long_line_changes_few_chunks() -> None:
    text = document("one line", 40_000)
    places = [at + 1 for at in range(len(text)) if text.startswith(". ", at - 1)][::90]
    assert all(new_chunks(text, f"{text[:at]}A train was late. {text[at:]}") <= 3 for at in places)


def test_edit_in_repetitive_text_changes_few_chunks() -> None:
    lines = ["- [ ] call the plumber about the leak\n"] * 1_000
    text = "".join(lines)
    for at in range(0, 1_000, 230):
        assert new_chunks(text, "".join([*lines[:at], "Somebody else wrote this line.\n", *lines[at:]])) <= 5


def test_chunking_time_is_linear() -> None:
    text = document("sections", 300_000)

    def seconds(sample: str) -> float:
        begin = process_time()
        chunk(sample)
        return process_time() - begin

    assert min(seconds(text) for _ in range(3)) < 20 * min(seconds(text[:30_000]) for _ in range(3))
