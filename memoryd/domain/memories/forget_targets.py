"""What somebody means who names something to be forgotten: an id, a citation, or words that a memory says."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from memoryd.domain.citations import Citation, parse
from memoryd.domain.conversation_paths import is_conversation
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.identity import short_id
from memoryd.domain.memories.retained import RetainedLine, parse_line
from memoryd.domain.memories.said_words import SaidWords
from memoryd.domain.text.words import UNSPACED, normalised

_ID: Final = re.compile(r"[0-9a-fA-F]{4,8}(?:-[0-9a-fA-F-]*)?\Z")
_WORDS: Final = re.compile(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+(?:[.,:][0-9][^\W{UNSPACED}]*)*")
"""Words; `2.5`, `9:30` and `v1.2` are one each, so that a five in them is none."""
_UNSPACED: Final = re.compile(f"[{UNSPACED}]+")
_SHOWN: Final = 5
_WHOLE_SHORT_ID: Final = 8
"""Signs of an id as commands print it: so many are meant as one."""
MOST: Final = 50
"""So many memories may go at once; more are hardly meant."""


@dataclass(frozen=True, slots=True)
class ForgetTarget:
    """What is to be forgotten: memories, or where no memory stands, lines of a note."""

    memories: tuple[Memory, ...] = ()
    lines: Citation | None = None


def target(book: Book, name: str) -> ForgetTarget:
    """Return what a name means in a book; raises ValueError, which says why it means nothing."""
    asked = name.strip()
    if not asked:
        raise ValueError("nothing is named: give an id, a citation such as memory/2026-11-20.md#L12, or words")
    if _ID.match(asked):
        return ForgetTarget(_identified(book, asked))
    citation = _citation(asked)
    if citation is not None:
        return _cited(book, citation)
    return ForgetTarget(_one_meaning(book, asked))


def _identified(book: Book, asked: str) -> tuple[Memory, ...]:
    """Return what is meant by what reads as an id, and may be a word: `cafe`, `2026`, a code."""
    said = saying(book, asked)
    try:
        named = book.found(asked)
    except ValueError:
        if not said:
            raise
        return _one_meaning(book, asked)
    others = [memory for memory in said if memory.id != named.id]
    if others and len(asked) < _WHOLE_SHORT_ID:
        raise ValueError(
            f"{asked!r} is the beginning of the id {short_id(named.id)}, and a word of {short_id(others[0].id)}"
            f"{' and others' if len(others) > 1 else ''}: give eight signs of the id, or more of the words"
        )
    return (named,)


def saying(book: Book, words: str) -> tuple[Memory, ...]:
    """Return the memories whose text or entities hold all of the words, whole and in any case; the newest first."""
    asked = frozenset(_words(words))
    found = (memory for memory in book.memories.values() if asked and all(map(_holder(memory), asked)))
    return _newest_first(found)


def _one_meaning(book: Book, asked: str) -> tuple[Memory, ...]:
    """Return what somebody means who gives words: what says just them, or says them as they stand, or one memory.

    Words in another order say something else, so that several memories which merely hold them are never meant.
    """
    stated = _stated(book, asked)
    if stated:
        return stated
    row = SaidWords(asked, least=0)
    scattered = saying(book, asked)
    found = _newest_first(memory for memory in scattered if row.stand_in(memory.line.text)) or scattered
    if not found:
        raise ValueError(f"no memory says {asked!r}")
    if len(found) > MOST:
        raise ValueError(f"{len(found):,} memories say {asked!r}: at most {MOST} go at once; name more of the words")
    if len(found) > 1 and len(_words(asked)) > 1 and not row.stand_in(found[0].line.text):
        named = ", ".join(short_id(memory.id) for memory in found[:_SHOWN]) + (", …" if len(found) > _SHOWN else "")
        raise ValueError(
            f"{len(found)} memories hold these words, none of them in this order: name one by its id ({named}), "
            "or give its words as they stand"
        )
    return found


def _stated(book: Book, asked: str) -> tuple[Memory, ...]:
    """Return the memories that say just this: the bullet as it is written, or else its text."""
    said = parse_line(asked if asked.startswith(("- ", "* ", "+ ")) else f"- {asked}")
    if isinstance(said, RetainedLine) and said.id in book.memories:
        return (book.memories[said.id],)
    bare = _bare(asked)
    return _newest_first(memory for memory in book.memories.values() if bare and _bare(memory.line.text) == bare)


def _cited(book: Book, citation: Citation) -> ForgetTarget:
    if is_conversation(citation.path):
        raise ValueError(
            f"{citation} is of a conversation: see `memoryctl sessions forget`, and `memoryctl qa mark` for an answer"
        )
    if citation.start_line is None:
        raise ValueError(f"{citation.path} is a whole note: give lines of it, or delete the file")
    if citation.mark:
        # the lines may say something else by now, the mark does not
        return ForgetTarget((book.found(citation.mark),))
    first, last = citation.start_line, citation.end_line or citation.start_line
    found = [
        memory
        for memory in book.memories.values()
        if any(
            source.path == citation.path and source.start_line <= last and source.end_line >= first
            for source in memory.sources
        )
    ]
    return ForgetTarget(tuple(found)) if found else ForgetTarget(lines=citation)


def _citation(text: str) -> Citation | None:
    try:
        citation = parse(text)
    except ValueError:
        return None
    return citation if citation.start_line is not None or citation.path.endswith(".md") else None


def _newest_first(found: Iterable[Memory]) -> tuple[Memory, ...]:
    return tuple(sorted(found, key=lambda memory: (-memory.recorded.toordinal(), memory.id)))


def _holder(memory: Memory) -> Callable[[str], bool]:
    """Return what tells whether a memory holds a word."""
    text = f"{memory.line.text} {' '.join(memory.line.entities)}"
    held = frozenset(_words(text))
    # a script without spaces has no words to compare: there what was asked may stand anywhere
    runs = tuple(word for word in held if _UNSPACED.match(word))
    return lambda word: word in held or (_UNSPACED.match(word) is not None and any(word in run for run in runs))


def _bare(text: str) -> str:
    """Return a text without what differs by the hand that types it: case, spaces, and the stop at its end."""
    return " ".join(normalised(text).casefold().split()).rstrip(".!。！ ")


def _words(text: str) -> list[str]:
    return _WORDS.findall(normalised(text).casefold())
