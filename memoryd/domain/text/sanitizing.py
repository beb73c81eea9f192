"""Invisible and misleading text: flagged in notes, removed from messages before they are stored.

The text of notes is data, never an instruction. Invisible characters could hide secrets and deceive a reader. Joiners
are kept where emoji and scripts need them, but none may join the letters of a secret.

Git writes two versions of a text between conflict marks: this side above `=======`, the other side below it. With
`merge.conflictStyle` diff3 the common ancestor is between them, and belongs to neither side.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct

from memoryd.domain.documents import is_conflict_copy
from memoryd.domain.expressions import expression
from memoryd.domain.redaction import redact_pieces

_IN_NAMES = expression(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ufeff](?<!^\ufeff)"
)
"""Zero-width characters, bidirectional overrides and tags; not joiners, for emoji and Indic and Persian text."""

_REPLACEMENT = "\ufffd"
_GIT_MARK = expression(r"^(?:<{7}|>{7})(?: .*)?\r?$", re.MULTILINE)
_SOURCE_LINE = expression(r"^[ \t]*Source: \S", re.MULTILINE)


class Flag(StrEnum):
    """Warnings about a document; a reply lists those that apply. The set is closed."""

    INVISIBLE = "invisible-characters"
    """The text has invisible characters: a model reads other text than a person sees."""
    SOURCE_LINE = "source-line"
    """A line looks like the footer of a citation; only the last line of a snippet is ours."""
    HARD_LINK = "hard-link"
    """The file has another name, perhaps outside the workspace."""
    REPLACED = "replaced-bytes"
    """The text has replacement characters for bytes that could not be decoded."""
    CONFLICT = "conflict-copy"
    """The file name is that of a synchronisation conflict, or git left two versions between its marks: another version
    of the text exists."""
    DEPRECATED = "deprecated"
    """The front matter says `status: deprecated`: the note is kept, but no longer valid."""
    SUPERSEDED = "superseded"
    """The front matter says `status: superseded`: something else replaced the note."""
    DRAFT = "draft"
    """The front matter says `status: draft`: the note is not reviewed."""
    STALE = "stale"
    """The day of `stale_after` has come: the note may no longer be valid."""


def text_flags(text: str) -> tuple[Flag, ...]:
    """Return the flags of a text, in time linear in its length."""
    flags = []
    if not text.isascii() and _IN_NAMES.search(text):
        flags.append(Flag.INVISIBLE)
    if "Source: " in text and _SOURCE_LINE.search(text):
        flags.append(Flag.SOURCE_LINE)
    if ("<<<<<<<" in text or ">>>>>>>" in text) and _GIT_MARK.search(text):
        flags.append(Flag.CONFLICT)
    if _REPLACEMENT in text:
        flags.append(Flag.REPLACED)
    return tuple(flags)


def path_flags(path: str) -> tuple[Flag, ...]:
    """Return the flags that follow from the path of a document alone."""
    return (Flag.CONFLICT,) if is_conflict_copy(path) else ()


# ECMA-48: CSI; OSC, DCS, SOS, PM and APC with their string; other two-byte escapes; the 8-bit forms of the same
_ESCAPES = expression(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,4096}+(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*+[0-~]?"
)
_CONTROLS = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
"""The rest of C0 and C1, without white space."""
_ORDER = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Characters that reorder a line (UAX #9)."""
_NOTHING = "\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
"""Zero-width characters: Default_Ignorable_Code_Point, except those below."""
_EMOJI = "\xa9\xae\u203c-\u32ff\U0001f000-\U0001faff"
_JOINED = f"\u0600-\u0605\u0607-\u1aff\u1b00-\u1cff\ua800-\uabff{_EMOJI}"
"""Characters that a joiner may follow: Arabic, Indic and Southeast Asian scripts, emoji."""
_JOINERS = f"(?<![{_JOINED}])(?<![{_EMOJI}]\ufe0f)[\u200c\u200d]"
_VARIANTS = f"(?<![{_EMOJI}\u1800-\u18af])[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef](?!\u20e3)"
_FLAG = "(\U0001f3f4[\U000e0020-\U000e007f]{1,12}+)"
_INVISIBLE = expression(f"{_FLAG}|[{_CONTROLS}{_ORDER}{_NOTHING}\U000e0000-\U000e007f]|{_JOINERS}|{_VARIANTS}")
_BREAKS = expression("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SEPARATORS = expression("[\x1c-\x1f]")
_HALVES = expression("[\ud800-\udfff]")
CUT = "\0"
UNSEEN = expression(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    r"\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Invisible characters: Unicode categories Cc and Cf, and default-ignorable code points, tags too."""
SURPLUS = expression("(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]")
"""A variation selector after another one: it selects nothing, and may hide letters."""


def without_unseen(text: str) -> str:
    """Return a text for a prompt without invisible characters; line ends and tabs remain."""
    return SURPLUS.sub("", UNSEEN.sub("", _HALVES.sub("\ufffd", text)))


def in_markup(text: str, *, quote: bool = False) -> str:
    """Return a text for a prompt escaped for use between two tags, or with `quote` in an attribute."""
    from html import escape  # here: it loads the names of all entities

    return escape(without_unseen(text), quote)


def with_cuts(text: str) -> str:
    """Return a text without harmful characters, with `CUT` in place of each removed part."""
    shown = _INVISIBLE.sub(lambda match: match[1] or CUT, _ESCAPES.sub(CUT, text))
    return _HALVES.sub("\ufffd", shown)


def without_cuts(text: str) -> str:
    """Return a text from `with_cuts` without its cuts and without secrets, including those that span cuts."""
    return redact_pieces(text.split(CUT))


def visible_text(text: str) -> str:
    """Return a text without invisible characters, with its line ends and tabs, and with its secrets."""
    return with_cuts(_normalised_breaks(text)).replace(CUT, "")


def harmless_text(text: str) -> str:
    """Return a received text as it may be stored: without invisible characters and secrets, with line ends and tabs."""
    return without_cuts(with_cuts(_normalised_breaks(text)))


def _normalised_breaks(text: str) -> str:
    return _SEPARATORS.sub(" ", _BREAKS.sub("\n", text.encode("utf-8", "replace").decode()))


class KeepVersion(StrEnum):
    """The choice between two conflicting versions."""

    ORIGINAL = "original"
    """The note under its own name, or the side above git's `=======`."""
    COPY = "copy"
    BOTH = "both"
    """The lines of both; where they differ, those of the original come last, because in a log the last one is valid."""


class MarkedConflict(Struct, frozen=True):
    """One conflict marked by git, in bytes: start and end (exclusive) including its marks, and those of each side."""

    start: int
    end: int
    original: tuple[int, int]
    copy: tuple[int, int]


_BEGINS = b"<<<<<<<"
_MARK = expression(rb"^(<{7}|\|{7}|={7}|>{7})(?:[ \t][^\n]*)?\r?$\n?", re.MULTILINE)
_BYTE = expression(rb"[^\r\n]")


def marked_conflicts(data: bytes) -> Iterator[MarkedConflict]:
    """Yield the conflicts in order, in linear time; one that lacks a mark is skipped."""
    if _BEGINS not in data:
        return
    marks: dict[bytes, re.Match[bytes]] = {}
    for mark in _MARK.finditer(data):
        sign = mark[1][:1]
        if sign == b"<":
            marks = {}
        if sign != b"<" and b"<" not in marks:
            continue
        marks.setdefault(sign, mark)
        if sign == b">" and b"=" in marks:
            first, middle = marks[b"<"], marks[b"="]
            above = min(middle.start(), marks.get(b"|", middle).start())
            yield MarkedConflict(first.start(), mark.end(), (first.end(), above), (middle.end(), mark.start()))
            marks = {}


def without_other_side(data: bytes) -> bytes:
    """Return a text with the other side of each conflict blanked; lines and offsets do not move."""
    return blanked(data, (conflict.copy for conflict in marked_conflicts(data)))


def blanked(data: bytes, ranges: Iterable[tuple[int, int]]) -> bytes:
    """Return a text with byte ranges, given in order, blanked; lines and offsets do not move."""
    pieces, at = list[bytes](), 0
    for start, end in ranges:
        pieces += [data[at:start], _BYTE.sub(b" ", data[start:end])]
        at = end
    return b"".join([*pieces, data[at:]]) if pieces else data


def resolve_conflicts(text: str, keep: KeepVersion) -> str:
    """Return a text with each conflict replaced by the chosen side or sides."""
    data = text.encode()
    pieces, at = list[bytes](), 0
    for conflict in marked_conflicts(data):
        original, copy = conflict.original, conflict.copy
        sides = {KeepVersion.ORIGINAL: [original], KeepVersion.COPY: [copy], KeepVersion.BOTH: [copy, original]}[keep]
        pieces += [data[at : conflict.start], *(data[begin:end] for begin, end in sides)]
        at = conflict.end
    return b"".join([*pieces, data[at:]]).decode()
