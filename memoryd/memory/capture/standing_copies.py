"""Copies of what is remembered already: they are the same memory, said on another day, and nothing on the same one."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.changes.tombstones import as_said
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.text.duplicates import gist
from memoryd.index.threads import with_pauses

_NO_SIGN: Final = re.compile(r"[\W_]+")
_HEAD: Final = 16
"""Signs of a text by whose words most others are told apart."""


def standing_lines(book: Book, lines: Sequence[RetainedLine], day: date) -> list[RetainedLine]:
    """Return the lines to be written on a day: in the words of the memory that says the same, if one does.

    What was said on that day already is left out.
    """
    wanted = {_said(line): line for line in lines}
    near = _near(book, {_signs(line.text).casefold() for line in lines})
    standing = {said: memory for memory in near if (said := _said(memory.line)) in wanted}
    return [
        _in_its_words(line, standing.get(said)) for said, line in wanted.items() if not _is_of(standing.get(said), day)
    ]


def not_standing(book: Book, texts: Iterable[str]) -> frozenset[str]:
    """Return those of the texts that no memory states, in whatever scope."""
    wanted = {text: as_said(text) for text in texts}
    near = _near(book, {_signs(text).casefold() for text in wanted})
    standing = {as_said(memory.line.text) for memory in near}
    return frozenset(text for text, said in wanted.items() if said not in standing)


def _near(book: Book, signs: Collection[str]) -> list[Memory]:
    """Return the memories whose words are among these, in whatever layout and case."""
    # of thousands hardly one begins alike, and is worth looking at as a whole
    begun = (one for one in with_pauses(book.memories.values()) if _begins_alike(one.line.text, signs))
    return [memory for memory in begun if _signs(memory.line.text).casefold() in signs]


def _begins_alike(text: str, signs: Collection[str]) -> bool:
    first = text[:1].casefold()
    if first.isalnum() and not any(one.startswith(first) for one in signs):
        return False
    head = _signs(text[:_HEAD]).casefold()
    return any(one.startswith(head) for one in signs)


def _is_of(memory: Memory | None, day: date) -> bool:
    return memory is not None and any(source.day == day for source in memory.sources)


def _in_its_words(line: RetainedLine, memory: Memory | None) -> RetainedLine:
    if memory is None:
        return line
    attributes = replace(memory.line.attributes, provenance=line.attributes.provenance)
    return replace(memory.line, attributes=attributes)


def _signs(text: str) -> str:
    return _NO_SIGN.sub("", text)


def _said(line: RetainedLine) -> tuple[str, str]:
    """Return what makes two lines copies: their scope, and what they say apart from layout and the last mark."""
    told = gist(line.text) or line.text
    return line.attributes.scope, " ".join(told.split()).rstrip(".!。！ ")
