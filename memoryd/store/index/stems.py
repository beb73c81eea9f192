"""The words of chunks as they are written, with their stems in other languages, and which chunks hold a question's.

Holders are remembered as long as nothing is written. They tell which chunks can be the best of a question: to weigh
one by BM25 takes ten times as long as to find it, and most that a large index finds holds one common word. What a
phrase adds to a score has a bound, its rarity times a number. So a chunk reaches a score only if the rarities of its
phrases add up to that, and what cannot reach the last of the best is not weighed. After Broder and others, Efficient
query evaluation using a two-level retrieval process, 2003.
"""

import json
import math
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import apsw
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.documents import RelativePath, conversation_path, home_path
from memoryd.domain.expressions import TextMatch, expression
from memoryd.domain.text.languages import language_of
from memoryd.domain.text.words import (
    COMPOUNDING,
    LEAST_PREFIX,
    STEMMERS,
    compound_beginnings,
    identifier_parts,
    indexed_words,
    marked,
    stems_asked,
    stems_of,
)
from memoryd.store.connection import insert_rows

_INSERT = "INSERT INTO chunk_words (rowid, body, heading, path, parts, stems)"
_NOTE_LANGUAGE = "INSERT OR IGNORE INTO languages VALUES (?)"
_LANGUAGES = "SELECT code FROM languages ORDER BY code"
_CHUNKS = "SELECT c.id, c.heading, c.text, f.path FROM chunks c JOIN files f ON f.id = c.file_id ORDER BY c.id"
_PHRASE = expression(r'"([^"]*)"(\*?)')


class ChunkText(NamedTuple):
    """What of a chunk makes its words."""

    id: int
    heading: str
    text: str
    path: RelativePath


def insert_words(db: apsw.Connection, chunks: Iterable[ChunkText]) -> None:
    """Write what the word index has of chunks: their words, those above and in their paths, parts of these, and stems.

    The stems are of a text and its heading, by the language of both.
    """

    def words(chunk: ChunkText) -> Sequence[object]:
        number, heading, text, path = chunk
        parts = identifier_parts(f"{heading} {text}")
        # the number of a part is no word of anybody, nor is who shares it: its words weigh as at home
        told = home_path(conversation_path(path))
        body, above, name = map(indexed_words, (text, heading, told))
        language, stems = language_of(f"{text}\n{heading}"), ""
        if language in STEMMERS:
            db.execute(_NOTE_LANGUAGE, (language,))
            stems = indexed_words(" ".join(stems_of(f"{body}\n{above}", language)))
        return number, body, above, name, parts and indexed_words(parts), stems

    insert_rows(db, _INSERT, map(words, chunks))


def rewrite_words(db: apsw.Connection) -> None:
    """Write the words of all chunks anew from their texts."""
    insert_words(db, map(ChunkText._make, db.execute(_CHUNKS)))


def with_stems(phrases: str, languages: Sequence[str] = ()) -> str:
    """Return the expression of FTS5 that finds the words of another one, which are written as people do.

    Single words are found by their stems in the languages, too.
    """

    if not languages:
        return marked(phrases)

    def alternatives(match: TextMatch) -> str:
        found = each_with_stems(match[0], languages)
        return f"({' OR '.join(found)})" if len(found) > 1 else found[0]

    return _PHRASE.sub(alternatives, phrases)


def each_with_stems(phrase: str, languages: Sequence[str] = ()) -> list[str]:
    """Return what finds one phrase: itself, and if it is a single word its stems in the languages.

    In German also what begins with it, and with what it may begin: *Zahnarzttermin* for *Zahnarzt*, and the reverse.
    """
    before, words, after = phrase.split('"')
    if " " in words or after:
        return [f'{before}"{marked(words)}"{after}']
    found = [f'{before}"{marked(each)}"' for each in (words, *stems_asked(words, languages))]
    if COMPOUNDING not in languages or not words.isalpha():
        return found
    begins = [f'{before}"{words}"*'] if len(words) >= LEAST_PREFIX else []
    return [*found, *begins, *(f'{before}"{start}"' for start in compound_beginnings(words))]


Chunks = NDArray[np.int32]
"""Ids of chunks, each once, ascending."""
Selection = NDArray[np.bool_]
"""Whether each of some chunks is meant."""

_HOLDERS = """
SELECT (SELECT group_concat(rowid) FROM chunk_words WHERE chunk_words MATCH value) FROM json_each(?)
"""
_COUNT_CHUNKS = "SELECT count(*) FROM chunks"
_NO_PARENTHESES = {ord("("): None, ord(")"): None}
_NOBODY: Chunks = np.empty(0, np.int32)


class Holders:
    """The chunks that hold a phrase, as far as a question has asked since the index was written."""

    def __init__(self) -> None:
        self.size = 0
        """How many phrases and ids are remembered."""
        self._total: int | None = None
        self._languages: Sequence[str] | None = None
        self._known: dict[str, Chunks] = {}
        self._unions: dict[tuple[str, ...], Chunks] = {}

    def total(self, db: apsw.Connection) -> int:
        """Return how many chunks there are."""
        if self._total is None:
            self._total = int(db.execute(_COUNT_CHUNKS).get)
        return self._total

    def languages(self, db: apsw.Connection, language: str) -> Sequence[str]:
        """Return the languages whose stems a question looks for: its own, or all of the notes' if unknown."""
        if language and language not in STEMMERS:
            return ()
        if self._languages is None:
            self._languages = [code for (code,) in db.execute(_LANGUAGES)]
        return [code for code in self._languages if language in (code, "")]

    def of(self, db: apsw.Connection, phrases: Sequence[str]) -> list[Chunks]:
        """Return which chunks hold each of the phrases, which are expressions of the index."""
        if new := [phrase for phrase in dict.fromkeys(phrases) if phrase not in self._known]:
            # one statement for all: the path to a term costs more than what most have there
            for phrase, (ids,) in zip(new, db.execute(_HOLDERS, (json.dumps(new),)), strict=True):
                self._known[phrase] = np.fromstring(ids, np.int32, sep=",") if ids else _NOBODY
                self.size += 1 + len(self._known[phrase])
        return [self._known[phrase] for phrase in phrases]

    def of_any(self, db: apsw.Connection, phrases: str, languages: Sequence[str]) -> Chunks:
        """Return which chunks hold any phrase of an expression that has nothing but OR, or its stems in the languages.

        It has words as they are written.
        """
        key = phrases, *languages
        if (known := self._unions.get(key)) is None:
            each = with_stems(phrases, languages).translate(_NO_PARENTHESES).split(" OR ")
            known = self._unions[key] = union(self.of(db, list(dict.fromkeys(each))))
            self.size += 1 + len(known)
        return known


def union(found: Iterable[Chunks]) -> Chunks:
    """Return what is in any of them."""
    some = [one for one in found if len(one)] or [_NOBODY]
    if len(some) == 1:
        return some[0]
    # np.unique would import masked arrays
    together = np.sort(np.concatenate(some), kind="stable")
    each: Chunks = together[np.append(True, together[1:] != together[:-1])]
    return each


def intersection(found: Iterable[Chunks]) -> Chunks:
    """Return what is in each of them, of which there is one at least; the shortest first is quickest."""
    return reduce(lambda one, other: one[is_among(one, other)], sorted(found, key=len))


def is_among(chunks: Chunks, others: Chunks) -> Selection:
    """Return for each chunk whether it is one of the others."""
    if not len(others):
        return np.zeros(len(chunks), np.bool_)
    places = np.minimum(np.searchsorted(others, chunks), len(others) - 1)
    return np.equal(others[places], chunks)


BOUND = 2.2
"""Times its rarity is what a phrase adds at most, however often it stands in however few words: k1 + 1 of FTS5's BM25.

https://www.sqlite.org/fts5.html#the_bm25_function. A note of one line that is titled by a word reaches 2, so that with
less it could be missed.
"""
_LEAST_RARITY = 1e-6
"""What FTS5 lets a phrase weigh that most chunks hold."""
_ROUNDING = 1 - 1e-5
"""Sums of the same numbers of float32 in another order differ in the last digits."""
MANY = 1_000
"""Chunks from which on it pays to tell which are to be weighed."""
_USUAL = 1.0
"""Times its rarity is what a phrase adds that stands once in a chunk of usual length."""
_MOST = 0.6
"""Of all chunks; to weigh more of them alone takes no less than to weigh all."""


class ScoreBounds(Struct, frozen=True):
    """How rare the phrases are that each of some chunks holds, together, and how completely it holds a question."""

    chunks: Chunks
    """All that hold a phrase: to go over these takes a fraction of what all of the index would."""
    rarities: NDArray[np.float32]
    levels: NDArray[np.uint8]

    def of_level(self, limit: int) -> Selection | None:
        """Return the chunks of the highest levels if there are `limit`: they are best whatever they score."""
        for level in range(int(self.levels.max()), 0, -1):
            if np.count_nonzero(found := self.levels >= level) >= limit:
                return found
        return None

    def guessed_score(self, limit: int) -> float:
        """Return about what the last of the best `limit` scores, 0 if all are to be weighed.

        A wrong guess costs time alone.
        """
        held = self.rarities
        return _USUAL * float(np.partition(held, -limit)[-limit]) if len(held) > max(limit, MANY) else 0.0

    def reaching(self, score: float) -> Selection:
        """Return the chunks that can reach a score, and those of a level."""
        found = (self.rarities >= score / BOUND * _ROUNDING) | (self.levels > 0)
        return found if np.count_nonzero(found) < _MOST * len(found) else np.ones_like(found)

    def marks(self, found: Selection) -> bytes:
        """Return a digit for each chunk by its id: 0 for what is not among the found, else its level from 1."""
        marks = np.full(self.chunks[-1] + 1, ord("0"), np.uint8)
        marks[self.chunks[found]] = self.levels[found] + ord("1")
        return marks.tobytes()


def bounds_of(held: Sequence[Chunks], complete: Sequence[Chunks], total: int) -> ScoreBounds:
    """Return the bounds by which chunks of a `total` hold each phrase, one of them at least, and which hold all."""
    # float32, since a large index is more than a cache holds
    rarities = np.zeros(1 + max(int(chunks[-1]) for chunks in held), np.float32)
    for chunks in held:
        rarities[chunks] += np.float32(rarity(len(chunks), total))
    levels = np.zeros(len(rarities), np.uint8)
    for chunks in complete:
        levels[chunks[chunks < len(levels)]] += 1
    found = np.flatnonzero(rarities > 0).astype(np.int32)
    return ScoreBounds(found, rarities[found], levels[found])


def rarity(holders: int, total: int) -> float:
    """Return the inverse document frequency of a phrase as FTS5 reckons it."""
    # what was counted before a commit may be fewer than what is found after it
    return max(_LEAST_RARITY, math.log((max(0, total - holders) + 0.5) / (holders + 0.5)))
