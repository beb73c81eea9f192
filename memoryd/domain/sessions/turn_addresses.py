"""Addresses of turns, `session:<id>#Q17`, and ranges of their numbers as a person writes them."""

import re
from dataclasses import dataclass
from typing import Final

from memoryd.domain.citations import Citation, parse
from memoryd.domain.conversation_paths import TURN_LINES, turns_path
from memoryd.domain.sessions.turns import SessionId

_SCHEME: Final = turns_path("")
_RANGE: Final = re.compile(r"[Qq]?(?P<first>[0-9]{1,9})?(?P<to>-(?:[Qq]?(?P<last>[0-9]{1,9}))?)?\Z")


@dataclass(frozen=True, slots=True)
class SeqRange:
    """Turns by their numbers, from 1, the end included; None for the last one there is."""

    first: int = 1
    last: int | None = None

    def __contains__(self, seq: int) -> bool:
        return self.first <= seq and (self.last is None or seq <= self.last)

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last or ''}"


ALL_TURNS: Final = SeqRange()


@dataclass(frozen=True, slots=True)
class TurnAddress:
    """A session by the name that somebody gave it, and which of its turns are meant."""

    session: str
    seqs: SeqRange = ALL_TURNS

    @property
    def seq(self) -> int | None:
        """The number of the turn if it is one alone."""
        return self.seqs.first if self.seqs.first == self.seqs.last else None


def turn_address(session: SessionId, seq: int) -> str:
    """Return how a turn is cited."""
    return str(Citation(turns_path(session), TURN_LINES * (seq - 1) + 1, TURN_LINES * seq))


def parse_address(text: str) -> TurnAddress:
    """Read `session:<id>#Q17`, `session:<id>#Q15-Q17` or a session alone, `session:` left out or not.

    Raises ValueError for turns that run backwards.
    """
    found = parse(_SCHEME + text.strip().removeprefix(_SCHEME))
    name = found.path.removeprefix(_SCHEME)
    if found.start_line is None or found.end_line is None or not found.place.startswith("Q"):
        return TurnAddress(text.strip().removeprefix(_SCHEME))
    return TurnAddress(name, SeqRange(-(-found.start_line // TURN_LINES), -(-found.end_line // TURN_LINES)))


def parse_seqs(text: str) -> SeqRange:
    """Read `17`, `10-20`, `10-` or `-20`, each number also as `Q17`; raises ValueError."""
    found = _RANGE.match(text.strip())
    if found is None or not (found["first"] or found["last"]):
        raise ValueError(f"not a range of turns: {text!r} (expected 17, 10-20, 10- or -20)")
    first = int(found["first"] or 1)
    last = first if not found["to"] else int(found["last"]) if found["last"] else None
    if first < 1 or (last is not None and last < first):
        raise ValueError(f"not a range of turns: {text!r} (turns count from 1, and the first comes first)")
    return SeqRange(first, last)
