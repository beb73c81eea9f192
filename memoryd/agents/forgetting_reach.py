"""What forgetting a conversation means: what belongs to it, what would go with it, and what is out of reach."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from memoryd.agents.forgotten_places import ForgettingPlaces
from memoryd.agents.receipts import Receipt, Removed, together
from memoryd.domain.conversation_paths import holds_turns, session_of, transcript_path, turns_path
from memoryd.domain.documents import RelativePath
from memoryd.domain.sessions.transcript_places import place_of, transcript_session
from memoryd.domain.sessions.turns import SessionId
from memoryd.errors import NotFound
from memoryd.store.ledger import Ledger


class ForgettingReach:
    """What the forgetting of conversations of one agent reaches; nothing is changed here."""

    def __init__(
        self,
        agent: str,
        places: ForgettingPlaces,
        *,
        ledger: Ledger,
        copies: Callable[[], Awaitable[Sequence[RelativePath]]],
    ) -> None:
        self._agent = agent
        self._places = places
        self._ledger = ledger
        self.copies = copies
        """Asked for the transcripts that begin as one that was forgotten."""

    async def would_forget(self, path: RelativePath, file: Path | None) -> Receipt:
        """Say what forgetting would remove; raises NotFound, StoreError."""
        path = await self.whole(path)
        if holds_turns(path):
            return Receipt(path, await self._of_session(path), await self.stays(path, None))
        removed = Removed()
        for one in dict.fromkeys((path, *await self.copies())):
            rows, exports = await self._places.index.holds(one), await self._places.exports.holds(one)
            removed = together(removed, Removed(rows=rows, exports=exports))
        taken = turns_path(transcript_session(self._agent, path.rpartition("/")[2]))
        if self._places.qa.is_writable and await self._places.qa.find(session_of(taken)) is not None:
            removed = together(removed, await self._of_session(taken))
        return Receipt(path, removed, await self.stays(path, file))

    async def _of_session(self, path: RelativePath) -> Removed:
        name = session_of(path)
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

    async def has_rows(self, path: RelativePath) -> bool:
        """Tell whether the index has anything of a conversation."""
        return await self._places.index.holds(path) > 0

    async def whole(self, path: RelativePath) -> RelativePath:
        """Return the transcript whose turns a session holds, from which they would come back; else the path itself."""
        session = await self._places.qa.find(session_of(path)) if holds_turns(path) else None
        place = None if session is None else place_of(session)
        if session is None or place is None or transcript_session(self._agent, place.file) != session.id:
            return path
        return transcript_path(self._agent, place.file)

    async def stays(self, path: RelativePath, file: Path | None) -> tuple[str, ...]:
        """Say in sentences what is out of reach."""
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
        aside = self._ledger.set_aside
        told += [f"a damaged ledger that was set aside: {path}; look at it, then delete it" for path in aside]
        return (*told, "backups and snapshots of the disk")


def _is_in_git(workspace: Path) -> bool:
    return any((folder / ".git").exists() for folder in (workspace, *workspace.parents))
