"""Notes of real sentences: those of the question sets of this checkout, mixed anew, as many as anybody wants.

The sets hold some thousand sentences, so their words are the frequent ones of a large corpus. The long tail of names
and numbers, which grows with a corpus, is made: one sentence in two has a word exchanged for a made one, drawn such
that a word of rank r is r times as rare as the first (Zipf's law). A note depends on its number and on nothing else.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from bench.corpus import Writer

ROOT = Path(__file__).parents[1]
SETS = ROOT / "tests" / "data"
NOTE_BYTES = 10_000
"""Of one note; it makes about twelve chunks."""
TAIL = 4_000_000
"""Distinct words that can be made."""
SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]
SENTENCE = re.compile(r"(?<=[.!?。？！])\s*")
MARKS = re.compile(r"^[#>*\-\s\d.]*(\[[ x]\])?\s*")
PLAIN = re.compile(r"[a-z]{5,}")
SHORTEST = 12
"""Characters of a line that is taken for a sentence."""


class Recombiner(Writer):
    """Writes notes of real sentences; the blocks of a note are those of any writer."""

    def sentence(self) -> str:
        """Return one of the sentences, every other one with a made word in it."""
        return self._with_name(_sentences())

    def question(self, terms: int = 4) -> str:
        """Return one of the questions, which has as many terms as it has, every other one with a made word in it."""
        return self._with_name(_questions())

    def _with_name(self, texts: tuple[str, ...]) -> str:
        text = texts[int(self._random.integers(len(texts)))]
        plain = list(PLAIN.finditer(text)) if self._random.random() < 0.5 else []
        if not plain:
            return text
        place = plain[int(self._random.integers(len(plain)))]
        return text[: place.start()] + made_word(int(TAIL ** self._random.random())) + text[place.end() :]


def made_word(rank: int) -> str:
    """Return the word of this rank, which no language has."""
    word, rank = "", rank + len(SYLLABLES)
    while rank:
        rank, at = divmod(rank, len(SYLLABLES))
        word += SYLLABLES[at]
    return f"{word}x"


def write(folder: Path, count: int) -> Iterator[int]:
    """Write the notes that the folder lacks, a hundred to a folder; yield the number of each that is there."""
    for number in range(count):
        path = folder / f"{number // 100:05}" / f"note-{number:07}.md"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(".tmp")
            draft.write_text(Recombiner(number).note(NOTE_BYTES), encoding="utf-8")
            draft.replace(path)
        yield number


@cache
def _sentences() -> tuple[str, ...]:
    """Return all distinct sentences of notes and conversations."""
    notes = sorted(SETS.glob("retrieval/*/ws/**/*.md")) + sorted(SETS.glob("memories*/ws/**/*.md"))
    lines = [line for path in notes for line in path.read_text(encoding="utf-8").splitlines()]
    lines += [str(line[key]) for line in _lines("followups/turns.jsonl") for key in ("q", "a")]
    found = (part.strip() for line in lines for part in SENTENCE.split(MARKS.sub("", line)))
    return tuple(dict.fromkeys(part for part in found if len(part) >= SHORTEST))


@cache
def _questions() -> tuple[str, ...]:
    """Return all distinct questions of the sets."""
    found = _lines("retrieval/*/queries.jsonl"), _lines("memories*/questions.jsonl")
    return tuple(dict.fromkeys(str(line["question"]) for lines in found for line in lines))


def _lines(pattern: str) -> Iterator[dict[str, Any]]:
    for path in sorted(SETS.glob(pattern)):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())
