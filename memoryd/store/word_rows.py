"""The table of words: BM25 of chunks, and where each term of a question stands."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import apsw

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.calibration import TermStatistics, idf
from memoryd.domain.ranking.fusion import LexicalMatches
from memoryd.domain.ranking.questions import Question
from memoryd.domain.text.dates import WrittenDate
from memoryd.domain.text.words import Phrase
from memoryd.store.neighbour_rows import lifted
from memoryd.store.word_expressions import RELEVANCE, all_of, any_of, any_phrase, every_phrase, one_of

# A plain rowid would make SQLite seek each candidate anew; so it reads the term's list once.
_CHUNKS = f"""
SELECT rowid, {RELEVANCE} AS score, {{level}} AS level FROM chunk_words
WHERE chunk_words MATCH ? {{clauses}} ORDER BY level DESC, score DESC LIMIT ?
"""
_FOUND_BY = "+rowid IN (SELECT rowid FROM chunk_words WHERE chunk_words MATCH ?)"
_OF_FILES = "+rowid IN (SELECT id FROM chunks WHERE file_id IN (SELECT value FROM json_each(?)))"
# a conversation is all of its parts, which are told from it by what stands behind the @; A is the next sign
_OF_OTHERS = """
+rowid NOT IN (
    SELECT c.id FROM (SELECT ? AS told)
    JOIN files f ON f.path = told OR (f.path > told || '@' AND f.path < told || 'A')
    JOIN chunks c ON c.file_id = f.id
)
"""
_OF_CHUNKS = "+rowid IN (SELECT value FROM json_each(?))"
_NOT_OF_CHUNKS = "+rowid NOT IN (SELECT value FROM json_each(?))"
_OF_MEMORIES = "+rowid IN (SELECT chunk_id FROM memory_chunks)"
_ADMITTED = "SELECT rowid FROM chunks WHERE rowid IN (SELECT value FROM json_each(?)) {clauses}"
_PASSAGES = """
SELECT id FROM chunks WHERE (?1 IS NULL OR file_id IN (SELECT value FROM json_each(?1)))
AND id NOT IN (SELECT chunk_id FROM memory_chunks)
"""
_TEXTS = """
SELECT c.id, c.text, c.heading, f.path FROM chunks c JOIN files f ON f.id = c.file_id
WHERE c.id IN (SELECT value FROM json_each(?))
"""
_WITH = "SELECT rowid FROM chunk_words WHERE chunk_words MATCH ? ORDER BY rowid LIMIT ?"
# Counting reads the whole list of a term; so the candidates are picked from it on the way.
_HOLDERS = """
SELECT count(*) {counted}, json_group_array(rowid) FILTER (WHERE +rowid IN (SELECT value FROM json_each(?1)))
FROM chunk_words WHERE chunk_words MATCH ?2
"""


_COUNTED = "FILTER (WHERE +rowid NOT IN (SELECT value FROM json_each(?3)))"
_COUNT = "SELECT count(*) FROM chunks WHERE +id NOT IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class CandidateFilter:
    """Which chunks may answer: those of some files, by the phrases that must and must not stand in them.

    None and empty mean nothing of the kind. `without` leaves one document out. `chunks` names those that may answer;
    of them `only_memories` are retained lines, and `without_memories` are none. Those of `excluded` never may.
    """

    files: tuple[int, ...] | None = None
    required: tuple[Phrase, ...] = ()
    forbidden: tuple[Phrase, ...] = ()
    without: RelativePath | None = None
    chunks: tuple[int, ...] | None = None
    only_memories: bool = False
    without_memories: bool = False
    excluded: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self == CandidateFilter()

    @property
    def picks_chunks(self) -> bool:
        """Whether it tells chunks of one document apart, by something else than their words."""
        return self.chunks is not None or self.only_memories or self.without_memories or bool(self.excluded)


def best_chunks(db: apsw.Connection, question: Question, limit: int, admitted: CandidateFilter) -> LexicalMatches:
    """Return the best `limit` chunks that hold a term, best first: those of a higher level, then those with more BM25.

    A level is for holding all terms, another for holding all of them whole. Neighbouring words find nothing more: of
    what is found, they lift what has them side by side.
    """
    clauses, values = _clauses(admitted)
    complete = all_of(question.complete, question.dates)
    level = " + ".join(f"({_FOUND_BY})" for _ in complete) or "0"
    statement = _CHUNKS.format(level=level, clauses=clauses)
    expression = any_of(question.terms, question.joined, question.dates)
    rows = list(db.execute(statement, (*complete, expression, *values, limit)))
    bm25 = lifted(db, {row[0]: row[1] for row in rows}, question.neighbours)
    found = LexicalMatches(bm25, {row[0]: row[2] for row in rows if row[2]})
    return found.only(found.order())


def admitted_chunks(db: apsw.Connection, chunk_ids: Iterable[int], admitted: CandidateFilter) -> set[int]:
    """Return those of the chunks that may answer."""
    # of the few that are asked about, quicker than to give all that may answer to the database
    inside = _as_set(admitted.chunks) if admitted.chunks is not None else None
    asked = [chunk for chunk in chunk_ids if inside is None or chunk in inside]
    clauses, values = _clauses(replace(admitted, chunks=None))
    rows = db.execute(_ADMITTED.format(clauses=clauses), (json.dumps(asked), *values))
    return {row[0] for row in rows}


def passages_of(db: apsw.Connection, files: Sequence[int] | None) -> list[int]:
    """Return the chunks of these files, None for all, that are no retained lines."""
    return [row[0] for row in db.execute(_PASSAGES, (None if files is None else json.dumps(list(files)),))]


def chunk_texts(db: apsw.Connection, chunk_ids: Iterable[int]) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Yield the chunks of these ids with their text, heading and path."""
    for chunk, *texts in db.execute(_TEXTS, (json.dumps(list(chunk_ids)),)):
        yield chunk, (texts[0], texts[1], texts[2])


def chunks_with(db: apsw.Connection, phrase: Phrase, limit: int) -> list[int]:
    """Return the ids of the first `limit` chunks in which the words stand one after the other."""
    if not phrase:
        return []
    rows = db.execute(_WITH, (every_phrase((phrase,)), limit))
    return [row[0] for row in rows]


def term_statistics(
    db: apsw.Connection,
    terms: Sequence[str],
    candidates: Sequence[int],
    dates: Sequence[WrittenDate] = (),
    commonness: Callable[[str], float] = lambda _term: 0.0,
    uncounted: Collection[int] = (),
) -> TermStatistics:
    """Return how telling each term is in these chunks, and which terms stand in which candidates.

    `commonness` is the chance that a usual chunk of the language holds a term. Chunks that are `uncounted` are as if
    there were none.

    A date is the question's words for it in another spelling, so a chunk that holds it, in its path too, holds those:
    the note of a day answers what is asked about that day.
    """
    ids = json.dumps(list(candidates))
    hidden = json.dumps(list(uncounted))
    total: int = db.execute(_COUNT, (hidden,)).get
    statement, values = _HOLDERS.format(counted=_COUNTED if uncounted else ""), ((hidden,) if uncounted else ())
    counts: dict[str, int] = {}
    held: dict[int, set[str]] = {}
    for term in terms:
        counts[term], matching = db.execute(statement, (ids, one_of(term, dates), *values)).get
        for chunk in json.loads(matching):
            held.setdefault(chunk, set()).add(term)
    return TermStatistics(idf(total, counts, commonness), {chunk: frozenset(those) for chunk, those in held.items()})


@lru_cache(4)
def _as_json(chunks: tuple[int, ...]) -> str:
    """Return what the database reads of a filter, remembered: the next question may have the same one."""
    return json.dumps(chunks)


@lru_cache(4)
def _as_set(chunks: tuple[int, ...]) -> frozenset[int]:
    return frozenset(chunks)


def _clauses(admitted: CandidateFilter) -> tuple[str, list[str]]:
    """Return what stands behind a WHERE on `rowid`, and its values."""
    given: list[tuple[str, str]] = []
    if admitted.files is not None:
        given.append((_OF_FILES, json.dumps(admitted.files)))
    if admitted.chunks is not None:
        given.append((_OF_CHUNKS, _as_json(admitted.chunks)))
    if admitted.excluded:
        given.append((_NOT_OF_CHUNKS, _as_json(admitted.excluded)))
    if admitted.required:
        given.append((_FOUND_BY, every_phrase(admitted.required)))
    if admitted.forbidden:
        given.append((f"NOT {_FOUND_BY}", any_phrase(admitted.forbidden)))
    if admitted.without is not None:
        given.append((_OF_OTHERS, admitted.without))
    clauses = [clause for clause, _ in given]
    clauses += [_OF_MEMORIES] if admitted.only_memories else []
    clauses += [f"NOT {_OF_MEMORIES}"] if admitted.without_memories else []
    return "".join(f" AND {clause}" for clause in clauses), [value for _, value in given]
