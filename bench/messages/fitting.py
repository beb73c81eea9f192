"""Weights of what a message and the items beside it say, fitted anew, and what they would have told.

First the wording: a logistic regression of all labelled messages on their words, those of any set weighed by what the
others teach. Then the evidence of played sets. Of a message that needs nothing the item that comes highest counts
against, of one that needs something the highest one of each wanted group counts for, and the highest of the others a
little against. Which ones these are depends on the weights, so that they are fitted some times over.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from bench.messages.playing import Played, holds
from bench.regression import Row, Rows, fitted_features, regressed
from memoryd.domain.memories.unasked.evidence import FURTHER, WEIGHTS
from memoryd.domain.memories.unasked.form import features, form_of
from memoryd.domain.memories.unasked.messages import read_message

WORDING: Final = Path(__file__).parent / "wording"
KINDS: Final = tuple(WEIGHTS)
LEAST_SOURCES: Final = 3
"""Of how many files or sets a feature has to be: it is no word of one person."""
LEAST_WEIGHT: Final = 0.2
RIDGE: Final = 2.0
"""Of the weights of wording: as much as so many messages speak for none."""
START: Final[Mapping[str, float]] = {
    "nothing": -1.0,
    "form": 0.5,
    "words": 0.2,
    "asked": 0.8,
    "entity": 0.2,
    "named": 0.2,
    "meaning": 0.3,
    "days": 1.0,
}
"""What the weights of evidence are held to: of what few messages have they say little."""
STRENGTH: Final = 5.0
"""How firmly, in messages."""
ROUNDS: Final = 12
OTHERS: Final = 0.3
"""What an item weighs that is told beside a wanted one, and not wanted itself."""


class Wording(Struct):
    """A labelled message: its features, whether something is needed, and the file or set that it is of."""

    features: set[str]
    needs: bool
    source: str


def wordings(every: Iterable[Played]) -> list[Wording]:
    """Return the wording of the messages that were played and of those that are labelled alone, without the silent."""
    said = list(dict.fromkeys((one.text, bool(one.want), one.of) for one in every))
    for path in sorted(WORDING.glob("*.jsonl")):
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        said += [(row["text"], row["label"] == "needs", path.stem) for row in rows]
    read = ((read_message(text, names_entity=False).wording, needs, source) for text, needs, source in said)
    return [Wording(features(text), needs, source) for text, needs, source in read if text]


def fitted_form(messages: Sequence[Wording]) -> dict[str, float]:
    """Return the weight of each feature that enough messages have."""
    return fitted_features(
        [dict.fromkeys(message.features, 1.0) for message in messages],
        [message.needs for message in messages],
        [message.source for message in messages],
        ridge=RIDGE,
        least_sources=LEAST_SOURCES,
        least_weight=LEAST_WEIGHT,
    )


class Example(Struct):
    """A message with a row of kinds for each item, those of the message before it; and the places of wanted items."""

    rows: Row
    wanted: list[list[int]]
    needs: bool

    def told(self, weights: Row) -> NDArray[np.int64]:
        """Return the places of the items that these weights tell."""
        scores = self.rows @ weights
        if not len(scores) or scores.max() < 0:
            return np.array([], dtype=np.int64)
        return np.flatnonzero((scores >= 0) & (scores >= scores.max() - FURTHER))

    def is_right(self, weights: Row) -> bool:
        """Tell whether all groups are told, or nothing where nothing is needed."""
        told = set(self.told(weights).tolist())
        return all(told.intersection(group) for group in self.wanted) if self.needs else not told


def example(one: Played, form: Mapping[str, float]) -> Example:
    """Return what a message teaches, its wording by these weights; what is silent has no items."""
    weighed = one.weighed
    items = weighed.items if weighed else []
    # what is silent where no name is known was weighed for a name
    score = form_of(read_message(one.text, names_entity=True).wording, form)
    rows = (
        [[({**weighed.kinds, **kinds, "form": score}).get(name, 0.0) for name in KINDS] for _, kinds in items]
        if weighed
        else []
    )
    wanted = [[at for at, (text, _) in enumerate(items) if holds(text, group)] for group in one.want]
    return Example(np.array(rows).reshape(-1, len(KINDS)), wanted, bool(one.want))


def fitted(examples: Sequence[Example], needed: float) -> Row:
    """Return weights for these messages; `needed`: how many times as much what is needed counts as what is not."""
    standing = np.array([START[name] for name in KINDS])
    weights = standing
    for _ in range(ROUNDS):
        rows, labels, counts = _taught(examples, weights)
        ridge = STRENGTH * np.maximum(rows.std(axis=0), 0.05) ** 2
        weights = regressed(
            Rows(rows.__matmul__, rows.T.__matmul__),
            labels,
            np.where(labels == 1, needed * counts, counts),
            standing,
            ridge,
        )
    return weights


def _taught(examples: Sequence[Example], weights: Row) -> tuple[Row, Row, Row]:
    """Return the rows that count with these weights, what each should be, and how much it counts."""
    rows, labels, counts = list[Row](), list[float](), list[float]()
    for one in examples:
        scores = one.rows @ weights
        wanted = {at for group in one.wanted for at in group}
        for group in filter(None, one.wanted):
            rows.append(one.rows[max(group, key=scores.__getitem__)])
            labels.append(1.0)
            counts.append(1 / len(one.wanted))
        if others := [at for at in range(len(scores)) if at not in wanted]:
            rows.append(one.rows[max(others, key=scores.__getitem__)])
            labels.append(0.0)
            counts.append(OTHERS if one.needs else 1.0)
    return np.array(rows), np.array(labels), np.array(counts)


def shares(examples: Sequence[Example], weights: Row) -> tuple[float, float]:
    """Return of how many messages that need nothing nothing is told, and of how many others all that is needed."""
    found = [[float(one.is_right(weights)) for one in examples if one.needs is needs] for needs in (False, True)]
    return float(np.mean(found[0])), float(np.mean(found[1]))
