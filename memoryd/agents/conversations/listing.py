"""All conversations of one agent in one list: sessions of questions and answers, and transcripts of other programs."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, field

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.conversations.forgetting import AlikeTranscripts
from memoryd.agents.conversations.qa_sessions import QaSessions, StoredEntry
from memoryd.domain.citations import transcript_path, turns_path
from memoryd.domain.documents import FileStat, RelativePath
from memoryd.domain.sessions.transcripts.records import TranscriptFormat
from memoryd.domain.skips import SkipReason
from memoryd.errors import StoreError
from memoryd.sessions.transcripts.folders import TranscriptFolder, find_transcripts
from memoryd.sessions.transcripts.reading import begins_alike, is_one
from memoryd.store.index.conversations import ConversationExtent, KnownConversation


class FoundTranscript(Struct, frozen=True):
    """A transcript on disk, and of which program it is, if the configuration says."""

    file: Path
    stat: FileStat
    whose: TranscriptFormat | None = None


class TranscriptFinder:
    """Finds the transcripts of one agent on disk, those too that are not read or are withheld."""

    def __init__(self, agent: str, folders: Sequence[TranscriptFolder]) -> None:
        self._agent = agent
        self._folders = folders

    def found(self) -> Mapping[RelativePath, FoundTranscript]:
        """Return all by their paths; of two of one name the first, as the index has it. Blocks."""
        transcripts: dict[RelativePath, FoundTranscript] = {}
        for folder in self._folders:
            for name, stat in find_transcripts(folder.path).files.items():
                path = transcript_path(self._agent, name)
                transcripts.setdefault(path, FoundTranscript(folder.path / name, stat, folder.whose))
        return transcripts


class ListedConversation(Struct, frozen=True, kw_only=True):
    """A conversation as it is listed; `reason` says why it cannot be searched, empty if it can."""

    path: RelativePath
    key: str = ""
    turns: int | None = None
    answers: int | None = None
    lines: int | None = None
    bytes: int | None = None
    began: datetime | None = None
    ended: datetime | None = None
    is_archived: bool = False
    is_remembered: bool = True
    reason: str = ""


class _Indexed(Struct, frozen=True):
    """What the index has; `trouble` says why nobody knows."""

    known: Mapping[RelativePath, KnownConversation]
    extents: Mapping[RelativePath, ConversationExtent]
    trouble: str = ""
    left_out: Mapping[RelativePath, str] = field(default_factory=dict)
    """Why some cannot be read, or are not to be."""

    def reason(self, path: RelativePath) -> str:
        """Return why a conversation cannot be searched as it is now."""
        if self.trouble:
            return self.trouble
        one = self.known.get(path)
        if one is None or not one.stamp:
            return (one.problem if one is not None else "") or self.left_out.get(path, SkipReason.NOT_READ_YET)
        return one.problem or self.left_out.get(path, "")


class ConversationList:
    """Lists the conversations of one agent."""

    def __init__(self, qa: QaSessions, index: AgentConversations, finder: TranscriptFinder) -> None:
        self._qa = qa
        self._index = index
        self._finder = finder

    async def all(self) -> list[ListedConversation]:
        """Return all, that in which something was said last first; raises StoreError, NotNow."""
        indexed = await self._indexed()
        await self._index.withheld.load()
        names = self._index.withheld.names
        sessions = [_session(one, indexed, is_owed=names(turns_path(one.session.id))) for one in await self._qa.all()]
        listed = [*sessions, *await self._transcripts(indexed)]
        return sorted(listed, key=lambda one: one.ended or datetime.min.replace(tzinfo=UTC), reverse=True)

    async def transcript(self, path: RelativePath) -> FoundTranscript | None:
        """Return a transcript as it lies on disk, None if it does not."""
        return (await self.transcripts()).get(path)

    async def transcripts(self) -> Mapping[RelativePath, FoundTranscript]:
        """Return all transcripts on disk."""
        return await asyncio.to_thread(self._finder.found)

    async def file_of(self, path: RelativePath) -> Path | None:
        """Return where a transcript lies, None if it does not."""
        found = await self.transcript(path)
        return None if found is None else found.file

    async def alike(self, path: RelativePath, file: Path | None) -> AlikeTranscripts:
        """Return the transcripts that begin as one that lies at `file`, or as it did when it was forgotten."""
        await self._index.withheld.load()
        return await asyncio.to_thread(self._alike, path, file)

    async def copied(self, path: RelativePath) -> str | None:
        """Return the other name under which a transcript was forgotten that has all bytes of that one."""
        await self._index.withheld.load()
        file = await self.file_of(path)
        return None if file is None else await asyncio.to_thread(self._copied, path, file)

    def _copied(self, path: RelativePath, file: Path) -> str | None:
        # one that cannot be read is not read by anybody
        with contextlib.suppress(OSError):
            like = self._index.withheld.transcript_like(file, but=path)
            return None if like is None else like.name
        return None

    def _copies(self, found: Mapping[RelativePath, FoundTranscript]) -> dict[RelativePath, bool]:
        """Return those of transcripts that were forgotten under another name."""
        return {path: True for path, one in found.items() if self._copied(path, one.file) is not None}

    def _alike(self, path: RelativePath, file: Path | None) -> AlikeTranscripts:
        withheld = self._index.withheld
        forgotten = withheld.transcript(path)
        copies, forks = list[RelativePath](), list[RelativePath]()
        for other, found in self._finder.found().items():
            # one that cannot be read is not read by anybody
            with contextlib.suppress(OSError):
                if other == path:
                    continue
                is_copy = file is not None and is_one(file, found.file)
                if is_copy or (forgotten is not None and withheld.is_like(found.file, forgotten)):
                    copies.append(other)
                elif file is not None and begins_alike(file, found.file):
                    forks.append(other)
        return AlikeTranscripts(tuple(copies), tuple(forks))

    async def _indexed(self) -> _Indexed:
        if not self._index.is_wanted:
            return _Indexed({}, {}, "nothing of conversations is indexed")
        try:
            known, extents = await self._index.writer.known(), await self._index.database.conversations.extents()
            return _Indexed(known, extents, "", self._left_out())
        except StoreError as exc:
            return _Indexed({}, {}, self._index.trouble or str(exc))

    def _left_out(self) -> Mapping[RelativePath, str]:
        seen = self._index.feeds.seen
        skipped = {} if seen is None else {one.path: one.reason for one in seen.skipped}
        return {**skipped, **self._index.failures}

    async def _transcripts(self, indexed: _Indexed) -> list[ListedConversation]:
        found = await self.transcripts()
        await self._index.withheld.load()
        unread = {path: one for path, one in found.items() if path not in indexed.extents}
        copies = await asyncio.to_thread(self._copies, unread)
        named = {RelativePath(one.name): one.is_forgotten for one in self._index.withheld.transcripts()}
        withheld = {**copies, **named}
        return [
            _transcript(path, found.get(path), withheld.get(path), indexed) for path in found.keys() | withheld.keys()
        ]


def _session(entry: StoredEntry, indexed: _Indexed, *, is_owed: bool) -> ListedConversation:
    session = entry.session
    path = turns_path(session.id)
    return ListedConversation(
        path=path,
        key=session.key,
        turns=entry.turns,
        answers=entry.answers,
        began=session.created,
        ended=entry.last_activity,
        is_archived=entry.is_archived,
        is_remembered=session.is_remembered and not is_owed,
        reason=indexed.reason(path) if session.is_remembered and not is_owed else _why_withheld(is_owed),
    )


def _transcript(
    path: RelativePath, found: FoundTranscript | None, is_forgotten: bool | None, indexed: _Indexed
) -> ListedConversation:
    extent = indexed.extents.get(path)
    return ListedConversation(
        path=path,
        lines=extent.last_line if extent else None,
        bytes=found.stat.size if found else None,
        ended=_time(extent, found),
        is_remembered=is_forgotten is None,
        reason=indexed.reason(path) if is_forgotten is None else _why_withheld(is_forgotten),
    )


def _why_withheld(is_forgotten: bool) -> str:
    return SkipReason.SESSION_FORGOTTEN if is_forgotten else SkipReason.SESSION_MARKED


def _time(extent: ConversationExtent | None, found: FoundTranscript | None) -> datetime | None:
    """Return when something was said last; of what was not read, when its file was written last."""
    at_ns = extent.last_ns if extent is not None and extent.last_ns else found.stat.mtime_ns if found else 0
    return datetime.fromtimestamp(at_ns / 1e9, UTC) if at_ns else None
