"""Answers within a bound of tokens: best first, the last one shortened, the rest counted."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, Self, TypeVar

from memoryd.domain.text.tokens import estimate

TOKENS: Final = 1_200
"""Of an answer, estimated, if nobody says."""
TOKENS_MIN: Final = 300
TOKENS_MAX: Final = 100_000
"""What a client may ask for."""
_SHORTEST: Final = 24
"""Tokens of text below which a piece is left out instead of shortened."""
_JOINTS: Final = 12
"""Tokens for the quotation marks and line ends between the parts of an answer."""
_MORE: Final = "…"


class Piece(Protocol):
    """A part of an answer that may be shortened."""

    @property
    def text(self) -> str:
        """What it says."""

    @property
    def shortened(self) -> bool | None:
        """Whether it says more than stands here."""

    def model_copy(self, *, update: dict[str, object]) -> Self:
        """Return it changed."""

    def model_dump(self, *, exclude_none: bool) -> dict[str, Any]:
        """Return it as JSON has it."""


AnyPiece = TypeVar("AnyPiece", bound=Piece)


def json_text(value: object) -> str:
    """Return JSON as the more generous of its writers have it."""
    return json.dumps(value, ensure_ascii=False)


def bounded(
    pieces: Sequence[AnyPiece], limit: int, frame: str, told: Callable[[AnyPiece], str]
) -> tuple[list[AnyPiece], str]:
    """Return the pieces that fit into `limit` tokens beside the frame, and what was cut in words; empty if nothing was.

    A piece costs what its JSON costs or, if that is more, what is told of it.
    """
    left, kept = limit - estimate(frame + _cut(len(pieces), len(pieces), limit)) - _JOINTS, list[AnyPiece]()

    def cost(piece: AnyPiece) -> int:
        return max(estimate(json_text(piece.model_dump(exclude_none=True)) + ", "), estimate(told(piece) + "\n"))

    for piece in pieces:
        fitting = _fitting(piece, left, cost)
        if fitting is None:
            break
        kept.append(fitting[0])
        left -= fitting[1]
    return kept, _cut(len(pieces) - len(kept), sum(bool(one.shortened) for one in kept), limit)


def beginning(text: str, limit: int, cost: Callable[[str], int]) -> str:
    """Return so many whole lines of a text as `limit` tokens hold; a part of the first line if that is longer."""
    if cost(text) <= limit:
        return text
    cut = text[: _largest(len(text), lambda size: cost(text[:size]) <= limit)]
    lines, newline, _ = cut.rpartition("\n")
    return lines + newline or cut


def _fitting(piece: AnyPiece, left: int, cost: Callable[[AnyPiece], int]) -> tuple[AnyPiece, int] | None:
    if (whole := cost(piece)) <= left:
        return piece, whole

    def shortened(size: int) -> AnyPiece:
        return piece.model_copy(update={"text": piece.text[:size].rstrip() + _MORE, "shortened": True})

    size = _largest(len(piece.text), lambda size: cost(shortened(size)) <= left)
    if estimate(piece.text[:size]) < _SHORTEST:
        return None
    found = shortened(size)
    return found, cost(found)


def _largest(end: int, holds: Callable[[int], bool]) -> int:
    """Return the largest number up to `end` for which it holds; 0 if it holds for none."""
    low, high = 0, end
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if holds(middle) else (low, middle - 1)
    return low


def _cut(left_out: int, shortened: int, limit: int) -> str:
    told = [f"{left_out} left out"] * bool(left_out) + [f"{shortened} shortened"] * bool(shortened)
    return f"{', '.join(told)}: an answer has {limit:,} tokens at most (--max-tokens)" if told else ""
