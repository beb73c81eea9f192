"""Read by every Python below this folder's path: writes down what speaks for each item beside a message, unweighed."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from memoryd.domain.memories.unasked import evidence
from memoryd.memory.recall import candidates


class Watched(evidence.MessageEvidence):
    """Weighs as usual, and appends a line for each message: its kinds, and of its items the text, kinds and place."""

    def of(self, items: Sequence[evidence.Item]) -> list[evidence.ItemWeight]:
        """Return what the daemon goes by; what would be told beside any message is written down."""
        usual = super().of(items)
        prior, further = self._prior, evidence.FURTHER
        self._prior = evidence.FURTHER = 1000.0
        every = super().of(items)
        self._prior, evidence.FURTHER = prior, further
        row = {
            "kinds": _numbers(self.kinds),
            "items": [
                [item.text, _numbers(one.kinds)] for item, one in zip(items, every, strict=True) if one.is_included
            ],
        }
        with Path(os.environ["MESSAGES_EVIDENCE"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        return usual


def _numbers(kinds: Mapping[str, float]) -> dict[str, float]:
    return {name: round(float(value), 3) for name, value in kinds.items() if value}


vars(candidates)["MessageEvidence"] = Watched
