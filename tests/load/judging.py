"""Checks of answers: of edited notes by their marker words, of unchanged notes by every line."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.fault.model import Oracle, markers
from tests.load.tally import Tally

ELLIPSIS = "…"


class Judge:
    """Compares answers with the editor's oracle and with the texts of unchanged notes."""

    def __init__(self, oracle: Oracle, still: Mapping[str, str], tally: Tally) -> None:
        self.oracle = oracle
        self.still = still
        self._lines = {path: text.splitlines() for path, text in still.items()}
        self.tally = tally

    def found(self, reply: Mapping[str, Any], asked_at: float, sought: str | None) -> None:
        """Check the reply to a search at `asked_at` (monotonic seconds), which must contain the path `sought`."""
        for hit in reply["results"]:
            self.quoted(hit["path"], hit["snippet"], asked_at)
        paths = [hit["path"] for hit in reply["results"]]
        if sought and reply["health"]["complete"] and sought not in paths:
            self.tally.is_wrong(f"I1: {sought} is there and was not found, but {paths}: {reply['reason']}")

    def quoted(self, path: str, text: str, asked_at: float) -> None:
        """Check a text quoted from a document."""
        if path in self.still:
            return self._unchanged(path, text)
        words, ever = markers(text.encode()), self.oracle.ever_at.get(path, set())
        if foreign := words - ever:
            self.tally.is_wrong(f"I2: {path} never held {sorted(foreign)}")
        retired = {word: at for word in words if (at := self.oracle.retired.get((path, word)))}
        if stale := {word: f"{asked_at - at:.3f} s" for word, at in retired.items() if at < asked_at}:
            self.tally.is_wrong(f"I2: {path} had not held {stale} when it was asked for")
        return None

    def read(self, path: str, reply: Mapping[str, Any], first: int, count: int) -> None:
        """Check lines read from an unchanged note."""
        expected = self._lines[path][first - 1 : first - 1 + count]
        given: Sequence[str] = reply["text"].splitlines()
        if given != expected[: len(given)] or (len(given) < len(expected) and not reply["truncated"]):
            self.tally.is_wrong(f"I2: {path} from line {first} on is not what it says")

    def missing(self, path: str) -> None:
        """Check the reply that a document is missing."""
        if path in self.still:
            self.tally.is_wrong(f"I1: {path} is there and could not be read")

    def _unchanged(self, path: str, text: str) -> None:
        whole, lines = self.still[path], text.splitlines()
        if lines and lines[-1].startswith(f"Source: {path}#L"):
            lines.pop()
        if foreign := [line for line in lines if line.strip(f" {ELLIPSIS}") not in whole]:
            self.tally.is_wrong(f"I2: {path} never held {foreign[:2]}")
