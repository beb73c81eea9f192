"""The salience gate: whether a message may say anything about its author, so that all others cost next to nothing."""

import re
from typing import Final

_MARKERS: Final = re.compile(
    r"\b(?:my|call me|i (?:\w+ ){0,2}(?:live|work|prefer|like)|i (?:don['’]?t|do not)(?: \w+)? like"
    r"|i(?:['’]m| am)(?: \w+){0,2} allergic|remember|(?:don['’]?t|do not) forget|here(?: is|['’]s) my"
    r"|vegetarian|vegan|pescatarian|teetotal(?:l?er)?|intolerant|coeliac|celiac|diabetic|left-handed"
    r"|colou?r[- ]?blind)\b"
    r"|我叫|叫我|我是|我的|我家|我妻子|我[爸妈女儿先老丈太爱哥弟姐妹男室父母孩爷奶外同导上专职国生姓]|过敏|别忘|不要忘|我[\u4e00-\u9fff]{0,4}(?:喜欢|住在)|我[\u4e00-\u9fff]{0,2}[在对]|记住|我手机|我电话",
    re.IGNORECASE,
)
_IDENTIFIERS: Final = re.compile(r"\d[\d\s().-]{5,}[\dXx]|[^\s@]@[^\s@]+\.\w")
_CORRECTIONS: Final = re.compile(
    r"\A\W*(?:no|nope|wrong|not|that['’]?s|that is|you(?:['’]re| are)|actually|please|stop|don['’]?t|do not|never"
    r"|always"
    r"|from now on|next time|in (?:the )?future|i (?:said|meant|asked|told)|it['’]?s|it is|use|keep|incorrect)\b"
    r"|\b(?:from now on|next time|in (?:the )?future|you got|is wrong|not right|incorrect)\b"
    r"|不对|不是|错|别|不要|以后|下次|今后|应该|我说的|永远|总是|始终|一律|回答|回复",
    re.IGNORECASE,
)


def gate(text: str, *, has_answer: bool = False) -> str:
    """Return the marker that fired; empty if nothing of a message is looked at.

    `has_answer`: something was answered before, which a message may correct.
    """
    patterns = (_MARKERS, _IDENTIFIERS, _CORRECTIONS) if has_answer else (_MARKERS, _IDENTIFIERS)
    for pattern in patterns:
        if found := pattern.search(text):
            return "a number or an address" if pattern is _IDENTIFIERS else " ".join(found[0].split()).lower()
    return ""
