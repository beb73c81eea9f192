"""The slot of a plain statement: a subject and a relation that has one value; and that value.

The relations are few and grammatical: the copula, a participle or preposition after it, verbs of place and service; 是,
在, 由, 叫. The text before the relation is the subject with its qualifiers (`the left monitor`, 三楼的打印机), and the
text after the value stays part of it (`Anna on Mondays`). Lists, additions (`also`, 也), denials, suppositions and
statements about the past have no slot. The slot is not sure if the relation may have several values, or if a value is
a quality rather than an identity: two such statements disagree at most, and never supersede each other.
"""

import re
import unicodedata

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, caseless, expression, word_set
from memoryd.domain.memories.entities import EntitySlug, slug_of
from memoryd.domain.memories.facts.values import HAN_SIGN, PARTICIPLE, PRESENT, is_past_event

MAX_CHARS = 240
"""Longer text is no plain statement."""
_WORDS = expression(r"\w+")
_SENTENCES = expression(
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bNo)(?<!\bProf)[.!;]\s+\S|[。；！\n]\s*\S|[?？]"
)
_LEAD = caseless(
    r"\A(?:(?:please\s)?(?:remember|note)(?:\sthat)?\s|(?:now|currently|these\sdays|nowadays|today)\b,?\s"
    r"|(?:请?记住)[：:，,]?|(?:现在|目前|如今))"
)
_NOW = caseless(r"\s(?:now|currently|nowadays|still|officially|again|today)(?=\s|\Z)|(?:现在|目前|如今|仍然|依然)")
_OPEN = caseless(
    r"\b(?:also|too|another|as\swell|additional(?:ly)?|besides|both|either|or|not|never|no|will|would|(?-i:may)|might|could"
    r"|should|must|can|if|unless|when|whenever|sometimes|usually|mostly|often|partly|perhaps|maybe|probably|one\sof|among"
    r"|such\sas|including|that|which|who|whose)\b|n['’]t\b"
    "|[也还另或不没]|都[是在由用叫]|除了|有时|如果|假如|要是|的话|可能|也许|大概|之一|其中|时候"
)
"""Words that leave room for other values, or do not state a fact."""


class FactKey(Struct, frozen=True):
    """The slot of a statement: `key` identifies it; `subject` is empty if the line's entities are the subject."""

    key: str
    subject: str
    value: str
    is_sure: bool
    """Whether the slot has only one value, of those that look like this one."""

    def names(self, slug: EntitySlug) -> bool:
        """Return whether the statement itself names an entity, so that naming it in the line adds nothing."""
        own = f"-{slug_of(f'{self.subject} {self.value}')}-"
        return f"-{slug}-" in own or (not slug.isascii() and slug in own)


def contradict(first: FactKey, second: FactKey) -> bool:
    """Return whether two values of one slot exclude each other; adding words to a value is no contradiction."""
    first_words, second_words = set(_WORDS.findall(first.value)), set(_WORDS.findall(second.value))
    first_value, second_value = first.value.replace(" ", ""), second.value.replace(" ", "")
    is_extension = HAN_SIGN.search(first_value) and (first_value in second_value or second_value in first_value)
    return not (first_words <= second_words or second_words <= first_words or is_extension)


def agree_in_kind(first: FactKey, second: FactKey) -> bool:
    """Return whether two values are certainly of the same kind, so that the newer one replaces the older one."""
    if not (first.is_sure and second.is_sure):
        return False
    if "的\x00" not in first.key and "\x00?" not in first.key:
        return True
    # kinds that Chinese leaves open: 红轴 and 茶轴, 钱总 and 梁总, 小丁 and 小尹
    first_value, second_value = first.value.removesuffix("的"), second.value.removesuffix("的")
    are_latin = first_value.isascii() and second_value.isascii()
    return (
        are_latin
        or first_value[-1:] == second_value[-1:]
        or (first_value[0] == second_value[0] and first_value[0] in "小老阿")
    )


def fact_key(text: str) -> FactKey | None:
    """Return the slot of a statement; None for a statement without a slot, or with more than one sentence."""
    if len(text) > MAX_CHARS or not _MAY_FILL.search(text):
        return None
    plain = " ".join(unicodedata.normalize("NFC", text).split()).rstrip(" .。!！;；")
    plain = _NOW.sub("", _LEAD.sub("", plain)).strip()
    if _SENTENCES.search(plain) or is_past_event(plain):
        return None
    return _chinese(plain) if HAN_SIGN.search(plain) else _english(plain)


def _fold(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))


_LIGHT = (
    "lives?|resides?|stays?|works?|study|studies|runs?|go|goes|comes?|stands?|lies?|hangs?|sits?|belongs?|reports?"
    "|listens?"
)
_CHARGED = "leads|handles|manages|heads|chairs|maintains|keeps|owns|runs|hosts"
_MAY_FILL = caseless(rf"\b(?:is|are|{_CHARGED}|{_LIGHT})\b|[是在由叫负主管保牵]")
_RELATION = caseless(rf"\A(?P<subject>.{{0,100}}?)(?:^|\s)(?P<verb>is|are|{_LIGHT})\s(?P<rest>.+)\Z")
_FINITE_WITHIN = caseless(rf"\b(?:{PRESENT}|because|since|where|while|until)\b")
_PREPOSITION = r"(?:in|on|at|with|from|by|to|for|through|via|under|behind|over|inside|above|below|beside)"
_PASSIVE = expression(
    rf"(?P<part>(?!interested|involved|engaged|used|related|bored|tired){PARTICIPLE})\s(?:(?:up|out|over|off)\s)?"
    rf"(?P<prep>{_PREPOSITION})\s(?P<value>.+)\Z"
)
_CALLED = expression(r"(?P<part>called|named)\s(?P<value>.+)\Z")
_PLACED = expression(rf"(?P<prep>{_PREPOSITION})\s(?P<value>.+)\Z")
_PASSIVE_PREPOSITIONS = word_set("by from on at")
_PLACES = word_set("in on at with under behind inside above below beside")
_LIGHT_PREPOSITIONS = {
    verb: word_set(prepositions)
    for verbs, prepositions in (
        ("live lives reside resides stay stays", "in at with"),
        ("work works", "at for"),
        ("study studies", "at"),
        ("run runs", "on through via under"),
        ("go goes", "with through via"),
        ("come comes", "from with through via"),
        ("stand stands lie lies hang hangs sit sits", "in on at with under behind inside above below beside"),
        ("belong belongs report reports", "to"),
        ("listen listens", "on at"),
    )
    for verb in verbs.split()
}
"""With these verbs and prepositions a subject has one value."""
_DETERMINED = caseless(
    r"(?:.*,\s|.*\b(?:in|at|on|for|during|from)\s[\w\s]+\s)?(?:the|my|our|his|her|their|your|its)\s|.*['’]s?\s|.*\sof\s"
)
_OWNER = caseless(r"\A(?:my|our|his|her|their|your|its)\s|\A.*['’]s?\s")
_IS_NAME = expression(r"(?:the\s)?(?:[A-Z][\w'’.-]*)(?:\s(?:[A-Z][\w'’.-]*|of|de|van|von)){0,4}\Z")
MANY = caseless(
    r"(?<!best )(?<!only )(?<!eldest )(?<!oldest )(?<!youngest )(?<!closest )\b(?:friend|colleague|co-?worker"
    r"|neighbou?r|sister|brother|sibling|son|daughter|child|kid|grandson|granddaughter|cousin|uncle|aunt|nephew|niece|client|customer|student"
    r"|cat|dog|pet|hobby|interest|skill|problem|issue|goal|idea|reason|example|member|allergy|option|risk|task)s?\Z"
)
"""Things that people have several of."""
ATTRIBUTE = caseless(
    r"(?:favou?rite|preferred|native|main|primary|home|current|first|last|middle|maiden)\b"
    r"|.*\b(?:names?|nickname|surname|number|colou?r|birthday|birthdate|birthplace|address|e-?mail|job|profession"
    r"|occupation|title|employer|company|hometown|city|town|country|nationality|language|major|age|size|height|weight"
    r"|salary|rent|diet|phone|username|id|timezone|time zone|handle|pronouns|degree|religion|school|university|shift"
    r"|editor|shell|os)\Z"
)
"""Attributes with one value, whatever form it has."""
_TYPES = (
    (
        caseless(r"\b(?:birth(?:day|date)|anniversary)\Z|生日\Z|纪念日\Z"),
        caseless(
            r"\d|\b(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\b|[月号初]|(?:christmas|new year)"
        ),
    ),
    (
        caseless(r"\b(?:numbers?|phone|salary|rent)\Z|(?:电话|手机|号码?)\Z"),
        caseless(r"\d|[零〇一二三四五六七八九十百千万]{2}|\b(?:hundred|thousand)\b"),
    ),
    (caseless(r"\be-?mail(?: address)?\Z|邮箱\Z"), caseless(r"@|\bdot\b")),
)
"""Nouns, and a pattern that their values match: a date, a number, an address."""
_QUALITY = expression(
    r"\s*(?:sold|closed|open|gone|empty|expired|cancelled|finished|unavailable|available|discontinued|out of|running"
    r"|(?:(?:so|very|really|too|quite|rather|always|never|not|still|much|more|a bit|pretty) )+\w+"
    r"|next|last|this|soon|over|expensive|cheap|secret|new|full|due|nice|strict|busy"
    r"|(?!(?:vege|s)?table\b)\w+(?:ful|ous|less|able|ible)|(?:go|get|bor|excit|annoy|tir|charm|amaz|interest)ing)\b"
    r"|\s*(?:卖完|卖光|没了|关门|停业|空号|很|太|非常|真|还|好的?\Z)"
)
"""A temporary quality or state rather than an identity; case-sensitive, because New York is a value."""
_LIMITED = caseless(
    r"\b(?:on|at|in|during|over) (?:(?:the|a|my|most|some|all) )*(?:weekdays?|weekends?|nights?|mornings?|afternoons?"
    r"|evenings?|summers?|winters?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
    r"|\b(?:every|each|sometimes|from time to time|twice|once|days? a week|this (?:week|month|year|summer|winter))\b"
    r"|周末|每[周天个月年]|有时|平时|星期|周[一二三四五六日天]|今年|这[周个]"
)
HAN_DOING = (
    "(?:想(?!象)|考虑|准备|学习(?!中心|机构)|研究(?![所院室生]|中心|机构)|处理(?!厂|中心)|等(?!于)|谈|聊|讨论|继续|换(?!电)"
    "|思考|琢磨|适应|完成|整理|复习|找|忙|做)"
)
"""Activities between 在 and 工作, where a place would be."""
_NO_WORKPLACE = caseless(
    r"\s*(?:home\b|(?:(?:my|our|a|an|the) )(?:[\w-]+ )?(?:desk|table|kitchen|sofa|couch|bed|balcony|laptop|computer)\b)"
    rf"|\s*(?:(?:自己)?家(?:里|中)?(?:工作|上班|办公|\Z)|(?:地铁|高铁|火车|飞机|路|床|沙发|车)上|{HAN_DOING})"
)
"""Places or activities that are no employer."""


def is_of_type(noun: str, value: str) -> bool:
    """Return whether a value can be the one value of an attribute: it has the right type, and is not a quality."""
    for attribute, typed in _TYPES:
        if attribute.search(noun):
            return bool(typed.search(value)) and not _QUALITY.match(value)
    return not _QUALITY.match(value)


def is_limited_in_time(value: str) -> bool:
    """Return whether a value holds only at some times, so that others are possible."""
    return bool(_LIMITED.search(value))


def is_workplace(place: str) -> bool:
    """Return whether a place can be an employer."""
    return not _NO_WORKPLACE.match(place)


_ROLE = expression(r"(?:the|my|our)\s(?P<role>[a-z][\w\s'’-]*(?:\s(?:of|for|at|in)\s.+)?)\Z")
_CHARGE = expression(
    rf"\A(?P<who>[A-Z][\w'’.-]*(?:\s[A-Z][\w'’.-]*){{0,2}})\s(?P<verb>{_CHARGED}|is\sresponsible\sfor|is\sin\scharge\sof)"
    r"\s(?P<what>(?:the|our|my|its)\s.+)\Z"
)
_ARTICLE = expression(r"(?:an?|the)\s(?=[\w]*[A-Z0-9])")
_KIND = expression(r"an?\s(?P<name>[\w'’.-]+(?:\s[\w'’.-]+)?)\s(?P<kind>[\w-]+)\Z")
_DESIGNATED = expression(r"\s(?:[A-Z]|[A-Z]*[0-9]+[\w-]*)\Z")
_NAMED = expression(r"[\"“'‘]?(?:[^\W\d_a-z]|[a-z]+[A-Z]|[a-z-]+[0-9])")
_TIME = caseless(
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|noon|midnight|[0-9]|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half)\b"
    r"|the\s(?:morning|evening|afternoon)|(?:early|late)\b|spring|summer|autumn|winter|time\b|every\b)"
)
_OF_PEOPLES = expression(
    r"(?:[A-Z][a-z]+(?:ish|ese)|German|French|Dutch|Czech|Swiss|Greek|Welsh|Italian|American|Canadian|Australian|Indian"
    r"|Russian|Austrian|Hungarian|Norwegian|Belgian|Mexican|Brazilian|Korean|European|Asian|African|Catholic|Jewish|Muslim)\Z"
)
_TAIL = caseless(
    r"\s(?:on|in|at|for|during|from|until|till|with|while|because|since|as|by|every|each|next|this|last|to|after|before|under"
    r"|over|tomorrow|tonight|except|only)(?!-)\b.*\Z"
)


def _english(plain: str) -> FactKey | None:
    if _OPEN.search(plain):
        return None
    if (charge := _CHARGE.match(plain)) is not None:
        return FactKey(f"{charge['verb']} {_fold(charge['what'])}", charge["who"], _fold(charge["who"]), False)
    relation = _RELATION.match(plain)
    if relation is None or _FINITE_WITHIN.search(relation["subject"]):
        return None
    subject, verb, rest = relation["subject"], relation["verb"], relation["rest"]
    if verb.lower() not in ("is", "are"):
        return _of_light_verb(subject, verb.lower(), rest)
    for pattern in (_CALLED, _PASSIVE, _PLACED):
        if (match := pattern.match(rest)) is not None:
            named = match.groupdict(default="")
            return _of_copula(subject, verb, named.get("part", ""), named.get("prep", ""), match["value"])
    return _of_identity(subject, verb, rest)


def _of_light_verb(subject: str, verb: str, rest: str) -> FactKey | None:
    placed = _PLACED.match(rest)
    prepositions = _LIGHT_PREPOSITIONS[verb]
    if placed is None or placed["prep"] not in prepositions or (not subject and not verb.endswith("s")):
        return None
    if verb.startswith("work") and not is_workplace(placed["value"]):
        return None
    is_place = prepositions == _PLACES or verb.startswith(("live", "reside", "stay"))
    return _slot(subject, f"{verb.rstrip('s')} {placed['prep']}", placed["value"], takes_things=is_place)


def _of_copula(subject: str, verb: str, part: str, preposition: str, value: str) -> FactKey | None:
    """Return the slot of something done by a person, kept at a place, called or placed."""
    is_thing = _DETERMINED.match(subject) is not None
    if not part and preposition not in _PLACES:
        return None
    is_sure = is_thing and not (part and MANY.search(subject))
    if part and preposition:
        is_sure = preposition in _PASSIVE_PREPOSITIONS
    relation = " ".join(filter(None, ("be", part, preposition)))
    return _slot(subject, relation, value, takes_things=is_thing and not part and verb == "is", is_sure=is_sure)


def _of_identity(subject: str, verb: str, value: str) -> FactKey | None:
    """Return the slot of an identity: `the manager is Ann`, or `Ann is the manager`."""
    if (role := _ROLE.match(value)) is not None and _IS_NAME.match(subject) and not _DETERMINED.match(subject):
        if MANY.search(role["role"].split(" of ")[0]) or _TAIL.search(f" {role['role'].split(' for ')[0]}"):
            return None
        key, is_sure = f"{_fold(value).removeprefix('the ')} be name", not value.startswith("our")
        return FactKey(key, subject, _fold(subject), is_sure)
    if not _DETERMINED.match(subject):
        return _of_kind(subject, value)
    owned = _OWNER.sub("", subject, count=1)
    is_attribute = owned != subject and ATTRIBUTE.match(owned) is not None
    is_sure = verb == "is" and not MANY.search(subject.split(" of ")[0])
    if is_attribute and not is_of_type(owned, value):
        return None
    return _slot(subject, "be", value, is_sure=is_sure, takes_plain=is_attribute)


def _of_kind(subject: str, value: str) -> FactKey | None:
    """Return the slot of the type of a named thing: `Device A is a Synology NAS`."""
    kind = _KIND.match(value) if _IS_NAME.match(subject) else None
    if kind is None or not _NAMED.match(kind["name"]):
        return None
    # a person may be several things of a kind: a member, a citizen
    is_thing = _DESIGNATED.search(subject) is not None
    return FactKey(f"{_fold(subject)} be a {_fold(kind['kind'])}", subject, _fold(kind["name"]), is_thing)


def _slot(
    subject: str,
    relation: str,
    rest: str,
    *,
    takes_things: bool = False,
    takes_plain: bool = False,
    is_sure: bool = True,
) -> FactKey | None:
    """Return the slot if the value is a name; `takes_things`: or a thing, `the cellar`; `takes_plain`: or any value."""
    clause, comma, after_comma = rest.partition(",")
    tail = _TAIL.search(clause)
    value = clause[: tail.start()] if tail else clause
    if not value or _TIME.match(value) or _FINITE_WITHIN.search(clause) or len(value) > 60:
        return None
    bare = _ARTICLE.sub("", value, count=1)
    key = [_fold(subject).removeprefix("the "), relation]
    if _NAMED.match(bare) and not _OF_PEOPLES.match(bare):
        key.append("name")
    elif takes_things and value.lower().startswith("the "):
        key.append("thing")
    elif takes_plain and not value.lower().startswith(("a ", "an ", "the ")):
        key.append("plain")
    elif takes_things and len(words := value.split()) == 2 and words[0].islower():
        key.append(words[0])
    else:
        return None
    if tail:
        key.append(_fold(tail[0]))
    is_single = is_sure and not (comma and _FINITE_WITHIN.search(after_comma))
    is_pronoun = subject.lower() in ("", "he", "she", "it", "they")
    return FactKey(" ".join(key[1:] if is_pronoun else key), "" if is_pronoun else subject, _fold(bare), is_single)


_BY = expression("\\A(?P<subject>[^由]{0,24})由(?P<value>[^由]{2,14})\\Z")
_AT_WORK = expression(
    "\\A(?P<subject>.{1,24}?)在(?P<value>.{1,14}?)(?P<verb>工作|上班|上学|读书|任职|办公|开会|举行|住)\\Z"
)
_STAYS = expression("\\A(?P<subject>.{0,24}?[住放写存挂停摆坐站装设署跑])在(?P<value>.{1,14})\\Z")
_AT = expression("\\A(?P<subject>.{1,24}?)在(?P<value>.{1,14})\\Z")
_PLACE = expression(
    "[里上下中内外边旁头面处室楼层馆园院店厅库房柜屉城市省县区路街号云座站台家校场]\\Z|\\A.{1,3}\\Z|\\A[ -~]+\\Z"
)
_HAN_TIME = expression(
    "[0-9零〇一二两三四五六七八九十半]+(?:点|月|日|号$|年)|星期|礼拜|周[一二三四五六日天]|上午|下午|晚上|早上|中午|[饭睡][前后]"
)
_HAN_IS = expression("\\A(?P<subject>.{1,24}?)(?<![还就只可要总像算若正更])是(?P<value>.{1,20})\\Z")
_HAN_CALLED = expression("\\A(?P<subject>.{1,16}?)叫[做作]?(?P<value>.{1,10})\\Z")
_HAN_CHARGE = expression("\\A(?P<value>.{2,5}?)(?P<verb>负责|主持|主管|管理|牵头|保管)(?P<what>.{1,16})\\Z")
_HAN_MANY = expression(
    "(?:朋友|同事|同学|邻居|姐姐?|妹妹?|哥哥?|弟弟?|孩子|儿子|女儿|孙子|孙女|外孙|亲戚|客户|学生|猫|狗|宠物|爱好|兴趣|问题|原因|目标|优点|缺点|任务)\\Z"
)
_HAN_RELATION = expression("[是在由叫]")
_HAN_EMPLOYED = word_set("工作 上班 任职")
_HAN_LIST = expression("[和与、跟及]")
_HAN_KIND = expression("(?<!\\A.老)(?<!\\A.医)(?<!\\A.律)[人员师生者家工手]的?\\Z")
"""What a person is, rather than who."""


def _chinese(plain: str) -> FactKey | None:
    if _OPEN.search(plain):
        return None
    clause, _, after_comma = plain.replace(",", "，").partition("，")
    is_complete = not _HAN_RELATION.search(after_comma)
    if (by := _BY.match(clause)) is not None:
        # no character marks the end of the name; two statements have the same slot if they end with the same verb
        return FactKey(f"{by['subject']}由…{by['value'][-1]}", by["subject"], by["value"][:-1], is_complete)
    if (charge := _HAN_CHARGE.match(clause)) is not None:
        return FactKey(f"{charge['verb']}{charge['what']}", charge["value"], charge["value"], False)
    for pattern in (_AT_WORK, _STAYS, _AT, _HAN_CALLED, _HAN_IS):
        if (match := pattern.match(clause)) is not None:
            return _of_han(pattern, match, is_complete=is_complete)
    return None


def _of_han(pattern: re.Pattern[str], match: TextMatch, *, is_complete: bool) -> FactKey | None:
    subject, value = match["subject"], match["value"]
    if _HAN_TIME.search(value) or _HAN_LIST.search(value):
        return None
    if pattern is _AT_WORK:
        is_place = match["verb"] not in _HAN_EMPLOYED or is_workplace(value)
        return FactKey(f"{subject}在…{match['verb']}", subject, value, is_complete) if is_place else None
    if pattern in (_STAYS, _AT):
        return FactKey(f"{subject}在", subject, value, is_complete) if _PLACE.search(value) else None
    if not is_of_type(subject, value):
        return None
    is_single = is_complete and not _HAN_MANY.search(subject)
    if pattern is _HAN_CALLED:
        return FactKey(f"{subject}叫", subject, value, is_single and ("的" in subject or subject == "我"))
    if _HAN_KIND.search(value) or len(value.removesuffix("的")) < 2:
        return None
    ending = "…的\x00" if value.endswith("的") else "" if "的" in subject else "\x00?"
    return FactKey(f"{subject}是{ending}", subject, value, is_single)
