"""Forgetting in texts: which memory a person means, its removal from notes, and its traces in changes and pages.

A memory is named by an id, a citation, or words that it says. In doubt text is taken for a trace: a mistake costs an
undo, or a line that is written anew.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from functools import cached_property

from msgspec import Struct

from memoryd.domain.documents import Citation, RelativePath, citation_in, is_conversation
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book, Memory, newest_first
from memoryd.domain.memories.changes.diffs import Forgotten
from memoryd.domain.memories.changes.tombstones import END_MARKS, MIN_CHARS, TextMatcher, composed
from memoryd.domain.memories.entities import ENTITY_PAGES
from memoryd.domain.memories.generated import BEGIN, END, SUMMARY, block_in, citations_in, retells
from memoryd.domain.memories.kinds import MemoryId, ShortId, short_id
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.text.lines import padded, spliced
from memoryd.domain.text.words import UNSPACED, UNSPACED_RUN, normalised

_ID = expression(r"[0-9a-fA-F]{4,8}(?:-[0-9a-fA-F-]*)?\Z")
_WORDS = expression(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+(?:[.,:][0-9][^\W{UNSPACED}]*)*")
"""Words; `2.5`, `9:30` and `v1.2` are one each, so that a five in them is none."""
_SHOWN = 5
_WHOLE_SHORT_ID = 8
"""Signs of an id as commands print it: so many are meant as one."""
MOST = 50
"""So many memories may go at once; more are hardly meant."""


class ForgetTarget(Struct, frozen=True):
    """What is to be forgotten: memories, or lines of a note that state none."""

    memories: tuple[Memory, ...] = ()
    lines: Citation | None = None


def target(book: Book, name: str) -> ForgetTarget:
    """Return what a name means in a book; raises ValueError, which says why it means nothing."""
    asked = name.strip()
    if not asked:
        raise ValueError("nothing is named: give an id, a citation such as memory/2026-11-20.md#L12, or words")
    if _ID.match(asked):
        return ForgetTarget(_by_id(book, asked))
    citation = citation_in(asked)
    if citation is not None and (citation.start_line is not None or citation.path.endswith(".md")):
        return _by_citation(book, citation)
    return ForgetTarget(_one_meaning(book, asked))


def _by_id(book: Book, asked: str) -> tuple[Memory, ...]:
    """Return what is meant by what reads as an id, and may be a word: `cafe`, `2026`, a code."""
    try:
        named = book.found(asked)
    except ValueError:
        if not saying(book, asked):
            raise
        return _one_meaning(book, asked)
    if len(asked) >= _WHOLE_SHORT_ID:
        return (named,)
    if others := [memory for memory in saying(book, asked) if memory.id != named.id]:
        raise ValueError(
            f"{asked!r} is the beginning of the id {short_id(named.id)}, and a word of {short_id(others[0].id)}"
            f"{' and others' if len(others) > 1 else ''}: give eight signs of the id, or more of the words"
        )
    return (named,)


def saying(book: Book, words: str) -> tuple[Memory, ...]:
    """Return the memories whose text or entities hold all of the words, whole and in any case; the newest first."""
    asked = frozenset(_words(words))
    found = (memory for memory in book.memories.values() if asked and all(map(_holder(memory), asked)))
    return newest_first(found)


def _one_meaning(book: Book, asked: str) -> tuple[Memory, ...]:
    """Return the memories that words mean: those that say just them, or have them in this order, or a single one.

    Words in another order say something else, so that several memories which merely hold them are never meant.
    """
    stated = _by_statement(book, asked)
    if stated:
        return stated
    row = TextMatcher(asked, least=0)
    scattered = saying(book, asked)
    matches = newest_first(memory for memory in scattered if row.occurs_in(memory.text)) or scattered
    if not matches:
        raise ValueError(f"no memory says {asked!r}")
    if len(matches) > MOST:
        raise ValueError(f"{len(matches):,} memories say {asked!r}: at most {MOST} go at once; name more of the words")
    if len(matches) > 1 and len(_words(asked)) > 1 and not row.occurs_in(matches[0].line.text):
        named = ", ".join(short_id(memory.id) for memory in matches[:_SHOWN]) + (", …" if len(matches) > _SHOWN else "")
        raise ValueError(
            f"{len(matches)} memories hold these words, none of them in this order: name one by its id ({named}), "
            "or give its words as they stand"
        )
    return matches


def _by_statement(book: Book, asked: str) -> tuple[Memory, ...]:
    """Return the memories that say just this: the bullet as it is written, or else its text."""
    said = parse_line(asked if asked.startswith(("- ", "* ", "+ ")) else f"- {asked}")
    if isinstance(said, RetainedLine) and said.id in book.memories:
        return (book.memories[said.id],)
    bare = _typed_text(asked)
    return newest_first(memory for memory in book.memories.values() if bare and _typed_text(memory.text) == bare)


def _by_citation(book: Book, citation: Citation) -> ForgetTarget:
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
    on_lines = book.sources_on(citation.path, first, last)
    memories = {memory.id: memory for memory, _ in on_lines}
    return ForgetTarget(tuple(memories.values())) if memories else ForgetTarget(lines=citation)


def _holder(memory: Memory) -> Callable[[str], bool]:
    """Return what tells whether a memory holds a word."""
    text = f"{memory.text} {' '.join(memory.line.entities)}"
    words = frozenset(_words(text))
    # a script without spaces has no words to compare: there the query may be anywhere
    runs = tuple(word for word in words if UNSPACED_RUN.match(word))
    return lambda word: word in words or (UNSPACED_RUN.match(word) is not None and any(word in run for run in runs))


def _typed_text(text: str) -> str:
    """Return a text without what differs by the hand that types it: case, spaces, and the stop at its end."""
    return " ".join(normalised(text).casefold().split()).rstrip(".!。！ ")


def _words(text: str) -> list[str]:
    return _WORDS.findall(normalised(text).casefold())


_BEFORE = r"(?:^[ \t+*>-]*|[:：][ \t]*|\")"
"""What may be before a short text: marks of a list or a diff, or the head of a bullet."""
_AFTER = rf"[{re.escape(END_MARKS)}]*(?:[ \t]*$|\")"


class Traces(Struct, frozen=True, dict=True):
    """Of memories by the words they say, and by their ids, as links on pages name them."""

    said: tuple[TextMatcher, ...]
    ids: Set[ShortId] = frozenset()

    def are_in(self, text: str) -> bool:
        """Tell whether anything of them is in a text: all words, one line of several, or an id."""
        return (
            self.are_named_in(text)
            or any(words.occurs_in(text) for words in self._long)
            or (self._short is not None and self._short.search(composed(text)) is not None)
        )

    def are_mentioned_in(self, line: str) -> bool:
        """Tell whether a line that was generated names one of them, or says one."""
        return self.are_named_in(line) or any(words.occurs_in(line) for words in self.said)

    def are_named_in(self, text: str) -> bool:
        """Tell whether a link in a text names one of them."""
        return self._titles is not None and self._titles.search(text) is not None

    @cached_property
    def _pieces(self) -> tuple[str, ...]:
        lines = (line.strip() for words in self.said for line in words.text.split("\n"))
        return tuple(dict.fromkeys(filter(None, lines)))

    @cached_property
    def _long(self) -> tuple[TextMatcher, ...]:
        return (*self.said, *(TextMatcher(piece) for piece in self._pieces if not _is_short(piece)))

    @cached_property
    def _short(self) -> re.Pattern[str] | None:
        """What finds lines too short to be looked for within others: they are all that a line says."""
        short = [_without_end_marks(piece).split() for piece in self._pieces if _is_short(piece)]
        inner = "|".join(r"[ \t]+".join(map(re.escape, words)) for words in short)
        return re.compile(f"{_BEFORE}(?:{inner}){_AFTER}", re.IGNORECASE | re.MULTILINE) if short else None

    @cached_property
    def _titles(self) -> re.Pattern[str] | None:
        return re.compile(f'"(?:{"|".join(map(re.escape, sorted(self.ids)))})"') if self.ids else None


def _without_end_marks(text: str) -> str:
    return composed(text).rstrip(END_MARKS) or composed(text)


def _is_short(text: str) -> bool:
    return sum(map(len, text.split())) < MIN_CHARS


ANY_LOG = RelativePath("memory/2000-01-01.md")
"""By its rules a line is read that stands in no log."""
_ANY_HEAD = "## Retain\n"
ByteRange = tuple[int, int]
"""Bytes of a document, end exclusive."""


def without_memories(text: str, path: RelativePath, memories: Set[MemoryId], traces: Traces) -> str | None:
    """Return a note without the lines that state these memories, None if it has none of them.

    Of what reflect wrote between its markers the lines with traces of them go, with what is indented below them.
    """
    data = padded(text)
    sections = memory_sections(data, path)
    stated = [(one.start, one.end) for one in sections.lines if one.line.id in memories]
    made = [span for place in sections.generated for span in _traces_in_block(data, place, traces.are_mentioned_in)]
    return _cut(text, [*stated, *made])


def files_cited(text: str) -> frozenset[RelativePath]:
    """Return the files that a page names as the sources of what reflect wrote there."""
    return frozenset(RelativePath(path) for _, path in citations_in(block_in(text) or ""))


def citing(paths: Set[str]) -> Forgotten:
    """Return what finds in texts what reflect made of these files, with what a text model wrote above it."""
    return Forgotten(
        lambda text: any(path in paths for _, path in citations_in(text)),
        lambda line: "" if line.startswith(SUMMARY) else line,
    )


def without_files(text: str, path: RelativePath, files: Set[str]) -> str | None:
    """Return a page without what reflect made of these files, None if that is nothing."""
    data, cites = padded(text), citing(files).is_in
    made = [span for place in memory_sections(data, path).generated for span in _traces_in_block(data, place, cites)]
    return _cut(text, made)


def with_other_lines(text: str, first: int, lines: Sequence[str], others: Sequence[str] = ()) -> str | None:
    """Return a note with others in the place of these lines, which began on line `first` (from 1).

    None if they are not found. After an edit above them they are looked for where they are now, if they occur once.
    """
    now = text.split("\n")
    count = len(lines)
    places = [at for at in range(len(now) - count + 1) if count and now[at : at + count] == list(lines)]
    at = first - 1 if first - 1 in places else places[0] if len(places) == 1 else None
    return None if at is None else "\n".join([*now[:at], *others, *now[at + count :]])


def without_words(text: str, said: Collection[TextMatcher]) -> str | None:
    """Return a note with `[forgotten]` where the words were, None if it does not have them."""
    cut = text
    for words in said:
        cut = words.cut_from(cut)
    return cut if cut != text else None


def retelling_memories(book: Book, said: Collection[TextMatcher]) -> list[Memory]:
    """Return the memories that hold the words and say again what others say."""
    return [memory for memory in book.retelling if any(words.occurs_in(memory.text) for words in said)]


def without_words_of(text: str, path: RelativePath, ids: Set[MemoryId], said: Collection[TextMatcher]) -> str | None:
    """Return a note with `[forgotten]` where the words stood in lines of these memories, None if they do in none."""
    data = padded(text)
    spans = [(one.start, one.end) for one in memory_sections(data, path).lines if one.line.id in ids]
    lines = ((start, end, data[start:end].decode("utf-8", "surrogatepass")) for start, end in spans)
    left = spliced(text, ((start, end, without_words(line, said) or line) for start, end, line in lines))
    return left if left != text else None


def with_forgotten(said: Collection[TextMatcher], line: str) -> str:
    """Return a line that says again what others say with `[forgotten]` where the words stood, any other as it is."""
    if not any(words.occurs_in(line) for words in said):
        return line
    placed = memory_sections(padded(f"{_ANY_HEAD}{line}\n"), ANY_LOG).lines
    if not any(retells(one.line) for one in placed):
        return line
    return without_words(line, said) or line


def without_page(text: str | None, path: RelativePath) -> str | None:
    """Return nothing for the page of an entity that has no entry any more and no word of a person, else what is given.

    The name of an entity, of which nothing is remembered, would stay as its heading.
    """
    if text is None or not path.startswith(ENTITY_PAGES):
        return text
    data = padded(text)
    generated = memory_sections(data, path).generated
    if not generated or any(b"](" in data[start:end] for start, end in generated):
        return text
    lines = (_cut(text, generated) or "").split("\n")
    said = [line for line in lines if line.strip()]
    return "" if len(said) <= 1 and all(line.startswith("# ") for line in said) else text


def _traces_in_block(data: bytes, place: ByteRange, tells: Callable[[str], bool]) -> Iterator[ByteRange]:
    """Yield the lines between markers that have traces, and those that are indented below such a one.

    With them goes what a text model wrote of all of them, in words of its own.
    """
    at, end = place
    below, summary, is_any = -1, list[ByteRange](), False
    while at < end:
        stop = min(data.index(b"\n", at) + 1, end)
        line = data[at:stop].decode("utf-8", "surrogatepass")
        depth = len(line) - len(line.lstrip(" \t"))
        if line.startswith(SUMMARY):
            summary.append((at, stop))
        elif line.strip() not in (BEGIN, END):
            if tells(line):
                below, is_any = depth, True
                yield at, stop
            elif 0 <= below < depth and line.strip():
                yield at, stop
            else:
                below = -1
        at = stop
    if is_any:
        yield from summary


def _cut(text: str, spans: Sequence[ByteRange]) -> str | None:
    return spliced(text, ((start, end, "") for start, end in spans)) if spans else None
