"""Forgetting a conversation of one agent: the plan of what goes, and doing it so that nothing can bring it back.

First the ledger notes what is to be forgotten, so that the next start finishes what a kill interrupted; from then on
the conversation is neither read nor shown. Of a session first its files go, the truth; then what is made of them:
rows, vectors and words, held answers, the memory of its end and its summaries. The note goes last, and stays while the
files cannot be reached or written.

A transcript belongs to another program and stays. The ledger notes for good that it is never to be read again; then
goes what was made of it and of its copies, and the sessions that took their turns.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

import structlog
from msgspec import Struct

from memoryd.agents.conversations.forgotten_places import ForgettingPlaces, Receipt, Removed, together
from memoryd.agents.conversations.qa_sessions import QaSessions
from memoryd.agents.conversations.session_memories import made_of
from memoryd.config.paths import state_dir
from memoryd.domain.citations import holds_turns, session_of, transcript_path, turns_path
from memoryd.domain.documents import RelativePath, SessionId
from memoryd.domain.sessions.taking_turns import place_of, transcript_session
from memoryd.domain.sessions.turns import Session
from memoryd.errors import Denied, MemorydError, NotFound, StoreError, StoreUnavailable
from memoryd.memory.book import MemoryBook
from memoryd.memory.forgetting.forgetting import MemoryForgetting
from memoryd.memory.forgetting.planning import drop_remembered_texts
from memoryd.moving.replacing import kept_folder
from memoryd.sessions.excluded import WithheldConversations
from memoryd.store.ledger.ledger import Ledger

log = structlog.get_logger(__name__)

RETRY_SECONDS: Final = 10.0
FOLLOW_SECONDS: Final = 10.0
_LEFT: Final = "a memory that was made of it may be left, which `memoryctl forget` takes out"


class AlikeTranscripts(Struct, frozen=True):
    """Transcripts that begin as another one: its copies, and `forks`, which go on otherwise."""

    copies: tuple[RelativePath, ...] = ()
    forks: tuple[RelativePath, ...] = ()


class TranscriptsOnDisk(Protocol):
    """The transcripts of one agent, as they lie on disk now."""

    def file_of(self, path: RelativePath) -> Awaitable[Path | None]:
        """Return where one lies, None if it does not."""
        ...

    def alike(self, path: RelativePath, file: Path | None) -> Awaitable[AlikeTranscripts]:
        """Return those that begin as one that lies at `file`, or did; raises StoreUnavailable."""
        ...


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


class PlanningForgetting:
    """Says for one agent what goes."""

    def __init__(self, agent: str, qa: QaSessions, transcripts: TranscriptsOnDisk) -> None:
        self._agent = agent
        self._qa = qa
        self._transcripts = transcripts

    async def plan(self, path: RelativePath) -> ForgettingPlan:
        """Return what goes with a conversation; raises StoreError."""
        path = await self._whole(path)
        if holds_turns(path):
            return ForgettingPlan(path=path, sessions=(path,))
        file = await self._transcripts.file_of(path)
        alike = await self._transcripts.alike(path, file)
        transcripts = (path, *alike.copies)
        taken = [self.taken(one) for one in transcripts]
        sessions = tuple([one for one in taken if await self._qa.knows(session_of(one))])
        return ForgettingPlan(path=path, file=file, transcripts=transcripts, sessions=sessions, forks=alike.forks)

    def taken(self, path: RelativePath) -> RelativePath:
        """Return the session that turns of a transcript are taken into, be there one or not."""
        return turns_path(transcript_session(self._agent, path.rpartition("/")[2]))

    async def _whole(self, path: RelativePath) -> RelativePath:
        """Return the transcript whose turns a session holds, from which they would come back; else the path itself."""
        session = await self._readable(session_of(path)) if holds_turns(path) else None
        place = None if session is None else place_of(session)
        if session is None or place is None or transcript_session(self._agent, place.file) != session.id:
            return path
        return transcript_path(self._agent, place.file)

    async def _readable(self, session: SessionId) -> Session | None:
        try:
            return await self._qa.find(session)
        except StoreUnavailable:
            raise
        except StoreError:
            # damaged: it goes all the same
            return None


class ForgettingReach:
    """What the forgetting of conversations of one agent reaches; nothing is changed here."""

    def __init__(self, agent: str, places: ForgettingPlaces, planning: PlanningForgetting, *, ledger: Ledger) -> None:
        self._agent = agent
        self._places = places
        self._ledger = ledger
        self.plan = planning.plan
        self.taken = planning.taken

    async def would_forget(self, path: RelativePath) -> Receipt:
        """Say what forgetting would remove; raises StoreError."""
        plan = await self.plan(path)
        receipt = Receipt(plan.path, conversations=plan.conversations, stays=await self.stays(plan))
        for one in plan.conversations:
            receipt = receipt.with_more(await self._count(one), await self.remarks(one))
        return receipt

    async def _count(self, path: RelativePath) -> Removed:
        rows = await self._places.index.holds(path)
        if not holds_turns(path):
            return Removed(rows=rows, exports=await self._places.exports.holds(path))
        known = await self._places.qa.known(session_of(path))
        held = await self._ledger.held_of_session(self._agent, session_of(path))
        return Removed(known.files, known.turns, known.answers, rows, held)

    async def remarks(self, path: RelativePath) -> tuple[str, ...]:
        """Say of a conversation that cannot be read that it goes all the same."""
        problem = (await self._places.qa.known(session_of(path))).problem if holds_turns(path) else ""
        return (f"{path} cannot be read, and goes as it is: {problem}",) if problem else ()

    async def has_rows(self, path: RelativePath) -> bool:
        """Tell whether the index has anything of a conversation."""
        return await self._places.index.holds(path) > 0

    async def stays(self, plan: ForgettingPlan) -> tuple[str, ...]:
        """Say in sentences what is out of reach."""
        return await asyncio.to_thread(self._out_of_reach, plan)

    def _out_of_reach(self, plan: ForgettingPlan) -> tuple[str, ...]:
        told: list[str] = []
        if plan.file is not None and plan.file.exists():
            told.append(f"the transcript itself, which is another program's: {plan.file}; it is not read again")
        elif plan.sessions and _is_in_git(self._places.workspace):
            told.append(f"the history of git, if {self._places.workspace} was committed with it")
        told += [f"{path}, which begins as it does and goes on otherwise: another conversation" for path in plan.forks]
        told += [
            f"a damaged ledger that was set aside: {path}; look at it, then delete it"
            for path in self._ledger.set_aside
        ]
        if (folder := kept_folder(state_dir())) is not None:
            told.append(f"what `memoryctl restore` replaced: {folder}; delete it once all is well")
        return (*told, "backups and snapshots of the disk")


def _is_in_git(workspace: Path) -> bool:
    return any((folder / ".git").exists() for folder in (workspace, *workspace.parents))


class Forgetting:
    """Forgets conversations of one agent, one at a time."""

    def __init__(
        self,
        agent: str,
        places: ForgettingPlaces,
        *,
        ledger: Ledger,
        withheld: WithheldConversations,
        reach: ForgettingReach,
    ) -> None:
        self._agent = agent
        self._places = places
        self._ledger = ledger
        self._withheld = withheld
        self._reach = reach
        self._one_at_a_time = asyncio.Lock()
        self.trouble = ""
        """Why what a kill ended is not finished yet; empty if it is."""

    async def forget(self, path: RelativePath) -> Receipt:
        """Forget a conversation; raises Disabled, Denied, StoreError.

        What cannot go now is told in the receipt, and goes as soon as it can.
        """
        if holds_turns(path):
            self._places.qa.check_writable()
        async with self._one_at_a_time:
            plan = await self._reach.plan(path)
            receipt = Receipt(plan.path, conversations=plan.conversations)
            await self._note(plan)
            if plan.transcripts and (late := await self._late(plan)).conversations:
                # indexed between the plan and the note
                await self._note(late)
                receipt = receipt.naming(late.conversations)
            for one in receipt.conversations:
                receipt = await self._forgotten(receipt, one)
            drop_remembered_texts()
        log.info("a conversation was forgotten", agent=self._agent, finished=not receipt.unfinished)
        return receipt.with_stays(await self._reach.stays(plan))

    async def _note(self, plan: ForgettingPlan) -> None:
        for path in plan.transcripts:
            # a copy by its name alone: one that goes on from less of it may be another conversation
            file = plan.file if path == plan.path else None
            await self._withheld.withhold_transcript(path, file, is_forgotten=True)
        for path in plan.conversations:
            await self._withheld.begin_forgetting(path)

    async def _late(self, plan: ForgettingPlan) -> ForgettingPlan:
        """Return what has come since the plan was made."""
        now = await self._reach.plan(plan.path)
        known = set(plan.conversations)
        return ForgettingPlan(
            path=plan.path,
            transcripts=tuple(one for one in now.transcripts if one not in known),
            sessions=tuple(one for one in now.sessions if one not in known),
        )

    async def _forgotten(self, receipt: Receipt, path: RelativePath) -> Receipt:
        """Forget what is noted, and return the receipt with what went."""
        if not holds_turns(path):
            return receipt.with_more(await self._forget_remains(path))
        remarks = await self._reach.remarks(path)
        try:
            gone = await self._places.qa.forget(session_of(path))
        except NotFound:
            return receipt.with_more(await self._forget_remains(path))
        except (Denied, StoreUnavailable) as exc:
            made = await self._forget_made(path)
            return receipt.with_unfinished(made, f"{path}: its file goes as soon as it can: {exc}")
        files = Removed(files=gone.files, turns=gone.turns, answers=gone.answers)
        return receipt.with_more(together(files, await self._forget_remains(path)), remarks)

    async def forget_made(self, path: RelativePath) -> int:
        """Remove what was made of what is not to be remembered; return how many parts the index had of it."""
        async with self._one_at_a_time:
            return await self._forget_indexed(path)

    async def release(self, path: RelativePath) -> None:
        """Have a transcript be read again, and what was taken from it be told; raises StoreError, Denied."""
        taken = self._reach.taken(path)
        if await self._places.qa.knows(session_of(taken)):
            await self._places.qa.set_remembered(session_of(taken), True)
        await self._places.exports.release(path)
        # last: whoever follows the transcripts looks at all of them again now
        await self._withheld.release_transcript(path)

    async def mark(self, path: RelativePath) -> int:
        """Have a transcript not be remembered; return how many parts left the index. Raises StoreError, Denied."""
        taken = self._reach.taken(path)
        is_taken = await self._places.qa.knows(session_of(taken))
        if is_taken:
            self._places.qa.check_writable()
        await self._withheld.withhold_transcript(path, None, is_forgotten=False)
        rows = await self.forget_made(path)
        if is_taken:
            await self._places.qa.set_remembered(session_of(taken), False)
            rows += await self.forget_made(taken)
        return rows

    async def finish(self) -> None:
        """End what a kill ended, or could not be ended; raises StoreError, Denied, OSError for the last that fails."""
        failure: MemorydError | OSError | None = None
        async with self._one_at_a_time:
            for one in self._withheld.unfinished():
                try:
                    await self._finish(RelativePath(one.name), datetime.fromtimestamp(one.since, UTC))
                except (MemorydError, OSError) as exc:
                    failure = exc
        if failure is not None:
            raise failure

    async def _finish(self, path: RelativePath, asked_at: datetime) -> None:
        try:
            if holds_turns(path):
                await self._places.qa.finish_forgetting(session_of(path), asked_at)
        except (MemorydError, OSError):
            if await self._places.index.holds(path):
                await self._forget_made(path)
            raise
        await self._forget_remains(path)

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """End what a kill ended, as soon as that can be done."""
        while True:
            try:
                await self._withheld.load()
                await self.finish()
            except (MemorydError, OSError) as exc:
                is_pending = self._withheld.is_known and self._withheld.unfinished()
                self.trouble = f"the forgetting of a conversation is not finished: {exc}" if is_pending else ""
            else:
                self.trouble = ""
            await asyncio.sleep(retry_seconds)

    async def _forget_remains(self, path: RelativePath) -> Removed:
        made = await self._forget_made(path)
        await self._withheld.end_forgetting(path)
        return made

    async def _forget_made(self, path: RelativePath) -> Removed:
        rows = await self._forget_indexed(path)
        if not holds_turns(path):
            return Removed(rows=rows, exports=await self._places.exports.forget(path))
        # after the files: who adds an answer to a session that is gone takes it back
        return Removed(rows=rows, held_answers=await self._ledger.forget_session(self._agent, session_of(path)))

    async def _forget_indexed(self, path: RelativePath) -> int:
        return await self._places.index.forget(path)


class MemoriesOfSessions(Struct, frozen=True, kw_only=True):
    """The memories that were made of the sessions of one workspace. `follow` has the index hold what is on disk."""

    book: MemoryBook
    forgetting: MemoryForgetting
    follow: Callable[[], Awaitable[object]]

    async def would_forget(self, session: SessionId) -> tuple[str, ...]:
        """Say what would go with a session; raises StoreError."""
        return _render_memories(len(made_of(await self.book.now(), session)), "goes")

    async def forget(self, session: SessionId) -> tuple[str, ...]:
        """Forget what was made of a session, and say so; what is in the way is said, too."""
        try:
            # what was made a moment ago, too; a disk that is away must not hold the conversation back
            async with asyncio.timeout(FOLLOW_SECONDS):
                await self.follow()
        except TimeoutError:
            return (f"{_LEFT}: its notes are not read yet",)
        try:
            found = made_of(await self.book.now(), session)
            for memory in found:
                await self.forgetting.forget(memory)
        except MemorydError as exc:
            return (f"{_LEFT}: {exc}",)
        return _render_memories(len(found), "went")


def _render_memories(count: int, verb: str) -> tuple[str, ...]:
    made = "1 memory that was made of it" if count == 1 else f"{count} memories that were made of it"
    return (f"{made} {verb} with it",) if count else ()
