"""Forgetting in texts: the memory that a person means, its removal from notes, and its traces in changes and pages.

A memory is named by an id, a citation, or words of its text. In doubt a text counts as a trace: a mistake costs an
undo, or a line that is generated again.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from functools import cached_property

from msgspec import Struct

from memoryd.domain.documents import Citation, RelativePath, citation_in, is_conversation
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Book, Memory, newest_first
from memoryd.domain.memories.changes.diffs import Forgotten, occurrences
from memoryd.domain.memories.changes.tombstones import END_MARKS, MIN_CHARS, TextMatcher, composed
from memoryd.domain.memories.entities import ENTITY_PAGES
from memoryd.domain.memories.generated import BEGIN, END, SUMMARY, block_in, citations_in, restates
from memoryd.domain.memories.kinds import MemoryId, ShortId, short_id
from memoryd.domain.memories.line import RetainedLine, parse_line
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.text.lines import encode_padded, splice
from memoryd.domain.text.words import UNSPACED, UNSPACED_RUN, normalised

_ID = expression(r"[0-9a-fA-F]{4,8}(?:-[0-9a-fA-F-]*)?\Z")
_WORDS = expression(rf"[{UNSPACED}]+|[^\W{UNSPACED}]+(?:[.,:][0-9][^\W{UNSPACED}]*)*")
"""Words; `2.5`, `9:30` and `v1.2` are one word each, so that `5` does not match within them."""
_SHOWN = 5
_SHORT_ID_CHARS = 8
"""Characters of an id as commands print it: an input of this length is always an id."""
MOST = 50
"""Most memories forgotten at once; more are hardly intended."""


class ForgetTarget(Struct, frozen=True):
    """The target of forgetting: memories, or lines of a note that state no memory."""

    memories: tuple[Memory, ...] = ()
    lines: Citation | None = None


def find_target(book: Book, name: str) -> ForgetTarget:
    """Return the target that a name means in a book; raise ValueError with the reason if it means none."""
    query = name.strip()
    if not query:
        raise ValueError("nothing is named: give an id, a citation such as memory/2026-11-20.md#L12, or words")
    if _ID.match(query):
        return ForgetTarget(_by_id(book, query))
    citation = citation_in(query)
    if citation is not None and (citation.start_line is not None or citation.path.endswith(".md")):
        return _by_citation(book, citation)
    return ForgetTarget(_by_words(book, query))


def _by_id(book: Book, query: str) -> tuple[Memory, ...]:
    """Return the memories named by something that reads as an id, but may be a word: `cafe`, `2026`, a code."""
    try:
        named = book.find(query)
    except ValueError:
        if not memories_with_words(book, query):
            raise
        return _by_words(book, query)
    if len(query) >= _SHORT_ID_CHARS:
        return (named,)
    if others := [memory for memory in memories_with_words(book, query) if memory.id != named.id]:
        raise ValueError(
            f"{query!r} is the beginning of the id {short_id(named.id)}, and a word of {short_id(others[0].id)}"
            f"{' and others' if len(others) > 1 else ''}: give eight signs of the id, or more of the words"
        )
    return (named,)


def memories_with_words(book: Book, words: str) -> tuple[Memory, ...]:
    """Return the memories that contain all of the words, in the text or entities, in any case; newest first."""
    query = frozenset(_words(words))
    matches = (memory for memory in book.memories.values() if query and all(map(_holder(memory), query)))
    return newest_first(matches)


def _by_words(book: Book, query: str) -> tuple[Memory, ...]:
    """Return the memories that words mean: those with this text, or the words in this order, or a single one.

    In another order the words say something else, so several memories that merely contain them are never the target.
    """
    stated = _by_statement(book, query)
    if stated:
        return stated
    matcher = TextMatcher(query, least=0)
    containing = memories_with_words(book, query)
    matches = newest_first(memory for memory in containing if matcher.occurs_in(memory.text)) or containing
    if not matches:
        raise ValueError(f"no memory says {query!r}")
    if len(matches) > MOST:
        raise ValueError(f"{len(matches):,} memories say {query!r}: at most {MOST} go at once; name more of the words")
    if len(matches) > 1 and len(_words(query)) > 1 and not matcher.occurs_in(matches[0].line.text):
        named = ", ".join(short_id(memory.id) for memory in matches[:_SHOWN]) + (", …" if len(matches) > _SHOWN else "")
        raise ValueError(
            f"{len(matches)} memories hold these words, none of them in this order: name one by its id ({named}), "
            "or give its exact words"
        )
    return matches


def _by_statement(book: Book, query: str) -> tuple[Memory, ...]:
    """Return the memories with exactly this text: the bullet as written, or else its text."""
    statement = parse_line(query if query.startswith(("- ", "* ", "+ ")) else f"- {query}")
    if isinstance(statement, RetainedLine) and statement.id in book.memories:
        return (book.memories[statement.id],)
    bare = _typed_text(query)
    return newest_first(memory for memory in book.memories.values() if bare and _typed_text(memory.text) == bare)


def _by_citation(book: Book, citation: Citation) -> ForgetTarget:
    if is_conversation(citation.path):
        raise ValueError(
            f"{citation} is of a conversation: see `memoryctl sessions forget`, and `memoryctl qa mark` for an answer"
        )
    if citation.start_line is None:
        raise ValueError(f"{citation.path} is a whole note: give lines of it, or delete the file")
    if citation.mark:
        # the lines may have changed since, the mark has not
        return ForgetTarget((book.find(citation.mark),))
    first, last = citation.start_line, citation.end_line or citation.start_line
    on_lines = book.sources_on(citation.path, first, last)
    memories = {memory.id: memory for memory, _ in on_lines}
    return ForgetTarget(tuple(memories.values())) if memories else ForgetTarget(lines=citation)


def _holder(memory: Memory) -> Callable[[str], bool]:
    """Return a predicate: whether a memory contains a word."""
    text = f"{memory.text} {' '.join(memory.line.entities)}"
    words = frozenset(_words(text))
    # scripts without spaces have no words to compare: there the query may be part of a run
    runs = tuple(word for word in words if UNSPACED_RUN.match(word))
    return lambda word: word in words or (UNSPACED_RUN.match(word) is not None and any(word in run for run in runs))


def _typed_text(text: str) -> str:
    """Return a text normalised for typing differences: case, spaces, and the stop at its end."""
    return " ".join(normalised(text).casefold().split()).rstrip(".!。！ ")


def _words(text: str) -> list[str]:
    return _WORDS.findall(normalised(text).casefold())


_BEFORE = r"(?:^[ \t+*>-]*|[:：][ \t]*|\")"
"""What may precede a short text: marks of a list or a diff, the head of a bullet, or a quotation mark."""
_AFTER = rf"[{re.escape(END_MARKS)}]*(?:[ \t]*$|\")"


class Traces(Struct, frozen=True, dict=True):
    """Recognises memories by the words of their texts, and by their ids, as links on pages name them."""

    texts: tuple[TextMatcher, ...]
    ids: Set[ShortId] = frozenset()

    def are_in(self, text: str) -> bool:
        """Return whether a text has a trace of the memories: a full text, one line of it, or an id."""
        return (
            self.are_named_in(text)
            or any(words.occurs_in(text) for words in self._long)
            or (self._short is not None and self._short.search(composed(text)) is not None)
        )

    def are_mentioned_in(self, line: str) -> bool:
        """Return whether a generated line links to one of the memories, or contains its text."""
        return self.are_named_in(line) or any(words.occurs_in(line) for words in self.texts)

    def are_named_in(self, text: str) -> bool:
        """Return whether a link in a text names one of the memories."""
        return self._titles is not None and self._titles.search(text) is not None

    @cached_property
    def _pieces(self) -> tuple[str, ...]:
        lines = (line.strip() for words in self.texts for line in words.text.split("\n"))
        return tuple(dict.fromkeys(filter(None, lines)))

    @cached_property
    def _long(self) -> tuple[TextMatcher, ...]:
        return (*self.texts, *(TextMatcher(piece) for piece in self._pieces if not _is_short(piece)))

    @cached_property
    def _short(self) -> re.Pattern[str] | None:
        """A pattern for lines too short to be searched within others: they must be all that a line says."""
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
"""A path by whose rules a line outside of any log is parsed."""
_ANY_HEAD = "## Retain\n"
ByteRange = tuple[int, int]
"""Start and end in a document, in bytes, end exclusive."""


def without_memories(text: str, path: RelativePath, memories: Set[MemoryId], traces: Traces) -> str | None:
    """Return a note without the lines that state these memories, None if there is none.

    In blocks generated by reflect, lines with traces are removed together with the lines indented below them.
    """
    data = encode_padded(text)
    sections = memory_sections(data, path)
    stated = [(placed.start, placed.end) for placed in sections.lines if placed.line.id in memories]
    generated = [
        span for place in sections.generated for span in _traces_in_block(data, place, traces.are_mentioned_in)
    ]
    return _cut(text, [*stated, *generated])


def files_cited(text: str) -> frozenset[RelativePath]:
    """Return the files that the generated block of a page cites as sources."""
    return frozenset(RelativePath(path) for _, path in citations_in(block_in(text) or ""))


def citations_of_files(paths: Set[str]) -> Forgotten:
    """Return predicates for what reflect generated from these files, including the summaries of a text model."""
    return Forgotten(
        lambda text: any(path in paths for _, path in citations_in(text)),
        lambda line: "" if line.startswith(SUMMARY) else line,
    )


def without_files(text: str, path: RelativePath, files: Set[str]) -> str | None:
    """Return a page without what reflect generated from these files, None if there is nothing of it."""
    data, cites = encode_padded(text), citations_of_files(files).is_in
    spans = [span for place in memory_sections(data, path).generated for span in _traces_in_block(data, place, cites)]
    return _cut(text, spans)


def with_other_lines(text: str, first: int, lines: Sequence[str], replacement: Sequence[str] = ()) -> str | None:
    """Return a note with lines replaced that began on line `first` (from 1).

    None if they are not found. If the text above was edited, they are located by their text, if it occurs once.
    """
    current = text.split("\n")
    places = list(occurrences(current, lines)) if lines else []
    at = first - 1 if first - 1 in places else places[0] if len(places) == 1 else None
    return None if at is None else "\n".join([*current[:at], *replacement, *current[at + len(lines) :]])


def without_words(text: str, matchers: Collection[TextMatcher]) -> str | None:
    """Return a note with the words replaced by `[forgotten]`, None if it does not contain them."""
    cut = text
    for matcher in matchers:
        cut = matcher.cut_from(cut)
    return cut if cut != text else None


def restating_memories(book: Book, matchers: Collection[TextMatcher]) -> list[Memory]:
    """Return the memories that contain the words and only restate other memories."""
    return [memory for memory in book.restating if any(matcher.occurs_in(memory.text) for matcher in matchers)]


def without_words_of(
    text: str, path: RelativePath, ids: Set[MemoryId], matchers: Collection[TextMatcher]
) -> str | None:
    """Return a note with the words replaced by `[forgotten]` in lines of these memories, None if there are none."""
    data = encode_padded(text)
    spans = [(placed.start, placed.end) for placed in memory_sections(data, path).lines if placed.line.id in ids]
    lines = ((start, end, data[start:end].decode("utf-8", "surrogatepass")) for start, end in spans)
    changed = splice(text, ((start, end, without_words(line, matchers) or line) for start, end, line in lines))
    return changed if changed != text else None


def redact_restatement(matchers: Collection[TextMatcher], line: str) -> str:
    """Return a line with the words replaced by `[forgotten]`, if it restates other memories; else unchanged."""
    if not any(matcher.occurs_in(line) for matcher in matchers):
        return line
    placed = memory_sections(encode_padded(f"{_ANY_HEAD}{line}\n"), ANY_LOG).lines
    if not any(restates(item.line) for item in placed):
        return line
    return without_words(line, matchers) or line


def drop_empty_page(text: str | None, path: RelativePath) -> str | None:
    """Return an empty text for an entity page without entries or text of a person; any other text unchanged.

    Otherwise the name of a forgotten entity would remain as the heading.
    """
    if text is None or not path.startswith(ENTITY_PAGES):
        return text
    data = encode_padded(text)
    generated = memory_sections(data, path).generated
    if not generated or any(b"](" in data[start:end] for start, end in generated):
        return text
    lines = (_cut(text, generated) or "").split("\n")
    written = [line for line in lines if line.strip()]
    return "" if len(written) <= 1 and all(line.startswith("# ") for line in written) else text


def _traces_in_block(data: bytes, place: ByteRange, is_trace: Callable[[str], bool]) -> Iterator[ByteRange]:
    """Yield the generated lines that have traces, and the lines indented below them.

    If there are any, also yield the summary, because a text model wrote it from all lines in its own words.
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
            if is_trace(line):
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
    return splice(text, ((start, end, "") for start, end in spans)) if spans else None
