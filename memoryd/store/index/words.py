"""The word index: BM25 of chunks, where each term of a question is, and how well chunks hold neighbouring words.

In the query language of FTS5 every word is quoted, so that none is read as syntax (AND, NEAR, `column:`, `^`,
parentheses). Words hold no quotes: the cut of `domain.text.words` leaves letters, digits and marks only. Expressions
hold words as they are written; `stems.with_stems` makes of them what the index is asked.
https://www.sqlite.org/fts5.html#full_text_query_syntax
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import apsw
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.calibration import TermStatistics, idf, terms_by_holder
from memoryd.domain.ranking.fusion import LexicalMatches
from memoryd.domain.ranking.questions import ENOUGH_HOLDERS, SHARE, Question, least_apart
from memoryd.domain.text.dates import WrittenDate
from memoryd.domain.text.words import Phrase, is_code, is_number, is_single
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
"""BM25 by the columns body, heading, path, parts and stems. Of parts a hint is enough: the body has the identifier."""


def one_of(term: str, dates: Sequence[WrittenDate] = ()) -> str:
    """Return the expression that finds a term. A code also finds words that begin with it; a whole match counts more.

    A chunk that holds a date counts as holding the words that the question used for it.
    """
    forms = _term_forms(term)
    found = f"({' OR '.join(forms)})" if len(forms) > 1 else forms[0]
    spelled = [_date_anywhere(day) for day in dates if term in day.words]
    return f"({' OR '.join([found, *spelled])})" if spelled else found


def weighed_phrases(terms: Sequence[str], phrases: Sequence[Phrase], dates: Sequence[WrittenDate]) -> list[str]:
    """Return the phrases that find any of the terms, phrases and dates, each as often as it counts.

    Words such as the `7` of `7 May` are asked only as part of the date. Numbers count twice, since years tell
    paragraphs apart; codes do already. The last word of a phrase may go on: `2026-10` finds the days of that month.
    """
    loose = {word for day in dates for word in day.loose}
    telling = [term for term in terms if term not in loose]
    found = [one for term in telling for one in _term_forms(term) * (2 if is_number(term) else 1)]
    found += [f"{_phrase(words).rstrip('*')}*" for words in phrases]
    return [*found, *(one for day in dates for one in _date_phrases(day))]


def all_phrases(phrases: Sequence[Phrase]) -> str:
    """Return the expression that finds what holds each of the phrases, empty without any."""
    return " AND ".join(map(_phrase, phrases))


def any_phrase(phrases: Sequence[Phrase]) -> str:
    """Return the expression that finds what holds one of the phrases, empty without any."""
    return " OR ".join(map(_phrase, phrases))


def _date_phrases(day: WrittenDate) -> list[str]:
    """Return what finds a date, each as often as it counts.

    A day of a name counts three times, for itself and the two words that are left to it: a diary has as many notes
    about a matter as days, and one about the day.
    """
    names, sentences = map(_phrase, day.in_names), map(_phrase, day.in_sentences)
    # once in any column, twice more in names
    return [*names, *(_date_in_names(day) * 2 if day.day else []), *sentences]


def _date_anywhere(day: WrittenDate) -> str:
    """Return what finds a date, however it is written."""
    return f"(({' OR '.join(_date_in_names(day))}) OR {any_phrase(day.in_sentences)})"


def _date_in_names(day: WrittenDate) -> list[str]:
    """Return what finds a date as names have it; without its year only in names, since in a text `05:04` is a time."""
    column = "" if day.year else f"{NAMES} : "
    return [f"{column}{_phrase(words)}" for words in day.in_names]


def _term_forms(term: str) -> list[str]:
    return [f'"{term}"', f'"{term}"*'] if is_code(term) else [_whole_word(term)]


def _whole_word(term: str) -> str:
    """Return what finds a term alone; a single sign without spaces begins the pairs of the index."""
    return f'"{term}"*' if is_single(term) else f'"{term}"'


def _phrase(words: Phrase) -> str:
    """Return what finds the words one after the other; a single sign without spaces may begin the last."""
    return f'"{" ".join(words)}"{"*" if words and is_single(words[-1]) else ""}'


_SCORES = f"""
SELECT rowid, {RELEVANCE} FROM chunk_words
WHERE chunk_words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
"""


def _with_neighbours(
    db: apsw.Connection, scores: Mapping[int, float], neighbours: Sequence[Phrase], holders: Holders
) -> dict[int, float]:
    """Add to each score (BM25 by chunk) a share of the BM25 of its neighbouring words that are significant here."""
    significant = _significant(db, neighbours, holders) if scores and neighbours else []
    if not significant:
        return dict(scores)
    found = dict(db.execute(_SCORES, (with_stems(any_phrase(significant)), json.dumps(list(scores)))))
    return {chunk: score + SHARE * found.get(chunk, 0.0) for chunk, score in scores.items()}


def _significant(db: apsw.Connection, neighbours: Sequence[Phrase], holders: Holders) -> list[Phrase]:
    words = list(dict.fromkeys(word for pair in neighbours for word in pair))
    apart = dict(zip(words, map(len, holders.of(db, [with_stems(f'"{word}"') for word in words])), strict=True))
    pairs = {pair: least for pair in neighbours if (least := min(apart[word] for word in pair))}
    found = holders.of(db, [with_stems(_phrase(pair)) for pair in pairs])
    together = zip(pairs.items(), map(len, found), strict=True)
    return [pair for (pair, least), count in together if count and least >= least_apart(count)]


# The first value says of each chunk, by its id, whether it is weighed, 0 for no, and its level, from 1. A list of them
# would be looked up in a tree, which takes four times as long.
_CHUNKS = f"""
SELECT rowid, {RELEVANCE} AS score, CAST(substr(?1, rowid + 1, 1) AS INTEGER) AS mark FROM chunk_words
WHERE chunk_words MATCH ?2 AND substr(?1, rowid + 1, 1) > x'30' {{clauses}} ORDER BY mark DESC, score DESC LIMIT ?
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
# One statement for all: the path to a term costs more than what is counted there, and most are rare.
_RARITY = """
SELECT (SELECT count(*) FROM (SELECT 1 FROM chunk_words WHERE chunk_words MATCH value {clause} LIMIT ?1))
FROM json_each(?2)
"""
_NOT_HIDDEN = "+rowid NOT IN (SELECT value FROM json_each(?3))"
# of the few each is looked up
_COUNT_THESE = "SELECT count(*) FROM chunks WHERE id IN (SELECT value FROM json_each(?))"


class CandidateFilter(Struct, frozen=True):
    """Which chunks may answer; None and empty mean nothing of the kind."""

    files: tuple[int, ...] | None = None
    """Those of these files."""
    required: tuple[Phrase, ...] = ()
    """Those that hold each of these phrases."""
    forbidden: tuple[Phrase, ...] = ()
    """Those that hold none of these."""
    without_document: RelativePath | None = None
    """Those of other documents."""
    chunks: tuple[int, ...] | None = None
    """These."""
    only_memories: bool = False
    """Those that are retained lines."""
    without_memories: bool = False
    """Those that are not."""
    excluded: tuple[int, ...] = ()
    """Never these."""

    @property
    def is_empty(self) -> bool:
        return self == CandidateFilter()

    @property
    def is_wide(self) -> bool:
        """Whether it lets most chunks through, as far as it can tell."""
        return self.files is None and self.chunks is None and not self.required and not self.only_memories

    @property
    def picks_chunks(self) -> bool:
        """Whether it tells chunks of one document apart, by something else than their words."""
        return self.chunks is not None or self.only_memories or self.without_memories or bool(self.excluded)


def chunk_texts(db: apsw.Connection, chunk_ids: Iterable[int]) -> Iterator[tuple[int, tuple[str, str, str]]]:
    """Yield the chunks of these ids with their text, heading and path."""
    for chunk, *texts in db.execute(_TEXTS, (json.dumps(list(chunk_ids)),)):
        yield chunk, (texts[0], texts[1], texts[2])


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
        given.append((_FOUND_BY, with_stems(all_phrases(admitted.required))))
    if admitted.forbidden:
        given.append((f"NOT {_FOUND_BY}", with_stems(any_phrase(admitted.forbidden))))
    if admitted.without_document is not None:
        given.append((_OF_OTHERS, admitted.without_document))
    clauses = [clause for clause, _ in given]
    clauses += [_OF_MEMORIES] if admitted.only_memories else []
    clauses += [f"NOT {_OF_MEMORIES}"] if admitted.without_memories else []
    return "".join(f" AND {clause}" for clause in clauses), [value for _, value in given]


def best_matches(
    db: apsw.Connection,
    question: Question,
    limit: int,
    admitted: CandidateFilter,
    holders: Holders | None = None,
) -> LexicalMatches:
    """Return the best `limit` chunks that hold a term, best first: those of a higher level, then by BM25.

    A level is for holding all terms, another for holding all of them whole. Neighbouring words find nothing more:
    of what is found, they lift what has them side by side.
    """
    holders = Holders() if holders is None else holders
    rows = _best_rows(db, question, limit, admitted, holders)
    bm25 = _with_neighbours(db, {row[0]: row[1] for row in rows}, question.neighbours, holders)
    found = LexicalMatches(bm25, {row[0]: row[2] for row in rows if row[2]})
    return found.only(found.order())


def _best_rows(
    db: apsw.Connection, question: Question, limit: int, admitted: CandidateFilter, holders: Holders
) -> list[tuple[int, float, int]]:
    """Return id, BM25 and level of the best; of many chunks only what can be among them is weighed."""
    languages = holders.languages(db, question.language)
    weighed = weighed_phrases(question.terms, question.joined, question.dates)
    phrases = [one for phrase in weighed for one in each_with_stems(phrase, languages)]
    found = zip(phrases, holders.of(db, phrases), strict=True)
    # what stands nowhere adds nothing, and would be looked for once more
    held = [(phrase, chunks) for phrase, chunks in found if len(chunks)]
    if not held:
        return []
    complete = _complete(question, lambda phrases: holders.of_any(db, phrases, languages))
    bounds = bounds_of([chunks for _, chunks in held], complete, holders.total(db))
    clauses, values = _clauses(admitted)

    def best(among: Selection) -> list[tuple[int, float, int]]:
        # to go over what holds all phrases takes less than over what holds any; the scores are the same
        weighed = bounds.chunks[among]
        is_in_each = all(len(chunks) >= len(weighed) and is_among(weighed, chunks).all() for _, chunks in held)
        expression = (" AND " if is_in_each else " OR ").join(phrase for phrase, _ in held)
        rows = db.execute(_CHUNKS.format(clauses=clauses), (bounds.marks(among), expression, *values, limit))
        return [(chunk, score, mark - 1) for chunk, score, mark in rows]

    if admitted.is_empty and (among := bounds.of_level(limit)) is not None:
        return best(among)
    score = bounds.guessed_score(limit) if admitted.is_wide else 0.0
    among = bounds.reaching(score)
    while True:
        rows = best(among)
        # the guess may have been too high, and a filter may have left too few
        worst = min([score for _, score, level in rows if not level], default=score)
        score = min(score, worst) if len(rows) == limit else 0.0
        more = bounds.reaching(score)
        if np.array_equal(more, among):
            return rows
        among = more


def _complete(question: Question, held: Callable[[str], Chunks]) -> list[Chunks]:
    """Return the chunks that hold all terms, each as it is given, and each at least begun so.

    One of them where they are the same; none for a single term of which both are what is weighed. `held` says which
    chunks an expression finds. Dates are held as `one_of` says.
    """
    terms = question.complete
    has_codes = any(map(is_code, terms))
    if len(terms) < 2 and not has_codes:
        return []
    of_dates = {word for day in question.dates for word in day.words}

    def all_by(each: Callable[[str], str]) -> Chunks:
        found = [held(each(term)) for term in terms if term not in of_dates]
        for day in question.dates:
            words = [held(each(term)) for term in terms if term in day.words]
            found.append(union([held(_date_anywhere(day)), *([intersection(words)] if words else [])]))
        return intersection(found)

    return [all_by(each) for each in ((_whole_word, one_of) if has_codes else (_whole_word,))]


def holding(
    db: apsw.Connection, chunk_ids: Collection[int], admits: Callable[[tuple[str, str, str]], bool]
) -> set[int]:
    """Return those of the chunks whose text, heading and path `admits` lets through: the word index has no punctuation.

    It is asked on the worker thread, while the rows are read: there may be thousands of texts.
    """
    return {chunk for chunk, texts in chunk_texts(db, chunk_ids) if admits(texts)}


def admitted_chunks(db: apsw.Connection, chunk_ids: Collection[int], admitted: CandidateFilter) -> set[int]:
    """Return those of the chunks that may answer."""
    # of the few that are asked about, quicker than to give all that may answer to the database
    inside = _as_set(admitted.chunks) if admitted.chunks is not None else None
    asked = [chunk for chunk in chunk_ids if inside is None or chunk in inside]
    clauses, values = _clauses(replace(admitted, chunks=None))
    rows = db.execute(_ADMITTED.format(clauses=clauses), (json.dumps(asked), *values))
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
    """Return how rare each term of a question is in these notes, and which terms stand in which candidates.

    `commonness` is the chance that a usual chunk of the language holds a term. Chunks that are `uncounted` are as
    if there were none.

    Dates count as `one_of` says, in paths too: the note of a day answers what is asked about that day.
    """
    holders = Holders() if holders is None else holders
    total = holders.total(db)
    hidden = np.array(sorted(uncounted), np.int32)
    if uncounted:
        total -= db.execute(_COUNT_THESE, (json.dumps(hidden.tolist()),)).get
    languages = holders.languages(db, question.language)
    asked = np.array(sorted(candidates), np.int32)
    counts: dict[str, int] = {}
    held: dict[str, Sequence[int]] = {}
    for term in question.terms:
        found = holders.of_any(db, one_of(term, question.dates), languages)
        counts[term] = len(found) - (int(np.count_nonzero(is_among(hidden, found))) if uncounted else 0)
        held[term] = asked[is_among(asked, found)].tolist()
    return TermStatistics(idf(total, counts, commonness), terms_by_holder(held))


class Words(Table):
    """Which chunks hold which words, and how well they match."""

    async def weighed(self, question: Question, uncounted: Collection[int] = ()) -> Question:
        """Return a question with no more terms than may be looked for, those that say most in these notes.

        Chunks that are `uncounted` say nothing of how rare a term is.
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
        """Return how many chunks hold each term, as far as it matters."""
        clause = f"AND {_NOT_HIDDEN}" if uncounted else ""
        languages = Holders().languages(db, language)
        values = (ENOUGH_HOLDERS, json.dumps([with_stems(one_of(term), languages) for term in terms]))
        hidden = (json.dumps(list(uncounted)),) if uncounted else ()
        return [row[0] for row in db.execute(_RARITY.format(clause=clause), (*values, *hidden))]

    @reads
    def passages_of(self, db: apsw.Connection, files: Sequence[int] | None) -> list[int]:
        """Return the chunks of these files, None for all, that are no retained lines."""
        return [row[0] for row in db.execute(_PASSAGES, (None if files is None else json.dumps(list(files)),))]

    @reads
    def with_phrase(self, db: apsw.Connection, phrase: Phrase, limit: int) -> list[int]:
        """Return the first `limit` chunks in which the words of a phrase stand one after the other."""
        if not phrase:
            return []
        return [row[0] for row in db.execute(_WITH, (with_stems(_phrase(phrase)), limit))]

    @writes
    def check(self, db: apsw.Connection) -> None:
        """Let the word index check its own structures; raises DamagedDatabase when they are broken."""
        check_words(db)

    @writes
    def drop_deleted(self, db: apsw.Connection) -> None:
        """Write the word index anew without the words of deleted rows, which are only marked until then.

        Takes half a second for 10 MB of notes.
        """
        drop_deleted_words(db)
