"""What a message asks for by its form, and what the lines look like that have it: values, limits, reasons, one's doing.

*When* asks for a day or a time, *where* for a place, *how many* for a number, *why* for a reason. What limits or likes
somebody is of use wherever that person is spoken of.
"""

import re
from collections.abc import Sequence

from memoryd.domain.expressions import expression

LIMIT = expression(
    r"\b(?:never|not|no|nothing|nobody|only|must|cannot|can't|allergic|allergy|avoid|without|except|always|vegan"
    r"|vegetarian|limited|unless)\b|不能|不要|不吃|不喝|不发|不可|不得|不了|禁|(?<![一二两三四五六七八九十百千几\d])只|过敏|必须|一定"
    r"|(?<![特分级区性个])别(?![的人处])|忌"
)
LIKING = expression(r"\b(?:loves?|likes?|prefers?|wants?|hates?|enjoys?|favou?rite|drinks?|eats?)\b|喜欢|爱|讨厌|想要")
_OWN_DOING = expression(
    r"\b(?:where|what|which|whom?|when|how)\b[^.?!]{0,30}?"
    r"(?<!can )(?<!could )(?<!should )(?<!would )(?<!will )(?<!shall )\b(?:i|we) "
    r"(?!can|could|should|would|will|may|must|have|need|want|think|know|mean|get|are|was|were)([a-z]{3,})\b"
)
"""A question of what the one who asks does, and its verb: *where do I work*."""
WHY = expression(r"\b(?:why|how come|warum|wieso)\b|为什么|为啥|为何")
REASON = expression(r"\b(?:because|since|so|due to|therefore|reason|weil|damit|deshalb)\b|因为|由于|所以|因此")
_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_COUNT = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred"
_KINDS = (
    (
        expression(
            r"\b(?:when|what time|how long|until|how many days|(?:which|what|that|those) days?|deadline|due"
            r"|wann|wie lange|um wie viel uhr|welche[nrm]? tag)\b"
            r"|什么时候|几点|哪天|几号|多久|何时|有空|下次|那几天|那天"
        ),
        expression(
            rf"\b(?:\d{{1,2}}[:.]\d\d|\d{{1,2}}(?:st|nd|rd|th)?|noon|midnight|half past|quarter|o'clock"
            rf"|{_MONTH}|{_COUNT}"
            r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|uhr)\b"
            r"|[一二三四五六七八九十\d](?:点|月|号|日|时|周|天)"
            r"|周[一二三四五六日]|星期"
        ),
    ),
    (
        expression(r"\b(?:where|whereabouts|wo|wohin)\b|哪里|哪儿|在哪|放哪"),
        expression(
            r"\b(?:in|at|on|behind|under|above|next to) (?:the|a|my|our)\b"
            r"|\b(?:im|beim?|hinter|unter|auf|neben) |放在|存在|在.{1,8}(?:里|上|下|层|抽屉|柜)"
        ),
    ),
    (
        expression(r"\b(?:how (?:many|much)|wie ?viele?)\b|几个|多少|几[位人份篇张次]"),
        expression(rf"\d|\b(?:{_COUNT})\b|[一二三四五六七八九十百千][个篇张位次份人元块]"),
    ),
)
"""What asks for a value of a kind, and what such values look like."""


def values_asked_for(text: str) -> Sequence[re.Pattern[str]]:
    """Return what each kind of value looks like that a message in small letters asks for."""
    return [value for asks, value in _KINDS if asks.search(text)]


def own_doings(text: str) -> Sequence[str]:
    """Return the verbs of what the one who asks does, if a message in small letters asks for that."""
    return _OWN_DOING.findall(text)
