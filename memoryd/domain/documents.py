"""Names of documents in a workspace, and citations of documents.

Citations are `memory/2026-10-18.md#L12-L15`, or `session:main-20261018#Q3`. In an index of conversations a transcript
has the path `sessions/<agent>/<file>`, and the turns of a session `session:<id>`. Neither can be the name of a note,
which ends in `.md`. A long conversation is stored in parts, `<path>@<first line>`, which no reply shows. The lines of a
transcript are those of its file; the question of turn s is line 2s - 1, its answer line 2s.
"""

import re
from collections.abc import Container
from enum import StrEnum
from typing import NewType

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.media import modality_of

RelativePath = NewType("RelativePath", str)
"""A path relative to the workspace with `/` between parts; an extra path outside the workspace starts with `../`."""

SessionId = NewType("SessionId", str)
"""Name of a session, safe for file names; see `sessions.names`."""

CORE_FILES = ("MEMORY.md", "memory.md")
PERSONA = RelativePath("SOUL.md")
"""Shown beside the core file, and never written."""
ROOT_FILES = (*CORE_FILES, PERSONA)
ROOT_FOLDERS = ("memory", "bank")
SUFFIX = ".md"
IMPORTED = "memory/imported/"
"""Folder of notes of other programs, one subfolder per program; their lines are text, not memories."""
PERSON_CHARS = 32
PERSON = rf"[a-z0-9][a-z0-9_-]{{0,{PERSON_CHARS - 1}}}"
"""Regular expression for names of team members and teams."""
RESERVED = frozenset({"session", "sessions", "qmd", "team", "memory", "bank"})
"""Names that people cannot have, since citations begin with them."""
_PERSON = expression(PERSON)
_OF_PERSON = expression(rf"(?P<person>{PERSON}):(?=memory/)")


def is_person(name: str) -> bool:
    """Return whether a team member may have this name."""
    return _PERSON.fullmatch(name) is not None and name not in RESERVED


def person_of(path: str) -> str:
    """Return the team member who shared a document, from a path such as `ana:memory/2026-11-02.md`; empty if none."""
    match = _OF_PERSON.match(path) if ":memory/" in path else None
    return "" if match is None else match["person"]


def name_marks(*names: str | None) -> str:
    """Return the marks to show before a text, such as `[ana] ` for the team member who shared it."""
    return "".join(f"[{name}] " for name in names if name)


def is_outside(path: str) -> bool:
    """Return whether a document is outside the workspace."""
    return path.startswith("../") or bool(person_of(path))


def owner_path(path: str) -> str:
    """Return the path of a shared document in its owner's workspace; any other path unchanged."""
    return path.removeprefix(f"{person}:") if (person := person_of(path)) else path


class Source(StrEnum):
    """Set that a document belongs to, as named by `sources` in the configuration."""

    MEMORY = "memory"
    SESSIONS = "sessions"


class Speaker(StrEnum):
    """Author of a message, as named in the indexed text."""

    USER = "User"
    ASSISTANT = "Assistant"


class FileStat(Struct, frozen=True):
    """Values that a scan compares: a difference means that the content may have changed. `device` is the folder's."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class SkippedFile(Struct, frozen=True):
    """A path that looks like a document but is not indexed, and the reason."""

    path: RelativePath
    reason: str


class OutsideCount(Struct, frozen=True):
    """Number of Markdown files of a workspace outside the indexed folders; `is_more` if counting stopped there."""

    files: int = 0
    is_more: bool = False
    copies: tuple[str, ...] = ()
    """The conflict copies of files at the top among them."""

    def __str__(self) -> str:
        return f"{'more than ' if self.is_more else ''}{self.files:,} Markdown file{'' if self.files == 1 else 's'}"

    @property
    def verb(self) -> str:
        return "is" if self.files == 1 else "are"


INDEX_ALL = 'start memoryd with --all, or set memorySearch.extraPaths to ["."]'
"""Advice on how to index them."""


def is_hidden(name: str) -> bool:
    """Return whether a file or folder is left out as hidden (`.git`, `.#note.md`, `.note.md.swp`)."""
    return name.startswith(".")


def is_document_name(name: str) -> bool:
    """Return whether a file of this name is a document: it ends in `.md`, and is neither hidden nor an editor's file.

    Editors leave files that end in `~`, or that begin and end with `#`.
    """
    return name.lower().endswith(SUFFIX) and len(name) > len(SUFFIX) and not is_hidden(name) and name[0] != "#"


CONFLICT_MARK = "conflict"
"""Part of the name of each copy that `original_of` recognises, in lower case."""
_OF_CONFLICT = expression(
    r"(?:\.sync-conflict-[0-9A-Za-z-]+"
    r"| ?\([^()/]*conflicted copy[^()/]*(?:\([^()/]*\)[^()/]*)?\)"
    r"| \((?:Case|Selective Sync|Unicode Encoding|White Space) Conflict(?: \d+)?\)"
    r"| \(SFConflict [^()/]+\)"
    r"|_conflict-\d{8}-\d{6})+(?=\.[^./]+$)",
    re.IGNORECASE,
)
"""Parts that Syncthing, Dropbox, Nextcloud and Obsidian, Seafile, and older ownCloud add to a conflict copy's name.

iCloud and OneDrive name copies as people name notes, `x 2.md` and `x-laptop.md`: the name alone does not show them.
"""
_MAYBE_OF_CONFLICT = expression(r"(?: \d|-[^/]+?)\.[^./]+$")


def original_of(path: str) -> RelativePath:
    """Return the original of a conflict copy, which a synchronising program made; any other path unchanged."""
    return RelativePath(_OF_CONFLICT.sub("", path) if CONFLICT_MARK in path.lower() else path)


def possible_original_of(path: str, others: Container[str]) -> str:
    """Return which of `others` may be the original of `path` as a conflict copy by iCloud or OneDrive, or ""."""
    cuts = (place for place, sign in enumerate(path) if sign in " -" and _MAYBE_OF_CONFLICT.match(path, place))
    ending = path[path.rfind(".") :]
    return next((name for cut in cuts if (name := path[:cut] + ending) in others), "")


def is_conflict_copy(path: str) -> bool:
    """Return whether a file of this name is a conflict copy, which a synchronising program made."""
    return original_of(path) != path


def is_copy_at_top(path: str) -> bool:
    """Return whether a path is that of a conflict copy of a file at the top, which may be in no root."""
    return path not in ROOT_FILES and original_of(path) in ROOT_FILES


def is_utf8_name(name: str) -> bool:
    """Return whether a name from the file system is valid UTF-8, without surrogate escapes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable_name(name: str) -> str:
    """Return the name with bytes that are not UTF-8 written as `\\xNN`, for a reply or a log line."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


_CITATION = expression(
    r"(?s)(?P<path>.+?)(?:#(?P<unit>[LQ])(?P<start>[0-9]{1,9})(?:-(?P=unit)?(?P<end>[0-9]{1,9}))?"
    r"(?:@(?P<mark>[0-9a-f]{8}))?)?\Z"
)
_CONTROL = expression(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class CitationMode(StrEnum):
    """Whether answers cite in their text: always, never, or in direct chats only."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"

    def cites(self, *, is_direct: bool) -> bool:
        """Return whether to cite; `auto` does not, in a group, reveal the paths of notes."""
        return self is CitationMode.ON or (self is CitationMode.AUTO and is_direct)


class Citation(Struct, frozen=True):
    """A document, optionally with lines: 1-based, inclusive.

    A session of turns is cited by turns: `#Q17` for lines 33 and 34. A mark after an `@` is the first eight hexadecimal
    digits of the id of the memory on those lines.
    """

    path: str
    start_line: int | None = None
    end_line: int | None = None
    mark: str = ""

    def __str__(self) -> str:
        place = self.place
        return f"{self.path}#{place}{f'@{self.mark}' if self.mark else ''}" if place else self.path

    @property
    def line_count(self) -> int:
        """Number of cited lines; 1 for a complete document."""
        return 1 if self.start_line is None else (self.end_line or self.start_line) - self.start_line + 1

    @property
    def place(self) -> str:
        """The part after the `#`: `L5`, `L5-L9`, `Q17`; empty for a complete document."""
        if self.start_line is None:
            return ""
        first, last = self.start_line, self.end_line or self.start_line
        if not is_turns_path(self.path):
            return _range("L", first, last)
        return _range("Q", _turn_of(first), _turn_of(last))


def _turn_of(line: int) -> int:
    return (line + TURN_LINES - 1) // TURN_LINES


def _range(unit: str, first: int, last: int) -> str:
    return f"{unit}{first}" if first == last else f"{unit}{first}-{unit}{last}"


def citation_text(path: str, first: int, last: int) -> Citation:
    """Return the citation of a chunk: its lines, or the complete file for a picture or sound, which has no lines."""
    return Citation(path) if modality_of(path) else Citation(path, first, last)


def parse(text: str) -> Citation:
    """Parse `path`, `path#L5`, `path#L5-L9`, or `session:ID#Q3-Q4` for the lines of turns of a session.

    A mark may follow the lines: `path#L5@1a2b3c4d`. Raises ValueError for anything else, and for a reversed range.
    """
    match = _CITATION.match(text)
    if match is None or match["path"].startswith("#L"):
        raise ValueError(f"not a citation: {text!r} (expected path, path#L5, path#L5-L9 or session:ID#Q3)")
    path, unit, start, end = match["path"], match["unit"], match["start"], match["end"]
    # a file name may contain `#Q3`; the name of a session may not
    if start is None or (unit == "Q" and not is_turns_path(path)):
        return Citation(text)
    first, last = int(start), int(end or start)
    if first < 1 or last < first:
        raise ValueError(f"not a {'line' if unit == 'L' else 'turn'} range: {_range(unit, first, last)}")
    if unit == "Q":
        first, last = TURN_LINES * (first - 1) + 1, TURN_LINES * last
    return Citation(path, first, last, match["mark"] or "")


def citation_in(text: str) -> Citation | None:
    """Return the text as a citation; None if it is not one."""
    try:
        return parse(text)
    except ValueError:
        return None


def conversation_cited(text: str) -> Citation | None:
    """Return the text as a citation of a conversation; None if it is not one."""
    citation = citation_in(text)
    return citation if citation is not None and is_conversation(citation.path) else None


def escape_controls(path: str) -> str:
    """Return a path on one line, with control characters and line breaks written as escapes."""
    return _CONTROL.sub(lambda sign: sign[0].encode("unicode_escape").decode(), path)


def with_footer(snippet: str, citation: Citation) -> str:
    """Return a snippet with a blank line and `Source: path#L5-L9` below it; the path cannot break out of its line."""
    return f"{snippet.rstrip()}\n\nSource: {escape_controls(str(citation))}"


TURN_LINES = 2
"""Number of lines of a turn: its question and its answer."""
TURNS = "session:"
"""Prefix of the path of a session of turns."""
_TURNS = expression(r"session:(?P<id>[^\s./:#@]+)\Z")
_TRANSCRIPT = expression(r"(?s)sessions/[^/]+/[^/]+\Z")
_PART = expression(r"(?s)(?P<path>.+)@[1-9][0-9]*\Z")


def turns_path(session: str) -> RelativePath:
    """Return the path of a session that is stored as turns."""
    return RelativePath(f"{TURNS}{session}")


def session_of(path: RelativePath) -> SessionId:
    """Return the session id in a path returned by `turns_path`."""
    return SessionId(path.removeprefix(TURNS))


def transcript_path(agent: str, name: str) -> RelativePath:
    """Return the path of a transcript, from its agent and the name of its file."""
    return RelativePath(f"sessions/{agent}/{name}")


def part_path(path: RelativePath, first_line: int) -> RelativePath:
    """Return the path of the stored part of a conversation that begins at this line."""
    return RelativePath(f"{path}@{first_line}")


def conversation_path(path: RelativePath) -> RelativePath:
    """Return the path to show: for a part of a conversation that of the conversation, any other path unchanged."""
    match = _PART.match(path) if "@" in path else None
    return RelativePath(match["path"]) if match is not None and is_conversation(match["path"]) else path


def is_turns_path(path: str) -> bool:
    """Return whether a path names a session that is stored as turns, and so is cited by turns."""
    return _TURNS.match(path) is not None


def is_conversation(path: str) -> bool:
    """Return whether a path has the form of a conversation; a note may be in a folder `sessions`, too."""
    if is_turns_path(path):
        return True
    if _TRANSCRIPT.match(path) is None:
        return False
    name = path.rpartition("/")[2]
    return modality_of(name) is None and not is_document_name(name)


_RANGE = expression(r"[Qq]?(?P<first>[0-9]{1,9})?(?P<to>-(?:[Qq]?(?P<last>[0-9]{1,9}))?)?\Z")


class SeqRange(Struct, frozen=True):
    """A range of turn numbers, from 1, inclusive; `last` is None for an open end."""

    first: int = 1
    last: int | None = None

    def __contains__(self, seq: int) -> bool:
        return self.first <= seq and (self.last is None or seq <= self.last)

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last or ''}"


ALL_TURNS = SeqRange()


class TurnAddress(Struct, frozen=True):
    """A session by its given name, and a range of its turns."""

    session: str
    seqs: SeqRange = ALL_TURNS

    @property
    def seq(self) -> int | None:
        """Number of the turn if the range has only one, else None."""
        return self.seqs.first if self.seqs.first == self.seqs.last else None


def turn_address(session: SessionId, seq: int) -> str:
    """Return the citation of a turn, `session:<id>#Q<seq>`."""
    return str(Citation(turns_path(session), TURN_LINES * (seq - 1) + 1, TURN_LINES * seq))


def parse_address(text: str) -> TurnAddress:
    """Parse `session:<id>#Q17`, `session:<id>#Q15-Q17` or a session alone, with or without `session:`.

    Raises ValueError for a reversed range.
    """
    bare = text.strip().removeprefix(TURNS)
    citation = parse(TURNS + bare)
    if citation.start_line is None or citation.end_line is None or not citation.place.startswith("Q"):
        return TurnAddress(bare)
    name = citation.path.removeprefix(TURNS)
    return TurnAddress(name, SeqRange(_turn_of(citation.start_line), _turn_of(citation.end_line)))


def parse_seqs(text: str) -> SeqRange:
    """Parse `17`, `10-20`, `10-` or `-20`, each number also as `Q17`; raises ValueError for anything else."""
    match = _RANGE.match(text.strip())
    if match is None or not (match["first"] or match["last"]):
        raise ValueError(f"not a range of turns: {text!r} (expected 17, 10-20, 10- or -20)")
    first = int(match["first"] or 1)
    last = first if not match["to"] else int(match["last"]) if match["last"] else None
    if first < 1 or (last is not None and last < first):
        raise ValueError(f"not a range of turns: {text!r} (turns count from 1, and the first comes first)")
    return SeqRange(first, last)
