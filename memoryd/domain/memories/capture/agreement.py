"""Whether a sentence speaks of what a memory speaks of: of the same thing of the same owner, of the same relation.

A word in common is no agreement: my sister's dentist is not mine, a birthday party is no birthday, who hires is not
where somebody works, and what once ran late runs on time. Each rule here only refuses.
"""

from memoryd.domain.expressions import TextMatch, caseless, expression
from memoryd.domain.memories.capture.cues import (
    AGAIN,
    ANSWER,
    CHANGE,
    CLAUSE_END,
    CORRECTION,
    FROM_TO,
    NEW,
    NEWS,
    NO_LONGER,
    NOT_BUT,
    NOW,
    OTHERWISE,
)
from memoryd.domain.memories.capture.revisions import Revision, subject_of
from memoryd.domain.memories.capture.values import TIMES, TypedValue, common_start, content, new_value, stem, values_in
from memoryd.domain.memories.facts.slots import HAN_DOING
from memoryd.domain.memories.facts.values import HAN, HAN_SIGN, LONG_AGO, PRESENT, WEEKDAY, tells_what_happened

_BARE_NAME = expression(
    r"(?!(?i:the|an?|my|our|i|we|it|his|her|their|this|these|all|every|each|in|on|at|there|when|for"
    r"|der|die|das|eine?|meine?|unsere?|ich|wir|es|im|am|bei)\b)"
    r"[A-Z][\w-]*(?:['’]s)?(?= (?!are |were |have |run |(?:is|was) \w+(?:ed|en|ne|de|pt|ilt|ent|un|ht)\b))"
)
"""What is done with a thing stands in the passive, and things come in numbers."""
_OF_KIN = caseless(
    r"(?:my|our|his|her|the) (?:(?:older|younger|little|big|step|grand|ex-?)[ -]?)*(?:sister|brother|mother|father"
    r"|mum|mom|dad|son|daughter|child|kid|boy|girl"
    r"|wife|husband|partner|aunt|uncle|cousin|niece|nephew|grand\w+|friend|girlfriend|boyfriend|boss|manager"
    r"|colleague|neighbou?r|flatmate|roommate|landlord|landlady"
    r"|teacher|doctor|parents?)s?(?:-in-law)?\b(?!['’]s? (?:name|number))"
    r"|(?:mein|unser|sein|ihr)e? (?:schwester|bruder|mutter|vater|mann|frau|sohn|tochter|oma|opa|chef(?:in)?)\b"
)
_KIN = (
    "爸|妈|爷|奶|姥|外公|外婆|哥|姐|弟|妹|叔|伯|姑|姨|舅|儿子|女儿|孙|老公|老婆|丈夫|妻子|老伴|爱人|男友|女友|同事"
    f"|朋友|邻居|室友|老板|领导|老师|[小老][{HAN}]"
)
_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭"
    "陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
_OTHER_PERSON = expression(rf"\A\W*(?:我的?)?(?:{_KIN})|\A\W*[{_SURNAMES}][{HAN}]{{1,2}}\Z")

ATTRIBUTES = content(
    "price cost fee money rate size colour color address phone email location venue room deadline start end version"
    " owner lead"
)
"""What a thing has besides its name: a sentence names it where a memory has a verb."""
_ADVERB = expression(r"\b[a-z]+ly\b")
OWNED = expression(r"\b[\w-]+(?:['’]s|(?<=s)['’])(?= \w)")
_OF_ANY = caseless(r"\W*(?:its|his|her|their|my|our)?\W*\Z|\W*(?:its|his|her|their)\b")
_OF_PERSON = caseless(r"[,;] (?:and )?(?:she|he)\b")
_THING = expression(r"\W*(?:[Tt]he|[Oo]ur) [a-z][a-z -]*\Z")
_OWN_THING = caseless(r"\W*(?:my|our)\b|\W*(?:我|咱)(?:们|家)?的")
_HAN_OWNED = expression(f"([{HAN}A-Za-z]{{1,10}}?)(?:家里?)?的(?!了)(?=[{HAN}A-Za-z])")
_HAN_OWN = expression(r"(?:我|咱)(?:们|家)?(?:里|自己)?|自己|家里|[新旧老原]来?|现在|之前|以前|如今|目前|最新|其他")
_HAN_ATTRIBUTE = expression(
    r"时间|日期|地点|价格?|费|号|电话|手机|邮箱|地址|名|密码|颜色|版本|端口|尺[码寸]|大小|人数|负责人"
)
_HAN_WORK = expression(r"上班|工作|任职|干活|读书|上学|念书|居住|负责|做")
_PARTS_OF_TIME = (
    ("summer", caseless(r"\b(?:in|during|over) (?:the )?summer\b|\bim sommer\b|夏[天季]")),
    ("winter", caseless(r"\b(?:in|during|over) (?:the )?winter\b|\bim winter\b|冬[天季]")),
    ("spring", caseless(r"\b(?:in|during) (?:the )?spring\b|\bim fr(?:ü|u)h(?:ling|jahr)\b|春[天季]")),
    ("autumn", caseless(r"\b(?:in|during) (?:the )?(?:autumn|fall)\b|\bim herbst\b|秋[天季]")),
    ("week", caseless(r"\bweekdays?\b|\b(?:mon|tues|wednes|thurs|fri)days?\b|\bwerktags\b|工作日|平日")),
    ("weekend", caseless(r"\bweekends?\b|\b(?:satur|sun)days?\b|\bam wochenende\b|周末")),
)
_FOR_WHOM = caseless(r"\bfor (?!(?:us|hours|days|weeks|months|years|ages)\b)([a-z]{3,}s)\b")


def are_of_other_times(revision: Revision, text: str) -> bool:
    """Tell whether a sentence and a statement name parts of the year or the week that exclude each other, or for whom.

    Nor does what holds on some days take the place of a time of all. A sentence that says of itself that something
    changes means the same.
    """
    plain, pair = revision.plain, new_value(text, revision.plain)
    if not _MARKS_OF_NOW.issuperset(revision.forms) or pair is None or pair[0].kind in ("days", "date"):
        # the part of the year is what is said otherwise
        return False
    if _ON_SOME_DAYS.search(plain) and not _ON_SOME_DAYS.search(text) and _is_at_times(text):
        return True
    spoken, known = ({part for part, said in _PARTS_OF_TIME if said.search(one)} for one in (plain, text))
    whom, others = (frozenset(_FOR_WHOM.findall(one.lower())) for one in (plain, text))
    return bool(spoken and known and spoken.isdisjoint(known)) or bool(whom and others and whom.isdisjoint(others))


OF_SORT = expression(r"\b(?:is|was) an? [a-z]")
_FOR = expression(r"\bfor ((?:the|my|our|his|her|their|an?|[\w-]+['’]s) [a-z][\w-]*)")
HOME = caseless(r"\blives?\b|住")
MOVES = caseless(r"\bmoved(?: house| home)?(?: over| back| out)? to\b|[搬迁]")
_HAN_PERSON = expression(
    rf"(?:\A\W*|的)(?:我(?:的|们|家)?)?(?P<who>(?:{_KIN})|隔壁|同学|同桌|别人)(?<!小[区学时组程说票猫狗型])(?<!老[家房])"
)
_STANDS = expression(rf"\b(?:{PRESENT})\b|['’](?:s|re|m)\b|(?:[Hh]e|[Ss]he|[Ii]t|[A-Z]\w+) (?!was\b)[a-z]+s\b|是|在")
_BARE_PLACE = caseless(
    r"\W*(?P<subject>[^,;]{1,40}?)(?:['’]s| is| are| ist| sind) (?:now |jetzt )?(?:in|at|on|bei|im|am|beim|auf) "
    r"(?P<value>[^,;]{1,60}?)(?: now| jetzt)?\Z"
)
_GERMAN_IS = expression(r"\b(?:ist|sind)\b")
"""There any noun has a capital."""
_MARKS_OF_NOW = frozenset({NOW, NEWS})
_CHANGES = frozenset({FROM_TO, NO_LONGER, AGAIN, NEW})
_MARKS = frozenset({CORRECTION, ANSWER, NOW, NEWS, OTHERWISE})


def are_apart(revision: Revision, text: str, words: frozenset[str], spoken: frozenset[str]) -> bool:
    """Tell whether a sentence is about another thing than a memory of this text and these words, or of one time."""
    is_event = is_single_event(revision) and not tells_what_happened(text)
    return is_event or are_of_other_things(revision, text, words, spoken)


def are_of_other_things(revision: Revision, text: str, words: frozenset[str], spoken: frozenset[str]) -> bool:
    """Tell whether a sentence is about another thing than a memory of this text and these words."""
    has_subject = revision.has_verb and not (revision.is_authors or revision.has_pronoun)
    subject = subject_of(revision.plain) if has_subject else ""
    return (
        any(_is_of_more(one, revision.plain, text, words, spoken) for one in _phrases(revision, subject))
        or any(_is_narrower(one, text, words) for one in revision.old)
        or any(not content(one) <= words for one in _FOR.findall(revision.rest))
        or _is_of_other_end(revision.plain, text)
        or _is_of_other_place(revision.plain, words)
        or _is_of_new_part(revision.plain, text)
        or _is_when_author_does(revision, text)
        or _changes_unknown(revision, text, words)
        or _is_anothers(subject or revision.about, text, spoken)
        or bool(subject and _has_other_role(revision, subject, text, words, spoken))
    )


_BEGINS = caseless(
    r"\b(?:start|begin|beg[au]n|open(?! until| till)|leave|left|depart|issu|regist)(?:e?s|ed|ing|ered|ers)?\b"
    r"|\b(?:founded|beginnt|startet|öffnet)\b|开始|开门|开业|出发|上班|上课(?!时间)|入住"
)
_ENDS = caseless(
    r"\b(?:end|finish|clos|expir|stop|arriv)(?:e?s|e?d|ing)?\b|\b(?:endet|schließt)\b|结束|关门|截止|到达|下班|下课|退房|到期"
)
_TO_WHOM = expression(
    r"\A\W*(?:[Tt]he|[Oo]ur|[Mm]y|[Dd]er|[Dd]ie|[Dd]as) [\w-]+ (?:to|from|of|for|with|in|at|nach|von|mit|für)"
    r" (?P<name>[A-Z][\w-]*)"
)
_IN_PLACE = expression(
    r"\A\W*(?:[Tt]he|[Oo]ur|[Mm]y) [a-z][\w-]* (?:in|at|near) (?P<name>[A-Z][\w-]*(?: [A-Z][\w-]*)*) "
    rf"(?:{PRESENT}|went|rose|[a-z]+ed|[a-z]+s)\b"
)
_HAN_NEW_PART = expression(rf"换了?(?:[一几]?[个台辆双张把块套批])?新的?(?P<what>[{HAN}A-Za-z]{{1,6}})[。.！!]?\Z")
_HAN_SHUT, _HAN_SHUTS = expression(r"关门了"), expression(r"关门")
_DOING = expression(rf"(?:正在|(?<!现)在)(?:{HAN_DOING}|开会|上课|吃饭|睡觉|休息|写|看|打|玩|跑步|出差|路上|外面)")
_ON_SOME_DAYS = caseless(
    rf"\b(?:on|at|in|over) (?:the )?(?:weekdays|weekends?|{WEEKDAY}|school days|holidays|summer|winter)\b"
    rf"|\bevery (?:other|{WEEKDAY})\b"
)


def _is_of_other_end(plain: str, text: str) -> bool:
    """Tell whether one says when something begins, the other when it ends; or both, of the way to another place.

    Nor is what somebody is doing a place.
    """
    firsts, lasts = ([bool(one.search(said)) for said in (plain, text)] for one in (_BEGINS, _ENDS))
    if firsts != lasts and sorted(firsts) == sorted(lasts) == [False, True]:
        return True
    names = [found["name"] for said in (plain, text) if (found := _TO_WHOM.match(said))]
    return len(set(names)) > 1 or bool(_DOING.search(plain) and not _DOING.search(text))


def _is_of_other_place(plain: str, words: frozenset[str]) -> bool:
    """Tell whether the thing is one at a place of which a memory does not say that it is there."""
    found = _IN_PLACE.match(plain)
    return found is not None and content(found["name"]).isdisjoint(words)


def _is_of_new_part(plain: str, text: str) -> bool:
    """Tell whether a thing got something new of which a Chinese memory does not speak, or shut as that says it does."""
    part = _HAN_NEW_PART.search(plain)
    is_part = part is not None and part["what"] not in text
    shuts_daily = _HAN_SHUT.search(plain) and _HAN_SHUTS.search(text)
    return bool(is_part or shuts_daily) and not new_value(text, plain)


_AUTHOR = caseless(r"\A\W*(?:i|ich)\b|我(?![们的家])")
_REFERS = caseless(r"\b(?:it|them|him|her|there|that|ihn|es|sie|dort|da)\b|[它他她那]")


def _is_when_author_does(revision: Revision, text: str) -> bool:
    """Tell whether an answer says when its author does something: `no, I'm up at 8` opens no shop."""
    plain = revision.plain
    if revision.forms != (ANSWER,) or not _AUTHOR.search(plain) or _AUTHOR.search(text) or _REFERS.search(plain):
        return False
    pair = new_value(text, revision.rest)
    return pair is not None and pair[0].kind in TIMES


def _is_at_times(text: str) -> bool:
    """Tell whether a statement says a time of day, and no day."""
    kinds = {one.kind for one in values_in(text)}
    return "time" in kinds and kinds.isdisjoint(("days", "date"))


def is_bare_place(revision: Revision, text: str) -> bool:
    """Tell whether both say only in, at or on what somebody is: it may be a team, a town and a school at once."""
    ends = [_BARE_PLACE.match(said.rstrip(" .!")) for said in (revision.plain, text)]
    if revision.old or not _MARKS_OF_NOW.issuperset(revision.forms) or not all(ends) or not is_of_person(text):
        return False
    values = [found["value"] for found in ends if found]
    are_times = any(one.kind in TIMES for said in values for one in values_in(f"at {said}"))
    if are_times or (not _GERMAN_IS.search(text) and all(one[0].isupper() for one in values)):
        return False
    return len({stem(one.split()[-1].casefold()) for one in values}) > 1


def _phrases(revision: Revision, subject: str) -> set[str]:
    """Return what names the thing: of a change what is changed, else what stands before the verb."""
    if revision.thing and not _OF_ANY.match(revision.thing):
        return {revision.thing}
    if revision.new and subject.startswith(revision.new):
        return set()
    owner = OWNED.search(subject)
    if owner and _OF_PERSON.search(revision.plain) and not _OF_KIN.search(f"my {subject[owner.end() :].strip()}"):
        # of what a person has nothing more is said, but of the person
        return {owner[0]}
    return {subject, revision.about} - {""}


def is_of_person(text: str) -> TextMatch | None:
    """Return the words for a person, or a thing with a name, whom a statement begins with."""
    return _BARE_NAME.match(text) or _OF_KIN.match(text)


def is_of_other(text: str, spoken: frozenset[str]) -> bool:
    """Tell whether a statement is about a person of whom nothing is said."""
    if named := is_of_person(text):
        return content(named[0]).isdisjoint(spoken)
    subject = subject_of(text)
    return bool(_OTHER_PERSON.match(subject)) and content(subject).isdisjoint(spoken)


def _is_of_more(phrase: str, plain: str, text: str, words: frozenset[str], spoken: frozenset[str]) -> bool:
    """Tell whether a phrase names a thing more closely than a memory: by an owner, or as another of a compound."""
    if HAN_SIGN.search(phrase):
        return _has_other_owner(phrase, text, words)
    named = content(_ADVERB.sub("", phrase))
    more = named - words - ATTRIBUTES
    subject = content(subject_of(text))
    # who takes a place is new to a memory that is about the place; `is a dentist` takes none
    is_about_place = bool(subject) and subject.isdisjoint(named) and subject <= spoken and not OF_SORT.search(plain)
    return bool(more) and not is_about_place


def _has_other_owner(phrase: str, text: str, words: frozenset[str]) -> bool:
    if not HAN_SIGN.search(phrase):
        return any(content(one).isdisjoint(words) for one in OWNED.findall(phrase) if content(one))
    owners = [one for found in _HAN_OWNED.findall(phrase) if (one := _HAN_OWN.sub("", found))]
    people = [found["who"] for found in _HAN_PERSON.finditer(phrase)]
    return any(not is_made_of(one, text) for one in (*owners, *people)) or _is_han_compound(phrase, text)


def is_made_of(run: str, text: str) -> bool:
    """Tell whether Chinese signs are words of a text, one behind the other: two signs of each at least."""
    while run and run not in text:
        size = next((size for size in range(len(run) - 1, 1, -1) if run[:size] in text), 0)
        if not size:
            return False
        run = run[size:]
    return True


_MIN_ALIKE = 3
"""Signs that the names of two things of a kind end on."""


def _is_han_compound(phrase: str, text: str) -> bool:
    """Tell whether a thing has more before its name than in a text, or is a part of what is named there."""
    thing, named = (_HAN_OWN.sub("", one).strip() for one in (subject_of(text), phrase))
    if len(thing) == len(named) and _MIN_ALIKE <= common_start(thing[::-1], named[::-1]) < len(thing):
        # 早班司机, 晚班司机
        return True
    before = phrase.partition(thing)[0] if len(thing) > 1 and thing in phrase else ""
    whole, of, part = phrase.rpartition("的")
    is_part = bool(whole and of and len(part) > 1 and not _HAN_ATTRIBUTE.search(part)) and _are_none_in(part, text)
    return is_part or (bool(before) and _are_none_in(_HAN_OWN.sub("", before), text))


def _are_none_in(part: str, text: str) -> bool:
    words = content(part)
    return bool(words) and not any(one in text for one in words)


def _is_narrower(old: str, text: str, words: frozenset[str]) -> bool:
    """Tell whether what is denied is less than a memory says: of an owner, of a part, or at times."""
    if HAN_SIGN.search(old):
        shared = next((old[:end] for end in range(len(old), 1, -1) if old[:end] in text), "")
        rest = _HAN_WORK.sub("", old[len(shared) :])
        return _has_other_owner(old, text, words) or bool(shared and len(rest) > 1 and _are_none_in(rest, text))
    owned = [content(old[one.end() :].split()[0]) for one in OWNED.finditer(old)]
    known = {one.key for one in values_in(text)}
    times = [one for one in values_in(old) if one.kind in TIMES and one.key not in known]
    return _has_other_owner(old, text, words) or any(not one <= words for one in owned) or bool(times)


def _changes_unknown(revision: Revision, text: str, words: frozenset[str]) -> bool:
    """Tell whether somebody changes something of which a memory of that person says nothing."""
    is_persons = _OTHER_PERSON.match(subject_of(text)) or is_of_person(text)
    if revision.old or CHANGE not in revision.forms or not is_persons:
        return False
    subject = content(subject_of(text))
    has_form = (content(revision.rest) - subject) & words or new_value(text, revision.plain)
    return not has_form and not (MOVES.search(revision.plain) and HOME.search(text))


def _is_anothers(subject: str, text: str, spoken: frozenset[str]) -> bool:
    """Tell whether the thing is its author's own, and a memory's somebody else's."""
    if not _OWN_THING.match(subject):
        return False
    owned = subject_of(text)
    return _has_other_owner(owned, subject, spoken)


def _has_other_role(revision: Revision, subject: str, text: str, words: frozenset[str], spoken: frozenset[str]) -> bool:
    """Tell whether the thing that something is said of stands in a memory only in what that says of another."""
    if any(revision.plain.startswith(one) for one in (*revision.old, revision.new) if one):
        return False
    if FROM_TO in revision.forms and _THING.match(subject):
        # what it is with stands there too, and is named
        return False
    if HAN_SIGN.search(subject) and (not revision.old or any(one[:1] in text for one in revision.old)):
        # a topic stands before its verb, too
        return False
    named = content(subject)
    about = frozenset[str]().union(*(content(subject_of(one)) for one in CLAUSE_END.split(text)))
    is_in_value = bool(named) and named <= words and named.isdisjoint(about)
    return is_in_value and not about & spoken


def is_single_event(revision: Revision) -> bool:
    """Tell whether a sentence is about one time that is past, and changes nothing since."""
    forms, plain = set(revision.forms), revision.plain
    if forms & _CHANGES or (CHANGE in forms and NOT_BUT not in forms):
        return False
    if LONG_AGO.search(plain) and (HAN_SIGN.search(plain) or not _STANDS.search(plain)):
        return True
    return not forms & _MARKS and tells_what_happened(plain) and not _STANDS.search(plain)


def is_of_other_clause(plain: str, value: TypedValue, words: frozenset[str]) -> bool:
    """Tell whether a later clause says a value of another subject: that went well, the party is on the 16th."""
    start = max((end.end() for end in CLAUSE_END.finditer(plain, 0, value.start)), default=0)
    if not start or HAN_SIGN.search(plain):
        return False
    subject = content(subject_of(plain[start : value.start]))
    return bool(subject) and subject.isdisjoint(words)
