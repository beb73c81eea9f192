"""The question-and-answer store of a workspace, part by part: each part does one thing with the same sessions."""

from collections.abc import Callable
from pathlib import Path

from memoryd.domain.sessions.documents import MAX_BYTES, Keeping
from memoryd.domain.sessions.topics import Commonness, never_common
from memoryd.sessions.answering import Answering
from memoryd.sessions.cutting_sessions import CuttingSessions
from memoryd.sessions.forgetting_sessions import ForgettingSessions
from memoryd.sessions.qa_room import QaRoom
from memoryd.sessions.session_archive import SessionArchive
from memoryd.sessions.session_ends import SessionEnds
from memoryd.sessions.session_sequences import SessionSequences
from memoryd.sessions.session_turns import SessionTurns
from memoryd.sessions.transcript_sessions import TranscriptSessions
from memoryd.sessions.workspace_sessions import WorkspaceSessions


class QaStore:
    """The parts of one store; open its `sessions` first. `on_change` is as `WorkspaceSessions` tells."""

    def __init__(
        self,
        workspace: Path,
        *,
        keeping: Keeping | None = None,
        commonness: Commonness = never_common,
        max_bytes: int = MAX_BYTES,
        is_read_only: bool = False,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self.sessions = WorkspaceSessions(
            workspace, commonness=commonness, is_read_only=is_read_only, on_change=on_change
        )
        room = QaRoom(keeping or Keeping(), max_bytes, self.sessions.archived)
        self.turns = SessionTurns(self.sessions, room, commonness)
        self.answering = Answering(self.sessions, room, commonness)
        self.ends = SessionEnds(self.sessions)
        self.transcripts = TranscriptSessions(self.sessions, room, commonness)
        self.sequences = SessionSequences(self.sessions, commonness)
        self.archive = SessionArchive(self.sessions, room)
        self.forgetting = ForgettingSessions(self.sessions)
        self.cutting = CuttingSessions(self.sessions, commonness)
