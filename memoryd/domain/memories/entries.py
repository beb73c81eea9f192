"""The index entries of a document (chunks, passages, hashes of their content), and the current place of a chunk.

After an edit the text of a chunk may be on the same lines, on other lines, or missing.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.media import label
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.sections import MemorySections, holds_memories, is_retain, memory_sections
from memoryd.domain.text.chunking import CHUNKER_VERSION, Chunk, SeparateLines, each_chunk
from memoryd.domain.text.lines import PADDING, encode_padded
from memoryd.domain.text.markdown import Headings, headings_of
from memoryd.domain.text.privacy import PRIVACY_RULE_VERSION

MEDIA_CHUNKER = "media:1"
"""The chunker of a picture or sound: one chunk, whose text is the file name."""
MEMORIES_VERSION = 5
"""Increased whenever the same text would give other memories, or other scopes."""
NOWHERE = RelativePath("")
"""The path of a text that is no document, and states no memories."""


class ChunkSettings(Struct, frozen=True):
    """How documents are cut: the size of a chunk's own part, and of the overlap, in estimated tokens."""

    tokens: int
    overlap: int

    @property
    def fingerprint(self) -> str:
        """Identifies the chunker and its settings, and the rules for privacy and for memories.

        If the fingerprint changes, documents are read again.
        """
        return f"{CHUNKER_VERSION}:{self.tokens}:{self.overlap}:{PRIVACY_RULE_VERSION}:{MEMORIES_VERSION}"


class PassageEntry(Struct, frozen=True):
    """A span of its chunk's text, in characters, and the hash that identifies its vector.

    An empty span at the start means the content of the file itself: a picture or sound.
    """

    start: int
    stop: int
    hash: bytes


class ChunkEntry(Struct, frozen=True):
    """An exact slice of a document, with its lines (1-based, inclusive)."""

    start_line: int
    end_line: int
    heading: str
    text: str
    hash: bytes
    """Identifies everything but the lines: equal hashes have equal passages."""
    passages: tuple[PassageEntry, ...]
    memory: MemoryId | None = None
    """The memory that it states, if it is a retained line."""
    scope: str = ""
    """The scope that it is under, if it is no retained line."""


def chunk_entries(text: str, settings: ChunkSettings, path: RelativePath = NOWHERE) -> tuple[ChunkEntry, ...]:
    """Return the entries of a text."""
    return tuple(each_entry(encode_padded(text), settings, path))


def each_entry(data: bytes, settings: ChunkSettings, path: RelativePath) -> Iterator[ChunkEntry]:
    """Cut a document, UTF-8 that ends in `PADDING`, into its index entries."""
    apart = separate_lines(data, path)
    stated = {part.start: meaning for part, meaning in apart.items()}
    size, overlap = settings.tokens + settings.overlap, settings.overlap
    for cut in each_chunk(data, tokens=size, overlap=overlap, apart=tuple(apart)):
        text = data[cut.start : cut.end].strip()
        if not (text.startswith(b"##") and is_retain(text) and holds_memories(path)):  # an empty section says nothing
            yield _chunk_entry(data, cut, *stated.get(cut.start, _PLAIN))


_PLAIN: tuple[MemoryId | None, str] = (None, "")


def separate_lines(data: bytes, path: RelativePath) -> Mapping[SeparateLines, tuple[MemoryId | None, str]]:
    """Return the parts to be cut separately, in order, each with the memory that it states, and its scope.

    A retained line is a chunk of its own, so that its vector is of it alone. Other text under a scope is one chunk, so
    that its words are in no other chunk. Generated blocks are in no chunk.
    """
    sections = memory_sections(data, path)
    lines = [(SeparateLines(placed.start, placed.end), (placed.line.id, "")) for placed in sections.lines]
    generated = [(SeparateLines(start, end, is_left_out=True), _PLAIN) for start, end in sections.generated]
    scoped = [(SeparateLines(start, end), (None, scope)) for start, end, scope in _scoped_ranges(data, sections)]
    return dict(sorted([*lines, *generated, *scoped], key=lambda pair: pair[0].start))


def _scoped_ranges(data: bytes, sections: MemorySections) -> Iterator[tuple[int, int, str]]:
    """Yield the byte ranges under each scope that are no retained line."""
    ends = {placed.start_line: placed.end for placed in sections.lines}
    for span in sections.scoped:
        start = ends.get(span.first_line, span.start)
        blank = len(data[start : span.end]) - len(data[start : span.end].lstrip())
        if start + blank < span.end:
            # leading blank lines are not included; the blanks before the first word are
            yield data.rfind(b"\n", start, start + blank) + 1 or start, span.end, span.scope


def media_entries(path: str, mime: str, digest: bytes) -> tuple[ChunkEntry, ...]:
    """Return the single entry of a picture or sound; `digest` is the SHA-256 of its bytes.

    Its text is the file name; its passage is identified by the content, so that a renamed file keeps its vector.
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
    """Return a hash of a text and its heading, 16 bytes of SHA-256. Lone surrogates are hashed unchanged."""
    return sha256(f"{heading}\0{text}".encode("utf-8", "surrogatepass")).digest()[:16]


def chunk_hash(heading: str, text: str, spans: str) -> bytes:
    """Return the hash of a chunk from its heading, its text and the spans of its passages, written `0-80 80-200`.

    The spans include the end of the overlap: after an edit the same lines can be the own part, or half overlap.
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
    """Yield the passages that are not blank, with their offsets in the chunk's text."""
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
    """The current text of a document: `data` is UTF-8 that ends in `PADDING`. Headings are parsed at most once."""

    data: bytes

    def line_of(self, text: str, heading: str, line: int) -> int | None:
        """Return the current line (from 1) of a chunk that began on `line`, None if it is not in the document.

        All its lines must be there in sequence, below the same headings. Of several places the nearest to `line`
        counts, and the upper one if two are equally near.
        """
        chunk = text.encode("utf-8", "surrogatepass")
        best: int | None = None
        for current_line, offset in self._places(chunk):
            is_nearer = best is None or abs(current_line - line) < abs(best - line)
            if is_nearer and self._is_below(heading, offset, offset + len(chunk)):
                best = current_line
            if current_line >= line and best is not None:
                break
        return best

    @property
    def _size(self) -> int:
        return len(self.data) - len(PADDING)

    @cached_property
    def _headings(self) -> Headings:
        return headings_of(self.data)

    def _places(self, chunk: bytes) -> Iterator[tuple[int, int]]:
        """Yield line (from 1) and offset of each place where the bytes are complete lines."""
        line, counted, at = 1, 0, self.data.find(chunk, 0, self._size)
        while at >= 0:
            if (at == 0 or self.data[at - 1] == _LINE_END) and self._ends_line(at + len(chunk)):
                line += self.data.count(b"\n", counted, at)
                counted = at
                yield line, at
            # the next occurrence begins at the next line or later
            following = self.data.find(b"\n", at, self._size) + 1
            at = self.data.find(chunk, following, self._size) if following else -1

    def _ends_line(self, at: int) -> bool:
        # the padding ends the last line
        return self.data[at - 1] == _LINE_END or self.data[at : at + 2] == b"\r\n" or self.data[at] == _LINE_END

    def _is_below(self, heading: str, start: int, stop: int) -> bool:
        """Return whether any line of the place has this heading path, because its first lines may be overlap."""
        at = start
        while at < stop:
            if self._headings.path(at) == heading:
                return True
            at = self.data.index(b"\n", at) + 1
        return False
