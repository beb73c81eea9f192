"""Recall for messages without an explicit query, later delivery of unread results, and the log of shown memories.

A hook that timed out repeats its request as `unread`. The content of that answer is then pending: the stable block, if
it was part of it, and the memories recalled for the message. The message is stored, not the result: recall runs again
at delivery, so nothing is shown that has changed or was forgotten since. Pending texts are in memory only and lost at a
restart; an unread stable block is then not delivered again.

What was shown for a question is logged after the reply, displayed with the current text of memories, and can be judged.
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
from memoryd.config.agents import RECALLED_MAX, Agent
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
from memoryd.store.ledger.turns import MessagePlace, ShownRows, ToldPart, ToldTurn


def shown_turn(place: MessagePlace, recalled: Recalled, bundle: Bundle, sequence: str, at: float) -> ToldTurn:
    """Return the log entry for a message: its bundle, and the sequence of turns shown with it."""
    verdicts = {
        short_id(item.memory.id) if isinstance(item, RecalledMemory) else str(item.citation): item.placed.verdict
        for item in recalled.items
    }
    tail = bundle.receipt[len(bundle.stable.receipt) :]
    return ToldTurn(
        agent=place.agent,
        session=place.session,
        seq=place.seq,
        verdict=recalled.verdict,
        etag=bundle.stable.etag,
        stable_tokens=sum(line.tokens for line in bundle.stable.receipt if line.is_included),
        recalled_tokens=sum(line.tokens for line in tail if line.is_included),
        sequence_tokens=estimate(sequence),
        at=at,
        parts=(*_parts(bundle.stable.receipt, {}, is_stable=True), *_parts(tail, verdicts, is_stable=False)),
    )


def _parts(receipt: Sequence[PartReport], verdicts: Mapping[str, Verdict], *, is_stable: bool) -> Iterator[ToldPart]:
    for report in receipt:
        yield ToldPart(
            name=report.name,
            tokens=report.tokens,
            is_told=report.is_included,
            is_stable=is_stable,
            verdict=verdicts.get(report.name),
            cut=report.cut,
        )


class ShownTurns:
    """Log of what was shown for the questions of one workspace; written in the background."""

    def __init__(self, rows: ShownRows) -> None:
        self.rows = rows
        self._waiting: deque[ToldTurn] = deque(maxlen=_WAITING_MAX)
        self._has_news = asyncio.Event()
        self._writing = asyncio.Lock()
        self.mark = 0
        """Number of times that texts were forgotten; read it before the bundle of a turn is built."""
        register_text_holder(self)

    def note(self, turn: ToldTurn, mark: int) -> None:
        """Write a turn soon, unless something was forgotten since `mark`, which the turn may name."""
        if mark != self.mark:
            return
        self._waiting.append(turn)
        self._has_news.set()

    async def listing(self, agent: str, limit: int, *, session: str = "", before: int = 0) -> list[ToldTurn]:
        """Return turns as `ShownRows.some`, including those noted just now; raises StoreError."""
        await self._settle()
        return await self.rows.some(agent, limit, session=session, before=before)

    async def run(self, seconds: float = WRITE_SECONDS) -> None:
        """Write noted turns, until cancelled."""
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            await self._settle()
            await asyncio.sleep(seconds)

    async def _settle(self) -> None:
        # a concurrent caller waits until all of it is written
        async with self._writing:
            waiting = list(self._waiting)
            self._waiting.clear()
            if waiting:
                with contextlib.suppress(StoreError, Denied):
                    await self.rows.put(waiting)

    def drop_texts(self) -> None:
        """Drop turns that are not written yet: they may name what is being forgotten."""
        self.mark += 1
        self._waiting.clear()


class ShownMemories(Struct, frozen=True):
    """The log of one agent. Each call raises StoreError if the ledger or the index cannot be read."""

    agent: str
    told: ShownTurns
    book: MemoryCache
    sessions: QaSessions

    async def listing(self, admitted: Admitted, limit: int, *, session: str = "", before: int = 0) -> ToldReply:
        """Return turns, the latest first; optionally only those before a number, or of one session."""
        turns = await self.told.listing(self.agent, limit + 1, session=session, before=before)
        shown, book = turns[:limit], await self.book.current()
        private, questions = await self._questions({SessionId(turn.session) for turn in shown})
        memories = _shown_memories(book, Visibility.of(self.agent, admitted), shown)
        return ToldReply(
            turns=[
                _turn_reply(turn, questions.get((turn.session, turn.seq)), memories)
                for turn in shown
                if turn.session not in private
            ],
            before=shown[-1].number if len(turns) > limit else None,
        )

    async def judge(self, number: int, name: str, judgement: Judgement | None) -> ToldJudgedReply:
        """Store the owner's judgement of a shown part; raises NotFound, Denied if nothing may be written."""
        if not await self.told.rows.judge(self.agent, number, name, judgement):
            raise NotFound(f"no part named {name!r} was shown there", hint="GET /v1/told lists what was")
        return ToldJudgedReply(number=number, name=name, judgement=judgement.value if judgement else None)

    async def _questions(self, sessions: set[SessionId]) -> tuple[set[str], Mapping[tuple[str, int], str]]:
        """Return the sessions that are or may be private now, and the questions of the others."""
        private, questions = set[str](), dict[tuple[str, int], str]()
        for name in sessions:
            try:
                session = await self.sessions.find(name)
            except MemorydError:
                # it is unknown whether it is private
                private.add(name)
                continue
            if session is not None and session.is_remembered:
                questions |= {(name, turn.seq): turn.question for turn in session.turns}
            elif session is not None:
                private.add(name)
        return private, questions


def _shown_memories(book: Book, visibility: Visibility, turns: list[ToldTurn]) -> Mapping[str, Memory]:
    names = {part.name for turn in turns for part in turn.parts}
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


_WAITING_MAX = 1_000
"""Maximum number of turns waiting to be written; the oldest are dropped."""


PENDING_MAX = 2
"""Maximum number of pending texts per session, the latest: more would not fit into one prompt."""
_FAILURES_MAX = 32
_TEXT_CHARS = 4_000
_MESSAGES_MAX = 3
"""Number of a session's last messages that are used to resolve a pronoun in the next one."""


class RecallText(Struct, frozen=True):
    """A text for which memories are recalled: a message, or the question made of a failed tool call."""

    text: str = ""
    is_failure: bool = False


START = RecallText()
"""The beginning of a session, for which only the stable block is shown."""


class PendingRecall(Struct, frozen=True):
    """What the next answer of a session must deliver: its stable block, and recall results for texts."""

    is_start: bool = False
    texts: tuple[RecallText, ...] = ()

    def adding(self, *texts: RecallText) -> "PendingRecall":
        """Return a copy with more texts, the latest at the end."""
        shortened = (_shorten(text) for text in (*self.texts, *texts) if text.text.strip())
        return replace(self, texts=tuple(dict.fromkeys(shortened))[-PENDING_MAX:])


def _shorten(text: RecallText) -> RecallText:
    return replace(text, text=text.text[:_TEXT_CHARS])


class _Session(Struct):
    pending: PendingRecall = PendingRecall()
    sent: PendingRecall = PendingRecall()
    sent_for: RecallText | None = None
    """What was sent with the last answer, and for which text, in case the answer turns out to be unread."""
    recalled_for: PendingRecall = PendingRecall()
    """The texts for which something was shown: an agent that compacts its context loses that."""
    failures: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    """The last messages of its user, the latest at the end."""


class UndeliveredAnswers:
    """What must still be delivered to each session of one agent, by session key; nothing is stored without a key."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        register_text_holder(self)

    def take(self, key: str, text: RecallText) -> PendingRecall:
        """Return and clear what the answer to this text must deliver."""
        session = self._of(key)
        session.sent, session.sent_for, session.pending = session.pending, _shorten(text), PendingRecall()
        return session.sent

    def add(self, key: str, text: RecallText) -> None:
        """Deliver the results for a text later."""
        session = self._of(key)
        session.pending = session.pending.adding(text)

    def add_unread(self, key: str, text: RecallText) -> None:
        """Deliver again the results for a text whose answer was not read, and what was sent with that answer."""
        session = self._of(key)
        sent = session.sent if session.sent_for == _shorten(text) else PendingRecall()
        is_start = text == START or session.pending.is_start or sent.is_start
        session.pending = PendingRecall(is_start).adding(*sent.texts, *session.pending.texts, text)
        session.sent, session.sent_for = PendingRecall(), None

    def add_all(self, key: str) -> None:
        """Deliver the stable block and the last results again, because the agent compacts its context."""
        session = self._of(key)
        session.pending = replace(session.pending.adding(*session.recalled_for.texts), is_start=True)
        session.sent_for, session.failures = None, ()

    def note_message(self, key: str, text: str) -> tuple[str, ...]:
        """Note a message of a session, and return the messages before it."""
        session = self._of(key)
        before, session.messages = session.messages, (*session.messages, text[:_TEXT_CHARS])[-_MESSAGES_MAX:]
        return before

    def note_recalled(self, key: str, text: RecallText) -> None:
        """Note that something was shown for a text."""
        session = self._of(key)
        session.recalled_for = session.recalled_for.adding(text)

    def is_new_failure(self, key: str, failure: RecallText, *, is_unread: bool) -> bool:
        """Note a failure, and return whether memories are shown for it: once per session.

        `is_unread`: the last answer was not read, and does not count.
        """
        session = self._of(key)
        is_last, session.sent_for = session.sent_for == _shorten(failure), session.sent_for if is_unread else None
        if failure.text in session.failures:
            return is_unread and is_last
        session.failures = (*session.failures, failure.text)[-_FAILURES_MAX:]
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
        """Drop all texts; stable blocks stay pending."""
        for key, session in self._sessions.items():
            self._sessions[key] = _Session(PendingRecall(session.pending.is_start))


class UnaskedRecall(Struct, frozen=True):
    """Recalls for the messages of one agent; `sessions` has what each session must still get."""

    agent: Agent
    recall: AgentRecall
    sessions: UndeliveredAnswers

    async def beside(
        self, message: NewMessage, pending: PendingRecall, *, is_failure: bool = False
    ) -> tuple[Recalled | None, TurnPartReply]:
        """Return the results for a message with those pending after them, and the status of the recall.

        `is_failure`: its text is the question made of a failed tool call.
        """
        settings = self.agent.turns
        if message.own_channel:
            return None, part_reply("off", SkipReason.NOBODY_ASKS)
        if not settings.auto_recall:
            return None, part_reply("off", SkipReason.RECALL_OFF)
        if message.is_unread:
            return None, part_reply("off", SkipReason.UNREAD)
        deadline = message.deadline
        if deadline is not None and pending.texts:
            deadline /= 2
        before = () if is_failure else self.sessions.note_message(message.key, message.text)
        options = RecallOptions(k=self._k(message.k), deadline=deadline, touches=False, earlier_messages=before)
        budget = settings.retrieval.max_tokens if message.budget is None else message.budget
        known = "" if message.if_none_match == ANY_ETAG and pending.is_start else message.if_none_match
        bundle_options, text = BundleOptions(budget=budget, if_none_match=known), RecallText(message.text, is_failure)
        try:
            earlier = await self.recall_pending(pending, message.admitted, deadline)
            recalled = await self._of(text, message.admitted, options, bundle_options, earlier)
        except MemorydError as exc:
            return None, part_reply("failed", str(exc))
        if recalled.items:
            self.sessions.note_recalled(message.key, text)
        elif any(arm.state is ArmState.TIMEOUT for arm in recalled.result.arms.values()):
            self.sessions.add(message.key, text)
        return recalled, _recall_part(recalled)

    async def recall_pending(
        self, pending: PendingRecall, admitted: Admitted, deadline: timedelta | None = None
    ) -> Sequence[Recalled]:
        """Return the current results for pending texts, the latest first; failed ones are left out."""
        if not self.agent.turns.auto_recall:
            return []
        options = RecallOptions(k=self._k(None), deadline=deadline, touches=False)
        results = []
        for text in reversed(pending.texts):
            with contextlib.suppress(MemorydError):
                results.append(await self._of(text, admitted, options))
        return results

    async def _of(
        self,
        text: RecallText,
        admitted: Admitted,
        options: RecallOptions,
        bundle_options: BundleOptions | None = None,
        before: Sequence[Recalled] = (),
    ) -> Recalled:
        # a message that is too long for a query is cut
        query = text.text.encode("utf-8", "replace")[:QUERY_BYTES].decode("utf-8", "ignore")
        options = replace(options, is_unasked=True, is_failure=text.is_failure)
        return await self.recall.recall(query, options, admitted, bundle_options, before)

    def _k(self, requested: int | None) -> int:
        return min(requested or self.agent.turns.recall_final_k, RECALLED_MAX)


def _recall_part(recalled: Recalled) -> TurnPartReply:
    if recalled.is_complete:
        return part_reply("ok", "" if recalled.items else recalled.reason or "")
    return part_reply("ok", "; ".join(["it is not complete", *recalled.lacks]))
