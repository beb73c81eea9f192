"""The question-and-answer store of a workspace: turns go into the file of their session, and are found again.

Any number of writers may add to it, in this process and in others: each turn is one compare-and-swap of one file, so
that none is lost. Everything here may wait for the disk and is called in a thread.
"""

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from memoryd.domain.documents import FileStat
from memoryd.domain.redaction import redacted
from memoryd.domain.sessions.keeping import MAX_BYTES, Keeping
from memoryd.domain.sessions.keywords import Commonness, never_common
from memoryd.domain.sessions.making_turns import MadeTurn, RawTurn, made_turn, message_keys
from memoryd.domain.sessions.qa_document import SessionStub
from memoryd.domain.sessions.sequences import BUDGET, TURNS, SequenceChoice, sequence
from memoryd.domain.sessions.session_ids import is_over, safe_id, session_id
from memoryd.domain.sessions.taking_turns import TakenTurns, with_turns
from memoryd.domain.sessions.transcript_places import TranscriptPlace, place_of, transcript_key, transcript_session
from memoryd.domain.sessions.transcript_turns import FoundTurn
from memoryd.domain.sessions.turn_addresses import turn_address
from memoryd.domain.sessions.turns import Session, SessionId, Turn
from memoryd.errors import Denied, NotFound, StoreError, StoreUnavailable
from memoryd.sessions.archived_sessions import ArchivedSessions
from memoryd.sessions.forgetting_sessions import ForgettingSessions, ForgottenFiles
from memoryd.sessions.known_sessions import Entry, KnownSessions, head_of
from memoryd.sessions.looking import LookingAtSessions
from memoryd.sessions.main_file import MainFile, stamp_of
from memoryd.sessions.qa_room import QaRoom, QaUsage
from memoryd.sessions.session_changes import Change, SessionChanges, unavailable
from memoryd.sessions.session_files import SessionFiles

SESSIONS: Final = "memory/sessions"
ARCHIVE: Final = "memory/archive"


_TRIES: Final = 20


class PlaceMovedError(Exception):
    """Somebody else has taken turns of the transcript meanwhile; read on from where that is now."""


class _TakenError(Denied):
    """The name of a session is another's."""


@dataclass(frozen=True, slots=True)
class AddedTurn:
    """A turn that was stored; `dropped_answer` is what was not kept of it."""

    session: SessionId
    turn: Turn
    dropped_answer: str | None


@dataclass(frozen=True, slots=True)
class FoundSequence:
    """The turns to put before an agent, in order, and why."""

    choice: SequenceChoice
    turns: tuple[Turn, ...] = ()


class QaStore:
    """The store of one workspace; `open` it first. What writes raises Denied where nothing may be written.

    `on_change` is called, in whatever thread, when the main file is behind: `flush` is to be called soon.
    """

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
        self.workspace = workspace
        self._files = SessionFiles(workspace, SESSIONS)
        self._archive = SessionFiles(workspace, ARCHIVE)
        self._changes = SessionChanges(self._files, self._archive)
        self._main = MainFile(workspace)
        self._known = KnownSessions(commonness)
        self._looking = LookingAtSessions(self._files, self._known)
        self._room = QaRoom(keeping or Keeping(), max_bytes, ArchivedSessions(self._archive))
        self._commonness = commonness
        self._is_read_only = is_read_only
        self._listeners = [on_change]
        self._is_open = False
        self._writing = threading.Lock()
        """Held while a file is changed; a question never waits for it."""
        self._forgetting = ForgettingSessions(
            changes=self._changes, main=self._main, known=self._known, writing=self._writing, flush=self.flush
        )

    @property
    def is_open(self) -> bool:
        """Whether it is known which sessions there are."""
        return self._is_open

    @property
    def problems(self) -> list[str]:
        """Files that are not ours or damaged, and stay as they are, each with the reason."""
        return [*self._main.problems, *(f"{path}: {problem}" for path, problem, _ in self.session_problems())]

    @property
    def main_problems(self) -> list[str]:
        """Those of them that are of no session."""
        return list(self._main.problems)

    def session_problems(self) -> list[tuple[str, str, str]]:
        """Return path and reason of those that are of sessions, and whose they are: empty if nobody knows."""
        return [
            (f"{SESSIONS}/{name}.json", one.problem, head_of(one.entry).agent if one.entry else "")
            for name, one in sorted(self._known.all().items())
            if one.problem
        ]

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` as `on_change` is called."""
        self._listeners.append(listener)

    def open(self) -> None:
        """Read the main file, and of the sessions those that changed since it was made."""
        with self._writing, unavailable():
            state, stats = self._main.load(), self._files.stats()
            for entry in state.document.entries:
                name = head_of(entry).id
                if name in stats and state.stamps.get(name) == stamp_of(stats[name]):
                    self._known.take(name, entry, stats[name])
            if self._looking.look() or len(stats) != len(state.document.entries):
                self._on_change()
            self._is_open = True

    def look(self) -> None:
        """See what others have written, so that it is found; costs a stat for each session."""
        with self._writing, unavailable():
            if self._looking.look():
                self._on_change()

    def session_for(self, key: str, agent: str, at: datetime) -> SessionId:
        """Return the session that a turn with a session key belongs to at a time: one that goes on, or a new name."""
        newest = self._going_on(key, agent, at)
        if newest is None:
            # another process may have begun it
            self.look()
            newest = self._going_on(key, agent, at)
        return newest or session_id(key, at.date(), lambda name: not self.has(name))

    def append_by_key(self, key: str, raw: RawTurn, *, agent: str) -> AddedTurn | None:
        """Add a turn to the session of a session key that goes on, or to a new one; as `append` does."""
        for _ in range(_TRIES):
            try:
                return self.append(self.session_for(key, agent, raw.timestamp), raw, agent=agent, key=key)
            except _TakenError:
                # another key got the name between the two calls; the next one is free
                continue
        raise StoreUnavailable(f"no name is free for a session of the key {key!r}")

    def newest_session(self, key: str, agent: str) -> SessionId | None:
        """Return the newest session of an agent with a session key, None if there is none."""
        newest = self._known.newest(agent, key)
        return head_of(newest).id if newest else None

    def current_session(self, key: str, agent: str, at: datetime) -> SessionId | None:
        """Return the session of an agent with a session key that goes on at a time, None if there is none."""
        self.look()
        return self._going_on(key, agent, at)

    def append(self, name: str, raw: RawTurn, *, agent: str, key: str = "") -> AddedTurn | None:
        """Add a turn to a session, which is made if there is none; None if the session is not to be remembered.

        Raises Denied for the session of another agent or key, StoreError for a file that cannot be read,
        StoreUnavailable where the disk stands in the way.
        """
        identity = safe_id(name)
        made: list[MadeTurn] = []

        def added(session: Session) -> Session | None:
            made.clear()
            if session.agent != agent:
                raise _TakenError(f"session {identity} is another agent's")
            if key and session.key not in ("", key):
                raise _TakenError(f"session {identity} is of another session key")
            if place_of(session) is not None:
                # whoever takes its turns counts on being alone with them
                raise _TakenError(f"session {identity} is of a transcript")
            if not session.is_remembered:
                return None
            made.append(made_turn(raw, session, keeping=self._room.keeping, commonness=self._commonness))
            # one that was opened without a key is found by that of whoever goes on with it
            return replace(session, turns=(*session.turns, made[0].turn), key=session.key or key)

        fresh = Session(identity, raw.timestamp, agent=agent, key=key)
        # it was added also where somebody forgets the session at once
        self._change(identity, added, fresh=fresh)
        return AddedTurn(identity, made[0].turn, made[0].dropped_answer) if made else None

    def place(self, file: str, *, agent: str) -> TranscriptPlace | None:
        """Return how far the turns of a transcript were taken, None if none were; raises StoreError."""
        try:
            return place_of(self.session(transcript_session(agent, file), agent=agent))
        except NotFound:
            return None

    def take(
        self,
        found: Sequence[FoundTurn],
        place: TranscriptPlace,
        *,
        before: TranscriptPlace | None,
        agent: str,
        open_seq: int = 0,
        goes_on: bool = False,
    ) -> TakenTurns | None:
        """Add turns of a transcript and note how far it is taken, in one write; `before` is what `place` told.

        The first replaces the turn `open_seq`; with `goes_on` more of the last answer may follow. None if the session
        is not to be remembered. Raises PlaceMovedError, and what `append` does.
        """
        name, key = transcript_session(agent, place.file), transcript_key(place.file)
        taken: list[TakenTurns] = []

        def added(session: Session) -> Session | None:
            taken.clear()
            if (session.agent, session.key) != (agent, key):
                raise _TakenError(f"session {name} is of no transcript {place.file!r} of this agent")
            if not session.is_remembered:
                return None
            if place_of(session) != before:
                raise PlaceMovedError(name)
            rules = self._room.keeping, self._commonness
            taken.append(with_turns(session, found, place, *rules, open_seq=open_seq, goes_on=goes_on))
            return None if taken[0].session == session else taken[0].session

        self._change(name, added, fresh=Session(name, found[0].at, agent=agent, key=key))
        return taken[0] if taken else None

    def mark(self, session: SessionId, seq: int, answer: str | None, *, agent: str) -> None:
        """Keep this answer with a turn, or none; raises NotFound if there is no such turn of the agent's."""
        clean, session = None if answer is None else redacted(answer), safe_id(session)

        def marked(stored: Session) -> Session:
            if stored.agent != agent or all(turn.seq != seq for turn in stored.turns):
                raise NotFound(f"there is no turn {turn_address(session, seq)}")
            turns = (replace(turn, answer=clean) if turn.seq == seq else turn for turn in stored.turns)
            return replace(stored, turns=tuple(turns))

        self._change(session, marked)

    def set_remembered(self, session: SessionId, is_remembered: bool, *, agent: str) -> None:
        """Mark a session "do not remember", or take that back; its turns stay. Raises NotFound if there is none."""
        session = safe_id(session)

        def marked(stored: Session) -> Session:
            if stored.agent != agent:
                raise NotFound(f"there is no session {session}")
            return replace(stored, is_remembered=is_remembered)

        self._change(session, marked)

    def forget(self, session: SessionId, *, agent: str) -> ForgottenFiles:
        """Remove a session from every file of ours; raises NotFound, Denied, StoreError."""
        self._allow_writing()
        return self._forgetting.forget(self.session(session, agent=agent))

    def finish_forgetting(self, session: SessionId, *, agent: str, asked_at: datetime) -> None:
        """End what a kill ended; a session of the same name that began after it was asked for stays."""
        self._allow_writing()
        with contextlib.suppress(NotFound):
            stored = self.session(session, agent=agent)
            if stored.created <= asked_at:
                self._forgetting.forget(stored)
        self._forgetting.forget_remains(Session(session, asked_at))

    def sweep(self) -> None:
        """Remove what writers that were killed left: each draft holds a whole session or all of them."""
        self._allow_writing()
        self._forgetting.sweep()

    def session(self, session: SessionId, *, agent: str) -> Session:
        """Return a session of an agent with all its turns, from the archive too; raises NotFound."""
        stored = self._changes.read(safe_id(session)).session
        if stored.agent != agent:
            raise NotFound(f"there is no session {session}")
        return stored

    def has(self, session: SessionId) -> bool:
        """Tell whether there is a file of a session, in the archive too."""
        return self._files.has(session) or self._archive.has(session)

    def sessions(self, agent: str) -> list[Entry]:
        """Return the sessions of an agent that are not in the archive, the newest first."""
        return sorted(self._known.of(agent), key=lambda entry: entry.last_activity, reverse=True)

    def archived(self, agent: str) -> list[SessionStub]:
        """Return the sessions of an agent in the archive, the newest first, without their turns."""
        with self._writing, unavailable():
            stubs = self._room.archived.look()
        return [stub for stub in reversed(stubs) if stub.session.agent == agent]

    @property
    def usage(self) -> QaUsage:
        """How large the files are, as of the last measuring."""
        return self._room.usage

    def make_room(self) -> None:
        """Measure the files, and prune the archive as far as they are too large; raises StoreError."""
        # the lock is let go after each: who adds a turn must not wait for all of them
        while self._made_room():
            pass

    def _made_room(self) -> bool:
        with self._writing, unavailable():
            others = self._main.size() + sum(stat.size for stat in self._files.stats().values())
            if self._is_read_only:
                self._room.measure(others)
                return False
            return self._room.make(self._changes, others)

    def states(self, agent: str) -> dict[SessionId, str]:
        """Return what tells whether a session of an agent has changed, by session; the archive's begin with `archive`.

        Those marked "do not remember" are left out. Empty where a file is damaged; of the archive it is not known
        whose they are before they are read.
        """
        with unavailable():
            archived = {name: f"archive {_state(stat)}" for name, stat in self._archive.stats().items()}
        own = {name: _state(stat) if stat else "" for name, stat in self._known.stats(agent).items()}
        # of a session that is on its way the archive has a copy for a moment
        return {**{name: state for name, state in archived.items() if self._known.get(name) is None}, **own}

    def context(
        self, message: str | None, *, agent: str, current: str | None = None, turns: int = TURNS, budget: int = BUDGET
    ) -> FoundSequence:
        """Return the turns to put before an agent for a message, or without one, of its own sessions alone."""
        here = safe_id(current) if current else None
        if here is not None:
            # another process may have added to it
            self._looking.refresh(here)
        keys = None if message is None else message_keys(message, self._commonness)
        choice = self._known.chosen(keys, agent, here, turns)
        known = self._known.get(choice.session) if choice.session else None
        if known is None or known.entry is None:
            return FoundSequence(choice)
        if isinstance(known.entry, Session):
            whole = known.entry
        else:
            try:
                whole = self.session(known.entry.session.id, agent=agent)
            except (NotFound, StoreError):
                # gone or damaged since it was seen; `problems` tells
                return FoundSequence(choice)
        return FoundSequence(choice, sequence(whole, last_seq=choice.last_seq, turns=turns, budget=budget))

    def learn(self) -> None:
        """Read the long sessions that the main file has no words of, one after the other, so that words find them."""
        for name in self._known.unlearned():
            # gone or damaged since it was seen; `problems` tells
            with contextlib.suppress(NotFound, StoreError):
                self._known.learn(self._changes.read(name).session)

    def flush(self) -> None:
        """Bring the main file up to date with the sessions, those that others wrote too."""
        self._allow_writing()
        with self._writing, unavailable():
            self._looking.look()
            known = self._known.all()
            entries = [one.entry for one in known.values() if one.entry is not None]
            stamps = {name: stamp_of(one.stat) for name, one in known.items() if not one.problem}
            self._files.settle()
            self._main.write(entries, stamps)

    def archive(self, now: datetime) -> list[SessionId]:
        """Move the sessions that have grown old to the archive, and return them."""
        self._allow_writing()
        entries = (one.entry for one in self._known.all().values() if one.entry is not None and not one.problem)
        old = [head_of(entry).id for entry in entries if self._room.usual.is_old(entry.last_activity, now)]
        moved = [name for name in old if self._put_away(name, now)]
        if moved:
            self._on_change()
        return moved

    def _going_on(self, key: str, agent: str, at: datetime) -> SessionId | None:
        newest = self._known.newest(agent, key)
        return head_of(newest).id if newest is not None and not is_over(newest.last_activity, at) else None

    def _put_away(self, name: SessionId, now: datetime) -> bool:
        with self._writing:
            is_moved = self._changes.put_away(name, lambda one: self._room.usual.is_old(one.last_activity, now))
            if is_moved:
                self._known.drop(name)
        return is_moved

    def _change(self, name: SessionId, change: Change, *, fresh: Session | None = None) -> bool:
        """Change a session and return whether anything was written."""
        self._allow_writing()
        with self._writing:
            stored = self._changes.change(name, change, fresh=fresh)
            if stored is not None:
                self._known.take(name, stored.session, stored.stat)
                self._on_change()
        return stored is not None

    def _on_change(self) -> None:
        for listener in self._listeners:
            listener()

    def _allow_writing(self) -> None:
        if self._is_read_only:
            raise Denied("nothing is written: memory.readOnly is true", hint="set memory.readOnly: false")


def _state(stat: FileStat) -> str:
    return f"{stat.inode}:{':'.join(map(str, stamp_of(stat)))}"
