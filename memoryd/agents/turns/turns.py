"""One call per message of a conversation: run a command, store the message, and answer the agent.

Each part of a turn can fail alone: the reply reports the failure and has the other parts.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from functools import partial

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.conversations.qa import turn_reply
from memoryd.agents.conversations.session_memories import SessionMemories
from memoryd.agents.retained.changes import Retained
from memoryd.agents.retained.recall import AgentRecall, RecallOptions, bundle_reply, shown_memories
from memoryd.agents.turns.capture import AgentCapture, texts_of
from memoryd.agents.turns.log import CaptureState, LoggedMessage, NewMessage, TurnContext, TurnLog, beside, part_reply
from memoryd.agents.turns.shown import START, PendingRecall, RecallText, ShownTurns, UnaskedRecall, shown_turn
from memoryd.agents.workspace.qa import LateMessages
from memoryd.config.agents import Agent
from memoryd.domain.access import Admitted
from memoryd.domain.memories.book import cite
from memoryd.domain.memories.bundle import Bundle, StableBlock
from memoryd.domain.memories.edits import REMEMBERED_IMPORTANCE, MemoryDraft
from memoryd.domain.memories.kinds import Kind, MemoryId
from memoryd.domain.memories.line import Provenance, RetainedLine, parse_line
from memoryd.domain.memories.unasked.failures import failure_question
from memoryd.domain.memories.uses import used_memories
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.sessions.turns import (
    CommandName,
    MessageEvent,
    MessageEventType,
    MessageRole,
    SpokenCommand,
    command_of,
    parse_instant,
)
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.sanitizing import harmless_text
from memoryd.errors import InvalidRequest, MemorydError, NotFound, StoreError
from memoryd.index.threads import with_pauses
from memoryd.memory.capture.capturing import SESSIONS_MAX
from memoryd.memory.forgetting.planning import register_text_holder
from memoryd.memory.recall.query import Recalled, RecalledMemory
from memoryd.replies.conversations import TurnCommandReply, TurnPartReply, TurnReply
from memoryd.store.ledger.turns import MessagePlace

_SHOWN = 400
"""Maximum characters of a rendered hit."""
QUERY_CHARS = 1_000
"""Maximum characters of what `/forget` searches for: a longer query may exceed the bytes that a search accepts."""
SETTLING_SHARE = 0.5
"""Share of a message's deadline for which `/forget` waits for what was said before it to be captured."""
UNSETTLED = "What was said just before is still to be captured: ask again for it later."
NOTHING_FOUND = "Nothing was found."


CommandResult = tuple[TurnCommandReply, Sequence[str]]
"""The reply of a command for the user, and the texts of memories in it."""


class TurnCommands(Struct, frozen=True):
    """The commands of one agent, each a method of its name. `most` is the maximum number of hits."""

    agent: str
    retained: Retained
    sessions: SessionMemories
    most: int

    async def run(self, command: SpokenCommand, admitted: Admitted, key: str, *, scope: str) -> CommandResult:
        """Run a command, and return its reply and the texts of memories in it.

        `scope` is the scope of a memory that names none. Raises what retaining and recalling do, Denied if nothing may
        be written.
        """
        row = command.row
        if row.takes and not command.text:
            return _command(row.name, row.without)
        method: Callable[..., Awaitable[CommandResult]] = getattr(self, row.name)
        return await method(text=command.text, admitted=admitted, key=key, scope=scope)

    async def compact(self, key: str, **_: object) -> CommandResult:
        """Summarise the session of a key; raises Denied if nothing may be written, StoreError, NotNow."""
        return _command("compact", *await self.sessions.compact(key))

    async def remember(self, text: str, admitted: Admitted, scope: str, **_: object) -> CommandResult:
        """State a text as a memory."""
        line = parse_line(text)
        is_scoped = isinstance(line, RetainedLine) and bool(line.attributes.scope)
        draft = MemoryDraft(
            text=text,
            default_kind=Kind.NOTE,
            default_importance=REMEMBERED_IMPORTANCE,
            scope="" if is_scoped else scope,
            provenance=Provenance.USER,
        )
        reply = await self.retained.retaining.retain(draft, admitted)
        verb = "Remembered" if reply["created"] else "Remembered already"
        text = "\n".join([f"{verb}: {reply['path']}#L{reply['line']}", *reply["notes"]])
        return _command("remember", text, [reply["id"]])

    async def recall(self, text: str, admitted: Admitted, key: str, **_: object) -> CommandResult:
        """Return the hits for a question."""
        options = RecallOptions(k=self.most, is_for_all=True, session=key)
        recalled = await self.retained.recall.recall(text, options, admitted)
        rendered = "\n".join(_render_hits(recalled)) or NOTHING_FOUND
        return _command("recall", rendered, [item.memory.id for item in recalled.memories], texts_of(recalled))

    async def forget(self, text: str, admitted: Admitted, **_: object) -> CommandResult:
        """Delete the memory that a text means, so that it can be undone; if it means none or several, list them."""
        if not admitted.is_direct:
            return _command("forget", "Nothing was deleted: ask for it in a direct chat.")
        documents, why = self.retained.documents, "more than one memory says that"
        try:
            found = await documents.named(text, admitted)
            meant = [await documents.get(memory.id, admitted) for memory in found[: self.most]]
        except NotFound as exc:
            found, why = (), _line(str(exc))
            meant = (await documents.search(text[:QUERY_CHARS], admitted=admitted, top_k=self.most))[0]
        ids, texts = [memory["id"] for memory in meant], [memory["text"] for memory in meant]
        lines = [f"{memory['id'][:8]} {_line(memory['text'])} ({memory['citation']})" for memory in meant]
        if len(found) != 1:
            hint = f" To delete one of these, give its id: /forget {ids[0][:8]}" if ids else ""
            return _command("forget", "\n".join([f"Nothing was deleted: {why}.{hint}", *lines]), ids, texts)
        done = await self.retained.document_edits.delete(ids[0], admitted)
        undo = f"--run {done['run']}" if done["run"] else "".join(map(str, done["changes"]))
        notes = [
            f"Deleted: {lines[0]}",
            *[f"To have it again: memoryctl undo {undo} --agent {self.agent}"] * bool(undo),
            f"To take its words out of conversations for good, too: memoryctl forget {ids[0]} --agent {self.agent}",
            *done["notes"],
        ]
        return _command("forget", "\n".join(notes), ids, texts)


def _command(name: CommandName, text: str, memories: Iterable[str] = (), texts: Iterable[str] = ()) -> CommandResult:
    return TurnCommandReply(name=name, text=text, memories=list(memories)), list(texts)


def _render_hits(recalled: Recalled) -> Sequence[str]:
    """Return one line for each hit: its text, citation, and whether it is outdated or no answer."""
    lines = [f"{page.name}: {_line(page.summary)} ({page.path})" for page in recalled.entities]
    for item in recalled.items:
        nearest = " (no answer)" * (item.placed.verdict is Verdict.NONE)
        if isinstance(item, RecalledMemory):
            earlier = " (earlier)" * bool(item.superseded_by)
            lines.append(f"{_line(item.memory.text)} ({cite(item.lead.source)}){earlier}{nearest}")
        else:
            lines.append(f"{_line(item.hit.snippet.text)} ({item.hit.citation}){nearest}")
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _line(text: str) -> str:
    line = " ".join(harmless_text(text).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


QUESTION_CHARS = 4_000
"""Maximum length of a stored question, from its end."""


class TurnUses:
    """Counts memories as accessed: those that answer a question, and those that the agent's answer uses.

    What was shown in the last turn of a session is in memory only: after a restart, or after forgetting anything, an
    answer uses nothing.
    """

    def __init__(self, recall: AgentRecall) -> None:
        self._recall = recall
        self._shown: OrderedDict[str, tuple[str, dict[MemoryId, str]]] = OrderedDict()
        """By session: a question, and the memories shown for it, each with its citation."""
        register_text_holder(self)

    def note_shown(self, key: str, question: str, recalled: Recalled, *, at: float) -> None:
        """Count memories that answer a question, and remember what was shown for it until the answer comes."""
        self._recall.touch(recalled, at=at, session=key, message=" ".join(question.casefold().split()))
        if not key:
            return
        self._shown.pop(key, None)
        if shown := [item for item in shown_memories(recalled) if not item.superseded_by]:
            citations = {item.memory.id: str(item.citation) for item in shown}
            self._shown[key] = question[-QUESTION_CHARS:], citations
        while len(self._shown) > SESSIONS_MAX:
            self._shown.popitem(last=False)

    async def note_answer(self, key: str, answer: str, *, at: float) -> None:
        """Count the shown memories that an answer uses; each part of an answer is counted."""
        if key not in self._shown:
            return
        question, citations = self._shown[key]
        try:
            memories = (await self._recall.book.current()).memories
        except StoreError:
            return
        shown = [(memories[memory], citation) for memory, citation in citations.items() if memory in memories]
        used = await asyncio.to_thread(
            lambda: used_memories(
                shown, question=question, answer=answer, memories=with_pauses(list(memories.values()))
            )
        )
        self._recall.touch_used(used, at=at, session=key)

    def drop_texts(self) -> None:
        """Drop all questions, and what was shown for them."""
        self._shown.clear()


log = structlog.get_logger(__name__)

FAILURE_K = 3
"""Number of memories shown for a failure: an agent at work reads them between two steps."""


class AgentTurns(Struct, frozen=True, kw_only=True):
    """The turns of one agent. `clock` returns the owner's time, in the owner's zone."""

    agent: Agent
    log: TurnLog
    commands: TurnCommands
    capture: AgentCapture
    sessions: SessionMemories
    retained: Retained
    uses: TurnUses
    shown_log: ShownTurns
    clock: Callable[[], datetime]
    late: LateMessages
    unasked: UnaskedRecall

    async def begin(self, key: str, admitted: Admitted, *, is_unread: bool) -> Bundle:
        """Return the bundle at the start of a session, or after the agent compacted its context.

        `is_unread`: no one reads it; its content is delivered with the next message.
        """
        if is_unread:
            self.unasked.sessions.add_unread(key, START)
            return Bundle(StableBlock(), "")
        before = await self.unasked.recall_pending(self.unasked.sessions.take(key, START), admitted)
        return await self.retained.recall.beginning(admitted, before)

    async def take(self, message: NewMessage) -> TurnReply:
        """Process one message, and return the reply.

        Raises InvalidRequest, and what a command raises: Denied if it would write and nothing may be written.
        """
        at = self._at(message)
        command = command_of(message.text) if message.role is MessageRole.USER else None
        if command is not None:
            reply = await self._run_command(message, command)
        elif message.role is MessageRole.USER and message.text.strip():
            reply = await self._answer_question(message, at)
        elif message.event is not None and message.event.type is MessageEventType.TOOL_FAILED:
            reply = await self._answer_failure(message, message.event)
        else:
            reply = await self._take_statement(message, at)
        await self._handle_event(message, reply)
        return reply

    def _at(self, message: NewMessage) -> datetime:
        if not message.text.strip() and message.event is None:
            raise InvalidRequest("the text is empty, and nothing happened", hint="give text, or an event")
        try:
            return parse_instant(message.at, self.clock())
        except ValueError as exc:
            raise InvalidRequest(f"at: {exc}") from exc

    async def _can_read_log(self, message: NewMessage) -> bool:
        """Wait until the log can be read, at most for the message's deadline; return whether it can."""
        return await self.late.wait_until_stored(self._deadline(message))

    def _deadline(self, message: NewMessage) -> float:
        default = self.agent.memory_search.query.deadline_ms / 1000
        return default if message.deadline is None else message.deadline.total_seconds()

    async def _run_command(self, message: NewMessage, command: SpokenCommand) -> TurnReply:
        key, own_channel, stater = message.key, message.own_channel, message.admitted
        if own_channel and not stater.is_sandboxed:
            # a client with only an agent's socket stays in the channel of its key, whatever the message says
            stater = replace(stater, channel=own_channel)
        # otherwise a statement that waits to be captured would be stored after it was to be forgotten
        is_settled = command.row.name != "forget" or await self.capture.capturing.settle(
            SETTLING_SHARE * self._deadline(message)
        )
        command_reply, texts = await self.commands.run(command, stater, key, scope=self.capture.scope(own_channel))
        if texts and await self._can_read_log(message) and not await self.log.is_unremembered(key):
            self.capture.note_texts(key, texts)
        off = part_reply("off", SkipReason.NO_TURN)
        reply = _reply({"log": off, "context": off, "recall": off})
        if not is_settled:
            command_reply["text"] += f"\n{UNSETTLED}"
        reply["command"] = command_reply
        return reply

    async def _answer_question(self, message: NewMessage, at: datetime) -> TurnReply:
        mark, key = self.shown_log.mark, message.key
        text, pending = RecallText(message.text), PendingRecall()
        # before the first await: the next message may say that this answer was not read
        if message.is_unread:
            self.unasked.sessions.add_unread(key, text)
        else:
            pending = self.unasked.sessions.take(key, text)
        (logged, context), (recalled, part) = await asyncio.gather(
            self._store_in_time(message, at), self.unasked.beside(message, pending)
        )
        reply = _reply({"log": logged.part, "context": context.part, "recall": part}, logged, context)
        if await self._is_remembered(logged, key):
            reply["capture"] = await self._submit_capture(message, at, logged, context)
            if recalled is not None and not logged.is_repeated:
                self.uses.note_shown(key, message.text, recalled, at=self.clock().timestamp())
                self.capture.note_shown(key, recalled)
                self._log_shown(logged, recalled, context, mark)
        if recalled is None:
            return reply
        reply["verdict"] = recalled.verdict.value
        return reply if recalled.bundle is None else {**reply, **bundle_reply(recalled.bundle, message.encoding)}

    async def _answer_failure(self, message: NewMessage, event: MessageEvent) -> TurnReply:
        """Return memories about a tool failure, once per session; nothing of it is stored.

        If the answer is not read, they are delivered with the next message, if their evidence is sufficient.
        """
        key, question = message.key, failure_question(event.given, event.text)
        reply = _reply(_without_recall(part_reply("off", SkipReason.NOT_ASKED)))
        failure, is_unread, sessions = RecallText(question, is_failure=True), message.is_unread, self.unasked.sessions
        if not question or not sessions.is_new_failure(key, failure, is_unread=is_unread):
            reply["health"]["recall"] = part_reply("off", SkipReason.FAILED_BEFORE)
            return reply
        if is_unread:
            sessions.add_unread(key, failure)
            return reply
        question_message = replace(message, text=question, k=message.k or FAILURE_K)
        pending = sessions.take(key, failure)
        recalled, reply["health"]["recall"] = await self.unasked.beside(question_message, pending, is_failure=True)
        if recalled is None or recalled.bundle is None:
            return reply
        if not await self.log.is_unremembered(key):
            self.capture.note_shown(key, recalled)
        reply["verdict"] = recalled.verdict.value
        return {**reply, **bundle_reply(recalled.bundle, message.encoding)}

    def _log_shown(self, logged: LoggedMessage, recalled: Recalled, context: TurnContext, mark: int) -> None:
        if logged.session is not None and logged.seq is not None and recalled.bundle is not None:
            place = MessagePlace(self.agent.id, logged.session, logged.seq)
            at = self.clock().timestamp()
            self.shown_log.note(shown_turn(place, recalled, recalled.bundle, context.text, at), mark)

    async def _is_remembered(self, logged: LoggedMessage, key: str) -> bool:
        # the log knows marks of the key and of the session
        return not (logged.is_late or logged.is_excluded or await self.log.is_unremembered(key))

    async def _submit_capture(
        self, message: NewMessage, at: datetime, logged: LoggedMessage, context: TurnContext
    ) -> CaptureState:
        # the last answer of the assistant, as far as the context has it
        before = (context.turns[-1].answer or "") if context.turns else ""
        return await self.capture.submit(message, at, answer_before=before, logged=logged)

    async def _take_statement(self, message: NewMessage, at: datetime) -> TurnReply:
        """Process a message that is no question: store an answer with its question, and anything else nowhere."""
        take = partial(self._take_statement_now, message, at)
        is_stored = bool(message.key) and (message.is_answer or message.failure is not None)
        if not is_stored or await self._can_read_log(message):
            return await take()
        return _reply(_without_recall(part_reply("failed", self.late.put(take))))

    async def _take_statement_now(self, message: NewMessage, at: datetime) -> TurnReply:
        logged, key = LoggedMessage(part=part_reply("off", SkipReason.NOT_ASKED)), message.key
        captured: CaptureState = "no"
        if message.is_answer:
            logged = await self.log.store_answer(key, message.text, at)
            if not logged.is_excluded:
                self.capture.note_answer(key, message.text)
                await self.uses.note_answer(key, message.text, at=self.clock().timestamp())
        if message.failure is not None and not await self.log.is_unremembered(key):
            captured = await self.capture.submit(message, at)
        return {**_reply(_without_recall(logged.part), logged), "capture": captured}

    async def _handle_event(self, message: NewMessage, reply: TurnReply) -> None:
        """Handle the event that comes with a message: the end of the session, or a summary of it."""
        kind = None if message.event is None else message.event.type
        if kind is MessageEventType.COMPACT:
            self.unasked.sessions.add_all(message.key)
        if kind is MessageEventType.COMPACT and reply["command"] is None:
            reply["command"], _ = await self.commands.compact(message.key)
        if kind is MessageEventType.END:
            reply["health"]["end"] = await self._end_session(message)

    async def _end_session(self, message: NewMessage) -> TurnPartReply:
        if not await self._can_read_log(message):
            return part_reply("failed", self.late.put(partial(self.sessions.end, message.key)))
        try:
            session = await self.sessions.end(message.key)
        except MemorydError as exc:
            return part_reply("failed", str(exc))
        return part_reply("off", "this session is not stored") if session is None else part_reply("ok")

    async def _store_in_time(self, message: NewMessage, at: datetime) -> tuple[LoggedMessage, TurnContext]:
        """Store a question; after the reply if the log cannot be read in time."""
        if not message.key or await self._can_read_log(message):
            return await self._store(message, at)
        late = part_reply("failed", self.late.put(partial(self._store_late, message, at)))
        return LoggedMessage(is_late=True, part=late), TurnContext(part=late)

    async def _store_late(self, message: NewMessage, at: datetime) -> None:
        logged, context = await self._store(message, at)
        if logged.part["state"] == "failed":
            log.warning("a message that came early is not kept", agent=self.agent.id, reason=logged.part["reason"])
        if await self._is_remembered(logged, message.key):
            await self._submit_capture(message, at, logged, context)

    async def _store(self, message: NewMessage, at: datetime) -> tuple[LoggedMessage, TurnContext]:
        # turns of a direct chat are not shown in a group
        is_shared = message.admitted.is_direct or self.agent.memory.core.in_groups
        # read the context first, so that it does not contain the message itself
        context = await self.log.context(message.key, message.text, at, is_shared=is_shared)
        logged = await self.log.store_question(message.key, message.text, at, is_timed=message.at is not None)
        return logged, beside(context, logged)


def _reply(
    health: dict[str, TurnPartReply], logged: LoggedMessage | None = None, context: TurnContext | None = None
) -> TurnReply:
    """Return the reply for a message; the caller measures its duration."""
    logged, context = logged or LoggedMessage(), context or TurnContext()
    return TurnReply(
        command=None,
        session=logged.session,
        seq=logged.seq,
        remembered=logged.seq is not None,
        bundle=None,
        etag=None,
        notModified=False,
        receipt=[],
        tokens=0,
        context=context.text,
        sequence=[turn_reply(context.session, turn) for turn in context.turns] if context.session else [],
        verdict=None,
        health=health,
        capture="no",
        tookMs=0,
    )


def _without_recall(logged: TurnPartReply) -> dict[str, TurnPartReply]:
    not_asked = part_reply("off", SkipReason.NOT_ASKED)
    return {"log": logged, "context": not_asked, "recall": not_asked}
