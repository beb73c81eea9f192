"""What was put before agents for each question: noted behind the reply, and judged by the owner afterwards."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from memoryd.domain.memories.bundle import Bundle, PartReport
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.uses import Judgement
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.text.tokens import estimate
from memoryd.errors import Denied, StoreError
from memoryd.memory.capture.queue import WRITE_SECONDS
from memoryd.memory.forgetting.planning import drop_with_the_others
from memoryd.memory.recall.query import Recalled, RecalledMemory
from memoryd.store.ledger.capture import MessagePlace
from memoryd.store.ledger.told import ToldPart, ToldRows, ToldTurn

WAITING_MAX: Final = 1_000
"""Turns that wait to be written; the latest stay."""


def told_turn(place: MessagePlace, recalled: Recalled, made: Bundle, sequence: str, at: float) -> ToldTurn:
    """Return what is kept of what was told for a message: its bundle, and the sequence of turns beside it."""
    verdicts = {
        short_id(item.memory.id) if isinstance(item, RecalledMemory) else str(item.citation): item.placed.verdict
        for item in recalled.items
    }
    tail = made.receipt[len(made.stable.receipt) :]
    return ToldTurn(
        agent=place.agent,
        session=place.session,
        seq=place.seq,
        verdict=recalled.verdict,
        etag=made.stable.etag,
        stable_tokens=sum(line.tokens for line in made.stable.receipt if line.is_included),
        recalled_tokens=sum(line.tokens for line in tail if line.is_included),
        sequence_tokens=estimate(sequence),
        at=at,
        parts=(*_parts(made.stable.receipt, {}, is_stable=True), *_parts(tail, verdicts, is_stable=False)),
    )


def _parts(receipt: Sequence[PartReport], verdicts: Mapping[str, Verdict], *, is_stable: bool) -> Iterator[ToldPart]:
    for line in receipt:
        yield ToldPart(
            name=line.name,
            tokens=line.tokens,
            is_told=line.is_included,
            is_stable=is_stable,
            verdict=verdicts.get(line.name),
            cut=line.cut,
        )


class ToldTurns:
    """What was told for the questions of one workspace; writing it keeps no reply waiting."""

    def __init__(self, rows: ToldRows) -> None:
        self._rows = rows
        self._waiting: deque[ToldTurn] = deque(maxlen=WAITING_MAX)
        self._has_news = asyncio.Event()
        self._writing = asyncio.Lock()
        self.mark = 0
        """How often texts were forgotten; to be taken before a turn's bundle is made."""
        drop_with_the_others(self)

    def note(self, turn: ToldTurn, mark: int) -> None:
        """Have a turn be written soon, unless something was forgotten since the mark: it may name that."""
        if mark != self.mark:
            return
        self._waiting.append(turn)
        self._has_news.set()

    async def some(self, agent: str, limit: int, *, session: str = "", before: int = 0) -> list[ToldTurn]:
        """Return turns as `ToldRows.some`, those too that were noted just now; raises StoreError."""
        await self._settle()
        return await self._rows.some(agent, limit, session=session, before=before)

    async def judge(self, agent: str, number: int, name: str, judgement: Judgement | None) -> bool:
        """Keep a judgement as `ToldRows.judge`; raises StoreError, Denied where nothing may be written."""
        return await self._rows.judge(agent, number, name, judgement)

    async def run(self, seconds: float = WRITE_SECONDS) -> None:
        """Write what was noted, until cancelled."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            await self._settle()
            await asyncio.sleep(seconds)

    async def _settle(self) -> None:
        # whoever asks meanwhile waits until all of it is there
        async with self._writing:
            waiting = list(self._waiting)
            self._waiting.clear()
            if waiting:
                with contextlib.suppress(StoreError, Denied):
                    await self._rows.put(waiting)

    def drop_texts(self) -> None:
        """Drop what waits, or is still to come: it may name what is being forgotten."""
        self.mark += 1
        self._waiting.clear()
