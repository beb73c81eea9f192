"""How well chunks hold neighbouring words of a question side by side."""

import json
from collections.abc import Mapping, Sequence

import apsw

from memoryd.domain.ranking.questions import SHARE, least_apart
from memoryd.domain.text.words import Phrase
from memoryd.store.word_expressions import RELEVANCE, any_phrase, every_phrase

_COUNT = "SELECT count(*) FROM chunk_words WHERE chunk_words MATCH ?"
# To count all that hold a usual word takes far longer than to see that there are enough.
_HAS = "SELECT EXISTS (SELECT 1 FROM chunk_words WHERE chunk_words MATCH ? LIMIT 1 OFFSET ?)"
_SCORES = f"""
SELECT rowid, {RELEVANCE} FROM chunk_words
WHERE chunk_words MATCH ? AND +rowid IN (SELECT value FROM json_each(?))
"""


def lifted(db: apsw.Connection, scores: Mapping[int, float], neighbours: Sequence[Phrase]) -> dict[int, float]:
    """Return the scores (BM25 by chunk) with the share of the neighbours that tell anything in these notes."""
    telling = [words for words in neighbours if _are_telling(db, words)] if scores else []
    if not telling:
        return dict(scores)
    found = dict(db.execute(_SCORES, (any_phrase(telling), json.dumps(list(scores)))))
    return {chunk: score + SHARE * found.get(chunk, 0.0) for chunk, score in scores.items()}


def _are_telling(db: apsw.Connection, words: Phrase) -> bool:
    together: int = db.execute(_COUNT, (every_phrase([words]),)).get
    enough = least_apart(together)
    return together > 0 and all(db.execute(_HAS, (f'"{word}"', enough - 1)).get for word in words)
