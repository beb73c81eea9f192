"""Forgetting a conversation of one agent: the plan of what goes, and doing it so that nothing can bring it back.

First the ledger notes what is to be forgotten, so that the next start finishes what a kill interrupted; from then on
the conversation is neither read nor shown. Of a session first its files go, the truth; then what is made of them:
rows, vectors and words, held answers, the memory of its end and its summaries. The note goes last, and stays while the
files cannot be reached or written.

A transcript belongs to another program and stays. The ledger notes for good that it is never to be read again; then
goes what was made of it and of its copies, and the sessions that took their turns.
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
from memoryd.agents.conversations.session_memories import made_of
from memoryd.config.agents import Agent
from memoryd.config.paths import state_dir
from memoryd.domain.documents import RelativePath, SessionId, holds_turns, session_of, transcript_path, turns_path
from memoryd.domain.sessions.taking_turns import place_of, transcript_session
from memoryd.errors import Denied, MemorydError, NotFound, StoreError, StoreUnavailable
from memoryd.memory.book import MemoryCache
from memoryd.memory.forgetting.forgetting import MemoryForgetting
from memoryd.memory.forgetting.planning import drop_remembered_texts
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
    """What goes with the conversation `path`; a transcript may lie at `file`, and be copied by others.

    `sessions` are those of turns, which is one for `path` itself if it is none of a transcript.
    """

    path: RelativePath
    file: Path | None = None
    transcripts: tuple[RelativePath, ...] = ()
    sessions: tuple[RelativePath, ...] = ()
    forks: tuple[RelativePath, ...] = ()

    @property
    def conversations(self) -> tuple[RelativePath, ...]:
        """All that goes."""
        return (*self.transcripts, *self.sessions)


def _render_memories(count: int, verb: str) -> tuple[str, ...]:
    made = "1 memory that was made of it" if count == 1 else f"{count} memories that were made of it"
    return (f"{made} {verb} with it",) if count else ()


class Forgetting(Struct, kw_only=True, eq=False):
    """Forgets conversations of one agent, one at a time. `qmd` may have exports of its transcripts.

    With a session go the memories that were made of it, which `forgetting` forgets.
    """

    agent: Agent
    qa: QaSessions
    index: AgentConversations
    listing: ConversationList
    ledger: Ledger
    book: MemoryCache
    forgetting: MemoryForgetting
    follow: Callable[[float], Awaitable[bool]]
    """Has the index of notes read what is on disk within these seconds; tells whether it did."""
    qmd: AgentQmd | None = None
    trouble: str = ""
    """Why what a kill ended is not finished yet; empty if it is."""
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def would_forget(self, path: RelativePath) -> SessionForgetReply:
        """Say what forgetting would remove; raises StoreError."""
        plan = await self._plan(path)
        receipt = _receipt(plan)
        for one in plan.conversations:
            receipt["rows"] += await self.index.parts(one)
            if holds_turns(one):
                known, problem = await self.qa.known(session_of(one))
                _count(receipt, known, _remarks(one, problem))
                receipt["heldAnswers"] += await self.ledger.pending_of_session(self.agent.id, session_of(one))
            else:
                receipt["exports"] += self._exports(one)
        if holds_turns(path):
            made = made_of((await self.book.whole()).own, session_of(path))
            receipt["remarks"] += _render_memories(len(made), "goes")
        receipt["stays"] = await asyncio.to_thread(self._what_stays, plan)
        return receipt

    async def forget(self, path: RelativePath) -> SessionForgetReply:
        """Forget a conversation; raises Disabled, Denied, StoreError.

        What cannot go now is told in the receipt, and goes as soon as it can.
        """
        # before the conversation: after it nobody would know what a kill left
        made = await self._forget_memories(session_of(path)) if holds_turns(path) else ()
        if holds_turns(path):
            self.qa.check_writable()
        async with self._one_at_a_time:
            plan = await self._plan(path)
            receipt = _receipt(plan)
            await self._note(plan)
            # indexed between the plan and the note
            late = await self._late(plan) if plan.transcripts else ForgettingPlan(path=plan.path)
            await self._note(late)
            receipt["conversations"] += late.conversations
            for one in (*plan.conversations, *late.conversations):
                await self._forget_noted(receipt, one)
            drop_remembered_texts()
        receipt["forgotten"] = not receipt["unfinished"]
        log.info("a conversation was forgotten", agent=self.agent.id, finished=receipt["forgotten"])
        receipt["remarks"] += made
        receipt["stays"] = await asyncio.to_thread(self._what_stays, plan)
        return receipt

    async def _forget_memories(self, session: SessionId) -> tuple[str, ...]:
        """Forget the memories that were made of a session, and say so; what is in the way is said, too."""
        # what was made a moment ago, too; a disk that is away must not hold the conversation back
        if not await self.follow(FOLLOW_SECONDS):
            return (f"{_LEFT}: its notes are not read yet",)
        try:
            memories = made_of((await self.book.whole()).own, session)
            for memory in memories:
                await self.forgetting.forget(memory)
        except MemorydError as exc:
            return (f"{_LEFT}: {exc}",)
        return _render_memories(len(memories), "went")

    async def forget_made(self, path: RelativePath) -> int:
        """Remove what was made of what is not to be remembered; return how many parts the index had of it."""
        async with self._one_at_a_time:
            return await self.index.purge(path)

    async def release(self, path: RelativePath) -> None:
        """Have a transcript be read again, and what was taken from it be told; raises StoreError, Denied."""
        taken = session_of(self._taken(path))
        if await self.qa.knows(taken):
            await self.qa.set_remembered(taken, True)
        if self.qmd is not None:
            self.qmd.remember_transcript(_file_name(path))
        # last: whoever follows the transcripts looks at all of them again now
        await self.index.withheld.release_transcript(path)

    async def mark(self, path: RelativePath) -> int:
        """Have a transcript not be remembered; return how many parts left the index. Raises StoreError, Denied."""
        taken = self._taken(path)
        is_taken = await self.qa.knows(session_of(taken))
        if is_taken:
            self.qa.check_writable()
        await self.index.withheld.withhold_transcript(path, None, is_forgotten=False)
        rows = await self.forget_made(path)
        if is_taken:
            await self.qa.set_remembered(session_of(taken), False)
            rows += await self.forget_made(taken)
        return rows

    async def finish(self) -> None:
        """End what a kill ended, or could not be ended; raises StoreError, Denied, OSError for the last that fails."""
        failure: MemorydError | OSError | None = None
        async with self._one_at_a_time:
            for one in self.index.withheld.unfinished():
                try:
                    await self._finish(RelativePath(one.name), datetime.fromtimestamp(one.since, UTC))
                except (MemorydError, OSError) as exc:
                    failure = exc
        if failure is not None:
            raise failure

    async def _finish(self, path: RelativePath, asked_at: datetime) -> None:
        receipt = _receipt(ForgettingPlan(path=path))
        try:
            if holds_turns(path):
                await self.qa.finish_forgetting(session_of(path), asked_at)
        except (MemorydError, OSError):
            if await self.index.parts(path):
                await self._forget_made(receipt, path)
            raise
        await self._forget_made(receipt, path)
        await self.index.withheld.end_forgetting(path)

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """End what a kill ended, as soon as that can be done."""
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
        """Return what goes with a conversation; raises StoreError."""
        path = await self._whole(path)
        if holds_turns(path):
            return ForgettingPlan(path=path, sessions=(path,))
        file = await self.listing.file_of(path)
        copies, forks = await self.listing.alike(path, file)
        transcripts = (path, *copies)
        taken = [self._taken(one) for one in transcripts]
        sessions = tuple([one for one in taken if await self.qa.knows(session_of(one))])
        return ForgettingPlan(path=path, file=file, transcripts=transcripts, sessions=sessions, forks=tuple(forks))

    def _taken(self, path: RelativePath) -> RelativePath:
        """Return the session that turns of a transcript are taken into, be there one or not."""
        return turns_path(transcript_session(self.agent.id, _file_name(path)))

    async def _whole(self, path: RelativePath) -> RelativePath:
        """Return the transcript whose turns a session holds, from which they would come back; else the path itself."""
        if not holds_turns(path):
            return path
        try:
            session = await self.qa.find(session_of(path))
        except StoreUnavailable:
            raise
        except StoreError:
            # damaged: it goes all the same
            return path
        place = None if session is None else place_of(session)
        if session is None or place is None or transcript_session(self.agent.id, place.file) != session.id:
            return path
        return transcript_path(self.agent.id, place.file)

    async def _note(self, plan: ForgettingPlan) -> None:
        for path in plan.transcripts:
            # a copy by its name alone: one that goes on from less of it may be another conversation
            file = plan.file if path == plan.path else None
            await self.index.withheld.withhold_transcript(path, file, is_forgotten=True)
        for path in plan.conversations:
            await self.index.withheld.begin_forgetting(path)

    async def _late(self, plan: ForgettingPlan) -> ForgettingPlan:
        """Return what has come since the plan was made."""
        now = await self._plan(plan.path)
        known = set(plan.conversations)
        return ForgettingPlan(
            path=plan.path,
            transcripts=tuple(one for one in now.transcripts if one not in known),
            sessions=tuple(one for one in now.sessions if one not in known),
        )

    async def _forget_noted(self, receipt: SessionForgetReply, path: RelativePath) -> None:
        """Forget what is noted, and count what went."""
        if holds_turns(path):
            _, problem = await self.qa.known(session_of(path))
            try:
                with contextlib.suppress(NotFound):
                    _count(receipt, await self.qa.forget(session_of(path)), _remarks(path, problem))
            except (Denied, StoreUnavailable) as exc:
                await self._forget_made(receipt, path)
                receipt["unfinished"].append(f"{path}: its file goes as soon as it can: {exc}")
                return
        await self._forget_made(receipt, path)
        await self.index.withheld.end_forgetting(path)

    async def _forget_made(self, receipt: SessionForgetReply, path: RelativePath) -> None:
        receipt["rows"] += await self.index.purge(path)
        await drop_cited(self.ledger, self.agent.id, path)
        if holds_turns(path):
            # after the files: who adds an answer to a session that is gone takes it back
            receipt["heldAnswers"] += await self.ledger.forget_session(self.agent.id, session_of(path))
        elif self.qmd is not None:
            receipt["exports"] += self._exports(path)
            # one that qmd forgets later is told by nobody
            await self.qmd.forget_transcript(_file_name(path))

    def _exports(self, path: RelativePath) -> int:
        return int(self.qmd is not None and self.qmd.has_export(_file_name(path)))

    def _what_stays(self, plan: ForgettingPlan) -> list[str]:
        """Say in sentences what stays."""
        workspace, told = self.agent.workspace, list[str]()
        if plan.file is not None and plan.file.exists():
            told.append(f"the transcript itself, which is another program's: {plan.file}; it is not read again")
        elif plan.sessions and any((folder / ".git").exists() for folder in (workspace, *workspace.parents)):
            told.append(f"the history of git, if {workspace} was committed with it")
        told += [f"{path}, which begins as it does and goes on otherwise: another conversation" for path in plan.forks]
        told += [
            f"a damaged ledger that was set aside: {path}; look at it, then delete it" for path in self.ledger.set_aside
        ]
        if (folder := replaced_folder(state_dir())) is not None:
            told.append(f"what `memoryctl restore` replaced: {folder}; delete it once all is well")
        return [*told, "backups and snapshots of the disk"]


def _file_name(path: RelativePath) -> str:
    return path.rpartition("/")[2]


def _receipt(plan: ForgettingPlan) -> SessionForgetReply:
    """Return the receipt of what goes with a plan, before anything has gone."""
    return SessionForgetReply(
        id=plan.path,
        kind="qa" if holds_turns(plan.path) else "transcript",
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
    """Say of a session that cannot be read that it goes all the same."""
    return [f"{path} cannot be read, and goes as it is: {problem}"] if problem else []
