"""What an agent was told for each question: noted behind the reply, shown in the words of today, and judged."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from memoryd.agents.conversations.listing import QaSessions
from memoryd.domain.access import Admitted
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import SessionId, turn_address
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.bundle import Bundle, PartReport
from memoryd.domain.memories.kinds import Visibility, short_id
from memoryd.domain.memories.uses import Judgement
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.text.tokens import estimate
from memoryd.errors import Denied, MemorydError, NotFound, StoreError
from memoryd.memory.book import MemoryCache
from memoryd.memory.capture.queue import WRITE_SECONDS
from memoryd.memory.forgetting.planning import drop_with_the_others
from memoryd.memory.recall.query import Recalled, RecalledMemory
from memoryd.replies.recall import ToldJudgedReply, ToldPartReply, ToldReply, ToldTurnReply
from memoryd.store.ledger.turns import MessagePlace, ToldPart, ToldRows, ToldTurn


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
        self.rows = rows
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
        return await self.rows.some(agent, limit, session=session, before=before)

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
                    await self.rows.put(waiting)

    def drop_texts(self) -> None:
        """Drop what waits, or is still to come: it may name what is being forgotten."""
        self.mark += 1
        self._waiting.clear()


class AgentTold(Struct, frozen=True):
    """What one agent was told. Each call raises StoreError where the ledger or the index cannot be read."""

    agent: str
    told: ToldTurns
    book: MemoryCache
    sessions: QaSessions

    async def some(self, admitted: Admitted, limit: int, *, session: str = "", before: int = 0) -> ToldReply:
        """Return turns, the latest first: those before a number, of one session, where these are given."""
        turns = await self.told.some(self.agent, limit + 1, session=session, before=before)
        shown, book = turns[:limit], await self.book.now()
        private, questions = await self._questions({SessionId(one.session) for one in shown})
        memories = _named(book, Visibility.of(self.agent, admitted), shown)
        return ToldReply(
            turns=[
                _turn_reply(one, questions.get((one.session, one.seq)), memories)
                for one in shown
                if one.session not in private
            ],
            before=shown[-1].number if len(turns) > limit else None,
        )

    async def judge(self, number: int, name: str, judgement: Judgement | None) -> ToldJudgedReply:
        """Keep what the owner thinks of a part of what was told; raises NotFound, Denied where nothing is written."""
        if not await self.told.rows.judge(self.agent, number, name, judgement):
            raise NotFound(f"nothing of the name {name!r} was told there", hint="GET /v1/told lists what was")
        return ToldJudgedReply(number=number, name=name, judgement=judgement.value if judgement else None)

    async def _questions(self, sessions: set[SessionId]) -> tuple[set[str], Mapping[tuple[str, int], str]]:
        """Return those of the sessions that are or may be private by now, and the questions of the others."""
        private, found = set[str](), dict[tuple[str, int], str]()
        for name in sessions:
            try:
                session = await self.sessions.find(name)
            except MemorydError:
                # nobody knows whether it is private
                private.add(name)
                continue
            if session is not None and session.is_remembered:
                found |= {(name, turn.seq): turn.question for turn in session.turns}
            elif session is not None:
                private.add(name)
        return private, found


def _named(book: Book, visibility: Visibility, turns: list[ToldTurn]) -> Mapping[str, Memory]:
    names = {part.name for one in turns for part in one.parts}
    return {
        short: memory
        for memory in book.memories.values()
        if (short := short_id(memory.id)) in names and visibility.admits(memory.line.attributes.scope)
    }


def _turn_reply(turn: ToldTurn, question: str | None, memories: Mapping[str, Memory]) -> ToldTurnReply:
    return ToldTurnReply(
        number=turn.number,
        session=turn.session,
        seq=turn.seq,
        citation=turn_address(SessionId(turn.session), turn.seq),
        q=question,
        at=rfc3339(datetime.fromtimestamp(turn.at, UTC)),
        verdict=turn.verdict.value,
        stableTokens=turn.stable_tokens,
        recalledTokens=turn.recalled_tokens,
        sequenceTokens=turn.sequence_tokens,
        stableSince=turn.stable_since,
        parts=[_part_reply(part, memories.get(part.name)) for part in turn.parts],
    )


def _part_reply(part: ToldPart, memory: Memory | None) -> ToldPartReply:
    return ToldPartReply(
        name=part.name,
        id=memory.id if memory else None,
        content=memory.line.text if memory else None,
        stable=part.is_stable,
        tokens=part.tokens,
        told=part.is_told,
        cut=part.cut or None,
        verdict=part.verdict.value if part.verdict else None,
        judgement=part.judgement.value if part.judgement else None,
    )


WAITING_MAX = 1_000
"""Turns that wait to be written; the latest stay."""
