"""Checks whether a sentence and a memory are about the same thing, of the same owner, in the same relation.

A common word is not enough: my sister's dentist is not mine, a birthday party is not a birthday, a person who hires is
not a workplace, and a train that once ran late may run on time. Each rule here only rejects a pair.

In this package, `words` are the content words of a memory, and `spoken` the content words of a sentence.
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
    has_word_of_change,
    strip_leads,
)
from memoryd.domain.memories.capture.forms import NO_NEW_HOME
from memoryd.domain.memories.capture.revisions import Revision, subject_of
from memoryd.domain.memories.capture.values import (
    TIMES,
    ContentWords,
    TypedValue,
    common_start,
    content,
    new_value,
    stem,
    values_in,
)
from memoryd.domain.memories.facts.slots import HAN_DOING
from memoryd.domain.memories.facts.values import HAN, HAN_SIGN, PAST_TIME, PRESENT, WEEKDAY, is_past_event

_BARE_NAME = expression(
    r"(?!(?i:the|an?|my|our|i|we|it|his|her|their|this|these|all|every|each|in|on|at|there|when|for"
    r"|der|die|das|eine?|meine?|unsere?|ich|wir|es|im|am|bei)\b)"
    r"[A-Z][\w-]*(?:['’]s)?(?= (?!are |were |have |run |(?:is|was) \w+(?:ed|en|ne|de|pt|ilt|ent|un|ht)\b))"
)
"""A name of a person rather than a thing: not before a passive, nor before a plural verb."""
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
"""Attributes of a thing, which a sentence names where a memory has a verb instead."""
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


def have_exclusive_times(revision: Revision, text: str) -> bool:
    """Return whether a sentence and a statement name exclusive parts of the year or the week, or different people.

    A sentence for some days does not revise a time for all days either. Sentences that state a change are never
    rejected.
    """
    plain, pair = revision.plain, new_value(text, revision.plain)
    if not _MARKS_OF_NOW.issuperset(revision.forms) or pair is None or pair[0].kind in ("days", "date"):
        # for days and dates, the part of the year is itself what changes
        return False
    if _ON_SOME_DAYS.search(plain) and not _ON_SOME_DAYS.search(text) and _is_at_times(text):
        return True
    parts, known_parts = ({part for part, name in _PARTS_OF_TIME if name.search(side)} for side in (plain, text))
    people, known_people = (frozenset(_FOR_WHOM.findall(side.lower())) for side in (plain, text))
    return any(a and b and a.isdisjoint(b) for a, b in ((parts, known_parts), (people, known_people)))


OF_SORT = expression(r"\b(?:is|was) an? [a-z]")
_FOR = expression(r"\bfor ((?:the|my|our|his|her|their|an?|[\w-]+['’]s) [a-z][\w-]*)")
HOME = caseless(r"\b(?:lives?|wohn(?:e|t|en|st|te[nt]?)?)\b|住")
MOVES = caseless(
    # to a name, or to what one lives in: not *to the sofa*, *to Python 3*
    r"\bmoved(?: house| home)?(?: over| back| out)? to (?=(?:(?:the|an?|our|my|his|her|their) )?(?:[\w'’-]+ ){0,3}?"
    r"(?:(?-i:[A-Z][a-z'’-]+)\b(?! ?\d)|(?:flat|apartment|house|cottage|place|village|town|city|country)\b))"
    # who types no capitals writes names without them, too
    r"|\A(?-i:[^A-Z]*)\bmoved(?: back| over)? to (?!(?:the|an?|our|my|his|her|their) )[^\W\d]+\b(?! ?\d)(?-i:[^A-Z]*)\Z"
    rf"|\bnach (?!{NO_NEW_HOME})\w+ (?:um)?(?:ge)?zoge?n\b|[搬迁]"
)
_HAN_PERSON = expression(
    rf"(?:\A\W*|的)(?:我(?:的|们|家)?)?(?P<who>(?:{_KIN})|隔壁|同学|同桌|别人)(?<!小[区学时组程说票猫狗型])(?<!老[家房])"
)
_PRESENT_VERB = expression(
    rf"\b(?:{PRESENT})\b|['’](?:s|re|m)\b|(?:[Hh]e|[Ss]he|[Ii]t|[A-Z]\w+) (?!was\b)[a-z]+s\b|是|在"
)
_BARE_PLACE = caseless(
    r"\W*(?P<subject>[^,;]{1,40}?)(?:['’]s| is| are| ist| sind) (?:now |jetzt )?(?:in|at|on|bei|im|am|beim|auf) "
    r"(?P<value>[^,;]{1,60}?)(?: now| jetzt)?\Z"
)
_GERMAN_IS = expression(r"\b(?:ist|sind)\b")
"""A German verb: any German noun has a capital."""
_MARKS_OF_NOW = frozenset({NOW, NEWS})
_CHANGES = frozenset({FROM_TO, NO_LONGER, AGAIN, NEW})
_MARKS = frozenset({CORRECTION, ANSWER, NOW, NEWS, OTHERWISE})


def is_unrelated(revision: Revision, text: str, words: ContentWords, spoken: ContentWords) -> bool:
    """Return whether a sentence is about another thing than a memory, or about a single event."""
    is_event = is_single_event(revision) and not is_past_event(text)
    return is_event or is_about_other_thing(revision, text, words, spoken)


def is_about_other_thing(revision: Revision, text: str, words: ContentWords, spoken: ContentWords) -> bool:
    """Return whether a sentence is about another thing than a memory."""
    has_subject = revision.has_verb and not (revision.is_authors or revision.has_pronoun)
    subject = subject_of(revision.plain) if has_subject else ""
    return (
        any(_is_of_more(phrase, revision.plain, text, words, spoken) for phrase in _phrases(revision, subject))
        or any(_is_narrower(old, text, words) for old in revision.old)
        or any(not content(purpose) <= words for purpose in _FOR.findall(revision.rest))
        or _is_of_other_end(revision.plain, text)
        or _is_of_other_place(revision.plain, words)
        or _is_of_new_part(revision.plain, text)
        or _is_when_author_does(revision, text)
        or _changes_unknown(revision, text, words)
        or _is_authors_own(subject or revision.about, text, spoken)
        or bool(subject and _has_other_role(revision, subject, text, words, spoken))
    )


_BEGINS = caseless(
    r"\b(?:start|begin|beg[au]n|open(?! until| till)|leave|left|depart|issu|regist)(?:e?s|ed|ing|ered|ers)?\b"
    r"|\b(?:founded|beginnt|startet|öffnet)\b|开始|开门|开业|出发|上班|上课(?!时间)|入住"
)
_ENDS = caseless(
    r"\b(?:end|finish|clos|expir|stop|arriv)(?:e?s|e?d|ing)?\b|\b(?:endet|schließt)\b|结束|关门|截止|到达|下班|下课|退房|到期"
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
    """Return whether one text is about a beginning and the other about an end.

    A Chinese activity is not the place of a memory either.
    """
    firsts, lasts = ([bool(end.search(side)) for side in (plain, text)] for end in (_BEGINS, _ENDS))
    is_other_end = firsts != lasts and sorted(firsts) == sorted(lasts) == [False, True]
    return is_other_end or bool(_DOING.search(plain) and not _DOING.search(text))


def _is_of_other_place(plain: str, words: ContentWords) -> bool:
    """Return whether a sentence names the place of a thing, and a memory does not name that place."""
    match = _IN_PLACE.match(plain)
    return match is not None and content(match["name"]).isdisjoint(words)


def _is_of_new_part(plain: str, text: str) -> bool:
    """Return whether a Chinese sentence says that a thing got a new part that the memory lacks, or that a shop closed.

    A shop that closes daily, as the memory says, has not closed down.
    """
    part = _HAN_NEW_PART.search(plain)
    is_part = part is not None and part["what"] not in text
    shuts_daily = _HAN_SHUT.search(plain) and _HAN_SHUTS.search(text)
    return bool(is_part or shuts_daily) and not new_value(text, plain)


_AUTHOR = caseless(r"\A\W*(?:i|ich)\b|我(?![们的家])")
_REFERS = caseless(r"\b(?:it|them|him|her|there|that|ihn|es|sie|dort|da)\b|[它他她那]")


def _is_when_author_does(revision: Revision, text: str) -> bool:
    """Return whether an answer is about a time of its author: `no, I'm up at 8` does not say when a shop opens."""
    plain = revision.plain
    if revision.forms != (ANSWER,) or not _AUTHOR.search(plain) or _AUTHOR.search(text) or _REFERS.search(plain):
        return False
    pair = new_value(text, revision.rest)
    return pair is not None and pair[0].kind in TIMES


def _is_at_times(text: str) -> bool:
    """Return whether a statement names a time of day, but no day."""
    kinds = {known.kind for known in values_in(text)}
    return "time" in kinds and kinds.isdisjoint(("days", "date"))


def is_bare_place(revision: Revision, text: str) -> bool:
    """Return whether both say only where a person is: a person may be in a team, in a town and at a school at once."""
    matches = [_BARE_PLACE.match(side.rstrip(" .!")) for side in (revision.plain, text)]
    if revision.old or not _MARKS_OF_NOW.issuperset(revision.forms) or not all(matches) or not match_person(text):
        return False
    places = [match["value"] for match in matches if match]
    are_times = any(known.kind in TIMES for place in places for known in values_in(f"at {place}"))
    if are_times or (not _GERMAN_IS.search(text) and all(place[0].isupper() for place in places)):
        return False
    return len({stem(place.split()[-1].casefold()) for place in places}) > 1


def _phrases(revision: Revision, subject: str) -> set[str]:
    """Return the phrases that name the thing: the object of a change, else the text before the verb."""
    if revision.thing and not _OF_ANY.match(revision.thing):
        return {revision.thing}
    if revision.new and subject.startswith(revision.new):
        return set()
    owner = OWNED.search(subject)
    if owner and _OF_PERSON.search(revision.plain) and not _OF_KIN.search(f"my {subject[owner.end() :].strip()}"):
        # the rest of the sentence is about the owner, not about the thing owned
        return {owner[0]}
    return {subject, revision.about} - {""}


def match_person(text: str) -> TextMatch | None:
    """Match a person, or a named thing, at the beginning of a statement."""
    return _BARE_NAME.match(text) or _OF_KIN.match(text)


def is_about_other_person(text: str, spoken: ContentWords) -> bool:
    """Return whether a statement is about a person whom a sentence with the words `spoken` does not name."""
    if named := match_person(text):
        return content(named[0]).isdisjoint(spoken)
    subject = subject_of(text)
    return bool(_OTHER_PERSON.match(subject)) and content(subject).isdisjoint(spoken)


def _is_of_more(phrase: str, plain: str, text: str, words: ContentWords, spoken: ContentWords) -> bool:
    """Return whether a phrase is more specific than a memory, by an owner or another part of a compound."""
    if HAN_SIGN.search(phrase):
        return _has_other_owner(phrase, text, words)
    named = content(_ADVERB.sub("", phrase))
    more = named - words - ATTRIBUTES
    subject = content(subject_of(text))
    # if the memory is about a position, a new holder of it is not in the memory; `is a dentist` takes no position
    is_about_place = bool(subject) and subject.isdisjoint(named) and subject <= spoken and not OF_SORT.search(plain)
    return bool(more) and not is_about_place


def _has_other_owner(phrase: str, text: str, words: ContentWords) -> bool:
    if not HAN_SIGN.search(phrase):
        return any(owner.isdisjoint(words) for owner in map(content, OWNED.findall(phrase)) if owner)
    owners = [_HAN_OWN.sub("", owner) for owner in _HAN_OWNED.findall(phrase)]
    people = [match["who"] for match in _HAN_PERSON.finditer(phrase)]
    return not all(is_made_of(name, text) for name in (*owners, *people)) or _is_han_compound(phrase, text)


def is_made_of(run: str, text: str) -> bool:
    """Return whether Chinese characters are a sequence of parts of a text, with at least two characters each."""
    while run and run not in text:
        size = next((size for size in range(len(run) - 1, 1, -1) if run[:size] in text), 0)
        if not size:
            return False
        run = run[size:]
    return True


_MIN_ALIKE = 3
"""Least number of common last characters for the names of two things of one kind."""


def _is_han_compound(phrase: str, text: str) -> bool:
    """Return whether a phrase is a longer compound of the subject of a text, another of its kind, or a part of it."""
    thing, named = (_HAN_OWN.sub("", name).strip() for name in (subject_of(text), phrase))
    if len(thing) == len(named) and _MIN_ALIKE <= common_start(thing[::-1], named[::-1]) < len(thing):
        # as in 早班司机, 晚班司机
        return True
    before = phrase.partition(thing)[0] if len(thing) > 1 and thing in phrase else ""
    owner, _, part = phrase.rpartition("的")
    is_part = bool(owner and len(part) > 1 and not _HAN_ATTRIBUTE.search(part)) and _are_none_in(part, text)
    return is_part or (bool(before) and _are_none_in(_HAN_OWN.sub("", before), text))


def _are_none_in(part: str, text: str) -> bool:
    words = content(part)
    return bool(words) and not any(word in text for word in words)


def _is_narrower(old: str, text: str, words: ContentWords) -> bool:
    """Return whether a sentence denies less than a memory says: for one owner, for a part, or for certain times."""
    if HAN_SIGN.search(old):
        shared = next((old[:end] for end in range(len(old), 1, -1) if old[:end] in text), "")
        rest = _HAN_WORK.sub("", old[len(shared) :])
        return _has_other_owner(old, text, words) or bool(shared and len(rest) > 1 and _are_none_in(rest, text))
    owned = [content(old[match.end() :].split()[0]) for match in OWNED.finditer(old)]
    known = {value.key for value in values_in(text)}
    has_new_time = any(value.kind in TIMES and value.key not in known for value in values_in(old))
    return _has_other_owner(old, text, words) or not all(things <= words for things in owned) or has_new_time


def _changes_unknown(revision: Revision, text: str, words: ContentWords) -> bool:
    """Return whether a person changes something that a memory about a person does not mention."""
    is_persons = _OTHER_PERSON.match(subject_of(text)) or match_person(text)
    if revision.old or CHANGE not in revision.forms or not is_persons:
        return False
    subject = content(subject_of(text))
    is_mentioned = (content(revision.rest) - subject) & words or new_value(text, revision.plain)
    return not is_mentioned and not (MOVES.search(revision.plain) and HOME.search(text))


def _is_authors_own(subject: str, text: str, spoken: ContentWords) -> bool:
    """Return whether the thing of a sentence is its author's own, and the thing of a memory another person's."""
    return bool(_OWN_THING.match(subject)) and _has_other_owner(subject_of(text), subject, spoken)


def _has_other_role(revision: Revision, subject: str, text: str, words: ContentWords, spoken: ContentWords) -> bool:
    """Return whether the subject of a sentence occurs in a memory only in the value of another subject."""
    if any(value and revision.plain.startswith(value) for value in (*revision.old, revision.new)):
        return False
    if FROM_TO in revision.forms and _THING.match(subject):
        # the sentence names the old value, too
        return False
    if HAN_SIGN.search(subject) and (not revision.old or any(old[:1] in text for old in revision.old)):
        # in Chinese a topic may precede the verb, too
        return False
    named = content(subject)
    about = frozenset[str]().union(*(content(subject_of(clause)) for clause in CLAUSE_END.split(text)))
    is_in_value = bool(named) and named <= words and named.isdisjoint(about)
    return is_in_value and not about & spoken


def is_single_event(revision: Revision) -> bool:
    """Return whether a sentence is about a single past event, without a lasting change."""
    forms, plain = set(revision.forms), revision.plain
    if forms & _CHANGES or (CHANGE in forms and NOT_BUT not in forms):
        return False
    if PAST_TIME.search(plain) and (HAN_SIGN.search(plain) or not _PRESENT_VERB.search(plain)):
        return True
    return not forms & _MARKS and is_past_event(plain) and not _PRESENT_VERB.search(plain)


def is_in_other_clause(plain: str, value: TypedValue, words: ContentWords) -> bool:
    """Return whether a value is in a later clause about another subject: `that went well, the party is on the 16th`."""
    start = max((end.end() for end in CLAUSE_END.finditer(plain, 0, value.start)), default=0)
    if not start or HAN_SIGN.search(plain):
        return False
    subject = content(subject_of(plain[start : value.start]))
    return bool(subject) and subject.isdisjoint(words)


NEGATIVE = caseless(
    r"\b(?:not|never|no longer|nobody|none|no one|nicht|nie|kein\w*)\b|n['’]t\b"
    r"|(?<![特区个性分])[不没未](?!同|错|过|久|断)"
)
_ALSO = caseless(r"[^,;.，。；!！了]*(?:\b(?:also|as well|auch|ebenfalls)\b|\btoo(?=\W*\Z)|也)[^,;，。；了]*\Z")
_MANY = caseless(r"\b(?:allerg(?:y|ies|i\w+)|(?:like|love|hate|enjoy|prefer)s?|mag|liebt?)\b|过敏|喜欢|爱吃|讨厌")
"""A person has several of these at once."""
_HEAD = 5
_ABSENT = caseless(
    r"[^,;，；\d]*?(?:\boff (?:sick|ill)\b|(?:\b(?:is|are)|['’](?:s|re)) (?:(?:sick|ill|poorly)(?! of)|away)\b"
    r"|\bon (?:holiday|vacation)\b|\bist krank\b|\bim urlaub\b|请(?:了?[一两三几]?天?)?假|生病|病了)\D*\Z"
)

_CANNOT = caseless(
    rf"[^,;\d]*?\b(?:can['’]?t|cannot|kann(?=[^,;]*\bnicht\b))[^,;\d]*?\b{WEEKDAY}(?<!s)\b(?:(?!{WEEKDAY})\D)*\Z"
)
"""No time on one day, for which no other day is named."""
_EACH_WEEK = caseless(rf"\b{WEEKDAY}(?<=s)\b|\b(?:the|every|each|jeden) {WEEKDAY}(?! \d)")


def is_addition(text: str, old: str) -> bool:
    """Return whether a message without a form adds a value to a line: the child is allergic to something else, too."""
    return not _is_correction(text) and (_ALSO.match(text) is not None or _has_another(text, old))


def is_absence(text: str, old: str) -> bool:
    """Return whether a message without a form says that someone is ill or away, and what is done meanwhile.

    Someone who cannot come on a day is away if the line is about that day of each week; an appointment is over.
    """
    is_day_off = _CANNOT.match(text) and _EACH_WEEK.search(old)
    return not _is_correction(text) and bool(is_day_off or _ABSENT.match(text))


def _is_correction(text: str) -> bool:
    plain, leads = strip_leads(text)
    return not leads.isdisjoint(("wrong", "own")) or has_word_of_change(plain)


def _has_another(text: str, old: str) -> bool:
    heads, known = ({match[0][:_HEAD].casefold() for match in _MANY.finditer(side)} for side in (text, old))
    value = {word for word in content(old) - content(subject_of(old)) if word[:_HEAD] not in known}
    is_denied = any(map(NEGATIVE.search, (text, old)))
    return bool(heads & known) and not value <= content(text) and not is_denied
