"""What a reader cannot see, or could take for ours: flagged in notes, removed from messages before they are kept.

Text of notes is data, never an instruction. Invisible characters would hide secrets and deceive a reader. Joiners stay
where emoji and scripts need them; none joins the letters of a secret.

What git leaves of two versions of a text stands between its marks: above `=======` this side, below it the other one.
With `merge.conflictStyle` diff3 what both were made of stands between them, and belongs to neither.
"""

import re
from collections.abc import Iterator
from enum import StrEnum

from msgspec import Struct

from memoryd.domain.documents import is_conflict_copy
from memoryd.domain.expressions import expression
from memoryd.domain.redaction import redacted_joined

_IN_NAMES = expression(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ufeff](?<!^\ufeff)"
)
"""Zero-width signs, bidirectional overrides and tags; joiners are left out, for emoji and Indic and Persian text."""

_REPLACEMENT = "\ufffd"
_GIT_MARK = expression(r"^(?:<{7}|>{7})(?: .*)?\r?$", re.MULTILINE)
_SOURCE_LINE = expression(r"^[ \t]*Source: \S", re.MULTILINE)


class Flag(StrEnum):
    """A closed list; a reply names those that apply."""

    INVISIBLE = "invisible-characters"
    """It holds characters that are not shown: what a person reads is not what a model reads."""
    SOURCE_LINE = "source-line"
    """It holds a line that looks like the footer of a citation; only the last line of a snippet is ours."""
    HARD_LINK = "hard-link"
    """The file has another name, perhaps outside the workspace."""
    REPLACED = "replaced-bytes"
    """It holds the sign that stands for bytes which are no text in the file's encoding."""
    CONFLICT = "conflict-copy"
    """By its name a synchronising program made the file of two changes at once, or git left both between its marks:
    another version says it otherwise."""
    DEPRECATED = "deprecated"
    """Its front matter says `status: deprecated`: it is kept, and holds no longer."""
    SUPERSEDED = "superseded"
    """Its front matter says `status: superseded`: something else took its place."""
    DRAFT = "draft"
    """Its front matter says `status: draft`: nobody has looked over it."""
    STALE = "stale"
    """The day of its `stale_after` has come: it may not hold any more."""


def text_flags(text: str) -> tuple[Flag, ...]:
    """Return the flags of a text. Linear in its length."""
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
    """Return the flags that the name of a document alone gives it."""
    return (Flag.CONFLICT,) if is_conflict_copy(path) else ()


# ECMA-48: CSI; OSC, DCS, SOS, PM and APC with their string; other two-byte escapes; the 8-bit forms of the same
_ESCAPES = expression(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,4096}+(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*+[0-~]?"
)
_CONTROLS = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
"""What is left of C0 and C1 but white space."""
_ORDER = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Marks that reorder a line, UAX #9."""
_NOTHING = "\xad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
"""Signs without width: Default_Ignorable_Code_Point, but those below."""
_EMOJI = "\xa9\xae\u203c-\u32ff\U0001f000-\U0001faff"
_JOINED = f"\u0600-\u0605\u0607-\u1aff\u1b00-\u1cff\ua800-\uabff{_EMOJI}"
"""What joiners may stand behind: Arabic, the scripts of India and of its east, emoji."""
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
"""Signs that are not shown: of Unicode's categories Cc and Cf, and its default-ignorable code points, tags too."""
SURPLUS = expression("(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]")
"""More than one behind a sign selects nothing, and may hide letters."""


def without_unseen(text: str) -> str:
    """Return a text for a prompt without signs that are not shown; its lines and tabs stay."""
    return SURPLUS.sub("", UNSEEN.sub("", _HALVES.sub("\ufffd", text)))


def in_markup(text: str, *, quote: bool = False) -> str:
    """Return a text for a prompt as it stands between two tags, or with `quote` in an attribute: it ends neither."""
    from html import escape  # here: the names of all entities come with it

    return escape(without_unseen(text), quote)


def with_cuts(text: str) -> str:
    """Return a harmless text with `CUT` at each place where something was taken out."""
    shown = _INVISIBLE.sub(lambda found: found[1] or CUT, _ESCAPES.sub(CUT, text))
    return _HALVES.sub("\ufffd", shown)


def without_cuts(text: str) -> str:
    """Return what `with_cuts` gave without these places, and without secrets, also such as go across them."""
    return redacted_joined(text.split(CUT))


def visible_text(text: str) -> str:
    """Return a text without what nobody sees, with its lines and tabs, and with its secrets."""
    whole = text.encode("utf-8", "replace").decode()
    return with_cuts(_SEPARATORS.sub(" ", _BREAKS.sub("\n", whole))).replace(CUT, "")


def harmless_text(text: str) -> str:
    """Return what is kept of a text that was said to us: without secrets, with its lines and tabs."""
    whole = text.encode("utf-8", "replace").decode()
    return without_cuts(with_cuts(_SEPARATORS.sub(" ", _BREAKS.sub("\n", whole))))


class KeepVersion(StrEnum):
    """What a person keeps of two versions."""

    ORIGINAL = "original"
    """The note as it is called, or above the line between git's marks."""
    COPY = "copy"
    BOTH = "both"
    """The lines of both, those of the original last where they differ: of two in a log the last holds."""


class MarkedConflict(Struct, frozen=True):
    """One place where git left two versions, in bytes: from `start` to before `end` with its marks, and each side."""

    start: int
    end: int
    original: tuple[int, int]
    copy: tuple[int, int]


_BEGINS = b"<<<<<<<"
_MARK = expression(rb"^(<{7}|\|{7}|={7}|>{7})(?:[ \t][^\n]*)?\r?$\n?", re.MULTILINE)
_BYTE = expression(rb"[^\r\n]")


def marked_conflicts(data: bytes) -> Iterator[MarkedConflict]:
    """Yield the places in order; what lacks one of its marks is none. Linear in the length of the text."""
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


def without_copies(data: bytes) -> bytes:
    """Return a text with blanks for what the other side says between git's marks; lines and offsets stay."""
    pieces, at = list[bytes](), 0
    for one in marked_conflicts(data):
        begin, end = one.copy
        pieces += [data[at:begin], _BYTE.sub(b" ", data[begin:end])]
        at = end
    return b"".join([*pieces, data[at:]]) if pieces else data


def settled_marks(text: str, keep: KeepVersion) -> str:
    """Return a text without git's marks, and of each of its places with what is kept."""
    data = text.encode()
    pieces, at = list[bytes](), 0
    for one in marked_conflicts(data):
        kept = {KeepVersion.ORIGINAL: [one.original], KeepVersion.COPY: [one.copy]}.get(keep, [one.copy, one.original])
        pieces += [data[at : one.start], *(data[begin:end] for begin, end in kept)]
        at = one.end
    return b"".join([*pieces, data[at:]]).decode()
