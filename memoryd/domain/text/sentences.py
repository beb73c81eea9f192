"""The sentences of a text, and of a message. Abbreviations, initials, numbers, addresses and code do not end one.

In messages, quotations and code are blanked in a parallel text, so that no rule reads them.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, caseless, expression, word_set

_END = expression(
    r"(?P<wide>[。！？]+[”’」』）)\"']*)|(?<![.!?…])(?P<plain>[.!?…]++[\"'”’)\]]*+)(?=\s)"
    r"|(?P<line>\n)(?=[^\S\n]*+(?:[-*+•]|[0-9]{1,3}[.)])\s)"
)
"""Candidates for the end of a sentence: a wide stop, a plain stop before a blank, a line end before a list item."""
_LAST_WORD = expression(r"(?:[^\W\d_]|\.)+\Z")
_LONGEST = 16
"""Characters examined of a possible abbreviation, because a text may have many stops."""
_ABBREVIATIONS = word_set(
    "a.m approx bzw capt cf corp d.h dept dr e.g ed eds esp et.al etc gen gov hon i.e inc incl jr lt ltd mr mrs ms "
    "p.m prof ref resp rev sen sr st tel u.a u.k u.s u.s.a usw vgl vs z z.b zzgl"
)
_BEFORE_NUMBERS = word_set(
    "apr art aug ca dec feb fig figs jan jul jun mar no nos nov nr oct op p pp sec sep sept v vol"
)
"""Abbreviations that are also words: they end no sentence if a number follows."""
_NUMBER_NEXT = expression(r"\s*+\d")
_LETTER_NEXT = expression(r"\s[^\W\d_]\.")
_LETTER_BEFORE = expression(r"(?<!\w)[^\W\d_]\.\s[^\W\d_]\Z")
"""`z. B.`, `d. h.`, `i. d. R.`"""
_DAY = expression(r"(?<!\w)[0-3]?[0-9]\Z")
_ARTICLE_BEFORE = caseless(r"\b(?:am|dem|den|der|die|das|des|vom|zum|bis) [0-9]{1,3}\Z")
_MONTH_NEXT = expression(
    r"\s(?:(?i:Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember)"
    r"|(?:April|August|September|November)(?!\s(?:is|was|will|has|had|can|may|went|comes|came|brings|starts|feels)\b))\b"
)
"""What follows the stop of a day, `3. Mai`; names that are also English months must not begin an English sentence."""
_CODE = expression(r"`+[^`]*`+")
_ITEM = expression(r"\A\s*(?:(?:[-*+•]|[0-9]{1,3}[.)])\s+)+(?=\S)")
"""The mark of a list item, which is not part of its words."""


def sentences_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a text in order, with white space folded, without the marks of lists."""
    # nothing in code ends a sentence: it is replaced by as many letters
    masked = _CODE.sub(lambda code: "x" * len(code[0]), text)
    sentences, start = list[str](), 0
    for end in _END.finditer(masked):
        if end["plain"] and not _ends(masked, start, end):
            continue
        sentences.append(text[start : end.end()])
        start = end.end()
    return tuple(
        folded
        for sentence in [*sentences, text[start:]]
        if (folded := " ".join(_ITEM.sub("", sentence, count=1).split()))
    )


def _ends(text: str, start: int, end: TextMatch) -> bool:
    """Return whether a stop ends a sentence rather than an abbreviation, an initial or an item number."""
    if end["plain"][0] != "." or end["plain"].startswith(".."):
        return True
    word = _LAST_WORD.search(text, max(start, end.start() - _LONGEST), end.start())
    if word is None:
        return not (text[start : end.start()].strip(" \t\n-*+•").isdigit() or _is_day(text, end.start()))
    bare = word[0].lower().strip(".")
    if bare in _ABBREVIATIONS or (bare in _BEFORE_NUMBERS and _NUMBER_NEXT.match(text, end.end())):
        return False
    if len(bare) != 1:
        return True
    before = max(start, end.start() - _LONGEST)
    if _LETTER_NEXT.match(text, end.end()) or _LETTER_BEFORE.search(text, before, end.start()):
        return False
    # an initial, as in "J. Smith"; "Plan B. Then" is rarer
    return bare == "i" or not word[0].isupper()


def _is_day(text: str, stop: int) -> bool:
    """Return whether a stop follows a number with the article of an ordinal, or before a month, as in German."""
    is_dated = _MONTH_NEXT.match(text, stop + 1) is not None and _DAY.search(text, max(0, stop - 3), stop)
    is_ordinal = text[stop + 2 : stop + 3].islower() and _ARTICLE_BEFORE.search(text, max(0, stop - 7), stop)
    return bool(is_dated or is_ordinal)


BLANK = "\0"
"""Replaces each character in `plain` that the author did not write."""
_FENCE = expression(r"^[ \t]*(?P<fence>```+|~~~+).*?(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE_CODE = expression(r"`[^`\n]{1,2000}`")
_BLOCK_QUOTE = expression(r"^[ \t]*>.*$", re.MULTILINE)
_OPENING = caseless(r"<(?P<tag>[a-z_-]{3,40})\b[^<>\n]{0,200}>")
_CLOSING = caseless(r"</(?P<tag>[a-z_-]{3,40})>")
_QUOTES = expression(
    r"“[^“”]{0,2000}(?:”|\Z)|\"[^\"\n]{0,2000}(?:\"|$)|«[^«»]{0,2000}»|„[^„“”]{0,2000}[“”]|「[^「」]{0,2000}(?:」|\Z)"
    r"|『[^『』]{0,2000}(?:』|\Z)|(?<![\w])‘[^‘’\n]{2,2000}’(?!\w)|(?<![\w])'[^'\n]{2,2000}'(?!\w)",
    re.MULTILINE,
)
_SPOKEN_END = expression(r"[。！？!?；;]+|(?<!…)…++(?=\s|\Z)|\.(?=\s|\Z|[\u4e00-\u9fff\0])|\n+")
_AFTER = expression(r"[\"”’'»」』)）\]!?。！？.~～]*")
_SHORT_FORM = caseless(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|mt|no|nr|vs|etc|e\.g|i\.e|approx|jr|sr|a\.m|p\.m|tel|ext|dept|inc|ltd|co|apt)"
    r"|(?<![^\W\d_])[^\W\d_])\Z"
)
_BULLET = expression(r"[ \t]*(?:[-*+•·]|\d{1,2}[.)、])[ \t]+")


class SpokenSentence(Struct, frozen=True):
    """A sentence verbatim, and the same text with quotations and code blanked, character by character."""

    text: str
    plain: str

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark."""
        return bool(re.search(r"[?？]", self.text[-4:]))


def plain_text(text: str) -> str:
    """Return a text of the same length with code, quotations and tagged blocks blanked."""
    text = _without_blocks(_FENCE.sub(_blanked, text))
    for pattern in (_BLOCK_QUOTE, _INLINE_CODE, _QUOTES):
        text = pattern.sub(_blanked, text)
    return text


def _blanked(match: TextMatch) -> str:
    return _blanks(match[0])


def _blanks(text: str) -> str:
    return re.sub(r"[^\n]", BLANK, text)


def _without_blocks(text: str) -> str:
    """Return a text with tagged blocks blanked: programs add them to messages, for example recalled notes."""
    ends: dict[str, list[int]] = {}
    for closing in _CLOSING.finditer(text):
        ends.setdefault(closing["tag"].lower(), []).append(closing.end())
    pieces, at = list[str](), 0
    for opening in _OPENING.finditer(text) if ends else ():
        behind = ends.get(opening["tag"].lower(), [])
        end = bisect_right(behind, opening.end())
        if opening.start() >= at and end < len(behind):
            pieces += [text[at : opening.start()], _blanks(text[opening.start() : behind[end]])]
            at = behind[end]
    return "".join([*pieces, text[at:]])


def spoken_sentences(text: str) -> list[SpokenSentence]:
    """Return the sentences of a message in order, without the marks of lists."""
    plain, sentences = plain_text(text), []
    for start, end in _spoken_spans(plain):
        bullet = _BULLET.match(plain, start, end)
        begin = bullet.end() if bullet else start
        own = text[begin:end].strip()
        if own and plain[begin:end].strip(BLANK + " \t"):
            begin = text.index(own, begin)
            sentences.append(SpokenSentence(own, plain[begin : begin + len(own)]))
    return sentences


def _spoken_spans(plain: str) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in _SPOKEN_END.finditer(plain):
        if mark.start() < start or (
            mark[0] == "."
            and (_SHORT_FORM.search(plain[max(start, mark.start() - 8) : mark.start()]) or _is_day(plain, mark.start()))
        ):
            continue
        after = _AFTER.match(plain, mark.end()) if "\n" not in mark[0] else None
        end = after.end() if after else mark.end()
        yield start, end
        start = end
    yield start, len(plain)
