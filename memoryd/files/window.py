"""Taking some lines out of a text that comes in pieces, in bounded memory."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """The lines that were asked for, as many of them as fit.

    `count` tells how many lines the text touches. `next_first` is the line behind them, None at the end of the
    document. `next_column` is set when the last line was too long for one reply: the rest of it begins there.
    """

    text: str
    count: int
    total: int
    next_first: int | None
    next_column: int | None


class Window:
    """Collects `count` lines from line `first`, of that one from character `column` on; all count from 1.

    Never holds more than `max_chars` characters and one piece.
    """

    def __init__(self, *, first: int, count: int, column: int, max_chars: int) -> None:
        self._first = first
        self._column = column
        self._max_chars = max_chars
        self._to_pass = first - 1
        self._to_skip = column - 1
        self._wanted = count
        self._kept = ""
        self._ends = 0
        self._last = ""

    def feed(self, piece: str) -> None:
        """Take the next piece of the text."""
        if not piece:
            return
        ends = piece.count("\n")
        self._ends += ends
        self._last = piece[-1]
        if self._to_pass > ends:
            self._to_pass -= ends
            return
        at = 0
        while self._to_pass:
            at = piece.index("\n", at) + 1
            self._to_pass -= 1
        self._keep(piece, self._skip(piece, at))

    def lines(self) -> Page:
        """Return what was collected, once the text has ended."""
        total = self._ends + (self._last not in ("", "\n"))
        text, next_column = self._fitted()
        count = text.count("\n") + (text[-1:] not in ("", "\n"))
        after = self._first + count
        following = after if count and after <= total else None
        return Page(text, count, total, following, next_column)

    def _skip(self, piece: str, at: int) -> int:
        """Pass over the characters before the column, but not over the end of their line."""
        if not self._to_skip:
            return at
        end = piece.find("\n", at, at + self._to_skip)
        stop = min(at + self._to_skip, len(piece)) if end < 0 else end
        self._to_skip = 0 if end >= 0 else self._to_skip - (stop - at)
        return stop

    def _keep(self, piece: str, at: int) -> None:
        room = self._max_chars + 1 - len(self._kept)
        while self._wanted and at < len(piece) and room > 0:
            end = piece.find("\n", at, at + room)
            part = piece[at : end + 1] if end >= 0 else piece[at : at + room]
            self._wanted -= end >= 0
            self._kept += part
            at += len(part)
            room -= len(part)

    def _fitted(self) -> tuple[str, int | None]:
        """Drop what is beyond the limit: whole lines if there is more than one, else the rest of the line."""
        if len(self._kept) <= self._max_chars:
            return self._kept, None
        end = self._kept.rfind("\n", 0, self._max_chars) + 1
        if end:
            return self._kept[:end], None
        return self._kept[: self._max_chars], self._column + self._max_chars
