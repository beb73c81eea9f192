"""Capture of memories from a message by rules, without a model: the entry point of this package.

A statement counts only if the other sentences of its message are of a closed list: greetings, thanks, yes and no, plain
statements in the first person, and after it a plain request that is not about the text itself. Next to any other
sentence, the statement may be quoted, role play, or text to work on.
"""

from collections.abc import Iterator, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.capture.corrections import (
    CORRECTION_OF_ANSWER,
    LANGUAGES,
    NAME_FORMS,
    NOT_ADDRESSED,
    clause_starts,
    correction_in,
    is_for_agent,
    is_lead,
)
from memoryd.domain.memories.capture.forms import (
    FormMatch,
    form_in,
    gate,
    is_about_text,
    is_clean,
    is_own_clause,
    why_unreal,
)
from memoryd.domain.memories.capture.identifiers import IDENTIFIERS, identifier_in, why_not_kept
from memoryd.domain.memories.capture.rejections import (
    DroppedItem,
    why_each_unfit,
    why_not_plain,
    why_not_stated,
    why_unfit,
)
from memoryd.domain.memories.capture.revisions import revision_gate
from memoryd.domain.memories.kinds import Kind, ShortId, default_importance
from memoryd.domain.memories.line import Attributes, Provenance, RetainedLine
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.sentences import BLANK, SpokenSentence, plain_text, spoken_sentences

LINES_MAX = 2
"""Most non-blank lines of a message; a longer message may be pasted."""
_COURTESY = caseless(
    r"\W*(?:(?:nice to meet you|hi|hello|hey|hiya|howdy|there|all|everyone|again"
    r"|good (?:morning|evening|afternoon|night|day)|thanks"
    r"|thank you|so much|very much|a lot|for everything|and|yes|yeah|yep|no|nope|ok|okay|sure|right|great|cool|nice"
    r"|perfect|fine|good|bye|see you|please|sorry|welcome|by the way|btw|fyi|well|oh|actually|never"
    r"|just so you know|you know|cheers|as well"
    r"|hallo|moin|servus|guten (?:morgen|tag|abend)|gute nacht|danke(?: dir| schön| sehr)?|vielen dank|bitte|ja|nein"
    r"|gut|super|prima|alles klar|tschüss|bis (?:später|dann|morgen)|lg|freut mich|übrigens"
    r"|你好|您好|大家好|嗨|哈喽|早上好|下午好|晚上好|早|谢谢|多谢|感谢|你|您|了|是的?|对|不|好的?|好吧|行|嗯|哦|再见|晚安|抱歉|对不起|对了|顺便说一下|初次见面"
    r"|请多关照|很高兴认识)(?![A-Za-z])\W*){1,6}+"
)
_INTRODUCES = caseless(
    r"\W*(?:hi|hello|hey|hiya|good (?:morning|evening|afternoon)|hallo|moin|servus|guten (?:morgen|tag|abend)"
    r"|你好|您好|大家好|嗨)\W+(?:(?:i['’]?m|i am|ich bin) (?-i:[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?)"
    r"|我(?:是|叫)[\u4e00-\u9fff]{2,4})\W*"
)
_OF_TEXT = caseless(
    r"\b(?:this|that|these|those|it|above|below|texts?|languages?|grammar|grammatical\w*|tenses?|translat\w+|sounds?"
    r"|style|tone|sentences?|phrases?|words?|wording|spelling|spelled|preposition|short|shorter|longer|formal\w*|polite"
    r"|correct|correctly|mistakes?|errors?|typos?|version|drafts?|rewrite|rephrase|paraphrase|e-?mails?|mails?|letters?"
    r"|messages?|bio|biography|essay|poem|story|song|dialog(?:ue)?|continue|repeat|classify|sentiment|rate|title"
    r"|headline|rhyme|paragraph|applicant|candidate|english|german|french|spanish|italian|chinese|japanese|korean"
    r"|russian|portuguese|latin|deutsch|francais|français|answer (?:with|yes)|what would you (?:say|reply|answer))\b"
    r"|\b(?:satz|sätze|wort|wörter|texte?|diese[mnrs]?|deutsch|englisch|französisch|grammatik\w*|rechtschreibung|fehler"
    r"|richtig|korrekt|übersetz\w*|formulier\w*|korrigier\w*|klingt|brief|gedicht|geschichte|entwurf)\b"
    r"|英文|英语|中文|日语|法语|德语|日文|韩语|语法|时态|翻译|句|这样|这段|这个|这篇|这话|对不对|对吗|通顺|润色|改|写|文字|语气|简短|短一点|续|下文|作文|念|读|听起来|怎么说|怎么讲|标点|错"
)
_ON_TEXT = caseless(
    r"\b(?:texts?|grammar|grammatical\w*|tenses?|translat\w+|sounds?|sentences?|phrases?|wording|spelling|spelled"
    r"|preposition|rewrite|rephrase|paraphrase|repeat|classify|sentiment|rhyme|paragraph|correct|correctly|mistakes?"
    r"|typos?|shorter|longer|answer (?:with|yes)|what would you (?:say|reply|answer)|what does (?:this|that|it) mean)\b"
    r"|\b(?:satz|sätze|texte?|grammatik\w*|rechtschreibung|übersetz\w*|formulier\w*|korrigier\w*|klingt)\b"
    r"|语法|时态|翻译|句|这样|这段|这篇|这话|通顺|润色|改|语气|续|怎么说|怎么讲|标点|错|念|读"
)
"""Words of a request by which it may be about the text beside it."""
_ORDER = caseless(
    r"\W*(?:(?:please|pls|so|then|now|and|also|just)[, ]+){0,3}+(?:help|recommend|suggest|give|show|find|tell me|book"
    r"|plan|remind|leave|avoid|look|search|let me know|order|cook|list"
    r"|explain|use|don['’]t (?:use|suggest|recommend))\b"
    r"|\W*(?:请|那)?(?:帮我|麻烦|给我|推荐|介绍|安排|提醒我|告诉我|别推荐|不要推荐)"
)


class SentenceContext(Enum):
    """Role of a sentence beside a statement."""

    COURTESY = "courtesy"
    OWN = "own"
    REQUEST = "request"
    OTHER = "other"


def context_of(sentence: SpokenSentence, *, has_form: bool = False) -> SentenceContext:
    """Return the role of a sentence for the others in its message. `has_form`: the sentence is itself a statement."""
    plain = sentence.plain
    if _COURTESY.fullmatch(plain) or is_lead(plain):
        return SentenceContext.COURTESY
    why = why_not_plain(sentence)
    if why == SkipReason.QUESTION or _ORDER.match(plain):
        return SentenceContext.OTHER if _OF_TEXT.search(plain) else SentenceContext.REQUEST
    if why in (SkipReason.CONDITION, SkipReason.REPORTED):
        return SentenceContext.OTHER
    is_own = has_form or is_own_clause(plain) or _INTRODUCES.fullmatch(plain)
    return SentenceContext.OWN if is_own else SentenceContext.OTHER


def makes_unsafe(sentence: SpokenSentence) -> bool:
    """Return whether a revision beside this sentence may be another person's words, or text to work on.

    A request beside it is not unsafe, unless it is about text: corrections are often made in passing.
    """
    if context_of(sentence) is not SentenceContext.OTHER:
        return False
    why = why_not_plain(sentence)
    if why == SkipReason.QUESTION or _ORDER.match(sentence.plain):
        return _ON_TEXT.search(sentence.plain) is not None
    return bool(why) or is_about_text(sentence.plain)


def why_not_in_context(text: str, kinds: Sequence[SentenceContext], at: int) -> str:
    """Return the reason why the sentence `at` does not count beside the others of its message; empty if it counts."""
    if is_laid_out(text):
        return SkipReason.LAID_OUT
    harmless = {SentenceContext.COURTESY, SentenceContext.OWN}
    is_harmless = harmless.issuperset(kinds[:at]) and SentenceContext.OTHER not in kinds[at + 1 :]
    return "" if is_harmless else SkipReason.OTHER_COMPANY


def is_laid_out(text: str) -> bool:
    """Return whether a text has many lines, a line of only quotation or code, or a greeting below its first line."""
    lines = [line for line in plain_text(text).splitlines() if line.strip()]
    return (
        len(lines) > LINES_MAX
        or any(not line.strip(BLANK + " \t") for line in lines)
        or any(_COURTESY.fullmatch(line) and line.rstrip().endswith((",", "，")) for line in lines[1:])
    )


_IDENTIFIER = expression(r"\d{6,}|\S+@\S+\.\w+")
ITEMS_MAX = 6
"""Most memories of one message."""
IDENTIFIER_IMPORTANCE = 0.6
CORRECTION_IMPORTANCE = 0.6
"""Of what was wrong in one answer: less than that of a rule for all answers, which each session gets."""
OWN_IDENTIFIER_IMPORTANCE = 0.95


class CapturedItem(Struct, frozen=True):
    """A memory stated in a message."""

    kind: Kind
    text: str
    """The statement verbatim, with secrets masked."""
    form: str
    """Name of the form of statement that matched."""
    is_pinned: bool = False
    importance: float | None = None
    """0 to 1; None for the default of its kind."""
    provenance: Provenance = Provenance.USER
    note: str = ""
    """Remark for a person."""
    entities: tuple[str, ...] = ()
    supersedes: tuple[ShortId, ...] = ()
    """Memories that it replaces."""
    contradicts: tuple[ShortId, ...] = ()
    """Memories, one of which it may revise."""

    @property
    def corrects_answer(self) -> bool:
        """Whether it corrects one answer, and may thereby revise a memory that the answer repeated."""
        return self.kind is Kind.LESSON and self.form == CORRECTION_OF_ANSWER

    @property
    def weight(self) -> float:
        """Importance, 0 to 1."""
        return default_importance(self.kind) if self.importance is None else self.importance

    def line(self, scope: str = "") -> RetainedLine:
        """Return the memory as a line; raises ValueError if it cannot be one."""
        attributes = Attributes(
            importance=self.importance,
            scope=scope,
            contradicts=self.contradicts,
            supersedes=self.supersedes,
            provenance=self.provenance,
            is_pinned=self.is_pinned,
        )
        return RetainedLine(self.kind, self.text, self.entities, attributes)


class CaptureVerdict(Struct, frozen=True):
    """Captured (`items`) and dropped items of a message."""

    items: tuple[CapturedItem, ...] = ()
    dropped: tuple[DroppedItem, ...] = ()
    gate: str = ""
    """The marker in the message for which it was examined; empty if it was not examined."""
    decided_by: str = "rules"
    """`rules`, or the identity of the text model that decided."""

    def limit(self) -> "CaptureVerdict":
        """Return the verdict with at most `ITEMS_MAX` distinct memories; identifiers come first."""
        unique: dict[str, CapturedItem] = {}
        for item in self.items:
            unique.setdefault(item.text, item)
        ordered = sorted(unique.values(), key=lambda item: item.kind is not Kind.ENTITY)
        why = SkipReason.TOO_MANY.format(ITEMS_MAX)
        surplus = [DroppedItem(item.text, why, item.form) for item in ordered[ITEMS_MAX:]]
        return replace(self, items=tuple(ordered[:ITEMS_MAX]), dropped=(*self.dropped, *surplus))

    def from_agent(self) -> "CaptureVerdict":
        """Return the verdict for a text worded by an agent: unpinned, and with default importance."""
        kept = tuple(
            replace(
                item,
                is_pinned=False,
                importance=None,
                provenance=Provenance.AGENT if item.provenance is Provenance.USER else item.provenance,
            )
            for item in self.items
        )
        return replace(self, items=kept)

    def without(self, items: Sequence[DroppedItem]) -> "CaptureVerdict":
        """Return the verdict with kept items moved to the dropped ones, by their texts."""
        texts = {item.text for item in items}
        kept = tuple(item for item in self.items if item.text not in texts)
        return replace(self, items=kept, dropped=(*self.dropped, *items))


def with_model(rules: CaptureVerdict, items: Sequence[CapturedItem | DroppedItem], model: str) -> CaptureVerdict:
    """Return a verdict with the items of the rules and of a model; an identifier kept by the rules is not repeated."""
    known = " ".join(item.text for item in rules.items)
    kept = [
        item
        for item in items
        if isinstance(item, CapturedItem) and not any(number in known for number in _IDENTIFIER.findall(item.text))
    ]
    dropped = [item for item in rules.dropped if item.form]
    dropped += [item for item in items if isinstance(item, DroppedItem)]
    return CaptureVerdict((*rules.items, *kept), tuple(dropped), rules.gate, model)


FAILURE_CHARS = 500
"""Length limit of the text of a failure."""
SHOWN_CHARS = 200
_MIN_REPEATED = 12
RULES = frozenset(form.name for language in LANGUAGES for form in language.forms if form.kind is Kind.LESSON)
"""Forms of lessons that do not correct an answer, and are treated as other statements."""
_REMEMBER_FORMS = frozenset(language.remember.name for language in LANGUAGES)
"""Forms by which the author asks to remember something."""


def marker_of(text: str, *, has_answer: bool) -> str:
    """Return the marker of a statement or the cue of a revision in a message; empty if it need not be examined."""
    return gate(text, has_answer=has_answer) or revision_gate(text, has_answer=has_answer)


def capture_message(
    text: str, *, answer_before: str = "", is_direct: bool = True, identifiers: bool = True
) -> CaptureVerdict:
    """Return the memories in a message of the user, and the dropped parts with the reasons.

    Secrets in the message must be masked already. `answer_before` is the answer that the message may correct. Outside a
    direct chat nothing is pinned. Without `identifiers` no number or address is kept.
    """
    marker = marker_of(text, has_answer=bool(answer_before.strip()))
    if not marker:
        return CaptureVerdict()
    if why := why_unfit(text):
        return CaptureVerdict(dropped=(DroppedItem(text[:SHOWN_CHARS], why),), gate=marker)
    items = list(_items(text, answer_before, identifiers=identifiers))
    items = items or [DroppedItem(text[:SHOWN_CHARS], SkipReason.NO_FORM)]
    kept = [item if is_direct else replace(item, is_pinned=False) for item in items if isinstance(item, CapturedItem)]
    dropped = [item for item in items if isinstance(item, DroppedItem)]
    return CaptureVerdict(tuple(kept), tuple(dropped), marker).limit()


def distillable(text: str) -> list[str]:
    """Return the sentences of a message that a text model may see: without secrets or other people's words.

    The other sentences of the message must be of the same closed list as for the rules.
    """
    if why_unfit(text):
        return []
    sentences = spoken_sentences(text)
    items = [_item(sentence) for sentence in sentences]
    kinds = _contexts(sentences, items)
    texts = [
        sentence.plain.replace(BLANK, "").strip()
        for at, (sentence, unfit) in enumerate(zip(sentences, why_each_unfit(sentences), strict=True))
        if not (unfit or why_not_plain(sentence) or why_unreal(sentence.plain) or why_not_in_context(text, kinds, at))
        and kinds[at] not in (SentenceContext.COURTESY, SentenceContext.REQUEST)
        and not (isinstance(dropped := items[at], DroppedItem) and dropped.reason == SkipReason.NOT_TO_PASS_ON)
    ]
    return list(filter(None, texts))


def capture_failure(text: str, tool: str = "") -> CaptureVerdict:
    """Return the memory of a failure that an agent's loop reports, prefixed with the name of a failed `tool`."""
    failure = " ".join(text.split())[:FAILURE_CHARS]
    if not failure:
        return CaptureVerdict()
    item = CapturedItem(Kind.FAILURE, f"{tool}: {failure}" if tool else failure, "failure", provenance=Provenance.TOOL)
    return CaptureVerdict((item,), gate="failure")


def _items(text: str, answer_before: str, *, identifiers: bool) -> Iterator[CapturedItem | DroppedItem]:
    sentences, answer = spoken_sentences(text), _fold(answer_before)
    items, is_led = list[CapturedItem | DroppedItem | None](), False
    for sentence in sentences:
        items.append(_item(sentence, is_led=is_led, has_answer=bool(answer), identifiers=identifiers))
        is_led = bool(answer) and is_lead(sentence.plain)
    kinds = _contexts(sentences, items)
    for at, (sentence, item, unfit) in enumerate(zip(sentences, items, why_each_unfit(sentences), strict=True)):
        if not isinstance(item, CapturedItem):
            if item is not None:
                yield item
            continue
        why = unfit or _why_not(sentence, item, answer)
        if not why and _is_stated(item) and not (at == 0 and item.form in _REMEMBER_FORMS):
            why = why_not_in_context(text, kinds, at)
        if why:
            yield DroppedItem(item.text, why, item.form)
            continue
        others = [(kinds[place], items[place]) for place in range(len(items)) if place != at]
        # several of the author's own numbers in one message are all meant for the agent
        is_alone = all(
            kind is SentenceContext.COURTESY or (_is_number(item) and _is_number(other)) for kind, other in others
        )
        if not item.is_pinned or not is_alone:
            yield replace(item, is_pinned=False)
            continue
        has_courtesy = any(kind is SentenceContext.COURTESY for kind, _ in others)
        if item.form in NAME_FORMS and not is_for_agent(sentence.plain, answer_before, has_courtesy=has_courtesy):
            item = replace(item, is_pinned=False, note=NOT_ADDRESSED)
        yield item


def _why_not(sentence: SpokenSentence, item: CapturedItem, answer: str) -> str:
    """Return the reason why a sentence does not state what its form says; empty if it does."""
    is_stated, folded = _is_stated(item), _fold(sentence.text)
    why = why_not_plain(sentence) if is_stated else why_not_stated(sentence)
    if not why and is_stated and item.form not in _REMEMBER_FORMS:
        why = why_unreal(sentence.plain)
    is_repeated = len(folded) >= _MIN_REPEATED and folded in answer
    return why or (SkipReason.FROM_ANSWER if is_repeated else "")


def _is_number(item: CapturedItem | DroppedItem | None) -> bool:
    return isinstance(item, CapturedItem) and item.is_pinned and item.form in IDENTIFIERS


def _contexts(
    sentences: Sequence[SpokenSentence], items: Sequence[CapturedItem | DroppedItem | None]
) -> list[SentenceContext]:
    return [context_of(sentence, has_form=_is_stated(item)) for sentence, item in zip(sentences, items, strict=True)]


def _is_stated(item: CapturedItem | DroppedItem | None) -> bool:
    return isinstance(item, CapturedItem) and (item.kind is not Kind.LESSON or item.form in RULES)


def _item(
    sentence: SpokenSentence, *, is_led: bool = False, has_answer: bool = False, identifiers: bool = True
) -> CapturedItem | DroppedItem | None:
    """Return the item of a sentence by its form alone; None if it has no form."""
    text, plain = sentence.text, sentence.plain
    starts = clause_starts(plain)
    if identifier := identifier_in(plain, starts):
        why = why_not_kept(plain, identifier, starts) or ("" if identifiers else SkipReason.IDENTIFIERS_OFF)
        if why:
            return DroppedItem(text, why, identifier.what)
        weight = OWN_IDENTIFIER_IMPORTANCE if identifier.is_own else IDENTIFIER_IMPORTANCE
        return CapturedItem(Kind.ENTITY, text, identifier.what, identifier.is_plain, weight)
    statement = _statement(text, plain)
    if statement and not statement.reason:
        is_pinned = statement.form.is_pinned and statement.is_first and is_clean(plain, 0)
        return CapturedItem(statement.form.kind, text, statement.form.name, is_pinned)
    if correction := correction_in(plain, is_led=is_led):
        if has_answer:
            importance = CORRECTION_IMPORTANCE if correction == CORRECTION_OF_ANSWER else None
            return CapturedItem(Kind.LESSON, text, correction, importance=importance)
        return DroppedItem(text, SkipReason.NOTHING_CORRECTED, correction)
    return None if statement is None else DroppedItem(text, statement.reason, statement.form.name)


def _statement(text: str, plain: str) -> FormMatch | None:
    """Return the first form of a sentence that holds, else the first with a reason why it does not."""
    stated = [form_in(text, plain, language.starts(plain), language.forms) for language in LANGUAGES]
    requested = [form_in(text, plain, [0], [language.remember]) for language in LANGUAGES]
    return min(filter(None, (*stated, *requested)), key=lambda form: bool(form.reason), default=None)


def _fold(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。!！ ")
