"""What a text says, apart from how it is laid out: two texts whose gist is equal are copies of each other.

White space, the marks of Markdown and footers of mail programs say nothing. Whatever might is kept, so that in doubt
two texts are two: case, digits and signs, tabs, lists and their nesting, boxes of tasks, struck-out words, links, code.
"""

import re
from itertools import islice

from memoryd.domain.text.layout import HEADING, blocks_of
from memoryd.domain.text.spelling import is_secret, one_sign, unwrapped, without_emphasis

_BEGINNING = 400
_NO_DIGITS = bytes(set(range(256)) - set(b"0123456789"))
_HOLD = "\ue000"
"""Stands for a piece of code while the text around it is laid out."""
_FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})", re.MULTILINE)
_CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:[^\n]*\n)*? {0,3}(?P=fence)[^\n]*$"
    r"|(?P<ticks>`+)(?!`)[^`\n]+(?P=ticks)(?!`)",
    re.MULTILINE,
)
_QUOTED = re.compile(r" {0,3}> ?")
_QUOTED_WORD = re.compile(r" {0,3}>[\s>]*[-*#\"'“‘(\[]*\s*[^\W\d_]")
"""A quotation; a number behind the sign would be compared."""


def gist(text: str, headings: str = "") -> str:
    """Return what a text below `headings` (titles joined with " > ") says; empty if it holds no word.

    Titles that stand in the text itself are not told twice; those above it are, for they say whose facts it tells.
    """
    plain = _unquoted(text.replace("\r\n", "\n").strip("\n"))
    if _HOLD in plain or len(_FENCE.findall(plain)) % 2:
        return f"{headings}\n{text}"
    codes = [match[0] for match in _CODE.finditer(plain)] if "`" in plain or "~~~" in plain else []
    held = one_sign(_CODE.sub(_HOLD, plain) if codes else plain)
    said = unwrapped("\n".join(blocks_of(held)))
    if not is_secret(held):
        said = without_emphasis(said)
    if not codes and not any(map(str.isalnum, said)) and said.isascii():
        return ""
    above = [title for title in headings.split(" > ") if title and not _stands_in(title, held)]
    pieces = iter(codes)
    return "\n".join([*above, "", re.sub(_HOLD, lambda _: next(pieces), said)])


def outline(text: str) -> tuple[str, str]:
    """Return what texts of one gist have in common and what is quickly had: their digits, and how they begin."""
    told = one_sign(text)
    begin = islice(filter(str.isalnum, told[:_BEGINNING]), 2)
    # a dozen times as fast as a pattern, and every candidate of a question is looked at
    digits = told.encode("utf-8", "surrogatepass").translate(None, _NO_DIGITS)
    return "".join(begin).lower(), digits.decode("ascii")


def _stands_in(title: str, text: str) -> bool:
    return any(line.lstrip("# \t").startswith(title) for line in text.split("\n"))


def _unquoted(text: str) -> str:
    """Return the text without the quotation marks of lines, if all of it is quoted; else they say who says what."""
    lines = text.split("\n")
    told = [line for line in lines if line.strip() and not HEADING.match(line)]
    while told and _QUOTED_WORD.match(told[0]) and all(map(_QUOTED.match, told)):
        lines = [line if HEADING.match(line) else _QUOTED.sub("", line, count=1) for line in lines]
        told = [line for line in lines if line.strip() and not HEADING.match(line)]
    return "\n".join(lines)
