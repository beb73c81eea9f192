"""What of a message is kept as memories, without any model: the one entrance to the rules beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoryd.domain.memories.attributes import Provenance
from memoryd.domain.memories.capture.chinese_forms import CHINESE_FORMS, REMEMBER, chinese_starts
from memoryd.domain.memories.capture.company import Company, company_of, is_alone, why_not_in_company
from memoryd.domain.memories.capture.corrections import found_correction, is_lead
from memoryd.domain.memories.capture.english_forms import ENGLISH_FORMS, REMEMBER_THAT, english_starts
from memoryd.domain.memories.capture.gate import gate
from memoryd.domain.memories.capture.identifiers import NOT_TO_PASS_ON, found_identifier, why_not_said_of
from memoryd.domain.memories.capture.pins import NAME_FORMS, NOT_ADDRESSED, is_told_to_agent
from memoryd.domain.memories.capture.sentences import BLANK, SpokenSentence, sentences_of
from memoryd.domain.memories.capture.statement_forms import FoundForm, found_form
from memoryd.domain.memories.capture.tails import is_clean, why_unreal
from memoryd.domain.memories.capture.unfit_messages import why_each_unfit, why_unfit
from memoryd.domain.memories.capture.unfit_sentences import why_not_plain, why_not_told
from memoryd.domain.memories.capture.verdict import (
    IDENTIFIER_IMPORTANCE,
    OWN_IDENTIFIER_IMPORTANCE,
    CapturedItem,
    CaptureVerdict,
    DroppedItem,
)
from memoryd.domain.memories.kinds import Kind

FAILURE_SIGNS: Final = 500
"""Of what is said of a failure."""
SHOWN_SIGNS: Final = 200
NO_FORM: Final = "it has none of the forms that are kept"
NOTHING_CORRECTED: Final = "there was no answer before it to correct"
FROM_ANSWER: Final = "it repeats the answer before it"
OFF: Final = "memory.capture.identifiers is false"
_LEAST_REPEATED: Final = 12
_TOLD_TO_KEEP: Final = frozenset([REMEMBER_THAT.name, REMEMBER.name])
"""What its author asks to be kept stands by itself."""


@dataclass(frozen=True, slots=True)
class ReportedFailure:
    """What the watchdog of an agent's loop reports: the text, and the tool that failed, if it was one."""

    text: str
    tool: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRules:
    """Which rules are on, as `memory.capture` says."""

    identifiers: bool = True
    in_groups: bool = False


USUAL_RULES: Final = CaptureRules()


def captured(
    text: str, *, answer_before: str = "", is_direct: bool = True, rules: CaptureRules = USUAL_RULES
) -> CaptureVerdict:
    """Return what is kept of a message of the user, secrets in it masked already, and what is not, with the reasons.

    `answer_before` is what the message may correct. Of what is not said in a direct chat nothing is pinned.
    """
    marker = gate(text, has_answer=bool(answer_before.strip()))
    if not marker:
        return CaptureVerdict()
    if why := why_unfit(text):
        return CaptureVerdict(dropped=(DroppedItem(text[:SHOWN_SIGNS], why),), gate=marker)
    found = list(_each(text, answer_before, rules))
    kept = tuple(one for one in found if isinstance(one, CapturedItem))
    dropped = tuple(one for one in found if isinstance(one, DroppedItem))
    if not found:
        dropped = (DroppedItem(text[:SHOWN_SIGNS], NO_FORM),)
    if not is_direct:
        kept = tuple(replace(one, is_pinned=False) for one in kept)
    return CaptureVerdict(kept, dropped, marker).bounded()


def distillable(text: str) -> list[str]:
    """Return the sentences of a message that a text model may see: no secret, nothing that is not its author's.

    They stand in the company that a form of a statement needs, too.
    """
    if why_unfit(text):
        return []
    sentences = sentences_of(text)
    items = [_item(one, is_led=False, has_answer=False, rules=USUAL_RULES) for one in sentences]
    kinds = _company(sentences, items)
    told = [
        one.plain.replace(BLANK, "").strip()
        for at, (one, unfit) in enumerate(zip(sentences, why_each_unfit(sentences), strict=True))
        if not (unfit or why_not_plain(one) or why_unreal(one.plain) or why_not_in_company(text, kinds, at))
        and kinds[at] not in (Company.COURTESY, Company.REQUEST)
        and not (isinstance(dropped := items[at], DroppedItem) and dropped.reason == NOT_TO_PASS_ON)
    ]
    return [one for one in told if one]


def captured_failure(failure: ReportedFailure) -> CaptureVerdict:
    """Return the memory of a reported failure."""
    said = " ".join(failure.text.split())[:FAILURE_SIGNS]
    if not said:
        return CaptureVerdict()
    text = f"{failure.tool}: {said}" if failure.tool else said
    return CaptureVerdict((CapturedItem(Kind.FAILURE, text, "failure", provenance=Provenance.TOOL),), gate="failure")


def _each(text: str, answer_before: str, rules: CaptureRules) -> Iterator[CapturedItem | DroppedItem]:
    sentences = sentences_of(text)
    repeated = _folded(answer_before)
    items, is_led = [], False
    for sentence in sentences:
        items.append(_item(sentence, is_led=is_led, has_answer=bool(repeated), rules=rules))
        is_led = bool(repeated) and is_lead(sentence.plain)
    kinds = _company(sentences, items)
    for at, (sentence, item, unfit) in enumerate(zip(sentences, items, why_each_unfit(sentences), strict=True)):
        if isinstance(item, CapturedItem):
            why = unfit or _why_not(sentence, item) or _why_repeated(sentence, repeated)
            if not why and _is_stated(item) and not (at == 0 and item.form in _TOLD_TO_KEEP):
                why = why_not_in_company(text, kinds, at)
            kept = replace(item, is_pinned=item.is_pinned and is_alone(kinds, at) and is_clean(sentence.plain, 0))
            has_courtesy = Company.COURTESY in (*kinds[:at], *kinds[at + 1 :])
            yield (
                DroppedItem(item.text, why, item.form) if why else _trusted(kept, sentence, answer_before, has_courtesy)
            )
        elif item is not None:
            yield item


def _company(sentences: Sequence[SpokenSentence], items: Sequence[CapturedItem | DroppedItem | None]) -> list[Company]:
    return [company_of(one, is_told=_is_stated(item)) for one, item in zip(sentences, items, strict=True)]


def _trusted(item: CapturedItem, sentence: SpokenSentence, answer_before: str, has_courtesy: bool) -> CapturedItem:
    """Return an item without a pin where it is a name, and nothing says that it is told to the agent."""
    is_name = item.is_pinned and item.form in NAME_FORMS
    if not is_name or is_told_to_agent(sentence.plain, answer_before, has_courtesy=has_courtesy):
        return item
    return replace(item, is_pinned=False, note=NOT_ADDRESSED)


def _is_stated(item: CapturedItem | DroppedItem | None) -> bool:
    return isinstance(item, CapturedItem) and item.kind is not Kind.LESSON


def _why_not(sentence: SpokenSentence, item: CapturedItem) -> str:
    """Say why a sentence tells nothing of what its form says; empty if it does."""
    if item.kind is Kind.LESSON:
        return why_not_told(sentence)
    if why := why_not_plain(sentence):
        return why
    return "" if item.form in _TOLD_TO_KEEP else why_unreal(sentence.plain)


def _item(
    sentence: SpokenSentence, *, is_led: bool, has_answer: bool, rules: CaptureRules
) -> CapturedItem | DroppedItem | None:
    """Return what a sentence states by its form alone; None if it has none."""
    identifier = found_identifier(sentence.plain, _starts(sentence.plain))
    if identifier is not None:
        if why := why_not_said_of(sentence.plain, identifier, _starts(sentence.plain)):
            return DroppedItem(sentence.text, why, identifier.what)
        if not rules.identifiers:
            return DroppedItem(sentence.text, OFF, identifier.what)
        weight = OWN_IDENTIFIER_IMPORTANCE if identifier.is_own else IDENTIFIER_IMPORTANCE
        return CapturedItem(Kind.ENTITY, sentence.text, identifier.what, identifier.is_own, weight)
    found = _statement(sentence)
    if found is not None and not found.reason:
        return CapturedItem(found.form.kind, sentence.text, found.form.name, found.form.is_pinned and found.is_first)
    correction = found_correction(sentence.plain, is_led=is_led)
    if correction:
        if not has_answer:
            return DroppedItem(sentence.text, NOTHING_CORRECTED, correction)
        return CapturedItem(Kind.LESSON, sentence.text, correction)
    return None if found is None else DroppedItem(sentence.text, found.reason, found.form.name)


def _starts(plain: str) -> list[int]:
    return list(dict.fromkeys([*english_starts(plain), *chinese_starts(plain)]))


def _statement(sentence: SpokenSentence) -> FoundForm | None:
    text, plain = sentence.text, sentence.plain
    english = found_form(text, plain, english_starts(plain), ENGLISH_FORMS)
    chinese = found_form(text, plain, chinese_starts(plain), CHINESE_FORMS)
    told = [found_form(text, plain, [0], [form]) for form in (REMEMBER_THAT, REMEMBER)]
    found = [one for one in (english, chinese, *told) if one is not None]
    return next((one for one in found if not one.reason), found[0] if found else None)


def _why_repeated(sentence: SpokenSentence, answer: str) -> str:
    told = _folded(sentence.text)
    return FROM_ANSWER if len(told) >= _LEAST_REPEATED and told in answer else ""


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。!！ ")
