"""Make what was said fit to be kept: harmless, without secrets, on one line, no longer than a person reads."""

from typing import Final

from memoryd.domain.redaction import redacted
from memoryd.domain.sessions.harmless_text import with_cuts, without_cuts

MAX_CHARS: Final = 1 << 18
"""So much of one utterance is kept: longer ones are files that were pasted."""
MAX_RAW_CHARS: Final = 1 << 20
"""So much of one message is looked at, with all that programs put around it."""
_MARGIN: Final = 4096


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
    masked = without_cuts(shortened(with_cuts(text), MAX_CHARS))
    one_line = folded(masked)
    # folding joins lines: a command and its password may have stood on two
    return one_line if one_line == masked else redacted(one_line)
