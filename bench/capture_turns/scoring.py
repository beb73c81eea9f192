"""How well capture does over a labelled conversation: what it keeps without a model, against what a person would."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from memoryd.domain.memories.capture.capture import captured
from memoryd.domain.memories.capture.verdict import CapturedItem
from memoryd.domain.sessions.harmless_text import harmless_text

DATA: Final = Path(__file__).parents[2] / "tests" / "data" / "turns"
SETS: Final = {"labelled": DATA / "conversation.jsonl", "held-out": DATA / "heldout.jsonl"}


@dataclass(frozen=True, slots=True)
class CaptureScore:
    """Counts over one conversation. `forms` are the labels that are said in a form which is read without a model."""

    turns: int = 0
    kept: int = 0
    right: int = 0
    labels: int = 0
    forms: int = 0
    found: int = 0
    found_forms: int = 0

    @property
    def precision(self) -> float:
        """The share of what was kept that is right."""
        return self.right / self.kept if self.kept else 1.0


def score(path: Path) -> CaptureScore:
    """Return the counts of a conversation."""
    total = CaptureScore()
    for turn, kept in _turns(path):
        labels = list(turn["keep"])
        found = [_taken(item, labels) for item in kept]
        right = [label for label in found if label is not None]
        total = CaptureScore(
            turns=total.turns + 1,
            kept=total.kept + len(kept),
            right=total.right + len(right),
            labels=total.labels + len(turn["keep"]),
            forms=total.forms + sum(label["form"] for label in turn["keep"]),
            found=total.found + len(right),
            found_forms=total.found_forms + sum(label["form"] for label in right),
        )
    return total


def page() -> str:
    """Return the table of `docs/explanation/memory.md`."""
    rows = [
        "| conversation | turns | kept | right | precision | recall | recall of forms |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, path in SETS.items():
        one = score(path)
        rows.append(
            f"| {name} | {one.turns} | {one.kept} | {one.right} | {one.precision:.2f} "
            f"| {one.found / one.labels:.2f} | {one.found_forms / one.forms:.2f} |"
        )
    return "\n".join(rows) + "\n"


def _turns(path: Path) -> Iterator[tuple[dict[str, Any], tuple[CapturedItem, ...]]]:
    before = ""
    for line in path.read_text("utf-8").splitlines():
        turn = json.loads(line)
        yield turn, captured(harmless_text(turn["user"]), answer_before=before).kept
        before = turn["assistant"]


def _taken(item: CapturedItem, labels: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the label that a memory is right by, and take it from the list."""
    for label in labels:
        if item.kind.value in label["kinds"] and all(said in item.text for said in label["says"]):
            labels.remove(label)
            return label
    return None
