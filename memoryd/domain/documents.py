"""What counts as a document of a workspace, decided from its name and place alone; and how documents are cited.

Citations are `memory/2026-10-18.md#L12-L15`, or `session:main-20261018#Q3`. In an index of conversations a transcript
is `sessions/<agent>/<file>`, the turns of a session are `session:<id>`; neither is the name of a note, which ends in
`.md`. A long conversation is stored in parts, `<path>@<first line>`, which no reply shows. The lines of a transcript
are those of its file; the question of turn s is line 2s - 1, its answer line 2s.
"""

import re
from collections.abc import Container
from enum import StrEnum
from typing import NewType

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.media import modality_of

RelativePath = NewType("RelativePath", str)
"""A path relative to the workspace with `/` between parts; an extra path outside it starts with `../`."""

SessionId = NewType("SessionId", str)
"""The name of a session, safe for file names: see `sessions.names`."""

CORE_FILES = ("MEMORY.md", "memory.md")
PERSONA = RelativePath("SOUL.md")
"""Shown beside the core file, and never written."""
ROOT_FILES = (*CORE_FILES, PERSONA)
ROOT_FOLDERS = ("memory", "bank")
SUFFIX = ".md"
IMPORTED = "memory/imported/"
"""Below it lie notes of other programs, in a folder of the name of each; they are text, and state no memories."""
PERSON_CHARS = 32
PERSON = rf"[a-z0-9][a-z0-9_-]{{0,{PERSON_CHARS - 1}}}"
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


def marks(*names: str | None) -> str:
    """Return what stands before a text that is told: `[ana] ` for who of the team shares it, or what else is so."""
    return "".join(f"[{name}] " for name in names if name)


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
        """Resolve `auto`: a group is not shown where somebody keeps notes."""
        return self is CitationMode.ON or (self is CitationMode.AUTO and is_direct)


class Citation(Struct, frozen=True):
    """A document and, unless the whole of it is meant, its lines: 1-based, inclusive.

    What consists of turns is cited by these: `#Q17` for lines 33 and 34. A mark, eight hexadecimal digits behind an
    `@`, says what stood there: the beginning of the id of a memory.
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
        """How many lines are meant; of a whole document the first."""
        return 1 if self.start_line is None else (self.end_line or self.start_line) - self.start_line + 1

    @property
    def place(self) -> str:
        """What stands behind the `#`: `L5`, `L5-L9`, `Q17`; empty if the whole document is meant."""
        if self.start_line is None:
            return ""
        first, last = self.start_line, self.end_line or self.start_line
        if not holds_turns(self.path):
            return _range("L", first, last)
        return _range("Q", -(-first // TURN_LINES), -(-last // TURN_LINES))


def _range(unit: str, first: int, last: int) -> str:
    return f"{unit}{first}" if first == last else f"{unit}{first}-{unit}{last}"


def cited(path: str, first: int, last: int) -> Citation:
    """Return the citation of a chunk: its lines, or the whole of a picture or sound, which has none."""
    return Citation(path) if modality_of(path) else Citation(path, first, last)


def parse(text: str) -> Citation:
    """Read `path`, `path#L5`, `path#L5-L9`, or of a session `session:ID#Q3-Q4`, which names the lines of these turns.

    Lines may have a mark behind them: `path#L5@1a2b3c4d`. Raise ValueError for anything else, also for lines that run
    backwards.
    """
    match = _CITATION.match(text)
    if match is None or match["path"].startswith("#L"):
        raise ValueError(f"not a citation: {text!r} (expected path, path#L5, path#L5-L9 or session:ID#Q3)")
    path, unit, start, end = match["path"], match["unit"], match["start"], match["end"]
    # a file name may hold a `#Q3`, that of a session may not
    if start is None or (unit == "Q" and not holds_turns(path)):
        return Citation(text)
    first, last = int(start), int(end or start)
    if first < 1 or last < first:
        raise ValueError(f"not a {'line' if unit == 'L' else 'turn'} range: {_range(unit, first, last)}")
    if unit == "Q":
        first, last = TURN_LINES * (first - 1) + 1, TURN_LINES * last
    return Citation(path, first, last, match["mark"] or "")


def citation_in(text: str) -> Citation | None:
    """Return the citation that a text is, None if it is none."""
    try:
        return parse(text)
    except ValueError:
        return None


def conversation_cited(text: str) -> Citation | None:
    """Return the citation that a text is, if it is one of a conversation."""
    citation = citation_in(text)
    return citation if citation is not None and is_conversation(citation.path) else None


def one_line(path: str) -> str:
    """Return a path with its control characters and line breaks written as escapes, fit for one line of text."""
    return _CONTROL.sub(lambda sign: sign[0].encode("unicode_escape").decode(), path)


def with_footer(snippet: str, citation: Citation) -> str:
    """Put `Source: path#L5-L9` under a snippet, one blank line between; a path cannot break out of its line."""
    return f"{snippet.rstrip()}\n\nSource: {one_line(str(citation))}"


TURN_LINES = 2
"""Of a turn: its question and its answer."""
TURNS = "session:"
"""How the path of a session of turns begins."""
_TURNS = expression(r"session:(?P<id>[^\s./:#@]+)\Z")
_TRANSCRIPT = expression(r"(?s)sessions/[^/]+/[^/]+\Z")
_PART = expression(r"(?s)(?P<path>.+)@[1-9][0-9]*\Z")


def turns_path(session: str) -> RelativePath:
    """Return the path of a session that is kept as turns."""
    return RelativePath(f"{TURNS}{session}")


def session_of(path: RelativePath) -> SessionId:
    """Return the session whose turns a conversation is."""
    return SessionId(path.removeprefix(TURNS))


def transcript_path(agent: str, name: str) -> RelativePath:
    """Return the path of a transcript, by the agent whose conversation it is and the name of its file."""
    return RelativePath(f"sessions/{agent}/{name}")


def part_path(path: RelativePath, first_line: int) -> RelativePath:
    """Return the path of the row that holds a conversation from this line on."""
    return RelativePath(f"{path}@{first_line}")


def conversation_path(path: RelativePath) -> RelativePath:
    """Return a path as it is told: that of the conversation for one of its parts, and any other as it is."""
    match = _PART.match(path) if "@" in path else None
    return RelativePath(match["path"]) if match is not None and is_conversation(match["path"]) else path


def holds_turns(path: str) -> bool:
    """Tell whether a path names a session that is kept as turns, whose citations count them."""
    return _TURNS.match(path) is not None


def is_conversation(path: str) -> bool:
    """Tell whether a path names a conversation, by its shape alone: a note may lie in a folder `sessions`, too."""
    if holds_turns(path):
        return True
    if _TRANSCRIPT.match(path) is None:
        return False
    name = path.rpartition("/")[2]
    return modality_of(name) is None and not is_document_name(name)


_RANGE = expression(r"[Qq]?(?P<first>[0-9]{1,9})?(?P<to>-(?:[Qq]?(?P<last>[0-9]{1,9}))?)?\Z")


class SeqRange(Struct, frozen=True):
    """Turns by their numbers, from 1, the end included; None for the last one there is."""

    first: int = 1
    last: int | None = None

    def __contains__(self, seq: int) -> bool:
        return self.first <= seq and (self.last is None or seq <= self.last)

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last or ''}"


ALL_TURNS = SeqRange()


class TurnAddress(Struct, frozen=True):
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
    bare = text.strip().removeprefix(TURNS)
    found = parse(TURNS + bare)
    if found.start_line is None or found.end_line is None or not found.place.startswith("Q"):
        return TurnAddress(bare)
    name = found.path.removeprefix(TURNS)
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
