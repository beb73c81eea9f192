"""A chat server that knows the labels of each turn, and answers with them, and with what must not be kept beside them.

It measures what is done with answers, not a model: what it says of a turn is right, what comes beside it is wrong in
one way after the other, and now and then there is no answer that can be read, or none at the first attempt.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Final, Literal

from bench.capture_turns.scoring import LabelledTurn
from tests.contract.chat_server import ChatServer
from tests.contract.embedding_server import Asked, Reply

Amiss = Literal["unsure", "translated", "invented", "inverted", "first person", "too many", "broken", "failing"]
AMISS: Final[tuple[Amiss, ...]] = (
    "unsure",
    "translated",
    "invented",
    "inverted",
    "first person",
    "too many",
    "broken",
)
FAILING_EVERY: Final = 10
"""Questions; an endpoint that fails five times in a minute is not asked for a while."""
KINDS: Final = ("entity", "preference", "fact", "project_state", "relationship", "procedure")
"""What a model may say that it is."""
INVENTED: Final = ("The user keeps seven llamas in Peru.", "用户养了七只骆驼。")
MOST: Final = 6
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_CLAUSE: Final = re.compile(r"[,;:!?，；：。！？]\s*|\.(?:\s|$)")
_NEGATES: Final = re.compile(r"\b(?:not|never|no longer)\b|n['’]t\b|[不没]")

Item = dict[str, object]


@dataclass
class ScriptedTextModel:
    """Answers about the turn that `hears` was told of; `said` counts what it did amiss, `wrong` has its texts."""

    server: ChatServer = field(default_factory=ChatServer)
    said: dict[Amiss, int] = field(default_factory=lambda: dict.fromkeys((*AMISS, "failing"), 0))
    wrong: set[object] = field(default_factory=set)
    _turn: LabelledTurn | None = None
    _amiss: Iterator[Amiss] = field(default_factory=lambda: cycle(AMISS))
    _is_again: bool = False

    def __post_init__(self) -> None:
        self.server.behaviour = self._answer

    def hears(self, turn: LabelledTurn) -> None:
        """Know which turn it will be asked about."""
        self._turn, self._is_again = turn, False

    def _answer(self, _asked: Asked) -> Reply | None:
        if self._turn is None:
            return None
        right = items_of(self._turn)
        if self._is_again:
            return self._reply(right)
        self._is_again = True
        asked = 1 + sum(self.said.values())
        amiss = next(self._amiss) if asked % FAILING_EVERY else "failing"
        self.said[amiss] += 1
        if amiss == "failing":
            return Reply(500, {"error": {"message": "try again"}})
        if amiss == "broken":
            return self.server.said('{"items": [{"kind": "fact", "text": ')
        wrong = wrong_items(self._turn, amiss, MOST + 1 - len(right))
        self.wrong.update(item["text"] for item in wrong)
        return self._reply([*right, *wrong])

    def _reply(self, items: Sequence[Item]) -> Reply:
        return self.server.said(json.dumps({"items": list(items)}, ensure_ascii=False))


def items_of(turn: LabelledTurn) -> list[Item]:
    """Return what a perfect model would say of a turn."""
    found = []
    for label in turn["keep"]:
        kind = next((kind for kind in KINDS if kind in label["kinds"]), "preference")
        text = _told(label["says"], turn["user"], is_inverted=False)
        found.append({"kind": kind, "text": text, "confidence": 0.9})
    return found


def wrong_items(turn: LabelledTurn, amiss: Amiss, room: int) -> list[Item]:
    """Return what is not to be kept of a turn, amiss in one way; of what is too many, `room` items."""
    message = turn["user"]
    is_chinese = bool(_HAN.search(message))
    own, other = (INVENTED[1], INVENTED[0]) if is_chinese else INVENTED
    start = message[:100]
    match amiss:
        case "unsure":
            told = [(f"用户说{start}" if is_chinese else "The user said it.", 0.3)]
        case "translated":
            told = [(other, 0.9)]
        case "inverted" if turn["keep"]:
            told = [(_told(turn["keep"][0]["says"], message, is_inverted=True), 0.9)]
        case "first person":
            told = [(f"我说{start}" if is_chinese else f"I said {start}", 0.9)]
        case "too many":
            told = [(own, 0.9)] * room
        case _:
            told = [(own, 0.9)]
    return [{"kind": "fact", "text": text, "confidence": confidence} for text, confidence in told]


def _told(says: Sequence[str], message: str, *, is_inverted: bool) -> str:
    """Return words of a message in the third person: denied where their clause denies, or the other way round."""
    clauses = [one for one in _CLAUSE.split(message) if all(said in one for said in says)]
    is_denied = bool(_NEGATES.search(min(clauses, key=len, default=message))) != is_inverted
    adds = is_denied != any(_NEGATES.search(said) for said in says)
    if _HAN.search(message):
        return f"用户{'不' if adds else ''}说{'、'.join(says)}。"
    return f"The user said{' not' if adds else ''}: {', '.join(says)}."
