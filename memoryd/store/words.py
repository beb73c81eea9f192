"""The keyword arm's table: BM25 of chunks, and where each term of a question stands."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from memoryd.domain.documents import RelativePath

BODY, HEADING, PATH, PARTS = 1.0, 1.0, 1.0, 0.25
"""BM25 weights of the columns. Of `parts` a hint is enough: the identifier itself stands in the body."""

_CHUNKS = f"""
SELECT rowid, -bm25(chunk_words, {BODY}, {HEADING}, {PATH}, {PARTS}) AS score FROM chunk_words
WHERE chunk_words MATCH ? {{filter}} ORDER BY score DESC LIMIT ?
"""
_OF_FILES = "AND rowid IN (SELECT id FROM chunks WHERE file_id IN (SELECT value FROM json_each(?)))"
_OF_CHUNKS = "AND rowid IN (SELECT value FROM json_each(?))"
_OF_OTHERS = "AND rowid NOT IN (SELECT c.id FROM chunks c JOIN files f ON f.id = c.file_id WHERE f.path = ?)"
# A plain rowid would make SQLite seek each candidate anew; so it reads the term's list once, which also counts it.
_HOLDERS = """
SELECT count(*), json_group_array(rowid) FILTER (WHERE +rowid IN (SELECT value FROM json_each(?1)))
FROM chunk_words WHERE chunk_words MATCH ?2
"""
_FILES_OF_CHUNKS = """
SELECT c.id, c.text, c.heading, f.path FROM chunks c JOIN files f ON f.id = c.file_id
WHERE (:files IS NULL OR c.file_id IN (SELECT value FROM json_each(:files)))
"""
_HOLDING = " AND c.id IN (SELECT rowid FROM chunk_words WHERE chunk_words MATCH :required)"
_NOT_HOLDING = " AND c.id NOT IN (SELECT rowid FROM chunk_words WHERE chunk_words MATCH :forbidden)"


@dataclass(frozen=True, slots=True)
class Holders:
    """How many chunks hold a term, and which of the candidates do."""

    count: int
    candidates: frozenset[int]


@dataclass(frozen=True, slots=True)
class Narrow:
    """What the keyword index must find in a chunk and what it must not; empty means nothing of the kind."""

    required: str = ""
    forbidden: str = ""


def chunk_scores(
    db: apsw.Connection,
    expression: str,
    limit: int,
    file_ids: Sequence[int] | None = None,
    chunk_ids: Sequence[int] | None = None,
    without: RelativePath | None = None,
) -> dict[int, float]:
    """Return BM25 (higher is better) of the best `limit` chunks that match, by chunk id, best first.

    `chunk_ids` or else `file_ids` filter before the cut, and so does the document that is to be left out.
    """
    filters: list[tuple[str, str]] = []
    if chunk_ids is not None:
        filters.append((_OF_CHUNKS, json.dumps(list(chunk_ids))))
    elif file_ids is not None:
        filters.append((_OF_FILES, json.dumps(list(file_ids))))
    if without is not None:
        filters.append((_OF_OTHERS, without))
    statement = _CHUNKS.format(filter=" ".join(clause for clause, _ in filters))
    rows = db.execute(statement, (expression, *(value for _, value in filters), limit))
    return {row[0]: row[1] for row in rows}


def holders(db: apsw.Connection, expressions: Sequence[str], candidates: Sequence[int]) -> list[Holders]:
    """Return for each expression how many chunks match it, and which of the candidates."""
    ids = json.dumps(list(candidates))
    found = (db.execute(_HOLDERS, (ids, expression)).get for expression in expressions)
    return [Holders(count, frozenset(json.loads(matching))) for count, matching in found]


def narrowed_chunks(
    db: apsw.Connection, narrow: Narrow, file_ids: Sequence[int] | None
) -> list[tuple[int, str, str, str]]:
    """Return (chunk id, text, heading, path) of the chunks of these files, of all if None, that may answer."""
    statement = _FILES_OF_CHUNKS + (_HOLDING if narrow.required else "") + (_NOT_HOLDING if narrow.forbidden else "")
    files = None if file_ids is None else json.dumps(list(file_ids))
    values = {"files": files, "required": narrow.required, "forbidden": narrow.forbidden}
    return list(db.execute(statement, values))


def count_chunks(db: apsw.Connection) -> int:
    """Count the chunks of the index."""
    count: int = db.execute("SELECT count(*) FROM chunks").get
    return count
