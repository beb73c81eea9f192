"""What a bundle would tell twice: of what is recalled for a question, what stands in the stable block before it."""

import re
from collections.abc import Set
from typing import Final

_MARK: Final = re.compile(r"\s*(?:[-*+]|[0-9]{1,9}[.)])\s")


def stands_in(text: str, told: Set[str]) -> bool:
    """Tell whether every line of a text is one of those that are told (see `lines_told`)."""
    lines = lines_told(text)
    return bool(lines) and lines <= told


def lines_told(text: str) -> frozenset[str]:
    """Return the lines of a text by what they say: without the mark of a bullet, white space folded, no empty ones."""
    plain = (" ".join(_without_mark(line).split()) for line in text.split("\n"))
    return frozenset(line for line in plain if line)


def _without_mark(line: str) -> str:
    mark = _MARK.match(line)
    return line[mark.end() :] if mark else line
