"""Which memory a later statement of the same form is a newer version of: of what has one value, the last one holds.

What a person likes, is allergic to or wants remembered has many values, and takes the place of nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from memoryd.domain.memories.attributes import BY_PEOPLE
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.chinese_forms import CHINESE_FORMS, chinese_starts
from memoryd.domain.memories.capture.english_forms import ENGLISH_FORMS, english_starts
from memoryd.domain.memories.capture.pins import NAME_FORMS, newness
from memoryd.domain.memories.capture.statement_forms import StatementForm
from memoryd.domain.memories.identity import short_id
from memoryd.domain.memories.retained import RetainedLine

SIGNS_MAX: Final = 500
"""Longer texts are no plain statements."""
_SINGLE: Final = frozenset(
    {"my name is", "call me", "I live in", "I work at", "我叫", "我姓", "叫我", "我住在", "我在…工作"}
)
_OWN: Final = frozenset({"my … is", "我的…是", "我的…叫"})
_ATTRIBUTE: Final = re.compile(
    r"(?:favou?rite|preferred|native|main|primary|home|current|first|last|middle|maiden)\b"
    r"|.*\b(?:names?|nickname|surname|number|colou?r|birthday|birthdate|birthplace|address|e-?mail|job|profession"
    r"|occupation|title|employer|company|hometown|city|town|country|nationality|language|major|age|size|height|weight"
    r"|salary|rent|diet|phone|username|id|timezone|time zone|handle|pronouns|degree|religion|school|university|shift"
    r"|editor|shell|os)\Z",
    re.IGNORECASE,
)
"""What has one value, whatever that looks like."""
_SHAPES: Final = (
    ("called", re.compile(r"\s*(?:called|named)\b", re.IGNORECASE)),
    ("a", re.compile(r"\s*an?\b", re.IGNORECASE)),
    ("in", re.compile(r"\s*(?:in|at|from)\b", re.IGNORECASE)),
    ("name", re.compile(r"\s*(?:[A-Z][\w'’.-]*|[\u4e00-\u9fff])")),
)
"""What is said of another: a sister has one name and one place, and is allergic to many things."""
_OF_AUTHOR: Final = re.compile(r"\b(?:my|i|call me)\b|我", re.IGNORECASE)
"""Stands in all that has one of the forms."""
_DESCRIBES: Final = re.compile(r"的[。.!！\s]*\Z")


def with_succession(book: Book, lines: Iterable[RetainedLine], day: date) -> list[RetainedLine]:
    """Return lines said on a day, each naming the standing memories that it is a newer version of."""
    lines = list(lines)
    wanted = {line.id: slots for line in lines if _is_users(line) and (slots := slots_of(line.text))}
    if not wanted:
        return lines
    standing = _standing(book, day)
    return [_over(line, _predecessors(line, wanted.get(line.id), standing)) for line in lines]


def slots_of(text: str) -> frozenset[tuple[str, str]]:
    """Return what a statement has the one value of; empty if it states nothing, or also what has many values."""
    if len(text) > SIGNS_MAX:
        return frozenset()
    found = [
        _slot(*told, text)
        for starts, forms in ((english_starts(text), ENGLISH_FORMS), (chinese_starts(text), CHINESE_FORMS))
        for start in starts
        if (told := _first(forms, text, start)) is not None
    ]
    return frozenset() if None in found else frozenset(one for one in found if one is not None)


def _first(forms: Sequence[StatementForm], text: str, start: int) -> tuple[StatementForm, re.Match[str]] | None:
    heads = ((form, form.head.match(text, start)) for form in forms)
    return next(((form, head) for form, head in heads if head is not None), None)


def _slot(form: StatementForm, head: re.Match[str], text: str) -> tuple[str, str] | None:
    if form.name in _SINGLE:
        return form.name, ""
    if form.name not in _OWN:
        return None
    told = head.groupdict()
    noun, value = (told.get("noun") or told.get("kin") or "").casefold(), text[head.end() :]
    if _ATTRIBUTE.match(noun):
        return form.name, noun
    shape = next((name for name, pattern in _SHAPES if pattern.match(value)), "")
    return (form.name, f"{noun} {shape}") if shape and not _DESCRIBES.search(value) else None


def _standing(book: Book, day: date) -> Sequence[Memory]:
    """Return what people said until a day, and no line names as superseded; the newest first.

    Versions that differ in a number alone need no look: of these the newest comes first.
    """
    older = {short for one in book.memories.values() for short in one.line.attributes.supersedes}
    said = [
        one
        for one in book.memories.values()
        if one.recorded <= day and _is_users(one.line) and short_id(one.id) not in older
    ]
    return sorted(said, key=newness, reverse=True)


def _predecessors(
    line: RetainedLine, slots: frozenset[tuple[str, str]] | None, standing: Sequence[Memory]
) -> list[Memory]:
    """Return the newest memory that a line takes the place of, and the newest pinned one.

    A name that is not pinned takes the place of none that is: it may be a quotation.
    """
    if not slots:
        return []
    is_pinned = line.attributes.is_pinned
    is_bare_name = not is_pinned and any(form in NAME_FORMS for form, _ in slots)
    may_be = [one for one in standing if not (is_bare_name and one.line.attributes.is_pinned)]
    newest = next((one for one in may_be if _is_older(one, line, slots)), None)
    pins = [one for one in may_be if one.line.attributes.is_pinned] if is_pinned else []
    pin = next((one for one in pins if _is_older(one, line, slots)), None)
    return list({one.id: one for one in (newest, pin) if one is not None}.values())


def _is_older(one: Memory, line: RetainedLine, slots: frozenset[tuple[str, str]]) -> bool:
    return (
        one.line.attributes.scope == line.attributes.scope
        and one.id != line.id
        and one.line.kind is line.kind
        # of thousands few speak of their author, and each has all forms tried on it
        and _OF_AUTHOR.search(one.line.text) is not None
        and bool(told := slots_of(one.line.text))
        and told <= slots
    )


def _is_users(line: RetainedLine) -> bool:
    return line.attributes.provenance in BY_PEOPLE


def _over(line: RetainedLine, older: Sequence[Memory]) -> RetainedLine:
    if not older:
        return line
    return replace(line, attributes=replace(line.attributes, supersedes=tuple(short_id(one.id) for one in older)))
