"""The keyword arm of the builtin search: BM25 over the index of one workspace."""

from collections.abc import Collection
from itertools import islice

from memoryd.domain.ranking.fusion import LexicalMatches
from memoryd.domain.ranking.questions import Question
from memoryd.domain.ranking.selection import DEEPER
from memoryd.search.backend import Arm, ArmState
from memoryd.store.index.database import Database
from memoryd.store.index.words import CandidateFilter


async def candidate_filter(database: Database, question: Question) -> tuple[Arm, CandidateFilter]:
    """Return what the question's filters, phrases and exclusions leave; the phrases as far as the words tell."""
    files = None
    if not question.filters.is_empty:
        files = tuple(await database.documents.matching(question.filters))
    return Arm(ArmState.OK), CandidateFilter(files, question.required, question.forbidden)


async def exact(database: Database, question: Question, chunks: Collection[int]) -> set[int]:
    """Return the chunks that hold the phrases as they are written: the word index knows no signs."""
    return await database.words.holding(chunks, question.admits) if question.phrases else set(chunks)


async def lexical_matches(
    database: Database, question: Question, depth: int, admitted: CandidateFilter
) -> tuple[Arm, LexicalMatches]:
    """Return the best `depth` chunks that hold any term; those that hold all terms come first. Raises StoreError."""
    if not question.terms:
        return Arm(ArmState.OK, "the question has no words to look for"), LexicalMatches()
    wanted = depth
    while True:
        found = await database.words.best(question, wanted, admitted)
        fitting = await exact(database, question, found.bm25)
        best = list(islice((chunk for chunk in found.bm25 if chunk in fitting), depth))
        if len(best) == depth or len(found.bm25) < wanted:
            return Arm(ArmState.OK), found.only(best)
        # so many were found by the words of a phrase and do not hold it as it is written
        wanted *= DEEPER
