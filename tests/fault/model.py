"""The oracle: the present and all former texts of the documents of a workspace.

Each version of a document has unique marker words, so that a hit can be traced to the version it quotes.
"""

import random
import re
import time
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
    """Return a word that is in no other text."""
    return f"mk{rnd.getrandbits(48):012x}"


def paragraph(rnd: random.Random, words: int) -> str:
    """Return `words` random words with a unique marker."""
    return " ".join([*rnd.choices(VOCABULARY, k=words), new_marker(rnd)]) + ".\n"


def of_size(data: bytes, size: int) -> bytes:
    """Return a text cut or filled up to a number of bytes."""
    return data[:size].decode(errors="ignore").encode().ljust(size, b"\n")


def document(rnd: random.Random, paragraphs: int | None = None) -> bytes:
    """Return a new document of a few paragraphs, now and then a long one."""
    count = paragraphs or rnd.choice((1, 2, 3, 5, 8))
    parts = [f"# {rnd.choice(VOCABULARY)} {new_marker(rnd)}\n"]
    for number in range(count):
        if number % 4 == 3:
            parts.append(f"## {rnd.choice(VOCABULARY)}\n")
        parts.append(paragraph(rnd, rnd.randint(5, 60)))
    return "\n".join(parts).encode()


ALWAYS_HIDDEN, AT_TIMES_HIDDEN = "memory/private/", "bank/entities/"
"""Folders that all versions, or some versions, of the ignore file name."""
HUSHED = b"---\nmemory: false\n---\n"
"""The front matter of a private document."""


@dataclass
class Oracle:
    """`files` maps each document's path, relative to the workspace, to its bytes, including private ones."""

    files: dict[str, bytes] = field(default_factory=dict)
    hidden: tuple[str, ...] = (ALWAYS_HIDDEN,)
    """Prefixes of the paths that the ignore file leaves out."""
    ever: set[str] = field(default_factory=set)
    """All markers that were public at some time."""
    ever_at: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    retired: dict[tuple[str, str], float] = field(default_factory=dict)
    """When (monotonic seconds) a path lost a marker for good."""

    def announce(self, path: str, data: bytes) -> None:
        """Record a text before it is written: parts of it may be seen before the save ends."""
        if self.is_private(path, data):
            return
        words = markers(data)
        self.ever |= words
        self.ever_at[path] |= words
        for word in words:
            self.retired.pop((path, word), None)

    def wrote(self, path: str, data: bytes) -> None:
        """Record the end of a save."""
        self.announce(path, data)
        self._retire(path, keep=set() if self.is_private(path, data) else markers(data))
        self.files[path] = data

    def moved(self, old: str, new: str) -> None:
        """Record a rename; announce the text at the new path first."""
        data = self.files[old]
        self.removed(old)
        self.wrote(new, data)

    def removed(self, path: str) -> None:
        """Record a deletion."""
        self._retire(path, keep=set())
        del self.files[path]

    def hide(self, prefixes: tuple[str, ...]) -> None:
        """Record which folders the ignore file ignores from now on."""
        self.hidden = prefixes
        for path, data in self.files.items():
            self.wrote(path, data)

    def is_private(self, path: str, data: bytes) -> bool:
        """Tell whether a document must not be indexed."""
        return path.startswith(self.hidden) or data.startswith(HUSHED)

    def public(self) -> dict[str, bytes]:
        """Return the documents that must be indexed."""
        return {path: data for path, data in self.files.items() if not self.is_private(path, data)}

    def live(self) -> dict[str, str]:
        """Return the markers that a search must find, each with the path of a document."""
        return {word: path for path, data in self.public().items() for word in markers(data)}

    def dead(self) -> set[str]:
        """Return the markers that are in no public document any more."""
        return self.ever - self.live().keys()

    def secrets(self) -> set[str]:
        """Return the markers that are only in private documents now."""
        private = (data for path, data in self.files.items() if self.is_private(path, data))
        return {word for data in private for word in markers(data)} - self.live().keys()

    def _retire(self, path: str, *, keep: set[str]) -> None:
        now = time.monotonic()
        for word in markers(self.files.get(path, b"")) - keep:
            self.retired.setdefault((path, word), now)
