"""What was written into a workspace, by whom, and what undoing it takes: rows of the ledger.

A row is written before the file, as intended, so that what a kill left is known; then it is settled.
"""

import contextlib
import json
from collections.abc import Iterable, Set
from enum import StrEnum

import apsw
from msgspec import Struct
from msgspec.structs import astuple

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.changes.diffs import Forgotten, Hunk, without_forgotten
from memoryd.domain.memories.kinds import CHANGE_BYTES_MAX, CHANGES_MAX
from memoryd.store.database_file import reads, struct_of, writes
from memoryd.store.ledger.ledger import SqlValue, WorkspaceRows, erases

RETENTION_SECONDS = 90 * 86_400
MAX_ROWS = CHANGES_MAX
KEPT_CHARS = 1_000_000
"""Of the lines of one change: with more of them it is listed and cannot be undone."""
MAX_TOTAL_BYTES = CHANGE_BYTES_MAX
"""Of the lines of all changes of a workspace."""
_ROWS_BETWEEN, _LARGE_BYTES = 64, 64 * 1024
"""What is too much is looked for, in all rows, after so many changes or a large one: it is exceeded by little."""
NOT_KEPT = b"\0"
"""In the stead of the hash of a file in which something stood that is forgotten: short texts could be tried by it."""


class ChangeState(StrEnum):
    """How far a change came."""

    INTENDED = "intended"
    """It is being made, or a kill came in between."""
    DONE = "done"
    UNKNOWN = "unknown"
    """A kill came in between, and the file is neither what it was before nor after."""
    UNDONE = "undone"


class ChangeRow(Struct, frozen=True, kw_only=True):
    """One change of one file; `at` is in seconds since 1970, hashes are SHA-256, empty where there is no file, else
    perhaps `NOT_KEPT`.

    `hunks` is None where the lines are not kept, `undoes` the change that this one took back, 0 for none. Without a
    path no file was changed, but the usage of memories that the ledger keeps.
    """

    id: int = 0
    run: str
    agent: str
    writer: str
    why: str
    path: RelativePath
    at: float
    state: ChangeState = ChangeState.INTENDED
    hash_before: bytes
    hash_after: bytes
    hunks: tuple[Hunk, ...] | None
    undoes: int = 0


class ChangeFilter(Struct, frozen=True, kw_only=True):
    """Which changes are asked for; empty values mean all. `agents_only`: those that an agent asked for."""

    since: float = float("-inf")
    writer: str = ""
    agent: str = ""
    agents_only: bool = False
    path: str = ""
    run: str = ""
    limit: int = 50
    before: int = 2**62
    """Only those of smaller numbers: how a list goes on behind its last."""


_COLUMNS = "id, run, agent, writer, why, path, at, state, hash_before, hash_after, hunks, undoes"
_ADD = """
INSERT INTO changes
(workspace, run, agent, writer, why, path, at, state, hash_before, hash_after, hunks, undoes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
"""
_ONE = f"SELECT {_COLUMNS} FROM changes WHERE workspace = ? AND id = ?"
_UNSETTLED = f"SELECT {_COLUMNS} FROM changes WHERE workspace = ? AND state = 'intended' ORDER BY id"
_SOME = f"""
SELECT {_COLUMNS} FROM changes
WHERE workspace = ?1 AND at >= ?2 AND state <> 'intended' AND (?3 = '' OR writer = ?3) AND (?4 = '' OR agent = ?4)
AND (NOT ?5 OR agent <> '') AND (?6 = '' OR path = ?6) AND (?7 = '' OR run = ?7) AND id < ?9
ORDER BY id DESC LIMIT ?8
"""
_STATE = "UPDATE changes SET state = ? WHERE id = ? AND state <> ?"
_DROP = "DELETE FROM changes WHERE id = ?"
_EXPIRE = "DELETE FROM changes WHERE workspace = ? AND at < ? AND state <> 'intended'"
# by number, not by time: a clock that was ahead must not make its changes the newest for years
_DROP_BEYOND = """
DELETE FROM changes WHERE state <> 'intended' AND id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY workspace ORDER BY id DESC) AS place FROM changes
    ) WHERE place > ?)
"""
_EMPTY_BEYOND = """
UPDATE changes SET hunks = NULL WHERE hunks IS NOT NULL AND id IN (
    SELECT id FROM (
        SELECT id, sum(octet_length(hunks)) OVER (PARTITION BY workspace ORDER BY id DESC) AS total FROM changes
    ) WHERE total > ?)
"""
_WITH_LINES = "SELECT id, hunks, why, path FROM changes WHERE workspace = ? AND (hunks IS NOT NULL OR why <> '')"
_PATHS = "SELECT DISTINCT path FROM changes WHERE workspace = ? AND hunks IS NOT NULL"
_LEAVE = "UPDATE changes SET hunks = ?, why = ? WHERE id = ?"
# how far an intended change came is told by its hashes
_BLANK_AFTER = """
UPDATE changes SET hash_after = x'00'
WHERE workspace = ?1 AND path = ?2 AND id < ?3 AND length(hash_after) > 1 AND state <> 'intended'
"""
_BLANK_BEFORE = """
UPDATE changes SET hash_before = x'00'
WHERE workspace = ?1 AND path = ?2 AND id <= ?3 AND length(hash_before) > 1 AND state <> 'intended'
"""
_FORGOT = """
SELECT forgot.path, forgot.last FROM (
    SELECT path, max(id) AS last FROM changes
    WHERE workspace = ?1 AND writer = 'forget' AND hunks IS NULL AND state <> 'intended' GROUP BY path) AS forgot
WHERE EXISTS (
    SELECT 1 FROM changes WHERE workspace = ?1 AND path = forgot.path AND state <> 'intended'
    AND (id <= forgot.last AND length(hash_before) > 1 OR id < forgot.last AND length(hash_after) > 1))
"""

_GONE_PAGES = """
SELECT path FROM changes AS last
WHERE workspace = ?1 AND path LIKE ?2 || '%' AND writer = 'forget' AND length(hash_after) = 0 AND state = 'done'
AND hunks IS NULL AND id = (SELECT max(id) FROM changes WHERE workspace = ?1 AND path = last.path)
"""
_DROP_PATH = "DELETE FROM changes WHERE workspace = ? AND path = ?"


_BEYOND_ALL = 2**62


class ChangeLog(WorkspaceRows):
    """The changes of one workspace."""

    @writes
    def intend(self, db: apsw.Connection, row: ChangeRow) -> int:
        """Note what is about to be written, and return its number; drop what is too old or too much."""
        return add_change(db, self._workspace, row)

    @writes
    def settle(self, db: apsw.Connection, number: int, state: ChangeState) -> None:
        """Note how far a change came, and with it what becomes of the one that it takes back."""
        db.execute(_STATE, (state, number, state))
        becomes, row = ChangeState.UNDONE, next(iter(_rows(db, _ONE, (self._workspace, number))), None)
        # the undo of an undo: what that took back stands again, and so on down to the first; a cycle is none of ours
        while state is ChangeState.DONE and row is not None and 0 < row.undoes < row.id:
            db.execute(_STATE, (becomes, row.undoes, becomes))
            becomes = ChangeState.DONE if becomes is ChangeState.UNDONE else ChangeState.UNDONE
            row = next(iter(_rows(db, _ONE, (self._workspace, row.undoes))), None)

    @writes
    def drop(self, db: apsw.Connection, number: int) -> None:
        """Take out a change that was not made."""
        db.execute(_DROP, (number,))

    @reads
    def unsettled(self, db: apsw.Connection) -> list[ChangeRow]:
        """Return the changes of which nobody noted that they were made, the oldest first."""
        return _rows(db, _UNSETTLED, (self._workspace,))

    @reads
    def one(self, db: apsw.Connection, number: int) -> ChangeRow | None:
        """Return a change by its number."""
        return next(iter(_rows(db, _ONE, (self._workspace, number))), None)

    @reads
    def some(self, db: apsw.Connection, wanted: ChangeFilter) -> list[ChangeRow]:
        """Return changes, the newest first."""
        return _rows(db, _SOME, (self._workspace, *astuple(wanted)))

    @erases
    def purge(self, db: apsw.Connection, gone: Forgotten, notes: Set[str] = frozenset()) -> int:
        """Take what is forgotten out of the lines that changes keep, and out of the sentence why; of `notes` all.

        No byte of it is left. All changes stay listed; returns how many have nothing left that could be undone.
        """
        emptied, paths = 0, set[str]()
        for number, text, sentence, path in db.execute(_WITH_LINES, (self._workspace,)).fetchall():
            hunks, why = _hunks(text), str(sentence)
            left = None if hunks is None or path in notes else without_forgotten(hunks, gone)
            if hunks is None or left != hunks or gone.is_in(why):
                db.execute(_LEAVE, (_text_of(left), "" if gone.is_in(why) else why, number))
                emptied += hunks is not None and left is None
                paths.add(str(path))
        # it stood in the file until somebody took it out, nobody knows when
        _blank(db, self._workspace, [(path, _BEYOND_ALL) for path in paths])
        return emptied

    @reads
    def paths(self, db: apsw.Connection) -> frozenset[RelativePath]:
        """Return the notes of which lines are kept."""
        return frozenset(row[0] for row in db.execute(_PATHS, (self._workspace,)))

    async def blank(self) -> int:
        """Blank the hashes of files from before something was forgotten in them; return of how many files.

        Those of a forgetting that could still be undone stay until then, for it holds the lines themselves.
        """
        stale = await self._ledger.read(lambda db: db.execute(_FORGOT, (self._workspace,)).fetchall())
        if stale:
            await self._ledger.erase(lambda db: _blank(db, self._workspace, stale))
        return len(stale)

    async def drop_pages(self, folder: str) -> None:
        """Drop all rows of the pages below a folder that forgetting removed last: their paths are names."""
        removed = await self._ledger.read(lambda db: db.execute(_GONE_PAGES, (self._workspace, folder)).fetchall())
        if removed:
            await self._erase_each(_DROP_PATH, [(self._workspace, *row) for row in removed])


def add_change(db: apsw.Connection, workspace: str, row: ChangeRow) -> int:
    """Add a change within a transaction of this room, drop what is too old or too much, and return its number."""
    *_, lines, _undoes = values = _values(workspace, row)
    number: int = db.execute(_ADD, values).get
    db.execute(_EXPIRE, (workspace, row.at - RETENTION_SECONDS))
    if number % _ROWS_BETWEEN == 0 or len(str(lines)) > _LARGE_BYTES:
        # of all workspaces, as the numbers of one need not come to a multiple
        db.execute(_DROP_BEYOND, (MAX_ROWS,))
        db.execute(_EMPTY_BEYOND, (MAX_TOTAL_BYTES,))
    return number


def _blank(db: apsw.Connection, workspace: str, ends: Iterable[tuple[SqlValue, ...]]) -> None:
    for path, last in ends:
        db.execute(_BLANK_AFTER, (workspace, path, last))
        db.execute(_BLANK_BEFORE, (workspace, path, last))


def _rows(db: apsw.Connection, statement: str, given: tuple[SqlValue, ...]) -> list[ChangeRow]:
    rows = db.execute(statement, given)
    return [struct_of(ChangeRow, (*row, _hunks(hunks), undoes)) for *row, hunks, undoes in rows]


def _values(workspace: str, row: ChangeRow) -> tuple[SqlValue, ...]:
    text = _text_of(row.hunks)
    if text is not None and len(text) > KEPT_CHARS:
        text = None
    head = (workspace, row.run, row.agent, row.writer, row.why, row.path, row.at, row.state)
    return (*head, row.hash_before, row.hash_after, text, row.undoes)


def _text_of(hunks: tuple[Hunk, ...] | None) -> str | None:
    return None if hunks is None else json.dumps([astuple(hunk) for hunk in hunks], ensure_ascii=False)


def _hunks(text: SqlValue) -> tuple[Hunk, ...] | None:
    """Return the lines of a change; None where they are not kept, or stand there in no form of ours."""
    if text is None:
        return None
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        return tuple(
            Hunk(line, tuple(removed), tuple(added), tuple(above), tuple(below), is_unique)
            for line, removed, added, above, below, is_unique in json.loads(str(text))
        )
    return None
