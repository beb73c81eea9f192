"""The keyword arm's tables: BM25 of chunks and of the passages in them."""

import json
from collections.abc import Sequence

import apsw

BODY, HEADING, PATH, PARTS = 1.0, 1.0, 0.5, 0.5
"""BM25 weights of the columns."""

_CHUNKS = f"""
SELECT rowid, -bm25(chunk_words, {BODY}, {HEADING}, {PATH}, {PARTS}) AS score FROM chunk_words
WHERE chunk_words MATCH ? {{filter}} ORDER BY score DESC LIMIT ?
"""
_CHUNKS_OF_FILES = "AND rowid IN (SELECT id FROM chunks WHERE file_id IN (SELECT value FROM json_each(?)))"
_PASSAGES = """
SELECT p.chunk_id, max(w.score) FROM (
    SELECT rowid, -bm25(passage_words) AS score FROM passage_words
    WHERE passage_words MATCH ? {filter} ORDER BY score DESC LIMIT ?) w
JOIN passages p ON p.id = w.rowid GROUP BY p.chunk_id
"""
_PASSAGES_OF_FILES = """
AND rowid IN (SELECT p.id FROM passages p JOIN chunks c ON c.id = p.chunk_id
              WHERE c.file_id IN (SELECT value FROM json_each(?)))
"""


def lexical_scores(
    db: apsw.Connection, expression: str, depth: int, file_ids: Sequence[int] | None = None
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the scores of chunks by their own words and by those of their best passage, some `depth` of each."""
    passages = passage_scores(db, expression, 2 * depth, file_ids)
    return chunk_scores(db, expression, depth, file_ids), passages


def chunk_scores(
    db: apsw.Connection, expression: str, limit: int, file_ids: Sequence[int] | None = None
) -> dict[int, float]:
    """Return BM25 (higher is better) of the best `limit` chunks that match, by chunk id, best first."""
    return _scores(db, _CHUNKS, _CHUNKS_OF_FILES, expression, limit, file_ids)


def passage_scores(
    db: apsw.Connection, expression: str, limit: int, file_ids: Sequence[int] | None = None
) -> dict[int, float]:
    """Return, by chunk id, the BM25 of the chunk's best passage among the best `limit` passages."""
    return _scores(db, _PASSAGES, _PASSAGES_OF_FILES, expression, limit, file_ids)


def _scores(
    db: apsw.Connection, sql: str, clause: str, expression: str, limit: int, file_ids: Sequence[int] | None
) -> dict[int, float]:
    if file_ids is None:
        rows = db.execute(sql.format(filter=""), (expression, limit))
    else:
        rows = db.execute(sql.format(filter=clause), (expression, json.dumps(list(file_ids)), limit))
    return {row[0]: row[1] for row in rows}
