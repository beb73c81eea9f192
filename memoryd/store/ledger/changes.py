"""Rows of the ledger about changes of a workspace: who wrote what, and the lines that undo needs.

A row is inserted before the file is written, so that a change interrupted by a kill is known; then it is settled.
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
HUNK_CHARS_MAX = 1_000_000
"""Maximum length of the stored lines of one change; a change with more is listed, but cannot be undone."""
MAX_TOTAL_BYTES = CHANGE_BYTES_MAX
"""Maximum size of the stored lines of all changes of a workspace."""
_ROWS_BETWEEN, _LARGE_BYTES = 64, 64 * 1024
"""Number of changes, or size of a change, after which the limits are enforced; they may be exceeded slightly."""
BLANK_HASH = b"\0"
"""Replaces the hash of a file that contained a forgotten text: guesses of a short text could be tested with the hash.
"""


class ChangeState(StrEnum):
    """How far a change came."""

    INTENDED = "intended"
    """In progress, or interrupted by a kill."""
    DONE = "done"
    UNKNOWN = "unknown"
    """Interrupted by a kill, and the file has neither its old nor its new content."""
    UNDONE = "undone"


class ChangeRow(Struct, frozen=True, kw_only=True):
    """One change of one file.

    `at` is in seconds since 1970. Hashes are SHA-256, empty if there is no file, or `BLANK_HASH`.

    `hunks` is None if the lines are not stored, `undoes` the number of the change that this one undid, or 0. Without a
    path it is a change of the usage of memories in the ledger.
    """

    id: int = 0
    run: str = ""
    agent: str = ""
    writer: str
    why: str
    path: RelativePath
    at: float
    state: ChangeState = ChangeState.INTENDED
    hash_before: bytes = b""
    hash_after: bytes = b""
    hunks: tuple[Hunk, ...] | None
    undoes: int = 0


class ChangeFilter(Struct, frozen=True, kw_only=True):
    """Filter of changes; empty values mean all. `agents_only`: changes requested by an agent."""

    since: float = float("-inf")
    writer: str = ""
    agent: str = ""
    agents_only: bool = False
    path: str = ""
    run: str = ""
    limit: int = 50
    before: int = 2**62
    """Only smaller numbers, to continue a list."""


_COLUMNS = "id, run, agent, writer, why, path, at, state, hash_before, hash_after, hunks, undoes"
_ADD = """
INSERT INTO changes
(workspace, run, agent, writer, why, path, at, state, hash_before, hash_after, hunks, undoes)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id
"""
_BY_ID = f"SELECT {_COLUMNS} FROM changes WHERE workspace = ? AND id = ?"
_UNSETTLED = f"SELECT {_COLUMNS} FROM changes WHERE workspace = ? AND state = 'intended' ORDER BY id"
_SELECT = f"""
SELECT {_COLUMNS} FROM changes
WHERE workspace = ?1 AND at >= ?2 AND state <> 'intended' AND (?3 = '' OR writer = ?3) AND (?4 = '' OR agent = ?4)
AND (NOT ?5 OR agent <> '') AND (?6 = '' OR path = ?6) AND (?7 = '' OR run = ?7) AND id < ?9
ORDER BY id DESC LIMIT ?8
"""
_STATE = "UPDATE changes SET state = ? WHERE id = ? AND state <> ?"
# by number, not by time: changes from a clock that was ahead must not stay the newest for years
_DROP_OVER_LIMIT = """
DELETE FROM changes WHERE state <> 'intended' AND id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY workspace ORDER BY id DESC) AS place FROM changes
    ) WHERE place > ?)
"""
_EMPTY_OVER_LIMIT = """
UPDATE changes SET hunks = NULL WHERE hunks IS NOT NULL AND id IN (
    SELECT id FROM (
        SELECT id, sum(octet_length(hunks)) OVER (PARTITION BY workspace ORDER BY id DESC) AS total FROM changes
    ) WHERE total > ?)
"""
# a forgetting that can be undone holds its own lines
_WITH_TEXT = """
SELECT id, hunks, why, path FROM changes
WHERE workspace = ?1 AND (?2 IS NULL OR id > ?2 AND writer <> 'forget') AND (hunks IS NOT NULL OR why <> '')
"""
# the hashes of an intended change are needed to see how far it came
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

_DELETED_PAGES = """
SELECT path FROM changes AS last
WHERE workspace = ?1 AND path LIKE ?2 || '%' AND writer = 'forget' AND length(hash_after) = 0 AND state = 'done'
AND hunks IS NULL AND id = (SELECT max(id) FROM changes WHERE workspace = ?1 AND path = last.path)
"""


_MAX_ID = 2**62


class ChangeLog(WorkspaceRows):
    """The changes of one workspace."""

    @writes
    def intend(self, db: apsw.Connection, row: ChangeRow) -> int:
        """Insert a change that is about to be written, and return its number; delete rows above the limits."""
        return add_change(db, self._workspace, row)

    @writes
    def record_state(self, db: apsw.Connection, number: int, state: ChangeState) -> None:
        """Record how far a change came, and update the change that it undoes."""
        db.execute(_STATE, (state, number, state))
        becomes, row = ChangeState.UNDONE, next(iter(_rows(db, _BY_ID, (self._workspace, number))), None)
        # undoing an undo makes the first change current again, and so on down the chain; `<` excludes cycles
        while state is ChangeState.DONE and row is not None and 0 < row.undoes < row.id:
            db.execute(_STATE, (becomes, row.undoes, becomes))
            becomes = ChangeState.DONE if becomes is ChangeState.UNDONE else ChangeState.UNDONE
            row = next(iter(_rows(db, _BY_ID, (self._workspace, row.undoes))), None)

    @writes
    def drop(self, db: apsw.Connection, number: int) -> None:
        """Delete a change that was not made."""
        db.execute("DELETE FROM changes WHERE id = ?", (number,))

    @reads
    def unsettled(self, db: apsw.Connection) -> list[ChangeRow]:
        """Return the changes without a recorded outcome, the oldest first."""
        return _rows(db, _UNSETTLED, (self._workspace,))

    @reads
    def get(self, db: apsw.Connection, number: int) -> ChangeRow | None:
        """Return a change by its number."""
        return next(iter(_rows(db, _BY_ID, (self._workspace, number))), None)

    @reads
    def select(self, db: apsw.Connection, filters: ChangeFilter) -> list[ChangeRow]:
        """Return changes, the newest first."""
        return _rows(db, _SELECT, (self._workspace, *astuple(filters)))

    @reads
    def latest(self, db: apsw.Connection) -> int:
        """Return the number of the latest change, settled or not; 0 if there is none."""
        latest: int | None = db.execute("SELECT max(id) FROM changes WHERE workspace = ?", (self._workspace,)).get
        return latest or 0

    @erases
    def purge(
        self, db: apsw.Connection, forgotten: Forgotten, notes: Set[str] = frozenset(), *, beside: int | None = None
    ) -> int:
        """Remove forgotten text from the stored lines and reasons of changes; of `notes`, remove all lines.

        With `beside`, only from what others changed after the change of that number. No bytes remain. All changes stay
        listed; return how many can no longer be undone.
        """
        emptied, paths = 0, set[str]()
        for number, text, sentence, path in db.execute(_WITH_TEXT, (self._workspace, beside)).fetchall():
            hunks, why = _hunks(text), str(sentence)
            left = None if hunks is None or path in notes else without_forgotten(hunks, forgotten)
            if hunks is None or left != hunks or forgotten.is_in(why):
                db.execute(
                    "UPDATE changes SET hunks = ?, why = ? WHERE id = ?",
                    (_text_of(left), "" if forgotten.is_in(why) else why, number),
                )
                emptied += hunks is not None and left is None
                paths.add(str(path))
        # the text was in the file until it was removed at an unknown time
        _blank(db, self._workspace, [(path, _MAX_ID) for path in paths])
        return emptied

    @reads
    def paths(self, db: apsw.Connection) -> frozenset[RelativePath]:
        """Return the notes with stored lines."""
        return frozenset(
            row[0]
            for row in db.execute(
                "SELECT DISTINCT path FROM changes WHERE workspace = ? AND hunks IS NOT NULL", (self._workspace,)
            )
        )

    async def blank(self) -> int:
        """Blank the hashes of files from before a text in them was forgotten; return the number of files.

        Hashes of a forgetting that can still be undone are left, because the ledger has the lines themselves.
        """
        stale = await self._ledger.read(lambda db: db.execute(_FORGOT, (self._workspace,)).fetchall())
        if stale:
            await self._ledger.erase(lambda db: _blank(db, self._workspace, stale))
        return len(stale)

    async def drop_pages(self, folder: str) -> None:
        """Delete all rows of pages below a folder that forgetting removed last, because their paths are names."""
        removed = await self._ledger.read(lambda db: db.execute(_DELETED_PAGES, (self._workspace, folder)).fetchall())
        if removed:
            await self._erase_each(
                "DELETE FROM changes WHERE workspace = ? AND path = ?", [(self._workspace, *row) for row in removed]
            )


def add_change(db: apsw.Connection, workspace: str, row: ChangeRow) -> int:
    """Insert a change within a transaction of a row class, delete rows above the limits, and return its number."""
    *_, lines, _undoes = values = _values(workspace, row)
    number: int = db.execute(_ADD, values).get
    db.execute(
        "DELETE FROM changes WHERE workspace = ? AND at < ? AND state <> 'intended'",
        (workspace, row.at - RETENTION_SECONDS),
    )
    if number % _ROWS_BETWEEN == 0 or len(str(lines)) > _LARGE_BYTES:
        # in all workspaces, because the numbers of one workspace need not include a multiple
        db.execute(_DROP_OVER_LIMIT, (MAX_ROWS,))
        db.execute(_EMPTY_OVER_LIMIT, (MAX_TOTAL_BYTES,))
    return number


def _blank(db: apsw.Connection, workspace: str, ends: Iterable[tuple[SqlValue, ...]]) -> None:
    for path, last in ends:
        db.execute(_BLANK_AFTER, (workspace, path, last))
        db.execute(_BLANK_BEFORE, (workspace, path, last))


def _rows(db: apsw.Connection, statement: str, arguments: tuple[SqlValue, ...]) -> list[ChangeRow]:
    rows = db.execute(statement, arguments)
    return [struct_of(ChangeRow, (*row, _hunks(hunks), undoes)) for *row, hunks, undoes in rows]


def _values(workspace: str, row: ChangeRow) -> tuple[SqlValue, ...]:
    text = _text_of(row.hunks)
    if text is not None and len(text) > HUNK_CHARS_MAX:
        text = None
    head = (workspace, row.run, row.agent, row.writer, row.why, row.path, row.at, row.state)
    return (*head, row.hash_before, row.hash_after, text, row.undoes)


def _text_of(hunks: tuple[Hunk, ...] | None) -> str | None:
    return None if hunks is None else json.dumps([astuple(hunk) for hunk in hunks], ensure_ascii=False)


def _hunks(text: SqlValue) -> tuple[Hunk, ...] | None:
    """Return the lines of a change; None if they are not stored, or not in our format."""
    if text is None:
        return None
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        return tuple(
            Hunk(line, tuple(removed), tuple(added), tuple(above), tuple(below), is_unique)
            for line, removed, added, above, below, is_unique in json.loads(str(text))
        )
    return None
