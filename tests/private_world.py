"""A workspace whose notes become private and public again, and which texts nobody may hold; for the property tests.

Every text that is written carries a word of its own, so that it can be searched for in any bytes.
"""

import os
import random
import shutil
import string
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from memoryd.domain.patterns import Patterns

NAMES = (
    *("MEMORY.md", "bank/c.md", "memory/a.md", "memory/b.md", "memory/drafts/a.md"),
    *("memory/drafts/deep/b.md", "memory/private/a.md", "memory/private/b.md"),
)
PUBLIC_HEADS = ("", "", "---\ntitle: x\n---\n", "+++\nmemory = true\n+++\n", "memory: false is what I would write.\n\n")
PRIVATE_HEADS = (
    *("---\nmemory: false\n---\n", "---\n\nmemory: 'no'\n---\n", "---\ntags: [a\nmemory: false # x\n---\n"),
    *("\ufeff---\r\nmemory : False\r\n---\r\n", "---\nmemory: false\n", '---\n"memory": "off"\n...\n'),
    *("+++\nmemory = false\n+++\n", '{"memory": false}\n', "# mine\n---\nmemory: off\n---\n"),
    "---\n" + "key: a long value of no interest\n" * 600 + "memory: false\n---\n",
)
RULES = (
    *("private/\n", "drafts/\nprivate/\n", "b.md\n", "/memory/**/a.md\n", "memory/*\n!memory/a.md\n"),
    *("*\n!*/\n!MEMORY.md\n", "*a*a*a*a*a*a*a*a*b\n", "# nothing\n", ""),
)
BROKEN = "drafts/\n[private\n"


@dataclass(frozen=True)
class Write:
    name: str
    head: str


@dataclass(frozen=True)
class Move:
    old: str
    new: str


@dataclass(frozen=True)
class Delete:
    name: str


@dataclass(frozen=True)
class SetRules:
    """None: the file is deleted, and what it said last holds."""

    text: str | None
    encoding: str = "utf-8"


@dataclass(frozen=True)
class Damage:
    """Make of the ignore file what nobody can read."""

    kind: str


@dataclass(frozen=True)
class Restart:
    """`how`: in order, by a crash, or with the index damaged meanwhile."""

    how: str


Step = Write | Move | Delete | SetRules | Damage | Restart
DAMAGES = ("pipe", "folder", "link", "large", "latin", "unmarked", "broken")
names = st.sampled_from(NAMES)
steps = st.one_of(
    st.builds(Write, names, st.sampled_from(PUBLIC_HEADS)),
    st.builds(Write, names, st.sampled_from(PRIVATE_HEADS)),
    st.builds(Move, names, names),
    st.builds(Delete, names),
    st.builds(SetRules, st.sampled_from(RULES), st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16"])),
    st.just(SetRules(None)),
    st.builds(Damage, st.sampled_from(DAMAGES)),
    st.builds(Restart, st.sampled_from(["stop", "kill", "spoil"])),
)
programs = st.lists(st.lists(steps, min_size=1, max_size=3), min_size=1, max_size=8)
"""Each inner list is done at once; then the daemon is given time to follow."""


class PrivateWorld:
    """The disk, and the words of all texts; `settle` says which of them may be nowhere but on it."""

    def __init__(self, workspace: Path, seed: int) -> None:
        self.workspace = workspace
        self._words: dict[str, tuple[str, bool]] = {}
        self._rules: str | None = None
        self._broken: str | None = None
        self._good: str | None = None
        self._forbidden: set[str] = set()
        self._was_public: set[str] = set()
        self._random = random.Random(seed)
        for folder in ("memory", "bank"):
            (workspace / folder).mkdir(parents=True, exist_ok=True)

    def do(self, step: Step) -> None:
        """Change the disk."""
        match step:
            case Write(name, head):
                self._write(name, head)
            case Move(old, new) if old in self._words and old != new:
                self._path(new).parent.mkdir(parents=True, exist_ok=True)
                self._path(old).rename(self._path(new))
                self._words[new] = self._words.pop(old)
            case Delete(name) if name in self._words:
                self._path(name).unlink()
                del self._words[name]
            case SetRules(text, encoding):
                self._set_rules(text, encoding)
            case Damage(kind):
                self._clear()
                _damage(self._path(".memoryignore"), kind)
                self._broken = BROKEN if kind == "broken" else ""

    def settle(self) -> set[str]:
        """Take it that the daemon has seen the disk as it is; return the words that it may not hold or send."""
        is_gone = self._rules is None and Patterns((self._good or "").split("\n"))
        if self._broken is None and not is_gone:
            self._good = self._rules
        hiding = [Patterns(text.split("\n")) for text in (self._good, self._broken) if text]
        for name, (word, is_private) in self._words.items():
            if is_private or any(rules.hides(name) for rules in hiding):
                self._forbidden.add(word)
            elif self._broken is None:
                self._forbidden.discard(word)
                self._was_public.add(word)
            elif word not in self._was_public:
                self._forbidden.add(word)
        return set(self._forbidden)

    @property
    def public(self) -> set[str]:
        """The words that must be found now; None can be told while the rules are broken."""
        there = {word for word, _ in self._words.values()}
        return set() if self._broken is not None else there - self._forbidden

    @property
    def never_public(self) -> set[str]:
        return self._forbidden - self._was_public

    def _write(self, name: str, head: str) -> None:
        word = "".join(self._random.choices(string.ascii_lowercase, k=14))
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"{head}# Note\n\nThis is about {word}.\n".encode())
        self._words[name] = word, head in PRIVATE_HEADS

    def _set_rules(self, text: str | None, encoding: str) -> None:
        self._clear()
        if text is not None:
            self._path(".memoryignore").write_bytes(text.encode(encoding))
        self._rules, self._broken = text, None

    def _clear(self) -> None:
        path = self._path(".memoryignore")
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self.workspace / name


def _damage(path: Path, kind: str) -> None:
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to("/dev/zero")
        case "large":
            path.write_text("# long\n" * 20_000)
        case "latin":
            path.write_bytes("drafts/\ntagebücher/\n".encode("latin-1"))
        case "unmarked":
            path.write_bytes("drafts/\n".encode("utf-16-le"))
        case _:
            path.write_text(BROKEN)


def all_bytes(folder: Path) -> bytes:
    """Return every byte of every regular file below a folder, in lower case."""
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()).lower()


def held(words: set[str], data: bytes) -> set[str]:
    """Return those of the words whose middle stands in the bytes.

    Of a word the keyword index may leave out the beginning, which the word before it has too, and cut the end.
    """
    return {word for word in words if word[3:11].encode() in data}
