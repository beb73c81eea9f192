"""The damaged ledgers beside a ledger: whose marks it has, and whose nobody can read."""

import asyncio
from pathlib import Path

from memoryd.errors import StoreError, StoreUnavailable
from memoryd.store.ledger_database import LedgerDatabase
from memoryd.store.ledger_file import aside
from memoryd.store.taking_over import read_marks


class SetAsideLedgers:
    """What lies beside the ledger at a path, as of the last look.

    Until the marks of each are in the ledger, or its owner took it away, nobody knows what is not to be remembered.
    What was done outlasts a kill at any moment: the ledger names those whose marks it has.
    """

    def __init__(self, path: Path) -> None:
        self.paths: list[Path] = []
        self._path = path
        self._unread: dict[Path, str] = {}
        self._settled_for = -1
        """The opening of the ledger for which that is known."""

    @property
    def has_unread(self) -> bool:
        """Whether there is one whose marks are not in the ledger."""
        return bool(self._unread)

    @property
    def trouble(self) -> str | None:
        """What somebody should do about them; None where there are none."""
        if self._unread:
            return self._told()
        if self.paths:
            names = ", ".join(str(path) for path in self.paths)
            return f"a damaged ledger was set aside, and a new one begun; look at it, then delete it: {names}"
        return None

    async def look(self) -> None:
        """See which there are; raises OSError."""
        self.paths = await asyncio.to_thread(aside, self._path)
        self._unread = {path: why for path, why in self._unread.items() if path in self.paths}

    def is_settled(self, ledger: LedgerDatabase) -> bool:
        """Tell whether the ledger, as it is open now, has the marks of all."""
        return self._settled_for == ledger.epoch and not self._unread

    async def settle(self, ledger: LedgerDatabase, *, is_read_only: bool) -> None:
        """Bring the marks of all into the ledger, unless it has them; raises StoreError of the ledger, OSError."""
        epoch = ledger.epoch
        await self.look()
        # most of the time there are none: nothing need be asked
        known = await ledger.taken_over() if self.paths and ledger.is_open else frozenset[str]()
        unread = dict[Path, str]()
        for path in self.paths:
            if path.name not in known and (why := await _taken_over(path, ledger, is_read_only=is_read_only)):
                unread[path] = why
        self._unread, self._settled_for = unread, epoch

    def require_read(self) -> None:
        """Raise StoreUnavailable where there is one whose marks are not in the ledger."""
        if self._unread:
            raise StoreUnavailable(self._told(), hint="delete the damaged ledger, or move it away")

    def _told(self) -> str:
        names = "; ".join(f"{path} ({why})" for path, why in self._unread.items())
        return (
            "a damaged ledger was set aside, and which conversations it said are not to be remembered cannot be read; "
            "until you delete it or move it away, no conversation is read, and turns with a session key are refused: "
            f"{names}"
        )


async def _taken_over(path: Path, ledger: LedgerDatabase, *, is_read_only: bool) -> str:
    """Bring the marks of one into the ledger; return why that cannot be, empty if it was done."""
    try:
        # not by the ledger's threads, which take a damage for the ledger's own
        marks = await asyncio.to_thread(read_marks, path)
    except (StoreError, OSError) as exc:
        return str(exc)
    if is_read_only:
        return "memory.readOnly is true: start memoryd once without" if marks.rows else ""
    try:
        await ledger.take_over(path.name, marks)
    except StoreUnavailable as exc:
        return str(exc)
    return ""
