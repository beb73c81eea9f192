"""The gist of a text: its content apart from layout. Two texts with the same gist are copies of each other.

A text is divided into headings, paragraphs, items and rows; wrapped lines are joined. Ignored are white space, rules,
empty items and rows of a form, Markdown marks and footers of mail programs. All bullets become the same mark, and
heading levels count from the shallowest. Everything that may carry meaning is preserved, so in doubt two texts
differ: case, digits and signs, tabs, lists and their nesting, task boxes, struck-out words, links, code.
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
"""Placeholder for a piece of code while the text around it is normalised."""
_FENCE = expression(r"^ {0,3}(?:`{3,}|~{3,})", re.MULTILINE)
_CODE = expression(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n(?:[^\n]*\n)*? {0,3}(?P=fence)[^\n]*$"
    r"|(?P<ticks>`+)(?!`)[^`\n]+(?P=ticks)(?!`)",
    re.MULTILINE,
)
_QUOTED = expression(r" {0,3}> ?")
_QUOTED_WORD = expression(r" {0,3}>[\s>]*[-*#\"'“‘(\[]*\s*[^\W\d_]")
"""A quoted line that starts with a word; a number after the `>` would be a comparison."""


def gist(text: str, headings: str = "") -> str:
    """Return the gist of a text below `headings` (titles joined with " > "); empty if it has no word.

    Titles that the text itself repeats are dropped. The others are kept, because they say what the text is about.
    """
    plain = _unquoted(text.replace("\r\n", "\n").strip("\n"))
    if _HOLD in plain or len(_FENCE.findall(plain)) % 2:
        return f"{headings}\n{text}"
    codes = [match[0] for match in _CODE.finditer(plain)] if "`" in plain or "~~~" in plain else []
    masked = plain_characters(_CODE.sub(_HOLD, plain) if codes else plain)
    content = unwrapped("\n".join(blocks_of(masked)))
    if not is_secret(masked):
        content = without_emphasis(content)
    if not codes and not any(map(str.isalnum, content)) and content.isascii():
        return ""
    lines = [line.lstrip("# \t") for line in masked.split("\n")]
    above = [title for title in headings.split(" > ") if title and not any(line.startswith(title) for line in lines)]
    pieces = iter(codes)
    return "\n".join([*above, "", re.sub(_HOLD, lambda _: next(pieces), content)])


def may_repeat(texts: Sequence[str]) -> list[bool]:
    """Return for each text whether another one may have the same gist, by a cheap test of beginnings and digits."""
    beginnings = [_beginning(text) for text in texts]
    begun = Counter(beginnings)
    outlines = [
        (begin, _digits(text) if begun[begin] > 1 else b"") for begin, text in zip(beginnings, texts, strict=True)
    ]
    counts = Counter(outlines)
    return [counts[outline] > 1 for outline in outlines]


def _beginning(text: str) -> str:
    # the last character of a slice may combine with the one after it
    begin = _letters(plain_characters(text[:_SHORT])[:-1])
    if len(begin) < _LETTERS:
        begin = _letters(plain_characters(text))
    return begin.lower()


def _digits(text: str) -> bytes:
    # a dozen times as fast as a regular expression; few texts have a wide digit
    data = text.encode("utf-8", "surrogatepass")
    if _WIDE_DIGIT.search(data):
        data = plain_characters(text).encode("utf-8", "surrogatepass")
    return data.translate(None, _NO_DIGITS)


def _letters(plain: str) -> str:
    """Return the first letters or digits of a text, at most two."""
    return "".join(islice(filter(str.isalnum, plain[:_BEGINNING]), _LETTERS))


def _unquoted(text: str) -> str:
    """Return the text without `>` before its lines if all are quoted; otherwise the marks show who says what."""
    lines = text.split("\n")
    content = [line for line in lines if line.strip() and not HEADING.match(line)]
    while content and _QUOTED_WORD.match(content[0]) and all(map(_QUOTED.match, content)):
        lines = [line if HEADING.match(line) else _QUOTED.sub("", line, count=1) for line in lines]
        content = [line for line in lines if line.strip() and not HEADING.match(line)]
    return "\n".join(lines)


HEADING = expression(r"#{1,6}\s+")
_ITEM = expression(r"(?P<mark>[-*+•])\s+(?P<is_word>(?:\[[ xX]\]\s+)?[*_\"'(\[~]*[^\W\d_])?|[0-9]{1,9}[.)]\s")
_PLUS = expression(r"^\s*\+\s", re.MULTILINE)
_UNDERLINE = expression(r"=+|-{2,}")
_UNFILLED = expression(r"[-*+_=|:#>•\s]*(?:\[ ?\])?[-_=|:\s]*")
"""Rules, empty items and boxes, empty rows and headings of a form."""
_SPACES = expression(r"[^\S\t]+")
"""White space except tabs, which separate columns."""
_ENDS = (".", "!", "?", "。")
"""Ends of a sentence: after one of them, a new paragraph means the same as a space."""
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
    """Return the parts of a text, each on one line, in order; WRAP replaces the line breaks within a part."""
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
        stripped = line.strip()
        if self._open and _UNDERLINE.fullmatch(stripped):
            self._close(level=1 if stripped[0] == "=" else 2)
        elif _UNFILLED.fullmatch(stripped) or _FOOTER.fullmatch(stripped):
            self._close()
            self._signs += [stripped] if len(stripped) == 1 else []
        elif match := HEADING.match(stripped):
            self._start(stripped[match.end() :], "")
            self._close(level=match[0].count("#"))
            self._indents = []
        else:
            self._add_words(line, stripped)

    def _add_words(self, line: str, stripped: str) -> None:
        spread = line.expandtabs(4)
        indent = len(spread) - len(spread.lstrip())
        outer = [depth for depth in self._indents if depth < indent]
        if match := _ITEM.match(stripped):
            self._indents = [*outer, indent]
            self._start(self._item(line.lstrip().rstrip(" "), match), "\t" * len(outer))
        elif stripped.startswith("|"):
            self._start(stripped, "")
        # code is indented by four, also within an item, whose mark takes two columns
        elif "\t" in line or (not self._open and indent >= max((depth + 6 for depth in outer), default=4)):
            self._close()
            self._add_block(line.rstrip(" "))
        else:
            if not self._open:
                # a paragraph belongs to the items it is indented below
                self._indents, self._mark = outer, "\t" * len(outer) or None
            self._open.append(stripped)

    def _start(self, content: str, mark: str) -> None:
        self._close()
        self._open, self._mark = [content], mark

    def _close(self, *, level: int = 0) -> None:
        if self._open:
            content = WRAP.join(_SPACES.sub(" ", line) for line in self._open)
            self._add_block(f"{self._mark or ''}{content}", level=level, is_prose=self._mark is None and not level)
        self._open, self._mark = [], None

    def _add_block(self, block: str, *, level: int = 0, is_prose: bool = False) -> None:
        # a single sign is an empty item if nothing follows below it; otherwise it may belong to a number there
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

    def _item(self, item: str, match: TextMatch) -> str:
        """Return an item with its bullet normalised, unless it may be an operator: before a number, or among pluses."""
        if match["mark"] in (None, "+") or match["is_word"] is None or self._has_pluses:
            return item
        return f"- {item[1:].lstrip()}"
