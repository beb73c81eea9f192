"""In-memory state of the sessions of a store, and the search index of their turns.

Archived sessions are read in the background, since a year of them is too much for a start: each once, and again when
its file has changed. Only their search keys and a stub are stored in memory.
"""

import threading
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from memoryd.domain.documents import FileStat, SessionId
from memoryd.domain.sessions.documents import TURNS, Entry, SessionStub, counted, stub_of
from memoryd.domain.sessions.names import belongs, rest_behind
from memoryd.domain.sessions.sequences import (
    NOTHING_SIMILAR,
    IndexedTurns,
    MessageKeys,
    SequenceChoice,
    SimilarTurns,
    choose,
)
from memoryd.domain.sessions.topics import Commonness
from memoryd.domain.sessions.turns import Session, Turn, search_only
from memoryd.files.reading import TornReadError
from memoryd.sessions.session_files import UNREADABLE, SessionFiles


class KnownSession(Struct, frozen=True):
    """A session, or its stub, and the `stat` of the file it was read from; `problem` is why it cannot be read now."""

    entry: Entry | None
    stat: FileStat
    problem: str = ""


class KnownSessions:
    """The sessions of a store. Thread-safe; each call locks only for an instant."""

    def __init__(self, commonness: Commonness) -> None:
        self._commonness = commonness
        self._lock = threading.Lock()
        self._known: dict[SessionId, KnownSession] = {}
        self._archived: dict[SessionId, KnownSession] = {}
        """Stubs of archived sessions, without sessions that are in `_known`."""
        self._indexed: dict[str, IndexedTurns] = {}
        """One index per agent, so that no search touches turns of other agents."""
        self._unlearned: set[SessionId] = set()
        """Sessions known by a stub only; their words are still to be read from the file."""

    def take(self, name: SessionId, entry: Entry, stat: FileStat) -> None:
        """Store the current state of a session and index its turns."""
        with self._lock:
            is_remembered = entry.head.is_remembered
            self._unindex(name, but=entry.head.agent if is_remembered else None)
            self._archived.pop(name, None)
            self._known[name] = KnownSession(entry, stat)
            self._unlearned.discard(name)
            if is_remembered:
                self._index_of(entry).put(_with_turns(entry))
                if isinstance(entry, SessionStub):
                    self._unlearned.add(name)

    def learn(self, session: Session) -> None:
        """Index the words of a session that was known by a stub only. The texts of its turns are not stored."""
        with self._lock:
            known = self._known.get(session.id)
            if (
                known is not None
                and isinstance(known.entry, SessionStub)
                and known.entry.session.agent == session.agent
                and known.entry.session.is_remembered
            ):
                self._indexed[session.agent].put(search_only(session))
                self._unlearned.discard(session.id)

    def take_archived(self, stub: SessionStub, session: Session, stat: FileStat) -> None:
        """Store the stub of an archived session, and index its turns if it is to be remembered; no texts are stored.

        A session that is known outside the archive is ignored: one being moved has a copy in the archive for a moment.
        """
        with self._lock:
            if session.id in self._known:
                return
            self._unindex(session.id, but=session.agent if session.is_remembered else None)
            self._archived[session.id] = KnownSession(stub, stat)
            if session.is_remembered:
                self._index_of(session).put(search_only(session))

    def refuse_archived(self, name: SessionId, stat: FileStat, problem: str) -> None:
        """Note that a file in the archive cannot be read, and remove its session from the index."""
        with self._lock:
            if name not in self._known:
                self._unindex(name)
                self._archived[name] = KnownSession(None, stat, problem)

    def drop_archived(self, name: SessionId) -> None:
        """Remove a session that has left the archive, unless it is known outside the archive."""
        with self._lock:
            if name in self._archived:
                self._unindex(name)
                del self._archived[name]

    def archived(self) -> Mapping[SessionId, KnownSession]:
        """Return the sessions of the archive, as stubs without marks."""
        with self._lock:
            return dict(self._archived)

    def unlearned(self) -> list[SessionId]:
        """Return the sessions that are indexed by hashes and topics only."""
        with self._lock:
            return sorted(self._unlearned)

    def refuse(self, name: SessionId, stat: FileStat, problem: str) -> None:
        """Note that a file cannot be read. The entry of its session stays, and stays in the main file."""
        with self._lock:
            known = self._known.get(name)
            self._known[name] = KnownSession(known.entry if known else None, stat, problem)

    def drop(self, name: SessionId) -> None:
        """Remove a session."""
        with self._lock:
            self._unindex(name)
            self._known.pop(name, None)
            self._archived.pop(name, None)
            self._unlearned.discard(name)

    def get(self, name: SessionId) -> KnownSession | None:
        """Return the state of a session outside the archive, None if it is unknown."""
        with self._lock:
            return self._known.get(name)

    def all(self) -> dict[SessionId, KnownSession]:
        """Return the states of all sessions outside the archive."""
        with self._lock:
            return dict(self._known)

    def newest(self, agent: str, key: str | None, *, is_open: bool = False, at: datetime | None = None) -> Entry | None:
        """Return the session of an agent with the latest activity, with a session key, or with any if `key` is None.

        `is_open` excludes sessions that were ended, whatever the times of their turns. `at` excludes sessions to which
        a message of that time does not belong. Sessions marked "do not remember" are excluded in the archive, and if
        `key` is None.
        """
        archived = (entry for entry in _sessions_of(agent, self.archived().values()) if entry.head.is_remembered)
        own = (
            entry
            for entry in (*self.of(agent), *archived)
            if (entry.head.is_remembered if key is None else entry.head.key == key)
            and not (is_open and entry.head.end.is_over)
            and (at is None or belongs(entry.begun, entry.last_activity, at, _rest(entry)))
        )
        return max(own, key=lambda entry: entry.last_activity, default=None)

    def of(self, agent: str) -> Iterable[Entry]:
        """Return the readable sessions of an agent outside the archive."""
        return _sessions_of(agent, self.all().values())

    def stats(self, agent: str) -> dict[SessionId, FileStat | None]:
        """Return the `stat` of each remembered session of an agent; None if the session cannot be read now."""
        return {
            name: None if known.problem else known.stat
            for name, known in self.all().items()
            if known.entry and known.entry.head.agent == agent and known.entry.head.is_remembered
        }

    def chosen(
        self,
        keys: MessageKeys | None,
        agent: str,
        current: SessionId | None,
        turns: int = TURNS,
        *,
        hidden: Collection[SessionId] = (),
        near: SimilarTurns = NOTHING_SIMILAR,
    ) -> SequenceChoice:
        """Choose the session and turns for a message among the remembered, not `hidden` sessions of an agent."""
        visible = self.visible(current) if current and current not in hidden else None
        own = _sessions_of(agent, [visible] if visible else [])
        if own and keys is not None and keys.takes_up:
            # half of its meaning is in the turns before: alone it may be similar to anything
            near = NOTHING_SIMILAR
        with self._lock:
            indexed = self._indexed.get(agent)
            matches = indexed.matches(keys, run=turns, always=current, near=near) if indexed and keys else []
        return choose(keys, current if own else None, [match for match in matches if match.session not in hidden])

    def visible(self, name: SessionId) -> KnownSession | None:
        """Return the state of a session, archived or not; None if it is unknown or not to be remembered."""
        with self._lock:
            known = self._known.get(name) or self._archived.get(name)
        return known if known and known.entry and known.entry.head.is_remembered else None

    def _index_of(self, entry: Entry) -> IndexedTurns:
        return self._indexed.setdefault(entry.head.agent, IndexedTurns(self._commonness))

    def _unindex(self, name: SessionId, but: str | None = None) -> None:
        known = self._known.get(name) or self._archived.get(name)
        agent = None if known is None or known.entry is None else known.entry.head.agent
        if agent is not None and agent != but and agent in self._indexed:
            self._indexed[agent].drop(name)


def _rest(entry: Entry) -> timedelta:
    # a session marked "do not remember" does not grow; if it were split, the next session would be remembered
    return rest_behind(counted(entry)[0] if entry.head.is_remembered else 0)


def _sessions_of(agent: str, known: Iterable[KnownSession]) -> list[Entry]:
    return [
        session.entry
        for session in known
        if session.entry and not session.problem and session.entry.head.agent == agent
    ]


def _with_turns(entry: Entry) -> Session:
    """Return a session that can be indexed; a stub gives only hashes and topics."""
    if isinstance(entry, Session):
        return entry
    turns = tuple(
        # a stub does not say whether a turn was answered: assume that it was
        Turn(mark.seq, "", entry.last_activity, answer="", question_hash=mark.question_hash, topics=mark.topics)
        for mark in entry.marks
    )
    return Session(entry.session.id, entry.session.created, turns, agent=entry.session.agent)


class ArchivedSessions(Struct, frozen=True):
    """Updates the known sessions of an archive from its files, on request; thread-safe."""

    files: SessionFiles
    known: KnownSessions

    def scan(self) -> list[SessionStub]:
        """Read the changed files, newest first. Return the stubs of all readable sessions, oldest activity first.

        Raises OSError.
        """
        stats, known = self.files.stats(), self.known.archived()
        live = self.known.all().keys()
        changed = [
            name for name in stats if name not in live and (name not in known or known[name].stat != stats[name])
        ]
        changed.sort(key=lambda name: stats[name].mtime_ns, reverse=True)
        for name in (*changed, *(known.keys() - stats.keys())):
            self.see(name)
        stubs = [state.entry for state in self.known.archived().values() if isinstance(state.entry, SessionStub)]
        return sorted(stubs, key=lambda stub: stub.last_activity)

    def see(self, name: SessionId) -> None:
        """Read a session if its file has changed; drop it if the file is missing."""
        stat = self.files.stat(name)
        if stat is None:
            self.known.drop_archived(name)
            return
        known = self.known.archived().get(name)
        if known is not None and known.stat == stat:
            return
        try:
            stored = self.files.read(name)
        except (*UNREADABLE, TornReadError, OSError) as exc:
            # reported when the session is read
            self.known.refuse_archived(name, stat, str(exc))
            return
        if stored is not None:
            stub = stub_of(stored.session, self.files.folder)
            self.known.take_archived(stub, stored.session, stored.stat)
            if self.files.stat(name) != stored.stat:
                # perhaps forgotten while it was read: drop it; otherwise it will be read again
                self.known.drop_archived(name)
