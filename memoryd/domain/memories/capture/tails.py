"""What within a sentence makes its statement unreal, a matter of the moment, or a thing of a text or a program."""

import re
from typing import Final

from memoryd.domain.memories.capture.first_person import is_own_clause

UNREAL: Final = "it is unreal, of the moment, or of a text or a program"
_UNREAL: Final = re.compile(
    r"\bin (?:my|your|his|her|the|a) (?:dreams?|fixtures?|imagination|fantasy|tests?|test (?:data|file)|code|config"
    r"|file|database|form|example|example file|mock\w*)\b|\b(?:fixtures?|placeholders?|test data|unit tests?)\b"
    r"|\bwhich (?:is|are|was|happens) (?:never|not|rarely|a lie|false)\b|\b(?:never|not)\W*\Z"
    r"|\bin (?:an?|half an?|\d+|a few|a couple of|one|two|three|four|five|six|ten|fifteen|twenty|thirty) (?:seconds?"
    r"|min|mins|minutes?|hours?|h)\b|\b(?:right now|just now|at the moment|on the phone|on the line|today|tonight"
    r"|tomorrow|this (?:morning|afternoon|evening|week|weekend|minute)|in a (?:minute|moment|second|bit))\b"
    r"|\b(?:is|are|was) (?:not true|untrue|a lie|made up|invented)\b|\bmaking (?:this|it|that) up\b"
    r"|\b(?:tenses?|grammar|grammatical\w*|prepositions?|translat\w+|subtitles?|quiz)\b"
    r"|\b(?:until|when|once|while) you(?:['’]re| are)?\b|\b(?:he|she|they|it) (?:declared|goes|went|begins?|whispered"
    r"|cried|added)\b"
    r"|梦里|梦中|才怪|骗人|假的|胡扯|第[一二三四五六七八九十]句|这句|课文|作文|测试用|示例|样例|今天[早晚上下]|明天|后天|刚才|刚刚|马上|几分钟|分钟后|小时后",
    re.IGNORECASE,
)
_OF_ANSWER: Final = re.compile(
    r"\byou(?:['’]ve| have)? (?:just )?(?:made|chose|chosen|wrote|written|did|gave|picked|used|suggested|proposed|drew"
    r"|built|sent|named)\b|\b(?:for|in|on|of|with|from|about) (?:this|these|that)\b|\bhere\b\W*\Z"
    r"|\bthis \w+|\bto wait\b|\bnot to (?:answer|say|tell|talk|discuss|comment)\b"
    r"|\bthe (?:\w+ )?(?:errors?|functions?|methods?|class|variables?|buttons?|headings?|fonts?|code|tests?|messages?"
    r"|branch|loops?|approach|queries|query|api|config|diff|patch|pr|commit|refactoring|implementation)\b"
    r"|你(?:刚|写|做|说|给|选|画)|这(?:个|段|种|版|首|张|篇)",
    re.IGNORECASE,
)
_ASIDE: Final = re.compile(r"[,;，；]\s*|\s+(?:and|but|so)\s+", re.IGNORECASE)
_ADDED: Final = re.compile(
    r"\W*(?:(?:by the way|btw|please|thanks|thank you|nice to meet you|from now on|for short|instead|in case\b.*|in"
    r"|from|at|aged?|\d+|born"
    r"|谢谢|请多关照|很高兴认识你?|叫我.{1,6}|住在.+|今年.+|来自.+|在.+|\d.*|不是.+|你?可以.+)(?![A-Za-z]).{0,60}|\W*)\Z",
    re.IGNORECASE,
)


def why_unreal(plain: str) -> str:
    """Say why what a sentence states is not so, or not for long; empty if nothing says so."""
    return UNREAL if _UNREAL.search(plain) else ""


def is_of_answer(value: str) -> bool:
    """Tell whether what is liked, or not, is of the answer before or the task at hand."""
    return bool(_OF_ANSWER.search(value))


def is_clean(plain: str, start: int) -> bool:
    """Tell whether all clauses of a sentence behind its first are the author's: no other one speaks in it."""
    first = _ASIDE.search(plain, start)
    if first is None:
        return True
    rest = [one for one in _ASIDE.split(plain[first.end() :]) if one]
    return all(is_own_clause(one) or bool(_ADDED.match(one)) for one in rest)
