"""The word index, by verbs: each is one transaction, and raises StoreError."""

from collections.abc import Callable, Collection, Sequence

from memoryd.store.index_schema import check_words, drop_deleted_words
from memoryd.store.transactions import Transactions
from memoryd.store.words import (
    CandidateFilter,
    ChunkScore,
    TermCounts,
    admitted_chunks,
    chunk_scores,
    chunk_texts,
    count_chunks,
    holders,
)


class Words:
    """Which chunks hold which words, and how well they match."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    async def scores(
        self, expression: str, complete: Sequence[str], limit: int, admitted: CandidateFilter
    ) -> list[ChunkScore]:
        """Return the best `limit` chunks that match, best first: those of a higher level, then those with more BM25."""
        return await self._transactions.read(lambda db: chunk_scores(db, expression, complete, limit, admitted))

    async def admitted(self, chunk_ids: Collection[int], admitted: CandidateFilter) -> set[int]:
        """Return those of the chunks that may answer."""
        return await self._transactions.read(lambda db: admitted_chunks(db, chunk_ids, admitted))

    async def holding(self, chunk_ids: Collection[int], admits: Callable[[tuple[str, str, str]], bool]) -> set[int]:
        """Return those of the chunks whose text, heading and path `admits` lets through: the word index knows no signs.

        It is asked on the worker thread, while the rows are read: there may be thousands of texts.
        """
        return await self._transactions.read(
            lambda db: {chunk for chunk, texts in chunk_texts(db, chunk_ids) if admits(texts)}
        )

    async def term_counts(self, expressions: Sequence[str], candidates: Sequence[int]) -> TermCounts:
        """Count the chunks, and for each expression those that match it; tell which of the candidates do."""
        return await self._transactions.read(
            lambda db: TermCounts(count_chunks(db), holders(db, expressions, candidates))
        )

    async def check(self) -> None:
        """Let the word index check its own structures; raises DamagedDatabase when they are broken."""
        await self._transactions.write(check_words)

    async def drop_deleted(self) -> None:
        """Write the word index anew without the words of deleted rows, which are only marked until then.

        Takes half a second for 10 MB of notes.
        """
        await self._transactions.write(drop_deleted_words)
