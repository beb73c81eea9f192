"""The ledger: data that the files of a workspace cannot express. Row classes use its `read`, `write` and `erase`.

It is opened on first use, and created when there is something to store. A problem with its file affects the ledger
only: callers get a StoreError, and `trouble` gives the reason. This module also counts the stored history.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Executor
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TypeVar

import apsw
import structlog

from memoryd.domain.clock import Pulse
from memoryd.domain.memories.kinds import CHANGE_BYTES_MAX, CHANGES_MAX, PROPOSALS_MAX, RUNS_MAX
from memoryd.errors import DamagedDatabase, StoreError, StoreUnavailable, read_only_error
from memoryd.replies.status import HistoryReply, LedgerReply
from memoryd.store.database_file import Injected, Table, TableTransaction, Verb, writes
from memoryd.store.ledger.conversations import (
    PENDING_FOR,
    HoldingLimits,
    WithheldKind,
    WithheldName,
    all_withheld,
    count_pending_answers,
    expire_pending_answers,
    hash_key,
    hold,
    release,
    withhold,
)
from memoryd.store.ledger.database import (
    LEDGER,
    SHORT_BUSY_MS,
    LedgerDatabase,
    SetAsideLedgers,
    delete_copies,
    is_there,
    on_empty,
    set_aside,
)
from memoryd.store.migrations import History
from memoryd.store.pool import Returned, Transaction

_COUNT = """
SELECT (SELECT count(*) FROM changes WHERE workspace = ?1),
    (SELECT ifnull(sum(octet_length(hunks)), 0) FROM changes WHERE workspace = ?1),
    (SELECT count(*) FROM proposals WHERE workspace = ?1), (SELECT count(*) FROM reflect_runs WHERE workspace = ?1)
"""


def count_history(db: apsw.Connection, workspace: str) -> HistoryReply:
    """Count the stored history of a workspace, given by its real path."""
    return history_reply(*db.execute(_COUNT, (workspace,)).get)


def history_reply(changes: int = 0, change_bytes: int = 0, proposals: int = 0, runs: int = 0) -> HistoryReply:
    """Return the counts of the history, with their limits."""
    return HistoryReply(
        changes=changes,
        maxChanges=CHANGES_MAX,
        changeBytes=change_bytes,
        maxChangeBytes=CHANGE_BYTES_MAX,
        proposals=proposals,
        maxProposals=PROPOSALS_MAX,
        reflectRuns=runs,
        maxReflectRuns=RUNS_MAX,
    )


log = structlog.get_logger(__name__)

SWEEP_SECONDS = 3600.0
TROUBLED_SECONDS = 15.0
"""How soon to check again a file that cannot be used."""
RETRY_SECONDS = 10.0
"""How long a file that could not be opened is not tried again."""

SqlValue = str | bytes | int | float | None
Run = Callable[[Transaction[Returned]], Awaitable[Returned]]


class Ledger:
    """The ledger at one path, for all agents that share it.

    `is_private`: no one else writes into its folder. `is_read_only`: nothing may be written there; the file is read if
    that is possible without writing. Methods raise StoreError.
    """

    def __init__(
        self,
        path: Path,
        executor: Executor,
        *,
        is_private: bool = True,
        is_read_only: bool = False,
        limits: HoldingLimits | None = None,
        history: History = LEDGER,
        clock: Callable[[], float] = time.time,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self.path = path
        self.limits = limits or HoldingLimits()
        self._file = LedgerDatabase(path, executor, is_private=is_private, history=history)
        self._is_read_only = is_read_only
        self._clock = clock
        self._retry_seconds = retry_seconds
        self._failure = ""
        self._failed_at = float("-inf")
        self._aside = SetAsideLedgers(path)
        self._refused = 0
        self._counted: dict[str, tuple[tuple[int, int], HistoryReply]] = {}
        self._opening = asyncio.Lock()
        self._holding = asyncio.Lock()
        self._hold_failed_at = float("-inf")

    @property
    def trouble(self) -> str | None:
        """Why it cannot be used, or what its owner should check; None if all is well."""
        return self._failure or self._aside.trouble

    @property
    def pulse(self) -> Pulse:
        """Heartbeats of the writer."""
        return self._file.pulse

    @property
    def set_aside(self) -> list[Path]:
        """The damaged ledgers beside it, as of the last scan. Forgetting does not change these."""
        return list(self._aside.paths)

    async def read(self, step: Transaction[Returned]) -> Returned:
        """Return what a step reads, from an empty ledger if there is none. For row classes only."""
        return await self._use(self._file.read, step)

    async def write(
        self, step: Transaction[Returned], *, makes_file: bool = True, busy_ms: int | None = None
    ) -> Returned:
        """Run a step in one transaction, creating the ledger if needed. For row classes only.

        `busy_ms` as in `DatabaseFile.write`. Raises Denied if nothing may be written.
        """
        self._check_writable()
        return await self._use(lambda step: self._file.write(step, busy_ms=busy_ms), step, makes_file=makes_file)

    async def erase(self, step: Transaction[Returned]) -> Returned:
        """Run a step that deletes, on an empty ledger if there is none; no bytes remain, except in `set_aside`.

        For row classes only. Raises Denied if nothing may be written.
        """
        self._check_writable()
        return await self._use(self._file.erase, step)

    async def store_answer(self, agent: str, session: str, seq: int, answer: str, at: datetime | None = None) -> bool:
        """Store an answer for a week, counted from `at` or now; return whether it is stored.

        An answer that is too long is refused, never cut; one whose week is over is not stored. Raises Denied if nothing
        may be written.
        """
        self._check_writable()
        data = answer.encode("utf-8", "replace")
        if len(data) > self.limits.answer_bytes:
            self.note_refused()
            return False
        now = self._clock()
        since = now if at is None else min(at.timestamp(), now)
        if since + PENDING_FOR.total_seconds() <= now:
            return False
        began = time.monotonic()

        def step(db: apsw.Connection) -> None:
            hold(db, agent, session, seq, data.decode(), since, now, self.limits)

        async with self._holding:
            if self._hold_failed_at >= began:
                # otherwise every waiting caller would wait for the same lock again
                raise StoreUnavailable(self._failure)
            try:
                await self._use(lambda step: self._file.write(step, busy_ms=SHORT_BUSY_MS), step, makes_file=True)
            except StoreUnavailable:
                self._hold_failed_at = time.monotonic()
                raise
        return True

    def note_refused(self) -> None:
        """Count an answer that is not stored."""
        self._refused += 1

    async def pending_answer(self, agent: str, session: str, seq: int) -> str | None:
        """Return the stored answer of a turn, never an expired one."""
        arguments = (agent, session, seq, self._clock())
        answer: str | None = await self.read(
            lambda db: (
                db.execute(
                    "SELECT answer FROM held_answers WHERE agent = ? AND session = ? AND seq = ? AND expires_at > ?",
                    arguments,
                ).get
            )
        )
        return answer

    async def drop(self, agent: str, session: str, seq: int) -> bool:
        """Delete the answer of a turn; return whether there was one. Raises Denied if nothing may be written."""

        def step(db: apsw.Connection) -> bool:
            db.execute("DELETE FROM held_answers WHERE agent = ? AND session = ? AND seq = ?", (agent, session, seq))
            return db.changes() > 0

        return await self.write(step, makes_file=False)

    async def forget_session(self, agent: str, session: str) -> int:
        """Erase all answers of a session and return how many; no bytes remain, except in `set_aside`.

        Messages of it that wait for capture are dropped, too. Raises Denied if nothing may be written.
        """

        def step(db: apsw.Connection) -> int:
            db.execute("DELETE FROM awaited_messages WHERE agent = ? AND session = ?", (agent, session))
            db.execute("DELETE FROM told_turns WHERE agent = ? AND session = ?", (agent, session))
            db.execute("DELETE FROM held_answers WHERE agent = ? AND session = ?", (agent, session))
            return db.changes()

        return await self.erase(step)

    async def pending_of_session(self, agent: str, session: str) -> int:
        """Count the stored answers of a session."""
        counted: int = await self.read(
            lambda db: (
                db.execute("SELECT count(*) FROM held_answers WHERE agent = ? AND session = ?", (agent, session)).get
            )
        )
        return counted

    async def withhold(self, agent: str, conversation: WithheldName, key: bytes) -> bool:
        """Store a conversation that is not to be remembered, hashed with a key; return False if there are too many.

        Raises Denied if nothing may be written, and StoreUnavailable if other hashes have another key.
        """
        self._check_writable()
        return await self._use_marks(
            self._file.write, lambda db: withhold(db, agent, conversation, key), makes_file=True
        )

    async def release(self, agent: str, kind: WithheldKind, name: str) -> bool:
        """Erase such a row from file and log; return whether there was one.

        Raises Denied if nothing may be written.
        """
        self._check_writable()
        return await self._use_marks(
            lambda step: self._file.erase(step, keeps_copies=True), lambda db: release(db, agent, kind, name)
        )

    async def withheld(self, agent: str, *, makes_file: bool = False) -> tuple[bytes, list[WithheldName]]:
        """Return the key of the hashes, and all rows of an agent; both empty without a ledger."""
        return await self._use_marks(
            self._file.read, lambda db: (hash_key(db), all_withheld(db, agent)), makes_file=makes_file
        )

    async def sweep(self) -> int:
        """Delete expired answers, and old copies from before migrations; return the number of answers."""
        if self._is_read_only:
            return 0
        now = self._clock()
        # after a failure, create a missing file to test whether writing works again
        expired = await self._use(
            lambda step: self._file.erase(step, keeps_copies=True, busy_ms=SHORT_BUSY_MS),
            lambda db: expire_pending_answers(db, now),
            makes_file=bool(self._failure),
        )
        with self._noting_failure():
            await asyncio.to_thread(delete_copies, self.path, older_than=now - PENDING_FOR.total_seconds())
            await self._aside.scan()
        return expired

    async def count(self, agent: str, workspace: str = "") -> LedgerReply:
        """Count the data of an agent and of its workspace (the real path).

        What cannot be counted now keeps its last count. Nothing is opened, so that a status request waits for no lock.
        """
        with contextlib.suppress(StoreError):
            if self._file.is_open and not await asyncio.to_thread(self._file.is_replaced):
                now = self._clock()
                counted = await self._file.read(
                    lambda db: (count_pending_answers(db, agent, now), count_history(db, workspace))
                )
                self._counted[agent] = counted
            elif not await asyncio.to_thread(is_there, self.path):
                self._counted.clear()
        (answers, stored_bytes), history = self._counted.get(agent, ((0, 0), history_reply()))
        return LedgerReply(
            path=str(self.path),
            bytes=await asyncio.to_thread(self._file_bytes),
            heldAnswers=answers,
            heldBytes=stored_bytes,
            maxHeldAnswers=self.limits.answers,
            maxHeldBytes=self.limits.total_bytes,
            refusedAnswers=self._refused,
            history=history,
        )

    async def run(self, seconds: float = SWEEP_SECONDS) -> None:
        """Sweep now and every hour, until cancelled; `trouble` reports failures."""
        while True:
            with contextlib.suppress(StoreError):
                await self.sweep()
            await asyncio.sleep(min(seconds, TROUBLED_SECONDS) if self._failure else seconds)

    async def close(self) -> None:
        """Close the file."""
        async with self._opening:
            await self._file.close()

    def _check_writable(self) -> None:
        if self._is_read_only:
            raise read_only_error()

    async def _use(self, run: Run[Returned], step: Transaction[Returned], *, makes_file: bool = False) -> Returned:
        """Run a step on the open file, or on an empty ledger if there is none and none is to be created."""
        with self._noting_failure():
            if not await self._ready(makes_file=makes_file):
                return on_empty(step)
            epoch = self._file.epoch
            try:
                result = await run(step)
            except StoreError:
                is_same = self._file.is_open and self._file.epoch == epoch
                if is_same and not (self._file.damage or self._file.trouble):
                    raise
                # it is broken, or another caller reopened it: try once more on what can be opened
                if not await self._ready(makes_file=makes_file):
                    return on_empty(step)
                result = await run(step)
        self._failure = ""
        return result

    async def _use_marks(
        self, run: Run[Returned], step: Transaction[Returned], *, makes_file: bool = False
    ) -> Returned:
        """Run a step once the marks of all ledgers that were set aside are known; else raise StoreUnavailable."""

        async def with_marks(step: Transaction[Returned]) -> Returned:
            while True:
                if not self._aside.has_all_marks(self._file):
                    # also when the owner may have removed them
                    await self._aside.copy_marks(self._file, is_read_only=self._is_read_only)
                result = on_empty(step) if self._aside.has_unread else await run(step)
                # otherwise the ledger was started anew since, without the marks of the old one
                if self._aside.has_unread or self._aside.has_all_marks(self._file):
                    return result

        with self._noting_failure():
            await self._aside.scan()
        result = await self._use(with_marks, step, makes_file=makes_file or bool(self._aside.paths))
        if not self._file.is_open:
            await self._aside.copy_marks(self._file, is_read_only=self._is_read_only)
        self._aside.require_read()
        return result

    @contextlib.contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            yield
        except StoreError as exc:
            self._note(str(exc))
            raise
        except OSError as exc:
            self._note(str(exc))
            raise StoreUnavailable(f"the ledger cannot be used now: {exc}") from exc

    async def _ready(self, *, makes_file: bool) -> bool:
        """Open the file, again if it is damaged or was replaced; return whether it is open."""
        async with self._opening:
            if self._file.is_open:
                damage = self._file.damage
                is_stale = damage is not None or self._file.trouble is not None
                if is_stale or await asyncio.to_thread(self._file.is_replaced):
                    await self._file.close()
                if damage is not None and not self._is_read_only:
                    await self._set_aside(damage)
            makes_file = makes_file and not self._is_read_only
            if not self._file.is_open and (makes_file or await asyncio.to_thread(is_there, self.path)):
                await self._open()
            return self._file.is_open

    async def _open(self) -> None:
        if time.monotonic() - self._failed_at < self._retry_seconds:
            raise StoreUnavailable(self._failure)
        try:
            if self._is_read_only:
                await self._file.open_to_read()
            else:
                try:
                    await self._file.open()
                except DamagedDatabase as exc:
                    await self._set_aside(str(exc))
                    await self._file.open()
        except (StoreError, OSError):
            self._failed_at = time.monotonic()
            raise
        self._failed_at = float("-inf")
        await self._aside.scan()

    async def _set_aside(self, reason: str) -> None:
        target = await asyncio.to_thread(set_aside, self.path)
        log.warning("a damaged ledger was set aside", reason=reason, path=str(target))

    def _file_bytes(self) -> int:
        parts = (self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal"))
        with contextlib.suppress(OSError):
            return sum(part.stat().st_size for part in parts if part.exists())
        return 0

    def _note(self, reason: str) -> None:
        if reason != self._failure:
            log.warning("the ledger cannot be used", reason=reason, path=str(self.path))
        self._failure = reason


AnyRows = TypeVar("AnyRows", bound="WorkspaceRows")


def erases(step: TableTransaction[AnyRows, Injected, Returned]) -> Verb[AnyRows, Injected, Returned]:
    """Decorate a method that deletes, so that callers do not pass the connection; no bytes of deleted rows remain."""

    @wraps(step)
    async def verb(rows: AnyRows, /, *args: Injected.args, **kwargs: Injected.kwargs) -> Returned:
        return await rows._ledger.erase(lambda db: step(rows, db, *args, **kwargs))

    return verb


class WorkspaceRows(Table):
    """The rows of one workspace (its real path). Methods raise StoreError; those that write also Denied."""

    def __init__(self, ledger: Ledger, workspace: str | Path) -> None:
        super().__init__(ledger)
        self._ledger = ledger
        self._workspace = str(workspace)

    @writes
    def _write_each(self, db: apsw.Connection, statement: str, rows: Sequence[Sequence[SqlValue]]) -> None:
        db.executemany(statement, rows)

    @erases
    def _erase_each(self, db: apsw.Connection, statement: str, rows: Sequence[Sequence[SqlValue]]) -> None:
        db.executemany(statement, rows)
