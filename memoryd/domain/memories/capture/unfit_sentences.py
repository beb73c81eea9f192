"""Why a sentence is no plain statement of its author: a question, a condition, a supposition, other people's words."""

import re
from typing import Final

from memoryd.domain.memories.capture.sentences import SpokenSentence

SIGNS_MAX: Final = 400
QUESTION: Final = "it is a question"
CONDITION: Final = "it is a condition, or a supposition"
REPORTED: Final = "it may be another person's words"
TOO_LONG: Final = "it is too long for one statement"
SECRET: Final = "what it says is a secret"
_ASKS: Final = re.compile(
    r"\A\W*(?:(?:and|so|but|ok|okay|hey|hi|hello|also|please|well|then|now|sorry|thanks)\b[,!.]* *)*"
    r"(?:what|who|whom|whose|where|when(?! i\b)|why|how|which|is|are|am|was|were|do|does|did|can|could|would|will"
    r"|should|shall"
    r"|may|has|have|had|isn['’]t|aren['’]t|don['’]t (?:you|i)|didn['’]t|won['’]t|wouldn['’]t|can['’]t you|tell me"
    r"|guess|any idea"
    r"|do you)\b|\bi (?:was )?wonder(?:ing)?\b|\bdo you (?:know|remember|recall|think)\b"
    r"|\b(?:you (?:still )?remember|what|whether) my\b",
    re.IGNORECASE,
)
_ASKS_CHINESE: Final = re.compile(
    r"[吗嘛呢么][^\u4e00-\u9fffA-Za-z0-9]*\Z|什么|怎么|怎样|为何|谁(?!都|也)|哪(?![怕吒])|几(?:个|点|岁|号|月|天|次|位)|多少|多大|多久"
    r"|是不是|有没有|能不能|可不可以|会不会|对不对|好不好|要不要|是否|还记得|记不记得|知不知道|知道我|猜(?:猜|一下|我)|对吧|没错吧|请问"
)
_SUPPOSES: Final = re.compile(
    r"\b(?:if|unless|whether|provided|as long as|assum(?:e|ing)|suppos(?:e|ing)|imagine|what if|would|could"
    r"|might|maybe"
    r"|perhaps|possibly|probably|i (?:think|guess|suppose|assume|believe|wish|hope|doubt|dreamt|dreamed)|if only"
    r"|in theory|someday"
    r"|one day|as if|as though|pretend|not sure|for (?:example|instance)|e\.g|such as)\b"
    r"|如果|要是|假如|假设|假使|倘若|若是|若(?=我)|万一|除非|的话|也许|可能|或许|大概|好像|似乎|估计|希望|但愿|我猜|我想我|应该是|说不定|一旦|比如|例如|比方|不确定|不一定",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(
    r"\bwould you believe it\b|\bas you (?:might|may|probably) know\b|\bbut i (?:could|would) (?:also )?live with\b",
    re.IGNORECASE,
)
_IN_CASE: Final = re.compile(r"\W*(?:just )?in case\b", re.IGNORECASE)
_OWN_WORDS: Final = re.compile(
    r"\b(?:as|like) i (?:said|mentioned|told you)|\bi(?:['’]ve| have)? (?:already |just )?(?:said|told you"
    r"|mentioned)\b|\bsay hi\b"
    r"|(?:我|实话|老实|顺便|总的来|一般来|换句话|也就是|就是|再|话|来|小|学|传|解|据我|虽)说|说(?:明|话|法|服|起来|实话|一下|到)|问(?:题|候)|回答(?:时|的时候|问题|我)",
    re.IGNORECASE,
)
_REPORTS: Final = re.compile(
    r"\b(?:said|says|say|saying|told|tells|asked|asks|wrote|writes|claim(?:s|ed)?|according to|quot(?:e|es|ed|ing)"
    r"|repl(?:ied|ies)"
    r"|heard|thinks|answered|texted|mentioned|shouted|sings?|sang|lyrics?|titled|reads|puts it|introduced (?:him"
    r"|her)self)\b"
    r"|(?:[他她它们人妈爸哥姐弟妹友户]|老师|老板|同事|先生|太太|经理|客服|总|小[\u4e00-\u9fff])[^，,。\s]{0,4}?[说问唱喊念]|告诉|写道|写着|转告|听(?:见|到|[他她谁人])|唱(?:道|着)|表示|自称|自我介绍",
    re.IGNORECASE,
)
_SPEAKER: Final = re.compile(r"\A[ \t]*(?P<who>[A-Za-z][\w .'’-]{0,30}|[\u4e00-\u9fff]{1,8})[ \t]*[:：](?!\d|//)")
_OWN_LABEL: Final = re.compile(
    r"\A[ \t]*(?:note|notes|fyi|btw|by the way|ps|p\.s\.?|(?:please )?remember(?: this| that)?|please note|update"
    r"|correction|reminder|important"
    r"|about me|also|me|hi|hello|one thing|for the record|just so you know|my [\w ]{1,24}|i(?:['’]m"
    r"| am)? [\w ]{1,24}|e-?mail|phone|tel|mobile"
    r"|(?:请|帮我|你要)?记住|备注|注意|另外|补充|提醒|对了|更正|说明"
    r"|我的[\u4e00-\u9fff]{1,6}|我[\u4e00-\u9fff]{1,6}|电话|手机|邮箱)[ \t]*[:：]",
    re.IGNORECASE,
)
_HIDDEN: Final = re.compile(r"\*{3}|\S{6}…\S{4}|…\d{4}")


_PASSWORDS: Final = re.compile(
    r"\b(?:pass ?words?|pass ?phrases?|pass ?codes?|pins?|pin ?codes?|pin numbers?|api ?keys?|secret ?keys?"
    r"|private ?keys?"
    r"|access ?tokens?|cvv|cvc|seed phrase|passwds?|pwd|log-?ins?|credentials?|credit card|debit card|card number|iban"
    r"|bank account|account (?:number|no)|security code)\b|\bkeys?(?: to \w+)?(?: (?:is|are|was)\b|\s?[:=])"
    r"|\b(?:wi-?fi|wlan|account|router|network|bank|card|2fa|security|verification|unlock|phone|safe|alarm|door|gate"
    r"|garage|entry|entrance|access|lock(?:er)?|vault|backup|recovery|one-time|login) codes?\b"
    r"(?! (?:is|are|was|gets?) (?:changed|renewed|different)\b)"
    r"|\b(?:seed|recovery|backup|secret) (?:words?|phrases?|keys?)\b|\bmaiden name\b|\bsecurity (?:question|answer)s?\b"
    r"|\b(?:lock(?:er)?|padlock|bike lock|safe|vault|suitcase)(?:['’]s)? combination\b"
    r"|\bcombination (?:to|of|for) (?:my|our|the) (?:lock(?:er)?|padlock|bike lock|safe|vault|suitcase)\b"
    r"|\b(?:safe|vault|locker|padlock|lock|door|gate|garage|alarm) (?:is )?(?:open|unlock|disarm)(?:s|ed)? with\b"
    r"|密码|口令|密钥|私钥|助记词|验证码|门禁码|开门码|备用码|恢复码|动态码|银行卡|信用卡|卡号|银行账[号户]",
    re.IGNORECASE,
)
"""What is said of these is not kept, whether or not the secret itself is known by its form."""


def says_secret(text: str) -> bool:
    """Tell whether a sentence may say a secret: it names one, or holds one that is masked."""
    return bool(_HIDDEN.search(text) or _PASSWORDS.search(text))


def why_not_plain(sentence: SpokenSentence) -> str:
    """Say why a sentence is no plain statement; empty if it is one."""
    if why := why_not_told(sentence):
        return why
    plain = sentence.plain
    if _SUPPOSES.search(_POLITE.sub("", plain)) or _IN_CASE.match(plain):
        return CONDITION
    if _REPORTS.search(_OWN_WORDS.sub("", plain)) or (_SPEAKER.match(plain) and not _OWN_LABEL.match(plain)):
        return REPORTED
    return ""


def why_not_told(sentence: SpokenSentence) -> str:
    """Say why nothing at all is told by a sentence, a correction neither: a question, a secret, too long."""
    plain = sentence.plain
    if len(sentence.text) > SIGNS_MAX:
        return TOO_LONG
    if sentence.is_question or _ASKS.search(plain) or _ASKS_CHINESE.search(plain):
        return QUESTION
    return SECRET if says_secret(sentence.text) else ""
