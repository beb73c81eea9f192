"""The workspaces of memories with their questions; the README of each says how it was made."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

_DATA = Path(__file__).parents[2] / "tests" / "data"
OWN = _DATA / "memories"
"""The set on which the rules of recall were adjusted."""
HELD_OUT = _DATA / "memories_heldout"
"""The set on which no rule may be adjusted."""
SETS = {"own": OWN, "held-out": HELD_OUT}
WORKSPACE = OWN / "ws"
STRANGER = "stranger"


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file of the workspace, as it is written; an empty one stands for all of the file."""

    path: str
    line: str
    workspace: Path = WORKSPACE

    def numbers(self) -> range:
        """Return the numbers of its lines, from 1: all of the file, or the line with those that continue it."""
        lines = (self.workspace / self.path).read_text(encoding="utf-8").splitlines()
        if not self.line:
            return range(1, len(lines) + 1)
        first = next(at for at, line in enumerate(lines, 1) if line.strip() == self.line)
        last = first
        while last < len(lines) and lines[last].startswith("    "):
            last += 1
        return range(first, last + 1)


@dataclass(frozen=True, slots=True)
class Change:
    """Where the value stands that is valid now, and the one that was valid on a day."""

    current: Place
    old: Place
    as_of: date


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """A question with the places that answer it, any of which will do, and those that must not be told."""

    id: str
    type: str
    lang: str
    text: str
    now: date
    gold: tuple[Place, ...]
    never: tuple[Place, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    change: Change | None = None
    has_confidence: bool = False
    has_evidence: bool = False
    workspace: Path = WORKSPACE


def recall_questions(folder: Path = OWN) -> list[RecallQuestion]:
    """Return the questions in their order."""
    return [_question(line, folder / "ws") for line in rows(folder / "questions.jsonl")]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file with one on each line."""
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def _question(row: Mapping[str, Any], workspace: Path) -> RecallQuestion:
    belief = row.get("belief", {})
    return RecallQuestion(
        id=row["qid"],
        type=row["type"],
        lang=row["lang"],
        text=row["question"],
        now=date.fromisoformat(row["now"]),
        gold=tuple(Place(**one, workspace=workspace) for one in row["gold"]),
        never=tuple(Place(**one, workspace=workspace) for one in row.get("never", [])),
        options=row["options"],
        change=_change(row["changed"], workspace) if "changed" in row else None,
        has_confidence=belief.get("confidence", False),
        has_evidence=belief.get("evidence", False),
        workspace=workspace,
    )


def _change(row: Mapping[str, Any], workspace: Path) -> Change:
    current, old = (Place(**row[name], workspace=workspace) for name in ("current", "old"))
    return Change(current, old, date.fromisoformat(row["asOf"]))
