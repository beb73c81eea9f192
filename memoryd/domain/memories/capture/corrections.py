"""Corrections: a message that tells the assistant what it got wrong, or how to answer from now on, is a lesson."""

import re
from typing import Final

_ANSWERING: Final = (
    r"(?:answer|reply|respond|write|use|format|explain|call|translate|add|include|start|begin|end|give|make|put|show"
    r"|repeat|apologi[sz]e|ask|assume|guess|say|speak|mix|summari[sz]e|shorten|keep"
    r"|send|suggest|recommend|offer|mention|list|quote|cite|invent|round|convert|cut|skip|drop|leave|capitali[sz]e"
    r"|address|talk|sign|wrap|quote|refer|stick|provide|be|count|change|touch|run|delete|commit|push|open|greet|thank)"
)
_RULE: Final = re.compile(
    rf"\A\W*(?:(?:please|ok|okay|no|hey|but|and|also|again|so|next time|from now on|in (?:the )?future|going forward"
    rf"|as i said|i said|i told you)\b[\s,:!.—–-]*+){{0,4}}"
    rf"(?:(?:(?:please )?(?:don['’]?t|do not|never|stop|always|quit|avoid)\s+(?:ever )?(?:{_ANSWERING}|\w+ing)\b)"
    rf"|no (?:more )?(?:tables?|emojis?|bullet|bullets|lists?|markdown|headings?|jargon|english|chinese|german)\b)",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    rf"[:;,—–]\s*(?:please )?(?:don['’]?t|do not|never|stop|always|use)\s+(?:{_ANSWERING}"
    rf"|\w+)\b",
    re.I,
)
_BLAMES: Final = re.compile(
    r"\W*(?:you (?:got|have|keep|always|still|again|did|forgot|used|were)\b|that['’]?s not\b"
    r"|wrong\b|no\b)",
    re.I,
)
_FROM_NOW: Final = re.compile(
    rf"\b(?:from now on|next time|in (?:the )?future|going forward)\b.*\b{_ANSWERING}\b"
    rf"|\b{_ANSWERING}\b.*\b(?:from now on|next time|in (?:the )?future|going forward)\b",
    re.IGNORECASE,
)
_WRONG: Final = re.compile(
    r"\A\W*(?:no|nope|wrong|incorrect|not (?:quite|right|correct|exactly)|that['’]?s (?:not (?:right|correct|true"
    r"|it)|wrong|incorrect|false)|that is (?:not (?:right|correct|true)|wrong|incorrect)"
    r"|you(?:['’]re| are) (?:wrong|mistaken)|you (?:got|have) (?:it|that|this) wrong|you misunderstood"
    r"|actually)\b[\s,.!:;—–-]*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_TOLD: Final = re.compile(
    r"\A\W*(?:(?:the|my|his|her|their|our)\b.{1,60}?\b(?:is|are|was|were|has|have)\b|i(?:['’]m| am| live| have| work"
    r"| meant| said)\b"
    r"|(?:you should|use)\b|[A-Z]\w+(?: \w+){0,2} (?:is|was|has|are)\b|(?:it['’]?s|it is|that['’]?s"
    r"|they are)\b.*\bnow\b)",
    re.IGNORECASE,
)
"""What is right instead names what it is about, or says since when: `it is three, not four` says nothing tomorrow."""
_MEANT: Final = re.compile(
    r"\A\W*i (?:said|meant|asked for|told you)\b.*\b(?:not|instead of|rather than)\b", re.IGNORECASE
)
_VERDICT: Final = re.compile(
    r"\b(?:is|was|are) (?:wrong|incorrect|not (?:right|correct|true))\b.*\b(?:is|it['’]?s|should|use)\b", re.IGNORECASE
)
_IDLE: Final = re.compile(
    r"\b(?:that['’]?s (?:fine|all|ok|okay|good|great|enough|it)|thanks|thank you|no (?:problem|worries|thanks|need"
    r"|idea|rush)|never ?mind|it['’]?s (?:fine|ok|okay|all right|good|not important|nothing)|"
    r"don['’]?t worry|not (?:now|yet|really|sure|today)|let['’]?s|i['’]?ll|i will)\b",
    re.IGNORECASE,
)
_CHINESE_WRONG: Final = re.compile(
    r"\A\W*(?:不对|不是的?|错了|不正确|(?:你|这(?:个|里)?)?(?:说|搞|弄|写|记|算|答|理解|翻)?(?:错了?|得?不对)|你(?:误会|理解错)了?|我说的是"
    r"|有误)[，,。.!！:：；\s]*(?P<rest>.*)",
    re.DOTALL,
)
_CHINESE_TOLD: Final = re.compile(
    r"\A\W*(?!应该|是|要|有|在|还|这|那|它|就)[^，,。.!！]{1,12}?(?:应该)?(?:是|在|叫|有|要用|改)|现在(?:是|在|叫"
    r"|有|改)"
)
_CHINESE_RULE: Final = re.compile(
    r"\A\W*(?:(?:请|好|好的|那|但是?|还有|另外|记住|拜托|麻烦|以后|下次|今后|从现在起|从现在开始|再说一遍|我说过)[，,：:\s]*+){0,4}"
    r"(?:(?:回答|回复|答复|解释|写|说话|输出|总结|列|翻译|发)[^，。]{0,10}?(?:请|要|时|的时候|里)?(?:请)?(?:不要|别|不许|不准|少|勿|必须|一律|始终|总是|用|要|简短|直接)"
    r"|(?:不要|别|不许|不准|禁止|请勿|千万别|少|不用)(?:再|总是?|每次都?|老是?|一直)?(?:给我|对我|跟我|在)?(?:回答|回复|用|写|说|加|列|给|发|放|道歉|重复|叫我|编|猜|假设|问"
    r"|翻译|啰嗦|解释|提|推荐|使用|输出|混用|分点|以|把)"
    r"|(?:永远|总是|始终|一律|每次|必须)(?:都|要|先|不要|别|请)?(?:用|以|先|给|写|回答|回复|加|注明|附))"
)
_CHINESE_FROM_NOW: Final = re.compile(
    r"(?:以后|下次|今后|从现在起|从现在开始|以后请|往后)[^。]{0,20}?(?:请|要|别|不要|都|用|先|直接|少|必须|回答|回复|叫)"
)
_LEAST_WORDS: Final = 2


def is_lead(plain: str) -> bool:
    """Tell whether a sentence only says that something was wrong, so that the next one says what is right."""
    rest = plain
    while found := _WRONG.match(rest) or _CHINESE_WRONG.match(rest):
        rest = found["rest"]
        if not re.search(r"\w", rest):
            return True
    return False


def found_correction(plain: str, *, is_led: bool = False) -> str:
    """Return by which form a sentence corrects the assistant; empty if it does not.

    `is_led`: the sentence before said only that something was wrong.
    """
    is_rule = _RULE.match(plain) or (_BLAMES.match(plain) and _AFTER.search(plain))
    if is_lead(plain) or (_IDLE.search(plain) and not is_rule):
        return ""
    if is_rule or _FROM_NOW.search(plain) or _CHINESE_RULE.match(plain) or _CHINESE_FROM_NOW.search(plain):
        return "a rule for answers"
    if (
        _MEANT.match(plain)
        or _VERDICT.search(plain)
        or (is_led and (_TOLD.match(plain) or _CHINESE_TOLD.search(plain)))
    ):
        return "a correction"
    wrong = _WRONG.match(plain)
    if wrong and len(wrong["rest"].split()) >= _LEAST_WORDS and _TOLD.match(wrong["rest"]):
        return "a correction"
    chinese = _CHINESE_WRONG.match(plain)
    if chinese and len(chinese["rest"]) > _LEAST_WORDS and _CHINESE_TOLD.search(chinese["rest"]):
        return "a correction"
    return ""
