"""Make what was said fit to be kept: harmless, without secrets, on one line, no longer than a person reads."""

import re
from typing import Final

from memoryd.domain.redaction import redacted

MAX_CHARS: Final = 1 << 18
"""So much of one utterance is kept: longer ones are files that were pasted."""
MAX_RAW_CHARS: Final = 1 << 20
"""So much of one message is looked at, with all that programs put around it."""
_MARGIN: Final = 4096

# ECMA-48: CSI; OSC, DCS, SOS, PM and APC with their string; other two-byte escapes; the 8-bit forms of the same
_ESCAPES: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,4096}+(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*+[0-~]?"
)
_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff]")
"""What is left of C0 and C1 but white space, marks that reorder a line (UAX #9), and byte order marks."""
_MARK: Final = "\0"
_HALVES: Final = re.compile("[\ud800-\udfff]")


def _marked(text: str) -> str:
    """Return a harmless text with a mark at each place where something was taken out."""
    return _HALVES.sub("\ufffd", _CONTROLS.sub(_MARK, _ESCAPES.sub(_MARK, text)))


def folded(text: str) -> str:
    """Return a text on one line: each run of white space, line separators of Unicode too, is one space."""
    return " ".join(text.split())


def shortened(text: str, max_chars: int) -> str:
    """Return the beginning of a text, cut at an end of a line or else a word, so that no half of a secret stays.

    Where neither comes in the last 4,096 characters these are left out whole.
    """
    if len(text) <= max_chars:
        return text
    least = max(0, max_chars - _MARGIN)
    end = max(text.rfind("\n", least, max_chars), least)
    if end == least:
        end = max(text.rfind(" ", least, max_chars), least)
    return text[:end]


def spoken_text(text: str) -> str:
    """Return what is kept of a text: harmless, redacted, folded; at most `MAX_CHARS` characters."""
    masked = redacted(shortened(_marked(text), MAX_CHARS))
    if _MARK in masked:
        # a colour may begin right before a secret, or stand within one
        masked = redacted(masked.replace(_MARK, ""))
    one_line = folded(masked)
    # folding joins lines: a command and its password may have stood on two
    return one_line if one_line == masked else redacted(one_line)
