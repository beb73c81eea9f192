"""What a text says, apart from its layout: two texts whose gist is equal are copies of each other.

A text is divided into headings, paragraphs, items and rows; wrapped lines are joined. White space, rules, empty items
and rows of a form, the marks of Markdown and footers of mail programs say nothing; any bullet is one mark, and
headings count from the shallowest. Whatever may say something is kept, so that in doubt two texts are two: case,
digits and signs, tabs, lists and their nesting, boxes of tasks, struck-out words, links, code.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from memoryd.domain.expressions import TextMatch, expression
from memoryd.domain.text.words import WRAP, is_secret, plain_characters, unwrapped, without_emphasis

_BEGINNING, _SHORT, _LETTERS = 400, 16, 2
_WIDE_DIGIT = expression(rb"\xef\xbc[\x90-\x99]")
"""In UTF-8."""
_NO_DIGITS = bytes(set(range(256)) - set(b"0123456789"))
_HOLD = "\ue000"
"""Stands for a piece of code while the text around it is laid out."""
_FENCE = expression(r"^ {0,3}(?:`{3,}|~{3,})", re.MULTILINE)
_CODE = expression(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:[^\n]*\n)*? {0,3}(?P=fence)[^\n]*$"
    r"|(?P<ticks>`+)(?!`)[^`\n]+(?P=ticks)(?!`)",
    re.MULTILINE,
)
_QUOTED = expression(r" {0,3}> ?")
_QUOTED_WORD = expression(r" {0,3}>[\s>]*[-*#\"'“‘(\[]*\s*[^\W\d_]")
"""A quotation; a number behind the sign would be compared."""


def gist(text: str, headings: str = "") -> str:
    """Return what a text below `headings` (titles joined with " > ") says; empty if it holds no word.

    Titles that stand in the text itself are not told twice; those above it are, for they say whose facts it tells.
    """
    plain = _unquoted(text.replace("\r\n", "\n").strip("\n"))
    if _HOLD in plain or len(_FENCE.findall(plain)) % 2:
        return f"{headings}\n{text}"
    codes = [match[0] for match in _CODE.finditer(plain)] if "`" in plain or "~~~" in plain else []
    held = plain_characters(_CODE.sub(_HOLD, plain) if codes else plain)
    said = unwrapped("\n".join(blocks_of(held)))
    if not is_secret(held):
        said = without_emphasis(said)
    if not codes and not any(map(str.isalnum, said)) and said.isascii():
        return ""
    lines = [line.lstrip("# \t") for line in held.split("\n")]
    above = [title for title in headings.split(" > ") if title and not any(line.startswith(title) for line in lines)]
    pieces = iter(codes)
    return "\n".join([*above, "", re.sub(_HOLD, lambda _: next(pieces), said)])


def may_repeat(texts: Sequence[str]) -> list[bool]:
    """Tell of each text whether one of the others may have its gist, by what is quickly had: beginnings and digits."""
    beginnings = [_beginning(text) for text in texts]
    begun = Counter(beginnings)
    outlines = [(one, _digits(text) if begun[one] > 1 else b"") for one, text in zip(beginnings, texts, strict=True)]
    counts = Counter(outlines)
    return [counts[one] > 1 for one in outlines]


def _beginning(text: str) -> str:
    # the last sign of a part may be another with what follows
    begin = _letters(plain_characters(text[:_SHORT])[:-1])
    if len(begin) < _LETTERS:
        begin = _letters(plain_characters(text))
    return begin.lower()


def _digits(text: str) -> bytes:
    # a dozen times as fast as a pattern; few have a wide digit
    data = text.encode("utf-8", "surrogatepass")
    if _WIDE_DIGIT.search(data):
        data = plain_characters(text).encode("utf-8", "surrogatepass")
    return data.translate(None, _NO_DIGITS)


def _letters(plain: str) -> str:
    """Return the first letters or digits of a text."""
    return "".join(islice(filter(str.isalnum, plain[:_BEGINNING]), _LETTERS))


def _unquoted(text: str) -> str:
    """Return the text without the quotation marks of lines, if all of it is quoted; else they say who says what."""
    lines = text.split("\n")
    told = [line for line in lines if line.strip() and not HEADING.match(line)]
    while told and _QUOTED_WORD.match(told[0]) and all(map(_QUOTED.match, told)):
        lines = [line if HEADING.match(line) else _QUOTED.sub("", line, count=1) for line in lines]
        told = [line for line in lines if line.strip() and not HEADING.match(line)]
    return "\n".join(lines)


HEADING = expression(r"#{1,6}\s+")
_ITEM = expression(r"(?P<mark>[-*+•])\s+(?P<is_word>(?:\[[ xX]\]\s+)?[*_\"'(\[~]*[^\W\d_])?|[0-9]{1,9}[.)]\s")
_PLUS = expression(r"^\s*\+\s", re.MULTILINE)
_UNDERLINE = expression(r"=+|-{2,}")
_UNFILLED = expression(r"[-*+_=|:#>•\s]*(?:\[ ?\])?[-_=|:\s]*")
"""Rules, empty items and boxes, rows and headings of a form that nobody filled in."""
_SPACES = expression(r"[^\S\t]+")
"""All but tabs, which part columns."""
_ENDS = (".", "!", "?", "。")
"""Where a sentence ends, a new paragraph says no more than a space."""
_DEVICE = (
    r"(?:iphone|ipad|ipod|mac|macbook|android|(?:samsung )?galaxy|samsung|pixel|huawei|xiaomi|blackberry"
    r"|(?:小米|华为|苹果|安卓)?手机|小米|华为)(?: (?:pro|max|plus|mini|air|ultra))*"
)
_FOOTER = expression(
    rf"sent from my (?:mobile|{_DEVICE})(?: phone| device| tablet)?\.?|sent from my phone\.?"
    rf"|get outlook for (?:ios|android|mac)\.?"
    rf"|sent from (?:mail|outlook) for (?:windows|ios|mac|android)\.?|sent with proton ?mail secure email\.?"
    rf"|von meinem {_DEVICE} gesendet\.?|envoyé de mon {_DEVICE}\.?|skickat från min {_DEVICE}\.?"
    rf"|(?:发自|發自|来自)我的 ?{_DEVICE}。?|从我的 ?{_DEVICE} ?发送。?|发送自我的 ?{_DEVICE}。?|{_DEVICE}から送信"
    r"|(?:with )?(?:best|kind|warm) regards[,.!]?|yours (?:sincerely|faithfully)[,.]?|mit freundlichen grüßen[,.]?"
    r"|此致[,。]?|敬礼[!。]?|此致 ?敬礼[!。]?|顺颂商祺[!。]?|祝好[!。]?"
    r"|please consider the environment before printing this e-?mail\.?",
    re.IGNORECASE,
)


def blocks_of(text: str) -> list[str]:
    """Return the parts of a text, each on one line, in order; WRAP stands where one goes over several lines."""
    return _Layout(has_pluses=bool(_PLUS.search(text))).blocks(text)


class _Layout:
    def __init__(self, *, has_pluses: bool) -> None:
        self._has_pluses = has_pluses
        self._blocks: list[str] = []
        self._headings: list[tuple[int, int]] = []
        self._signs: list[str] = []
        self._open: list[str] = []
        self._mark: str | None = None
        self._goes_on = False
        self._indents: list[int] = []

    def blocks(self, text: str) -> list[str]:
        for line in text.split("\n"):
            self._add(line)
        self._close()
        shallowest = min((level for _, level in self._headings), default=0)
        for at, level in self._headings:
            self._blocks[at] = f"{'#' * (level - shallowest + 1)} {self._blocks[at]}"
        return self._blocks

    def _add(self, line: str) -> None:
        told = line.strip()
        if self._open and _UNDERLINE.fullmatch(told):
            self._close(level=1 if told[0] == "=" else 2)
        elif _UNFILLED.fullmatch(told) or _FOOTER.fullmatch(told):
            self._close()
            self._signs += [told] if len(told) == 1 else []
        elif match := HEADING.match(told):
            self._start(told[match.end() :], "")
            self._close(level=match[0].count("#"))
            self._indents = []
        else:
            self._add_words(line, told)

    def _add_words(self, line: str, told: str) -> None:
        spread = line.expandtabs(4)
        indent = len(spread) - len(spread.lstrip())
        outer = [each for each in self._indents if each < indent]
        if match := _ITEM.match(told):
            self._indents = [*outer, indent]
            self._start(self._item(line.lstrip().rstrip(" "), match), "\t" * len(outer))
        elif told.startswith("|"):
            self._start(told, "")
        # code begins four places in, also within an item, whose mark takes two places
        elif "\t" in line or (not self._open and indent >= max((each + 6 for each in outer), default=4)):
            self._close()
            self._add_block(line.rstrip(" "))
        else:
            if not self._open:
                # a paragraph belongs to the items that it is indented below
                self._indents, self._mark = outer, "\t" * len(outer) or None
            self._open.append(told)

    def _start(self, told: str, mark: str) -> None:
        self._close()
        self._open, self._mark = [told], mark

    def _close(self, *, level: int = 0) -> None:
        if self._open:
            told = WRAP.join(_SPACES.sub(" ", line) for line in self._open)
            self._add_block(f"{self._mark or ''}{told}", level=level, is_prose=self._mark is None and not level)
        self._open, self._mark = [], None

    def _add_block(self, block: str, *, level: int = 0, is_prose: bool = False) -> None:
        # a sign alone is an empty item where nothing stands below it; else it may belong to the number there
        if self._signs and not level:
            self._blocks += self._signs
            self._goes_on = False
        self._signs = []
        if is_prose and self._goes_on:
            self._blocks[-1] += WRAP + block
        else:
            self._headings += [(len(self._blocks), level)] if level else []
            self._blocks.append(block)
        self._goes_on = is_prose and block.endswith(_ENDS)

    def _item(self, told: str, match: TextMatch) -> str:
        """Return an item with one mark for any bullet, but for what may be a sign: before a number, or among pluses."""
        if match["mark"] in (None, "+") or match["is_word"] is None or self._has_pluses:
            return told
        return f"- {told[1:].lstrip()}"
