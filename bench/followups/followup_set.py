"""The conversations and the follow-up questions of `tests/data/followups`, whose README says how they were made."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memoryd.domain.sessions.making_turns import RawTurn

OWN = Path(__file__).parents[2] / "tests" / "data" / "followups"

Place = tuple[str, int]
"""A session, and the number of a turn in it."""


@dataclass(frozen=True, slots=True)
class Followup:
    """A message with the turns that it needs; `current` is None for the first message of a new session.

    Without `session` and `gold` nothing that was said has to do with it, and no turn is to come.
    """

    id: str
    lang: str
    kind: str
    current: str | None
    message: str
    session: str | None
    gold: frozenset[Place]

    @property
    def is_tuned(self) -> bool:
        """Whether rules may be tuned on it: those with odd numbers; the others are there to judge them."""
        return int(self.id[-2:]) % 2 == 1


def said(folder: Path = OWN) -> Iterator[tuple[str, RawTurn]]:
    """Yield all turns in order, each with its session."""
    for line in _lines(folder / "turns.jsonl"):
        yield line["session"], RawTurn(line["q"], line["a"], datetime.fromisoformat(line["at"]))


def followups(folder: Path = OWN) -> list[Followup]:
    """Return the questions."""
    return [_followup(line) for line in _lines(folder / "questions.jsonl")]


def _followup(line: Any) -> Followup:
    gold = line["gold"]
    if gold is None:
        return Followup(line["id"], line["lang"], line["kind"], line["current"], line["message"], None, frozenset())
    places = frozenset((gold["session"], seq) for seq in range(gold["first"], gold["last"] + 1))
    return Followup(line["id"], line["lang"], line["kind"], line["current"], line["message"], gold["session"], places)


def _lines(path: Path) -> Iterator[Any]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
