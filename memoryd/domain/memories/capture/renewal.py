"""Revisions in a message as memories to keep: they connect its sentences with the book.

A statement of the owner supersedes the lines that it revises. A statement in an agent's text, or in a group,
supersedes no line of a person: it contradicts the line, and the person decides.
"""

from collections.abc import Sequence
from datetime import date

from msgspec.structs import replace

from memoryd.domain.expressions import caseless, expression, word_set
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.agreement import is_absence, is_addition
from memoryd.domain.memories.capture.capture import (
    CapturedItem,
    CaptureVerdict,
    is_laid_out,
    makes_unsafe,
)
from memoryd.domain.memories.capture.corrections import is_by_person, with_succession
from memoryd.domain.memories.capture.cues import CHANGE, CLAUSE_END, FROM_TO, NO_LONGER, NOT_BUT, NOW, has_ended
from memoryd.domain.memories.capture.outdating import CHARS_MAX, RankedLine
from memoryd.domain.memories.capture.rejections import DroppedItem, says_secret, why_not_plain, why_unfit
from memoryd.domain.memories.capture.revisions import AUTHOR, PARTS, Revision
from memoryd.domain.memories.capture.targets import Target, find_target, is_of_request, most_likely_outdated, with_line
from memoryd.domain.memories.capture.values import content, values_in
from memoryd.domain.memories.facts.slots import fact_key
from memoryd.domain.memories.facts.values import HAN_SIGN, is_past_event
from memoryd.domain.memories.generated import subject_line
from memoryd.domain.memories.kinds import Kind, short_id
from memoryd.domain.memories.line import Provenance
from memoryd.domain.memories.unasked.form import WEIGHED_LANGUAGES
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.languages import language_of
from memoryd.domain.text.sentences import BLANK, spoken_sentences

_SHOWN_CHARS = 80
"""Length limit of a superseded text in a note for a person."""


def with_revisions(
    verdict: CaptureVerdict,
    revisions: Sequence[Revision | DroppedItem],
    book: Book,
    *,
    text: str,
    answer_before: str = "",
    said_before: str = "",
    scope: str = "",
    day: date | None = None,
    may_supersede: bool = True,
) -> CaptureVerdict:
    """Return a verdict with the revisions of a message, in place of statements by their forms.

    `may_supersede`: the message may supersede statements of a person. If neither revisions nor forms yield a memory,
    the complete message is compared with the lines that it may outdate.
    """
    out_of_place = _why_out_of_place(text, revisions)
    for revision in revisions:
        reason = revision.reason if isinstance(revision, DroppedItem) else out_of_place
        if reason or isinstance(revision, DroppedItem):
            verdict = _without(verdict, DroppedItem(revision.text, reason, revision.form))
            continue
        target = find_target(revision, book, scope=scope, day=day, answer_before=answer_before, said_before=said_before)
        if target is not None:
            verdict = _with_target(verdict, revision, target, may_supersede=may_supersede)
        elif may_supersede and _is_self_contained(revision):
            verdict = _with_plain(verdict, revision)
        else:
            verdict = _without(verdict, DroppedItem(revision.text, SkipReason.NOTHING_REVISED, revision.form))
    is_unreal = any(
        item.reason == SkipReason.UNREAL
        if isinstance(item, DroppedItem)
        else is_of_request(item, answer_before, said_before)
        for item in revisions
    )
    if states_fact(verdict) or out_of_place or is_unreal or not (may_supersede and may_outdate(text)):
        return verdict
    message = " ".join(text.split())
    likeliest = most_likely_outdated(message, book, scope=scope, day=day, answer_before=answer_before)
    target = None if likeliest is None else _outdated(message, likeliest)
    if target is None:
        return verdict
    # reported news contradicts the line, and both remain
    item = _item(message, OUTDATES, target, may_supersede=not _is_reported(text))
    # what corrects the answer is the same sentence, now with the line that it revises
    return _with_item(replace(verdict, items=()), replace(item, text=target.text), message)


def states_fact(verdict: CaptureVerdict) -> bool:
    """Return whether a verdict has more than corrections of an answer, which may revise a line without a form."""
    return not all(item.corrects_answer for item in verdict.items)


OUTDATES = "outdates"
_NO_TALK = expression(r"said of:|说的是：|<!--|-->|`")


OUTDATED = 0.2
"""Log-odds from which a line is outdated."""
ADDED = OUTDATED - 0.5
"""Log-odds from which a message that adds a value is stored beside the line, which stays as it is.

A reply to an answer about the line outdates it from here on: fewer of these only look like a correction.
"""


def _outdated(text: str, ranked: RankedLine) -> Target | None:
    """Return the target of a message without a form of revision, which outdates a line or adds to it; None if neither.

    The new text is the message together with that line: the message may say little alone, and if it was meant
    otherwise, nothing is lost.
    """
    line = ranked.candidate
    if ranked.weight < ADDED or is_absence(text, line.text):
        return None
    if is_addition(text, line.text):
        return Target(text)  # both are valid
    return with_line(text, line) if ranked.weight >= OUTDATED or ranked.is_answered else None


def may_outdate(text: str) -> bool:
    """Return whether a message has a length and language that the weights cover, and nothing forbids keeping it."""
    if len(text) > CHARS_MAX or language_of(text) not in WEIGHED_LANGUAGES or _NO_TALK.search(text):
        return False
    if is_laid_out(text) or why_unfit(text) or says_secret(text):
        return False
    sentences = spoken_sentences(text)
    reasons = set(map(why_not_plain, sentences))
    if SkipReason.REPORTED in reasons and any(BLANK in sentence.plain for sentence in sentences):
        return False  # quoted words may be about anything
    return not reasons.isdisjoint(("", SkipReason.REPORTED)) and SkipReason.CONDITION not in reasons


def _is_reported(text: str) -> bool:
    return SkipReason.REPORTED in map(why_not_plain, spoken_sentences(text))


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
_SAME_VERB = caseless(
    r"\b(?:do not|don['’]?t|(?P<over>no longer)) (?P<verb>(?!(?:get|see|know|need|want|think)\b)\w+)"
    r" (?!(?:it|that|this|any ?more)\b)[\w .-]{2,30}?(?(over)|\bany ?more)[,;] (?:but )?(?:we|i) (?:now )?(?P=verb)\b"
    r" (?!(?:it|that|this|nothing)\b)\w"
)
_NOT_NAME = expression(r"(?<=\w )[A-Z][\w'’-]+\b.*\b(?:instead of|rather than) [A-Z]")
_ARTICLE = caseless(r"\A(?:the|den) ")
_ENDS = caseless(
    r"\s*\Z|[^\w\s](?!\w)|了|[\u4e00-\u9fff]{1,2}\Z|\s+(?:and|as|at|because|for|from|in|instead|now|on|since|so)\b"
)
"""What may follow a new value: no noun that it belongs to, *the Thursday rehearsal*."""
_HOLDS_NOW = caseless(r"\b(?:now|these days|nowadays|jetzt|neuerdings)\b|现在")
_IS_SOMEWHERE = expression(r"在\Z|\b(?:be|stand|lie|sit|hang) \w+ thing\Z")
"""Slots of where someone or something is for a moment: *the car is in the garage*; 在开会 looks like a place."""
_TAKES_NUMBER = caseless(r"\b(?:mov|push|shift|postpon|resched|verschob|verleg|bump|upgrad)")
"""What makes a mere number a time or a version: *judo moved to 6*, but not *changed the padding to 8*."""
_OF_THINGS = word_set("date time days")
"""Kinds of new values that are news of a thing; a price or a person may be what a single event is about."""


def _is_self_contained(revision: Revision) -> bool:
    """Return whether a sentence says which thing has changed to what, so that no old memory is needed."""
    values = (revision.new, *revision.old)
    if _is_own_change(revision.plain) or _names_thing_and_value(revision):
        return True
    if not revision.is_authors:
        are_named = bool(revision.new) and all(map(_NAMED.match, values))
        return are_named and FROM_TO in revision.forms and bool(_HAS_MOVED.match(revision.plain))
    if NO_LONGER in revision.forms:
        has_another = NOW in revision.forms and _HAS_NOW.search(revision.plain)
        if has_another or CHANGE in revision.forms or FROM_TO in revision.forms:
            return True
    is_named = bool(revision.new) and any(map(_NAMED.match, values))
    return is_named and (FROM_TO in revision.forms or bool(_MOVES.search(revision.plain)))


def _is_own_change(plain: str) -> bool:
    """Return whether the author names what has ended and what replaces it."""
    parts = list(filter(None, PARTS.split(_JOIN.sub("", plain))))
    over = [part for part in parts if has_ended(part) and (_NAMED.search(part, 1) or HAN_SIGN.search(part))]
    has_instead = any(part not in over and _LASTS.search(part) for part in parts)
    is_both = any(map(_NOT_NAME.search, parts))
    is_replaced = bool(over and has_instead) or is_both or _SAME_VERB.search(plain) is not None
    return any(map(AUTHOR.match, parts)) and is_replaced


def _names_thing_and_value(revision: Revision) -> bool:
    """Return whether a sentence names a thing with its new value: a time, or what alone fills its slot.

    *Standup moved to 10:15*; *judo is at six now*; *we deploy on Fridays, not Tuesdays*; *Mehmet owns the rota now*.
    """
    if revision.has_pronoun or not revision.has_verb:
        return False
    if NOW in revision.forms and (fact := fact_key(revision.plain)):
        return not _IS_SOMEWHERE.search(fact.key)
    times = [value for value in values_in(revision.plain) if value.kind in _OF_THINGS]
    if revision.new and {CHANGE, FROM_TO}.intersection(revision.forms):
        new = _ARTICLE.sub("", revision.new)
        # not *pushed it to Friday*
        is_named = not revision.thing or content(revision.thing)
        is_about = bool(is_named and content(f"{revision.about} {revision.subject}") - content(new))
        # read alone, too: together with what is before it, it may be a range
        alone = [value for value in values_in(new) if value.kind in _OF_THINGS]
        values = [
            value.text for value in (*times, *alone) if not value.text.isdigit() or _TAKES_NUMBER.search(revision.plain)
        ]
        rests = [new.removeprefix(value) for value in values if new.startswith(value)]
        return is_about and not revision.thing.startswith("to ") and any(map(_ENDS.match, rests))
    if times and _HOLDS_NOW.search(revision.plain) and not CLAUSE_END.search(revision.plain):
        return bool(content(revision.subject))
    old = {value.kind for text in revision.old for value in values_in(text) if not value.start}
    said = [value.text for value in values_in(revision.rest) if value.kind in old]
    is_lasting = NOT_BUT in revision.forms and not is_past_event(revision.plain)
    return is_lasting and bool(said and content(revision.rest) - content(" ".join(said)))


def with_older(verdict: CaptureVerdict, book: Book, day: date, scope: str) -> CaptureVerdict:
    """Return the verdict with the memories that each item will supersede once it is written."""
    lines = with_succession(book, [item.line(scope) for item in verdict.items], day)
    supersedes = {line.text: line.attributes.supersedes for line in lines}
    kept = []
    for item in verdict.items:
        item = replace(item, supersedes=supersedes.get(item.text, item.supersedes))
        known = filter(None, map(book.of_short, item.supersedes))
        kept.append(replace(item, note=item.note or _note("supersedes", [book.memories[key] for key in known])))
    return replace(verdict, items=tuple(kept))


def _why_out_of_place(text: str, revisions: Sequence[Revision | DroppedItem]) -> str:
    """Return the reason why the other sentences of a message forbid a revision; empty if they do not.

    Without a revision, reported news forbids nothing.
    """
    if is_laid_out(text):
        return SkipReason.LAID_OUT
    revised = " ".join(revision.text for revision in revisions)
    is_other = any(
        makes_unsafe(sentence)
        for sentence in spoken_sentences(text)
        if sentence.text not in revised and (revisions or why_not_plain(sentence) != SkipReason.REPORTED)
    )
    return SkipReason.OTHER_COMPANY if is_other else ""


def _without(verdict: CaptureVerdict, item: DroppedItem) -> CaptureVerdict:
    dropped = [other for other in verdict.dropped if other.reason != SkipReason.NO_FORM]
    texts = [other.text for other in verdict.items] + [other.text for other in dropped]
    if any(text in item.text or item.text in text for text in texts):
        # the verdict already has the sentence by its own form
        return verdict
    return replace(verdict, dropped=(*dropped, item))


def _with_target(verdict: CaptureVerdict, revision: Revision, target: Target, *, may_supersede: bool) -> CaptureVerdict:
    item, text = _item(revision.text, revision.form, target, may_supersede=may_supersede), revision.text
    same = [other for other in verdict.items if other.text in text or text in other.text]
    if pinned := [other for other in same if other.is_pinned]:
        # a pinned statement keeps its own words
        item = replace(pinned[0], supersedes=item.supersedes, contradicts=item.contradicts, note=item.note)
    kept = [other for other in verdict.items if other not in same]
    return _with_item(replace(verdict, items=tuple(kept)), item, text)


def _with_plain(verdict: CaptureVerdict, revision: Revision) -> CaptureVerdict:
    """Return a verdict with a change whose old value is in no memory."""
    if any(item.text in revision.text or revision.text in item.text for item in verdict.items):
        return verdict
    return _with_item(verdict, CapturedItem(Kind.FACT, revision.text, revision.form), revision.text)


def _with_item(verdict: CaptureVerdict, item: CapturedItem, text: str) -> CaptureVerdict:
    dropped = [other for other in verdict.dropped if other.text not in text and other.reason != SkipReason.NO_FORM]
    return replace(verdict, items=(*verdict.items, item), dropped=tuple(dropped), gate=verdict.gate or item.form)


def _item(text: str, form: str, target: Target, *, may_supersede: bool) -> CapturedItem:
    superseded = [memory for memory in target.superseded if may_supersede or not is_by_person(memory.line)]
    disputed = [*target.disputed, *(memory for memory in target.superseded if memory not in superseded)]
    model = target.superseded[0].line if target.superseded else None
    about = model or (disputed[0].line if len(disputed) == 1 else None)
    is_by_people = all(is_by_person(memory.line) for memory in (*superseded, *disputed))
    return CapturedItem(
        Kind.FACT if model is None else model.kind,
        target.text if target.disputed or not disputed else text,
        form,
        # a line with one value exchanged stays pinned
        is_pinned=model is not None and model.attributes.is_pinned and target.text != text and not disputed,
        # the text may repeat a line of an agent
        provenance=Provenance.USER if is_by_people or not subject_line(target.text) else Provenance.AGENT,
        entities=about.entities if about else (),
        supersedes=tuple(short_id(memory.id) for memory in superseded),
        contradicts=tuple(short_id(memory.id) for memory in disputed),
        note="; ".join(filter(None, (_note("supersedes", superseded), _note("contradicts", disputed)))),
    )


def _note(what: str, memories: Sequence[Memory]) -> str:
    shown = ", ".join(f"{short_id(memory.id)} {memory.text[:_SHOWN_CHARS]!r}" for memory in memories)
    return f"{what} {shown}" if shown else ""
