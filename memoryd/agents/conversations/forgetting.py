"""Forgetting a conversation of one agent: planning what is removed, and removing it so that it cannot come back.

First the ledger records what is to be forgotten, so that the next start finishes an interrupted removal; from then on
the conversation is neither read nor shown. For a session its files are removed first, since they are the source of
truth; then everything derived from them: rows, vectors and words, pending answers, the memory of its end and its
summaries. The record in the ledger is removed last, and stays while the files cannot be reached or written.

A transcript belongs to another program and is not deleted. The ledger records permanently that it must never be read
again. Then everything derived from it and from its copies is removed, and the sessions that took over their turns.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import structlog
from msgspec import Struct, field

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.conversations.listing import ConversationList, QaSessions
from memoryd.agents.conversations.session_memories import memories_of_session
from memoryd.config.agents import Agent
from memoryd.config.paths import state_dir
from memoryd.domain.documents import RelativePath, SessionId, is_turns_path, session_of, transcript_path, turns_path
from memoryd.domain.sessions.making_turns import place_of, transcript_session
from memoryd.errors import Denied, MemorydError, NotFound, StoreError, StoreUnavailable
from memoryd.memory.book import MemoryCache
from memoryd.memory.forgetting.forgetting import MemoryForgetting
from memoryd.memory.forgetting.planning import copies_left, drop_remembered_texts, is_in_git
from memoryd.moving.replacing import replaced_folder
from memoryd.qmd.agent import AgentQmd
from memoryd.replies.conversations import SessionForgetReply
from memoryd.sessions.qa_store import ForgottenFiles
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.turns import drop_cited

log = structlog.get_logger(__name__)

RETRY_SECONDS = 10.0
FOLLOW_SECONDS = 10.0
_LEFT = "a memory that was made of it may be left, which `memoryctl forget` takes out"


class ForgettingPlan(Struct, frozen=True, kw_only=True):
    """What is removed with the conversation `path`. A transcript may lie at `file`, and have copies.

    `sessions` are sessions of turns; for a `path` that is no transcript, the only one is `path` itself.
    """

    path: RelativePath
    file: Path | None = None
    transcripts: tuple[RelativePath, ...] = ()
    sessions: tuple[RelativePath, ...] = ()
    forks: tuple[RelativePath, ...] = ()

    @property
    def conversations(self) -> tuple[RelativePath, ...]:
        """All conversations to remove."""
        return (*self.transcripts, *self.sessions)


def _render_memories(count: int, verb: str) -> tuple[str, ...]:
    made = "1 memory that was made of it" if count == 1 else f"{count} memories that were made of it"
    return (f"{made} {verb} with it",) if count else ()


class Forgetting(Struct, kw_only=True, eq=False):
    """Forgets conversations of one agent, one at a time. `qmd` may have exports of its transcripts.

    The memories that were made of a session are forgotten with it, by `forgetting`.
    """

    agent: Agent
    qa: QaSessions
    index: AgentConversations
    listing: ConversationList
    ledgers: Sequence[Ledger]
    """The agent's ledger, and its previous ledger if there is one."""
    book: MemoryCache
    forgetting: MemoryForgetting
    follow: Callable[[float], Awaitable[bool]]
    """Makes the index of notes read the disk within the given seconds; returns whether it did."""
    qmd: AgentQmd | None = None
    trouble: str = ""
    """Why an interrupted removal is not finished yet; empty if none is pending."""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def would_forget(self, path: RelativePath) -> SessionForgetReply:
        """Return what forgetting would remove. Raises StoreError."""
        plan = await self._plan(path)
        receipt = _receipt(plan)
        for conversation in plan.conversations:
            receipt["rows"] += await self.index.parts(conversation)
            if is_turns_path(conversation):
                session = session_of(conversation)
                files, problem = await self.qa.count_files(session)
                _count(receipt, files, _remarks(conversation, problem))
                for ledger in self.ledgers:
                    receipt["heldAnswers"] += await ledger.pending_of_session(self.agent.id, session)
            else:
                receipt["exports"] += self._exports(conversation)
        if is_turns_path(path):
            made = memories_of_session((await self.book.complete()).own, session_of(path))
            receipt["remarks"] += _render_memories(len(made), "goes")
        receipt["stays"] = await asyncio.to_thread(self._what_stays, plan)
        return receipt

    async def forget(self, path: RelativePath) -> SessionForgetReply:
        """Forget a conversation. Raises Disabled, Denied, StoreError.

        What cannot be removed now is listed in the receipt, and removed as soon as possible.
        """
        # before the conversation: without it the memories left by a kill could not be found
        made = await self._forget_memories(session_of(path)) if is_turns_path(path) else ()
        if is_turns_path(path):
            self.qa.check_writable()
        async with self._lock:
            plan = await self._plan(path)
            receipt = _receipt(plan)
            await self._record(plan)
            # conversations that were indexed between the plan and its record
            late = await self._late_additions(plan) if plan.transcripts else ForgettingPlan(path=plan.path)
            await self._record(late)
            receipt["conversations"] += late.conversations
            for conversation in (*plan.conversations, *late.conversations):
                await self._forget_recorded(receipt, conversation)
            drop_remembered_texts()
        receipt["forgotten"] = not receipt["unfinished"]
        log.info("a conversation was forgotten", agent=self.agent.id, finished=receipt["forgotten"])
        receipt["remarks"] += made
        receipt["stays"] = await asyncio.to_thread(self._what_stays, plan)
        return receipt

    async def _forget_memories(self, session: SessionId) -> tuple[str, ...]:
        """Forget the memories that were made of a session; return sentences that say so, or why not."""
        # memories made a moment ago count, too; a disk that is away must not block the removal of the conversation
        if not await self.follow(FOLLOW_SECONDS):
            return (f"{_LEFT}: its notes are not read yet",)
        try:
            memories = memories_of_session((await self.book.complete()).own, session)
            for memory in memories:
                await self.forgetting.forget(memory)
        except MemorydError as exc:
            return (f"{_LEFT}: {exc}",)
        return _render_memories(len(memories), "went")

    async def remove_derived(self, path: RelativePath) -> int:
        """Remove what was derived from an excluded conversation; return how many parts the index had of it."""
        async with self._lock:
            return await self.index.purge(path)

    async def release(self, path: RelativePath) -> None:
        """Let a transcript be read again, and what was taken from it be returned. Raises StoreError, Denied."""
        taken = session_of(self._session_path(path))
        if await self.qa.knows(taken):
            await self.qa.set_remembered(taken, True)
        if self.qmd is not None:
            self.qmd.remember_transcript(_file_name(path))
        # last: this makes the reader of the transcripts scan all of them again
        await self.index.withheld.release_transcript(path)

    async def mark(self, path: RelativePath) -> int:
        """Exclude a transcript from being remembered; return how many parts left the index.

        Raises StoreError, Denied.
        """
        taken = self._session_path(path)
        is_taken = await self.qa.knows(session_of(taken))
        if is_taken:
            self.qa.check_writable()
        await self.index.withheld.withhold_transcript(path, None, is_forgotten=False)
        rows = await self.remove_derived(path)
        if is_taken:
            await self.qa.set_remembered(session_of(taken), False)
            rows += await self.remove_derived(taken)
        return rows

    async def finish(self) -> None:
        """Finish interrupted or blocked removals. Raises the last StoreError, Denied or OSError that occurred."""
        failure: MemorydError | OSError | None = None
        async with self._lock:
            for pending in self.index.withheld.unfinished():
                try:
                    await self._finish(RelativePath(pending.name), datetime.fromtimestamp(pending.since, UTC))
                except (MemorydError, OSError) as exc:
                    failure = exc
        if failure is not None:
            raise failure

    async def _finish(self, path: RelativePath, requested_at: datetime) -> None:
        receipt = _receipt(ForgettingPlan(path=path))
        try:
            if is_turns_path(path):
                await self.qa.finish_forgetting(session_of(path), requested_at)
        except (MemorydError, OSError):
            if await self.index.parts(path):
                await self._remove_derived(receipt, path)
            raise
        await self._remove_derived(receipt, path)
        await self.index.withheld.end_forgetting(path)

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """Finish interrupted removals as soon as possible, until cancelled."""
        withheld = self.index.withheld
        while True:
            try:
                await withheld.load()
                await self.finish()
            except (MemorydError, OSError) as exc:
                is_pending = withheld.is_known and withheld.unfinished()
                self.trouble = f"the forgetting of a conversation is not finished: {exc}" if is_pending else ""
            else:
                self.trouble = ""
            await asyncio.sleep(retry_seconds)

    async def _plan(self, path: RelativePath) -> ForgettingPlan:
        """Return what is removed with a conversation. Raises StoreError."""
        path = await self._source_of(path)
        if is_turns_path(path):
            return ForgettingPlan(path=path, sessions=(path,))
        file = await self.listing.file_of(path)
        copies, forks = await self.listing.copies_and_forks(path, file)
        transcripts = (path, *copies)
        taken = [self._session_path(transcript) for transcript in transcripts]
        sessions = tuple([session for session in taken if await self.qa.knows(session_of(session))])
        return ForgettingPlan(path=path, file=file, transcripts=transcripts, sessions=sessions, forks=tuple(forks))

    def _session_path(self, path: RelativePath) -> RelativePath:
        """Return the path of the session that takes the turns of a transcript; the session may not exist."""
        return turns_path(transcript_session(self.agent.id, _file_name(path)))

    async def _source_of(self, path: RelativePath) -> RelativePath:
        """Return the transcript from which the turns of a session would come back; without one, return `path`."""
        if not is_turns_path(path):
            return path
        try:
            session = await self.qa.find(session_of(path))
        except StoreUnavailable:
            raise
        except StoreError:
            # a damaged session is forgotten all the same
            return path
        place = None if session is None else place_of(session)
        if session is None or place is None or transcript_session(self.agent.id, place.file) != session.id:
            return path
        return transcript_path(self.agent.id, place.file)

    async def _record(self, plan: ForgettingPlan) -> None:
        for path in plan.transcripts:
            # a copy by its name alone: a shorter copy that continues differently may be another conversation
            file = plan.file if path == plan.path else None
            await self.index.withheld.withhold_transcript(path, file, is_forgotten=True)
        for path in plan.conversations:
            await self.index.withheld.begin_forgetting(path)

    async def _late_additions(self, plan: ForgettingPlan) -> ForgettingPlan:
        """Return the conversations that were added since the plan was made."""
        now = await self._plan(plan.path)
        known = set(plan.conversations)
        return ForgettingPlan(
            path=plan.path,
            transcripts=tuple(path for path in now.transcripts if path not in known),
            sessions=tuple(path for path in now.sessions if path not in known),
        )

    async def _forget_recorded(self, receipt: SessionForgetReply, path: RelativePath) -> None:
        """Forget a conversation that is recorded in the ledger, and count what was removed."""
        if is_turns_path(path):
            _, problem = await self.qa.count_files(session_of(path))
            try:
                with contextlib.suppress(NotFound):
                    _count(receipt, await self.qa.forget(session_of(path)), _remarks(path, problem))
            except (Denied, StoreUnavailable) as exc:
                await self._remove_derived(receipt, path)
                receipt["unfinished"].append(f"{path}: its file goes as soon as it can: {exc}")
                return
        await self._remove_derived(receipt, path)
        await self.index.withheld.end_forgetting(path)

    async def _remove_derived(self, receipt: SessionForgetReply, path: RelativePath) -> None:
        receipt["rows"] += await self.index.purge(path)
        for ledger in self.ledgers:
            await drop_cited(ledger, self.agent.id, path)
        if is_turns_path(path):
            # after the files: a writer that adds an answer to a deleted session takes it back itself
            for ledger in self.ledgers:
                receipt["heldAnswers"] += await ledger.forget_session(self.agent.id, session_of(path))
        elif self.qmd is not None:
            receipt["exports"] += self._exports(path)
            # a later removal by qmd is reported nowhere
            await self.qmd.forget_transcript(_file_name(path))

    def _exports(self, path: RelativePath) -> int:
        return int(self.qmd is not None and self.qmd.has_export(_file_name(path)))

    def _what_stays(self, plan: ForgettingPlan) -> list[str]:
        """Return sentences on what remains."""
        workspace, remains = self.agent.workspace, list[str]()
        if plan.file is not None and plan.file.exists():
            remains.append(f"the transcript itself, which is another program's: {plan.file}; it is not read again")
        elif plan.sessions and is_in_git(workspace):
            remains.append(f"the history of git, if {workspace} was committed with it")
        remains += [
            f"{path}, which begins as it does and goes on otherwise: another conversation" for path in plan.forks
        ]
        set_aside = [path for ledger in self.ledgers for path in ledger.set_aside]
        return [*remains, *copies_left(set_aside, replaced_folder(state_dir())), "backups and snapshots of the disk"]


def _file_name(path: RelativePath) -> str:
    return path.rpartition("/")[2]


def _receipt(plan: ForgettingPlan) -> SessionForgetReply:
    """Return the empty receipt of a plan."""
    return SessionForgetReply(
        id=plan.path,
        kind="qa" if is_turns_path(plan.path) else "transcript",
        conversations=[*plan.conversations],
        forgotten=False,
        files=0,
        turns=0,
        answers=0,
        rows=0,
        heldAnswers=0,
        exports=0,
        remarks=[],
        unfinished=[],
        stays=[],
    )


def _count(receipt: SessionForgetReply, files: ForgottenFiles, remarks: Sequence[str]) -> None:
    receipt["files"] += files.files
    receipt["turns"] += files.turns
    receipt["answers"] += files.answers
    receipt["remarks"] += remarks


def _remarks(path: RelativePath, problem: str) -> Sequence[str]:
    """Return the remark that an unreadable session is forgotten all the same."""
    return [f"{path} cannot be read, and goes as it is: {problem}"] if problem else []
