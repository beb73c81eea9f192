"""Turns in the ledger, without text: what agents were shown, and the owner's judgements of it.

Also data that capture needs for a week: the places of queued messages, and hashes of the spans that were shown.
"""

from collections.abc import Collection, Container, Iterable, Sequence
from functools import partial

import apsw
from msgspec import Struct

from memoryd.domain.memories.capture.firewall import HASH_BYTES, SpanPrint
from memoryd.domain.memories.uses import Judgement
from memoryd.domain.ranking.calibration import Verdict
from memoryd.store.database_file import reads, struct_of, writes
from memoryd.store.ledger.database import SHORT_BUSY_MS
from memoryd.store.ledger.ledger import Ledger, WorkspaceRows

TURNS_MAX = 2_000
"""Maximum number of turns per workspace.

Stored beyond it: turns that the owner judged, and turns with the stable block of a stored turn.
"""

_PUT_TURN = """
INSERT OR IGNORE INTO told_turns
(workspace, agent, session, seq, verdict, etag, stable_since, stable_tokens, recalled_tokens, sequence_tokens, at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ifnull((
    SELECT iif(etag = ?6, stable_since, NULL) FROM told_turns
    WHERE workspace = ?1 AND agent = ?2 AND session = ?3 AND seq < ?4 ORDER BY seq DESC LIMIT 1
), ?4), ?7, ?8, ?9, ?10) RETURNING id, stable_since
"""
_BOUND = """
DELETE FROM told_turns WHERE workspace = ?1
AND id <= (SELECT id FROM told_turns WHERE workspace = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
AND NOT EXISTS (SELECT 1 FROM told_parts WHERE turn = told_turns.id AND judgement <> '')
AND (stable_since <> seq OR NOT EXISTS (
    SELECT 1 FROM told_turns AS later WHERE later.workspace = ?1 AND later.agent = told_turns.agent
    AND later.session = told_turns.session AND later.seq > told_turns.seq AND later.stable_since = told_turns.seq
    AND later.id > (SELECT id FROM told_turns WHERE workspace = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)
))
"""
_TURNS = """
SELECT agent, session, seq, verdict, etag, stable_tokens, recalled_tokens, sequence_tokens, at, id, stable_since
FROM told_turns WHERE workspace = ?1 AND agent = ?2 AND (?3 = '' OR session = ?3) AND (?4 = 0 OR id < ?4)
ORDER BY id DESC LIMIT ?5
"""
_PARTS = """
SELECT name, tokens, is_told, is_stable, nullif(verdict, ''), cut, nullif(judgement, '') FROM told_parts
WHERE turn = ? ORDER BY place
"""
_JUDGE = """
UPDATE told_parts SET judgement = ?1 WHERE turn = ?2 AND name = ?3
AND turn IN (SELECT id FROM told_turns WHERE workspace = ?4 AND agent = ?5)
"""
DROP_TOLD = """
DELETE FROM told_parts WHERE name = ?2 AND turn IN (SELECT id FROM told_turns WHERE workspace = ?1)
"""
"""Deletes parts by name, such as that of a forgotten memory."""
_NAMES = """
SELECT DISTINCT name FROM told_parts WHERE name >= ?2 AND name < ?2 || char(0x10ffff)
AND turn IN (SELECT id FROM told_turns WHERE workspace = ?1)
"""
_CITED = "agent = ?1 AND told_turns.id = turn AND (name = ?2 OR name >= ?2 || '#' AND name < ?2 || '$')"
_COUNT_CITED = f"SELECT count(*) FROM told_parts, told_turns WHERE {_CITED}"
_DROP_CITED = f"DELETE FROM told_parts WHERE EXISTS (SELECT 1 FROM told_turns WHERE {_CITED})"


class ToldPart(Struct, frozen=True, kw_only=True):
    """A part of a bundle, by its name in the receipt; `cut` is the reason of a cut, or empty."""

    name: str
    tokens: int
    is_told: bool
    is_stable: bool = False
    verdict: Verdict | None = None
    cut: str = ""
    judgement: Judgement | None = None


class ToldTurn(Struct, frozen=True, kw_only=True):
    """What an agent was shown for the question of a turn. Token counts are estimates, `at` is seconds since 1970."""

    agent: str
    session: str
    seq: int
    verdict: Verdict
    etag: str
    stable_tokens: int
    recalled_tokens: int
    sequence_tokens: int
    at: float
    number: int = 0
    """Row id; 0 before it is stored."""
    stable_since: int = 0
    """The turn of the session since which the stable block is the same."""
    parts: tuple[ToldPart, ...] = ()
    """Stored parts, without those of a stable block that an earlier turn has."""


class ShownRows(WorkspaceRows):
    """The turns of a workspace, with what was shown."""

    @writes
    def put(self, db: apsw.Connection, turns: Sequence[ToldTurn]) -> None:
        """Store turns, each once, and delete the oldest above the limit."""
        for turn in turns:
            tokens = (turn.stable_tokens, turn.recalled_tokens, turn.sequence_tokens)
            head = (self._workspace, turn.agent, turn.session, turn.seq, turn.verdict, turn.etag)
            added = db.execute(_PUT_TURN, (*head, *tokens, turn.at)).fetchone()
            if added is None:
                continue
            number, since = added
            rows = [
                (number, place, part.name, part.is_stable, part.is_told, part.tokens, part.verdict or "", part.cut)
                for place, part in enumerate(turn.parts)
                if since == turn.seq or not part.is_stable
            ]
            db.executemany("INSERT INTO told_parts VALUES (?, ?, ?, ?, ?, ?, ?, ?, '')", rows)
        db.execute(_BOUND, (self._workspace, TURNS_MAX))

    @reads
    def some(
        self, db: apsw.Connection, agent: str, limit: int, *, session: str = "", before: int = 0
    ) -> list[ToldTurn]:
        """Return turns of an agent, the latest first; optionally only those before a number, or of one session."""
        rows = list(db.execute(_TURNS, (self._workspace, agent, session, before, limit)))
        return [struct_of(ToldTurn, (*row, _parts(db, row[-2]))) for row in rows]

    @writes
    def judge(self, db: apsw.Connection, agent: str, number: int, name: str, judgement: Judgement | None) -> bool:
        """Store the owner's judgement of a part; return whether the part exists."""
        db.execute(_JUDGE, (judgement or "", number, name, self._workspace, agent))
        return db.changes() > 0

    async def drop_pages(self, folder: str, kept: Container[str]) -> None:
        """Erase documents below a folder that are not in `kept`, under any name, and their passages.

        No bytes of their names remain.
        """
        names = await self._ledger.read(lambda db: db.execute(_NAMES, (self._workspace, folder)).fetchall())
        deleted = [(self._workspace, name) for (name,) in names if str(name).partition("#")[0] not in kept]
        if deleted:
            await self._erase_each(DROP_TOLD, deleted)


def _parts(db: apsw.Connection, turn: int) -> list[ToldPart]:
    return [struct_of(ToldPart, row) for row in db.execute(_PARTS, (turn,))]


async def drop_cited(ledger: Ledger, agent: str, path: str) -> None:
    """Erase a forgotten conversation, and its parts, from what an agent was shown in other conversations.

    Raises StoreError, Denied if nothing may be written.
    """
    if await ledger.read(lambda db: db.execute(_COUNT_CITED, (agent, path)).get):
        await ledger.erase(lambda db: db.execute(_DROP_CITED, (agent, path)).fetchall())


RETENTION_SECONDS = 7 * 24 * 3600.0
AWAITED_MAX = 5_000
"""Maximum number of queued messages per workspace."""
TRIES_MAX = 10
"""Maximum number of times that a message is queued: one that crashes the daemon must not do so forever."""

_PUT_AWAITED = """
INSERT OR IGNORE INTO awaited_messages
(workspace, agent, session, seq, scope, channel, is_direct, is_owners, tries, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)
"""
_TRIED = """
UPDATE awaited_messages SET tries = tries + 1 WHERE workspace = ? AND agent = ? AND session = ? AND seq = ?
"""
_ALL_AWAITED = """
SELECT agent, session, seq, scope, channel, is_direct, is_owners, at FROM awaited_messages
WHERE workspace = ? ORDER BY at, agent, session, seq
"""


class MessagePlace(Struct, frozen=True):
    """Where a message is stored: the turn of a session of an agent."""

    agent: str
    session: str
    seq: int


class QueuedMessage(Struct, frozen=True, kw_only=True):
    """A message that is queued for capture, with data that its session does not have.

    `at` is when it was queued, in seconds since 1970.
    """

    place: MessagePlace
    scope: str = ""
    channel: str | None = None
    is_direct: bool = True
    is_owners: bool = True
    at: float = 0.0


class QueuedMessages(WorkspaceRows):
    """The messages that are queued for capture."""

    async def put(self, message: QueuedMessage) -> bool:
        """Queue a message; return False if the queue is full. Waits only shortly for the lock of another process."""
        return await self._ledger.write(partial(self._put, message), busy_ms=SHORT_BUSY_MS)

    def _put(self, message: QueuedMessage, db: apsw.Connection) -> bool:
        if (
            db.execute("SELECT count(*) FROM awaited_messages WHERE workspace = ?", (self._workspace,)).get
            >= AWAITED_MAX
        ):
            return False
        details = (message.scope, message.channel, message.is_direct, message.is_owners)
        db.execute(_PUT_AWAITED, (*self._key(message.place), *details, message.at))
        return True

    async def drop(self, places: Collection[MessagePlace]) -> None:
        """Delete messages, after their capture."""
        if places:
            await self._write_each(
                "DELETE FROM awaited_messages WHERE workspace = ? AND agent = ? AND session = ? AND seq = ?",
                [self._key(place) for place in places],
            )

    async def take_up(self, places: Collection[MessagePlace]) -> None:
        """Count another try of messages that are queued again."""
        if places:
            await self._write_each(_TRIED, [self._key(place) for place in places])

    async def all(self, now: float) -> list[QueuedMessage]:
        """Return queued messages, the oldest first, and delete those that are too old or were tried too often."""
        return await self._expire_and_list(now) if await self._ledger.read(self._list) else []

    @writes
    def _expire_and_list(self, db: apsw.Connection, now: float) -> list[QueuedMessage]:
        db.execute(
            "DELETE FROM awaited_messages WHERE workspace = ? AND (at < ? OR tries >= ?)",
            (self._workspace, now - RETENTION_SECONDS, TRIES_MAX),
        )
        return self._list(db)

    def _list(self, db: apsw.Connection) -> list[QueuedMessage]:
        return [
            struct_of(QueuedMessage, (MessagePlace(agent, session, seq), *details))
            for agent, session, seq, *details in db.execute(_ALL_AWAITED, (self._workspace,))
        ]

    def _key(self, place: MessagePlace) -> tuple[str, str, str, int]:
        return (self._workspace, place.agent, place.session, place.seq)


SHOWN_MAX = 20_000
"""Maximum number of spans per workspace; the oldest are deleted."""

_PUT_DELIVERED = """
INSERT INTO delivered_spans (workspace, agent, session, whole, words, runs, is_negated, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET at = excluded.at WHERE excluded.at - at > 3600
"""
"""A span that is shown again within an hour keeps its time: what was said in between repeats it."""
_BOUND_SPANS = """
DELETE FROM delivered_spans WHERE workspace = ?1 AND at < (
    SELECT at FROM delivered_spans WHERE workspace = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)
"""
_OF = """
SELECT whole, words, runs, is_negated, at FROM delivered_spans
WHERE workspace = ? AND agent = ? AND session = ? ORDER BY at DESC LIMIT ?
"""
_KEY = "SELECT key FROM delivered_key WHERE workspace = ?"


class ShownSpanRows(WorkspaceRows):
    """The spans that sessions were shown."""

    @writes
    def key(self, db: apsw.Connection, proposed: bytes) -> bytes:
        """Return the key of the hashes: the first that was proposed."""
        db.execute("INSERT OR IGNORE INTO delivered_key (workspace, key) VALUES (?, ?)", (self._workspace, proposed))
        return bytes(db.execute(_KEY, (self._workspace,)).get)

    @reads
    def key_so_far(self, db: apsw.Connection, _proposed: bytes) -> bytes:
        """Return the key without proposing one; empty if there is none."""
        return bytes(db.execute(_KEY, (self._workspace,)).get or b"")

    @writes
    def put(self, db: apsw.Connection, rows: Iterable[tuple[str, str, SpanPrint, float]], now: float) -> None:
        """Store spans, each with its agent, its session and its time; delete those that are too old or too many."""
        for agent, session, span, at in rows:
            packed = (span.full, _pack(span.words), _pack(span.runs), span.is_negated)
            db.execute(_PUT_DELIVERED, (self._workspace, agent, session, *packed, at))
        db.execute(
            "DELETE FROM delivered_spans WHERE workspace = ? AND at < ?", (self._workspace, now - RETENTION_SECONDS)
        )
        db.execute(_BOUND_SPANS, (self._workspace, SHOWN_MAX))

    @reads
    def of(self, db: apsw.Connection, agent: str, session: str, limit: int) -> list[tuple[SpanPrint, float]]:
        """Return the latest spans of a session with their times, in the order in which they were shown."""
        return [
            (SpanPrint(whole, _unpack(words), _unpack(runs), bool(is_negated)), at)
            for whole, words, runs, is_negated, at in db.execute(_OF, (self._workspace, agent, session, limit))
        ][::-1]


def _pack(hashes: Iterable[bytes]) -> bytes:
    return b"".join(sorted(hashes))


def _unpack(data: bytes) -> frozenset[bytes]:
    return frozenset(data[at : at + HASH_BYTES] for at in range(0, len(data), HASH_BYTES))
