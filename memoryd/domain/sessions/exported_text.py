"""What a transcript is exported as: Markdown in which line n + 1 is line n of the transcript, and marked as ours.

The first line is `# Session <id>`, the last one the mark. In between each line of the transcript has one, empty where
nobody says anything, so that a place in one is a place in the other by counting alone.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

SUFFIX: Final = ".session.md"
"""Alone read by qmd, so that what a stranger puts beside exports is not."""
HEADING: Final = "# Session "
HEADING_LINES: Final = 1
MARK: Final = "<!-- ⁂ -->"
"""What tells our file from a stranger's. It holds no letter, so that no question finds it."""
MARK_LINE: Final = f"{MARK}\n".encode()

_SAFE: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}\Z")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_STEM_CHARS, _DIGEST = 80, 16
_TOLD_APART: Final = "~"
"""Stands in no name that is used as it is."""
_HEADING_CHARS: Final = 200


def export_name(transcript: str) -> str:
    """Return the name of the export of a transcript, by the name of its file: safe everywhere, another for another.

    Names that differ in capitals alone, or that qmd or a file system would not take, are told apart by a hash.
    """
    stem = transcript.removesuffix(".jsonl")
    is_same = stem != transcript and _SAFE.match(stem) and stem == stem.lower()
    return (stem if is_same else _marked(stem, transcript)) + SUFFIX


def heading(transcript: str) -> str:
    """Return the first line of an export, without its end."""
    name = transcript.removesuffix(".jsonl").encode("utf-8", "replace").decode()
    told = "".join(sign if sign.isprintable() else "?" for sign in name)
    return f"{HEADING}{' '.join(told.split())[:_HEADING_CHARS]}"


def is_export(first_line: bytes, end: bytes) -> bool:
    """Tell whether a file that begins with this line and ends in these bytes is an export of ours."""
    return first_line.startswith(HEADING.encode()) and end.endswith(b"\n" + MARK_LINE)


def export_lines(spoken: Iterable[tuple[int, str]], *, after: int) -> Iterator[str]:
    """Yield the lines behind the first `after` of a transcript, each with its end, up to the last that is spoken.

    `spoken` has number and text of those that say something, in order.
    """
    number = after
    for at, text in spoken:
        yield "\n" * (at - number - 1)
        yield f"{text}\n"
        number = at


def _marked(stem: str, transcript: str) -> str:
    slug = _UNSAFE.sub("-", stem).strip("-_")[:_STEM_CHARS].strip("-_").lower()
    digest = sha256(transcript.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{slug}{_TOLD_APART}{digest}"
