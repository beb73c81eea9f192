"""The keyword arm's table: BM25 of chunks."""

import json
from collections.abc import Sequence

import apsw

BODY, HEADING, PATH, PARTS = 1.0, 1.0, 1.0, 0.25
"""BM25 weights of the columns. Of `parts` a hint is enough: the identifier itself stands in the body."""

_CHUNKS = f"""
SELECT rowid, -bm25(chunk_words, {BODY}, {HEADING}, {PATH}, {PARTS}) AS score FROM chunk_words
WHERE chunk_words MATCH ? {{filter}} ORDER BY score DESC LIMIT ?
"""
_OF_FILES = "AND rowid IN (SELECT id FROM chunks WHERE file_id IN (SELECT value FROM json_each(?)))"


def chunk_scores(
    db: apsw.Connection, expression: str, limit: int, file_ids: Sequence[int] | None = None
) -> dict[int, float]:
    """Return BM25 (higher is better) of the best `limit` chunks that match, by chunk id, best first."""
    if file_ids is None:
        rows = db.execute(_CHUNKS.format(filter=""), (expression, limit))
    else:
        rows = db.execute(_CHUNKS.format(filter=_OF_FILES), (expression, json.dumps(list(file_ids)), limit))
    return {row[0]: row[1] for row in rows}
