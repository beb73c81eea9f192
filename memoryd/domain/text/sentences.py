"""The sentences of a text. Abbreviations, initials, numbers, addresses and code do not end one."""

import re
from typing import Final

from memoryd.domain.expressions import expression

_END: Final = expression(
    r"(?P<wide>[。！？]+[”’」』）)\"']*)|(?P<plain>[.!?…]+[\"'”’)\]]*)(?=\s)|(?P<line>\n)(?=\s*(?:[-*+•]|[0-9]{1,3}[.)])\s)"
)
"""Where a sentence may end: at a wide stop, at a plain one before a blank, and before an item of a list."""
_LAST_WORD: Final = expression(r"(?:[^\W\d_]|\.)+\Z")
_ABBREVIATIONS: Final = (
    "a.m approx bzw capt cf corp d.h dept dr e.g ed eds esp et.al etc gen gov hon i.e inc incl jr lt ltd mr mrs ms "
    "p.m prof ref resp rev sen sr st tel u.a u.k u.s u.s.a usw vgl vs z z.b zzgl"
)
_BEFORE_NUMBERS: Final = "apr art aug ca dec feb fig figs jan jul jun mar no nos nov oct op p pp sec sep sept v vol"
"""Words of their own, too: these end no sentence where a number follows."""
_CODE: Final = expression(r"`+[^`]*`+")
_ITEM: Final = expression(r"\A\s*(?:(?:[-*+•]|[0-9]{1,3}[.)])\s+)+(?=\S)")
"""What marks an item of a list, and is none of its words."""


def sentences_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a text in order, their white space folded, without the marks of lists."""
    # what stands in code ends nothing: as many signs that end nothing stand there meanwhile
    masked = _CODE.sub(lambda code: "x" * len(code[0]), text)
    found, start = list[str](), 0
    for end in _END.finditer(masked):
        if end["plain"] and not _ends(masked, start, end):
            continue
        found.append(text[start : end.end()])
        start = end.end()
    return tuple(folded for one in [*found, text[start:]] if (folded := " ".join(_ITEM.sub("", one, count=1).split())))


def _ends(text: str, start: int, end: re.Match[str]) -> bool:
    """Tell whether a stop ends a sentence, and not an abbreviation, an initial or the number of an item."""
    if end["plain"][0] != "." or end["plain"].startswith(".."):
        return True
    word = _LAST_WORD.search(text, start, end.start())
    if word is None:
        return not text[start : end.start()].strip(" \t\n-*+•").isdigit()
    said = word[0].lower().strip(".")
    if said in _ABBREVIATIONS.split() or (said in _BEFORE_NUMBERS.split() and text[end.end() :].lstrip()[:1].isdigit()):
        return False
    # an initial, as in "J. Smith"; "Plan B. Then" is rarer
    return not (len(said) == 1 and word[0].isupper() and said != "i")
