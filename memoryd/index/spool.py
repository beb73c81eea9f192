"""What was cut of a large document, kept on disk until it is committed: in memory it is a multiple of the text."""

import pickle
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path

from memoryd.domain.entries import ChunkEntry


class Spool:
    """Entries in their order, to be gone through more than once. The file has no name and ends with this."""

    def __init__(self, entries: Iterable[ChunkEntry], folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it lives as long as the spool
        weakref.finalize(self, self._file.close)
        self._count = 0
        for entry in entries:
            pickle.dump(entry, self._file, pickle.HIGHEST_PROTOCOL)
            self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ChunkEntry]:
        self._file.seek(0)
        for _ in range(self._count):
            entry: ChunkEntry = pickle.load(self._file)
            yield entry
