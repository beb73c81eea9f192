"""What the index holds of a document (chunks, passages, hashes of their content), and where a chunk is now.

After an edit the text of a chunk may be at its lines, at others, or nowhere.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.media import label
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.sections import MemorySections, memory_sections
from memoryd.domain.text.chunking import CHUNKER_VERSION, Apart, Chunk, each_chunk
from memoryd.domain.text.lines import PADDING, padded
from memoryd.domain.text.markdown import Headings, headings_of
from memoryd.domain.text.privacy import LAW_VERSION

MEDIA_CHUNKER = "media:1"
"""Stands for the cut of a picture or sound: one chunk, whose text names the file."""
MEMORIES_VERSION = 5
"""Goes up whenever the same text would be read as other memories, or as under other scopes."""
NOWHERE = RelativePath("")
"""The path of a text that is no document: it states no memories."""


class ChunkSettings(Struct, frozen=True):
    """How documents are cut: the size of what a chunk has for itself, and what it repeats, in estimated tokens."""

    tokens: int
    overlap: int

    @property
    def fingerprint(self) -> str:
        """Names the cut, and the rules of what may be cut and of what states a memory.

        Under another fingerprint a document is read anew.
        """
        return f"{CHUNKER_VERSION}:{self.tokens}:{self.overlap}:{LAW_VERSION}:{MEMORIES_VERSION}"


class PassageEntry(Struct, frozen=True):
    """A span of its chunk's text, in characters, and the hash that names its vector.

    An empty span at the start stands for the bytes of the file itself: a picture or sound.
    """

    start: int
    stop: int
    hash: bytes


class ChunkEntry(Struct, frozen=True):
    """An exact slice of a document, with the lines it stands on (1-based, inclusive)."""

    start_line: int
    end_line: int
    heading: str
    text: str
    hash: bytes
    """Names all of it save the lines: equal hashes have equal passages."""
    passages: tuple[PassageEntry, ...]
    memory: MemoryId | None = None
    """What it states, if it is a retained line."""
    scope: str = ""
    """The scope that it stands under without being a retained line."""


def chunk_entries(text: str, settings: ChunkSettings, path: RelativePath = NOWHERE) -> tuple[ChunkEntry, ...]:
    """Return the entries of a text."""
    return tuple(each_entry(padded(text), settings, path))


def each_entry(data: bytes, settings: ChunkSettings, path: RelativePath) -> Iterator[ChunkEntry]:
    """Cut a document, UTF-8 that ends in `PADDING`, into the entries that the index keeps of it."""
    apart = apart_of(data, path)
    stated = {one.start: meaning for one, meaning in apart.items()}
    size, overlap = settings.tokens + settings.overlap, settings.overlap
    for cut in each_chunk(data, tokens=size, overlap=overlap, apart=tuple(apart)):
        yield _chunk_entry(data, cut, *stated.get(cut.start, _PLAIN))


_PLAIN: tuple[MemoryId | None, str] = (None, "")


def apart_of(data: bytes, path: RelativePath) -> Mapping[Apart, tuple[MemoryId | None, str]]:
    """Return what is cut apart from the rest of a document, in order, with the memory that it states, and its scope.

    That is: retained lines, what else is under a scope, and what reflect wrote.

    Each of those lines is a chunk of its own, so that its vector is of it alone; what is under a scope is one, so that
    its words stand in no other; what reflect wrote is in none.
    """
    found = memory_sections(data, path)
    lines = [(Apart(one.start, one.end), (one.line.id, "")) for one in found.lines]
    generated = [(Apart(start, end, is_left_out=True), _PLAIN) for start, end in found.generated]
    scoped = [(Apart(start, end), (None, scope)) for start, end, scope in _scoped_ranges(data, found)]
    return dict(sorted([*lines, *generated, *scoped], key=lambda one: one[0].start))


def _scoped_ranges(data: bytes, found: MemorySections) -> Iterator[tuple[int, int, str]]:
    """Yield the bytes under each scope that are no retained line."""
    ends = {one.start_line: one.end for one in found.lines}
    for span in found.scoped:
        start = ends.get(span.first_line, span.start)
        blank = len(data[start : span.end]) - len(data[start : span.end].lstrip())
        if start + blank < span.end:
            # blank lines before it are no text of it, the blanks before its first word are
            yield data.rfind(b"\n", start, start + blank) + 1 or start, span.end, span.scope


def media_entries(path: str, mime: str, digest: bytes) -> tuple[ChunkEntry, ...]:
    """Return the one entry of a picture or sound with these bytes (`digest`: their SHA-256).

    Its text is the file's name; its passage is named by what the file holds, so that a renamed one keeps its vector.
    """
    text = label(path)
    passage = PassageEntry(0, 0, content_hash(mime, digest.hex()))
    return (
        ChunkEntry(
            start_line=1,
            end_line=1,
            heading="",
            text=text,
            hash=chunk_hash("", text, "0-0"),
            passages=(passage,),
        ),
    )


def content_hash(heading: str, text: str) -> bytes:
    """Return sixteen bytes of SHA-256 that name a text under its heading. Lone surrogates are hashed as they stand."""
    return sha256(f"{heading}\0{text}".encode("utf-8", "surrogatepass")).digest()[:16]


def chunk_hash(heading: str, text: str, spans: str) -> bytes:
    """Name a chunk by its heading, its text and the spans of its passages, written `0-80 80-200`.

    Where the overlap ends is part of it: the same lines can be all own text after an edit, or half overlap.
    """
    return content_hash(f"{spans}\0{heading}", text)


def _chunk_entry(data: bytes, cut: Chunk, memory: MemoryId | None, scope: str) -> ChunkEntry:
    body = _decode(data, cut.start, cut.end)
    passages = tuple(_passages(data, cut))
    return ChunkEntry(
        start_line=cut.start_line,
        end_line=cut.end_line,
        heading=cut.heading,
        text=body,
        hash=chunk_hash(cut.heading, body, " ".join(f"{passage.start}-{passage.stop}" for passage in passages)),
        passages=passages,
        memory=memory,
        scope=scope,
    )


def _passages(data: bytes, cut: Chunk) -> Iterator[PassageEntry]:
    """Yield the passages that say something, with their places in the chunk's text."""
    stop = len(_decode(data, cut.start, cut.own_start))
    for span in cut.passages:
        text = _decode(data, span.start, span.end)
        start, stop = stop, stop + len(text)
        if text.strip():
            yield PassageEntry(start, stop, content_hash(cut.heading, text))


def _decode(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "surrogatepass")


_LINE_END = ord("\n")


class PresentText(Struct, frozen=True, dict=True):
    """A document as it is now: `data` is UTF-8 that ends in `PADDING`. Its headings are looked for once, if at all."""

    data: bytes

    def line_of(self, text: str, heading: str, line: int) -> int | None:
        """Return on which line (from 1) a chunk begins that began on `line`, None if it is not in the document.

        It is there where all its lines stand, whole and in a row, below the headings that it is told under. Of
        several places the nearest counts, of two that are as near the one above.
        """
        chunk = text.encode("utf-8", "surrogatepass")
        best: int | None = None
        for found, offset in self._places(chunk):
            is_nearer = best is None or abs(found - line) < abs(best - line)
            if is_nearer and self._is_below(heading, offset, offset + len(chunk)):
                best = found
            if found >= line and best is not None:
                break
        return best

    @property
    def _size(self) -> int:
        return len(self.data) - len(PADDING)

    @cached_property
    def _headings(self) -> Headings:
        return headings_of(self.data)

    def _places(self, chunk: bytes) -> Iterator[tuple[int, int]]:
        """Yield line (from 1) and offset of each place where the bytes are whole lines."""
        line, counted, at = 1, 0, self.data.find(chunk, 0, self._size)
        while at >= 0:
            if (at == 0 or self.data[at - 1] == _LINE_END) and self._ends_line(at + len(chunk)):
                line += self.data.count(b"\n", counted, at)
                counted = at
                yield line, at
            # nothing can begin before the next line does
            following = self.data.find(b"\n", at, self._size) + 1
            at = self.data.find(chunk, following, self._size) if following else -1

    def _ends_line(self, at: int) -> bool:
        # the padding ends the last line
        return self.data[at - 1] == _LINE_END or self.data[at : at + 2] == b"\r\n" or self.data[at] == _LINE_END

    def _is_below(self, heading: str, start: int, stop: int) -> bool:
        """Tell whether a line of the place stands below this path of headings: its first lines may repeat others."""
        at = start
        while at < stop:
            if self._headings.path(at) == heading:
                return True
            at = self.data.index(b"\n", at) + 1
        return False
