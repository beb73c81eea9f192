"""The words of chunks with their stems, and the chunks that contain the phrases of a query.

The chunks of a phrase are cached while nothing is written. They show which chunks can be among the best: computing BM25
takes ten times as long as a lookup, and most matches in a large index contain just one common word. The contribution of
a phrase to a score has an upper bound, its rarity times a constant. So a chunk can reach a score only if the rarities
of its phrases sum up to that, and chunks that cannot reach the last of the best are not scored. After Broder and
others, Efficient query evaluation using a two-level retrieval process, 2003.
"""

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import apsw
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.documents import RelativePath, conversation_path, owner_path
from memoryd.domain.expressions import TextMatch, expression
from memoryd.domain.text.languages import language_of
from memoryd.domain.text.words import (
    COMPOUNDING,
    LEAST_PREFIX,
    STEMMERS,
    compound_beginnings,
    identifier_parts,
    indexed_words,
    mark_unstemmed,
    query_stems,
    stems_of,
)
from memoryd.store.connection import insert_rows, json_array

_CHUNKS = "SELECT c.id, c.heading, c.text, f.path FROM chunks c JOIN files f ON f.id = c.file_id ORDER BY c.id"
_PHRASE = expression(r'"([^"]*)"(\*?)')


class ChunkText(NamedTuple):
    """The fields of a chunk from which its words are made."""

    id: int
    heading: str
    text: str
    path: RelativePath


def insert_words(db: apsw.Connection, chunks: Iterable[ChunkText]) -> None:
    """Write the word index entries of chunks: words of text, headings and path, parts of identifiers, and stems.

    Stems are of the text and its heading, in the language of both.
    """

    def words(chunk: ChunkText) -> Sequence[object]:
        number, heading, text, path = chunk
        parts = identifier_parts(f"{heading} {text}")
        # the number of a part is no searchable word, nor is the person who shares a file
        path_words = owner_path(conversation_path(path))
        body, above, name = map(indexed_words, (text, heading, path_words))
        language, stems = language_of(f"{text}\n{heading}"), ""
        if language in STEMMERS:
            db.execute("INSERT OR IGNORE INTO languages VALUES (?)", (language,))
            stems = indexed_words(" ".join(stems_of(f"{body}\n{above}", language)))
        return number, body, above, name, parts and indexed_words(parts), stems

    insert_rows(db, "INSERT INTO chunk_words (rowid, body, heading, path, parts, stems)", map(words, chunks))


def rewrite_words(db: apsw.Connection) -> None:
    """Rewrite the word index entries of all chunks from their texts."""
    insert_words(db, map(ChunkText._make, db.execute(_CHUNKS)))


def with_stems(phrases: str, languages: Sequence[str] = ()) -> str:
    """Return the FTS5 expression for an expression with words as written.

    Single words also match by their stems in the languages.
    """

    if not languages:
        return mark_unstemmed(phrases)

    def alternatives(match: TextMatch) -> str:
        forms = each_with_stems(match[0], languages)
        return f"({' OR '.join(forms)})" if len(forms) > 1 else forms[0]

    return _PHRASE.sub(alternatives, phrases)


def each_with_stems(phrase: str, languages: Sequence[str] = ()) -> list[str]:
    """Return the expressions for one phrase: itself, and for a single word also its stems in the languages.

    In German also words that begin with it, and words that it may begin with: *Zahnarzttermin* for *Zahnarzt*, and the
    reverse.
    """
    before, words, after = phrase.split('"')
    if " " in words or after:
        return [f'{before}"{mark_unstemmed(words)}"{after}']
    forms = [f'{before}"{mark_unstemmed(each)}"' for each in (words, *query_stems(words, languages))]
    if COMPOUNDING not in languages or not words.isalpha():
        return forms
    begins = [f'{before}"{words}"*'] if len(words) >= LEAST_PREFIX else []
    return [*forms, *begins, *(f'{before}"{start}"' for start in compound_beginnings(words))]


Chunks = NDArray[np.int32]
"""Ids of chunks, each once, ascending."""
Selection = NDArray[np.bool_]
"""A boolean for each of some chunks: True if it is selected."""

_HOLDERS = """
SELECT (SELECT group_concat(rowid) FROM chunk_words WHERE chunk_words MATCH value) FROM json_each(?)
"""
_NO_PARENTHESES = {ord("("): None, ord(")"): None}
_NO_CHUNKS: Chunks = np.empty(0, np.int32)


class Holders:
    """Cache of the chunks that contain a phrase, for queries since the last write to the index."""

    def __init__(self) -> None:
        self.size = 0
        """Number of cached phrases and ids."""
        self._total: int | None = None
        self._languages: Sequence[str] | None = None
        self._known: dict[str, Chunks] = {}
        self._unions: dict[tuple[str, ...], Chunks] = {}

    def total(self, db: apsw.Connection) -> int:
        """Return the number of chunks."""
        if self._total is None:
            self._total = int(db.execute("SELECT count(*) FROM chunks").get)
        return self._total

    def languages(self, db: apsw.Connection, language: str) -> Sequence[str]:
        """Return the languages whose stems a query uses: its own, or all of the notes' languages if it is unknown."""
        if language and language not in STEMMERS:
            return ()
        if self._languages is None:
            self._languages = [code for (code,) in db.execute("SELECT code FROM languages ORDER BY code")]
        return [code for code in self._languages if language in (code, "")]

    def of(self, db: apsw.Connection, phrases: Sequence[str]) -> list[Chunks]:
        """Return the chunks of each phrase; phrases are expressions of the index."""
        if new := [phrase for phrase in dict.fromkeys(phrases) if phrase not in self._known]:
            # one statement for all phrases: looking up a term costs more than reading its chunks, which are mostly few
            for phrase, (ids,) in zip(new, db.execute(_HOLDERS, (json_array(new),)), strict=True):
                self._known[phrase] = np.fromstring(ids, np.int32, sep=",") if ids else _NO_CHUNKS
                self.size += 1 + len(self._known[phrase])
        return [self._known[phrase] for phrase in phrases]

    def of_any(self, db: apsw.Connection, phrases: str, languages: Sequence[str]) -> Chunks:
        """Return the chunks with any phrase of an OR expression, or any of its stems in the languages.

        The expression has words as written.
        """
        key = phrases, *languages
        if (known := self._unions.get(key)) is None:
            each = with_stems(phrases, languages).translate(_NO_PARENTHESES).split(" OR ")
            known = self._unions[key] = union(self.of(db, list(dict.fromkeys(each))))
            self.size += 1 + len(known)
        return known


def union(sets: Iterable[Chunks]) -> Chunks:
    """Return the chunks that are in any of the sets."""
    filled = [chunks for chunks in sets if len(chunks)] or [_NO_CHUNKS]
    if len(filled) == 1:
        return filled[0]
    # np.unique would import masked arrays
    together = np.sort(np.concatenate(filled), kind="stable")
    distinct: Chunks = together[np.append(True, together[1:] != together[:-1])]
    return distinct


def intersection(sets: Iterable[Chunks]) -> Chunks:
    """Return the chunks that are in all sets; at least one set is required. The shortest is processed first."""
    return reduce(lambda chunks, other: chunks[is_among(chunks, other)], sorted(sets, key=len))


def is_among(chunks: Chunks, others: Chunks) -> Selection:
    """Return for each chunk whether it is in `others`."""
    if not len(others):
        return np.zeros(len(chunks), np.bool_)
    places = np.minimum(np.searchsorted(others, chunks), len(others) - 1)
    return np.equal(others[places], chunks)


BOUND = 2.2
"""Times its rarity, the maximum contribution of a phrase to a score, however often it occurs: k1 + 1 of BM25 in FTS5.

https://www.sqlite.org/fts5.html#the_bm25_function. A note of one line whose title is the word reaches 2, so a smaller
bound could miss it.
"""
_LEAST_RARITY = 1e-6
"""The minimum weight in FTS5, for a phrase in most chunks."""
_ROUNDING = 1 - 1e-5
"""Sums of the same float32 numbers in another order differ in the last digits."""
MANY = 1_000
"""Number of chunks from which it pays to select those to score."""
_TYPICAL = 1.0
"""Times its rarity, the contribution of a phrase that occurs once in a chunk of average length."""
_MAX_SHARE = 0.6
"""Share of all chunks; selecting more than that takes no less time than scoring all."""


class ScoreBounds(Struct, frozen=True):
    """For each chunk, the sum of the rarities of its phrases, and how completely it contains a query."""

    chunks: Chunks
    """All chunks with a phrase, which are a fraction of the index."""
    rarities: NDArray[np.float32]
    levels: NDArray[np.uint8]

    def of_level(self, limit: int) -> Selection | None:
        """Return the chunks of the highest levels if there are `limit`: they are best with any score."""
        for level in range(int(self.levels.max()), 0, -1):
            if np.count_nonzero(selection := self.levels >= level) >= limit:
                return selection
        return None

    def guessed_score(self, limit: int) -> float:
        """Return roughly the score of the last of the best `limit`, 0 if all must be scored.

        A wrong guess only costs time.
        """
        rarities = self.rarities
        return _TYPICAL * float(np.partition(rarities, -limit)[-limit]) if len(rarities) > max(limit, MANY) else 0.0

    def reaching(self, score: float) -> Selection:
        """Return the chunks that can reach a score, and those with a level."""
        selection = (self.rarities >= score / BOUND * _ROUNDING) | (self.levels > 0)
        return selection if np.count_nonzero(selection) < _MAX_SHARE * len(selection) else np.ones_like(selection)

    def marks(self, selected: Selection) -> bytes:
        """Return a digit for each chunk id: 0 for a chunk that is not selected, else its level from 1."""
        marks = np.full(self.chunks[-1] + 1, ord("0"), np.uint8)
        marks[self.chunks[selected]] = self.levels[selected] + ord("1")
        return marks.tobytes()


def bounds_of(chunks_of_each: Sequence[Chunks], complete: Sequence[Chunks], total: int) -> ScoreBounds:
    """Return the bounds of chunks from the chunks of each phrase, at least one, and the chunks with all terms."""
    # float32, because the numbers of a large index exceed a CPU cache
    rarities = np.zeros(1 + max(int(chunks[-1]) for chunks in chunks_of_each), np.float32)
    for chunks in chunks_of_each:
        rarities[chunks] += np.float32(rarity(len(chunks), total))
    levels = np.zeros(len(rarities), np.uint8)
    for chunks in complete:
        levels[chunks[chunks < len(levels)]] += 1
    ids = np.flatnonzero(rarities > 0).astype(np.int32)
    return ScoreBounds(ids, rarities[ids], levels[ids])


def rarity(holders: int, total: int) -> float:
    """Return the inverse document frequency of a phrase as FTS5 computes it."""
    # the total may be from before a commit, and the holders from after it
    return max(_LEAST_RARITY, math.log((max(0, total - holders) + 0.5) / (holders + 0.5)))
