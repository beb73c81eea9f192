"""What a reader of a note cannot see, or could take for ours. Text of notes is data, never an instruction."""

import re
from enum import StrEnum

from memoryd.domain.documents import is_conflict_copy

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufff9-\ufffb"
    "\U000e0000-\U000e007f]|(?<!^)\ufeff"
)
"""Zero-width signs, bidirectional overrides and tags; joiners are left out, for emoji and Indic and Persian text."""

_REPLACEMENT = "\ufffd"
_SOURCE_LINE = re.compile(r"^[ \t]*Source: \S", re.MULTILINE)


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
    """By its name a synchronising program made the file of two changes at once: another one says it otherwise."""


def text_flags(text: str) -> tuple[Flag, ...]:
    """Return the flags of a text. Linear in its length."""
    flags = []
    if not text.isascii() and _INVISIBLE.search(text):
        flags.append(Flag.INVISIBLE)
    if "Source: " in text and _SOURCE_LINE.search(text):
        flags.append(Flag.SOURCE_LINE)
    if _REPLACEMENT in text:
        flags.append(Flag.REPLACED)
    return tuple(flags)


def path_flags(path: str) -> tuple[Flag, ...]:
    """Return the flags that the name of a document alone gives it."""
    return (Flag.CONFLICT,) if is_conflict_copy(path) else ()
