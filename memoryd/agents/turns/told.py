"""What an agent is told beside messages that ask nothing, what is still to be told, and what was told.

A hook that gave up sends its request once more as `unread`. Then what its answer was to tell is owed: the stable block,
if that was to be told, and what is recalled for the message. The message is held, not the answer: what is recalled is
looked up again when it is told, so that nothing is told that has changed or was forgotten meanwhile. All of it is in
memory alone, and gone after a restart: then a stable block that was not read is not told again.

What was told for a question is noted behind the reply, shown in the words of today, and judged.
"""

import asyncio
import contextlib
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.conversations.listing import QaSessions
from memoryd.agents.retained.recall import AgentRecall, BundleOptions, RecallOptions
from memoryd.agents.turns.log import NewMessage, part_reply
from memoryd.config.agents import MOST, Agent
from memoryd.config.limits import QUERY_BYTES
from memoryd.domain.access import Admitted
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import SessionId, turn_address
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.bundle import ANY_ETAG, Bundle, PartReport
from memoryd.domain.memories.kinds import Visibility, short_id
from memoryd.domain.memories.uses import Judgement
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.tokens import estimate
from memoryd.errors import Denied, MemorydError, NotFound, StoreError
from memoryd.memory.book import MemoryCache
from memoryd.memory.capture.capturing import SESSIONS_MAX
from memoryd.memory.capture.queue import WRITE_SECONDS
from memoryd.memory.forgetting.planning import register_text_holder
from memoryd.memory.recall.query import Recalled, RecalledMemory
from memoryd.replies.conversations import TurnPartReply
from memoryd.replies.recall import ToldJudgedReply, ToldPartReply, ToldReply, ToldTurnReply
from memoryd.search.protocol import ArmState
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
        register_text_holder(self)

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
        if (short := short_id(memory.id)) in names and visibility.admits(memory.scope)
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
        content=memory.text if memory else None,
        stable=part.is_stable,
        tokens=part.tokens,
        told=part.is_told,
        cut=part.cut or None,
        verdict=part.verdict.value if part.verdict else None,
        judgement=part.judgement.value if part.judgement else None,
    )


WAITING_MAX = 1_000
"""Turns that wait to be written; the latest stay."""


ASKED_MAX = 2
"""Messages of a session for which something is owed, the latest: more has no place in one prompt."""
FAILURES_MAX = 32
TEXT_CHARS = 4_000
SAID_MAX = 3
"""Messages of a session that may say whom the next one means by *her*."""


class AskedText(Struct, frozen=True):
    """A message, or what a failed tool asks, for which something is recalled."""

    text: str = ""
    is_failure: bool = False


START = AskedText()
"""Stands for the beginning of a session, where only the stable block is told."""


class Owed(Struct, frozen=True):
    """What a session is to be told beside its next answer: its stable block, and what is recalled for messages."""

    is_start: bool = False
    asked: tuple[AskedText, ...] = ()

    def beside(self, *asked: AskedText) -> "Owed":
        """Return the same with more messages, the latest at the end."""
        held = (_held(one) for one in (*self.asked, *asked) if one.text.strip())
        return replace(self, asked=tuple(dict.fromkeys(held))[-ASKED_MAX:])


def _held(asked: AskedText) -> AskedText:
    return replace(asked, text=asked.text[:TEXT_CHARS])


class _Session(Struct):
    owed: Owed = Owed()
    sent: Owed = Owed()
    sent_for: AskedText | None = None
    """What went with the last answer, and for which message that was: it may come to be unread."""
    told_for: Owed = Owed()
    """The messages for which something was told: an agent that compacts what it holds forgets that."""
    failures: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    """What its user said last, the latest at the end."""


class UndeliveredAnswers:
    """What each session of one agent is still to be told, by its key; without a key nothing is held."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        register_text_holder(self)

    def take(self, key: str, asked: AskedText) -> Owed:
        """Return what is to be told with the answer to a message, which is made now."""
        session = self._of(key)
        session.sent, session.sent_for, session.owed = session.owed, _held(asked), Owed()
        return session.sent

    def owe(self, key: str, asked: AskedText) -> None:
        """Owe what is recalled for a message."""
        session = self._of(key)
        session.owed = session.owed.beside(asked)

    def owe_unread(self, key: str, asked: AskedText) -> None:
        """Owe what is recalled for a message whose answer nobody read, and what went with that answer."""
        session = self._of(key)
        sent = session.sent if session.sent_for == _held(asked) else Owed()
        is_start = asked == START or session.owed.is_start or sent.is_start
        session.owed = Owed(is_start).beside(*sent.asked, *session.owed.asked, asked)
        session.sent, session.sent_for = Owed(), None

    def owe_all(self, key: str) -> None:
        """Owe the stable block and what was told last: the agent shortens what it holds of the session."""
        session = self._of(key)
        session.owed = replace(session.owed.beside(*session.told_for.asked), is_start=True)
        session.sent_for, session.failures = None, ()

    def follow(self, key: str, text: str) -> tuple[str, ...]:
        """Return what was said in a session before a message, and know that message as said."""
        session = self._of(key)
        before, session.said = session.said, (*session.said, text[:TEXT_CHARS])[-SAID_MAX:]
        return before

    def note_told(self, key: str, asked: AskedText) -> None:
        """Note that something was told for a message."""
        session = self._of(key)
        session.told_for = session.told_for.beside(asked)

    def is_new_failure(self, key: str, asked: AskedText, *, is_unread: bool) -> bool:
        """Tell whether something is to be told for such a failure, once in a session, and note that it is.

        `is_unread`: nobody read the last answer, so that one does not count.
        """
        session = self._of(key)
        is_last, session.sent_for = session.sent_for == _held(asked), session.sent_for if is_unread else None
        if asked.text in session.failures:
            return is_unread and is_last
        session.failures = (*session.failures, asked.text)[-FAILURES_MAX:]
        return True

    def _of(self, key: str) -> _Session:
        if not key:
            return _Session()
        session = self._sessions.setdefault(key, _Session())
        self._sessions.move_to_end(key)
        while len(self._sessions) > SESSIONS_MAX:
            self._sessions.popitem(last=False)
        return session

    def drop_texts(self) -> None:
        """Know no message any more; stable blocks are owed as before."""
        for session in self._sessions.values():
            session.owed, session.sent = Owed(session.owed.is_start), Owed()
            session.told_for, session.sent_for, session.failures, session.said = Owed(), None, (), ()


class UnaskedRecall(Struct, frozen=True):
    """Recalls for the messages of one agent; `sessions` knows what each of them is still to be told."""

    agent: Agent
    recall: AgentRecall
    sessions: UndeliveredAnswers

    async def beside(
        self, message: NewMessage, owed: Owed, *, is_failure: bool = False
    ) -> tuple[Recalled | None, TurnPartReply]:
        """Return what is recalled for a message, with what is owed behind it, and how that went.

        `is_failure`: its text is what a failed tool asks.
        """
        settings = self.agent.turns
        if message.own_channel:
            return None, part_reply("off", SkipReason.NOBODY_ASKS)
        if not settings.auto_recall:
            return None, part_reply("off", SkipReason.RECALL_OFF)
        if message.is_unread:
            return None, part_reply("off", SkipReason.UNREAD)
        deadline = message.deadline
        if deadline is not None and owed.asked:
            deadline /= 2
        before = () if is_failure else self.sessions.follow(message.key, message.text)
        options = RecallOptions(k=self._k(message.k), deadline=deadline, touches=False, earlier_messages=before)
        budget = settings.retrieval.max_tokens if message.budget is None else message.budget
        known = "" if message.if_none_match == ANY_ETAG and owed.is_start else message.if_none_match
        wanted, asked = BundleOptions(budget=budget, if_none_match=known), AskedText(message.text, is_failure)
        try:
            earlier = await self.owed(owed, message.admitted, deadline)
            found = await self._of(asked, message.admitted, options, wanted, earlier)
        except MemorydError as exc:
            return None, part_reply("failed", str(exc))
        if found.items:
            self.sessions.note_told(message.key, asked)
        elif any(arm.state is ArmState.TIMEOUT for arm in found.found.arms.values()):
            self.sessions.owe(message.key, asked)
        return found, _recall_part(found)

    async def owed(self, owed: Owed, admitted: Admitted, deadline: timedelta | None = None) -> Sequence[Recalled]:
        """Return what is recalled now for messages whose answer nobody read, the latest first.

        What fails is left out.
        """
        if not self.agent.turns.auto_recall:
            return []
        options = RecallOptions(k=self._k(None), deadline=deadline, touches=False)
        found = []
        for one in reversed(owed.asked):
            with contextlib.suppress(MemorydError):
                found.append(await self._of(one, admitted, options))
        return found

    async def _of(
        self,
        asked: AskedText,
        admitted: Admitted,
        options: RecallOptions,
        wanted: BundleOptions | None = None,
        before: Sequence[Recalled] = (),
    ) -> Recalled:
        # of a message that is too long for a question its beginning
        query = asked.text.encode("utf-8", "replace")[:QUERY_BYTES].decode("utf-8", "ignore")
        options = replace(options, is_unasked=True, is_failure=asked.is_failure)
        return await self.recall.recall(query, options, admitted, wanted, before)

    def _k(self, wanted: int | None) -> int:
        return min(wanted or self.agent.turns.recall_final_k, MOST)


def _recall_part(found: Recalled) -> TurnPartReply:
    if found.is_complete:
        return part_reply("ok", "" if found.items else found.reason or "")
    return part_reply("ok", "; ".join(["it is not complete", *found.lacks]))
