"""What was put before agents for the questions of a workspace, and what its owner thinks of that; no word of it."""

from collections.abc import Container, Sequence

import apsw
from msgspec import Struct

from memoryd.domain.memories.uses import Judgement
from memoryd.domain.ranking.calibration import Verdict
from memoryd.store.database_file import reads, writes
from memoryd.store.ledger.ledger import Ledger, WorkspaceRows

TURNS_MAX = 2_000
"""Of a workspace; the latest stay, those of which the owner judged something, and those with the stable block of one
that stays."""

_PUT_TURN = """
INSERT OR IGNORE INTO told_turns
(workspace, agent, session, seq, verdict, etag, stable_since, stable_tokens, recalled_tokens, sequence_tokens, at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ifnull((
    SELECT iif(etag = ?6, stable_since, NULL) FROM told_turns
    WHERE workspace = ?1 AND agent = ?2 AND session = ?3 AND seq < ?4 ORDER BY seq DESC LIMIT 1
), ?4), ?7, ?8, ?9, ?10) RETURNING id, stable_since
"""
_PUT_PART = "INSERT INTO told_parts VALUES (?, ?, ?, ?, ?, ?, ?, ?, '')"
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
SELECT id, agent, session, seq, verdict, etag, stable_tokens, recalled_tokens, sequence_tokens, at, stable_since
FROM told_turns WHERE workspace = ?1 AND agent = ?2 AND (?3 = '' OR session = ?3) AND (?4 = 0 OR id < ?4)
ORDER BY id DESC LIMIT ?5
"""
_PARTS = """
SELECT name, tokens, is_told, is_stable, verdict, cut, judgement FROM told_parts WHERE turn = ? ORDER BY place
"""
_JUDGE = """
UPDATE told_parts SET judgement = ?1 WHERE turn = ?2 AND name = ?3
AND turn IN (SELECT id FROM told_turns WHERE workspace = ?4 AND agent = ?5)
"""
DROP_TOLD = """
DELETE FROM told_parts WHERE name = ?2 AND turn IN (SELECT id FROM told_turns WHERE workspace = ?1)
"""
"""Takes out what has a name: that of a memory that is forgotten."""
_NAMES = """
SELECT DISTINCT name FROM told_parts WHERE name >= ?2 AND name < ?2 || char(0x10ffff)
AND turn IN (SELECT id FROM told_turns WHERE workspace = ?1)
"""
_CITED = "agent = ?1 AND told_turns.id = turn AND (name = ?2 OR name >= ?2 || '#' AND name < ?2 || '$')"
_COUNT_CITED = f"SELECT count(*) FROM told_parts, told_turns WHERE {_CITED}"
_DROP_CITED = f"DELETE FROM told_parts WHERE EXISTS (SELECT 1 FROM told_turns WHERE {_CITED})"


class ToldPart(Struct, frozen=True, kw_only=True):
    """A part of a bundle, by its name in the receipt; `cut` is empty where nothing was."""

    name: str
    tokens: int
    is_told: bool
    is_stable: bool = False
    verdict: Verdict | None = None
    cut: str = ""
    judgement: Judgement | None = None


class ToldTurn(Struct, frozen=True, kw_only=True):
    """What was put before an agent for the question of a turn; tokens are estimated, `at` is seconds since 1970."""

    agent: str
    session: str
    seq: int
    verdict: Verdict
    etag: str
    stable_tokens: int
    recalled_tokens: int
    sequence_tokens: int
    at: float
    parts: tuple[ToldPart, ...] = ()
    """As they are kept: without those of a stable block that was there before."""
    number: int = 0
    """0: it has none yet."""
    stable_since: int = 0
    """The turn of the session since which the stable block is the same."""


class ToldRows(WorkspaceRows):
    """The turns of a workspace, with what was told."""

    @writes
    def put(self, db: apsw.Connection, turns: Sequence[ToldTurn]) -> None:
        """Keep turns, each once, and drop the oldest beyond what is kept."""
        for one in turns:
            tokens = (one.stable_tokens, one.recalled_tokens, one.sequence_tokens)
            head = (self._workspace, one.agent, one.session, one.seq, one.verdict, one.etag)
            added = db.execute(_PUT_TURN, (*head, *tokens, one.at)).fetchone()
            if added is None:
                continue
            number, since = added
            rows = [
                (number, place, part.name, part.is_stable, part.is_told, part.tokens, part.verdict or "", part.cut)
                for place, part in enumerate(one.parts)
                if since == one.seq or not part.is_stable
            ]
            db.executemany(_PUT_PART, rows)
        db.execute(_BOUND, (self._workspace, TURNS_MAX))

    @reads
    def some(
        self, db: apsw.Connection, agent: str, limit: int, *, session: str = "", before: int = 0
    ) -> list[ToldTurn]:
        """Return turns of an agent, the latest first; those before a number, of one session, where these are given."""
        rows = list(db.execute(_TURNS, (self._workspace, agent, session, before, limit)))
        return [_turn(row, list(db.execute(_PARTS, (row[0],)))) for row in rows]

    @writes
    def judge(self, db: apsw.Connection, agent: str, number: int, name: str, judgement: Judgement | None) -> bool:
        """Keep what the owner thinks of a part of a turn; return whether there is such a part."""
        db.execute(_JUDGE, (judgement or "", number, name, self._workspace, agent))
        return db.changes() > 0

    async def drop_pages(self, folder: str, kept: Container[str]) -> None:
        """Take out the documents below a folder that are not among those kept, also by older names, and their passages.

        No byte of their names is left.
        """
        names = await self._ledger.read(lambda db: db.execute(_NAMES, (self._workspace, folder)).fetchall())
        gone = [(self._workspace, name) for (name,) in names if str(name).partition("#")[0] not in kept]
        if gone:
            await self._erase_each(DROP_TOLD, gone)


async def drop_cited(ledger: Ledger, agent: str, path: str) -> None:
    """Take a conversation that is forgotten, and its parts, out of what an agent was told in others.

    No byte of its name is left. Raises StoreError, Denied where nothing may be written.
    """
    if await ledger.read(lambda db: db.execute(_COUNT_CITED, (agent, path)).get):
        await ledger.erase(lambda db: db.execute(_DROP_CITED, (agent, path)).fetchall())


_TurnValues = tuple[int, str, str, int, str, str, int, int, int, float, int]
_PartValues = tuple[str, int, int, int, str, str, str]


def _turn(row: _TurnValues, parts: Sequence[_PartValues]) -> ToldTurn:
    number, agent, session, seq, verdict, etag, stable, recalled, sequence, at, since = row
    return ToldTurn(
        number=number,
        agent=agent,
        session=session,
        seq=seq,
        verdict=Verdict(verdict),
        etag=etag,
        stable_tokens=stable,
        recalled_tokens=recalled,
        sequence_tokens=sequence,
        at=at,
        stable_since=since,
        parts=tuple(
            ToldPart(
                name=name,
                tokens=tokens,
                is_told=bool(is_told),
                is_stable=bool(is_stable),
                verdict=Verdict(judged) if judged else None,
                cut=cut,
                judgement=Judgement(judgement) if judgement else None,
            )
            for name, tokens, is_told, is_stable, judged, cut, judgement in parts
        ),
    )
