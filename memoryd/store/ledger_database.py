"""One ledger file, usable from asyncio: what it holds, by verbs, each one transaction."""

import contextlib
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Final

import apsw

from memoryd.errors import DamagedDatabase
from memoryd.store.connecting import Connector
from memoryd.store.database_file import DatabaseFile
from memoryd.store.held_answers import (
    HeldAnswer,
    HeldCount,
    HeldKey,
    HoldingLimits,
    count,
    count_of_session,
    drop,
    expire,
    forget,
    held,
    hold,
)
from memoryd.store.ledger_file import LEDGER, delete_copies, keep_copy, make_way, refuse_foreign, require_no_log
from memoryd.store.migrations import History, check_current, migrate
from memoryd.store.running import Returned
from memoryd.store.sqlite_errors import Wording
from memoryd.store.taking_over import Marks, take_over, taken_over
from memoryd.store.withheld import Withheld, WithheldKind, all_withheld, hash_key, release, withhold

WORDING: Final = Wording("the ledger", "it is set aside, and a new one is begun")

_DROP_AWAITED: Final = "DELETE FROM awaited_messages WHERE agent = ? AND session = ?"
SHORT_BUSY_MS: Final = 200
"""How long the lock of another process is waited for where somebody's turn waits, or may wait behind it."""


class LedgerDatabase(DatabaseFile):
    """A ledger that is open; `open` and `close` frame each of its lives.

    The verbs raise StoreUnavailable when the disk, a lock or the closed state stands in the way, DamagedDatabase when
    the file is broken. Times are seconds since 1970. `is_private`: nobody but us writes into its folder.
    """

    def __init__(self, path: Path, executor: Executor, *, is_private: bool, history: History = LEDGER) -> None:
        super().__init__(Connector(path, is_history=True), executor, WORDING)
        self._is_private = is_private
        self._history = history

    async def open(self) -> None:
        """Open the file, or make it, and migrate it; raises ForeignDatabase for what must stay as it is."""
        # before SQLite opens it: to open a file of somebody else may already write to it
        await self._runner.run(partial(make_way, self.path, self._history, is_private=self._is_private))
        await self._open_to_write(self._prepare)

    async def open_to_read(self) -> None:
        """Open the file without any change to it or its folder; raises StoreUnavailable where it takes one."""
        await self._runner.run(partial(refuse_foreign, self.path, self._history, is_private=False))
        await self._runner.run(require_no_log, self.path)
        check = partial(check_current, history=self._history)
        await self._open_to_read(check, why="memory.readOnly is true", leaves_folder=True)

    async def read(self, step: Callable[[apsw.Connection], Returned]) -> Returned:
        """Return what a step reads; only for classes of this room."""
        return await self._pool.read(step)

    async def write(self, step: Callable[[apsw.Connection], Returned]) -> Returned:
        """Do a step in one transaction; only for classes of this room."""
        return await self._pool.write(step)

    async def erase(self, step: Callable[[apsw.Connection], Returned]) -> Returned:
        """Do a step that deletes; no byte of what it deleted is left in file, log or copies."""
        erased = await self._pool.write(step)
        await self.checkpoint()
        await self._runner.run(delete_copies, self.path)
        return erased

    async def hold(self, one: HeldAnswer, now: float, limits: HoldingLimits) -> None:
        """Hold an answer for a week; for a lock of another process it waits but shortly."""
        await self._pool.write(lambda db: hold(db, one, now, limits), busy_ms=SHORT_BUSY_MS)

    async def held(self, key: HeldKey, now: float) -> str | None:
        """Return the answer that is held for a turn, never an expired one."""
        return await self._pool.read(lambda db: held(db, key, now))

    async def drop(self, key: HeldKey) -> int:
        """Delete the answer of a turn; return how many were held."""
        return await self._pool.write(lambda db: drop(db, key))

    async def forget_session(self, agent: str, session: str) -> int:
        """Delete all answers of a session and return how many; no byte of them is left in file, log or copies.

        Nor is anything of it captured that still waits for that.
        """

        def step(db: apsw.Connection) -> int:
            db.execute(_DROP_AWAITED, (agent, session))
            return forget(db, agent, session)

        return await self.erase(step)

    async def count_of_session(self, agent: str, session: str) -> int:
        """Count the answers that are held of a session."""
        return await self._pool.read(lambda db: count_of_session(db, agent, session))

    async def expire(self, now: float) -> int:
        """Delete what has expired, and return how many; no byte of what was deleted before is left in file or log."""
        expired = await self._pool.write(lambda db: expire(db, now), busy_ms=SHORT_BUSY_MS)
        await self.checkpoint()
        return expired

    async def withhold(self, agent: str, one: Withheld, key: bytes) -> bool:
        """Note a conversation that is not to be remembered, hashed with a key; return False where too many are."""
        return await self._pool.write(lambda db: withhold(db, agent, one, key))

    async def release(self, agent: str, kind: WithheldKind, name: str) -> bool:
        """Drop such a note, of which no byte is left in file or log; return whether there was one."""
        released = await self._pool.write(lambda db: release(db, agent, kind, name))
        await self.checkpoint()
        return released

    async def withheld(self, agent: str) -> tuple[bytes, list[Withheld]]:
        """Return what the hashes of names and contents are keyed with, and all notes of an agent."""
        return await self._pool.read(lambda db: (hash_key(db), all_withheld(db, agent)))

    async def take_over(self, name: str, marks: Marks) -> None:
        """Add the marks of a damaged ledger of that file name; raises StoreUnavailable where they cannot be."""
        await self._pool.write(lambda db: take_over(db, name, marks))

    async def taken_over(self) -> frozenset[str]:
        """Return the file names of the damaged ledgers whose marks are here."""
        return await self._pool.read(taken_over)

    async def count(self, agent: str, now: float) -> HeldCount:
        """Count what is held for an agent."""
        return await self._pool.read(lambda db: count(db, agent, now))

    def _prepare(self, connection: apsw.Connection) -> None:
        # small, so that all of it can be looked at; a migration of broken pages would break more. The indexes too: a
        # name of which a byte is another one is found only by them
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
        if found != ["ok"]:
            raise DamagedDatabase(f"the ledger is damaged: {'; '.join(found)}", hint=WORDING.when_damaged)
        if migrate(connection, self._history, partial(keep_copy, connection, self.path)):
            # an older memoryd goes by the header, which says so only now
            if connection.pragma("journal_mode") == "wal":
                # whoever reads the log keeps it from being moved, and later is early enough
                with contextlib.suppress(apsw.BusyError):
                    self._log.run(connection)
            delete_copies(self.path, but_last=True)
