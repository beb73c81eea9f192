"""What goes if a conversation is forgotten: one answer for whoever asks first, and for the forgetting itself."""

from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memoryd.agents.qa_sessions import QaSessions
from memoryd.domain.citations import holds_turns, session_of, transcript_path, turns_path
from memoryd.domain.documents import RelativePath
from memoryd.domain.sessions.taking_turns import place_of, transcript_session
from memoryd.domain.sessions.turns import Session, SessionId
from memoryd.errors import StoreError, StoreUnavailable


@dataclass(frozen=True, slots=True)
class AlikeTranscripts:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingPlan:
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
