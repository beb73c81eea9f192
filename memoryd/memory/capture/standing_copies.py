"""Copies of what is remembered already: they are the same memory, said on another day, and nothing on the same one."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.retained import RetainedLine
from memoryd.domain.memories.tombstones import as_said
from memoryd.domain.text.gist import gist

_NO_SIGN: Final = re.compile(r"[\W_]+")


def standing_lines(book: Book, lines: Sequence[RetainedLine], day: date) -> list[RetainedLine]:
    """Return the lines to be written on a day: in the words of the memory that says the same, if one does.

    What was said on that day already is left out.
    """
    wanted = {_said(line): line for line in lines}
    # of thousands hardly one is worth laying out
    signs = {_signs(line.text) for line in lines}
    near = [memory for memory in book.memories.values() if _signs(memory.line.text) in signs]
    standing = {said: memory for memory in near if (said := _said(memory.line)) in wanted}
    return [
        _in_its_words(line, standing.get(said)) for said, line in wanted.items() if not _is_of(standing.get(said), day)
    ]


def not_standing(book: Book, texts: Iterable[str]) -> frozenset[str]:
    """Return those of the texts that no memory states, in whatever scope."""
    wanted = {text: as_said(text) for text in texts}
    signs = {_signs(text).casefold() for text in wanted}
    near = (memory.line.text for memory in book.memories.values())
    standing = {as_said(text) for text in near if _signs(text).casefold() in signs}
    return frozenset(text for text, said in wanted.items() if said not in standing)


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
