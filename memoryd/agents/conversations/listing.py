"""All conversations of one agent: its sessions of questions and answers, and the transcripts of other programs."""

import asyncio
import contextlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.workspace.qa import WorkspaceQa, require_qa
from memoryd.domain.clock import rfc3339
from memoryd.domain.documents import RelativePath, SessionId, turns_path
from memoryd.domain.sessions.documents import Entry, counted
from memoryd.domain.sessions.turns import Session
from memoryd.domain.skips import SkipReason
from memoryd.errors import NotFound, StoreError
from memoryd.replies.conversations import SessionEntryReply
from memoryd.sessions.qa_store import ForgottenFiles, QaStore
from memoryd.sessions.transcripts.folders import TranscriptFile, TranscriptFolders
from memoryd.sessions.transcripts.reading import begins_alike, is_same_conversation
from memoryd.store.index.conversations import ConversationExtent, KnownConversation

_Listed = tuple[datetime, SessionEntryReply]
"""The time of the last message of a conversation, and its list entry."""


class QaSessions(Struct, frozen=True):
    """The sessions of one agent. Without `shared` questions and answers are off, and nothing is listed.

    Methods that change files then raise Disabled, and Denied if nothing may be written. All raise NotNow and
    StoreUnavailable while the files cannot be used.
    """

    agent: str
    shared: WorkspaceQa | None

    async def all(self) -> list[tuple[Entry, bool]]:
        """Return all sessions, the last active first, each with whether it is in the archive."""
        return [] if self.shared is None else await self.shared.read(self._list_sessions)

    async def find(self, session: SessionId) -> Session | None:
        """Return a session with its turns, or None if it does not exist."""
        if self.shared is None:
            return None
        try:
            return await self.shared.read(lambda store: store.sessions.read(session, agent=self.agent))
        except NotFound:
            return None

    async def knows(self, session: SessionId) -> bool:
        """Return whether a session exists, even if it is damaged or the folder of the workspace is missing."""
        if self.shared is None:
            return False
        return await self.shared.read(lambda store: store.sessions.knows(session, agent=self.agent))

    async def count_files(self, session: SessionId) -> tuple[ForgottenFiles, str]:
        """Return the counted files, turns and answers of a session, and why it cannot be read; empty if it can."""
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
        """Remove a session from all our files, even if it is damaged. Raises NotFound."""
        return await require_qa(self.shared).write(lambda store: store.forget(session, agent=self.agent))

    async def finish_forgetting(self, session: SessionId, requested_at: datetime) -> None:
        """Finish a removal that was interrupted."""
        await require_qa(self.shared).write(
            lambda store: store.finish_forgetting(session, agent=self.agent, asked_at=requested_at)
        )

    async def set_remembered(self, session: SessionId, is_remembered: bool) -> None:
        """Mark a session as remembered or not. Raises NotFound."""
        await require_qa(self.shared).write(
            lambda store: store.turns.set_remembered(session, is_remembered, agent=self.agent)
        )

    async def current(self, key: str) -> SessionId | None:
        """Return the open session of a key, or None if there is none or questions and answers are off."""
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
        require_qa(self.shared).check_writable()

    def _list_sessions(self, store: QaStore) -> list[tuple[Entry, bool]]:
        store.sessions.scan()
        sessions: list[tuple[Entry, bool]] = [(entry, False) for entry in store.sessions.of(self.agent)]
        sessions += [(entry, True) for entry in store.archive.stubs(self.agent)]
        return sorted(sessions, key=lambda item: item[0].last_activity, reverse=True)


class _Indexed(Struct, frozen=True):
    """A snapshot of the index; `trouble` says why it cannot be read."""

    known: Mapping[RelativePath, KnownConversation]
    extents: Mapping[RelativePath, ConversationExtent]
    trouble: str = ""
    left_out: Mapping[RelativePath, str] = {}
    """The reasons why conversations cannot be read, or must not be."""

    def reason(self, path: RelativePath) -> str:
        """Return why the current content of a conversation cannot be searched; empty if it can."""
        if self.trouble:
            return self.trouble
        conversation = self.known.get(path)
        if conversation is None or not conversation.stamp:
            problem = "" if conversation is None else conversation.problem
            return problem or self.left_out.get(path, SkipReason.NOT_READ_YET)
        return conversation.problem or self.left_out.get(path, "")


class ConversationList(Struct, frozen=True):
    """Lists the conversations of one agent, including transcripts that are not read or are withheld."""

    qa: QaSessions
    index: AgentConversations
    folders: TranscriptFolders

    async def all(self) -> list[SessionEntryReply]:
        """Return all conversations, the last active first. Raises StoreError, NotNow."""
        indexed = await self._snapshot()
        await self.index.withheld.load()
        is_withheld = self.index.withheld.withholds_path
        listed = [
            _session(entry, indexed, is_archived=is_archived, is_pending_forget=is_withheld(turns_path(entry.head.id)))
            for entry, is_archived in await self.qa.all()
        ]
        listed += await self._transcripts(indexed)
        return [reply for _, reply in sorted(listed, key=lambda item: (item[0], item[1]["id"]), reverse=True)]

    async def transcripts(self) -> Mapping[RelativePath, TranscriptFile]:
        """Return all transcripts on disk; of several with the same name the first, as the index does."""
        return (await asyncio.to_thread(self.folders.scan)).transcripts

    async def file_of(self, path: RelativePath) -> Path | None:
        """Return the file of a transcript, or None if it does not exist."""
        transcript = (await self.transcripts()).get(path)
        return None if transcript is None else transcript.path

    async def copies_and_forks(
        self, path: RelativePath, file: Path | None
    ) -> tuple[list[RelativePath], list[RelativePath]]:
        """Return the copies and the forks of a transcript that lies at `file`, or did when it was forgotten.

        Both begin as it does; a fork continues differently.
        """
        await self.index.withheld.load()
        return await asyncio.to_thread(self._copies_and_forks, path, file)

    async def forgotten_original(self, path: RelativePath) -> str | None:
        """Return the name of a forgotten transcript that this one contains completely; None without one."""
        await self.index.withheld.load()
        file = await self.file_of(path)
        return None if file is None else await asyncio.to_thread(self._copy_of, path, file)

    def _copy_of(self, path: RelativePath, file: Path) -> str | None:
        # an unreadable transcript is not indexed either
        with contextlib.suppress(OSError):
            match = self.index.withheld.forgotten_transcript_in(file, other_than=path)
            return None if match is None else match.name
        return None

    def _copies_and_forks(self, path: RelativePath, file: Path | None) -> tuple[list[RelativePath], list[RelativePath]]:
        withheld = self.index.withheld
        forgotten = withheld.withheld_transcript(path)
        copies, forks = list[RelativePath](), list[RelativePath]()
        for other, transcript in self.folders.scan().transcripts.items():
            # an unreadable transcript is not indexed either
            with contextlib.suppress(OSError):
                if other == path:
                    continue
                is_copy = file is not None and is_same_conversation(file, transcript.path)
                if is_copy or (forgotten is not None and withheld.begins_with(transcript.path, forgotten)):
                    copies.append(other)
                elif file is not None and begins_alike(file, transcript.path):
                    forks.append(other)
        return copies, forks

    async def _snapshot(self) -> _Indexed:
        if not self.index.is_wanted:
            return _Indexed({}, {}, "conversations are not indexed")
        try:
            known, extents = await self.index.writer.known(), await self.index.database.conversations.extents()
            return _Indexed(known, extents, "", self._skip_reasons())
        except StoreError as exc:
            return _Indexed({}, {}, self.index.trouble or str(exc))

    def _skip_reasons(self) -> Mapping[RelativePath, str]:
        seen = self.index.seen
        skipped = {} if seen is None else {skip.path: skip.reason for skip in seen.skipped}
        return {**skipped, **self.index.failures}

    async def _transcripts(self, indexed: _Indexed) -> list[_Listed]:
        transcripts = await self.transcripts()
        await self.index.withheld.load()
        unread = {path: transcript for path, transcript in transcripts.items() if path not in indexed.extents}
        named = {RelativePath(mark.name): mark.is_forgotten for mark in self.index.withheld.withheld_transcripts()}
        # and transcripts that were forgotten under another name
        copies = await asyncio.to_thread(
            lambda: [path for path, transcript in unread.items() if self._copy_of(path, transcript.path)]
        )
        withheld = {**dict.fromkeys(copies, True), **named}
        return [
            _transcript(path, transcripts.get(path), withheld.get(path), indexed)
            for path in transcripts.keys() | withheld.keys()
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
    path: RelativePath, file: TranscriptFile | None, is_forgotten: bool | None, indexed: _Indexed
) -> _Listed:
    extent = indexed.extents.get(path)
    reason = indexed.reason(path) if is_forgotten is None else _why_excluded(is_forgotten)
    # for a transcript that was not read, the time of its last message is the modification time of its file
    at_ns = extent.last_ns if extent is not None and extent.last_ns else file.stat.mtime_ns if file else 0
    ended = datetime.fromtimestamp(at_ns / 1e9, UTC) if at_ns else None
    return ended or datetime.min.replace(tzinfo=UTC), SessionEntryReply(
        id=path,
        kind="transcript",
        key=None,
        turns=None,
        answers=None,
        lines=extent.last_line if extent else None,
        bytes=file.stat.size if file else None,
        firstActivity=None,
        lastActivity=rfc3339(ended),
        archived=False,
        indexed=not reason,
        reason=reason or None,
        remembered=is_forgotten is None,
    )


def _why_excluded(is_forgotten: bool) -> str:
    return SkipReason.SESSION_FORGOTTEN if is_forgotten else SkipReason.SESSION_MARKED
