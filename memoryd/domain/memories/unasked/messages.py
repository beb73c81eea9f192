"""The parts of a message that may require memory, determined by its form alone.

No memory is required by messages of closed classes of words (acknowledgements, greetings, moods, curses), orders about
the agent's last output ("make it shorter", 再简短一点), arithmetic and conversions, and pasted output. The rarity of
words is not considered here, but as evidence for items.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression, word_set
from memoryd.domain.memories.unasked.concepts import concepts_in, is_of_people
from memoryd.domain.memories.unasked.form import UNKNOWN, form_of
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.sentences import spoken_sentences
from memoryd.domain.text.words import UNSPACED_RUN, normalised

MAX_CHARS = 20_000
LONGEST_ORDER, LONGEST_SUM = 120, 300
TOO_SHORT = 3
"""Characters of a script without spaces."""
POLITE_CHARS = 120
"""Characters at the end of a message in which thanks are recognised."""
MAX_PARTS = 12
"""Most parts of a message; of a longer one, half are taken from its end, where the question often is."""

_IDLE_WORDS = word_set("""
ok okay okey k kk yes yep yeah yup ya no nope nah sure fine right alright good great nice cool lovely perfect awesome
amazing brilliant excellent wonderful fantastic super neat sweet wow whoa wicked ace splendid superb beautiful gorgeous
correct exactly absolutely definitely totally agreed agree indeed deal done noted gotcha roger understood clear lgtm
ty thx tx thanks thank cheers ta appreciated please pls plz sorry pardon oops whoops np
hi hey hello hiya howdy yo greetings morning afternoon evening night goodnight gm gn bye goodbye ciao later laters see
welcome back home again there everyone all guys mate buddy friend dear sir man dude love
ha haha hahaha hahahaha hehe lol lmao rofl heh hmm hm hmmm mm mmm mhm uh um uhm er erm ah aha oh ooh ugh phew meh aw aww
ouch yay hooray yikes eh huh well so then now anyway anyhow btw really very too quite pretty rather just only still
already maybe perhaps probably actually basically literally a an the this that it its it's that's i'm i'll i've i'd im
ive you you're youre your ur u are is was am be being been i me my we we're us do did does don't dont didn't doesn't can
can't could would will won't go going gonna let let's lets got get gets have has had what what's how how's hows who why
up on off for of to in at and or but not never mind worry problem matter worries job work working works well-done
today tonight tomorrow day days week weekend time moment minute sec second
tired exhausted sleepy bored hungry thirsty cold hot freezing stressed busy sick annoyed sad happy glad excited sore
star legend genius hero angel lifesaver champ best better smart clever funny kind helpful sweetheart funny
much lot lots bit more less enough everything anything something nothing thing things one some same
damn dammit fuck fucks fucking fucked shit shitty crap hell bloody bugger wtf ffs omg jesus christ god gods sake bastard
ass arse bullshit screw sucks suck stupid idiot goddamn heck gosh darn
found sent send know knew think thought guess hope see saw said say try tried wait waiting hold ready start stop
looks sounds seems feel feels feeling make makes made sense point fair enough true false wrong weird strange odd
by wish luck lucky sleep asleep
hallo moin servus tschuss guten gute morgen tag abend nacht danke dir vielen dank schon sehr bitte gern ja nein doch
ok super prima toll klasse gut schlecht genau stimmt alles klar verstanden aha achso ach so mude krank hunger durst kalt
warm heiss ich bin mir ist es das war und aber auch nur noch mal wieder jetzt gleich heute los geht weiter egal
""")
_IDLE_CHINESE = expression(
    r"你?(?:真|太|好|可|挺|很|有点|这么|好像){1,3}(?:厉害|聪明|棒|好|可爱|搞笑|有趣|好笑|贴心|牛|行|笨|慢|烦|累|困"
    r"|冷|热|饿|忙|闷|无聊|开心|高兴|难过|舒服)[啊呀哦呢死了]{0,3}"
    r"|好+的?呀?|好吧|好嘞|好耶|嗯+|哦+|噢|喔|啊+|呀|哎+|唉+|诶|欸|呃|额|行吧?|可以的?|没事儿?了?|没问题|没关系|不客气"
    r"|谢+谢?你?您?啦?|多谢|感谢|辛苦了?你?|知道了?|明白了?|了解了?|懂了|收到|不错|很好|真好|太好了|太棒了|真棒"
    r"|棒|赞|完美|厉害|牛+"
    r"|哈+|嘿+|呵+|嘻+|早上?好?|上午好|中午好|下午好|晚上好|晚安|你好|您好|大家好|在吗|在不在|在么|再见|拜+"
    r"|回头见|明天见|回来了|我回来了|到家了"
    r"|对+的?|是的?|没错|就这样|就这么办|这样吧?|算了|随便|都行|还行|一般|加油|当然|不用了?|不是|不要了?|不了"
    r"|不|没有|没|先|吧|啦|了|呢|嘛|哟|哇+|嗨"
    r"|烦死了?|气死了?|累死了?|困死了?|笑死了?|无语|天啊|天哪|我的天|我去|靠|卧槽|我操|操|妈的|他妈的?|该死|滚"
    r"|混蛋|见鬼|什么鬼|搞什么"
    r"|今天|今晚|最近|现在|外面|我|你|您|的|就|那|继续|停|等等|等一下|稍等|开始|下一[个步条]|再来|怎么样|吃了吗"
    r"|忙吗|睡了|起床了|下班了|成|中|妥了?|得嘞|晓得了?|就这么着|[好美]得很|原来如此|这样啊|是吗|真的吗?|找到了"
    r"|发吧|就这个?"
)
_STYLE = caseless(
    r"(?:(?:no|ok|okay|now|and|but|a|bit|much|way|please|still|too|even|slightly|in|into|as)[\s,]+){0,4}"
    r"(?:(?:more|less|too)\s+\w+|shorter|longer|simpler|clearer|friendlier|again|once more|one more(?: time)?|bullets?"
    r"|bullet points|formal(?:ly)?|english|chinese|german|french|spanish|markdown|plain text|next|continue|stop|go on"
    r"|both|neither|all of them|the (?:first|second|third|last|other|former"
    r"|latter)(?: one)?)(?:\s+please)?\s*[.!?]*\s*\Z"
)
_COMMAND_CHINESE = expression(
    r"(?:请|麻烦|帮我|你|那|先|就|给我|能不能|可以|能){0,4}(?:再|重新|换[个一成]|删[掉除]|去掉|改[成为得下一写]"
    r"|翻译|译成|继续|停|重来|缩[短写]|扩写|润色|翻成|弄成|整理成|从头|说人话|总结一?下(?:上|这|刚)"
    r"|[把将](?:上面|下面|这|那|它|前面|刚才|最后|第.|标题|语气|格式|内容|结尾|开头)|(?:用|转成|做成|写成"
    r"|列成)(?:表格|英文|中文|列表|一句话)|(?:检查|改)一?下(?:错别字|语法|拼写|标点|格式)|撤[销回]|保存|提交|运行|展开|简短|简单|详细|短|长)"
    r".{0,200}\Z",
    re.DOTALL,
)
_TRANSLATED = caseless(
    r"(?:请|帮我|把)?(?:翻译|译)[成为]?.{0,10}[:：]|(?:translate|rewrite|rephrase|proofread|summari[sz]e"
    r"|explain|correct|fix)\b[^:\n]{0,60}:\s*\S"
)
"""The text after the colon is to be processed."""
_NUMBER = r"\d[\d.,]{0,15}"
_UNIT = (
    r"(?:%|percent|°|degrees?|celsius|fahrenheit|feet|foot|ft|inch(?:es)?|yards?|miles?|km|kilomet(?:re|er)s?|m"
    r"|met(?:re|er)s?|cm"
    r"|centimet(?:re|er)s?|mm|lbs?|pounds?|ounces?|oz|kg|kilos?|grams?|g|stone|lit(?:re|er)s?|ml|gallons?"
    r"|pints?|cups?|tbsp|tsp"
    r"|dollars?|euros?|usd|eur|gbp|yuan|rmb|crowns?|mph|kph|hours?|minutes?|seconds?|days?|weeks?|bytes?|kb|mb|gb|tb"
    r"|nm|nautical miles?|knots?|kn|acres?|hectares?|(?:kilo|mega)?watts?|kwh?|volts?|amps?|hz|psi|bar)"
)
_ARITHMETIC = expression(
    rf"{_NUMBER}\s*[a-z%°]{{0,12}}\s*(?:times|plus|minus|divided by|multiplied by)\s*{_NUMBER}"
    rf"|[一二两三四五六七八九十百千万半\d]+(?:除以|乘以?|加上?|减去?)[一二两三四五六七八九十百千万半\d]+"
    rf"|{_NUMBER}\b.{{0,30}}\b{_NUMBER}\b.{{0,30}}\bhow (?:many|much)\b|\bhow (?:many"
    rf"|much)\b.{{0,30}}{_NUMBER}\b.{{0,30}}\b{_NUMBER}\b"
    rf"|{_NUMBER}\s*(?:[-+*/×÷^x]|times|plus|minus|divided by|over|乘以?|除以|加上?|减去?)\s*{_NUMBER}"
    rf"|{_NUMBER}\s*(?:[a-z]{{1,12}}\s)?(?:split|shared?|divided)\s(?:by|between|among|into)\s{_NUMBER}"
    rf"|{_NUMBER}\s(?:[a-z]+\s){{0,2}}[x×*]\s{_NUMBER}"
    rf"|{_NUMBER}\s*(?:%|percent|per cent)\s+of\b|\b(?:square|cube) root\b|平方根|百分之"
    rf"|\b(?:convert|how (?:many|much))\b.{{0,40}}{_UNIT}.{{0,30}}\b(?:in|to|into|is|are)\b.{{0,20}}\b{_UNIT}\b"
    rf"|(?:^|\s){_NUMBER}\s*{_UNIT}.{{0,15}}\b(?:in|to|into|as)\b\s*{_UNIT}\b"
    rf"|{_NUMBER}\s*{_UNIT}\b.{{0,20}}{_NUMBER}\s*{_UNIT}\b.{{0,20}}\bhow (?:long|far|fast|many|much|big|heavy|high)\b"
    rf"|\bhow (?:long|far|fast|many|much|big|heavy|high)\b.{{0,20}}{_NUMBER}\s*{_UNIT}\b.{{0,20}}{_NUMBER}\s*{_UNIT}\b"
    r"|[一二两三四五六七八九十百千\d]+(?:公里|千米|米|厘米|毫米|英里|英尺|英寸|斤|公斤|千克|克|磅|两|吨|升|毫升"
    r"|亩|公顷|度|美元|欧元|块|元|小时|分钟|秒|天).{0,4}(?:等于|是|换算|合|折合|有)多少"
    r"|等于(?:几|多少)|\d.{0,12}\d.{0,16}(?:几|多少)",
    re.IGNORECASE | re.DOTALL,
)
_PASTED_LINE = expression(
    r"^\s*(?:Traceback|File \"|at [\w.$<>]+\(|\w*(?:Error|Exception|Warning)\b|npm |yarn |pip |error\b"
    r"|warn(?:ing)?\b|fatal\b"
    r"|\[?\d\d:\d\d:\d\d|\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d|\d\d:\d\d:\d\d|\$ |>>> |#\d+ |[+-]{3} |@@ |(?:DEBUG"
    r"|INFO|WARN|ERROR|FATAL|TRACE)\b"
    r"|\w+ \d+ \d\d:\d\d:\d\d |错误(?:代码|码)?\b|异常|警告[:：])|0x[0-9a-fA-F]{4,}|\b(?:exit code|errno"
    r"|segfault|stack trace)\b"
    r"|[{};]\s*$|^\s*(?:def|class|import|from|return|for|if|while|const|let|var|function|SELECT|INSERT"
    r"|UPDATE)\b.*[:;({]\s*$",
    re.MULTILINE | re.IGNORECASE,
)
_CLAUSE = expression(r"[,，;；:：、](?=\s|[^\x00-\x7f])|\s+[-–—]+\s+|\n+|(?<=[。！？!?…])")
_SPOKEN = caseless(r"[^\W_]+(?:['’-][^\W_]+)*")
_LETTER = expression(r"[^\W_]")
_PRAISE = expression(r"\byou(?:'re|re| are| were)\s(?:\w+\s){0,3}\w+\s*[.!]*\Z")
_FIRST_PERSON = caseless(
    r"\b(?:i|i'm|i’m|i've|i’ve|i'll|i’ll|i'd|i’d|im|my|mine|myself|we|we're|we’re|we've|we’ll|we'll|our|ours|us|me"
    r"|ich|mich|mir|mein(?:e[mnrs]?)?|wir|uns|unser(?:e[mnrs]?)?)\b"
)
_ASKS = caseless(
    r"\s*(?:so |and |but |hey |ok |please |pls |can you |could you ){0,4}"
    r"(?:(?:what|who|when|where|how)['’]?s"
    r"|what|who|when|where|why|how|which|whose|is|are|do|does|did|was|were|has|tell me|explain|write|give me"
    r"|show me|define|convert|list|name"
    r"|wer|wann|wo|warum|wie|welche\w?|ist|sind|erklare?|schreibe?|erzahle?|nenne?|gib mir|zeig mir)\b"
    r"|.{0,200}(?:为什么|为啥|为何|怎么|如何|什么|哪|吗)"
)
"""A line next to pasted text that asks about it."""
_THANKS = caseless(
    r"(?:[\s,.!;]*\b(?:(?:many |a thousand )?thank(?:s| you| u)"
    r"(?: (?:so|very) much| a (?:lot|million|bunch)| in advance| again)?"
    r"|cheers(?: mate)?|please|pls|plz|(?:kind|best|warm) (?:regards|wishes)[^\n]{0,3}(?:\n.{0,30})?"
    r"|vielen dank(?: im voraus)?|danke(?: schon)?|bitte)\b)+\W*\Z"
)
"""The end of a polite message."""
_INTRODUCES = expression(
    r"(?:(?:[Mm]y name(?:['’]s| is)|I(?:['’]m| am)|(?:(?:[Pp]lease|[Jj]ust|[Yy]ou can) )*[Cc]all me"
    r"|[Ii]ch (?:bin|heiße)|[Mm]ein Name ist|(?:[Bb]itte )?[Nn]enn(?:en Sie)? mich)(?: just| einfach)?"
    r" [A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?(?: (?:by the way|btw|for short|please|übrigens|bitte))?"
    r"|(?:我(?:叫|姓)|(?:请|就|可以|以后)*叫我)(?!什么|啥|谁|哪)[\u4e00-\u9fff]{1,4}?(?:就[好行]了?|吧)?)\W*"
)
"""The author's own name: what is known of that person is not asked for."""
_PRONOUN = caseless(r"\b(?:he|him|his|she|hers?|they|them|theirs?|ihm|ihn|ihnen)\b|(?<!其)[他她]|它")
_WITH_NAME = expression(r"[a-z] [A-Z][a-z]")
_SPEAKS_TO = caseless(
    r"\b(?:ask|tell|phone|ring|call|text|e?mail|message|msg|catch|reach|contact|invite|remind|write to|let \w+ know"
    r"|speak to|talk to)\b|问|告诉|联系|[打发交][个给]|通知|说一声"
)


class MessageParts(Struct, frozen=True):
    """The parts of a message that may require memory; if there are none, `silence` has the reason."""

    parts: tuple[str, ...] = ()
    wording: str = ""
    """The parts as one normalised text, without greetings, thanks and pasted output; empty if it was no message."""
    silence: SkipReason | None = None

    @property
    def form(self) -> float:
        """The log-odds that the message requires memory, by its wording alone."""
        return form_of(self.wording) if self.wording else UNKNOWN


def read_message(text: str, *, names_entity: bool, names_noun: bool = False) -> MessageParts:
    """Return the parts of a message that may require memory; `names_entity`: it names a known entity.

    `names_noun`: it names an entity with a common noun, such as *hens*, which may also be a unit of a calculation.
    """
    plain = normalised(text[:MAX_CHARS]).strip()
    if not _LETTER.search(plain):
        return MessageParts(silence=SkipReason.NO_CONTENT)
    if _is_idle(plain):
        return MessageParts(silence=SkipReason.SMALL_TALK)
    spoken = _without_pasted(plain)
    if not spoken:
        return MessageParts(silence=SkipReason.PASTED_OUTPUT)
    is_sum = len(spoken) <= LONGEST_SUM and _ARITHMETIC.search(spoken) and not _FIRST_PERSON.search(spoken)
    is_named = names_entity or (names_noun and not is_sum)
    if not is_named and _is_about_style(spoken):
        return MessageParts(silence=SkipReason.ABOUT_OUTPUT)
    if is_sum and not is_named:
        return MessageParts(silence=SkipReason.ARITHMETIC)
    question = spoken[:-POLITE_CHARS] + _THANKS.sub("", spoken[-POLITE_CHARS:])
    parts = [part for part in _clauses(question) if not (_is_idle(part) or _INTRODUCES.fullmatch(part))]
    if not parts or (not is_named and _is_too_short(spoken)):
        return MessageParts(silence=SkipReason.SMALL_TALK)
    if len(parts) > MAX_PARTS:
        parts = [*parts[: MAX_PARTS // 2], *parts[-(MAX_PARTS // 2) :]]
    return MessageParts(tuple(parts), ", ".join(parts))


def _is_idle(text: str) -> bool:
    """Return whether a text has only words without content, or praises the agent."""
    small = text.lower().replace("’", "'")
    rest = _IDLE_CHINESE.sub("", small) if UNSPACED_RUN.search(small) else small
    if UNSPACED_RUN.search(rest):
        return False
    words = _SPOKEN.findall(rest)
    first = next((at for at, word in enumerate(words) if word in ("you", "you're", "youre", "ur")), None)
    is_praise = first is not None and len(words) - first <= 5 and all(map(_is_idle_word, words[:first]))
    return all(map(_is_idle_word, words)) or (is_praise and _PRAISE.search(small) is not None)


def _is_idle_word(word: str) -> bool:
    return word in _IDLE_WORDS or word.replace("'", "") in _IDLE_WORDS


def _is_too_short(text: str) -> bool:
    """Return whether a text is a single word and no question."""
    signs = sum(len(run) for run in UNSPACED_RUN.findall(text))
    return "?" not in text and (signs <= TOO_SHORT if signs else len(_SPOKEN.findall(text)) < 2)


def _is_about_style(text: str) -> bool:
    """Return whether a text is about the form of the last output, or contains the text to process."""
    if _TRANSLATED.match(text):
        return True
    if len(text) > LONGEST_ORDER:
        return False
    return (_COMMAND_CHINESE if UNSPACED_RUN.search(text) else _STYLE).match(text) is not None


def _without_pasted(text: str) -> str:
    """Return the lines of the user, without pasted logs, errors and code."""
    lines = text.split("\n")
    is_pasted = [_PASTED_LINE.search(line) is not None for line in lines]
    if True not in is_pasted:
        return text
    first, last = is_pasted.index(True), len(lines) - 1 - is_pasted[::-1].index(True)
    # a line between two pasted ones is output as well
    spoken = [
        line
        for at, line in enumerate(lines)
        if (not is_pasted[at] or len(lines) == 1)
        and not first < at < last
        and (_ASKS.match(line) or _FIRST_PERSON.search(line) or "?" in line or "？" in line)
    ]
    return "\n".join(spoken).strip()


def _clauses(text: str) -> Iterator[str]:
    for sentence in spoken_sentences(text):
        for clause in _CLAUSE.split(sentence.plain.replace("\0", " ")):
            if _LETTER.search(clause):
                yield clause.strip()


def refers_back(text: str) -> bool:
    """Return whether a text has a pronoun of the third person, and no relation before it that it may refer to.

    *They* may also refer to a name before it, such as that of a firm.
    """
    pronoun = _PRONOUN.search(text)
    if pronoun is None:
        return False
    before = text[: pronoun.start()]
    is_named = pronoun[0].lower().startswith("the") and _WITH_NAME.search(before)
    return not (is_named or any(map(is_of_people, concepts_in(before))))


def may_mean_another(text: str) -> bool:
    """Return whether a text is about a person that it may not name, or asks to contact one."""
    return _PRONOUN.search(text) is not None or _SPEAKS_TO.search(text) is not None
