"""Sentences that say that something is no longer as it was: what they deny, what holds now, and of what.

A sentence counts by its cue, one of closed classes in three languages: a correction that says so, not X but Y, a
negation, what was given up, from X to Y, a change to Y, now, again, a new one, and what answers a wrong answer; else by
any word of change. What it revises is looked for among the memories; alone it says nothing.
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
    NOW,
    OTHERWISE,
    SLIP,
    behind_leads,
    cues_in,
    has_gone,
    has_word_of_change,
    says_wrong,
    without_light_verb,
)
from memoryd.domain.memories.capture.rejections import (
    MAKES,
    STATES,
    DroppedItem,
    why_each_unfit,
    why_no_fact,
    why_unfit,
)
from memoryd.domain.memories.capture.values import TIMES, content, values_in
from memoryd.domain.memories.facts.values import HAN_SIGN, PRESENT
from memoryd.domain.text.sentences import SpokenSentence, spoken_sentences

_INSTEAD = caseless(r"\W*(?:it|that|she|he|they)(?:['’](?:s|re)| is| are)\b|\W*(?:而是|应该是|现在是|是)")
_PARTS = expression(r"[,;，；]\s*|\s(?:and|but)\s")
_NEAR = 12
"""Signs at the beginning of a statement that tell its script."""
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
"""A verb that is none else, or what follows one: a preposition, an adverb."""
_BEFORE_NOUN = caseless(r"(?:the|an?|my|our|his|her|its|their|your)\Z")
_BE = caseless(r"(?:is|are|was|were|has|have|had|isn['’]t|aren['’]t|wasn['’]t|weren['’]t)\Z")
_PRESENT = caseless(rf"(?:{PRESENT})\Z")
_PAST = expression(r"[a-z]{2,}ed\Z")
_LIKE_VERB = expression(r"[a-z]{2,}(?:s|ed)\Z")
_HAN_VERB = expression(
    r"(?<!的)(?:部署|托管|存放|安排|位于|主持|负责|推迟|提前|延期|调[到成整]|变[成为了]|放在|开始|现在|已经|以后|交给)"
    r"|要(?=[去在到做交])|[是在由叫用归找订吃喝坐住做不没换改搬为从，,：:；]"
)
_ADDS = caseless(
    r"\b(?:also|too(?=\W*\Z|[,;])|as well|(?<!has )(?<!have )(?<!got )another|second|additional|additionally"
    r"|in addition|besides|both|either|other one|the other(?= \w+['’]s))\b|另外|还有一|也(?!就|许)|(?<![，,])另一"
    r"|再加|又买|多了"
)
"""What stands beside what holds takes nothing's place."""
_IS_VALUE = caseless(r"(?:it|that)(?:['’]s| is| was| should be)(?: (?!(?:already|late|over)\b)[^\s,;]+){1,4}\W*")
AUTHOR = caseless(r"\W*(?:(?:i|we|ich|wir)(?:['’]\w+)?\b|我(?:们|家)?(?!的)|咱)")
ELIDED = caseless(
    r"\W*(?:(?:just|finally|had to) )*(?:sold|flogged|cancel+ed|ditched|binned|quit|stopped|gave (?:up|away)"
    r"|(?:packed|jacked) in|got rid of|parted with|traded in|moved to (?=(?-i:[A-Z]))|switched to"
    r"|left (?=[A-Z]|(?:st|my job|work)\b)"
    r"|not \w+ing|no (?:more|longer)) ?|搬(?:家了|[到去])"
)
"""What people tell of themselves without saying so."""
_DENIES = caseless(
    r"\W*(?:it|that|this|he|she|they|there)(?:['’](?:s|re)| is| are| was| were| do| does| did)?(?: not|n['’]t)\b"
    r"[^,;]{0,20}[,;]"
)
"""What was answered, and nothing of it."""
_PRONOUN = caseless(
    r"\W*(?:it|its|that|this|he|she|they|them|those|these|there|his|her|their|er|sie|es"
    r"|(?:die|der|das)(?= (?-i:[a-z])))(?:['’]\w+)?\b|[他她它]"
)


_REST_STAYS = caseless(
    r"[,;，；]\s*(?:(?:and |but )?(?:(?:the |all the )?rest|everything else|all else)(?: (?:is|stays|remains))?"
    r" (?:(?:all )?the same|as (?:before|it was|is)|unchanged)|(?:and |but )?(?:the )?rest (?:stays|remains)"
    r"|nothing else changes|sonst (?:(?:bleibt )?alles )?(?:wie (?:gehabt|bisher|immer)|gleich)"
    r"|der rest bleibt(?: gleich| so| wie gehabt)?"
    r"|[\u4e00-\u9fff]{1,6}(?:都|全)?(?:照旧|不变|没变|一样))[\s.!。！]*\Z"
)
"""An aside that says of the rest that it holds as before."""
_BARE_IS = expression(
    r"(?<![\w.@/_-])([Ii]t|[Tt]hat|[Hh]e|[Ss]he)s(?= (?:an?|the|in|on|at|now|not|just|gone|\d|[A-Z]))"
)
_BARE_NOT = expression(
    r"(?<![\w.@/_-])([Ii]s|[Aa]re|[Ww]as|[Ww]ere|do|[Dd]oes|[Dd]id|has|have|had|could|should|would)nt(?![\w@/_-]|\.\w)"
)
"""A negation without its apostrophe."""
_NAMED = expression(r"[A-Z][a-z]")
_MOVES = expression(r"\b[Mm]oved (?:back |over )?to [A-Z]")
_HAS_NOW = expression(
    r"\b(?:[Ii]|[Ww]e)(?:['’]ve| have)? (?:now )?(?:got|have|own|drive|ride|use) (?:[a-z]+ )?[A-Z][^,;]{1,40}"
)
_HAS_MOVED = expression(
    r"(?:[Tt]he|[Oo]ur) [a-z][a-z -]*(?:has|have|['’]s) (?:now |just )*(?:moved|switched|migrated|changed)\b"
)


_JOIN = caseless(r"\b(?:so|because|since) (?=(?:i|we)\b)")
_LASTS = expression(
    r"(?i:\b(?:instead|these days|nowadays|from now on|signed (?:on|up)|joined|switched)\b).*\b[A-Z][a-z]"
    r"|\b[A-Z][a-z].*(?i:\b(?:instead|these days|nowadays|from now on))\b|\A(?:就|都)?(?:改|换)成"
)
_NOT_NAME = expression(r"(?<=\w )[A-Z][\w'’-]+\b.*\b(?:instead of|rather than) [A-Z]")


class Revision(Struct, frozen=True):
    """A sentence that says that something is no longer as it was, read by its cue.

    `old` and `new` are the words for what held and what holds now, where it says them; `about` are those for what it
    is said of, empty where that is a pronoun or the author alone.
    """

    text: str
    plain: str
    """Without what leads in, and with what is no word of its author blanked."""
    forms: tuple[str, ...]
    about: str = ""
    thing: str = ""
    """Of these, what somebody changes."""
    subject: str = ""
    """The words before its verb, where its cue does not say what it is said of."""
    context: str = ""
    """What stands before it, of what it says only `it`."""
    is_authors: bool = False
    has_pronoun: bool = False
    has_verb: bool = True
    old: tuple[str, ...] = ()
    new: str = ""

    @property
    def form(self) -> str:
        """Return the first of its forms."""
        return self.forms[0]

    @property
    def has_contrast(self) -> bool:
        """Whether another of its clauses says more than what it denies, and of whom."""
        clauses = [one for one in _PARTS.split(self.plain) if not any(old in one for old in self.old)]
        return bool(content(" ".join(clauses)).difference(content(self.about), content(self.subject)))

    @property
    def is_self_contained(self) -> bool:
        """Whether its author says what of theirs changed, and to what: it needs no memory of what was before."""
        if not (self.is_authors or self._is_own_change):
            are_named = bool(self.new) and all(_NAMED.match(one) for one in (self.new, *self.old))
            return are_named and FROM_TO in self.forms and bool(_HAS_MOVED.match(self.plain))
        if NO_LONGER in self.forms:
            has_another = NOW in self.forms and _HAS_NOW.search(self.plain)
            if has_another or CHANGE in self.forms or FROM_TO in self.forms:
                return True
        if self._is_own_change:
            return True
        is_named = bool(self.new) and any(_NAMED.match(value) for value in (self.new, *self.old))
        return is_named and (FROM_TO in self.forms or bool(_MOVES.search(self.plain)))

    @property
    def _is_own_change(self) -> bool:
        """Whether its author says, by name, what is over and what lasts in its place."""
        clauses = [one for one in _PARTS.split(_JOIN.sub("", self.plain)) if one]
        over = [one for one in clauses if has_gone(one) and (_NAMED.search(one, 1) or HAN_SIGN.search(one))]
        instead = [one for one in clauses if one not in over and _LASTS.search(one)]
        is_both = any(_NOT_NAME.search(one) for one in clauses)
        return any(map(AUTHOR.match, clauses)) and (bool(over and instead) or is_both)

    @property
    def rest(self) -> str:
        """What it says apart from what held."""
        rest = self.plain
        for old in self.old:
            rest = rest.replace(old, " ; ")
        return rest


def revision_gate(text: str, *, has_answer: bool) -> str:
    """Return the cue of a message that may revise something; empty if it has none."""
    return next((one.form for one in revisions_of(text, has_answer=has_answer)), "")


def revisions_of(text: str, *, has_answer: bool = False) -> Iterator[Revision | DroppedItem]:
    """Yield the sentences of a message that revise something, or why one with a cue does not."""
    if why_unfit(text):
        return
    sentences = _join(text)
    leads, context = frozenset[str](), ""
    for sentence, unfit in zip(sentences, why_each_unfit(sentences), strict=True):
        plain, own = behind_leads(sentence.plain)
        start = len(sentence.plain) - len(plain)
        before = f"{context} {sentence.plain[:start]}"
        context = f"{context} {sentence.plain}" if own else sentence.plain
        if not re.search(r"\w", plain):
            leads |= own
            continue
        # for reading alone: what is kept is as it was written
        plain = _BARE_IS.sub(r"\1's", _BARE_NOT.sub(r"\1n't", _REST_STAYS.sub("", plain)))
        revision = _read(sentence.text, plain, own | leads, before, has_answer=has_answer)
        leads = own
        if revision is None:
            continue
        said, is_answer = SpokenSentence(sentence.text[start:], plain), ANSWER in revision.forms
        why = unfit or why_no_fact(said, is_answer=is_answer, is_slip="slip" in own)
        yield DroppedItem(sentence.text, why, revision.form) if why else revision


def corrects_alone(sentence: str) -> bool:
    """Tell whether a sentence says only what another one before it got wrong: `no, Tuesday`."""
    return any(
        isinstance(one, Revision) and ANSWER in one.forms and not one.has_verb
        for one in revisions_of(sentence, has_answer=True)
    )


def _join(text: str) -> list[SpokenSentence]:
    """Return the sentences, those that a semicolon parts as one, and one about `it` with the one before it."""
    joined = list[SpokenSentence]()
    for sentence in spoken_sentences(text):
        if joined and (joined[-1].text.endswith((";", "；")) or _goes_on(joined[-1], sentence)):
            last = joined.pop()
            plain = f"{last.plain.rstrip('.。;；!！')}; {sentence.plain}"
            sentence = SpokenSentence(f"{last.text} {sentence.text}", plain)
        joined.append(sentence)
    return joined


def _goes_on(before: SpokenSentence, sentence: SpokenSentence) -> bool:
    """Tell whether a sentence says of `it` what holds, and the one before it what does not."""
    if before.is_question or not _INSTEAD.match(sentence.plain):
        return False
    return any("old" in match.groupdict() for _, match in cues_in(behind_leads(before.plain)[0]))


def is_chinese(text: str) -> bool:
    """Tell by its beginning whether a statement is Chinese."""
    return HAN_SIGN.search(text[:_NEAR]) is not None


def subject_of(text: str) -> str:
    """Return the words before the verb of a plain statement, as far as they can be told without a grammar."""
    if is_chinese(text):
        text = FROM_WHEN.sub("", text)
        # a value ends it, too, where there is no verb: 周报周五交
        ends = [one.start for one in values_in(text) if one.start and one.kind in TIMES]
        return _HAN_VERB.split(text[: min(ends, default=len(text))], maxsplit=1)[0]
    subject = list[str]()
    words = _WORD.findall(text[:_SUBJECT_CHARS])
    for word, following in pairwise((*words, "")):
        is_noun = bool(subject) and _BEFORE_NOUN.match(subject[-1]) and word.isalpha()
        # it has the ending of a verb, and none stands behind it: `the school bus leaves`
        is_like_verb = _LIKE_VERB.match(word) and (
            _PRESENT.match(word) or not (_BE.match(following) or _PRESENT.match(following) or _PAST.match(following))
        )
        if not is_noun and (_VERB.match(word) or (is_like_verb and any(map(content, subject)))):
            break
        subject.append(word)
    return " ".join(subject)


def _is_value_instead(plain: str, forms: Sequence[str], leads: frozenset[str], *, has_verb: bool) -> bool:
    """Tell whether a sentence is hardly more than a value, behind a slip or beside one that is denied."""
    if "slip" in leads and _IS_VALUE.fullmatch(plain):
        # `wait, it's in German` is no other place to live in
        return bool(values_in(plain))
    return not has_verb and ("slip" in leads or NOT_BUT in forms)


def _form_by_words(plain: str, leads: frozenset[str], *, has_answer: bool, is_plain: bool) -> list[str]:
    """Return the form of a sentence that has none of the cues: by what leads in, or a word of change."""
    if "slip" in leads and is_plain and values_in(plain) and not MAKES.match(plain):
        return [SLIP]
    if "news" in leads:
        return [NEWS]
    is_change = has_word_of_change(plain) or MAKES.match(plain)
    is_answer = has_answer and (_DENIES.match(plain) or (_IS_VALUE.fullmatch(plain) and values_in(plain)))
    return [OTHERWISE] if is_change or is_answer else []


def _read(text: str, plain: str, leads: frozenset[str], context: str, *, has_answer: bool) -> Revision | None:
    if _ADDS.search(plain):
        return None
    cues = list(cues_in(plain))
    forms = [form for form, _ in cues]
    # what a change is of, FROM_TO and the like say more exactly
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
    is_authors, has_pronoun = bool(AUTHOR.match(plain) or ELIDED.match(plain)), bool(_PRONOUN.match(plain))
    if "own" in leads:
        forms.insert(0, CORRECTION)
    elif has_answer and (
        "wrong" in leads
        or (not has_verb and says_wrong(plain))
        or _is_value_instead(plain, forms, leads, has_verb=has_verb)
    ):
        forms.insert(0, ANSWER)
    elif not forms:
        is_plain = not (is_authors or has_pronoun)
        forms = (
            _form_by_words(plain, leads, has_answer=has_answer, is_plain=is_plain)
            if has_verb or MAKES.match(plain)
            else []
        )
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
