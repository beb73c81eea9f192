"""What the index holds of a document: its chunks, their passages, and the hashes that name their content."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from memoryd.domain.media import Media, label
from memoryd.domain.privacy import LAW_VERSION
from memoryd.domain.text.chunking import CHUNKER_VERSION, Chunk, each_chunk
from memoryd.domain.text.lines import padded
from memoryd.domain.text.words import identifier_parts, index_text

MEDIA_CHUNKER: Final = "media:1"
"""Stands for the cut of a picture or sound: one chunk, whose text names the file."""


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """How documents are cut: the size of what a chunk has for itself, and what it repeats, in estimated tokens."""

    tokens: int
    overlap: int

    @property
    def fingerprint(self) -> str:
        """Names the cut, and the rule of what may be cut: under another fingerprint a document is read anew."""
        return f"{CHUNKER_VERSION}:{self.tokens}:{self.overlap}:{LAW_VERSION}"


@dataclass(frozen=True, slots=True)
class PassageEntry:
    """A span of its chunk's text, in characters, and the hash that names its vector.

    An empty span at the start stands for the bytes of the file itself: a picture or sound.
    """

    start: int
    stop: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChunkWords:
    """What the keyword index stores of a chunk, column by column."""

    body: str
    heading: str
    parts: str


@dataclass(frozen=True, slots=True)
class ChunkEntry:
    """An exact slice of a document, with the lines it stands on (1-based, inclusive)."""

    start_line: int
    end_line: int
    heading: str
    text: str
    hash: bytes
    """Names all of it save the lines: equal hashes have equal passages."""
    passages: tuple[PassageEntry, ...]
    words: ChunkWords


def chunk_words(heading: str, text: str) -> ChunkWords:
    """Return the words of a chunk: its text and heading cut for the index, and the parts of its identifiers."""
    return ChunkWords(index_text(text), index_text(heading), identifier_parts(f"{heading} {text}"))


def chunk_entries(text: str, settings: ChunkSettings) -> tuple[ChunkEntry, ...]:
    """Return the entries of a text."""
    return tuple(each_entry(padded(text), settings))


def each_entry(data: bytes, settings: ChunkSettings) -> Iterator[ChunkEntry]:
    """Cut a document, UTF-8 that ends in `PADDING`, into the entries that the index keeps of it."""
    for cut in each_chunk(data, tokens=settings.tokens + settings.overlap, overlap=settings.overlap):
        yield _chunk_entry(data, cut)


def media_entries(path: str, media: Media, digest: bytes) -> tuple[ChunkEntry, ...]:
    """Return the one entry of a picture or sound with these bytes (`digest`: their SHA-256).

    Its text is the file's name; its passage is named by what the file holds, so that a renamed one keeps its vector.
    """
    text = label(path)
    passage = PassageEntry(0, 0, content_hash(media.mime, digest.hex()))
    return (
        ChunkEntry(
            start_line=1,
            end_line=1,
            heading="",
            text=text,
            hash=chunk_hash("", text, "0-0"),
            passages=(passage,),
            words=chunk_words("", text),
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


def _chunk_entry(data: bytes, cut: Chunk) -> ChunkEntry:
    body = _decoded(data, cut.start, cut.end)
    passages = tuple(_passages(data, cut))
    return ChunkEntry(
        start_line=cut.start_line,
        end_line=cut.end_line,
        heading=cut.heading,
        text=body,
        hash=chunk_hash(cut.heading, body, " ".join(f"{passage.start}-{passage.stop}" for passage in passages)),
        passages=passages,
        words=chunk_words(cut.heading, body),
    )


def _passages(data: bytes, cut: Chunk) -> Iterator[PassageEntry]:
    """Yield the passages that say something, with their places in the chunk's text."""
    stop = len(_decoded(data, cut.start, cut.own_start))
    for span in cut.passages:
        text = _decoded(data, span.start, span.end)
        start, stop = stop, stop + len(text)
        if text.strip():
            yield PassageEntry(start, stop, content_hash(cut.heading, text))


def _decoded(data: bytes, start: int, end: int) -> str:
    return data[start:end].decode("utf-8", "surrogatepass")
