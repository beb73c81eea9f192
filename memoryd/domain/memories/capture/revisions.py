"""Sentences that say that something has changed: the old value, the new value, and the thing.

A sentence counts by a cue, from closed classes in three languages: an explicit correction, not X but Y, a negation,
something given up, from X to Y, a change to Y, now, again, a new one, and a reply to a wrong answer; otherwise by any
word of change. The memory that it revises is searched in the book; alone the sentence says nothing.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.capture.cues import (
    ANSWER,
    CHANGE,
    CORRECTION,
    FROM_TO,
    FROM_WHEN,
    GERMAN_VERB,
    NEWS,
    NO_LONGER,
    NOT_BUT,
    OTHERWISE,
    SLIP,
    cues_in,
    has_word_of_change,
    strip_leads,
    without_light_verb,
)
from memoryd.domain.memories.capture.forms import why_unreal
from memoryd.domain.memories.capture.rejections import DroppedItem, why_each_unfit, why_not_plain, why_unfit
from memoryd.domain.memories.capture.values import TIMES, content, values_in
from memoryd.domain.memories.facts.values import HAN_SIGN, IRREGULAR, PRESENT, WEEKDAY
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.sentences import SpokenSentence, spoken_sentences

_INSTEAD = caseless(r"\W*(?:it|that|she|he|they)(?:['’](?:s|re)| is| are)\b|\W*(?:而是|应该是|现在是|是)")
PARTS = expression(r"[,;，；]\s*|\s(?:and|but)\s")
_NEAR = 12
"""Number of characters at the beginning of a statement that determine its script."""
_SUBJECT_CHARS = 120
_WORD = expression(r"[\w'’.-]+|[,;:]")
_VERB = caseless(
    r"(?:is|are|was|were|am|has|have|had|do|does|did|can|could|will|would|should|must|may|might|isn['’]t|aren['’]t"
    r"|wasn['’]t"
    r"|weren['’]t|doesn['’]t|don['’]t|didn['’]t|hasn['’]t|haven['’]t|can['’]t|won['’]t|\w+['’](?:re|ve|m|ll|d)|no"
    r"|not|now|never|always"
    r"|usually|got|went|came|took|left|became|moved|began|made|gave|on|in|at|by|with|from|through|via|under|until"
    rf"|{GERMAN_VERB}|um|jetzt"
    r"|between|to|that|which|who|need|run|come|go|live|work|use|take|get|open|close|start|meet|keep|cost|[,;:])\Z"
)
"""A word that is only a verb, or that follows one: a preposition, an adverb."""
_BEFORE_NOUN = caseless(r"(?:the|an?|my|our|his|her|its|their|your)\Z")
_BE = caseless(r"(?:is|are|was|were|has|have|had|isn['’]t|aren['’]t|wasn['’]t|weren['’]t)\Z")
_PRESENT = caseless(rf"(?:{PRESENT})\Z")
_PAST = expression(r"[a-z]{2,}ed\Z")
_LIKE_VERB = expression(r"[a-z]{2,}(?:s|ed)\Z")
_HAN_VERB = expression(
    r"(?<!的)(?:部署|托管|存放|安排|位于|主持|负责|推迟|提前|延期|调[到成整]|变[成为了]|放在|开始|现在|已经|以后|交给)"
    r"|要(?=[去在到做交])|[是在由叫用归找订吃喝坐住做不没换改搬为从，,：:；]"
)
_MOVES_IT = caseless(
    r"\b(?:moved|changed|shifted|raised|lowered|brought|postponed|extended|shortened|increased|reduced|pushed|put)"
    r"(?: back| forward| up| down)? (?:the|our|its|their|my|his|her)\b"
)
_GOES = caseless(r"\b(?:it|he|she|they) (?:goes|went)(?= (?:to|on|in|at|by|with|from|via|through|back)\b)")
_CONTRAST = caseless(r"not [^,;]{1,60}[,;] ?(?:but |it|he|she|they|her|his|their|the|my|our)")
_DONE = expression(r"了[。.！!～~\s]*\Z")
_FUTURE = caseless(
    r"\b(?:will|won['’]t|shall|might|(?-i:may)|going to|gonna|planning|plans? (?:to|on)|want(?:s|ed)? to"
    r"|intend\w*|about to|soon|think(?:s|ing)? (?:about|of)|consider(?:s|ing)?|discuss(?:es|ing)?|debat(?:e|es|ing)"
    r"|ponder(?:s|ing)?|weigh(?:s|ing)|toying|tempted|hop(?:e|es|ing) to|wish(?:es)?|tr(?:y|ies|ied|ying) (?:to|\w+ing)"
    r"|(?:would|['’]d) (?:like|love|prefer|rather)|rumou?rs?|supposedly|allegedly|word (?:is|has it)"
    r"|next (?:week|month|year|time|monday"
    r"|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|autumn|winter))\b|['’]ll\b|\b(?:let['’]?s"
    r"|should|ought)\b"
    r"|(?<![不联理思感猜幻构])(?:想要?|打算|准备|计划|将要?|即将)(?=[\u4e00-\u9fff])|下(?:个?月|个?星期|周|年|学期)(?!起|开始)"
    r"|考虑|琢磨|犹豫|纠结|商量|在讨论|在想|要不要|希望|应该(?!是)|该换"
)
_EXPLAINS = expression(
    r"\bnot (?:that|because|just|only|so much)\b|不是(?:[不没]|因为|为了|说|只)"
    r"|不是[^，,；;]*[，,；;]\s*(?:而)?是(?:因为|为了|由于|[怕想忘]|觉得|我(?![家的们])|[^，,；;]*[不没])"
    r"|不是[^，,；;的]*[，,；;]\s*(?:而)?是[^，,；;]{2,}?(?:的[^，,；;。.的]{1,6}|[给跟对向叫让把被][^，,；;]{1,6}的)\W*\Z"
)
"""A reason or an actor, which is not a value."""
_PASSING = caseless(
    r"\b(?:temporar\w+|for (?:now|the moment|once|a while|today)|just (?:this|for) (?:once|today|week)|this time"
    r"|on (?:holiday|vacation)"
    r"|until (?:further notice|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b|暂时|临时"
    r"|谢谢|\bthanks\b|\bthank you\b|这次|这一次|今天|这周|本周|先(?=用|放|住)"
)
_NOT_DONE = caseless(
    r"\A[^,;]*\b(?:almost|nearly|came close to) (?:\w+ed|\w+ing|went|took|got|bought|sold|left|gave|chose|quit|made)\b"
    r"|\A[^,;]*\b(?:ha(?:ve|s|d)|is|are|am)(?:n['’]t| not) (?:\w+ed|\w+ing|gone|left|sold|bought)\b[^,;]*\byet\b"
    r"|\b(?:is|are|was|were|has|have)(?:n['’]t| not) \w+(?:ed|ing)\b[^,;]*\bagain\b"
    r"|(?:\b(?:is|are|am)(?:n['’]t| not)|['’](?:re|m|s) not) (?:switch|mov|chang|migrat)ing\b[^,;]*\bfrom\b[^,;]*\bto\b"
    r"|\bto\b[^,;]* and (?:then )?(?:straight |right )?back(?: again)?\W*\Z"
    r"|,? but (?:no|not really|(?:i|we|they|it) (?:did|have|has)n['’]t)\W*\Z"
    rf"|\bthis {WEEKDAY}\b[^,;]*\b(?:is|are|am)(?:n['’]t| not) \w+ing\b"
    rf"|\b(?:is|are|am)(?:n['’]t| not) \w+ing\b[^,;]*\bthis {WEEKDAY}\b"
    r"|\A[^,;]*\b(?:beinahe \w+t|noch nicht)\b|\A[^，,；]*(?:差点|险些|还没|先不)"
)
"""Changes that nearly happened, have not yet happened, failed again, were undone at once, or are for one day."""
_WAS_SO = caseless(
    r"(?:\A[^,;]*|\b(?:because|as|since|when) [^,;]*)\b(?:was|were) (?:(?:all|too|so|very|completely|fully) )*(?:closed"
    r"|shut|full|packed|crowded|sold out|ill|sick|away|busy|late|off|out|down|stuck|blocked|jammed|booked"
    r"|cancel+ed|on (?:leave|strike))\b(?! for (?:good|ever)| (?:to|of|down)\b)"
)
"""States at one past time."""
_HOLDS_ON = caseless(
    rf"\b(?:now|these days|nowadays|from now on|for good|any ?more|no longer|{PRESENT})\b|['’]ve\b"
    rf"|\b(?-i:[A-Z])\w+ (?!was\b)[a-z]+s\b|\b(?:i|we|they) (?!(?:{IRREGULAR})\b)[a-z]+(?<!ed)\b"
)
_DID_INSTEAD = caseless(
    r"\b(?:so|and) (?:i|we|he|she|they) (?!(?:mov|switch|chang|sign|join|hir)\w*\b|went (?:with|over|back)\b)"
    rf"(?:{IRREGULAR}|[a-z]{{2,}}ed)\b[^,;]*\binstead\W*\Z"
)
_FROM_TODAY = caseless(
    r"\b(?:as of|from|since|starting) (?:today|this (?:morning|week))(?: on)?\b|从(?:今天|明天|这周)(?:起|开始)"
)
_ADDS = caseless(
    r"\b(?:also|too(?=\W*\Z|[,;])|as well|(?<!has )(?<!have )(?<!got )another|second|additional|additionally"
    r"|in addition|besides|both|either|other one|the other(?= \w+['’]s))\b|另外|还有一|也(?!就|许)|另一|再加|又买|多了"
)
"""Words of addition: an additional value replaces nothing."""
_ORDERS = caseless(
    r"\A\W*(?:please|pls|use|make|do|don['’]?t|let|put|try|add|remove|delete|change|move|switch|rename|replace"
    r"|write|fix|go|run|keep|set|give|remind"
    r"|show|stop|never|always|undo|revert|start|continue|call|say|take|not|more|less|shorter|longer)\b"
    r"|\A\W*(?:请|别|不要(?!了)|帮|把|给我|用|改(?:成|为)|换(?:成|个)|写|加|删|去掉|再|试|重新|继续|停)"
)
_CONSEQUENCE = caseless(
    r",? so (?:i|we|you|he|she|they|it|that|there)\b.*\Z|[，,](?:所以|因此|每[天周]得|[我你他她]得).*\Z"
)
_OF_TASK = caseless(
    r"\b(?:this|that|these|those) (?:file|function|test|code|line|class|method|variable|branch|commit|page|slide"
    r"|paragraph|sentence|draft|version|one"
    r"|part|answer|example|text|email|mail|picture|image|list|table|chapter|title)\b|\bthe other (?:one|file|way)\b"
    r"|这(?:个|段|张|行|份|篇)(?!月|星期|周|学期)(?:文件|代码|函数|表|文|图|页|句)?"
)
_OTHER_ONE = caseless(r"\A\W*(?:the|de[mnrs]|die|das) (?:other|ander\w+)\b")
_IS_VALUE = caseless(r"(?:it|that)(?:['’]s| is| was| should be)(?: (?!(?:already|late|over)\b)[^\s,;]+){1,4}\W*")
AUTHOR = caseless(r"\W*(?:(?:i|we|ich|wir)(?:['’]\w+)?\b|我(?:们|家)?(?!的)|咱)")
_ELIDED = caseless(
    r"\W*(?:(?:just|finally) )?(?:sold|cancel+ed|ditched|gave (?:up|away)|got rid of|parted with|traded in) "
)
"""Statements about oneself without a subject."""
_DENIES = caseless(
    r"\W*(?:it|that|this|he|she|they|there)(?:['’](?:s|re)| is| are| was| were| do| does| did)?(?: not|n['’]t)\b"
    r"[^,;]{0,20}[,;]"
)
"""A denial of the answer."""
_PRONOUN = caseless(
    r"\W*(?:it|its|that|this|he|she|they|them|those|these|there|his|her|their|er|sie|es"
    # an article if a verb follows what may be a noun in lower case
    rf"|(?:die|der|das)(?= (?-i:[a-z]))(?! [\w-]+ (?:{GERMAN_VERB})\b))(?:['’]\w+)?\b|[他她它]"
)
STATES = caseless(
    r"\b(?:is|are|was|were|am|has|have|had|do|does|did|can)(?:n['’]t)?\b|['’](?:s|re|m|ve|d)\b"
    rf"|(?!\W*{WEEKDAY}\b)(?-i:\b[a-z]|\A\W*[A-Z])[a-z]+(?:s|ed)\b"
    r"|\b(?:got|went|came|took|quit|sold|gave|began|became|left|shut|chose|kept|made|ran|grew|rose|fell|broke|bought|slid)\b"
    rf"|\b(?:{GERMAN_VERB})\b"
    r"|\b(?:i|we|they|you|ich|wir) (?:now |only |always )?[a-z]+\b|[\u4e00-\u9fff]{2}"
)
"""A verb, which fragments (`not that file`) and names (`Dr. Weiss`) lack."""
_SAYS_SO = caseless(
    r",? (?:(?:the |my )?[\w']{2,20} )?(?:said|says) so\W*\Z"
    r"|,? (?:(?:the )?[\w' ]{2,30} )?(?:just |has |have |had )*(?:told|let) (?:me|us)(?: know)?(?: so"
    r"| that)?(?: today| yesterday)?\W*\Z"
    r"|(?<=[，,])?(?:医生|老师|公司|学校|物业|客服|银行|房东|领导|通知)(?:刚|刚刚|那边)?(?:说|通知"
    r"|确认)(?:了[，,])?(?=[^，,]{0,10}(?:改|换|变|不用|推迟|提前))"
)
"""The source of a statement that its author believes: after the statement, or of a change."""
_REST_STAYS = caseless(
    r"[,;，；]\s*(?:(?:and |but )?(?:(?:the |all the )?rest|everything else|all else)(?: (?:is|stays|remains))?"
    r" (?:(?:all )?the same|as (?:before|it was|is)|unchanged)|(?:and |but )?the rest (?:stays|remains)"
    r"|nothing else changes|sonst (?:(?:bleibt )?alles )?(?:wie (?:gehabt|bisher|immer)|gleich)"
    r"|der rest bleibt(?: gleich| so| wie gehabt)?"
    r"|(?:别的|其[他它余]的?)(?:都|全)?(?:照旧|不变|没变|一样))[\s.!。！]*\Z"
)
"""An aside that everything else stays the same."""
_BARE_NOT = expression(
    r"(?<![\w.@/_-])([Ii]s|[Aa]re|[Ww]as|[Ww]ere|do|[Dd]oes|[Dd]id|has|have|had|could|should|would)nt(?![\w@/_-]|\.\w)"
)
"""A negation without its apostrophe."""


class Revision(Struct, frozen=True):
    """A sentence that says that something has changed, parsed by its cues."""

    text: str
    plain: str
    """The sentence without leads, and with words that are not its author's blanked."""
    forms: tuple[str, ...]
    about: str = ""
    """Words for the thing; empty if it is a pronoun or the author alone."""
    thing: str = ""
    """The part of `about` that is the object of a change."""
    subject: str = ""
    """The words before the verb, for a sentence that does not begin with a pronoun, the author or a value."""
    context: str = ""
    """The text before a sentence that begins with a pronoun."""
    is_authors: bool = False
    """Whether it is about its author."""
    has_pronoun: bool = False
    """Whether it begins with a pronoun."""
    has_verb: bool = True
    old: tuple[str, ...] = ()
    """Old values, as far as it names them."""
    new: str = ""
    """New value, if it names one."""

    @property
    def form(self) -> str:
        """First of its forms."""
        return self.forms[0]

    @property
    def has_contrast(self) -> bool:
        """Whether a clause without an old value says more than the thing and the subject."""
        clauses = [clause for clause in PARTS.split(self.plain) if not any(old in clause for old in self.old)]
        return bool(content(" ".join(clauses)).difference(content(self.about), content(self.subject)))

    @property
    def rest(self) -> str:
        """The sentence without its old values."""
        rest = self.plain
        for old in self.old:
            rest = rest.replace(old, " ; ")
        return rest


def revision_gate(text: str, *, has_answer: bool) -> str:
    """Return the first cue of a message that may revise something; empty if it has none."""
    return next((revision.form for revision in revisions_of(text, has_answer=has_answer)), "")


def revisions_of(text: str, *, has_answer: bool = False) -> Iterator[Revision | DroppedItem]:
    """Yield the sentences of a message that revise something; one with a cue that does not as a dropped item."""
    if why_unfit(text):
        return
    sentences = _join(text)
    leads, context = frozenset[str](), ""
    for sentence, unfit in zip(sentences, why_each_unfit(sentences), strict=True):
        plain, own = strip_leads(sentence.plain)
        start = len(sentence.plain) - len(plain)
        before = f"{context} {sentence.plain[:start]}"
        context = f"{context} {sentence.plain}" if own else sentence.plain
        if not re.search(r"\w", plain):
            leads |= own
            continue
        # only for parsing: the kept text stays unchanged
        plain = _BARE_NOT.sub(r"\1n't", _REST_STAYS.sub("", plain))
        revision = _read(sentence.text, plain, own | leads, before, has_answer=has_answer)
        leads = own
        if revision is None:
            continue
        why = unfit or why_no_fact(SpokenSentence(sentence.text[start:], plain), is_answer=ANSWER in revision.forms)
        yield DroppedItem(sentence.text, why, revision.form) if why else revision


def corrects_alone(sentence: str) -> bool:
    """Return whether a sentence only corrects the text before it, without a verb: `no, Tuesday`."""
    return any(
        isinstance(revision, Revision) and ANSWER in revision.forms and not revision.has_verb
        for revision in revisions_of(sentence, has_answer=True)
    )


def why_no_fact(sentence: SpokenSentence, *, is_answer: bool) -> str:
    """Return the reason why a sentence states nothing that is valid from now on; empty if it does.

    A reply to an answer (`is_answer`) needs no verb.
    """
    plain = _SAYS_SO.sub("", sentence.plain)
    name, colon, value = plain.partition(":")
    if colon and (_MOVES_IT.search(name) or (STATES.search(name) and not STATES.search(value))):
        # a colon before a bare value, or after the object of a change, does not introduce another person's words
        plain = f"{name},{value}"
    if why := why_not_plain(SpokenSentence(sentence.text, plain)):
        return why
    if _is_of_past_time(plain):
        return SkipReason.UNREAL
    if _OTHER_ONE.match(plain) and not STATES.search(plain):
        return SkipReason.UNREAL
    # the consequences may be of the moment
    plain = _CONSEQUENCE.sub("", plain)
    lasting = _FROM_TODAY.sub("", _GOES.sub("", plain))
    if (
        _FUTURE.search(plain)
        or _NOT_DONE.search(plain)
        or _EXPLAINS.search(plain)
        or _PASSING.search(lasting)
        or why_unreal(lasting)
    ):
        return SkipReason.UNREAL
    _, comma, reason = plain.partition(", ")
    is_contrast = _CONTRAST.match(plain) or (
        plain.lower().startswith("not ") and STATES.search(reason) and not _ORDERS.match(reason)
    )
    is_order = _ORDERS.match(plain) and not _DONE.search(plain) and not is_contrast
    if is_order and comma and has_word_of_change(reason) and STATES.search(reason):
        # the reason for the order is a fact
        return why_no_fact(SpokenSentence(sentence.text, reason), is_answer=is_answer)
    return SkipReason.NO_VALUE if is_order or _OF_TASK.search(plain) or not (is_answer or STATES.search(plain)) else ""


def _is_of_past_time(plain: str) -> bool:
    """Return whether a sentence is about a state or an action of one past time, without a lasting change."""
    state = _WAS_SO.search(plain)
    is_over = state is not None and not _HOLDS_ON.search(f"{plain[: state.start()]} ; {plain[state.end() :]}")
    return is_over or _DID_INSTEAD.search(plain) is not None


def _join(text: str) -> list[SpokenSentence]:
    """Return the sentences; those separated by a semicolon are joined, and `it is …` with a denial before it."""
    joined = list[SpokenSentence]()
    for sentence in spoken_sentences(text):
        if joined and (joined[-1].text.endswith((";", "；")) or _continues(joined[-1], sentence)):
            last = joined.pop()
            plain = f"{last.plain.rstrip('.。;；!！')}; {sentence.plain}"
            sentence = SpokenSentence(f"{last.text} {sentence.text}", plain)
        joined.append(sentence)
    return joined


def _continues(before: SpokenSentence, sentence: SpokenSentence) -> bool:
    """Return whether a sentence says what `it` is now, and the sentence before it the old value."""
    if before.is_question or not _INSTEAD.match(sentence.plain):
        return False
    return any("old" in match.groupdict() for _, match in cues_in(strip_leads(before.plain)[0]))


def is_chinese(text: str) -> bool:
    """Return whether a statement is Chinese, by its beginning."""
    return HAN_SIGN.search(text[:_NEAR]) is not None


def subject_of(text: str) -> str:
    """Return the words before the verb of a plain statement, as far as they can be found without a grammar."""
    if is_chinese(text):
        text = FROM_WHEN.sub("", text)
        # without a verb, a value ends the subject: 周报周五交
        ends = [value.start for value in values_in(text) if value.start and value.kind in TIMES]
        return _HAN_VERB.split(text[: min(ends, default=len(text))], maxsplit=1)[0]
    subject = list[str]()
    words = _WORD.findall(text[:_SUBJECT_CHARS])
    for word, following in pairwise((*words, "")):
        is_noun = bool(subject) and _BEFORE_NOUN.match(subject[-1]) and word.isalpha()
        # a word with the ending of a verb and no verb after it: `the school bus leaves`
        is_like_verb = _LIKE_VERB.match(word) and (
            _PRESENT.match(word) or not (_BE.match(following) or _PRESENT.match(following) or _PAST.match(following))
        )
        if not is_noun and (_VERB.match(word) or (is_like_verb and any(map(content, subject)))):
            break
        subject.append(word)
    return " ".join(subject)


def _is_value_instead(plain: str, forms: Sequence[str], leads: frozenset[str], *, has_verb: bool) -> bool:
    """Return whether a sentence is hardly more than a value, after a slip or with a denied value."""
    if "slip" in leads and _IS_VALUE.fullmatch(plain):
        # a typed value is needed: `wait, it's in German` is not a place
        return bool(values_in(plain))
    return not has_verb and ("slip" in leads or NOT_BUT in forms)


def _form_by_words(plain: str, leads: frozenset[str], *, has_answer: bool, is_plain: bool) -> list[str]:
    """Return the form of a sentence without a cue, by its leads or a word of change; empty if it has none."""
    if "slip" in leads and is_plain and values_in(plain):
        return [SLIP]
    if "news" in leads:
        return [NEWS]
    return [OTHERWISE] if has_word_of_change(plain) or (has_answer and _DENIES.match(plain)) else []


def _read(text: str, plain: str, leads: frozenset[str], context: str, *, has_answer: bool) -> Revision | None:
    if _ADDS.search(plain):
        return None
    cues = list(cues_in(plain))
    forms = [form for form, _ in cues]
    # these forms name the parts of a change more exactly than CHANGE
    is_exact = not {FROM_TO, NO_LONGER, NOT_BUT}.isdisjoint(forms)
    named: dict[str, dict[str, None]] = defaultdict(dict)
    for form, match in cues:
        groups = {key: value.strip() for key, value in match.groupdict().items() if value}
        if form == NO_LONGER and "old" in groups:
            groups["old"] = without_light_verb(groups["old"])
        if not (is_exact and form == CHANGE) or "old" in groups:
            for key, value in groups.items():
                named[key][value] = None
    has_verb = bool(STATES.search(plain))
    is_authors, has_pronoun = bool(AUTHOR.match(plain) or _ELIDED.match(plain)), bool(_PRONOUN.match(plain))
    if "own" in leads:
        forms.insert(0, CORRECTION)
    elif has_answer and ("wrong" in leads or _is_value_instead(plain, forms, leads, has_verb=has_verb)):
        forms.insert(0, ANSWER)
    elif not forms:
        is_plain = not (is_authors or has_pronoun)
        forms = _form_by_words(plain, leads, has_answer=has_answer, is_plain=is_plain) if has_verb else []
    if not forms:
        return None
    is_bare = is_authors or has_pronoun or plain.startswith((*named["new"], *named["old"]))
    return Revision(
        text=text,
        plain=plain,
        forms=tuple(dict.fromkeys(forms)),
        about=" ".join(dict.fromkeys([*map(subject_of, named["subject"]), *named["about"]])).strip(),
        thing=" ".join(named["about"]).strip(),
        subject="" if is_bare else subject_of(plain),
        context=context if has_pronoun else "",
        is_authors=is_authors,
        has_pronoun=has_pronoun,
        has_verb=has_verb,
        old=tuple(named["old"]),
        new=next(iter(named["new"]), ""),
    )
