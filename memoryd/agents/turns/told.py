"""What one agent was told for each question, in the words of the notes and sessions as they are now; and judging it."""

from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from memoryd.agents.conversations.qa_sessions import QaSessions
from memoryd.domain.access import Admitted
from memoryd.domain.citations import turn_address
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import SessionId
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.kinds import short_id
from memoryd.domain.memories.scopes import Visibility
from memoryd.domain.memories.uses import Judgement
from memoryd.errors import MemorydError, NotFound
from memoryd.memory.book import MemoryCache
from memoryd.memory.told import ToldTurns
from memoryd.replies.recall import ToldJudgedReply, ToldPartReply, ToldReply, ToldTurnReply
from memoryd.store.ledger.told import ToldPart, ToldTurn


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
        if not await self.told.judge(self.agent, number, name, judgement):
            raise NotFound(f"nothing of the name {name!r} was told there", hint="GET /v1/told lists what was")
        return ToldJudgedReply(number=number, name=name, judgement=judgement.value if judgement else None)

    async def _questions(self, sessions: set[SessionId]) -> tuple[set[str], Mapping[tuple[str, int], str]]:
        """Return those of the sessions that are private by now, and the questions of the others."""
        private, found = set[str](), dict[tuple[str, int], str]()
        for name in sessions:
            try:
                session = await self.sessions.find(name)
            except MemorydError:
                # a damaged file costs its questions alone
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
