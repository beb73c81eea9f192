"""Weights by which a message outdates a line, fitted anew on labelled pairs, and what they tell of files left out."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from msgspec import Struct

from bench.messages.fitting import WORDING
from bench.messages.playing import SETS
from bench.regression import fitted_features
from memoryd.domain.memories.book import MemorySource, book_of
from memoryd.domain.memories.capture.lines import Candidate, memory_words
from memoryd.domain.memories.capture.outdating import rows_of
from memoryd.domain.memories.capture.renewal import may_outdate
from memoryd.domain.memories.capture.values import Rarity, content
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import RetainedLine, parse_line

PAIRS: Final = Path(__file__).parent / "pairs"
LINES: Final = 8
"""Beside a message: those that it was written for, and some of other persons."""
REPLY_CHARS: Final = 90
WORKSPACE: Final = 120
"""Lines of a person of whom nothing is known but that messages were typed."""
LEAST_WEIGHT: Final = 0.34
RIDGE: Final = 1.0
LEAST_SOURCES: Final = 2
TESTED: Final = frozenset({"24", "25", "26", "38"})
"""Files of cases that tests hold, and of their like."""
TESTED_COUNT: Final = 3
"""How often a message of these counts."""
FOLDS: Final = 5


class Labelled(Struct):
    """A message with the features of each line beside it, and the places of those that it outdates."""

    rows: list[dict[str, float]]
    outdated: frozenset[int]
    source: str
    is_ordinary: bool


def labelled(folder: Path = PAIRS) -> list[Labelled]:
    """Return all labelled messages of the files of a folder, each beside further lines of other persons."""
    read = [(path.stem, one) for path in sorted(folder.glob("*.jsonl")) for one in _rows(path)]
    others = _lines_of(read)
    chance = Random(5)
    return [
        _labelled(
            one["then"],
            one["heard"] or "",
            one["kept"] + chance.choices(others[one["lang"]], k=max(0, LINES - len(one["kept"]))),
            source=source,
            outdated=one["corrects"],
        )
        for source, one in read
    ]


def ordinary() -> list[Labelled]:
    """Return messages of ordinary hours beside the lines that have most of their words: they outdate none.

    Those of played persons stand beside their own lines, the others beside some of a person that nobody knows.
    """
    found, chance = list[Labelled](), Random(6)
    others = _lines_of((path.stem, one) for path in sorted(PAIRS.glob("*.jsonl")) for one in _rows(path))
    for path in sorted(WORDING.glob("*.jsonl")):
        for one in _rows(path):
            lang = one["lang"] if one["lang"] in others else "en"
            lines = list(dict.fromkeys(chance.choices(others[lang], k=WORKSPACE)))
            found.append(_beside(one["text"], lines, source=f"wording {path.stem}"))
    for root in sorted(SETS.iterdir()):
        kept = {folder.name: _kept_in(folder) for folder in (root / "ws").iterdir()}
        for one in _rows(root / "messages.jsonl"):
            found.append(_beside(one["text"], kept[one["workspace"]], source=root.name))
    return [one for one in found if one.rows]


def strayed() -> list[Labelled]:
    """Return messages beside lines of which they were not said: they outdate none, however much they tell of a change.

    Each that was said of some line stands beside the nearest ones of other persons. And where the agent has just told
    a line, what is typed next is of something else: an ordinary message, or what another person said of a change.
    """
    read = [(path.stem, one) for path in sorted(PAIRS.glob("*.jsonl")) for one in _rows(path)]
    others, chance = _lines_of(read), Random(7)
    said = [one for path in sorted(WORDING.glob("*.jsonl")) for one in _rows(path) if len(one["text"]) <= REPLY_CHARS]
    replies = {lang: [one["text"] for one in said if one["lang"] == lang] for lang in others}
    # what answers names nothing, and may be meant of any line
    named = [one for _, one in read if one["corrects"] and not one["heard"]]
    changes = {lang: [one["then"] for one in named if one["lang"] == lang] for lang in others}
    found = list[Labelled]()
    for source, one in read:
        lang = one["lang"]
        if one["corrects"] and not one["heard"]:
            lines = [line for line in chance.choices(others[lang], k=WORKSPACE) if line not in one["kept"]]
            found.append(_beside(one["then"], list(dict.fromkeys(lines)), source=f"strayed {source}"))
        if one["heard"]:
            for text in (*chance.sample(replies[lang], 2), chance.choice(changes[lang])):
                if text != one["then"] and may_outdate(text):
                    found.append(
                        _labelled(text, one["heard"], one["kept"], source=f"strayed {source}", is_ordinary=True)
                    )
    return [one for one in found if one.rows]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _lines_of(read: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, list[str]]:
    """Return the lines of each language."""
    lines: dict[str, list[str]] = {}
    for _, one in read:
        lines.setdefault(one["lang"], []).extend(one["kept"])
    return lines


def _kept_in(workspace: Path) -> list[str]:
    """Return the texts of the lines that the notes of a workspace retain."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(workspace.rglob("*.md"))]
    lines = [line.strip().removeprefix("- ") for text in texts for line in text.splitlines()]
    return [found.text for line in lines if isinstance(found := parse_line(line), RetainedLine)]


def _beside(text: str, lines: Sequence[str], *, source: str) -> Labelled:
    words = content(text)
    nearest = sorted(lines, key=lambda line: -len(words & memory_words(line, ())))[:LINES]
    return _labelled(text, "", nearest if may_outdate(text) else [], source=source, is_ordinary=True)


def _labelled(
    message: str,
    heard: str,
    texts: Sequence[str],
    *,
    source: str,
    outdated: Iterable[int] = (),
    is_ordinary: bool = False,
) -> Labelled:
    lines = [_candidate(text) for text in texts]
    rarity = Rarity(Counter(word for line in lines for word in line.words), len(lines))
    return Labelled(rows_of(message, heard, lines, rarity), frozenset(outdated), source, is_ordinary)


@cache
def _candidate(text: str) -> Candidate:
    now = datetime.now(UTC)
    source = MemorySource(
        path="memory/2025-01-01.md",
        start_line=1,
        end_line=1,
        line=RetainedLine(Kind.WORLD, text),
        day=now.date(),
        event=None,
        chunk=0,
    )
    (memory,) = book_of([source], ()).memories.values()
    return Candidate(memory, text, memory_words(text, ()))


def fitted(messages: Sequence[Labelled]) -> dict[str, float]:
    """Return the weight of each feature that enough lines have, of several files."""
    counted = [one for one in messages for _ in range(TESTED_COUNT if one.source in TESTED else 1)]
    rows = [(row, at in one.outdated, one.source) for one in counted for at, row in enumerate(one.rows)]
    return fitted_features(
        [row for row, _, _ in rows],
        [is_outdated for _, is_outdated, _ in rows],
        [source for _, _, source in rows],
        ridge=RIDGE,
        least_sources=LEAST_SOURCES,
        least_weight=LEAST_WEIGHT,
    )


class Judged(Struct):
    """A message, the highest log-odds of its lines, and whether that line is one that it outdates."""

    weight: float
    is_right: bool
    outdates: bool
    is_ordinary: bool


def judged(folds: Iterable[int], messages: Sequence[Labelled]) -> list[Judged]:
    """Return what weights that were fitted on other files say of each message of some folds of the files."""
    sources = sorted({one.source for one in messages})
    found = list[Judged]()
    for at in folds:
        held = set(sources[at::FOLDS])
        weights = fitted([one for one in messages if one.source not in held])
        for one in (one for one in messages if one.source in held):
            scores = [sum(weights.get(name, 0.0) * value for name, value in row.items()) for row in one.rows]
            best = max(range(len(scores)), key=scores.__getitem__)
            found.append(Judged(scores[best], best in one.outdated, bool(one.outdated), one.is_ordinary))
    return found
