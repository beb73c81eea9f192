"""A message as its sentences: what is quoted or code is blanked out beside the text, so that no rule reads it.

A sentence ends at its mark, or with its line; a dot within a number, an address or a known short form ends nothing.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression

BLANK: Final = "\0"
"""Stands in `plain` for each sign that is not the author's."""
_FENCE: Final = expression(
    r"^[ \t]*(?P<fence>```+|~~~+).*?(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_CODE: Final = expression(r"`[^`\n]{1,2000}`")
_BLOCK_QUOTE: Final = expression(r"^[ \t]*>.*$", re.MULTILINE)
_RECALLED: Final = expression(r"<(?P<tag>[a-z_-]{3,40})\b[^<>\n]{0,200}>.*?</(?P=tag)>", re.DOTALL | re.IGNORECASE)
"""What stands between tags: blocks that a program has put around a message, recalled notes among them."""
_QUOTES: Final = expression(
    r"“[^“”]{0,2000}(?:”|\Z)|\"[^\"\n]{0,2000}(?:\"|$)|«[^«»]{0,2000}»|„[^„“”]{0,2000}[“”]|「[^「」]{0,2000}(?:」|\Z)"
    r"|『[^『』]{0,2000}(?:』|\Z)|(?<![\w])‘[^‘’\n]{2,2000}’(?!\w)|(?<![\w])'[^'\n]{2,2000}'(?!\w)",
    re.MULTILINE,
)
_END: Final = expression(r"[。！？!?；;]+|…+(?=\s|\Z)|\.(?=\s|\Z|[\u4e00-\u9fff\0])|\n+")
_AFTER: Final = expression(r"[\"”’'»」』)）\]!?。！？.~～]*")
_SHORT_FORM: Final = caseless(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|mt|no|nr|vs|etc|e\.g|i\.e|approx|jr|sr|a\.m|p\.m|tel|ext|dept|inc|ltd|co|apt)"
    r"|(?<![A-Za-z])[A-Za-z])\Z"
)
_BULLET: Final = expression(r"[ \t]*(?:[-*+•·]|\d{1,2}[.)、])[ \t]+")


class SpokenSentence(Struct, frozen=True):
    """A sentence verbatim, and the same with what is no word of its author blanked, sign by sign."""

    text: str
    plain: str

    @property
    def is_question(self) -> bool:
        """Whether it ends as a question does."""
        return bool(re.search(r"[?？]", self.text[-4:]))


def plain_text(text: str) -> str:
    """Return a text of the same length without code, quotations and what stands between tags."""
    for pattern in (_FENCE, _RECALLED, _BLOCK_QUOTE, _CODE, _QUOTES):
        text = pattern.sub(lambda found: re.sub(r"[^\n]", BLANK, found[0]), text)
    return text


def sentences_of(text: str) -> list[SpokenSentence]:
    """Return the sentences of a message in order, without the marks of lists before them."""
    plain, found = plain_text(text), []
    for start, end in _spans(plain):
        bullet = _BULLET.match(plain, start, end)
        begin = bullet.end() if bullet else start
        said = text[begin:end]
        left = len(said) - len(said.lstrip())
        if said.strip() and plain[begin:end].strip(BLANK + " \t"):
            whole = said.strip()
            found.append(SpokenSentence(whole, plain[begin + left : begin + left + len(whole)]))
    return found


def _spans(plain: str) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in _END.finditer(plain):
        if mark.start() < start or (
            mark[0] == "." and _SHORT_FORM.search(plain[max(start, mark.start() - 8) : mark.start()])
        ):
            continue
        after = _AFTER.match(plain, mark.end()) if "\n" not in mark[0] else None
        end = after.end() if after else mark.end()
        yield start, end
        start = end
    yield start, len(plain)
