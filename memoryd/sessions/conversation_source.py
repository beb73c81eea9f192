"""Sources of the conversation index: the interface, cutting into chunks, and question-and-answer sessions as a source.

Conversations are cut like notes, by their own lines. A session has two lines per turn: the question of turn n is on
line 2n - 1, the answer on line 2n.
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
from memoryd.domain.syncplan import IndexedFile
from memoryd.errors import NotFound, StoreUnavailable
from memoryd.sessions.main_file import stamp_of
from memoryd.sessions.session_files import unavailable
from memoryd.sessions.workspace_sessions import WorkspaceSessions
from memoryd.store.index.documents import FileContent, FileRow

USER, ASSISTANT = "User: ", "Assistant: "
STEP_LINES = 500


class SourceListing(Struct, frozen=True):
    """The conversations of a source, and those to be read on, the most urgent first."""

    present: Set[RelativePath]
    """All conversations, even if they cannot be read now. Others are removed from the index."""
    due: Sequence[RelativePath]
    trouble: str = ""
    """What could not be listed, and why; empty if nothing."""
    again_in: float | None = None
    """Seconds after which the source should be scanned again without any event; None if it need not."""


class ReadStep(Struct, frozen=True):
    """Some lines of a conversation, in order, and the place where to continue.

    `stamp` is the state of the conversation if it was read to its end, else empty. `is_afresh` means that these are the
    first lines, and replace everything read before. `problem` is why it cannot be read as a conversation at all.
    """

    lines: Sequence[ConversationLine]
    tail: str
    stamp: str
    is_afresh: bool = False
    problem: str = ""


class ConversationSource(Protocol):
    """Lists and reads conversations of one agent. All methods may block, so they are called in a thread.

    They raise OSError or a MemorydError if the source is unavailable.
    """

    @property
    def prefix(self) -> str:
        """Prefix of the paths of its conversations."""
        ...

    def scan(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceListing:
        """List the source; `read` has the stamps of the last reading by path. If forced, all changes are due."""
        ...

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read the next step after the one with this tail, empty for the first. None if the conversation is missing."""
        ...


def cut(conversation: RelativePath, parts: Sequence[ConversationPart], settings: ChunkSettings) -> list[FileContent]:
    """Return the documents of these parts; the line numbers of their chunks are those of the conversation."""
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
        # a part is no file: the time of its last message serves for decay, `since` and `until`
        known=IndexedFile(FileStat(0, 0, len(data), part.last_ns, part.last_ns), time.time_ns(), sha256(data).digest()),
        # lines of the conversation up to the end of the part
        lines=part.last_line,
        chunker=settings.fingerprint,
    )


class QaConversations(Struct, eq=False):
    """The sessions of one agent in the store of its workspace, including archived ones."""

    prefix = TURNS

    sessions: WorkspaceSessions
    agent: str
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _others: dict[RelativePath, str] = {}
    """States of archived sessions that belong to other agents or could not be read."""

    def scan(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceListing:
        """List the sessions, and those that changed."""
        if not self.sessions.is_open:
            raise StoreUnavailable("the question-and-answer store is not open")
        if not self.sessions.workspace.is_dir():
            # perhaps not mounted: do not treat its sessions as deleted; the status of the notes reports it
            return SourceListing(set(read), ())
        if is_forced:
            # only if forced: changes by other processes are noticed now and then anyway
            self.sessions.scan()
        states = {turns_path(name): state for name, state in _states(self.sessions, self.agent).items()}
        with self._lock:
            others = dict(self._others)
        due = [path for path, state in states.items() if state and state not in (read.get(path), others.get(path))]
        present = {path for path, state in states.items() if others.get(path) != state}
        # live sessions before archived ones
        return SourceListing(present, sorted(due, key=lambda path: states[path].startswith("archive")))

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read the new lines of a session, or all lines if those read before have changed."""
        name = session_of(path)
        # before the session is read, so that a session that changes in between is read again
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
    """Yield the questions and answers of a session that are not empty, each as one line."""
    for turn in session.turns:
        at_ns = int(turn.timestamp.timestamp() * 1e9)
        if question := folded(turn.question):
            yield ConversationLine(TURN_LINES * (turn.seq - 1) + 1, f"{USER}{question}", at_ns)
        if answer := folded(turn.answer or ""):
            yield ConversationLine(TURN_LINES * turn.seq, f"{ASSISTANT}{answer}", at_ns)


def _states(sessions: WorkspaceSessions, agent: str) -> dict[SessionId, str]:
    """Return the state of each session, a text that differs after any change; it begins with `archive` in the archive.

    Sessions marked "do not remember" are left out. The state of a damaged file is empty. Archived sessions of all
    agents are included, since their agent is unknown before they are read.
    """
    with unavailable():
        archived = {name: f"archive {_state(stat)}" for name, stat in sessions.archive.stats().items()}
    own = {name: _state(stat) if stat else "" for name, stat in sessions.known.stats(agent).items()}
    # a session that is being moved is in the archive, too, for a moment
    return {**{name: state for name, state in archived.items() if sessions.known.get(name) is None}, **own}


def _state(stat: FileStat) -> str:
    return f"{stat.inode}:{':'.join(map(str, stamp_of(stat)))}"


def _unchanged_lines(lines: Sequence[ConversationLine], tail: str) -> int:
    """Return how many of the lines were read before and are unchanged; 0 if any of them has changed."""
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
