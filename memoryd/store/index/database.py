"""One index file for asyncio, with the methods of all its tables."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path

import apsw
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.calibration import TermStatistics
from memoryd.domain.ranking.fusion import LexicalMatches
from memoryd.domain.ranking.questions import Question
from memoryd.store.connection import Connector, in_snapshot
from memoryd.store.database_file import DatabaseFile
from memoryd.store.index.conversations import Conversations
from memoryd.store.index.documents import Documents, MemoryTable, chunk_paths, chunk_rows, passages_of_hashes
from memoryd.store.index.passages import ChunkRow, PassageRow
from memoryd.store.index.schema import check_tables, prepare_index, problems
from memoryd.store.index.stems import Holders
from memoryd.store.index.vectors import NOTE_CHANGES, Purges, VectorBatch, Vectors, vectors_of_ids
from memoryd.store.index.words import (
    CandidateFilter,
    Words,
    admitted_chunks,
    best_matches,
    holding,
    term_statistics,
)
from memoryd.store.pool import Returned

MAX_HOLDERS = 1_000_000
"""Maximum number of cached phrases and ids since the last write; 4 MB."""


class IndexReader(Struct, frozen=True):
    """Several reads in one snapshot; switching threads costs as much as a read, so one switch serves them all.

    Each method does what the function of the same name, or a similar one, does in the modules of the tables.
    """

    _db: apsw.Connection
    _holders: Holders

    def best_matches(self, question: Question, limit: int, admitted: CandidateFilter) -> LexicalMatches:
        """Return the best `limit` chunks with a term, best first."""
        return best_matches(self._db, question, limit, admitted, self._holders)

    def statistics(
        self,
        question: Question,
        candidates: Sequence[int],
        *,
        commonness: Callable[[str], float],
        uncounted: Collection[int],
    ) -> TermStatistics:
        """Return how rare each term is, and which candidates contain which terms."""
        return term_statistics(
            self._db, question, candidates, self._holders, commonness=commonness, uncounted=uncounted
        )

    def holding(self, chunk_ids: Collection[int], admits: Callable[[tuple[str, str, str]], bool]) -> set[int]:
        """Return those of the chunks whose text, heading and path `admits` accepts."""
        return holding(self._db, chunk_ids, admits)

    def admitted(self, chunk_ids: Collection[int], admitted: CandidateFilter) -> set[int]:
        """Return those of the chunks that the filter admits."""
        return admitted_chunks(self._db, chunk_ids, admitted)

    def rows(self, ids: Iterable[int]) -> Mapping[int, ChunkRow]:
        """Return the existing chunks with these ids, each with its document."""
        return chunk_rows(self._db, ids)

    def paths(self, ids: Iterable[int]) -> Mapping[int, RelativePath]:
        """Return the documents of the existing chunks with these ids."""
        return chunk_paths(self._db, ids)

    def passages(self, hashes: Iterable[bytes]) -> Sequence[PassageRow]:
        """Return all passages with one of the hashes."""
        return passages_of_hashes(self._db, hashes)

    def vectors(self, space: int, ids: NDArray[np.int64], dimensions: int) -> VectorBatch:
        """Return the existing vectors with these ids."""
        return vectors_of_ids(self._db, space, ids, dimensions)


class Database(DatabaseFile):
    """An index of documents; it can be opened and closed repeatedly.

    The methods of `documents`, `memories`, `conversations`, `vectors` and `words` are one transaction each. They raise
    StoreUnavailable if the disk, a lock or the closed state prevents them, and DamagedDatabase if the file is broken.
    After either error `trouble` and `damage` say what a reopening must handle.
    """

    def __init__(self, *, path: Path, executor: Executor) -> None:
        super().__init__(Connector(path), executor)
        purges = Purges()
        self.documents = Documents(self, purges)
        self.memories = MemoryTable(self)
        self.conversations = Conversations(self, purges)
        self.vectors = Vectors(self, purges)
        self.words = Words(self)
        self._holders = Holders()
        self._holders_version = (0, 0)

    async def read_snapshot(self, step: Callable[[IndexReader], Returned]) -> Returned:
        """Run several reads in one snapshot; if the caller is cancelled, the query is interrupted."""
        # a new cache for each version: a later read may fill it with newer chunks, never with older ones
        version = (self.epoch, self.writes)
        if version != self._holders_version or self._holders.size > MAX_HOLDERS:
            self._holders_version, self._holders = version, Holders()
        holders = self._holders

        def run_step(db: apsw.Connection) -> Returned:
            # the file may have been reopened, or written, while this call waited
            known = holders if version == (self.epoch, self.writes) else Holders()
            # also for speed: starting a read transaction costs as much as a small read
            with in_snapshot(db):
                return step(IndexReader(db, known))

        return await self.read(run_step)

    async def open(self) -> None:
        """Open the file, or create it; raises DamagedDatabase if its tables are not those of this version."""
        await self._open_to_write(_prepare)

    async def open_to_read(self, *, why: str) -> None:
        """Open a file with our tables that cannot be written now; `why` is the reason."""
        await self._open_to_read(check_tables, why=why)

    async def problems(self) -> list[str]:
        """Return the problems in the file: broken pages, or rows without their counterpart."""
        return await self.read(problems)


def _prepare(writer: apsw.Connection) -> None:
    prepare_index(writer)
    writer.execute(NOTE_CHANGES)
