"""Whether an answer is true: of notes that change by their marker words, of notes that do not by every line."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.fault.model import Oracle, markers
from tests.load.tally import Tally

ELLIPSIS = "…"


class Judge:
    """Holds answers against what the editor's oracle knows, and against the texts of notes that nobody changes."""

    def __init__(self, oracle: Oracle, still: Mapping[str, str], tally: Tally) -> None:
        self.oracle = oracle
        self.still = still
        self._lines = {path: text.splitlines() for path, text in still.items()}
        self.tally = tally

    def found(self, reply: Mapping[str, Any], asked_at: float, sought: str | None) -> None:
        """Judge the reply to a search, asked at `asked_at` (monotonic seconds), which must name the path `sought`."""
        for hit in reply["results"]:
            self.told(hit["path"], hit["snippet"], asked_at)
        paths = [hit["path"] for hit in reply["results"]]
        if sought and reply["health"]["complete"] and sought not in paths:
            self.tally.is_wrong(f"I1: {sought} is there and was not found, but {paths}: {reply['reason']}")

    def told(self, path: str, text: str, asked_at: float) -> None:
        """Judge a text that was quoted from a document."""
        if path in self.still:
            return self._unchanged(path, text)
        told, ever = markers(text.encode()), self.oracle.ever_at.get(path, set())
        if foreign := told - ever:
            self.tally.is_wrong(f"I2: {path} never held {sorted(foreign)}")
        retired = {word: at for word in told if (at := self.oracle.retired.get((path, word)))}
        if stale := {word: f"{asked_at - at:.3f} s" for word, at in retired.items() if at < asked_at}:
            self.tally.is_wrong(f"I2: {path} had not held {stale} when it was asked for")
        return None

    def read(self, path: str, reply: Mapping[str, Any], first: int, count: int) -> None:
        """Judge lines that were read from a note that nobody changes."""
        expected = self._lines[path][first - 1 : first - 1 + count]
        given: Sequence[str] = reply["text"].splitlines()
        if given != expected[: len(given)] or (len(given) < len(expected) and not reply["truncated"]):
            self.tally.is_wrong(f"I2: {path} from line {first} on is not what it says")

    def missing(self, path: str) -> None:
        """Judge the reply that there is no such document."""
        if path in self.still:
            self.tally.is_wrong(f"I1: {path} is there and could not be read")

    def _unchanged(self, path: str, text: str) -> None:
        whole, lines = self.still[path], text.splitlines()
        if lines and lines[-1].startswith(f"Source: {path}#L"):
            lines.pop()
        if foreign := [line for line in lines if line.strip(f" {ELLIPSIS}") not in whole]:
            self.tally.is_wrong(f"I2: {path} never held {foreign[:2]}")
