"""One index file, usable from asyncio: what it holds, by verbs."""

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
from memoryd.store.connection import Connector, at_one_moment
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
"""Of the phrases of the questions since the index was written; 4 MB."""


class IndexReader(Struct, frozen=True):
    """What one look at an index reads: a way to the threads costs as much as a read, so that one does for several.

    Each method does what the function of its name, or nearly so, does in the modules of the tables.
    """

    _db: apsw.Connection
    _holders: Holders

    def best_matches(self, question: Question, limit: int, admitted: CandidateFilter) -> LexicalMatches:
        """Return the best `limit` chunks that hold a term, best first."""
        return best_matches(self._db, question, limit, admitted, self._holders)

    def statistics(
        self,
        question: Question,
        candidates: Sequence[int],
        *,
        commonness: Callable[[str], float],
        uncounted: Collection[int],
    ) -> TermStatistics:
        """Return how telling each term is, and which terms stand in which candidates."""
        return term_statistics(
            self._db, question, candidates, self._holders, commonness=commonness, uncounted=uncounted
        )

    def holding(self, chunk_ids: Collection[int], admits: Callable[[tuple[str, str, str]], bool]) -> set[int]:
        """Return those of the chunks whose text, heading and path `admits` lets through."""
        return holding(self._db, chunk_ids, admits)

    def admitted(self, chunk_ids: Collection[int], admitted: CandidateFilter) -> set[int]:
        """Return those of the chunks that may answer."""
        return admitted_chunks(self._db, chunk_ids, admitted)

    def rows(self, ids: Iterable[int]) -> Mapping[int, ChunkRow]:
        """Return the chunks of these ids that still exist, each with its document as it was read."""
        return chunk_rows(self._db, ids)

    def paths(self, ids: Iterable[int]) -> Mapping[int, RelativePath]:
        """Return the documents of the chunks of these ids that still exist."""
        return chunk_paths(self._db, ids)

    def passages(self, hashes: Iterable[bytes]) -> Sequence[PassageRow]:
        """Return every passage that has one of the hashes."""
        return passages_of_hashes(self._db, hashes)

    def vectors(self, space: int, ids: NDArray[np.int64], dimensions: int) -> VectorBatch:
        """Return the vectors of these ids that still exist."""
        return vectors_of_ids(self._db, space, ids, dimensions)


class Database(DatabaseFile):
    """An index of documents; `open`, or `open_to_read`, and `close` frame each of its lives.

    The verbs of `documents`, `memories`, `conversations`, `vectors` and `words` are one transaction each. They raise
    StoreUnavailable when the disk, a lock or the closed state stands in the way, DamagedDatabase when the file is
    broken. After either, `trouble` and `damage` say what a reopening must deal with.
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
        self._holders_at = (0, 0)

    async def look(self, step: Callable[[IndexReader], Returned]) -> Returned:
        """Run a step of several reads at one moment; when the caller is cancelled, the query is interrupted."""
        # others for each moment: what is found meanwhile is of this one or of a later one, never of one before
        moment = (self.epoch, self.writes)
        if moment != self._holders_at or self._holders.size > MAX_HOLDERS:
            self._holders_at, self._holders = moment, Holders()
        holders = self._holders

        def looked(db: apsw.Connection) -> Returned:
            # it may have waited while the file was opened anew, or written
            known = holders if moment == (self.epoch, self.writes) else Holders()
            # also for speed: to begin to read costs as much as a small read
            with at_one_moment(db):
                return step(IndexReader(db, known))

        return await self.read(looked)

    async def open(self) -> None:
        """Open the file, or make it; raises DamagedDatabase if its tables are not those of this version."""
        await self._open_to_write(_prepare)

    async def open_to_read(self, *, why: str) -> None:
        """Open a file that has our tables and that cannot be written now, `why` being the reason."""
        await self._open_to_read(check_tables, why=why)

    async def problems(self) -> list[str]:
        """Return what is wrong inside the file: broken pages, or rows that lack their counterpart."""
        return await self.read(problems)


def _prepare(writer: apsw.Connection) -> None:
    prepare_index(writer)
    writer.execute(NOTE_CHANGES)
