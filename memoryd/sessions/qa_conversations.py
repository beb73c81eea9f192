"""Sessions of questions and answers as conversations: two lines a turn, the question of turn n on line 2n - 1."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from typing import Final

from memoryd.domain.citations import TURN_LINES, TURNS, session_of, turns_path
from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.sessions.conversation_parts import ConversationLine, folded
from memoryd.domain.sessions.turns import Session, SessionId
from memoryd.errors import NotFound, StoreUnavailable
from memoryd.sessions.conversation_source import ReadStep, SourceLook
from memoryd.sessions.main_file import stamp_of
from memoryd.sessions.session_changes import unavailable
from memoryd.sessions.workspace_sessions import WorkspaceSessions

USER, ASSISTANT = "User: ", "Assistant: "
STEP_LINES: Final = 500


class QaConversations:
    """The sessions of one agent in the store of its workspace; those in the archive stay."""

    prefix = TURNS

    def __init__(self, sessions: WorkspaceSessions, agent: str) -> None:
        self._sessions = sessions
        self._agent = agent
        self._lock = threading.Lock()
        self._others: dict[RelativePath, str] = {}
        """Sessions in the archive that are of other agents, or cannot be read, as they were then."""

    def look(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceLook:
        """Say which sessions there are, and which of them changed."""
        if not self._sessions.is_open:
            raise StoreUnavailable("the question-and-answer store is not open")
        if not self._sessions.workspace.is_dir():
            # not mounted, perhaps: that its sessions are gone is not believed; that it is missing is told of the notes
            return SourceLook(set(read), ())
        if is_forced:
            # what another process wrote is seen now and then anyway
            self._sessions.look()
        states = {turns_path(name): state for name, state in _states(self._sessions, self._agent).items()}
        with self._lock:
            others = dict(self._others)
        due = [path for path, state in states.items() if state and state not in (read.get(path), others.get(path))]
        present = {path for path, state in states.items() if others.get(path) != state}
        # who was spoken with last is asked for first
        return SourceLook(present, sorted(due, key=lambda path: states[path].startswith("archive")))

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read what was said since, or all of it if what was read is no longer so."""
        name = session_of(path)
        # before the session is read: one that changes meanwhile is read again
        state = _states(self._sessions, self._agent).get(name)
        session = self._session(name)
        if session is None or state is None:
            with self._lock:
                self._others[path] = state or ""
            return None
        lines = tuple(spoken_lines(session))
        begun = _begun(lines, tail)
        step = tuple(islice(lines, begun, begun + STEP_LINES))
        end = begun + len(step)
        return ReadStep(
            step,
            tail=json.dumps({"lines": end, "hash": _digest(lines[:end])}),
            stamp=state if end == len(lines) else "",
            is_afresh=not begun,
        )

    def _session(self, name: SessionId) -> Session | None:
        try:
            session = self._sessions.read(name, agent=self._agent)
        except NotFound:
            return None
        return session if session.is_remembered else None


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


def _begun(lines: Sequence[ConversationLine], tail: str) -> int:
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
