"""What was cut of a large document, kept on disk until it is committed: in memory it is a multiple of the text."""

import marshal
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.text.entries import ChunkEntry, ChunkWords, PassageEntry

_Plain = tuple[int, int, str, str, bytes, tuple[tuple[int, int, bytes], ...], tuple[str, str, str], str]


class Spool:
    """Entries in their order, to be gone through more than once. The file has no name and ends with this."""

    def __init__(self, entries: Iterable[ChunkEntry], folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it lives as long as the spool
        weakref.finalize(self, self._file.close)
        self._count = 0
        for entry in entries:
            data = marshal.dumps(_plain(entry))
            self._file.write(len(data).to_bytes(8, "little") + data)
            self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ChunkEntry]:
        self._file.seek(0)
        for _ in range(self._count):
            size = int.from_bytes(self._file.read(8), "little")
            yield _entry(marshal.loads(self._file.read(size)))


def _plain(entry: ChunkEntry) -> _Plain:
    """Return the values of an entry: a transaction waits while they are read back, and classes cost most of that."""
    passages = tuple((it.start, it.stop, it.hash) for it in entry.passages)
    words = (entry.words.body, entry.words.heading, entry.words.parts)
    return entry.start_line, entry.end_line, entry.heading, entry.text, entry.hash, passages, words, entry.memory or ""


def _entry(plain: _Plain) -> ChunkEntry:
    start_line, end_line, heading, text, digest, spans, words, memory = plain
    passages = tuple(PassageEntry(*span) for span in spans)
    return ChunkEntry(
        start_line, end_line, heading, text, digest, passages, ChunkWords(*words), MemoryId(memory) or None
    )
