"""The word index, by verbs: each is one transaction, and raises StoreError."""

from collections.abc import Callable, Collection, Sequence

from memoryd.domain.ranking.calibration import TermStatistics
from memoryd.domain.ranking.fusion import LexicalMatches
from memoryd.domain.ranking.questions import Question
from memoryd.domain.text.dates import WrittenDate
from memoryd.domain.text.words import Phrase
from memoryd.store.connection_pool import ConnectionPool
from memoryd.store.index_schema import check_words, drop_deleted_words
from memoryd.store.word_rows import (
    CandidateFilter,
    admitted_chunks,
    best_chunks,
    chunk_texts,
    chunks_with,
    passages_of,
    term_statistics,
)


class Words:
    """Which chunks hold which words, and how well they match."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool

    async def best(self, question: Question, limit: int, admitted: CandidateFilter) -> LexicalMatches:
        """Return the best `limit` chunks that hold a term, best first: those of a higher level, then by BM25."""
        return await self._pool.read(lambda db: best_chunks(db, question, limit, admitted))

    async def admitted(self, chunk_ids: Collection[int], admitted: CandidateFilter) -> set[int]:
        """Return those of the chunks that may answer."""
        return await self._pool.read(lambda db: admitted_chunks(db, chunk_ids, admitted))

    async def passages_of(self, files: Sequence[int] | None) -> list[int]:
        """Return the chunks of these files, None for all, that are no retained lines."""
        return await self._pool.read(lambda db: passages_of(db, files))

    async def holding(self, chunk_ids: Collection[int], admits: Callable[[tuple[str, str, str]], bool]) -> set[int]:
        """Return those of the chunks whose text, heading and path `admits` lets through: the word index knows no signs.

        It is asked on the worker thread, while the rows are read: there may be thousands of texts.
        """
        return await self._pool.read(lambda db: {chunk for chunk, texts in chunk_texts(db, chunk_ids) if admits(texts)})

    async def with_phrase(self, phrase: Phrase, limit: int) -> list[int]:
        """Return the first `limit` chunks in which the words of a phrase stand one after the other."""
        return await self._pool.read(lambda db: chunks_with(db, phrase, limit))

    async def statistics(
        self,
        terms: Sequence[str],
        candidates: Sequence[int],
        dates: Sequence[WrittenDate] = (),
        *,
        commonness: Callable[[str], float] = lambda _term: 0.0,
        uncounted: Collection[int] = (),
    ) -> TermStatistics:
        """Return how telling each term is in these notes, and which terms stand in which candidates.

        What holds one of the dates holds the terms that it was written with. `commonness` is the chance that a usual
        chunk of the language holds a term. Chunks that are `uncounted` are as if there were none.
        """
        return await self._pool.read(lambda db: term_statistics(db, terms, candidates, dates, commonness, uncounted))

    async def check(self) -> None:
        """Let the word index check its own structures; raises DamagedDatabase when they are broken."""
        await self._pool.write(check_words)

    async def drop_deleted(self) -> None:
        """Write the word index anew without the words of deleted rows, which are only marked until then.

        Takes half a second for 10 MB of notes.
        """
        await self._pool.write(drop_deleted_words)
