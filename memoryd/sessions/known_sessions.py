"""What is known of the sessions of a store without reading them again, and how their turns are looked up.

Archived sessions are read in the background, each once and again when its file has changed, since a year of them is too
much for a start. Only what they are looked up by is held, and a stub.
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
from memoryd.domain.sessions.turns import Session, Turn, without_text
from memoryd.files.reading import TornReadError
from memoryd.sessions.session_files import UNREADABLE, SessionFiles


class KnownSession(Struct, frozen=True):
    """A session, or its stub, as its file was when it had this `stat`; `problem` says why it is no longer read."""

    entry: Entry | None
    stat: FileStat
    problem: str = ""


class KnownSessions:
    """The sessions of a store. Each call holds the lock for an instant, whatever thread it comes from."""

    def __init__(self, commonness: Commonness) -> None:
        self._commonness = commonness
        self._lock = threading.Lock()
        self._known: dict[SessionId, KnownSession] = {}
        self._archived: dict[SessionId, KnownSession] = {}
        """Stubs of those in the archive, and of none that is known above."""
        self._indexed: dict[str, IndexedTurns] = {}
        """By agent, so that nothing of another's is ever looked at."""
        self._unlearned: set[SessionId] = set()
        """Of these a stub is known, whose file has the words."""

    def take(self, name: SessionId, entry: Entry, stat: FileStat) -> None:
        """Know a session as it is now."""
        with self._lock:
            is_remembered = entry.head.is_remembered
            self._unindex(name, but=entry.head.agent if is_remembered else None)
            self._archived.pop(name, None)
            self._known[name] = KnownSession(entry, stat)
            if not is_remembered:
                # of what is not to be remembered nothing is looked up
                self._unlearned.discard(name)
                return
            self._indexed_of(entry).put(_with_turns(entry))
            (self._unlearned.add if isinstance(entry, SessionStub) else self._unlearned.discard)(name)

    def learn(self, session: Session) -> None:
        """Look a session up by its words from now on, of which only a stub is known; its turns are not kept."""
        with self._lock:
            known = self._known.get(session.id)
            if (
                known is not None
                and isinstance(known.entry, SessionStub)
                and known.entry.session.agent == session.agent
                and known.entry.session.is_remembered
            ):
                self._indexed[session.agent].put(without_text(session))
                self._unlearned.discard(session.id)

    def take_archived(self, stub: SessionStub, session: Session, stat: FileStat) -> None:
        """Know a session in the archive, which is looked up unless it is not to be remembered; no turn is kept.

        Nothing is done where it is known not to be there alone: one that is on its way has a copy there for a moment.
        """
        with self._lock:
            if session.id in self._known:
                return
            self._unindex(session.id, but=session.agent if session.is_remembered else None)
            self._archived[session.id] = KnownSession(stub, stat)
            if session.is_remembered:
                self._indexed_of(session).put(without_text(session))

    def refuse_archived(self, name: SessionId, stat: FileStat, problem: str) -> None:
        """Know that a file in the archive cannot be read; its session is not looked up any more."""
        with self._lock:
            if name not in self._known:
                self._unindex(name)
                self._archived[name] = KnownSession(None, stat, problem)

    def drop_archived(self, name: SessionId) -> None:
        """Know nothing of a session that has left the archive, unless it is known as one that goes on."""
        with self._lock:
            if name in self._archived:
                self._unindex(name)
                del self._archived[name]

    def archived(self) -> Mapping[SessionId, KnownSession]:
        """Return what is known of the archive; its sessions are stubs without marks."""
        with self._lock:
            return dict(self._archived)

    def unlearned(self) -> list[SessionId]:
        """Return the sessions that are looked up by hashes and topics alone."""
        with self._lock:
            return sorted(self._unlearned)

    def refuse(self, name: SessionId, stat: FileStat, problem: str) -> None:
        """Know that a file cannot be read; what was known of its session before stays in the main file."""
        with self._lock:
            known = self._known.get(name)
            self._known[name] = KnownSession(known.entry if known else None, stat, problem)

    def drop(self, name: SessionId) -> None:
        """Know nothing of a session any more."""
        with self._lock:
            self._unindex(name)
            self._known.pop(name, None)
            self._archived.pop(name, None)
            self._unlearned.discard(name)

    def get(self, name: SessionId) -> KnownSession | None:
        """Return what is known of a session."""
        with self._lock:
            return self._known.get(name)

    def all(self) -> dict[SessionId, KnownSession]:
        """Return what is known of all."""
        with self._lock:
            return dict(self._known)

    def newest(self, agent: str, key: str | None, *, is_open: bool = False, at: datetime | None = None) -> Entry | None:
        """Return the session of an agent in which something was said last, with a session key or with any.

        With `is_open` none is told that was ended, whatever times its turns have, and with `at` none that what is said
        at that time is not of. Of those in the archive,
        and with any key, none is told that is not to be remembered.
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
        """Return the sessions of an agent that can be read, without those in the archive."""
        return _sessions_of(agent, self.all().values())

    def stats(self, agent: str) -> dict[SessionId, FileStat | None]:
        """Return the sessions of an agent that may be told, each as its file was; None where that is not read now."""
        known = self.all().items()
        return {
            name: None if one.problem else one.stat
            for name, one in known
            if one.entry and one.entry.head.agent == agent and one.entry.head.is_remembered
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
        """Return where the sequence for a message lies, among the sessions of an agent that may be told."""
        visible = self.visible(current) if current and current not in hidden else None
        own = _sessions_of(agent, [visible] if visible else [])
        if own and keys is not None and keys.takes_up:
            # half of its meaning is in what was said before: the rest alone may be near to anything
            near = NOTHING_SIMILAR
        with self._lock:
            indexed = self._indexed.get(agent)
            matches = indexed.matches(keys, run=turns, always=current, near=near) if indexed and keys else []
        return choose(keys, current if own else None, [match for match in matches if match.session not in hidden])

    def visible(self, name: SessionId) -> KnownSession | None:
        """Return what is known of a session, also of one in the archive; nothing if it is not remembered."""
        with self._lock:
            known = self._known.get(name) or self._archived.get(name)
        return known if known and known.entry and known.entry.head.is_remembered else None

    def _indexed_of(self, entry: Entry) -> IndexedTurns:
        return self._indexed.setdefault(entry.head.agent, IndexedTurns(self._commonness))

    def _unindex(self, name: SessionId, but: str | None = None) -> None:
        known = self._known.get(name) or self._archived.get(name)
        agent = None if known is None or known.entry is None else known.entry.head.agent
        if agent is not None and agent != but and agent in self._indexed:
            self._indexed[agent].drop(name)


def _rest(entry: Entry) -> timedelta:
    # one that is not to be remembered does not grow, and another would be remembered
    return rest_behind(counted(entry)[0] if entry.head.is_remembered else 0)


def _sessions_of(agent: str, known: Iterable[KnownSession]) -> list[Entry]:
    return [one.entry for one in known if one.entry and not one.problem and one.entry.head.agent == agent]


def _with_turns(entry: Entry) -> Session:
    """Return a session that can be looked up; of a stub hashes and topics are known."""
    if isinstance(entry, Session):
        return entry
    turns = tuple(
        # a stub does not say whether it was answered
        Turn(mark.seq, "", entry.last_activity, answer="", question_hash=mark.question_hash, topics=mark.topics)
        for mark in entry.marks
    )
    return Session(entry.session.id, entry.session.created, turns, agent=entry.session.agent)


class ArchivedSessions(Struct, frozen=True):
    """Keeps what is known of an archive equal to its files, whenever it is asked to; from any thread."""

    files: SessionFiles
    known: KnownSessions

    def look(self) -> list[SessionStub]:
        """Read what has changed, what was written last first; return all that can be read, the longest left first.

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
        stubs = [one.entry for one in self.known.archived().values() if isinstance(one.entry, SessionStub)]
        return sorted(stubs, key=lambda stub: stub.last_activity)

    def see(self, name: SessionId) -> None:
        """Read a session if its file has changed; forget one that is gone."""
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
            # reported when the session is asked for
            self.known.refuse_archived(name, stat, str(exc))
            return
        if stored is not None:
            stub = stub_of(stored.session, self.files.folder)
            self.known.take_archived(stub, stored.session, stored.stat)
            if self.files.stat(name) != stored.stat:
                # forgotten while it was read, perhaps: nothing of it may stay; else it is due again
                self.known.drop_archived(name)
