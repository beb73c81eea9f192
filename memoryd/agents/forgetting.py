"""Take a conversation of one agent out of everything, in an order in which nothing can bring it back.

A session: first it is noted in the ledger that it is to be forgotten, so that the next start ends what a kill ended.
Then go its files, the truth; then what is made of them: rows, vectors and words, held answers. The note goes last.

A transcript belongs to another program and stays. First it is noted in the ledger, for good, that it is never to be
read again, which counts from that moment on for everything that reads; then goes what was made of it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

import structlog

from memoryd.agents.qa_sessions import QaSessions
from memoryd.agents.receipts import Receipt, Removed, together
from memoryd.domain.conversation_paths import TURNS, holds_turns, transcript_path, turns_path
from memoryd.domain.documents import RelativePath
from memoryd.domain.sessions.transcript_places import place_of, transcript_session
from memoryd.domain.sessions.turns import SessionId
from memoryd.errors import MemorydError, NotFound
from memoryd.sessions.withheld_conversations import WithheldConversations
from memoryd.store.ledger import Ledger

RETRY_SECONDS: Final = 10.0

log = structlog.get_logger(__name__)


class MadeOfConversations(Protocol):
    """A place with something that is made of conversations: an index, exports."""

    async def holds(self, path: RelativePath) -> int:
        """Count what is there of a conversation; raises StoreError."""
        ...

    async def forget(self, path: RelativePath) -> int:
        """Remove it, and return how much it was; once more is nothing. Raises StoreError, OSError."""
        ...


class MadeOfTranscripts(MadeOfConversations, Protocol):
    """Exports, which somebody may want again."""

    async def release(self, path: RelativePath) -> None:
        """Let there be something of a transcript again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingPlaces:
    """Where conversations of one agent lie, beside its ledger."""

    workspace: Path
    qa: QaSessions
    index: MadeOfConversations
    exports: MadeOfTranscripts


class Forgetting:
    """Forgets conversations of one agent, one at a time."""

    def __init__(
        self,
        agent: str,
        places: ForgettingPlaces,
        *,
        ledger: Ledger,
        withheld: WithheldConversations,
        copies: Callable[[], Awaitable[Sequence[RelativePath]]],
    ) -> None:
        self._agent = agent
        self._places = places
        self._ledger = ledger
        self._withheld = withheld
        self._copies = copies
        """Asked for the transcripts that begin as one that was forgotten."""
        self._one_at_a_time = asyncio.Lock()
        self.trouble = ""
        """Why what a kill ended is not finished yet; empty if it is."""

    async def would_forget(self, path: RelativePath, file: Path | None) -> Receipt:
        """Say what forgetting would remove; raises NotFound, StoreError."""
        path = await self._whole(path)
        if holds_turns(path):
            return Receipt(path, await self._of_session(path), await self._stays(path, None))
        removed = Removed()
        for one in dict.fromkeys((path, *await self._copies())):
            rows, exports = await self._places.index.holds(one), await self._places.exports.holds(one)
            removed = together(removed, Removed(rows=rows, exports=exports))
        taken = turns_path(transcript_session(self._agent, path.rpartition("/")[2]))
        if self._places.qa.is_writable and await self._places.qa.find(_session_of(taken)) is not None:
            removed = together(removed, await self._of_session(taken))
        return Receipt(path, removed, await self._stays(path, file))

    async def _of_session(self, path: RelativePath) -> Removed:
        name = _session_of(path)
        session = await self._places.qa.find(name)
        if session is None:
            raise NotFound(f"there is no session {name!r}")
        return Removed(
            files=1,
            turns=len(session.turns),
            answers=session.answers,
            rows=await self._places.index.holds(path),
            held_answers=await self._ledger.held_of_session(self._agent, name),
        )

    async def forget(self, path: RelativePath, file: Path | None) -> Receipt:
        """Forget a conversation, whose transcript lies at `file`; raises NotFound, Disabled, Denied, StoreError."""
        async with self._one_at_a_time:
            path = await self._whole(path)
            removed = await (self._forget_session(path) if holds_turns(path) else self._forget_transcript(path, file))
        log.info("a conversation was forgotten", agent=self._agent)
        return Receipt(path, removed, await self._stays(path, file))

    async def _whole(self, path: RelativePath) -> RelativePath:
        """Return the transcript whose turns a session holds, from which they would come back; else the path itself."""
        session = await self._places.qa.find(_session_of(path)) if holds_turns(path) else None
        place = None if session is None else place_of(session)
        if session is None or place is None or transcript_session(self._agent, place.file) != session.id:
            return path
        return transcript_path(self._agent, place.file)

    async def forget_made(self, path: RelativePath) -> int:
        """Remove what was made of what is not to be remembered; return how many parts the index had of it."""
        async with self._one_at_a_time:
            return (await self._forget_made(path)).rows

    async def release(self, path: RelativePath) -> None:
        """Let there be something of a transcript again."""
        await self._places.exports.release(path)
        await self._set_taken_remembered(path, True)

    async def mark(self, path: RelativePath, file: Path | None) -> int:
        """Have a transcript not be remembered; return how many parts left the index. Raises StoreError, Denied."""
        await self._withheld.withhold_transcript(path, file, is_forgotten=False)
        rows = await self.forget_made(path)
        if taken := await self._set_taken_remembered(path, False):
            rows += await self.forget_made(taken)
        return rows

    async def _set_taken_remembered(self, path: RelativePath, is_remembered: bool) -> RelativePath | None:
        """Treat the turns that were taken from a transcript as the transcript itself; return them, if there are any."""
        taken = transcript_session(self._agent, path.rpartition("/")[2])
        if not self._places.qa.is_writable or await self._places.qa.find(taken) is None:
            return None
        await self._places.qa.set_remembered(taken, is_remembered)
        return turns_path(taken)

    async def has_rows(self, path: RelativePath) -> bool:
        """Tell whether the index has anything of a conversation."""
        return await self._places.index.holds(path) > 0

    async def finish(self) -> None:
        """End what a kill ended; raises StoreError, Denied, OSError."""
        async with self._one_at_a_time:
            for one in self._withheld.unfinished():
                path = RelativePath(one.name)
                if holds_turns(path):
                    await self._places.qa.finish_forgetting(_session_of(path), datetime.fromtimestamp(one.since, UTC))
                await self._forget_remains(path)

    async def run(self, retry_seconds: float = RETRY_SECONDS) -> None:
        """End what a kill ended, as soon as that can be done."""
        while True:
            try:
                await self._withheld.load()
                await self.finish()
            except (MemorydError, OSError) as exc:
                self.trouble = f"the forgetting of a conversation is not finished: {exc}" if self._is_owed() else ""
            else:
                self.trouble = ""
            await asyncio.sleep(retry_seconds)

    def _is_owed(self) -> bool:
        return self._withheld.is_known and bool(self._withheld.unfinished())

    async def _forget_session(self, path: RelativePath) -> Removed:
        name = _session_of(path)
        self._places.qa.check_writable()
        if await self._places.qa.find(name) is None and not self._withheld.names(path):
            raise NotFound(f"there is no session {name!r}", hint="memoryctl sessions list")
        await self._withheld.begin_forgetting(path)
        gone = await self._places.qa.forget(name)
        made = await self._forget_remains(path)
        return replace(made, files=gone.files, turns=gone.turns, answers=gone.answers)

    async def _forget_transcript(self, path: RelativePath, file: Path | None) -> Removed:
        await self._withheld.withhold_transcript(path, file, is_forgotten=True)
        await self._withheld.begin_forgetting(path)
        return await self._forget_remains(path)

    async def _forget_remains(self, path: RelativePath) -> Removed:
        made = await self._forget_made(path)
        if holds_turns(path):
            # after the files: who adds an answer to a session that is gone takes it back
            made = replace(made, held_answers=await self._ledger.forget_session(self._agent, _session_of(path)))
        else:
            made = together(made, await self._forget_taken(path))
        await self._withheld.end_forgetting(path)
        return made

    async def _forget_taken(self, path: RelativePath) -> Removed:
        """Forget the session that the turns of a transcript, and of its copies, were taken into."""
        removed = Removed()
        for one in (path, *await self._copies()):
            taken = turns_path(transcript_session(self._agent, one.rpartition("/")[2]))
            if self._places.qa.is_writable and await self._places.qa.find(_session_of(taken)) is not None:
                removed = together(removed, await self._forget_session(taken))
        return removed

    async def _forget_made(self, path: RelativePath) -> Removed:
        # of a transcript there may be copies; the index looks only at new ones by itself
        others = [] if holds_turns(path) else [one for one in await self._copies() if one != path]
        rows = exports = 0
        for one in (path, *others):
            rows += await self._places.index.forget(one)
            exports += await self._places.exports.forget(one)
        return Removed(rows=rows, exports=exports)

    async def _stays(self, path: RelativePath, file: Path | None) -> tuple[str, ...]:
        taken = SessionId("") if holds_turns(path) else transcript_session(self._agent, path.rpartition("/")[2])
        is_left = bool(taken) and not self._places.qa.is_writable and await self._places.qa.find(taken) is not None
        left = [f"{turns_path(taken)}, the turns that were taken from it: memory.readOnly is true"] if is_left else []
        return (*left, *await asyncio.to_thread(self._out_of_reach, path, file))

    def _out_of_reach(self, path: RelativePath, file: Path | None) -> tuple[str, ...]:
        told: list[str] = []
        if file is not None and file.exists():
            told.append(f"the transcript itself, which is another program's: {file}; it is not read again")
        elif holds_turns(path) and _is_in_git(self._places.workspace):
            told.append(f"the history of git, if {self._places.workspace} was committed with it")
        told += [f"a damaged ledger that was set aside: {path}; look at it, then delete it" for path in self._aside()]
        return (*told, "backups and snapshots of the disk")

    def _aside(self) -> Sequence[Path]:
        return self._ledger.set_aside


def _session_of(path: RelativePath) -> SessionId:
    return SessionId(path.removeprefix(TURNS))


def _is_in_git(workspace: Path) -> bool:
    return any((folder / ".git").exists() for folder in (workspace, *workspace.parents))
