"""The oracle: what the documents of a workspace hold now, and every text they ever held.

Each version of a document carries marker words of its own, so that a hit can be traced to the version it quotes.
"""

import random
import re
from collections import defaultdict
from dataclasses import dataclass, field

MARKER = re.compile(rb"\bmk[0-9a-f]{12}\b")
VOCABULARY = [
    *("gateway", "lease", "harbour", "ledger", "violet", "anchor", "copper", "meadow", "signal", "thread", "winter"),
    *("pencil", "orchard", "kernel", "lantern", "matrix", "novel", "oyster", "pepper", "quartz", "ribbon", "saddle"),
    *("tundra", "umbrella", "velvet", "walnut", "海边", "木屋", "屋顶", "café", "naïve", "maxResults"),
]


def markers(data: bytes) -> set[str]:
    """Return the marker words in a text."""
    return {word.decode() for word in MARKER.findall(data)}


def new_marker(rnd: random.Random) -> str:
    """Return a word that no other text holds."""
    return f"mk{rnd.getrandbits(48):012x}"


def paragraph(rnd: random.Random, words: int) -> str:
    """Return `words` random words with a marker of their own."""
    return " ".join([*rnd.choices(VOCABULARY, k=words), new_marker(rnd)]) + ".\n"


def document(rnd: random.Random, paragraphs: int | None = None) -> bytes:
    """Return a new document of a few paragraphs, now and then a long one."""
    count = paragraphs or rnd.choice((1, 2, 3, 5, 8, 60))
    parts = [f"# {rnd.choice(VOCABULARY)} {new_marker(rnd)}\n"]
    for number in range(count):
        if number % 4 == 3:
            parts.append(f"## {rnd.choice(VOCABULARY)}\n")
        parts.append(paragraph(rnd, rnd.randint(5, 60)))
    return "\n".join(parts).encode()


@dataclass
class Oracle:
    """`files` maps each document's path, relative to the workspace, to its bytes."""

    files: dict[str, bytes] = field(default_factory=dict)
    ever: set[str] = field(default_factory=set)
    ever_at: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def announce(self, path: str, data: bytes) -> None:
        """Note a text before it is written: parts of it may be seen before the save is over."""
        words = markers(data)
        self.ever |= words
        self.ever_at[path] |= words

    def wrote(self, path: str, data: bytes) -> None:
        """Note that a save is over."""
        self.announce(path, data)
        self.files[path] = data

    def moved(self, old: str, new: str) -> None:
        """Note a rename; announce the text at the new path first."""
        self.files[new] = self.files.pop(old)

    def removed(self, path: str) -> None:
        """Note a deletion."""
        del self.files[path]

    def live(self) -> dict[str, str]:
        """Return the markers that a search must find, with the path of a document that holds each."""
        return {word: path for path, data in self.files.items() for word in markers(data)}

    def dead(self) -> set[str]:
        """Return the markers that no document holds any more."""
        return self.ever - self.live().keys()
