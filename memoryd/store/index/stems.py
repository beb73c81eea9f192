"""The words of chunks as they are written, with their stems in other languages, and questions that find them.

Also which chunks can be among the best of a question, told by how many hold each of its phrases. To weigh a chunk by
BM25 takes ten times as long as to find it, and most that a large index finds holds one common word. What a phrase adds
to a score has a bound, its rarity times a number. So a chunk reaches a score only if the bounds of its phrases add up
to that, and what cannot reach the last of the best is not weighed. After Broder and others, Efficient query evaluation
using a two-level retrieval process, 2003.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import apsw
from msgspec import Struct

from memoryd.domain.documents import RelativePath, conversation_path, home_path
from memoryd.domain.expressions import expression
from memoryd.domain.text.languages import language_of
from memoryd.domain.text.words import STEMMERS, identifier_parts, indexed_words, marked, stems_asked, stems_of

_INSERT = "INSERT INTO chunk_words (rowid, body, heading, path, parts, stems) VALUES (?, ?, ?, ?, ?, ?)"
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
    for number, heading, text, path in chunks:
        parts = identifier_parts(f"{heading} {text}")
        # the number of a part is no word of anybody, nor is who shares it: its words weigh as at home
        told = home_path(conversation_path(path))
        body, above, name = map(indexed_words, (text, heading, told))
        language, stems = language_of(f"{text}\n{heading}"), ""
        if language in STEMMERS:
            db.execute(_NOTE_LANGUAGE, (language,))
            stems = indexed_words(" ".join(stems_of(f"{body}\n{above}", language)))
        db.execute(_INSERT, (number, body, above, name, parts and indexed_words(parts), stems))


def rewrite_words(db: apsw.Connection) -> None:
    """Write the words of all chunks anew from their texts."""
    insert_words(db, map(ChunkText._make, db.execute(_CHUNKS)))


def languages_to_ask(db: apsw.Connection, language: str) -> Sequence[str]:
    """Return the languages whose stems a question in `language` looks for: its own, or all of the notes' if unknown."""
    if language and language not in STEMMERS:
        return ()
    return [code for (code,) in db.execute(_LANGUAGES) if language in (code, "")]


def with_stems(phrases: str, languages: Sequence[str] = ()) -> str:
    """Return the expression of FTS5 that finds the words of another one, which are written as people do.

    Single words are found by their stems in the languages, too.
    """

    if not languages:
        return marked(phrases)

    def alternatives(match: re.Match[str]) -> str:
        found = each_with_stems(match[0], languages)
        return f"({' OR '.join(found)})" if len(found) > 1 else found[0]

    return _PHRASE.sub(alternatives, phrases)


def each_with_stems(phrase: str, languages: Sequence[str] = ()) -> list[str]:
    """Return what finds one phrase: itself, and if it is a single word its stems in the languages."""
    before, words, after = phrase.split('"')
    stems = stems_asked(words, languages) if not (" " in words or after) else []
    return [f'{before}"{marked(each)}"{after}' for each in (words, *stems)]


BOUND = 2.2
"""Times its rarity is what a phrase adds at most, however often it stands in however few words: k1 + 1 of FTS5's BM25.

https://www.sqlite.org/fts5.html#the_bm25_function. A note of one line that is titled by a word reaches 2, so that with
less it could be missed.
"""
_USUAL = 1.0
"""Times its rarity is what a phrase adds that stands once in a chunk of usual length."""
_LEAST_RARITY = 1e-6
"""What FTS5 lets a phrase weigh that most chunks hold."""
_GUESSED_FROM = 8
"""So many of the rarest phrases are put together in a guess."""
_MAX_TOGETHER = 3
_MAX_WAYS = 120
"""So many ways to put weak phrases together are asked for: each costs the index a look."""
_STEP = 0.15
"""What it takes to step over a chunk beside weighing it."""
_MAX_COST = 0.6
"""Of what it takes to weigh all."""
_NO_PARENTHESES = {ord("("): None, ord(")"): None}
_ROUNDING = 1 - 1e-9
"""Sums of the same numbers in another order differ in the last digits."""


class ScoreBounds(Struct, frozen=True):
    """How much each phrase weighs, the most first, and how many of the `chunks` hold it."""

    weights: Mapping[str, float]
    holders: Mapping[str, int]
    chunks: int

    def guessed_score(self, limit: int) -> float:
        """Return about what the last of the best `limit` scores; 0 where there may be fewer.

        It is reckoned as if phrases stood in chunks by chance. A wrong guess costs time alone.
        """
        telling = list(self.weights)[:_GUESSED_FROM]
        guesses = [0.0]
        for size in range(1, _MAX_TOGETHER + 1):
            together = [(sum(self.weights[one] for one in held), held) for held in combinations(telling, size)]
            expected = 0.0
            for weight, held in sorted(together, reverse=True):
                expected += self.chunks * math.prod(self.holders[one] / self.chunks for one in held)
                if expected >= limit:
                    guesses.append(_USUAL * weight)
                    break
        return max(guesses)

    def reaching(self, score: float) -> str:
        """Return the expression that finds what can reach a score above 0, empty where it does not pay."""
        least = score / BOUND * _ROUNDING
        weak = sum(weight < least for weight in self.weights.values())
        for together in range(_MAX_TOGETHER, 0, -1):
            if together == 1 or math.comb(weak, together) <= _MAX_WAYS:
                found, cost = self._reaching(list(self.weights.items()), least, together)
                if cost <= _MAX_COST * sum(self.holders.values()):
                    return " OR ".join(found)
        return ""

    def _reaching(self, weights: Sequence[tuple[str, float]], least: float, together: int) -> tuple[list[str], float]:
        """Return what finds chunks with phrases of `least` weight, and the cost, in chunks that are weighed.

        No more phrases than `together` are asked for in one chunk: what holds these may hold enough of the others.
        """
        left = sum(weight for _, weight in weights)
        found, cost = [], 0.0
        for at, (phrase, weight) in enumerate(weights):
            if left < least:
                break
            left -= weight
            if weight >= least or together == 1:
                found.append(phrase)
                cost += self.holders[phrase]
                continue
            beside, taken = self._reaching(weights[at + 1 :], least - weight, together - 1)
            if beside:
                found.append(f"({phrase} AND ({' OR '.join(beside)}))")
                cost += _STEP * (self.holders[phrase] + taken)
        return found, cost


def bounds_of(phrases: Sequence[str], holders: Mapping[str, int], chunks: int) -> ScoreBounds:
    """Return the bounds of the phrases that stand anywhere; one that is given twice counts twice."""
    times = Counter(phrase for phrase in phrases if holders[phrase])
    weights = {phrase: count * _rarity(holders[phrase], chunks) for phrase, count in times.items()}
    most_first = dict(sorted(weights.items(), key=lambda item: -item[1]))
    return ScoreBounds(most_first, {phrase: holders[phrase] for phrase in most_first}, chunks)


def have_same_phrases(first: str, second: str) -> bool:
    """Tell whether two expressions have the same phrases in the same order, however these are put together."""
    plain = (one.translate(_NO_PARENTHESES).replace(" AND ", " OR ") for one in (first, second))
    return next(plain) == next(plain)


def _rarity(holders: int, chunks: int) -> float:
    """Return the inverse document frequency as FTS5 reckons it."""
    return max(_LEAST_RARITY, math.log((chunks - holders + 0.5) / (holders + 0.5)))
