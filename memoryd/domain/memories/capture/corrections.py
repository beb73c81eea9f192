"""Lessons from corrections, pins of names, and succession: which earlier statements a new one replaces.

A pin is shown in every session. So a name is pinned only with a sign that it is addressed to the agent: a greeting, a
request, or a question for the name in the answer before. `Call me Ishmael.` alone may be a line of a book.

If a form has a single value, such as the author's home, its last statement is valid. Forms with many values, such as
likes, allergies and things to remember, replace nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date

from msgspec.structs import replace

from memoryd.domain.expressions import TextMatch, caseless, expression, word_set
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.chinese import CHINESE
from memoryd.domain.memories.capture.english import ENGLISH
from memoryd.domain.memories.capture.forms import GERMAN, StatementForm, form_in
from memoryd.domain.memories.capture.identifiers import identifier_in
from memoryd.domain.memories.facts.slots import ATTRIBUTE, MANY, is_limited_in_time, is_of_type, is_workplace
from memoryd.domain.memories.kinds import Kind, MemoryId, short_id
from memoryd.domain.memories.line import BY_PEOPLE, Provenance, RetainedLine, joined
from memoryd.domain.memories.versions import newness

_ANSWERING = (
    r"(?:answer|reply|respond|write|use|format|explain|call|translate|add|include|start|begin|end|give|make|put|show"
    r"|repeat|apologi[sz]e|ask|assume|guess|say|speak|mix|summari[sz]e|shorten|keep"
    r"|send|suggest|recommend|offer|mention|list|quote|cite|invent|round|convert|cut|skip|drop|leave|capitali[sz]e"
    r"|address|talk|sign|wrap|quote|refer|stick|provide|be|count|change|touch|run|delete|commit|push|open|greet|thank)"
)
_RULE = caseless(
    rf"\A\W*(?:(?:please|ok|okay|no|hey|but|and|also|again|so|next time|from now on|in (?:the )?future|going forward"
    rf"|as i said|i said|i told you)\b[\s,:!.—–-]*+){{0,4}}"
    rf"(?:(?:(?:please )?(?:don['’]?t|do not|never|stop|always|quit|avoid)\s+(?:ever )?(?:{_ANSWERING}|\w+ing)\b)"
    rf"|no (?:more )?(?:tables?|emojis?|bullet|bullets|lists?|markdown|headings?|jargon|english|chinese|german)\b)"
)
_BARE_RULE = caseless(
    r"\W*(?:please )?(?:don['’]?t|do not|never|stop|always|quit|avoid) (?:ever )?\w+(?: (?:that|this|it|them|so|there"
    r"|now|yet|again|for now))*\W*\Z|\W*(?:先|请)?(?:不要|不用|别)(?:再|先)?[\u4e00-\u9fff](?:它|出去)?[了啊吧呀]?\W*\Z"
)
"""Orders without lasting content: `stop doing that`, 别发, `don't send it yet`."""
_AFTER = caseless(rf"[:;,—–]\s*(?:please )?(?:don['’]?t|do not|never|stop|always)\s+(?:{_ANSWERING}|\w+)\b")
_BLAMES = caseless(
    r"\W*(?:you (?:got|have|keep|always|still|again|did|forgot|used|were)\b|that['’]?s not\b|wrong\b|no\b)"
)
_FROM_NOW = caseless(
    rf"\b(?:from now on|next time|in (?:the )?future|going forward)\b.*\b{_ANSWERING}\b"
    rf"|\b{_ANSWERING}\b.*\b(?:from now on|next time|in (?:the )?future|going forward)\b"
)
_WRONG = expression(
    r"\A\W*(?:no|nope|wrong|incorrect|not (?:quite|right|correct|exactly)|that['’]?s (?:not (?:right|correct|true"
    r"|it)|wrong|incorrect|false)|that is (?:not (?:right|correct|true)|wrong|incorrect)"
    r"|you(?:['’]re| are) (?:wrong|mistaken)|you (?:got|have) (?:it|that|this) wrong|you misunderstood"
    r"|actually|nein|nee|falsch"
    r"|stimmt nicht|das (?:stimmt (?:so )?nicht|ist (?:falsch|nicht richtig)))\b[\s,.!:;—–-]*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SAYS_RIGHT = caseless(
    r"\A\W*(?:(?:the|my|his|her|their|our)\b.{1,60}?\b(?:is|are|was|were|has|have)\b|i(?:['’]m| am| live| have| work"
    r"| said)\b|(?:you should|use)\b|[A-Z]\w+(?: \w+){0,2} (?:is|was|has|are)\b|(?:it['’]?s|it is|that['’]?s"
    r"|they are)\b.*\bnow\b|(?:der|die|das|mein|meine|unser|unsere|sein|seine|ihr|ihre)\b.{1,60}?"
    r"\b(?:ist|sind|hat|haben|kommt|heißt|beginnt|kostet)\b)"
)
"""The right answer with its topic or its beginning; `it is three, not four` has no lasting content."""
_SAID = caseless(r"\A\W*i (?:said|asked for|told you)\b.*\b(?:not|instead of|rather than)\b")
_CLARIFIES = caseless(
    r"\A\W*(?:(?:no|nope|sorry|wait|nein|nee|不对?|不是的?)[\s,，.!。！:：;—–-]*)*"
    r"(?:i meant?\b|i (?:was|am) (?:talking about|asking about|referring to)\b|ich mein(?:t?e)?\b"
    r"|我(?:说|问|指)的是|我的?意思是|我是[说指问])"
)
"""What the author meant by a request: it is about that request alone."""
_VERDICT = caseless(
    r"\b(?:is|was|are) (?:wrong|incorrect|not (?:right|correct|true))\b.*\b(?:is|it['’]?s|should|use)\b"
)
_IDLE = caseless(
    r"\b(?:that['’]?s (?:fine|all|ok|okay|good|great|enough|it)|thanks|thank you|no (?:problem|worries|thanks|need"
    r"|idea|rush)|never ?mind|it['’]?s (?:fine|ok|okay|all right|good|not important|nothing)|"
    r"don['’]?t worry|not (?:now|yet|really|sure|today)|let['’]?s|i['’]?ll|i will)\b"
)
_CHINESE_WRONG = expression(
    r"\A\W*(?:不对|不是的?|错了|不正确|(?:你|这(?:个|里)?)?(?:说|搞|弄|写|记|算|答|理解|翻)?(?:错了?|得?不对)"
    r"|你(?:误会|理解错)了?|我说的是|有误)[，,。.!！:：；\s]*(?P<rest>.*)",
    re.DOTALL,
)
_CHINESE_SAYS_RIGHT = expression(
    r"\A\W*(?!应该|是|要|有|在|还|这|那|它|就)[^，,。.!！]{1,12}?(?:应该)?(?:是|在|叫|有|要用|改)|现在(?:是|在|叫"
    r"|有|改)"
)
_CHINESE_RULE = expression(
    r"\A\W*(?:(?:请|好|好的|那|但是?|还有|另外|记住|拜托|麻烦|以后|下次|今后|从现在起|从现在开始|再说一遍"
    r"|我说过)[，,：:\s]*+){0,4}"
    r"(?:(?:回答|回复|答复|解释|写|说话|输出|总结|列|翻译|发)[^，。]{0,10}?(?:请|要|时|的时候|里)?(?:请)?(?:不要"
    r"|别|不许|不准|少|勿|必须|一律|始终|总是|用|要|简短|直接)"
    r"|(?:不要|别|不许|不准|禁止|请勿|千万别|少|不用)(?:再|总是?|每次都?|老是?|一直)?(?:给我|对我|跟我|在)?(?:回答"
    r"|回复|用|写|说|加|列|给|发|放|道歉|重复|叫我|编|猜|假设|问|翻译|啰嗦|解释|提|推荐|使用|输出|混用|分点|以|把)"
    r"|(?:永远|总是|始终|一律|每次|必须)(?:都|要|先|不要|别|请)?(?:用|以|先|给|写|回答|回复|加|注明|附))"
)
_CHINESE_FROM_NOW = expression(
    # what the author alone will do is no rule
    r"(?:以后|下次|今后|从现在起|从现在开始|以后请|往后)(?![，,]?(?:我|咱)[^你]*\Z)[^。]{0,20}?(?:请|要|别|不要|都|用|先|直接|少|必须|回答"
    r"|回复|叫)"
)
_ANSWER_GERMAN = (
    r"(?:gib|sprich|rechne|(?:antwort|schreib|erklär|formulier|fass|verwend|benutz|nutz|nenn|frag|sag|zeig|red|wiederhol"
    r"|entschuldig|übersetz|rund|zitier)e?)"
)
_FROM_NOW_GERMAN = r"(?:ab (?:jetzt|sofort|heute)|in zukunft|künftig|von jetzt an)"
_IN_ANSWERS = (
    r"(?:tabellen|emojis|smileys|listen|aufzählungen|floskeln|überschriften|anglizismen|englisch\w*|markdown|umlaute)"
    r"(?: (?:mehr|bitte|verwenden|benutzen|nutzen|in (?:deinen )?antworten))*"
)
_GERMAN_RULE = caseless(
    r"\A(?!.*\b(?:i|ich|wir|ihr|er|sie|man|soll\w*|will|wollen|kann|können|muss|müssen|darf|dürfen|werden?)\b)\W*"
    r"(?:(?:bitte|nein|und|aber|ok|also|das nächste mal|nächstes mal"
    rf"|(?P<from_now>{_FROM_NOW_GERMAN}))\b[\s,:!.]*){{0,4}}"
    rf"(?:(?(from_now)(?:{_ANSWER_GERMAN}\b|(?:\w+ ){{0,4}}(?:antworten|schreiben)\W*\Z)|(?!))"
    rf"|{_ANSWER_GERMAN}(?: (?:mir|mich|uns|bitte|doch|auf \w+))*"
    rf" (?:(?:immer|nie(?:mals)?|stets|nur noch)(?! (?:mehr|noch|wieder|weiter|nie)\b| auf\W*\Z)|{_FROM_NOW_GERMAN})"
    r" [^,:;]*\w[^,:;]*\Z"
    rf"|{_ANSWER_GERMAN}(?: (?:mir|uns|bitte|doch))* nicht (?:so|zu) (?:lang|kurz|viel|ausführlich|förmlich|kompliziert"
    r"|umständlich|technisch)\w{0,2}\W*\Z"
    rf"|(?:{_ANSWER_GERMAN}(?: (?:mir|uns|bitte|doch))* )?(?:keine?|nie|nicht so viele) {_IN_ANSWERS}\W*\Z"
    r"|(?:immer|nie(?:mals)?|stets|nicht (?:so|zu)) (?:\w+ ){1,3}(?:antworten|schreiben)\W*\Z"
    r"|nicht (?:duzen|siezen)\W*\Z"
    rf"|(?:duz|siez)e? (?:mich|uns)(?: (?:bitte|nicht|nie|doch|ruhig|einfach|immer|{_FROM_NOW_GERMAN}))*\W*\Z)"
)
_MIN_WORDS = 2
CORRECTION_OF_ANSWER = "a correction"
"""The form of a sentence that says what was wrong in one answer, and is no rule for others."""


def is_lead(plain: str) -> bool:
    """Return whether a sentence only says that something was wrong, so that the next says what is right."""
    while wrong := _WRONG.match(plain) or _CHINESE_WRONG.match(plain):
        plain = wrong["rest"]
        if not re.search(r"\w", plain):
            return True
    return False


def correction_in(plain: str, *, is_led: bool) -> str:
    """Return the form by which a sentence corrects the assistant; empty if it does not.

    `is_led`: the sentence before it only said that something was wrong.
    """
    is_bare = _BARE_RULE.match(plain)
    is_rule = (_RULE.match(plain) and not is_bare) or (_BLAMES.match(plain) and _AFTER.search(plain))
    is_of_request = _IDLE.search(plain) or _CLARIFIES.match(plain)
    if is_bare or is_lead(plain) or (is_of_request and not is_rule):
        return ""
    if (
        is_rule
        or _FROM_NOW.search(plain)
        or _CHINESE_RULE.match(plain)
        or _CHINESE_FROM_NOW.search(plain)
        or _GERMAN_RULE.match(plain)
    ):
        return "a rule for answers"
    wrong, chinese = _WRONG.match(plain), _CHINESE_WRONG.match(plain)
    is_correction = (
        _SAID.match(plain)
        or _VERDICT.search(plain)
        or (is_led and (_SAYS_RIGHT.match(plain) or _CHINESE_SAYS_RIGHT.search(plain)))
        or (wrong and len(wrong["rest"].split()) >= _MIN_WORDS and _SAYS_RIGHT.match(wrong["rest"]))
        or (chinese and len(chinese["rest"]) > _MIN_WORDS and _CHINESE_SAYS_RIGHT.search(chinese["rest"]))
    )
    return CORRECTION_OF_ANSWER if is_correction else ""


PINS_OF_A_KIND = 3
"""Most captured pins of one kind, such as names or phone numbers, in the core block: the newest."""
NOT_ADDRESSED = "not pinned: nothing shows that this name is meant for the agent"
NAME = "name"
LANGUAGES = (ENGLISH, CHINESE, GERMAN)
_NAMES = tuple(form for language in LANGUAGES for form in language.forms if form.is_pinned)
NAME_FORMS = frozenset(form.name for form in _NAMES)
_ADDRESSES = caseless(
    r"\b(?:hi|hello|hey|hiya|howdy|good (?:morning|afternoon|evening|day)|please|pls|thanks|thank you|nice to meet"
    r"|you (?:can|may|could|should)|from now on|for short|in (?:the )?future|by the way|btw|just call|fyi"
    r"|let me introduce|for the record|(?:just )?so you know)\b"
    r"|\b(?:hallo|moin|guten (?:morgen|tag|abend)|bitte|danke|übrigens|freut mich|du kannst|ab jetzt)\b"
    r"|你好|您好|嗨|哈喽|大家好|早上好|下午好|晚上好|请|麻烦|可以|以后|今后|就(?:好|行|成)|吧|幸会|很高兴|自我介绍"
    r"|顺便|对了"
)
_ASKS_NAME = caseless(
    r"\byour (?:full |first |last )?names?\b|\b(?:call|address) you\b|\bwho (?:are you|am i (?:talking|speaking))\b"
    r"|你(?:的)?(?:叫什么|名字)|称呼|叫你|您?贵姓|你是谁"
)


def clause_starts(plain: str) -> list[int]:
    """Return the offsets at which a main clause of the author may begin in a sentence, for all languages."""
    return list(dict.fromkeys(start for language in LANGUAGES for start in language.starts(plain)))


def is_for_agent(sentence: str, answer_before: str, *, has_courtesy: bool) -> bool:
    """Return whether a name is meant for the agent: with a greeting or request, or because the agent asked for it."""
    return has_courtesy or bool(_ADDRESSES.search(sentence)) or bool(_ASKS_NAME.search(answer_before))


def surplus_pins(pinned: Iterable[Memory]) -> frozenset[MemoryId]:
    """Return the pins over the limit of their kind, all but the newest `PINS_OF_A_KIND` of it.

    Only pins stated by the user in the forms of names and identifiers are limited.
    """
    counts, surplus = Counter[tuple[str, str]](), set[MemoryId]()
    for memory in sorted(pinned, key=newness, reverse=True):
        attributes = memory.line.attributes
        is_captured = attributes.provenance is Provenance.USER and memory.line.kind is Kind.ENTITY
        kind = attributes.scope, pin_kind(memory.text) if is_captured else ""
        counts[kind] += 1
        if kind[1] and counts[kind] > PINS_OF_A_KIND:
            surplus.add(memory.id)
    return frozenset(surplus)


def pin_kind(text: str) -> str:
    """Return the kind of pin that capture would make of a text: a name or a kind of identifier; empty if none."""
    starts = clause_starts(text)
    if identifier := identifier_in(text, starts):
        return identifier.what
    name = form_in(text, text, starts, _NAMES)
    return NAME if name and not name.reason else ""


CHARS_MAX = 500
"""Longer texts are not plain statements."""
_SINGLE = frozenset(
    ["my name is", "call me", "I live in", "I work at", "我叫", "我姓", "叫我", "我住在", "我在…工作", "ich heiße"]
) | {"nenn mich", "ich wohne in", "ich arbeite bei"}
_GERMAN_OWN = "mein … ist"
_OWN = frozenset({"my … is", "我的…是", "我的…叫", _GERMAN_OWN})
_AT_WORK = frozenset({"I work at", "我在…工作"})
_NEW = caseless(r"\bneue[rs]?\b")
_JETZT = caseless(r"\bjetzt\b")
_ONE = word_set("""
arbeitgeber arzt auto bank chef chefin firma hausarzt hausärztin kennzeichen lehrer lehrerin schule steuerberater
tierarzt tierärztin vermieter vermieterin wohnung zahnarzt zahnärztin
""")
"""German nouns of which a new one replaces the old one."""
_TITLED = caseless(r"\s*(?:frau|herr|familie|dr\b\.?)\s")
_GERMAN_NOUN = expression(r"\s*(?:(?:eine?|die|der|das) |[A-ZÄÖÜ])")
"""Without it, what is new is a state: *mein Chef ist jetzt krankgeschrieben*."""
_SHAPES = (
    ("called", caseless(r"\s*(?:called|named)\b")),
    ("a", caseless(r"\s*an?\b")),
    ("in", caseless(r"\s*(?:in|at|from)\b")),
    ("name", expression(r"\s*(?:[A-Z][\w'’.-]*|[\u4e00-\u9fff])")),
)
"""Single-valued statements about a relative: a sister has one name and one place, but many allergies."""
_UNNAMED = expression(
    r"\s*(?:an?|the|my|our|[Aa]|[Tt]he) [^A-Z]*\Z|\s*ein(?:er|em) "
    r"|\s*[^，。]{0,4}[0-9一二三四五六七八九十][楼层]|\s*[^，。]+[里中]\W*\Z"
)
"""A place or employer that is described, not named: `a small flat` does not replace a town, nor a town a flat."""
_OF_AUTHOR = caseless(r"\b(?:my|i|call me|ich|meine?|unsere?|nenne? mich)\b|我")
"""Matches every statement in one of the forms."""
_DESCRIBES = expression(r"的[。.!！\s]*\Z")


def with_succession(book: Book, lines: Iterable[RetainedLine], day: date) -> list[RetainedLine]:
    """Return the lines stated on a day, each superseding the valid memories that it is a newer version of."""
    lines = list(lines)
    slots = {line.id: slots_of(line.text) if is_by_person(line) else frozenset() for line in lines}
    if not any(slots.values()):
        return lines
    # The expensive `book.superseded` would add versions that differ only in a number; here the newest is first anyway.
    superseded = {short for memory in book.memories.values() for short in memory.line.attributes.supersedes}
    valid = [
        memory
        for memory in book.memories.values()
        if memory.recorded <= day and is_by_person(memory.line) and short_id(memory.id) not in superseded
    ]
    valid.sort(key=newness, reverse=True)
    return [_superseding(line, slots[line.id], valid) for line in lines]


def is_by_person(line: RetainedLine) -> bool:
    """Return whether a person stated a line."""
    return line.attributes.provenance in BY_PEOPLE


Slots = frozenset[tuple[str, str]]
"""Slots with a single value: the name of a form, and the noun or shape of its value."""


def slots_of(text: str, *, is_older: bool = False) -> Slots:
    """Return the single-valued slots that a statement fills; empty if it has none, or also states something else.

    `is_older`: it is compared with a newer statement, which shows what its values are.
    """
    slots = set[tuple[str, str]]()
    for language in LANGUAGES if len(text) <= CHARS_MAX else ():
        for start in language.starts(text):
            heads = ((form, form.head.match(text, start)) for form in language.forms)
            form, head = next(((form, head) for form, head in heads if head), (None, None))
            if form and head:
                if (slot := _slot(form, head, text, is_older=is_older)) is None:
                    return frozenset()
                slots.add(slot)
    return frozenset(slots)


def _slot(form: StatementForm, head: TextMatch, text: str, *, is_older: bool) -> tuple[str, str] | None:
    named, value = head.groupdict(), text[head.end() :]
    if form.name in _SINGLE:
        place = named.get("place") or value
        is_filled = form.holds(head, value) and not is_limited_in_time(place)
        is_filled = is_filled and (form.name not in _AT_WORK or is_workplace(place))
        return (form.name, "unnamed" if _UNNAMED.match(place) else "") if is_filled else None
    noun = (named.get("noun") or named.get("kin") or "").casefold()
    if not MANY.search(noun):
        noun = noun.removeprefix("new ")
    if form.name not in _OWN or not is_of_type(noun, value):
        return None
    if ATTRIBUTE.match(noun):
        return form.name, noun
    shape = next((name for name, pattern in _SHAPES if pattern.match(value)), "")
    if form.name == _GERMAN_OWN:
        # a capital alone says nothing, since any German noun has one: a teacher may be a mother, too
        start = _GERMAN_NOUN.match(value)
        # *mein Chef ist jetzt Vegetarier*: after `jetzt` only an article shows another thing
        is_new = start and (_NEW.search(head[0]) or (_JETZT.search(head[0]) and start[0].endswith(" ")))
        is_name = _TITLED.match(value) or (noun in _ONE and (is_older or is_new))
        return (form.name, f"{noun} name") if is_name else None
    return (form.name, f"{noun} {shape}") if shape and not _DESCRIBES.search(value) else None


def _superseding(line: RetainedLine, slots: Slots, valid: Sequence[Memory]) -> RetainedLine:
    """Return the line superseding the newest memory of its slots; a pinned line also the newest pinned memory.

    A name that is not pinned supersedes no pinned memory: it may be a quotation.
    """
    if not slots:
        return line
    is_pinned = line.attributes.is_pinned
    is_bare_name = not is_pinned and any(form in NAME_FORMS for form, _ in slots)
    eligible = [memory for memory in valid if not (is_bare_name and memory.line.attributes.is_pinned)]
    newest = next((memory for memory in eligible if _is_older(memory, line, slots)), None)
    pins = [memory for memory in eligible if is_pinned and memory.line.attributes.is_pinned]
    pin = next((memory for memory in pins if _is_older(memory, line, slots)), None)
    older = dict.fromkeys(short_id(memory.id) for memory in (newest, pin) if memory is not None)
    supersedes = joined(line.attributes.supersedes, older)
    return replace(line, attributes=replace(line.attributes, supersedes=supersedes))


def _is_older(memory: Memory, line: RetainedLine, slots: Slots) -> bool:
    return (
        memory.scope == line.attributes.scope
        and memory.id != line.id
        and memory.line.network is line.network
        # a fast check: few of thousands of memories are about their author, and `slots_of` tries all forms
        and _OF_AUTHOR.search(memory.text) is not None
        and bool(older := slots_of(memory.text, is_older=True))
        and older <= slots
    )


def is_name(memory: Memory) -> bool:
    """Return whether a memory says the name of its author, by which agents may call the author in their texts."""
    return memory.line.kind is Kind.ENTITY and is_by_person(memory.line) and pin_kind(memory.text) == NAME
