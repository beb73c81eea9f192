"""Messages of which memories are still to be made, in the ledger: where each stands, for a week, and no word of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import apsw

from memoryd.store.ledger import Ledger

KEPT_SECONDS: Final = 7 * 24 * 3600.0
ROWS_MAX: Final = 5_000
"""Of a workspace."""
TRIES_MAX: Final = 10
"""So often a message is put in line again: one that ends the daemon each time must not do so for ever."""

_PUT = """
INSERT OR IGNORE INTO awaited_messages
(workspace, agent, session, seq, scope, channel, is_direct, is_owners, tries, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)
"""
_COUNT = "SELECT count(*) FROM awaited_messages WHERE workspace = ?"
_EXPIRE = "DELETE FROM awaited_messages WHERE workspace = ? AND (at < ? OR tries >= ?)"
_DROP = "DELETE FROM awaited_messages WHERE workspace = ? AND agent = ? AND session = ? AND seq = ?"
_TRIED = """
UPDATE awaited_messages SET tries = tries + 1 WHERE workspace = ? AND agent = ? AND session = ? AND seq = ?
"""
_ALL = """
SELECT agent, session, seq, scope, channel, is_direct, is_owners FROM awaited_messages
WHERE workspace = ? ORDER BY at, agent, session, seq
"""


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """Where a message stands: the turn of a session of an agent that asks it."""

    agent: str
    session: str
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedMessage:
    """A message of which memories are still to be made, and what its session does not say of it."""

    place: MessagePlace
    scope: str = ""
    channel: str | None = None
    is_direct: bool = True
    is_owners: bool = True


class AwaitedRows:
    """The rows of one workspace (its real path). Verbs raise StoreError; those that write Denied, too."""

    def __init__(self, ledger: Ledger, workspace: str) -> None:
        self._ledger = ledger
        self._workspace = workspace

    async def put(self, one: AwaitedMessage, now: float) -> bool:
        """Note a message at a time in seconds since 1970; return False where too many are noted."""

        def step(db: apsw.Connection) -> bool:
            if db.execute(_COUNT, (self._workspace,)).get >= ROWS_MAX:
                return False
            head = (*self._key(one.place), one.scope, one.channel)
            db.execute(_PUT, (*head, int(one.is_direct), int(one.is_owners), now))
            return True

        return await self._ledger.write(step, False)

    async def drop(self, places: Iterable[MessagePlace]) -> None:
        """Drop messages: their memories are made, or there are none."""
        await self._each(_DROP, places)

    async def take_up(self, places: Iterable[MessagePlace]) -> None:
        """Count one try more of messages that are put in line again."""
        await self._each(_TRIED, places)

    async def all(self, now: float) -> list[AwaitedMessage]:
        """Return what is awaited, the oldest first, and drop what is too old or was tried too often."""
        none = list[AwaitedMessage]()
        found = await self._ledger.read(lambda db: self._found(db), none)
        if not found:
            return none

        def step(db: apsw.Connection) -> list[AwaitedMessage]:
            db.execute(_EXPIRE, (self._workspace, now - KEPT_SECONDS, TRIES_MAX))
            return self._found(db)

        return await self._ledger.write(step, none)

    def _found(self, db: apsw.Connection) -> list[AwaitedMessage]:
        return [_message(*row) for row in db.execute(_ALL, (self._workspace,))]

    async def _each(self, statement: str, places: Iterable[MessagePlace]) -> None:
        keys = [self._key(place) for place in places]
        if keys:
            await self._ledger.write(lambda db: db.executemany(statement, keys) and None, None)

    def _key(self, place: MessagePlace) -> tuple[str, str, str, int]:
        return (self._workspace, place.agent, place.session, place.seq)


def _message(
    agent: str, session: str, seq: int, scope: str, channel: str | None, is_direct: int, is_owners: int
) -> AwaitedMessage:
    return AwaitedMessage(
        place=MessagePlace(agent, session, seq),
        scope=scope,
        channel=channel,
        is_direct=bool(is_direct),
        is_owners=bool(is_owners),
    )
