"""All conversations of one agent: its sessions of questions and answers, and transcripts of other programs."""

import asyncio
import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.workspace.qa import WorkspaceQa, enabled
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import RelativePath, SessionId, turns_path
from memoryd.domain.sessions.documents import Entry, counted
from memoryd.domain.sessions.turns import Session
from memoryd.domain.skips import SkipReason
from memoryd.errors import NotFound, StoreError
from memoryd.replies.conversations import SessionEntryReply
from memoryd.sessions.qa_store import ForgottenFiles, QaStore
from memoryd.sessions.transcripts.folders import TranscriptFile, TranscriptFolders
from memoryd.sessions.transcripts.reading import begins_alike, is_one
from memoryd.store.index.conversations import ConversationExtent, KnownConversation

_Listed = tuple[datetime, SessionEntryReply]
"""When something was said last in a conversation, and how it is listed."""


class QaSessions(Struct, frozen=True):
    """The sessions of one agent; without `shared` questions and answers are off, and nothing is listed.

    What changes files raises Disabled then, and Denied where nothing may be written; all raise NotNow and
    StoreUnavailable while the files cannot be used.
    """

    agent: str
    shared: WorkspaceQa | None

    async def all(self) -> list[tuple[Entry, bool]]:
        """Return all, and whether each is in the archive, that in which something was said last first."""
        return [] if self.shared is None else await self.shared.read(self._list_sessions)

    async def find(self, session: SessionId) -> Session | None:
        """Return a session with its turns, None if there is none."""
        if self.shared is None:
            return None
        try:
            return await self.shared.read(lambda store: store.sessions.read(session, agent=self.agent))
        except NotFound:
            return None

    async def knows(self, session: SessionId) -> bool:
        """Tell whether there is a session, be it damaged or the folder of the workspace gone."""
        if self.shared is None:
            return False
        return await self.shared.read(lambda store: store.sessions.knows(session, agent=self.agent))

    async def known(self, session: SessionId) -> tuple[ForgottenFiles, str]:
        """Return how much is known of a session, which may be nothing, and why it cannot be read; empty if it can."""
        if self.shared is None:
            return ForgottenFiles(), ""
        return await self.shared.read(lambda store: self._count_files(store, session))

    def _count_files(self, store: QaStore, session: SessionId) -> tuple[ForgottenFiles, str]:
        entry, problem = None, ""
        try:
            entry = store.sessions.read(session, agent=self.agent)
        except StoreError as exc:
            problem = str(exc)
        except NotFound:
            pass
        known = entry or store.sessions.entry(session, agent=self.agent)
        return ForgottenFiles(int(store.sessions.has(session)), *(counted(known) if known else ())), problem

    async def forget(self, session: SessionId) -> ForgottenFiles:
        """Remove a session from every file of ours, be it damaged; raises NotFound."""
        return await enabled(self.shared).write(lambda store: store.forgetting.forget(session, agent=self.agent))

    async def finish_forgetting(self, session: SessionId, asked_at: datetime) -> None:
        """End what a kill ended."""
        await enabled(self.shared).write(
            lambda store: store.forgetting.finish(session, agent=self.agent, asked_at=asked_at)
        )

    async def set_remembered(self, session: SessionId, is_remembered: bool) -> None:
        """Mark a session, or take that back; raises NotFound."""
        await enabled(self.shared).write(
            lambda store: store.turns.set_remembered(session, is_remembered, agent=self.agent)
        )

    async def current(self, key: str) -> SessionId | None:
        """Return the session of a key that goes on, None if there is none or they are off."""
        if self.shared is None:
            return None
        now = self.shared.now()
        return await self.shared.read(lambda store: store.turns.current_session(key, self.agent, now))

    @property
    def is_writable(self) -> bool:
        """Whether sessions may be changed."""
        return self.shared is not None and not self.shared.is_read_only

    def check_writable(self) -> None:
        """Raise Disabled or Denied where nothing may be written."""
        enabled(self.shared).check_writable()

    def _list_sessions(self, store: QaStore) -> list[tuple[Entry, bool]]:
        store.sessions.look()
        found: list[tuple[Entry, bool]] = [(one, False) for one in store.sessions.of(self.agent)]
        found += [(one, True) for one in store.archive.stubs(self.agent)]
        return sorted(found, key=lambda one: one[0].last_activity, reverse=True)


class _Indexed(Struct, frozen=True):
    """What the index has; `trouble` says why nobody knows."""

    known: Mapping[RelativePath, KnownConversation]
    extents: Mapping[RelativePath, ConversationExtent]
    trouble: str = ""
    left_out: Mapping[RelativePath, str] = {}
    """Why some cannot be read, or are not to be."""

    def reason(self, path: RelativePath) -> str:
        """Return why a conversation cannot be searched as it is now."""
        if self.trouble:
            return self.trouble
        one = self.known.get(path)
        if one is None or not one.stamp:
            return (one.problem if one is not None else "") or self.left_out.get(path, SkipReason.NOT_READ_YET)
        return one.problem or self.left_out.get(path, "")


class ConversationList(Struct, frozen=True):
    """Lists the conversations of one agent; of its transcripts those too that are not read or are withheld."""

    qa: QaSessions
    index: AgentConversations
    folders: TranscriptFolders

    async def all(self) -> list[SessionEntryReply]:
        """Return all, that in which something was said last first; raises StoreError, NotNow."""
        indexed = await self._snapshot()
        await self.index.withheld.load()
        is_withheld = self.index.withheld.withholds_path
        listed = [
            _session(one, indexed, is_archived=is_archived, is_pending_forget=is_withheld(turns_path(one.head.id)))
            for one, is_archived in await self.qa.all()
        ]
        listed += await self._transcripts(indexed)
        return [reply for _, reply in sorted(listed, key=lambda one: (one[0], one[1]["id"]), reverse=True)]

    async def transcripts(self) -> Mapping[RelativePath, TranscriptFile]:
        """Return all transcripts on disk; of two of one name the first, as the index has it."""
        return (await asyncio.to_thread(self.folders.look)).transcripts

    async def file_of(self, path: RelativePath) -> Path | None:
        """Return where a transcript lies, None if it does not."""
        found = (await self.transcripts()).get(path)
        return None if found is None else found.path

    async def alike(self, path: RelativePath, file: Path | None) -> tuple[list[RelativePath], list[RelativePath]]:
        """Return the copies of a transcript that lies at `file`, or did when it was forgotten, and its forks.

        All begin as it does; those that go on otherwise are forks.
        """
        await self.index.withheld.load()
        return await asyncio.to_thread(self._alike, path, file)

    async def copied(self, path: RelativePath) -> str | None:
        """Return the other name under which a transcript was forgotten that has all bytes of that one."""
        await self.index.withheld.load()
        file = await self.file_of(path)
        return None if file is None else await asyncio.to_thread(self._copy_of, path, file)

    def _copy_of(self, path: RelativePath, file: Path) -> str | None:
        # one that cannot be read is not read by anybody
        with contextlib.suppress(OSError):
            like = self.index.withheld.forgotten_transcript_in(file, other_than=path)
            return None if like is None else like.name
        return None

    def _alike(self, path: RelativePath, file: Path | None) -> tuple[list[RelativePath], list[RelativePath]]:
        withheld = self.index.withheld
        forgotten = withheld.withheld_transcript(path)
        copies, forks = list[RelativePath](), list[RelativePath]()
        for other, found in self.folders.look().transcripts.items():
            # one that cannot be read is not read by anybody
            with contextlib.suppress(OSError):
                if other == path:
                    continue
                is_copy = file is not None and is_one(file, found.path)
                if is_copy or (forgotten is not None and withheld.begins_with(found.path, forgotten)):
                    copies.append(other)
                elif file is not None and begins_alike(file, found.path):
                    forks.append(other)
        return copies, forks

    async def _snapshot(self) -> _Indexed:
        if not self.index.is_wanted:
            return _Indexed({}, {}, "nothing of conversations is indexed")
        try:
            known, extents = await self.index.writer.known(), await self.index.database.conversations.extents()
            return _Indexed(known, extents, "", self._left_out())
        except StoreError as exc:
            return _Indexed({}, {}, self.index.trouble or str(exc))

    def _left_out(self) -> Mapping[RelativePath, str]:
        seen = self.index.seen
        skipped = {} if seen is None else {one.path: one.reason for one in seen.skipped}
        return {**skipped, **self.index.failures}

    async def _transcripts(self, indexed: _Indexed) -> list[_Listed]:
        found = await self.transcripts()
        await self.index.withheld.load()
        unread = {path: one for path, one in found.items() if path not in indexed.extents}
        named = {RelativePath(one.name): one.is_forgotten for one in self.index.withheld.withheld_transcripts()}
        # those, too, that were forgotten under another name
        copies = await asyncio.to_thread(
            lambda: [path for path, one in unread.items() if self._copy_of(path, one.path)]
        )
        withheld = {**dict.fromkeys(copies, True), **named}
        return [
            _transcript(path, found.get(path), withheld.get(path), indexed) for path in found.keys() | withheld.keys()
        ]


def _session(entry: Entry, indexed: _Indexed, *, is_archived: bool, is_pending_forget: bool) -> _Listed:
    session, (turns, answers) = entry.head, counted(entry)
    path, is_remembered = turns_path(session.id), session.is_remembered and not is_pending_forget
    reason = indexed.reason(path) if is_remembered else _why_excluded(is_pending_forget)
    return entry.last_activity, SessionEntryReply(
        id=path,
        kind="qa",
        key=session.key or None,
        turns=turns,
        answers=answers,
        lines=None,
        bytes=None,
        firstActivity=rfc3339(session.created),
        lastActivity=rfc3339(entry.last_activity),
        archived=is_archived,
        indexed=not reason,
        reason=reason or None,
        remembered=is_remembered,
    )


def _transcript(
    path: RelativePath, found: TranscriptFile | None, is_forgotten: bool | None, indexed: _Indexed
) -> _Listed:
    extent = indexed.extents.get(path)
    reason = indexed.reason(path) if is_forgotten is None else _why_excluded(is_forgotten)
    # of what was not read, its file was written when something was said last
    at_ns = extent.last_ns if extent is not None and extent.last_ns else found.stat.mtime_ns if found else 0
    ended = datetime.fromtimestamp(at_ns / 1e9, UTC) if at_ns else None
    return ended or datetime.min.replace(tzinfo=UTC), SessionEntryReply(
        id=path,
        kind="transcript",
        key=None,
        turns=None,
        answers=None,
        lines=extent.last_line if extent else None,
        bytes=found.stat.size if found else None,
        firstActivity=None,
        lastActivity=rfc3339(ended),
        archived=False,
        indexed=not reason,
        reason=reason or None,
        remembered=is_forgotten is None,
    )


def _why_excluded(is_forgotten: bool) -> str:
    return SkipReason.SESSION_FORGOTTEN if is_forgotten else SkipReason.SESSION_MARKED
