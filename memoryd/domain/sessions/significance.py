"""The significance of an answer: 0.3 uniqueness + 0.2 user action + 0.25 context density + 0.25 emotional weight.

The weights are the reference's. Each part is 0 to 1, computed by rules from question, answer and the stored answers; it
is deterministic. Uniqueness is *specificity*: what an answer says that could not be said to anybody. Its signs are
figures, names, identifiers, decisions, prohibitions, found causes, and a plain answer, perhaps one word, to a question
about something particular. Signs count only in sentences that are not *generic*. Generic are politeness, praise,
apology, advice and definitions for anybody, offers, questions back, the words of the question, and the output of a
failing program. Counts saturate, so that length alone has no value: `1 − share^count`. A caller may pass its own
significance instead.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.sessions.topics import is_talk
from memoryd.domain.text.sentences import sentences_of
from memoryd.domain.text.words import STOP_WORDS, UNSPACED, UNSPACED_RUN

UNIQUENESS, USER_ACTION, CONTEXT_DENSITY, EMOTIONAL_WEIGHT = 0.3, 0.2, 0.25, 0.25
_READ = 8_000
"""The number of characters of an answer that are read: a longer answer has shown by then whether it is specific."""


class SignificanceParts(Struct, frozen=True):
    """The four parts of a significance, each 0 to 1."""

    uniqueness: float
    user_action: float
    context_density: float
    emotional_weight: float

    @property
    def significance(self) -> float:
        """The weighted sum, to two digits."""
        weighted = (
            UNIQUENESS * self.uniqueness
            + USER_ACTION * self.user_action
            + CONTEXT_DENSITY * self.context_density
            + EMOTIONAL_WEIGHT * self.emotional_weight
        )
        return round(min(max(weighted, 0.0), 1.0), 2)


_FORMULA = expression(
    r"\b(?:sure|of course|certainly|(?:great|good|excellent|interesting) (?:question|idea|point)|you'?re welcome"
    r"|glad (?:to|i could) help|no problem|my pleasure|i hope (?:this|that) helps|as an ai(?: language model)?"
    r"|i(?:'m| am) (?:just )?an? (?:ai|assistant)|how can i help|happy to help|let me know if|it depends|sounds good"
    r"|got it|ok(?:ay)?|thanks?(?: you)?(?: so much)?|done|absolutely|all right|alright|noted|enjoy"
    r"|good (?:morning|evening|night|luck)|have a (?:nice|great|good|lovely) \w+|as you (?:asked|requested|wished))\b"
    r"|好的|没问题|不客气|当然可以|很高兴|希望.{0,6}有帮助|(?:我是|作为).{0,4}(?:ai|人工智能|助手)(?:助手)?|有什么可以帮|随时告诉我|明白了|收到"
    r"|谢谢|感谢|早上好|晚安|没关系"
)
_KINDNESS = expression(
    r"\b(?:sorry|apolog\w+|congrat\w*|well done|fantastic|amazing|wonderful|awesome|proud|good for you"
    r"|i (?:fully |completely |totally )?understand (?:how|that|your)|you(?:'re| are) not alone"
    r"|you(?:'re| are) (?:absolutely |completely |quite )?right|don'?t (?:worry|give up|hesitate)"
    r"|you(?:'ve| have) got this|keep (?:it up|going)"
    r"|i (?:think|believe) (?:it'?s|that'?s|this is) an? (?:great|good|excellent))\b"
    r"|抱歉|对不起|不好意思|道歉|疏忽|指正|恭喜|太棒|真棒|优秀|加油|相信.{0,12}(?:您|你|一定|未来)|祝您?|骄傲"
    r"|理解(?:您|你)|不是一个人|夸奖|肯定"
)
"""Praise, sympathy, apology."""
_OFFER = expression(
    r"\b(?:let me know|feel free|(?:i'?d|would) be (?:happy|glad)|anything else|here to help|once i know"
    r"|if you(?:'d| would)? (?:like|need|want|have) (?:me|any|more|further|another|to know)"
    r"|(?:could|can) you (?:please )?(?:tell|share|provide|give))\b"
    r"|随时|很?乐意|需要我|告诉我|有什么(?:可以|需要)|请问|为您服务|尽力|试试吧|是否满意|您看看|已经?帮您|帮您修改"
)
_ANYBODYS = expression(
    r"\b(?:in general|generally|usually|typically|often|most people|many (?:people|ways|things|factors)"
    r"|depend(?:s|ing) on|there are (?:so )?(?:many|several|various|a (?:few|number|lot))"
    r"|here are (?:some|a few)|some (?:tips|ideas|ways)"
    r"|stud(?:y|ies) shows?|research (?:shows|suggests)|experts|one of the (?:most|best)"
    r"|(?:it(?:'s| is)|most) important (?:to|thing)|remember (?:to|that)|try to|consider|be patient|takes? time"
    r"|the key is|at the end of the day|everybody|everyone|anyone|each (?:person|individual)|both (?:options|have|are)"
    r"|pros and cons|such as|for example|and so on|over time|means that|refers to"
    r"|is (?:a|an|the) (?:type|kind|form|process|term|way) of)\b"
    r"|一般(?:来说|而言)|通常|总的来说|因人而异|情况不同|取决于|各有|优缺点|主要看|要看(?:您|你|自己)|根据(?:自己|您|你|个人)"
    r"|如果(?:您|你)?(?:喜欢|经常|想)|建议(?:您|你|选择|根据|多)|可以(?:尝试|试着|考虑|关注|多)|专家|研究(?:表明|显示)"
    r"|保持|适量|适度|适当|注意.{0,6}(?:休息|饮食|安全)|坚持|重要的是|最重要|是指|指的是|是一种|等等"
)
"""Generic statements: general advice, hedges, definitions."""
_DUMP = expression(
    r"^\s{0,40}(?:traceback|[\w.]{0,60}(?:error|exception)\b|fatal|warning:|npm err|at \S{1,200} ?\(|file \""
    r"|panic:|segmentation"
    r"|http/?[0-9. ]{0,4} ?[45][0-9]{2}|[45][0-9]{2} (?:[a-z]+|error)|(?:e|curl|bash|sh): |permission denied)"
    r"|\bexit(?:ed with)? (?:code|status)\b|\berrno\b|\b(?:request|trace)[- ]id\b|\bstack ?trace\b|command not found"
    r"|connection (?:refused|reset|timed out)|\beconn[a-z]+\b|(?:错误|异常|失败)[:：]"
    r"|try again (?:in|later)|contact (?:the|your) admin|service unavailable|bad gateway|internal server error"
    r"|追踪编号|请求路径|请求编号|联系管理员|页面不存在|错误代码|错误码|稍后(?:再试|重试)|服务(?:不可用|异常)|系统繁忙|网络异常|请求超时",
    re.IGNORECASE,
)
"""Output of failing programs."""
_FOR_ANYBODY = expression(
    r"\bhow (?:do|can|could|should|would) (?:i|we|you|one|people|someone) "
    r"(?!.*\b(?:my|our|this|that|these|those)\b)|\bhow (?:does|do|is|are) (?!(?:we|i|you|our|my)\b)\w+"
    r"|\bwhy (?:is|are|do|does) (?!(?:we|i|you|our|my)\b)|\bwhat (?:is|are|does) (?:an? )?\w+(?: mean)?\W*$"
    r"|\b(?:tips|ideas?|advice|suggest\w*|recommend\w*|ways to|best way|what could (?:we|i)|any (?:thoughts|good)"
    r"|what do you think|explain|write (?:me )?an?|tell me (?:a|about|something)|joke|poem|story|translate"
    r"|(?:capital|population|currency|meaning|definition) of|what time is it|weather"
    r"|who (?:wrote|invented|discovered|painted|won)|is it (?:ok|okay|good|bad|better|normal|healthy|safe) to)\b"
    r"|[0-9] ?(?:[-+*/x×÷^]|plus|minus|times|divided by|加|减|乘|除以?) ?[0-9]"
    r"|怎(?:么|样)才能|如何|怎么(?:提高|学|做好|练|成为|养|减|改善|培养|缓解)|推荐|几种|有哪些|有什么(?:建议|办法|推荐|方法)|建议"
    r"|技巧|哪个(?:更)?好|什么是|是什么意思|几岁.{0,8}(?:好|合适)|买什么.{0,6}好|好不好|天气|几点了|你是谁|你叫什么|讲个"
    r"|写一?[个首篇]|翻译|首都|为什么(?:会|要|人|天)"
)
"""Questions that anybody may ask anybody."""
_ASKS = expression(
    r"[?？]|\b(?:who|what|when|where|which|whose|how|remind me|tell me)\b"
    r"|^\W*(?:why|is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|any)\b|什么|怎么|哪|谁|几|多少|吗|呢|是否|是不是|有没有|能不能|如何"
)
_ITEM = expression(r"^\s{0,80}+(?:[0-9]{1,2}[.)、]|[-*•]|第[一二三四五六七八九十]步)\s*+\S", re.MULTILINE)
_MIN_ITEMS = 3
_EMOJI = expression("[\u2600-\u27bf\U0001f300-\U0001faff]")
_QUESTION_CHARS = 500
"""The number of characters of a question that are read."""


class Sign(StrEnum):
    """What makes an answer specific."""

    FIGURE = "figure"
    CODE = "code"
    NAME = "name"
    DECISION = "decision"
    BAN = "ban"
    FINDING = "finding"
    OWN = "own"
    """It speaks of a person, or to the user."""
    PLAIN = "plain"
    """It answers a question in a few words."""


_NUMERAL = "零一二两三四五六七八九十百千万半"
# repetitions are bounded or possessive, so that long answers cause no backtracking
_FIGURE = expression(
    r"(?<![\w.])[0-9]+(?:[.,:/-][0-9]+)*+(?:\s?[a-z%°€$£]{1,3}\b|(?!\w)|(?=[^\x00-\x7f]))|(?<=[^\x00-\x7f])[0-9]++"
    rf"|(?<![{_NUMERAL}])[{_NUMERAL}]++(?:点[{_NUMERAL}]++)?[个度元块毛天周月年点分秒米斤克寸升次条家号楼层人岁倍成码晚片粒]"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|hundred)"
    r" (?:days?|weeks?|months?|years?|hours?|minutes?|times|euros?|pounds?|dollars?)\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)[一二三四五六日天]|月底|月初"
    r"|\b(?:january|february|april|june|july|august|september|october|november|december)\b"
)
_CODE = expression(
    r"```|`[^`\n]+`|(?<![\w.])[\w-]{1,120}+\.(?:py|md|json5?|ya?ml|toml|sh|js|ts|conf|env|sql)\b|https?://|~/|\$ "
    r"|(?<!\w)/[\w.-]{1,80}+/[\w./-]|[\w.+-]{1,64}+@[\w-]+\.\w|\b[A-Z][A-Z0-9]{0,30}_[A-Z0-9_]|[0-9]{3,20}[#*]"
    r"|(?<![\w-])(?=[\w-]{0,40}[0-9])(?=[\w-]{0,40}[A-Za-z])[A-Za-z0-9][\w-]{3,40}(?![\w-])"
)
_NAME = expression(
    r"(?<=[a-z0-9,'’)] )(?!I\b|I'|OK\b|AI\b)[A-Z][A-Za-z0-9&'-]{0,40}[A-Za-z0-9]|\b(?:Mr|Mrs|Ms|Dr)\.? [A-Z]\w{1,40}"
)
_CHINESE_NAME = expression(
    r"(?<![A-Za-z0-9.-])[A-Za-z][A-Za-z0-9.-]{1,30}|[老小][\u4e00-\u9fff]{1,2}(?=[，。、说来约那])"
    r"|[\u4e00-\u9fff]{1,3}(?:医生|老师|师傅|经理|律师|医院|客栈|酒店|公司|路|街|区|小学|大学|室)"
)
_DECISION = expression(
    r"\b(?:decided|agreed|settled|chose|chosen|picked|ruled out|we(?:'ll| will)? (?:go|take|use)"
    r"|you(?:'d| would) rather|you (?:said|want|wanted|chose|prefer|decided|settled|told|asked)"
    r"|booked|ordered|signed|cancell?ed|fixed for"
    r"|instead of|replaced|moved to|switched to|is (?:planned|due)|has to|have to|must|wins?|plan:|next step"
    r"|i(?:'ve| have)? (?:noted|pinned|set|changed|moved|added|put))\b"
    r"|决定|定了|定下|说好|选了|你说|您说过|改成|改为|换成|改到|约的是|约了|约在|就用|就选|就按|敲定|否了|签了|订了|交了|付了|不去"
    r"|跟.{1,6}签|我把|负责|执行"
)
_BAN = expression(
    r"\b(?:never|must not|mustn't|may not|can't have|cannot have|not allowed|allerg\w+|don't want|doesn't want"
    r"|no longer|do not|against|without|off limits)\b"
    r"|不能|不可以|不要|不许|不准|不用|禁止|严禁|过敏|忌|停了|不再|别[^的人处]|只能"
)
_FINDING = expression(
    r"\b(?:because|failed|caused|due to|the reason|turned out|diagnosed|confirmed|clear|benign|malignant|negative"
    r"|positive)\b|原因是|因为|导致|查出|诊断|确诊|良性|恶性|阴性|阳性|正常|合格|说是|偏高|偏低"
)
_OWN = expression(
    r"\b(?:your|you|our|his|her|their|he|she|they)\b|您的?|你的?|我们|他们?|她们?|家里|爸|妈|孩子|儿子|女儿"
)


class AnswerSigns(Struct, frozen=True):
    """The distinct signs in the sentences of an answer that are not generic."""

    by_sign: Mapping[Sign, frozenset[str]] = {}

    def count(self, most: Mapping[Sign, int]) -> int:
        """Return the number of signs, limited for each kind by `most`; a plain answer counts as three."""
        counted = sum(min(limit, len(self.by_sign.get(sign, ()))) for sign, limit in most.items())
        return counted + (_PLAIN if Sign.PLAIN in self.by_sign else 0)


_PLAIN = 3
_PLAIN_WORDS = 16
"""Most words of a plain answer, or characters in a script without spaces."""
_RESTATED = 0.6
"""A sentence repeats the question if at least this share of its words is in the question."""
_WORD = expression(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")


def answer_signs(question: str, answer: str) -> AnswerSigns:
    """Return the signs that an answer is specific."""
    text, question_words = answer[:_READ], frozenset(_words(question))
    if _is_dump(text):
        return AnswerSigns()
    sentences = sentences_of(text)
    own = [sentence for sentence in sentences if _is_own(sentence, question_words)]
    has_list = len(_ITEM.findall(text)) >= _MIN_ITEMS
    is_for_anybody = _FOR_ANYBODY.search(question[:_QUESTION_CHARS].lower()) or (has_list and _EMOJI.search(text))
    if is_for_anybody and (has_list or not any(_DECISION.search(sentence.lower()) for sentence in own)):
        return AnswerSigns()
    signs: dict[Sign, set[str]] = {}
    for sentence in own:
        for sign, values in _signs(sentence, question_words):
            signs.setdefault(sign, set()).update(values)
    is_question = _ASKS.search(question[:_QUESTION_CHARS].lower()) is not None or any(map(signs.get, _OF_ITS_OWN))
    if is_question and own and len(own) == len(sentences) and _is_plain(question, text):
        signs[Sign.PLAIN] = {""}
    return AnswerSigns({sign: frozenset(values) for sign, values in signs.items() if values})


def _signs(sentence: str, question_words: Collection[str]) -> Iterator[tuple[Sign, Collection[str]]]:
    small = sentence.lower()
    # in a script without spaces any word of another script is a name; a dash or an accent does not count as such a
    # script
    names = _CHINESE_NAME if UNSPACED_RUN.search(sentence) else _NAME
    # words of the question do not count
    for sign, pattern, text in (
        (Sign.FIGURE, _FIGURE, small),
        (Sign.CODE, _CODE, sentence),
        (Sign.NAME, names, sentence),
    ):
        yield sign, {match.group().lower() for match in pattern.finditer(text)} - set(question_words)
    for sign, pattern in ((Sign.DECISION, _DECISION), (Sign.BAN, _BAN), (Sign.FINDING, _FINDING), (Sign.OWN, _OWN)):
        yield sign, {match.group() for match in pattern.finditer(small)}


def _is_plain(question: str, answer: str) -> bool:
    """Return whether question and answer both have a significant word, and the answer has only a few words."""
    words = _words(without_formulas(answer))
    is_about_something = any(map(_is_significant, _words(question[:_QUESTION_CHARS])))
    return is_about_something and len(words) <= _PLAIN_WORDS and any(map(_is_significant, words))


def _is_own(sentence: str, question_words: Collection[str]) -> bool:
    """Return whether a sentence is neither generic, nor a question, nor a repetition of the question."""
    small = sentence.lower()
    if sentence.endswith(("?", "？")) or any(pattern.search(small) for pattern in (_KINDNESS, _OFFER, _ANYBODYS)):
        return False
    words = [word for word in _words(without_formulas(sentence)) if word not in STOP_WORDS]
    if not words or sum(word in question_words for word in words) < _RESTATED * len(words):
        return bool(words)
    # an answer may repeat the question around the requested value
    return any(values for sign, values in _signs(sentence, question_words) if sign in _OF_ITS_OWN)


def _is_significant(word: str) -> bool:
    return word not in STOP_WORDS and not is_talk(word)


def _is_dump(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    dumped = sum(_DUMP.search(line) is not None for line in lines)
    return bool(lines) and (2 * dumped >= len(lines) or _DUMP.match(text) is not None)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def without_formulas(answer: str) -> str:
    """Return an answer in lower case without the stock phrases of assistants."""
    return _FORMULA.sub(" ", answer.lower())


_UNIQUE, _ACTED_ON, _BOUND, _FELT = 0.57, 0.5, 0.5, 0.6
"""The factor by which each further sign reduces the distance to 1, for each part of the significance."""
_OF_ITS_OWN = {Sign.FIGURE: 3, Sign.CODE: 2, Sign.NAME: 3, Sign.DECISION: 2, Sign.BAN: 2, Sign.FINDING: 1}
_TO_ACT_ON = {Sign.FIGURE: 2, Sign.CODE: 2, Sign.DECISION: 2, Sign.BAN: 2}
_BINDING = {Sign.FIGURE: 2, Sign.NAME: 2, Sign.FINDING: 1, Sign.OWN: 1}
_FEW = 3
"""A shorter answer counts as having this many words in a comparison: short answers seldom say the same."""


def uniqueness(signs: AnswerSigns, answer_words: Collection[str], others: Iterable[Collection[str]]) -> float:
    """Return how unique an answer is: its specificity, times the share of its words that no stored answer has.

    `others` has the keywords of each stored answer.
    """
    own = frozenset(answer_words)
    shared = max(
        (len(own.intersection(words)) / max(len(own), min(len(words), _FEW), 1) for words in others), default=0.0
    )
    return (1 - _UNIQUE ** signs.count(_OF_ITS_OWN)) * (1 - shared)


def user_action(signs: AnswerSigns) -> float:
    """Return how likely the user acts on an answer, by decisions, prohibitions, figures, codes, plain answers."""
    return 1 - _ACTED_ON ** signs.count(_TO_ACT_ON)


def context_density(signs: AnswerSigns, topics: Collection[str] = (), earlier_topics: Collection[str] = ()) -> float:
    """Return how closely an answer is bound to its context: the names, figures, reasons and topics in it.

    `earlier_topics` are the topics of the turns before it in the session. Each part of a topic counts; topics do not
    count in an answer without a specific sign.
    """
    count = signs.count(_BINDING) if signs.by_sign.keys() - {Sign.OWN} else 0
    if count:
        parts = {part for topic in topics for part in topic.split("_")}
        earlier = {part for topic in earlier_topics for part in topic.split("_")}
        count += max(0, len(parts) - 1) + len(parts & earlier)
    return 1 - _BOUND**count


_FEELING = expression(
    r"\b(?:worr(?:y|ied)|afraid|scared|anxious|sad|happy|excited|love|hate|angry|frustrat\w+|annoy\w+|upset|sorry"
    r"|stress\w*|hope|wish|proud|grateful|thank(?:s| you)|finally|tired of|sick of|important|urgent|critical"
    r"|asap|deadline|desperate\w*|matters?|birthday|wedding|died|hospital|favou?rite|broken?|fail\w*|leak\w*|drips?"
    r"|crash\w*|hurts?|pain|lost|stuck|wrong|dies|problem|late|forgot|can'?t|cannot|doesn'?t|risky?|danger\w*|safe)\b"
    r"|担心|害怕|焦虑|难过|伤心|开心|高兴|激动|喜欢|讨厌|生气|烦|压力|希望|感谢|谢谢|终于|重要|紧急|着急|关键|受不了|生日|婚礼|医院|最爱|想念|每次都"
    r"|坏了|漏|报错|失败|疼|痛|丢了|卡住|不了|不行|不动|不好|不够|出事|问题|忘了|危险|安全|怕|总是|老是|爸|妈|孩子|女儿|儿子"
)
_STAKE = expression(r"\b(?:my|mine|ours?|i(?:'m|'ve|'d|'ll)?|me|we|let'?s|us)\b|我们?|咱们?|自己|家里")
_OPINION = expression(
    r"\b(?:should i|do you think|your (?:opinion|view|take)|what would you|how do you feel|which (?:one|is better)|why"
    r"|how (?:do|can|should|could) (?:i|we)|worth)\b"
    r"|你觉得|你认为|你的(?:看法|意见|想法)|怎么看|该不该|要不要|哪个(?:更)?好|值得|为什么|如何|怎么(?:样|办|做|才)?|怎样|想知道"
)


def emotional_weight(question: str, answer: str) -> float:
    """Return how much a turn matters to the user, by feeling, urgency, personal matters and requests for an opinion."""
    signs = 2 * _count(_FEELING, question) + _count(_STAKE, question) + 2 * _count(_OPINION, question)
    signs += _count(_FEELING, answer) + ("!" in question or "！" in question)
    return 1 - _FELT**signs


def _count(pattern: re.Pattern[str], text: str) -> int:
    """Return the number of distinct matches of a pattern, at most six."""
    # lower() instead of IGNORECASE, which takes twice as long
    return min(6, len({match.group() for match in pattern.finditer(text.lower())}))


def significance_parts(
    question: str,
    answer: str,
    *,
    answer_words: Collection[str],
    stored: Sequence[Collection[str]] = (),
    topics: Collection[str] = (),
    earlier_topics: Collection[str] = (),
) -> SignificanceParts:
    """Return the parts of the significance of an answer; `stored` has the keywords of each stored answer."""
    signs = answer_signs(question, answer)
    return SignificanceParts(
        uniqueness=uniqueness(signs, answer_words, stored),
        user_action=user_action(signs),
        context_density=context_density(signs, topics, earlier_topics),
        emotional_weight=emotional_weight(question, answer),
    )
