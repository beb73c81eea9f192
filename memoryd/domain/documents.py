"""What counts as a document of a workspace, decided from its name and place alone."""

import re
from collections.abc import Container
from enum import StrEnum
from typing import NewType

from msgspec import Struct

from memoryd.domain.expressions import expression

RelativePath = NewType("RelativePath", str)
"""A path relative to the workspace with `/` between parts; an extra path outside it starts with `../`."""

SessionId = NewType("SessionId", str)
"""The name of a session, safe for file names: see `sessions.names`."""

CORE_FILES = ("MEMORY.md", "memory.md")
ROOT_FILES = (*CORE_FILES, "SOUL.md")
ROOT_FOLDERS = ("memory", "bank")
SUFFIX = ".md"
IMPORTED = "memory/imported/"
"""Below it lie notes of other programs, in a folder of the name of each; they are text, and state no memories."""
PERSON = r"[a-z0-9][a-z0-9_-]{0,31}"
"""What members of a team are called, and teams."""
RESERVED = frozenset({"session", "sessions", "qmd", "team", "memory", "bank"})
"""No names of people: citations begin with these."""
_PERSON = expression(PERSON)
_OF_PERSON = expression(rf"(?P<person>{PERSON}):(?=memory/)")


def is_person(name: str) -> bool:
    """Tell whether a member of a team may be called so."""
    return _PERSON.fullmatch(name) is not None and name not in RESERVED


def person_of(path: str) -> str:
    """Return which member of a team shared a document, as its path says: `ana:memory/2026-11-02.md`; empty: nobody."""
    match = _OF_PERSON.match(path) if ":memory/" in path else None
    return "" if match is None else match["person"]


def is_outside(path: str) -> bool:
    """Tell whether a document lies outside of the workspace."""
    return path.startswith("../") or bool(person_of(path))


def home_path(path: str) -> str:
    """Return the path that a shared document has at home of who shared it, and any other as it is."""
    return path.removeprefix(f"{person}:") if (person := person_of(path)) else path


class Source(StrEnum):
    """Which set a document belongs to, as `sources` in the configuration names it."""

    MEMORY = "memory"
    SESSIONS = "sessions"


class Speaker(StrEnum):
    """Who said it, as the indexed text names them."""

    USER = "User"
    ASSISTANT = "Assistant"


class FileStat(Struct, frozen=True):
    """What a scan compares: any difference means that the content may have changed. The device is the folder's."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class SkippedFile(Struct, frozen=True):
    """A path that looks like a document and is not indexed, and why."""

    path: RelativePath
    reason: str


class OutsideCount(Struct, frozen=True):
    """How many Markdown files of a workspace lie where nobody looks; `is_more` if counting stopped there."""

    files: int = 0
    is_more: bool = False

    def __str__(self) -> str:
        return f"{'more than ' if self.is_more else ''}{self.files:,} Markdown file{'' if self.files == 1 else 's'}"

    @property
    def verb(self) -> str:
        return "is" if self.files == 1 else "are"


INDEX_ALL = 'start memoryd with --all, or set memorySearch.extraPaths to ["."]'
"""What to do about them."""


def is_hidden(name: str) -> bool:
    """Tell whether a file or folder name is left out as hidden (`.git`, `.#note.md`, `.note.md.swp`)."""
    return name.startswith(".")


def is_document_name(name: str) -> bool:
    """Tell whether a file of this name is a document: Markdown, not hidden, not an editor's leftover.

    Leftovers end in `~` or stand between `#` signs; what ends in something else than `.md` is none of ours.
    """
    return name.lower().endswith(SUFFIX) and len(name) > len(SUFFIX) and not is_hidden(name) and name[0] != "#"


CONFLICT_MARK = "conflict"
"""It is in the name of each copy that `original_of` knows."""
_OF_CONFLICT = expression(
    r"(?:\.sync-conflict-[0-9A-Za-z-]+"
    r"| ?\([^()/]*conflicted copy[^()/]*(?:\([^()/]*\)[^()/]*)?\)"
    r"| \((?:Case|Selective Sync|Unicode Encoding|White Space) Conflict(?: \d+)?\)"
    r"| \(SFConflict [^()/]+\)"
    r"|_conflict-\d{8}-\d{6})+(?=\.[^./]+$)",
    re.IGNORECASE,
)
"""What Syncthing, Dropbox, Nextcloud and Obsidian, Seafile, and older ownCloud put into the name of the other version.

iCloud and OneDrive name theirs as people name notes, `x 2.md` and `x-laptop.md`, so that nobody can know these by name.
"""
_MAYBE_OF_CONFLICT = expression(r"(?: \d|-[^/]+?)\.[^./]+$")


def original_of(path: str) -> RelativePath:
    """Return of which document one is the copy that a synchronising program made of two changes at once, or itself."""
    return RelativePath(_OF_CONFLICT.sub("", path) if CONFLICT_MARK in path.lower() else path)


def possible_original_of(path: str, others: Container[str]) -> str:
    """Return of which of the other documents one may be the copy that iCloud or OneDrive made; empty if of none."""
    cuts = (place for place, sign in enumerate(path) if sign in " -" and _MAYBE_OF_CONFLICT.match(path, place))
    ending = path[path.rfind(".") :]
    return next((name for cut in cuts if (name := path[:cut] + ending) in others), "")


def is_conflict_copy(path: str) -> bool:
    """Tell whether a file of this name is what a synchronising program made of two changes at once."""
    return original_of(path) != path


def is_utf8_name(name: str) -> bool:
    """Tell whether a name that the file system gave is valid UTF-8 (no surrogate escapes)."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable_name(name: str) -> str:
    """Return the name with bytes that are not UTF-8 written as `\\xNN`, fit for a reply or a log line."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
