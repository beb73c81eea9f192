"""Cues by which a sentence says that something has changed: closed classes in English, German and Chinese.

A cue is a form with its pattern. The pattern's groups are `old` for the former value, `new` for the present value, and
`subject` or `about` for the thing; `said` is a clause as a whole.

The words of change at the end of this module do not say what has changed. A sentence with one of them is compared with
the memories. If such a word is in a clause with the value of a memory, that value has *ended*; after a word of *again*
comes a value that was valid before.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from memoryd.domain.expressions import TextMatch, caseless, expression
from memoryd.domain.memories.capture.values import HAN_NUMBER, MEASURE, NUMERAL
from memoryd.domain.memories.facts.values import HAN, WEEKDAY
from memoryd.domain.text.dates import MONTH

CORRECTION = "a correction"
NOT_BUT = "not … but …"
NO_LONGER = "no longer …"
FROM_TO = "from … to …"
CHANGE = "changed to …"
NOW = "now …"
AGAIN = "… again"
NEW = "a new …"
NEWS = "just learned"
ANSWER = "the answer was wrong"
SLIP = "actually …"
OTHERWISE = "otherwise now"

_LEAD = caseless(
    r"\W*(?:(?P<wrong>no(?! longer| more| one| need| way| time)|nope|nah|wrong|incorrect"
    r"|not (?:quite|right|correct|true|exactly|so)(?: any ?more)?"
    r"|that['’]?s (?:not|no longer) (?:right|correct|true|it|so)(?: any ?more)?|that['’]?s (?:wrong|incorrect"
    r"|outdated|old|history)|outdated(?=,)|that was (?:before|last \w+|then)|not any ?more|no longer(?=[,.])"
    r"|that (?:is|was) (?:not (?:right|correct|true)(?: any ?more)?|wrong|outdated)|that isn['’]t (?:right|correct"
    r"|true)(?: any ?more)?"
    r"|you(?:['’]re| are) (?:wrong|mistaken)|you(?:['’]ve| have)? (?:got|have|had|remembered) (?:it|that|this) wrong"
    r"|i meant(?: to (?:say|write|type)|(?! to\b))(?=[^:]*\Z)|ich mein(?:t?e)?(?=[^:]*\Z)"
    r"|nee|falsch|stimmt nicht|das stimmt (?:so )?nicht|das ist (?:falsch|nicht richtig)|nicht (?:ganz )?richtig|nein"
    r"|(?:不对|不是的|错了|不正确)(?![\u4e00-\u9fff])|你(?:记|说|弄|搞|写)错了?|(?:这|那)(?:个)?(?:不对|错了"
    r"|过时了)|不是这样的?)"
    r"|(?P<own>(?:small |quick |one |a )*(?:correction|update|typo|errata|change of plan)|i (?:misspoke|mistyped"
    r"|was wrong|was mistaken)(?: that| it| this)?(?: about [\w' -]{1,30}?(?=[:,;.]))?"
    r"|i (?:had|got|told you|wrote|said) (?:that|it|this) wrong(?:ly)?|my (?:mistake|bad)|scratch that"
    r"|korrektur|ich habe mich (?:vertan|geirrt|verschrieben)|mein fehler"
    r"|let me correct (?:that|myself|this)|i (?:have|need|want) to correct (?:that|myself|something|this)"
    r"|(?:更正|纠正|更新|订正)(?:一下|一点)?|我?(?:刚才|之前|上次|前面)?(?:说|记|写|弄|搞|讲)(?:错|反)了|口误|笔误"
    r"|我(?:错了|搞混了))"
    r"|(?P<slip>actually|sorry|oops|wait(?!\W+it['’]?s "
    r"(?:already |only )?\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m| o['’]clock)?\W*\Z)"
    r"|i mean|ach nein|quatsch|moment)"
    r"|(?P<news>(?:it )?turns out(?: that)?)"
    r"|(?P<idle>in fact|well|oh|ah|hey|hi|hello|ok|okay|btw|by the way|fyi|for the record"
    r"|for your information|yes|yeah|so|and"
    r"|but|also|just so you know|you know|heads[- ]up|quick note|please note(?: that)?|note(?: that)?"
    r"|also|übrigens|ach ja|hallo|danke|doch|leider"
    r"|one more thing|(?:hang|hold) on(?=\W)|guess what(?=\W)|bad news|um+|hm+|thanks|thank you"
    r"|good (?:news|morning|evening|afternoon)|to be precise|remember(?: that)?"
    r"|其实|事实上|对了|顺便(?:说一下|说一句|提一下)?|嗯|哦|啊|抱歉|不好意思|准确地?说|确切地?说|应该说|你好"
    r"|请?记住|另外|还有|跟你说一下|说一下))(?![A-Za-z'’])[\s,，.。:：;；!！—–-]*"
)

_WHO = r"(?P<subject>[^,;:]{0,80}?)"
_NOT = r"(?:not|n['’]t)"
_GIVEN_UP = (
    r"(?:stopped(?: using)?|quit|gave up|given up|sold(?! out\b)|dropped(?! (?:my|his|her|our|their)\b)"
    r"|left(?! (?:it|the|a|my|for|early|late|me|home|him"
    r"|her|them)\b| (?:his|our|their|its) (?!(?:job|post|role|position|old|company|firm|team|band|club|flat|house)\b))"
    r"|cancel+ed|got rid of|ditched|abandoned|phased out|scrapped"
    r"|gave away|given away|closed|unsubscribed from|moved (?:out of|away from)|resigned from|retired from|done with"
    r"|broke up with|parted with|threw (?:out|away)|returned(?! to)|finished with|switched off|turned off|lost)"
)
_MOVED = (
    r"(?:switch|mov|chang|migrat|transferr?|shift|upgrad|renam|relocat|swapp?|convert|downgrad|reschedul|postpon"
    r"|push|put|brought|bring|bump|rais|lower|rose|went|gone|go|cut|increas|decreas|extend|shorten|reduc|turn|pass"
    r"|hand)(?:ed|e|es|s|ing)?"
)
_SINCE = (
    r"(?:\b(?:from|starting|beginning|effective)(?: from| in| with| on)? (?:this|next|the|today|tomorrow|january"
    r"|february|march|april|may|june|july|august|september"
    r"|october|november|december|monday|\d)\b|\binstead\b(?! of)|\bnow\b(?! that)|\bfrom now on\b|\bas of (?:now"
    r"|today|this|last|yesterday|january|february|march|april|may|june"
    r"|july|august|september|october|november|december|monday|\d)\b"
    r"|\bthese days\b|\bnowadays\b|\bsince (?:the|last|this|yesterday|monday|january|february|march|april|may|june|july"
    r"|august|september|october|november|december)\b)"
)
_ENDED = (
    r"\A(?P<old>[^,;]{2,60}?)(?:['’]s|['’]ve| is| are| was| were| has| have)?(?: now| finally| been)* "
    r"(?:gone(?! back| to| over| up| down| from)|(?:retired|discontinued|history|no more"
    r"|(?:(?<=\bis )|(?<=\bare )|(?<=\bwas )|(?<=\bwere )|(?<=\bbeen )|(?<=\bnow )|(?<=['’]s ))cancel+ed"
    r"|(?<!was )(?<!were )(?:closed|shut|over)"
    r"|phased out|sold|scrapped|resigned|quit"
    r"|stepped down|left|ended|folded|(?:switched|turned) off|decommissioned|let go|moved (?:on|out|away)"
    r"|out of business|expired)(?: down| for good| for (?:me|us))?(?=\W*\Z|[,;]| and | last | in | since ))(?! \d)"
)
_ENGLISH_OLD = (
    (
        NOT_BUT,
        rf"\A(?:it|that)(?:['’]s| is| was|) ?(?:{_NOT}) (?P<old>[^,;]{{1,60}}?) (?:who|that|which|whose"
        rf"|where)\b(?P<subject>[^,;]{{1,60}})",
    ),
    (NO_LONGER, rf"\A{_WHO}\s?\b(?:no longer|not any ?more)\s(?P<old>[^,;]{{2,80}})"),
    (
        NO_LONGER,
        rf"\A{_WHO}\s?\b(?:(?:is|are|am|was|were|do|does|did|has|have|had|can|could|need|wo"
        rf"|ca)\s?)?{_NOT} (?P<old>[^,;]{{2,80}}?)\s(?:any ?more|any longer)\b",
    ),
    (
        NO_LONGER,
        rf"\A{_WHO}\s?(?:['’]ve |['’]s |\bhave |\bhas |\bhad )?(?:finally |just |already )?"
        rf"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bbe )(?<!\bbeen )\b{_GIVEN_UP} (?P<old>[^,;]{{2,60}}?)"
        r"(?= and |[,;]|\s(?:last|this|yesterday|in|on|a) |\W*\Z)",
    ),
    (NO_LONGER, _ENDED),
    (
        FROM_TO,
        rf"\A{_WHO}\s?\b{_MOVED}\b(?P<about>[^,;]{{0,60}}?)\bfrom (?P<old>[^,;]{{1,60}}?) (?:over |back "
        rf"|on )?to (?P<new>[^,;]{{1,60}})",
    ),
    (
        FROM_TO,
        rf"\A{_WHO}\s?(?:['’]ve |\bhave |\bhas )?\b(?:replaced|swapped|exchanged|traded in|traded"
        rf"|substituted) (?P<old>[^,;]{{1,60}}?) (?:with|by|for) (?P<new>[^,;]{{1,60}})",
    ),
    (
        FROM_TO,
        r"\A(?P<old>[^,;]{1,60}?) (?:was|were|has been|have been|is|are)(?: now)? replaced (?:with"
        r"|by) (?P<new>[^,;]{1,60})",
    ),
    (
        FROM_TO,
        r"\A(?P<new>[^,;]{1,60}?) (?:(?:has |have )?(?:replaced|taken over from)|replaces"
        r"|took over from) (?P<old>[^,;]{1,60}?)(?: as (?P<subject>[^,;]{1,60}))?\W*\Z",
    ),
    (NOT_BUT, r"\Anot (?P<old>[^,;]{1,60}?)[,;]"),
    (
        NOT_BUT,
        rf"\A{_WHO}\s?\b(?:never (?:was|were|had)|(?:was|were) never|has never been) (?P<old>[^,;]{{1,60}})",
    ),
    (
        NOT_BUT,
        r"\b(?:instead of|in place of) (?P<old>[^,;]{1,60}?)(?=\s(?:now|from|since|as of|these days)\b|[,;]|\W*\Z)",
    ),
    (
        FROM_TO,
        rf"\A{_WHO}\s?\b{_MOVED}\b(?P<about>[^,;]{{0,60}}?)\bto (?P<new>[^,;]{{1,60}}?) from (?P<old>[^,;]{{1,60}})",
    ),
    (
        CORRECTION,
        r"\A(?:you|your notes?|the notes?|your memory) (?:still |wrongly )?(?:have|has|noted|remember|think|wrote"
        r"|recorded|says?)(?: down)?(?: that)? (?P<old>[^;]{2,80}?)[.,;]",
    ),
    (NOT_BUT, r"\bi (?:said|told you|wrote) (?P<old>[^,;]{2,60}?)(?:[,;]? but\b|\W*\Z)"),
    (
        NOT_BUT,
        r"\A(?P<said>[^;]{1,80}?)[, ]+(?:and )?(?:not|instead of|rather than) (?P<old>[^,;]{1,60})\W*\Z",
    ),
    (
        NOT_BUT,
        rf"\A{_WHO}\s?\b(?:is|are|was|were|am|do|does|did|has|have|can)\s?{_NOT} (?P<old>[^,;]{{1,80}})(?:[,;]|\W*\Z)",
    ),
)
_ENGLISH_NEW = (
    (
        AGAIN,
        r"\bagain\b|\bonce more\b|\b(?:returned|reverted) to\b"
        rf"|(?<!\bput )(?<!\bpushed )\bback (?:with|to|on(?! \d| {WEEKDAY})|at(?! \d)|in(?! (?:\d|{MONTH})))\b"
        r"|\b(?:gone|went|going|switched|moved|changed) back\b",
    ),
    (
        CHANGE,
        rf"\A{_WHO}\s?(?:['’]ve |['’]s |\b(?:is|are|was|were|has|have|had|got|been) )*(?:now |just |been )*\b{_MOVED}\b"
        rf"(?P<about>[^,;:]{{0,60}}?)\b(?:over |back |up |down |forward )*(?:to|into|by) (?P<new>[^,;]{{1,60}})",
    ),
    (
        CHANGE,
        r"\b(?:has |have |was |is )?changed(?=\W*\Z)|\b(?:they|we|i)(?:['’]ve)? changed (?:it|that|this)\b",
    ),
    (
        CHANGE,
        rf"\A{_WHO}\s\b(?:slip(?:s|ped)?|slid|(?:delay|deferr?|adjourn|rearrang|rebook)e?d|put (?:back|off"
        rf"|forward))(?: back| forward| by [\w ]{{1,20}}?)? (?:to|until|till|for) (?:the )?(?P<new>\d[^,;]{{0,60}}"
        rf"|(?:{WEEKDAY}|{MONTH}|{NUMERAL}|noon|midnight)\b[^,;]{{0,60}})",
    ),
    (NOW, _SINCE),
    (
        NEWS,
        r"\b(?:just|only) (?:told|let) (?:me|us)\b|\bi(?:['’]ve)? just (?:heard|learned|learnt|found out"
        r"|checked|noticed|saw)\b"
        r"|\bi(?:['’]ve| have)? (?:set|changed|updated|corrected|fixed|adjusted) (?:that|it|this)\b"
        r"|\b(?:it )?turns out\b|\bi(?:['’]ve)? (?:double-)?checked\b",
    ),
)
_MOVED_GERMAN = (
    "(?:verschoben|verlegt|geändert|gewechselt|umgestiegen|(?:um)?(?:ge)?zoge?n|erhöht|gesenkt|gestiegen"
    "|gesunken|verlängert)"
)
_NO_MORE = "(?:(?:nicht|net|ned) mehr|nimmer)"
"""Also as it is spoken in the south."""
GERMAN_VERB = (
    "ist|sind|hat|haben|wird|wurde|kommt|kommen|kostet|kosten|beträgt|heißt|bleibt|bleiben|gilt|läuft|laufen|findet|beginnt"
    "|kriegt|bekommt|isst|trinkt|nimmt|spielt|arbeitet|endet|dauert|wohnt|liegt|liegen|steht|stehen|fährt|fahren|geht|gehen|braucht|öffnet|schließt"
)
_GERMAN_OLD = (
    (
        FROM_TO,
        rf"\A{_WHO}\s?\bvon (?P<old>[^,;]{{1,60}}?) (?:auf|zu[rm]?|nach|in) (?P<new>[^,;]{{1,60}}?) {_MOVED_GERMAN}\b",
    ),
    (
        FROM_TO,
        r"\A(?:wir|ich) (?:nehmen?|nutzen?|benutzen?|verwenden?|haben?|trinken?|essen?|fahren?|kaufen?)\b"
        r" (?:ab )?(?:jetzt|nun|inzwischen)"
        r" (?P<new>[^,;]{1,60}?) (?:statt|anstatt|anstelle von) (?P<old>[^,;]{1,60}?)(?=[,;]|\W*\Z)",
    ),
    (NOT_BUT, rf"\b(?:{_NO_MORE}|nicht|net|ned) (?P<old>[^,;]{{1,60}}?)[,;]? sondern\b"),
    (NOT_BUT, rf"\A(?P<said>[^;]{{1,80}}?), (?:und )?(?:{_NO_MORE}|nicht) (?P<old>[^,;]{{1,60}})\W*\Z"),
    (NO_LONGER, rf"\A{_WHO}\s?\b{_NO_MORE} (?P<old>[^,;]{{2,60}}?)\W*\Z"),
    (NO_LONGER, rf"\A{_WHO}\s?\bkein\w{{0,2}} (?P<old>[^,;]{{2,60}}?) mehr\W*\Z"),
    (NOT_BUT, r"\b(?:statt|anstatt|anstelle von) (?P<old>[^,;]{1,60}?)(?=[,;]|\W*\Z)"),
)
_GERMAN_NEW = (
    (
        CHANGE,
        rf"\A(?:(?:ich|wir) )?(?:haben?|hab) (?P<about>[^,;]{{2,60}}?) auf (?P<new>[^,;]{{1,60}}?) {_MOVED_GERMAN}\b",
    ),
    (
        CHANGE,
        rf"\A{_WHO}\s\b(?:bin|ist?|sind|wurde|wird) (?:jetzt? )?(?:auf|in|nach) (?P<new>[^,;]{{1,60}}?)"
        rf" {_MOVED_GERMAN}\b",
    ),
    (
        NOW,
        rf"\b(?:jetzt?|ab sofort|neuerdings|von nun an)\b|\bab (?:\d|heute|morgen|{WEEKDAY}|{MONTH})",
    ),
)
_CHANGED = (
    "(?:(?:换|改|搬|调|转|移|迁|挪|升级|调整|更换|更改|修改|变更|推迟|提前|延期|延后|顺延|延长|缩短|涨|降|升|减|加"
    "|变|切)(?:成|到|为|至|去|在|用|由|叫|给|了)|换|改用|(?:移|转)?交给|改(?=(?:周|星期|礼拜|上午|下午|早上|晚上|明早)"
    "|[挂坐喝吃走穿订约住学打送找读看选租买跟请让听跑骑开发交]))"
)
_HAN_OLD = (
    (
        FROM_TO,
        rf"\A(?P<subject>[^，,；;]*?)从(?P<old>[^，,；;]{{1,20}}?)(?:{_CHANGED})(?P<new>[^，,；;]{{1,30}})",
    ),
    (
        FROM_TO,
        r"\A(?P<subject>[^，,；;]*?)把(?P<old>[^，,；;把]{1,20}?)(?:换成|改成|替换成|改为)了?(?P<new>[^，,；;]{1,30})",
    ),
    (
        NO_LONGER,
        r"\A(?P<subject>[^，,；;]*?)从(?P<old>[^，,；;]{1,20}?)(?:离职|辞职|毕业|退休|退出|搬走|搬出)",
    ),
    (NO_LONGER, r"\A(?P<subject>[^，,；;]*?)(?:不再|再也不|已经不)(?!是不)(?P<old>[^，,；;]{1,30})"),
    (
        NO_LONGER,
        r"\A(?P<subject>[^，,；;]*?)(?:(?:已经|现在|以后|从今天起"
        r"|从现在起)[^，,；;]{0,12}?)?(?<![了好])先?(?:不用|不需要|不必|不要|不)(?![过错同好行对是知管论]|[干做]了)"
        r"(?P<old>[^，,；;]{1,30}?)了(?=[。.！!～~\s]*(?:[，,；;]|\Z))",
    ),
    (
        NO_LONGER,
        r"\A(?P<subject>[^，,；;]*?)(?:卖掉|卖|退掉|戒掉|戒|辞掉|停掉|取消|关掉|扔掉|丢掉|退订|放弃|停用|弃用"
        r"|淘汰|停)了(?P<old>[^，,；;。.！!]{1,20})",
    ),
    (
        NO_LONGER,
        r"\A(?P<old>[^，,；;]{1,20}?)(?:已经)?(?:取消|停用|关门|停业|退休|离职|下线|停产|卖掉|卖|倒闭|停办|停"
        r"|走|辞职|不干|不管|不做|转岗|调走|调岗|卸任|过期|关|离开)了(?=[。.！!～~\s]*(?:[，,；;]|\Z))",
    ),
    (
        NOT_BUT,
        r"\A(?P<subject>[^，,；;]*?)(?:并)?(?:不是|不在|不叫|不姓|不用"
        r"|而不是)(?P<old>[^，,；;]{1,30}?)[，,；;]\s*(?:而?是|在|叫|姓|用)",
    ),
    (NOT_BUT, r"\A(?P<said>[^；;]*?)[，,]\s*(?:而)?(?:不是|不在|不叫|并非)(?P<old>[^，,；;]{1,30})"),
    (NOT_BUT, r"\A(?P<subject>[^，,；;]*?)(?:并不|并没有|并非|没有|不是)(?P<old>[^，,；;]{1,30})"),
)
_HAN_NEW = (
    (
        AGAIN,
        "(?:改|换|搬|转|调|用|订|吃|喝|走|坐|住|回)回|又[^，,；;]{0,4}(?:改|换|搬|用|回)|恢复(?:成|到|为)?"
        "|重新(?:用|换|订|回)",
    ),
    (
        CHANGE,
        rf"\A(?P<subject>[^，,；;]*?)(?<!一)(?:已经|现在|都|也|就"
        rf"|要)?(?:{_CHANGED})了?(?P<new>(?!第)[^，,；;]{{1,30}}?)了?(?=[。.！!～~\s]*(?:[，,；;]|\Z))",
    ),
    (CHANGE, "(?:变|改|换|调整|更新)了"),
    (NOW, "现在(?!就要|开始讲)|目前|如今|以后(?!再)|今后|从[^，,；;]{1,8}(?:起|开始)"),
    (NEWS, "刚(?:通知|得知|确认|查了)|原来(?=是|在|不)|才知道|通知说"),
)
_NEW_THINGS = (
    caseless(
        r"\bnew [a-z][\w-]{2,20}(?: number| address| name| time)?(?: is|:| at|,| of)"
        r"|\b(?:has|have|got|gets?) (?:an? new|another) [^,;]{2,30}?(?:[,:]| of )"
    ),
    expression(rf"新的?[{HAN}]{{1,6}}?(?:是|为|[:：])|新的?(?:是|为)"),
)
_HAS_BECOME = expression(rf"了[，,；;][{HAN}]{{1,10}}[要是得为]{HAN_NUMBER}{MEASURE}(?=[。.！!]|\Z)")
"""An event, then a new amount of something: 了, a comma, and 要, 是, 得 or 为 before a number with a measure word."""
FROM_WHEN = expression(r"从[^，,；;]{1,8}?(?:起|开始)[，,]?")
"""A time with 从, which is not an old value."""
_COMMA = r"(?:,(?!\d{3}\b)|[;，；])\s*"
"""A comma between clauses, not between the thousands of a number."""
_CLAUSE = caseless(rf"{_COMMA}(?:and |but |so )?|\s[–—-]+\s| and (?=(?:we|i|it|they|he|she|the)\b)| but ")
CLAUSE_END = expression(_COMMA)
MAX_CLAUSES = 32
"""Clauses of a sentence from which the rest is searched again; a longer row is a list, and would cost its square."""


_NO_COMMA = r"(?:[^,;]|(?<=\d),(?=\d{3}\b))"
_Cue = tuple[str, re.Pattern[str]]


def _compiled(make: Callable[[str], re.Pattern[str]], rows: Iterable[tuple[str, str]]) -> list[_Cue]:
    return [(form, make(pattern.replace("[^,;]", _NO_COMMA))) for form, pattern in rows]


_OLD = (*_compiled(caseless, (*_ENGLISH_OLD, *_GERMAN_OLD)), *_compiled(expression, _HAN_OLD))
_NEW = (*_compiled(caseless, (*_ENGLISH_NEW, *_GERMAN_NEW)), *_compiled(expression, _HAN_NEW))


_LIGHT = caseless(r"\A(?:need|want|require|wear)s? (?:to |an? |the |my |his |her |our |their )?(?=\w{3})")


def without_light_verb(denied: str) -> str:
    """Return what is denied without a verb such as `needs`, so that `needs his glasses` matches `wears glasses`."""
    return _LIGHT.sub("", denied)


def strip_leads(plain: str) -> tuple[str, frozenset[str]]:
    """Return a sentence without its leading phrases, and the kinds of these: groups of `_LEAD`."""
    kinds = set[str]()
    while lead := _LEAD.match(plain):
        kinds.add(lead.lastgroup or "")
        plain = plain[lead.end() :]
    return plain, frozenset(kinds)


def cues_in(plain: str) -> Iterator[tuple[str, TextMatch]]:
    """Yield the cues of a sentence with their matches: the first for an old value in each clause, then the others."""
    sentence = plain
    plain = FROM_WHEN.sub("", plain)
    # the complete sentence, and the rest of it from each later clause on
    for clause in (plain, *(plain[match.end() :] for match in islice(_CLAUSE.finditer(plain), MAX_CLAUSES))):
        matches = ((form, pattern.search(clause)) for form, pattern in _OLD)
        if first := next(((form, match) for form, match in matches if match), None):
            yield first
    for clause in CLAUSE_END.split(sentence):
        yield from ((form, match) for form, pattern in _NEW if (match := pattern.search(clause)))
    if became := _HAS_BECOME.search(plain):
        yield NOW, became
    yield from ((NEW, match) for pattern in _NEW_THINGS if (match := pattern.search(plain)))


_IS_NOW = (
    r"now(?! that\b)|instead|these days|nowadays|from now on|as of|onwards?|since (?:the|last|this|\w+ing|[A-Z]\w+)|new"
    r"|jetzt|neuerdings|ab sofort|inzwischen|stattdessen"
)
_HAS_MOVED = (
    r"up to|down to|(?:went|gone|going|put|goes) (?:\w+ ){0,4}?(?:up|down)|rose|raised|upped|doubled|halved|bumped"
    r"|lowered|increased|switched|swapped|changed|moved|signed (?:on|up|over)|took over|taken over|bought"
)
_WAS_WRONG = (
    r"turn(?:s|ed) out|mixed? (?:\w+ ){0,3}?up|muddled|(?:got|had|read|wrote|said|told) (?:\w+ ){0,4}?(?:wrong|crossed)"
    r"|wrong|mistaken|mistake|misread|confus(?:ed|ing)|correction|verwechselt"
)
_HAS_ENDED = (
    r"no longer|no more|any ?more|any longer|used to|gone|left|retired|quit|resigned|(?:gave|given|giving) (?:it )?up"
    r"|stopped|cancel+ed|dropped|ditched|scrapped|abandoned|sold(?! out\b)|died|dead|folded|expired|history"
    r"|(?<!was )(?<!were )(?:shut|closed)|moved (?:on|out|away)|handed|sent back|returned|replaced|cut|axed"
    r"|finished with|done with|fell through|got rid of|traded|binned|bust|stepped down|packed (?:up|in)|went off"
    r"|threw (?:out|away)|parted|fired|passed away|out of business|nicht mehr|nimmer|gekündigt|abgeschafft"
)
_HAN_NOW = r"现在|目前|如今|以后(?!再)|今后|往后|已经"
_HAN_MOVED = r"改|换|挪|涨|降[到成为了]|调[到成整为]|[提加减升]到|变[成为]|搬|转[到给]|交给"
_HAN_WRONG = r"[搞弄记说写看听讲]错|[搞弄记]混|[说写记][成反]"
_HAN_ENDED = (
    r"不再|再也不|不用再|(?<!受)[不没](?![过错])(?=[^，,；;。]{1,10}了)|没了|坏了|退休|跳槽|关门|关张|离职|辞职|调走|走了|倒闭|停[了办用产业]|取消"
    r"|摘[掉了]|拆[掉了]|卖[掉了]|退[掉了]|搬走|转走|回(?=[^，,；;。]{1,6}去了)|换[掉了]"
)
_CHANGE_WORDS = (
    caseless(rf"\b(?:{_IS_NOW}|{_HAS_MOVED}|{_WAS_WRONG}|{_HAS_ENDED}|again|once more|gone back|went back)(?![\w'’])"),
    expression(rf"{_HAN_NOW}|{_HAN_MOVED}|{_HAN_WRONG}|{_HAN_ENDED}|又[^，,；;。]{{0,4}}回|恢复|重新"),
)
_IS_DENIED = (
    caseless(r"\b(?:not|never|instead of|rather than|in place of|nicht|kein\w*)\b|n['’]t\b"),
    expression(r"不是|不在|并非|而不"),
)
_ENDING_WORDS = (caseless(rf"\b(?:{_HAS_ENDED}|(?:went|gone) back)\b"), expression(_HAN_ENDED))
ENDED = (*_ENDING_WORDS, *_IS_DENIED)
"""Words by which a clause says that something is over, or denies it."""
AGAIN_WORDS = (
    caseless(
        r"\bagain\b|\bonce more\b|\bback (?:to|with|at|on|in)\b"
        r"|\b(?:gone|went|going|switched|moved|changed) back\b|wieder"
    ),
    expression(r"[改换搬转调用订吃喝走坐住做]回|恢复|重新|又"),
)


def has_word_of_change(plain: str) -> bool:
    """Return whether a sentence has a word of change, for which it is compared with the memories."""
    return any(words.search(plain) for words in _CHANGE_WORDS)


def has_ended(clause: str) -> bool:
    """Return whether a clause says that something is over, rather than merely denies it."""
    return any(words.search(clause) for words in _ENDING_WORDS)


def again_clause(plain: str) -> str:
    """Return the first clause that says what is valid again, else the complete sentence."""
    clauses = CLAUSE_END.split(plain)
    return next((clause for clause in clauses if any(again.search(clause) for again in AGAIN_WORDS)), plain)
