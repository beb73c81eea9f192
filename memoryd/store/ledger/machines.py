"""What the ledger keeps of the machines on one folder: which of them this is, and what is forgotten on all of them."""

from collections.abc import Mapping

import apsw
from msgspec import Struct

from memoryd.store.database_file import reads, writes
from memoryd.store.ledger.ledger import WorkspaceRows

MAX_ROWS = 200_000
"""Of what is forgotten, in one workspace; beyond it others tell in vain."""
_WHO = "SELECT id, number, line FROM machine WHERE workspace = ?"
_CLAIM = "INSERT OR REPLACE INTO machine (workspace, id, number, line) VALUES (?, ?, ?, ?)"
_OWN_NOTHING = "UPDATE usage SET elsewhere = access_count WHERE workspace = ?"
_ALL = "SELECT hash, at, is_forgotten FROM machine_tombstones WHERE workspace = ?"
_COUNT = "SELECT count(*) FROM machine_tombstones WHERE workspace = ?"
_PUT = "INSERT OR REPLACE INTO machine_tombstones (workspace, hash, at, is_forgotten) VALUES (?, ?, ?, ?)"


class WrittenLine(Struct, frozen=True):
    """The last line of one's own journal: the machine and the number in it, and its hash."""

    machine: str = ""
    number: int = 0
    hash: bytes = b""


class TombstoneState(Struct, frozen=True):
    """Whether something is forgotten, or remembered again, and since when, in seconds since 1970."""

    at: float
    is_forgotten: bool


class MachineRows(WorkspaceRows):
    """What is kept of the machines on one workspace."""

    @reads
    def last(self, db: apsw.Connection) -> WrittenLine:
        """Return the line that was written last; one of no machine where none was."""
        row = db.execute(_WHO, (self._workspace,)).fetchone()
        return WrittenLine() if row is None else WrittenLine(*row)

    @writes
    def claim(self, db: apsw.Connection, line: WrittenLine, *, is_new: bool) -> None:
        """Note a line that is about to be written; a machine that is new has counted nothing yet."""
        db.execute(_CLAIM, (self._workspace, line.machine, line.number, line.hash))
        if is_new:
            db.execute(_OWN_NOTHING, (self._workspace,))

    @reads
    def tombstones(self, db: apsw.Connection) -> Mapping[bytes, TombstoneState]:
        """Return what is known to be forgotten, or remembered again, by its hashes."""
        rows = db.execute(_ALL, (self._workspace,))
        return {bytes(key): TombstoneState(at, bool(is_forgotten)) for key, at, is_forgotten in rows}

    @writes
    def put(self, db: apsw.Connection, states: Mapping[bytes, TombstoneState]) -> None:
        """Note what is forgotten, or remembered again."""
        room = max(0, MAX_ROWS - db.execute(_COUNT, (self._workspace,)).get)
        rows = [(self._workspace, key, one.at, int(one.is_forgotten)) for key, one in states.items()]
        db.executemany(_PUT, rows[:room])
