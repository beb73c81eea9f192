"""What a memory says once one of its values is exchanged, where nothing else of it changes."""

import re
from typing import Final

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.capture.agreement import MOVES
from memoryd.domain.memories.capture.cues import AGAIN, ANSWER, CLAUSE_END
from memoryd.domain.memories.capture.revisions import Revision, subject_of
from memoryd.domain.memories.capture.values import HAN, HAN_NUMBER, TypedValue, content, new_value, values_in

_SEGMENT: Final = caseless(r"[,;，；。]\s*|\s(?=(?:in|on|at|with|from|for|near|behind|under|between|until|and)\s)")


def renewed(revision: Revision, old: str) -> str:
    """Return the old line with the one value exchanged, where it says more than what changes; else the sentence."""
    told = _with_number(revision, old)
    if told or (still_holds(revision, old) and (told := _moved(revision, old) or _with_word(revision, old))):
        return told
    is_answer = ANSWER in revision.forms or revision.has_pronoun
    pair = new_value(old, revision.rest, is_loose=is_answer)
    if pair is None or not (is_answer or _says_more(old, pair[0])) or _adds_more(revision, old, pair):
        return revision.text
    if not _are_in_one_place(old, revision.rest, pair):
        return revision.text
    told = exchanged(old, pair)
    return told if told != old else revision.text


def exchanged(old: str, pair: tuple[TypedValue, TypedValue]) -> str:
    """Return a line with the one of its values in the place of the other."""
    return old[: pair[0].start] + pair[1].text + old[pair[0].end :]


_CLAUSES: Final = caseless(r"[,;，；。]\s*|\sand\s(?=[a-z]+s\s)")


def still_holds(revision: Revision, text: str) -> bool:
    """Tell whether a memory has a clause of which nothing is said: it would be hidden with what is revised."""
    clauses = [one for one in _CLAUSES.split(text) if content(one)]
    if AGAIN in revision.forms or len(clauses) == 1:
        return False
    said, subject = content(revision.text), content(subject_of(text))
    own = [content(one) - subject for one in clauses]
    return any(one and one.isdisjoint(said) for one in own)


_VALUE: Final = expression(r"[A-Za-z0-9][A-Za-z0-9.:/-]*\Z")
_INSTEAD: Final = caseless(
    r"[,;，；]\s*(?:but |而)?(?:it['’]?s|it is|是|在|叫|用)\s*(?:(?:on|at|in|with) )?"
    r"(?P<value>[A-Za-z0-9][A-Za-z0-9.:/-]*)[\s.。!！]*\Z"
)


def _with_word(revision: Revision, old: str) -> str:
    """Return an old line with the one word that is denied exchanged for the one that holds instead."""
    found, denied = _INSTEAD.search(revision.plain), revision.old[0] if len(revision.old) == 1 else ""
    denied = denied.split(" ")[-1]
    if not found or not _VALUE.match(denied):
        return ""
    places = list(re.finditer(rf"(?<![A-Za-z0-9]){re.escape(denied)}(?![A-Za-z0-9])", old))
    are_alike = denied[0].isdigit() == found["value"][0].isdigit()
    if len(places) != 1 or not are_alike:
        return ""
    return old[: places[0].start()] + found["value"].rstrip(".:/-") + old[places[0].end() :]


_HAN: Final = expression(f"[{HAN}]")
_HAN_NUMBER: Final = expression(rf"(?<!第)(?:\d[\d.,]*|{HAN_NUMBER})(?P<behind>[{HAN}A-Za-z]?)")


def _with_number(revision: Revision, old: str) -> str:
    """Return an old line with the one number that is denied exchanged for the one other that a sentence says."""
    denied = {found[0]: found for one in revision.old for found in _HAN_NUMBER.finditer(one)}
    fresh = {found[0]: found for found in _HAN_NUMBER.finditer(revision.rest)}
    held = [found for found in _HAN_NUMBER.finditer(old) if found[0] in denied]
    has_more = _HAN.search(old) and _CLAUSES.search(old.rstrip("。."))
    if not has_more or (len(denied), len(fresh), len(held)) != (1, 1, 1):
        return ""
    (new,) = fresh.values()
    are_alike = new["behind"] == held[0]["behind"] and new[0] != held[0][0]
    return old[: held[0].start()] + new[0] + old[held[0].end() :] if are_alike else ""


_LIVES_IN: Final = expression(r"\blives? in (?P<place>[A-Z][\w-]*(?: [A-Z][\w-]*)*)")
_PLACE: Final = expression(r"[A-Z][\w-]*(?: [A-Z][\w-]*)*\Z")


def _moved(revision: Revision, old: str) -> str:
    """Return an old line with the place to which somebody moved, where it says in which one they lived."""
    home, place = _LIVES_IN.search(old), revision.new.rstrip(". !")
    if not home or not MOVES.search(revision.plain) or not _PLACE.match(place):
        return ""
    return old[: home.start("place")] + place + old[home.end("place") :]


_PREPOSITION: Final = caseless(
    r"\b(on|at|in|with|by|from|through|via|under|of|for|until|till|before|after|near|behind|between|since)"
    r"(?: (?:the|an?))? *\Z"
)


def _are_in_one_place(old: str, new: str, pair: tuple[TypedValue, TypedValue]) -> bool:
    """Tell whether no other preposition leads to a new value than to the old one: then it may stand in its place."""
    places = [_PREPOSITION.search(text[: value.start]) for text, value in zip((old, new), pair, strict=True)]
    joins = {place[1].lower() for place in places if place}
    return len(joins) <= 1


def _says_more(text: str, value: TypedValue) -> bool:
    """Tell whether a statement has a part beside its subject with its verb, and beside the one that holds a value."""
    at, parts = 0, list[tuple[int, int]]()
    for found in _SEGMENT.finditer(text):
        parts.append((at, found.start()))
        at = found.end()
    parts.append((at, len(text)))
    others = [text[start:end] for start, end in parts[1:] if not start <= value.start < end]
    is_first = parts[0][0] <= value.start < parts[0][1]
    first = CLAUSE_END.split(text)[0]
    if not is_first and parts[0][1] >= len(first) and content(first) - content(subject_of(first)):
        others.append(first)
    return any(content(one) for one in others)


_CAPITAL: Final = expression(
    r"(?<=[ (])(?!I\b|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)[a-z]*\b)"
    r"[A-Z][\w-]*"
)


def _adds_more(revision: Revision, old: str, pair: tuple[TypedValue, TypedValue]) -> bool:
    """Tell whether a sentence has further values, or names, that the old line has not."""
    told = {one.told for one in values_in(old)}
    more = [one for one in values_in(revision.rest) if one.told not in told and one.told != pair[1].told]
    names = {one.casefold() for one in _CAPITAL.findall(revision.rest)}
    return any(one.kind != "daypart" for one in more) or any(
        one not in f"{old} {pair[1].text}".casefold() for one in names
    )
