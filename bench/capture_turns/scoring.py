"""How well capture does over a labelled conversation: what is kept of it, against what a person would keep."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parents[2] / "tests" / "data" / "turns"
SETS: Final = {"labelled": DATA / "conversation.jsonl", "held-out": DATA / "heldout.jsonl"}

LabelledTurn = dict[str, Any]
"""A line of a conversation, as its README tells."""


@dataclass(frozen=True, slots=True)
class KeptMemory:
    """A memory that was captured: its kind and its text."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class CaptureScore:
    """Counts over one conversation. `forms` are the labels that are said in a form which is read without a model."""

    turns: int = 0
    kept: int = 0
    right: int = 0
    labels: int = 0
    forms: int = 0
    found_forms: int = 0

    @property
    def precision(self) -> float:
        """The share of what was kept that is right."""
        return self.right / self.kept if self.kept else 1.0

    @property
    def recall(self) -> float:
        """The share of the labels that were found."""
        return self.right / self.labels


def turns_in(path: Path) -> list[LabelledTurn]:
    """Read a conversation."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def score(turns: Iterable[tuple[LabelledTurn, Sequence[KeptMemory]]]) -> CaptureScore:
    """Return the counts of a conversation, of which each turn comes with what was kept of it."""
    total = CaptureScore()
    for turn, kept in turns:
        labels = list(turn["keep"])
        right = [label for label in (_taken(one, labels) for one in kept) if label is not None]
        total = CaptureScore(
            turns=total.turns + 1,
            kept=total.kept + len(kept),
            right=total.right + len(right),
            labels=total.labels + len(turn["keep"]),
            forms=total.forms + sum(label["form"] for label in turn["keep"]),
            found_forms=total.found_forms + sum(label["form"] for label in right),
        )
    return total


def _taken(memory: KeptMemory, labels: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the label that a memory is right by, and take it from the list."""
    for label in labels:
        if memory.kind in label["kinds"] and all(said in memory.text for said in label["says"]):
            labels.remove(label)
            return label
    return None
