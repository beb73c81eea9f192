"""Rows of chunks and of passages, and of those passages that have no vector yet, or were refused one."""

from typing import NamedTuple

from msgspec import Struct

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.syncplan import Known
from memoryd.domain.text.languages import language_of


class ChunkRow(Struct, frozen=True):
    """A chunk with the document it is cut from."""

    id: int
    path: RelativePath
    """As it is told: that of the conversation where it is of a part of one."""
    source: Source
    start_line: int
    end_line: int
    heading: str
    """All headings that it stands under, as `Travel > Lisbon`, its own included."""
    text: str
    mtime_ns: int = 0
    """When its document was changed."""
    known: Known | None = None
    """What its document was when this was read of it; None: nobody kept that."""
    chunker: str | None = None
    """By which rules that was cut, and found to be public; None: by those of today."""
    flags: str = ""
    """The marks of its document: how it was read, and whether it says that it holds."""


class PassageRow(NamedTuple):
    """A passage of a chunk: a span of its text in characters, `stop` excluded, and the hash of what stands there."""

    chunk: int
    hash: bytes
    start: int
    stop: int


class Counts(Struct, frozen=True):
    """How much the index holds."""

    files: int = 0
    chunks: int = 0
    passages: int = 0
    vectors: int = 0
    bytes: int = 0


class PendingFile(Struct, frozen=True):
    """A picture or sound as the index has it: where it lies, and the SHA-256 and number of its bytes."""

    path: RelativePath
    sha256: bytes
    size: int


class PendingPassage(Struct, frozen=True):
    """A text without a vector in a space, named by its hash; or a whole `file`, of which the text says the name."""

    hash: bytes
    title: str
    text: str
    file: PendingFile | None = None

    @property
    def language(self) -> str:
        """As `language_of` has it; of a file nobody knows."""
        return "" if self.file else language_of(self.text)


class RejectedPassage(Struct, frozen=True):
    """A passage that gets no vector: the lines of its chunk, or a whole picture or sound, and why."""

    path: RelativePath
    start_line: int
    end_line: int
    is_file: bool
    reason: str
