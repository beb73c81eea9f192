"""The word index: BM25 scores of chunks, the chunks that contain each term of a query, and neighbouring words.

In the FTS5 query language every word is quoted, so that none is read as syntax (AND, NEAR, `column:`, `^`,
parentheses). Words contain no quotes: `domain.text.words` leaves only letters, digits and marks. Expressions have words
as written; `stems.with_stems` turns them into the expressions for the index.
https://www.sqlite.org/fts5.html#full_text_query_syntax
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache

import apsw
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.calibration import TermStatistics, idf, terms_by_holder
from memoryd.domain.ranking.fusion import LexicalMatches
from memoryd.domain.ranking.questions import ENOUGH_HOLDERS, NEIGHBOUR_SHARE, Question, min_holders
from memoryd.domain.text.dates import WrittenDate
from memoryd.domain.text.words import Phrase, is_code, is_number, is_single_character
from memoryd.store.connection import json_array
from memoryd.store.database_file import Table, reads, writes
from memoryd.store.index.schema import check_words, drop_deleted_words
from memoryd.store.index.stems import (
    Chunks,
    Holders,
    Selection,
    bounds_of,
    each_with_stems,
    intersection,
    is_among,
    union,
    with_stems,
)

NAMES = "{heading path}"
"""The columns that name a chunk."""
RELEVANCE = "-bm25(chunk_words, 1.0, 1.0, 1.0, 0.25, 1.0)"
"""BM25 weights of the columns body, heading, path, parts and stems.

Parts weigh little, because the body has the identifier.
"""


def term_expression(term: str, dates: Sequence[WrittenDate] = ()) -> str:
    """Return the expression for a term. A code also matches words that begin with it; an exact match scores higher.

    A chunk with one of the dates counts as containing the words that the query used for it.
    """
    forms = _term_forms(term)
    words = f"({' OR '.join(forms)})" if len(forms) > 1 else forms[0]
    spelled = [_date_anywhere(day) for day in dates if term in day.words]
    return f"({' OR '.join([words, *spelled])})" if spelled else words


def weighed_phrases(terms: Sequence[str], phrases: Sequence[Phrase], dates: Sequence[WrittenDate]) -> list[str]:
    """Return the phrases for the terms, phrases and dates, each repeated by its weight.

    Words such as the `7` of `7 May` are searched only as part of the date. Numbers have weight two, because years
    distinguish paragraphs; codes already get that. The last word of a phrase is a prefix: `2026-10` matches the days of
    that month.
    """
    loose = {word for day in dates for word in day.weak_words}
    terms = [term for term in terms if term not in loose]
    weighed = [form for term in terms for form in _term_forms(term) * (2 if is_number(term) else 1)]
    weighed += [f"{_phrase(words).rstrip('*')}*" for words in phrases]
    return [*weighed, *(phrase for day in dates for phrase in _date_phrases(day))]


def all_phrases(phrases: Sequence[Phrase]) -> str:
    """Return the expression for chunks that contain all phrases, empty without any."""
    return " AND ".join(map(_phrase, phrases))


def any_phrase(phrases: Sequence[Phrase]) -> str:
    """Return the expression for chunks that contain one of the phrases, empty without any."""
    return " OR ".join(map(_phrase, phrases))


def _date_phrases(day: WrittenDate) -> list[str]:
    """Return the phrases for a date, each repeated by its weight.

    A day in a name has weight three, for itself and the two words left in the query: a diary has as many notes about a
    subject as days, but only one about the day.
    """
    names, sentences = map(_phrase, day.file_name_spellings), map(_phrase, day.text_spellings)
    # once in any column, twice more in names
    return [*names, *(_date_in_names(day) * 2 if day.day else []), *sentences]


def _date_anywhere(day: WrittenDate) -> str:
    """Return the expression for a date in any notation."""
    return f"(({' OR '.join(_date_in_names(day))}) OR {any_phrase(day.text_spellings)})"


def _date_in_names(day: WrittenDate) -> list[str]:
    """Return the phrases for a date as in names; without a year only in names, because `05:04` in a text is a time."""
    column = "" if day.year else f"{NAMES} : "
    return [f"{column}{_phrase(words)}" for words in day.file_name_spellings]


def _term_forms(term: str) -> list[str]:
    return [f'"{term}"', f'"{term}"*'] if is_code(term) else [_exact_word(term)]


def _exact_word(term: str) -> str:
    """Return the expression for the exact term; a single CJK character is the first of an indexed pair."""
    return f'"{term}"*' if is_single_character(term) else f'"{term}"'


def _phrase(words: Phrase) -> str:
    """Return the expression for adjacent words; if the last is a single CJK character, it may begin a pair."""
    return f'"{" ".join(words)}"{"*" if words and is_single_character(words[-1]) else ""}'


_SCORES = f"""
SELECT rowid, {RELEVANCE} FROM chunk_words
WHERE chunk_words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
"""


def _with_neighbours(
    db: apsw.Connection, scores: Mapping[int, float], neighbours: Sequence[Phrase], holders: Holders
) -> dict[int, float]:
    """Add to each score (BM25 by chunk) a share of the BM25 of its significant neighbouring words."""
    significant = _significant(db, neighbours, holders) if scores and neighbours else []
    if not significant:
        return dict(scores)
    extra = dict(db.execute(_SCORES, (with_stems(any_phrase(significant)), json_array(scores))))
    return {chunk: score + NEIGHBOUR_SHARE * extra.get(chunk, 0.0) for chunk, score in scores.items()}


def _significant(db: apsw.Connection, neighbours: Sequence[Phrase], holders: Holders) -> list[Phrase]:
    words = list(dict.fromkeys(word for pair in neighbours for word in pair))
    apart = dict(zip(words, map(len, holders.of(db, [with_stems(f'"{word}"') for word in words])), strict=True))
    pairs = {pair: least for pair in neighbours if (least := min(apart[word] for word in pair))}
    holding_both = holders.of(db, [with_stems(_phrase(pair)) for pair in pairs])
    together = zip(pairs.items(), map(len, holding_both), strict=True)
    return [pair for (pair, least), count in together if count and least >= min_holders(count)]


# The first value has a digit for each chunk id: 0 for a chunk that is not weighed, else its level from 1. A list of ids
# would be looked up in a tree, which takes four times as long.
_CHUNKS = f"""
SELECT rowid, {RELEVANCE} AS score, CAST(substr(?1, rowid + 1, 1) AS INTEGER) AS mark FROM chunk_words
WHERE chunk_words MATCH ?2 AND substr(?1, rowid + 1, 1) > x'30' {{clauses}} ORDER BY mark DESC, score DESC LIMIT ?
"""
_MATCHED_BY = "+rowid IN (SELECT rowid FROM chunk_words WHERE chunk_words MATCH ?)"
# a conversation consists of parts, whose paths add an @ and more to its own; A is the character after @
_OF_OTHERS = """
+rowid NOT IN (
    SELECT c.id FROM (SELECT ? AS told)
    JOIN files f ON f.path = told OR (f.path > told || '@' AND f.path < told || 'A')
    JOIN chunks c ON c.file_id = f.id
)
"""
_OF_MEMORIES = "+rowid IN (SELECT chunk_id FROM memory_chunks)"
_PASSAGES = """
SELECT id FROM chunks WHERE (?1 IS NULL OR file_id IN (SELECT value FROM json_each(?1)))
AND id NOT IN (SELECT chunk_id FROM memory_chunks)
"""
_TEXTS = """
SELECT c.id, c.text, c.heading, f.path FROM chunks c JOIN files f ON f.id = c.file_id
WHERE c.id IN (SELECT value FROM json_each(?))
"""
# One statement for all terms: most are rare, and looking up a term costs more than counting its chunks.
_RARITY = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM chunk_words WHERE chunk_words MATCH value {clause} LIMIT ?1))
FROM json_each(?2)
"""
_NOT_HIDDEN = "+rowid NOT IN (SELECT value FROM json_each(?3))"
# the few ids are looked up one by one
_COUNT_THESE = "SELECT count(*) FROM chunks WHERE id IN (SELECT value FROM json_each(?))"


class CandidateFilter(Struct, frozen=True):
    """Which chunks may answer; None and empty values mean no restriction."""

    files: tuple[int, ...] | None = None
    """Only chunks of these files."""
    required: tuple[Phrase, ...] = ()
    """Only chunks with all of these phrases."""
    forbidden: tuple[Phrase, ...] = ()
    """Only chunks with none of these phrases."""
    without_document: RelativePath | None = None
    """Only chunks of other documents."""
    chunks: tuple[int, ...] | None = None
    """Only these chunks."""
    only_memories: bool = False
    """Only retained lines."""
    without_memories: bool = False
    """No retained lines."""
    excluded: tuple[int, ...] = ()
    """None of these chunks."""

    @property
    def is_empty(self) -> bool:
        return self == CandidateFilter()

    @property
    def is_wide(self) -> bool:
        """True if it admits most chunks, as far as it can tell."""
        return self.files is None and self.chunks is None and not self.required and not self.only_memories

    @property
    def picks_chunks(self) -> bool:
        """True if it selects among the chunks of one document, by something other than their words."""
        return self.chunks is not None or self.only_memories or self.without_memories or bool(self.excluded)


@lru_cache(4)
def _as_json(chunks: tuple[int, ...]) -> str:
    """Return a filter's chunks as JSON; cached, because the next query may have the same filter."""
    return json.dumps(chunks)


@lru_cache(4)
def _as_set(chunks: tuple[int, ...]) -> frozenset[int]:
    return frozenset(chunks)


def _clauses(admitted: CandidateFilter) -> tuple[str, list[str]]:
    """Return the clauses to append to a WHERE on `rowid`, and their values."""
    conditions: list[tuple[str, str]] = []
    if admitted.files is not None:
        conditions.append(
            (
                "+rowid IN (SELECT id FROM chunks WHERE file_id IN (SELECT value FROM json_each(?)))",
                json_array(admitted.files),
            )
        )
    if admitted.chunks is not None:
        conditions.append(("+rowid IN (SELECT value FROM json_each(?))", _as_json(admitted.chunks)))
    if admitted.excluded:
        conditions.append(("+rowid NOT IN (SELECT value FROM json_each(?))", _as_json(admitted.excluded)))
    if admitted.required:
        conditions.append((_MATCHED_BY, with_stems(all_phrases(admitted.required))))
    if admitted.forbidden:
        conditions.append((f"NOT {_MATCHED_BY}", with_stems(any_phrase(admitted.forbidden))))
    if admitted.without_document is not None:
        conditions.append((_OF_OTHERS, admitted.without_document))
    clauses = [clause for clause, _ in conditions]
    clauses += [_OF_MEMORIES] if admitted.only_memories else []
    clauses += [f"NOT {_OF_MEMORIES}"] if admitted.without_memories else []
    return "".join(f" AND {clause}" for clause in clauses), [value for _, value in conditions]


def best_matches(
    db: apsw.Connection,
    question: Question,
    limit: int,
    admitted: CandidateFilter,
    holders: Holders | None = None,
) -> LexicalMatches:
    """Return the best `limit` chunks with a term, best first: by level, then by BM25.

    There is a level for containing all terms, and another for containing all of them exactly. Neighbouring words match
    no further chunks: they raise the scores of chunks with the words side by side.
    """
    holders = Holders() if holders is None else holders
    rows = _best_rows(db, question, limit, admitted, holders)
    bm25 = _with_neighbours(db, {row[0]: row[1] for row in rows}, question.neighbours, holders)
    matches = LexicalMatches(bm25, {row[0]: row[2] for row in rows if row[2]})
    return matches.only(matches.order())


def _best_rows(
    db: apsw.Connection, question: Question, limit: int, admitted: CandidateFilter, holders: Holders
) -> list[tuple[int, float, int]]:
    """Return id, BM25 and level of the best chunks; only chunks that can be among them are scored."""
    languages = holders.languages(db, question.language)
    weighed = weighed_phrases(question.terms, question.joined, question.dates)
    phrases = [stem for phrase in weighed for stem in each_with_stems(phrase, languages)]
    # a phrase without chunks adds nothing, and would be searched once more
    matches = [(phrase, chunks) for phrase, chunks in zip(phrases, holders.of(db, phrases), strict=True) if len(chunks)]
    if not matches:
        return []
    complete = _complete(question, lambda phrases: holders.of_any(db, phrases, languages))
    bounds = bounds_of([chunks for _, chunks in matches], complete, holders.total(db))
    clauses, values = _clauses(admitted)

    def best(among: Selection) -> list[tuple[int, float, int]]:
        # AND is faster than OR; if each chunk contains all phrases, the scores are the same
        weighed = bounds.chunks[among]
        is_in_each = all(len(chunks) >= len(weighed) and is_among(weighed, chunks).all() for _, chunks in matches)
        expression = (" AND " if is_in_each else " OR ").join(phrase for phrase, _ in matches)
        rows = db.execute(_CHUNKS.format(clauses=clauses), (bounds.marks(among), expression, *values, limit))
        return [(chunk, score, mark - 1) for chunk, score, mark in rows]

    if admitted.is_empty and (among := bounds.of_level(limit)) is not None:
        return best(among)
    score = bounds.guessed_score(limit) if admitted.is_wide else 0.0
    among = bounds.reaching(score)
    while True:
        rows = best(among)
        # the guess may be too high, and a filter may have left too few rows
        worst = min([score for _, score, level in rows if not level], default=score)
        score = min(score, worst) if len(rows) == limit else 0.0
        more = bounds.reaching(score)
        if np.array_equal(more, among):
            return rows
        among = more


def _complete(question: Question, chunks_of: Callable[[str], Chunks]) -> list[Chunks]:
    """Return the chunks with all terms exactly, and the chunks with all terms at least as prefixes.

    One list if both are equal, none for a single term that needs no distinction. `chunks_of` returns the chunks of an
    expression. Dates are matched as `term_expression` says.
    """
    terms = question.complete
    has_codes = any(map(is_code, terms))
    if len(terms) < 2 and not has_codes:
        return []
    of_dates = {word for day in question.dates for word in day.words}

    def with_all(each: Callable[[str], str]) -> Chunks:
        chunks_of_each = [chunks_of(each(term)) for term in terms if term not in of_dates]
        for day in question.dates:
            words = [chunks_of(each(term)) for term in terms if term in day.words]
            chunks_of_each.append(union([chunks_of(_date_anywhere(day)), *([intersection(words)] if words else [])]))
        return intersection(chunks_of_each)

    return [with_all(each) for each in ((_exact_word, term_expression) if has_codes else (_exact_word,))]


def holding(
    db: apsw.Connection, chunk_ids: Collection[int], admits: Callable[[tuple[str, str, str]], bool]
) -> set[int]:
    """Return the chunks whose text, heading and path `admits` accepts, because the word index has no punctuation.

    `admits` runs on the worker thread while rows are read: there may be thousands of texts.
    """
    rows = db.execute(_TEXTS, (json_array(chunk_ids),))
    return {chunk for chunk, text, heading, path in rows if admits((text, heading, path))}


def admitted_chunks(db: apsw.Connection, chunk_ids: Collection[int], admitted: CandidateFilter) -> set[int]:
    """Return those of the chunks that the filter admits."""
    # testing these few ids is faster than passing all admitted ids to the database
    inside = _as_set(admitted.chunks) if admitted.chunks is not None else None
    candidates = [chunk for chunk in chunk_ids if inside is None or chunk in inside]
    clauses, values = _clauses(replace(admitted, chunks=None))
    rows = db.execute(
        f"SELECT rowid FROM chunks WHERE rowid IN (SELECT value FROM json_each(?)) {clauses}",
        (json_array(candidates), *values),
    )
    return {row[0] for row in rows}


def term_statistics(
    db: apsw.Connection,
    question: Question,
    candidates: Sequence[int],
    holders: Holders | None = None,
    *,
    commonness: Callable[[str], float] = lambda _term: 0.0,
    uncounted: Collection[int] = (),
) -> TermStatistics:
    """Return how rare each term of a query is in these notes, and which candidates contain which terms.

    `commonness` is the probability that an ordinary chunk of the language contains a term. `uncounted` chunks are
    ignored.

    Dates are matched as `term_expression` says, also in paths: the note of a day answers a query about that day.
    """
    holders = Holders() if holders is None else holders
    total = holders.total(db)
    hidden = np.array(sorted(uncounted), np.int32)
    if uncounted:
        total -= db.execute(_COUNT_THESE, (json_array(hidden.tolist()),)).get
    languages = holders.languages(db, question.language)
    candidate_ids = np.array(sorted(candidates), np.int32)
    counts: dict[str, int] = {}
    present: dict[str, Sequence[int]] = {}
    for term in question.terms:
        chunks = holders.of_any(db, term_expression(term, question.dates), languages)
        counts[term] = len(chunks) - (int(np.count_nonzero(is_among(hidden, chunks))) if uncounted else 0)
        present[term] = candidate_ids[is_among(candidate_ids, chunks)].tolist()
    return TermStatistics(idf(total, counts, commonness), terms_by_holder(present))


class Words(Table):
    """Which chunks contain which words, and their scores."""

    async def weighed(self, question: Question, uncounted: Collection[int] = ()) -> Question:
        """Return the query with at most the allowed number of terms, the rarest in these notes.

        `uncounted` chunks do not affect how rare a term is.
        """
        long = question.long
        if long is None:
            return question
        holders = await self._holders(long.terms, question.language, uncounted)
        return replace(question, terms=long.by_rarity(dict(zip(long.terms, holders, strict=True))), long=None)

    @reads
    def _holders(
        self, db: apsw.Connection, terms: Sequence[str], language: str, uncounted: Collection[int]
    ) -> list[int]:
        """Return the number of chunks with each term, up to the number that matters."""
        clause = f"AND {_NOT_HIDDEN}" if uncounted else ""
        languages = Holders().languages(db, language)
        values = (ENOUGH_HOLDERS, json_array([with_stems(term_expression(term), languages) for term in terms]))
        hidden = (json_array(uncounted),) if uncounted else ()
        return [row[0] for row in db.execute(_RARITY.format(clause=clause), (*values, *hidden))]

    @reads
    def passages_of(self, db: apsw.Connection, files: Sequence[int] | None) -> list[int]:
        """Return the chunks of these files, None for all, that are no retained lines."""
        return [row[0] for row in db.execute(_PASSAGES, (None if files is None else json_array(files),))]

    @reads
    def with_phrase(self, db: apsw.Connection, phrase: Phrase, limit: int) -> list[int]:
        """Return the first `limit` chunks with the words of a phrase side by side."""
        if not phrase:
            return []
        return [
            row[0]
            for row in db.execute(
                "SELECT rowid FROM chunk_words WHERE chunk_words MATCH ? ORDER BY rowid LIMIT ?",
                (with_stems(_phrase(phrase)), limit),
            )
        ]

    @writes
    def check(self, db: apsw.Connection) -> None:
        """Run the integrity check of the word index; raises DamagedDatabase if it is broken."""
        check_words(db)

    @writes
    def drop_deleted(self, db: apsw.Connection) -> None:
        """Rewrite the word index without the words of deleted rows, which are only marked as deleted before.

        Takes half a second for 10 MB of notes.
        """
        drop_deleted_words(db)
