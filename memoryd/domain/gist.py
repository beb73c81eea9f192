"""What a text says, apart from how it is laid out: two texts whose gist is equal are copies of each other.

White space, case, the marks of Markdown and footers of mail programs say nothing. Whatever might is kept, so that in
doubt two texts are two: digits and signs, numbers of lists, boxes of tasks, struck-out words, links, code, nesting.
"""

import re
from itertools import islice

from memoryd.domain.spelling import WRAP, is_secret, one_case, one_sign, unwrapped, without_emphasis

_BEGINNING = 400
_NO_DIGITS = re.compile("[^0-9]+")
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
_HEADING = re.compile(r"#{1,6}\s+")
_ITEM = re.compile(r"(?P<mark>[-*+•])\s+(?P<is_word>(?:\[[ xX]\]\s+)?[*_\"'(\[~]*[^\W\d_])?|[0-9]{1,9}[.)]\s")
_PLUS = re.compile(r"^\s*\+\s", re.MULTILINE)
_UNDERLINE = re.compile(r"=+|-{2,}")
_UNFILLED = re.compile(r"[-*+_=|:#>•\s]*(?:\[ ?\])?[-_=|:\s]*")
"""Rules, empty items and boxes, rows and headings of a form that nobody filled in."""
_DEVICE = (
    r"(?:iphone|ipad|ipod|mac|android|galaxy|samsung|pixel|huawei|xiaomi|blackberry|手机|小米|华为)(?:[^\W\d]| ){0,20}"
)
_FOOTER = re.compile(
    rf"sent from my (?:mobile|phone|{_DEVICE})(?: phone| device)?\.?|get outlook for (?:ios|android|mac)\.?"
    rf"|sent from (?:mail|outlook) for (?:windows|ios|mac|android)\.?|sent with proton ?mail secure email\.?"
    rf"|von meinem {_DEVICE} gesendet\.?|envoyé de mon {_DEVICE}\.?|skickat från min {_DEVICE}\.?"
    rf"|(?:发自|發自|来自)我的 ?{_DEVICE}。?|从我的 ?{_DEVICE} ?发送。?|发送自我的 ?{_DEVICE}。?|{_DEVICE}から送信"
    r"|(?:with )?(?:best|kind|warm) regards[,.!]?|yours (?:sincerely|faithfully)[,.]?|mit freundlichen grüßen[,.]?"
    r"|此致[,。]?|敬礼[!。]?|此致 ?敬礼[!。]?|顺颂商祺[!。]?|祝好[!。]?"
    r"|please consider the environment before printing this e-?mail\.?",
    re.IGNORECASE,
)
_NEXT_SENTENCE = re.compile(r"(?<=[.!?。])\n(?!\t)")
"""Where a sentence ends, a new paragraph says no more than a space."""


def gist(text: str, headings: str = "") -> str:
    """Return what a text below `headings` (titles joined with " > ") says; empty if it holds no word.

    Titles that stand in the text itself are not told twice; those above it are, for they say whose facts it tells.
    """
    plain = _unquoted(text.replace("\r\n", "\n").strip("\n"))
    if _HOLD in plain or len(_FENCE.findall(plain)) % 2:
        return f"{headings}\n{text}"
    codes = [match[0] for match in _CODE.finditer(plain)]
    held = one_sign(_CODE.sub(_HOLD, plain))
    blocks = _Layout(has_pluses=bool(_PLUS.search(held))).blocks(held)
    said = unwrapped(_NEXT_SENTENCE.sub(WRAP, "\n".join(blocks)))
    if not is_secret(held):
        said = "\n".join(map(one_case, without_emphasis(said).split("\n")))
    if not codes and not any(map(str.isalnum, said)) and said.isascii():
        return ""
    above = [title for title in headings.split(" > ") if title and not _stands_in(title, held)]
    pieces = iter(codes)
    return "\n".join([*above, "", re.sub(_HOLD, lambda _: next(pieces), said)])


def outline(text: str) -> tuple[str, str]:
    """Return what texts of one gist have in common and what is quickly had: their digits, and how they begin."""
    begin = islice(filter(str.isalnum, one_sign(text[:_BEGINNING])), 2)
    return "".join(begin).lower(), _NO_DIGITS.sub("", one_sign(text))


def _stands_in(title: str, text: str) -> bool:
    return any(line.lstrip("# \t").startswith(title) for line in text.split("\n"))


def _unquoted(text: str) -> str:
    """Return the text without the quotation marks of lines, if all of it is quoted; else they say who says what."""
    lines = text.split("\n")
    told = [line for line in lines if line.strip() and not _HEADING.match(line)]
    while told and _QUOTED_WORD.match(told[0]) and all(map(_QUOTED.match, told)):
        lines = [line if _HEADING.match(line) else _QUOTED.sub("", line, count=1) for line in lines]
        told = [line for line in lines if line.strip() and not _HEADING.match(line)]
    return "\n".join(lines)


class _Layout:
    """Takes a text apart into headings, paragraphs, items and rows: what is wrapped is one, what is apart stays so."""

    def __init__(self, *, has_pluses: bool) -> None:
        self._has_pluses = has_pluses
        self._blocks: list[str] = []
        self._open: list[str] = []
        self._mark = ""
        self._indents: list[int] = []

    def blocks(self, text: str) -> list[str]:
        for line in text.split("\n"):
            self._add(line.expandtabs(4))
        self._close()
        return self._blocks

    def _add(self, line: str) -> None:
        told = line.strip()
        indent = len(line) - len(line.lstrip())
        if self._open and _UNDERLINE.fullmatch(told):
            self._close(heading=True)
        elif len(told) == 1 and _UNFILLED.fullmatch(told):
            self._start(told, "")
        elif _UNFILLED.fullmatch(told) or _FOOTER.fullmatch(told):
            self._close()
        elif match := _HEADING.match(told):
            self._start(told[match.end() :], "# ")
            self._close()
            self._indents = []
        elif match := _ITEM.match(told):
            self._start(self._item(told, match), "\t" * self._depth(indent))
        elif indent >= 4 and not self._open and not self._indents:
            self._blocks.append(line.rstrip())
        elif told.startswith("|"):
            self._start(told, "")
        else:
            if not self._open and not indent:
                self._indents = []
            self._open.append(told)

    def _start(self, told: str, mark: str) -> None:
        self._close()
        self._open, self._mark = [told], mark

    def _close(self, *, heading: bool = False) -> None:
        # a sign alone may belong to the number below it
        if self._open and not _UNFILLED.fullmatch(self._open[-1]):
            mark = "# " if heading else self._mark
            self._blocks.append(mark + WRAP.join(" ".join(line.split()) for line in self._open))
        self._open, self._mark = [], ""

    def _item(self, told: str, match: re.Match[str]) -> str:
        """Drop the mark of an item, but none that may be a sign: before a number, or among points for and against."""
        if match["mark"] in (None, "+") or match["is_word"] is None or self._has_pluses:
            return told
        return told[1:].lstrip()

    def _depth(self, indent: int) -> int:
        while self._indents and self._indents[-1] >= indent:
            self._indents.pop()
        self._indents.append(indent)
        return len(self._indents) - 1
