"""What the conversation index reads: the seam, cutting into chunks, and the question-and-answer sessions as a source.

Conversations are cut as notes are, on their own lines. A session has two lines a turn: the question of turn n is on
line 2n - 1.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from hashlib import sha256
from itertools import islice
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.documents import (
    TURN_LINES,
    TURNS,
    FileStat,
    RelativePath,
    SessionId,
    Source,
    part_path,
    session_of,
    turns_path,
)
from memoryd.domain.memories.entries import ChunkSettings, chunk_entries
from memoryd.domain.sessions.conversation_parts import ConversationLine, ConversationPart
from memoryd.domain.sessions.transcripts.records import folded
from memoryd.domain.sessions.turns import Session
from memoryd.domain.syncplan import Known
from memoryd.errors import NotFound, StoreUnavailable
from memoryd.sessions.main_file import stamp_of
from memoryd.sessions.session_files import unavailable
from memoryd.sessions.workspace_sessions import WorkspaceSessions
from memoryd.store.index.documents import FileContent, FileRow

USER, ASSISTANT = "User: ", "Assistant: "
STEP_LINES = 500


class SourceListing(Struct, frozen=True):
    """What a source has now: its conversations, and those of which more is to be read, the most urgent first."""

    present: Set[RelativePath]
    """Also those that cannot be read now: what is not among these leaves the index."""
    due: Sequence[RelativePath]
    trouble: str = ""
    """What of it cannot be told, and why; empty if nothing."""
    again_in: float | None = None
    """Seconds until another look is worth it without any event; None if it is not."""


class ReadStep(Struct, frozen=True):
    """Some lines of a conversation, in order, and where to go on.

    `stamp` is the state of the source that was read to its end, empty if there is more. `is_afresh` says that these
    are the first lines, whatever was read before. `problem` says why it cannot be read as a conversation at all.
    """

    lines: Sequence[ConversationLine]
    tail: str
    stamp: str
    is_afresh: bool = False
    problem: str = ""


class ConversationSource(Protocol):
    """Tells which conversations of one agent there are, and reads them on. All of it may block: called in a thread.

    Raises OSError or a MemorydError where it cannot be asked now.
    """

    @property
    def prefix(self) -> str:
        """Of the paths of its conversations."""
        ...

    def look(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceListing:
        """Say what there is beside what was `read`: stamps by path. Forced, all that has changed is due."""
        ...

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read some more from where a step ended with this tail, the empty one for the first; None if it is gone."""
        ...


def cut(conversation: RelativePath, parts: Sequence[ConversationPart], settings: ChunkSettings) -> list[FileContent]:
    """Return the documents of these parts, with their chunks on the lines of the conversation."""
    contents = list[FileContent]()
    for part in parts:
        shift = part.first_line - 1
        entries = (
            replace(entry, start_line=entry.start_line + shift, end_line=entry.end_line + shift)
            for entry in chunk_entries(part.text, settings)
        )
        contents.append(FileContent(_row(conversation, part, settings), tuple(entries)))
    return contents


def _row(conversation: RelativePath, part: ConversationPart, settings: ChunkSettings) -> FileRow:
    data = part.text.encode("utf-8", "surrogatepass")
    return FileRow(
        path=part_path(conversation, part.first_line),
        source=Source.SESSIONS,
        # no file of its own: its time is that of its last message, for decay and for `since` and `until`
        known=Known(FileStat(0, 0, len(data), part.last_ns, part.last_ns), time.time_ns(), sha256(data).digest()),
        # of the conversation, up to the end of the part
        lines=part.last_line,
        chunker=settings.fingerprint,
    )


class QaConversations(Struct, eq=False):
    """The sessions of one agent in the store of its workspace; those in the archive stay."""

    prefix = TURNS

    sessions: WorkspaceSessions
    agent: str
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _others: dict[RelativePath, str] = {}
    """Sessions in the archive that are of other agents, or cannot be read, as they were then."""

    def look(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceListing:
        """Say which sessions there are, and which of them changed."""
        if not self.sessions.is_open:
            raise StoreUnavailable("the question-and-answer store is not open")
        if not self.sessions.workspace.is_dir():
            # not mounted, perhaps: its sessions are not taken for deleted; the notes' status says that it is missing
            return SourceListing(set(read), ())
        if is_forced:
            # what another process wrote is seen now and then anyway
            self.sessions.look()
        states = {turns_path(name): state for name, state in _states(self.sessions, self.agent).items()}
        with self._lock:
            others = dict(self._others)
        due = [path for path, state in states.items() if state and state not in (read.get(path), others.get(path))]
        present = {path for path, state in states.items() if others.get(path) != state}
        # who was spoken with last is asked for first
        return SourceListing(present, sorted(due, key=lambda path: states[path].startswith("archive")))

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read what was said since, or all of it if what was read is no longer so."""
        name = session_of(path)
        # before the session is read: one that changes meanwhile is read again
        state = _states(self.sessions, self.agent).get(name)
        try:
            session = self.sessions.read(name, agent=self.agent)
        except NotFound:
            session = None
        if session is None or not session.is_remembered or state is None:
            with self._lock:
                self._others[path] = state or ""
            return None
        lines = tuple(spoken_lines(session))
        begun = _unchanged_lines(lines, tail)
        step = tuple(islice(lines, begun, begun + STEP_LINES))
        end = begun + len(step)
        return ReadStep(
            step,
            tail=json.dumps({"lines": end, "hash": _digest(lines[:end])}),
            stamp=state if end == len(lines) else "",
            is_afresh=not begun,
        )


def spoken_lines(session: Session) -> Iterator[ConversationLine]:
    """Yield the lines of a session that say something, each in one line."""
    for turn in session.turns:
        at_ns = int(turn.timestamp.timestamp() * 1e9)
        if question := folded(turn.question):
            yield ConversationLine(TURN_LINES * (turn.seq - 1) + 1, f"{USER}{question}", at_ns)
        if answer := folded(turn.answer or ""):
            yield ConversationLine(TURN_LINES * turn.seq, f"{ASSISTANT}{answer}", at_ns)


def _states(sessions: WorkspaceSessions, agent: str) -> dict[SessionId, str]:
    """Return what tells whether a session of an agent has changed, by session; the archive's begin with `archive`.

    Those marked "do not remember" are left out. Empty where a file is damaged; of the archive it is not known
    whose they are before they are read.
    """
    with unavailable():
        archived = {name: f"archive {_state(stat)}" for name, stat in sessions.archive.stats().items()}
    own = {name: _state(stat) if stat else "" for name, stat in sessions.known.stats(agent).items()}
    # of a session that is on its way the archive has a copy for a moment
    return {**{name: state for name, state in archived.items() if sessions.known.get(name) is None}, **own}


def _state(stat: FileStat) -> str:
    return f"{stat.inode}:{':'.join(map(str, stamp_of(stat)))}"


def _unchanged_lines(lines: Sequence[ConversationLine], tail: str) -> int:
    """Return how many of the lines were read and are still so; 0 if any of them is another now."""
    if not tail:
        return 0
    known = json.loads(tail)
    count: int = known["lines"]
    return count if count <= len(lines) and known["hash"] == _digest(lines[:count]) else 0


def _digest(lines: Sequence[ConversationLine]) -> str:
    digest = sha256()
    for line in lines:
        digest.update(f"{line.number} {line.text}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
