"""The questions and answers of one agent: a method for each use. The sessions of other agents are not visible.

Each method raises Disabled without `memory.qa.enabled`, NotNow and StoreUnavailable while the files cannot be used, and
Denied for a write if nothing may be written. An answer that is not stored with its turn is held in the ledger for a
week, in case it is requested.
"""

import shlex
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from memoryd.agents.status.figures import QaCounter
from memoryd.agents.workspace.qa import WorkspaceQa, require_qa
from memoryd.config.agents import Agent
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import ALL_TURNS, RelativePath, SeqRange, SessionId, session_of, turn_address
from memoryd.domain.sessions.documents import Entry, counted, topic_places
from memoryd.domain.sessions.making_turns import RawTurn, message_keys
from memoryd.domain.sessions.sequences import BUDGET, NOTHING_SIMILAR, SimilarTurns
from memoryd.domain.sessions.turns import Session, Turn, matching_turns, parse_instant, render_turns
from memoryd.domain.text.sanitizing import CUT, visible_text, with_cuts
from memoryd.errors import InvalidRequest, MemorydError, NotFound, StoreError, StoreUnavailable
from memoryd.replies.conversations import (
    QaAddReply,
    QaSessionReply,
    QaSessionsReply,
    QaSessionTurnsReply,
    QaTopicReply,
    QaTopicsReply,
    QaTurnReply,
)
from memoryd.search.ranking import commonness
from memoryd.sessions.conversation_index import SimilarTurnSearch
from memoryd.sessions.qa_store import ChosenSequence, QaStore
from memoryd.sessions.session_turns import AddedTurn, check_remembered
from memoryd.sessions.withheld import WithheldConversations
from memoryd.store.ledger.ledger import Ledger
from memoryd.wire import TURNS_MAX

REPLY_CHARS = 400_000
"""The limit for the text of questions and answers in one reply."""
CITATIONS_SHOWN = 20
"""The number of citations returned for each topic."""
START_SECONDS = 1.0
"""Seconds that the start of a session waits for files that are still being read."""


class SequenceOptions(Struct, frozen=True, kw_only=True):
    """What to choose a sequence of turns for. A session is given by its name, else by a session key.

    `at` is the time of the message; without it the newest session of the key is used.
    """

    message: str | None = None
    session: str | None = None
    key: str = ""
    at: datetime | None = None
    turns: int | None = None
    budget: int = BUDGET


class AgentQa(Struct, frozen=True):
    """The questions and answers of one agent. Without `shared` they are off."""

    agent: Agent
    shared: WorkspaceQa | None
    ledger: Ledger
    withheld: WithheldConversations
    meaning: SimilarTurnSearch | None = None

    @property
    def counter(self) -> QaCounter:
        """The counter of the agent's questions and answers."""
        return QaCounter(self.agent.id, self.shared)

    async def add(
        self,
        question: str,
        answer: str | None,
        *,
        session: str | None,
        key: str,
        is_owners: bool,
        timestamp: str | None,
        significance: float | None,
        topics: Sequence[str] | None,
    ) -> QaAddReply:
        """Store a turn in a session given by its name, else in the open one of a session key. Secrets are masked.

        `is_owners` marks a request of the owner, who may continue a session without a key. Raises InvalidRequest, and
        Denied for the session of another agent or key.
        """
        shared = require_qa(self.shared)
        shared.check_writable()
        if not (session or key):
            raise InvalidRequest("the session is missing", hint="give sessionId, or the sessionKey of the session")
        _check_says_something(question)
        try:
            at = parse_instant(timestamp, shared.now())
        except ValueError as exc:
            raise InvalidRequest(f"timestamp: {exc}") from exc
        if key and await self.is_excluded(key):
            return _unstored_reply(None)
        raw = RawTurn(question, answer, at, significance, topics)

        def append(store: QaStore) -> AddedTurn | None:
            if session:
                return store.turns.append(session, raw, agent=self.agent.id, key=key, is_owners=is_owners)
            return store.turns.append_by_key(key, raw, agent=self.agent.id)

        added = await shared.write(append)
        if added is None:
            store = shared.store
            named = store.sessions.named(session) if session else None
            return _unstored_reply(named or store.turns.newest_session(key, self.agent.id))
        if added.dropped_answer is not None:
            await self.hold(added.session, added.turn.seq, added.dropped_answer)
        reply = turn_reply(added.session, added.turn)
        return QaAddReply(
            session=added.session,
            seq=added.turn.seq,
            significance=added.turn.significance,
            kept=added.turn.answer is not None,
            remembered=True,
            topics=reply["topics"],
            citation=reply["citation"],
        )

    async def sessions(self, limit: int) -> QaSessionsReply:
        """Return the sessions that are not in the archive, the newest first."""
        sessions = await self._list_sessions()
        return QaSessionsReply(sessions=[_head(entry) for entry in sessions[:limit]], total=len(sessions))

    async def session(self, name: str, *, seqs: SeqRange = ALL_TURNS, word: str = "") -> QaSessionTurnsReply:
        """Return turns of a session, which may be in the archive. Raises NotFound."""
        session = await require_qa(self.shared).read(lambda store: self._session(store, name))
        turns, matched, following = matching_turns(
            session, seqs=seqs, word=word, max_turns=TURNS_MAX, max_chars=REPLY_CHARS
        )
        return QaSessionTurnsReply(
            **_head(session),
            matched=matched,
            sequence=[turn_reply(session.id, turn) for turn in turns],
            nextSeq=following,
        )

    async def context(self, options: SequenceOptions) -> ChosenSequence:
        """Return the turns to show to the agent, in order, and why they were chosen."""
        shared = require_qa(self.shared)
        near = await self._similar_turns(shared, options)
        return await shared.read(lambda store: self._sequence(store, options, near))

    async def start(self, key: str) -> tuple[str, list[QaTurnReply]]:
        """Return the last turns of the newest session with a key, as text for a prompt and as replies.

        Both are empty if no turns can be read.
        """
        try:
            shared = require_qa(self.shared)
            sequence, current = await shared.read(
                lambda store: (
                    self._sequence(store, SequenceOptions(key=key)),
                    store.turns.current_session(key, self.agent.id, shared.now()) if key else None,
                ),
                seconds=START_SECONDS,
            )
        except MemorydError:
            # a session begins regardless of the state of these files; status reports it
            return "", []
        session = sequence.choice.session
        if session is None or not sequence.turns:
            return "", []
        text = render_turns(session, sequence.turns, budget=BUDGET, is_current=session == current)
        return text, [turn_reply(session, turn) for turn in sequence.turns]

    async def mark(
        self, name: str, seq: int, *, keep: bool, answer: str | None = None, key: str = "", is_owners: bool = True
    ) -> QaTurnReply:
        """Store the answer of a turn, or `answer` instead of it, or drop it; return the turn.

        An answer that was not stored, or was dropped, comes back from the ledger within a week; later NotFound is
        raised. Denied is raised for a session with another key than `key`, which the owner may leave empty.
        """
        shared = require_qa(self.shared)
        shared.check_writable()
        session = await shared.read(lambda store: store.sessions.named(name))
        before = await self._turn(shared, session, seq)
        await shared.read(
            lambda store: store.turns.check_may_mark(session, agent=self.agent.id, key=key, is_owners=is_owners)
        )
        if keep and answer is None and before.is_marked:
            return turn_reply(session, before)
        if answer is not None:
            _check_says_something(answer)
        stored = None if not keep else answer or before.answer or await self.pending_answer(session, seq)
        await shared.write(
            lambda store: store.turns.mark(session, seq, stored, agent=self.agent.id, key=key, is_owners=is_owners)
        )
        if not keep and before.answer is not None:
            await self.hold(session, seq, before.answer)
        return turn_reply(session, await self._turn(shared, session, seq))

    async def topics(self, limit: int) -> QaTopicsReply:
        """Return the topics with the addresses of their turns, those with the most turns first."""
        places = topic_places(entry for entry in await self._list_sessions() if entry.head.is_remembered)
        topics = sorted(places.items(), key=lambda item: (-len(item[1]), item[0]))
        rows = [
            QaTopicReply(topic=topic, turns=len(addresses), citations=addresses[-CITATIONS_SHOWN:])
            for topic, addresses in topics[:limit]
        ]
        return QaTopicsReply(topics=rows, total=len(topics))

    async def is_excluded(self, key: str) -> bool:
        """Return whether messages under a key must not be remembered. Raises StoreUnavailable.

        Nothing is stored while this is unknown: storing an unwanted turn is worse than losing one.
        """
        return await self.withheld.withholds_key(key)

    async def continues_excluded(self, key: str) -> bool:
        """Return whether the open session of a key was excluded by its name. Raises StoreError, NotNow."""
        shared = self.shared
        return shared is not None and await shared.read(
            lambda store: store.turns.is_excluded(key, self.agent.id, shared.now())
        )

    async def hold(self, session: SessionId, seq: int, answer: str) -> None:
        """Hold an answer that is not stored in the ledger for a week, in case it is requested."""
        # an unusable ledger is reported by status, and does not cost the turn
        try:
            await self.ledger.store_answer(self.agent.id, session, seq, answer)
            # forgotten in between: its answers were deleted before this one arrived
            if not await require_qa(self.shared).read(lambda store: store.sessions.has(session)):
                await self.ledger.drop(self.agent.id, session, seq)
        except (StoreError, OSError):
            self.ledger.note_refused()

    async def pending_answer(self, session: SessionId, seq: int) -> str:
        """Return the answer that is held for a turn. Raises NotFound, or StoreUnavailable if the ledger is unusable."""
        address = turn_address(session, seq)
        anew = f"give it anew: memoryctl qa mark {shlex.quote(address)} --answer TEXT"
        try:
            answer = await self.ledger.pending_answer(self.agent.id, session, seq)
        except (StoreError, OSError) as exc:
            raise StoreUnavailable(f"the ledger, which may hold the answer, cannot be used: {exc}", hint=anew) from exc
        if answer is None:
            raise NotFound(f"the answer of {address} is gone: one that is not kept is held for 7 days", hint=anew)
        return answer

    async def _list_sessions(self) -> list[Entry]:
        return await require_qa(self.shared).read(self._visible_sessions)

    def _visible_sessions(self, store: QaStore) -> list[Entry]:
        # the list includes what other programs wrote a moment ago
        store.sessions.scan()
        hidden = self._hidden()
        return [entry for entry in store.sessions.of(self.agent.id) if entry.head.id not in hidden]

    def _session(self, store: QaStore, name: str) -> Session:
        try:
            session = store.sessions.read(SessionId(name), agent=self.agent.id)
        except NotFound as exc:
            raise NotFound(
                f"there is no session {name!r}", hint="memoryctl qa show lists them, or GET /v1/qa/sessions"
            ) from exc
        if session.id in self._hidden():
            raise NotFound(f"session {session.id} is being forgotten")
        check_remembered(session)
        return session

    def _hidden(self) -> frozenset[SessionId]:
        """Return the sessions whose forgetting has begun and is not finished, as far as known."""
        unfinished = self.withheld.unfinished() if self.withheld.is_known else []
        return frozenset(session_of(RelativePath(pending.name)) for pending in unfinished)

    async def _turn(self, shared: WorkspaceQa, name: SessionId, seq: int) -> Turn:
        session = await shared.read(lambda store: self._session(store, name))
        for turn in session.turns:
            if turn.seq == seq:
                return turn
        hint = f"it has {len(session.turns)} turns, the last is Q{session.last_seq}"
        raise NotFound(f"there is no turn {turn_address(name, seq)}", hint=hint)

    async def _similar_turns(self, shared: WorkspaceQa, options: SequenceOptions) -> SimilarTurns:
        """Return the turns near a message in meaning.

        For a message without words of its own nothing is searched, and the result is empty.
        """
        if self.meaning is None or not options.message or message_keys(options.message, commonness).is_empty:
            return NOTHING_SIMILAR
        return await self.meaning.near(options.message, shared.now(), self.agent.memory_search.query.deadline_ms / 1000)

    def _sequence(
        self, store: QaStore, options: SequenceOptions, near: SimilarTurns = NOTHING_SIMILAR
    ) -> ChosenSequence:
        message = (options.message or "").strip() or None
        current = options.session
        if options.key and not current:
            current = store.turns.session_before(options.key, self.agent.id, options.at)
        if message is None and not (options.session or options.key):
            # without a message, session or key: the session with the last message
            current = store.turns.newest_session(None, self.agent.id)
        turns = self.agent.memory.qa.context_turns if options.turns is None else options.turns
        return store.find_turns(
            message,
            agent=self.agent.id,
            current=current,
            turns=turns,
            budget=options.budget,
            hidden=self._hidden(),
            near=near,
        )


def _check_says_something(text: str) -> None:
    if not with_cuts(text).replace(CUT, "").strip():
        raise InvalidRequest("the text has no visible character")


def _unstored_reply(session: SessionId | None) -> QaAddReply:
    """Return the reply for an excluded session: nothing was stored."""
    return QaAddReply(
        session=session, seq=None, significance=None, kept=False, remembered=False, topics=[], citation=None
    )


def _head(entry: Entry) -> QaSessionReply:
    session, (turns, answers) = entry.head, counted(entry)
    return QaSessionReply(
        session=session.id,
        key=session.key or None,
        created=rfc3339(session.created),
        lastActivity=rfc3339(entry.last_activity),
        turns=turns,
        answers=answers,
        remembered=session.is_remembered,
    )


def turn_reply(name: SessionId, turn: Turn) -> QaTurnReply:
    """Return the reply for a turn."""
    return QaTurnReply(
        session=name,
        seq=turn.seq,
        q=visible_text(turn.question),
        a=None if turn.answer is None else visible_text(turn.answer),
        significance=turn.significance,
        timestamp=rfc3339(turn.timestamp),
        topics=list(turn.topics),
        citation=turn_address(name, turn.seq),
    )
