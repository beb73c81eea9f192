"""Reading lines of a document that an agent's memory holds, and verifying a citation of it."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable
from datetime import date

from msgspec import Struct

from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.config.agents import Agent
from memoryd.domain.access import Admitted
from memoryd.domain.documents import RelativePath, is_conversation, is_document_name, parse
from memoryd.domain.media import LABELS, modality_of
from memoryd.domain.memories.book import Book, book_of, verified
from memoryd.domain.memories.kinds import ShortId, Visibility, short_id
from memoryd.domain.memories.sections import is_of_memories
from memoryd.domain.memories.visibility import hidden_generated_lines, hidden_lines
from memoryd.domain.text.standing import standing_of
from memoryd.errors import InvalidRequest, MemorydError, NotFound, NotNow, StoreError
from memoryd.files.excerpts import (
    QMD_PREFIX,
    Excerpt,
    FileLocation,
    LineRange,
    Presence,
    hidden_by,
    indexed_name,
    location_of,
    read_lines,
    without,
)
from memoryd.files.reading import NotReadableError, TornReadError, read_snapshot, utf8_of
from memoryd.memory.book import MemoryCache
from memoryd.memory.journal import Journal
from memoryd.qmd.agent import AgentQmd
from memoryd.replies.changes import VerifyReply
from memoryd.replies.search import FileReply

_TRIES = 3
NO_BYTES = "memoryd returns no bytes of pictures and sounds; open the file itself"


class AgentFiles(Struct, frozen=True, kw_only=True):
    """The documents of one agent; only what is indexed can be read, and nothing that is withdrawn."""

    agent: Agent
    index: WorkspaceIndex
    """The agent's path may lead elsewhere than its workspace by now, where other rules hold."""
    qmd: AgentQmd | None
    book: Callable[[], Awaitable[Book]]
    today: Callable[[], date]
    """The owner's day."""

    async def read(self, path: str, asked: LineRange, visibility: Visibility) -> FileReply:
        """Return lines of a document; raises InvalidRequest for a picture or sound, NotFound, NotNow.

        Lines that state memories beyond the reach of whoever asks are left empty, as are those that reflect wrote and
        that rest on such, or on what is gone.
        """
        if not path:
            raise InvalidRequest("the path is missing", hint="GET /v1/files/memory/2026-11-18.md")
        name, location = await self._find(path)
        told = (
            frozenset() if visibility.is_owner or not is_of_memories(name) else await self._visible_memories(visibility)
        )
        excerpt = await asyncio.to_thread(self._read, RelativePath(name), location, asked, visibility, told)
        lines = excerpt.lines
        return FileReply(
            {
                "path": name,
                "text": lines.text,
                "from": asked.first,
                "lines": lines.count,
                "column": asked.column,
                "totalLines": lines.total,
                "sha256": excerpt.sha256,
                "truncated": lines.next_first is not None or lines.next_column is not None,
                "nextFrom": lines.next_first,
                "nextColumn": lines.next_column,
                "flags": [one.value for one in (*excerpt.flags, *standing_of(excerpt.marks, self.today()))],
            }
        )

    async def _visible_memories(self, visibility: Visibility) -> frozenset[ShortId]:
        """Return the memories that may be told, as pages name them; none where the index does not say."""
        try:
            book = await self.book()
        except StoreError:
            return frozenset()
        every = book.memories.items()
        return frozenset(short_id(key) for key, memory in every if visibility.admits(memory.line.attributes.scope))

    def _read(
        self,
        name: RelativePath,
        location: FileLocation,
        asked: LineRange,
        visibility: Visibility,
        told: frozenset[ShortId],
    ) -> Excerpt:
        size, follows = self.index.rules.max_file_bytes, self.agent.memory_search.follow_symlinks
        for _ in range(_TRIES):
            excerpt = read_lines(location, asked, max_bytes=size, follow_symlinks=follows)
            self._check_rules(name)
            if visibility.is_owner or not is_of_memories(name):
                return excerpt
            try:
                content = read_snapshot(location.base, location.relative, max_bytes=size, follow_symlinks=follows)
            except (OSError, NotReadableError, TornReadError):
                continue
            if content.sha256.hex() == excerpt.sha256:
                data = utf8_of(content)[0]
                hidden = hidden_lines(data, name, visibility) | hidden_generated_lines(data, told.__contains__)
                return without(excerpt, asked, hidden)
        raise NotNow(f"{name!r} is being written", hint="ask again in a moment")

    def _check_rules(self, name: RelativePath) -> None:
        """Hold a document against the rules, which may have been saved since it was indexed; qmd's were looked at."""
        hidden = None if name.startswith(QMD_PREFIX) else hidden_by(self.index.rules.rules(), name)
        if hidden is not None and hidden.presence is Presence.STALE:
            raise NotNow(f"{name!r} cannot be read now: {hidden.reason}", hint="ask again in a moment")
        if hidden is not None:
            raise NotFound(f"no document {name!r} is indexed", hint="paths are relative to the workspace")

    async def _find(self, path: str) -> tuple[str, FileLocation]:
        name, rules = indexed_name(path, self.agent.workspace), self.index.rules
        modality = modality_of(name)
        is_document = modality is not None or is_document_name(name.rpartition("/")[2])
        is_included = is_document and name not in self.index.indexer.withdrawn
        if is_included and await self.index.database.documents.is_indexed(name):
            if modality is not None:
                kind = LABELS[modality].lower()
                raise InvalidRequest(f"{path!r} is an {kind}: it is found by search and has no lines", hint=NO_BYTES)
            # in a thread: the roots are globs, and a folder of them may hold very much or hang
            return name, await asyncio.to_thread(lambda: location_of(name, rules.workspace, rules.roots()))
        if path.startswith(QMD_PREFIX) and self.qmd is not None:
            found = await asyncio.to_thread(self.qmd.files.named, path)
            return path, found
        raise NotFound(f"no document {path!r} is indexed", hint="paths are relative to the workspace")


FOLLOW_SECONDS = 5.0


class AgentVerifying(Struct, frozen=True, kw_only=True):
    """Verifies citations of one agent's notes; of memories of others it knows nothing."""

    agent: Agent
    book: MemoryCache
    journal: Journal
    index: WorkspaceIndex

    async def verify(self, text: str, admitted: Admitted) -> VerifyReply:
        """Return what became of a citation; raises InvalidRequest for what is none, StoreError."""
        try:
            citation = parse(text)
        except ValueError as exc:
            raise InvalidRequest(str(exc)) from exc
        if is_conversation(citation.path) or citation.path.startswith(QMD_PREFIX):
            opens = "sessions show" if is_conversation(citation.path) else "get"
            hint = f"memoryctl {opens} {shlex.quote(text)} shows what is there now"
            raise InvalidRequest(f"{text} is of no note of the workspace, and only those are verified", hint=hint)
        if citation.start_line is None:
            raise InvalidRequest(f"{text} names no lines", hint="give a citation such as memory/2026-11-20.md#L12")
        # what was saved a moment ago counts: the citation is held against the disk
        await self.index.follow(FOLLOW_SECONDS)
        book = self._reaching(await self.book.now(), admitted)
        check = verified(book, citation, await self._count_lines(citation.path))
        memory = check.memory
        return VerifyReply(
            citation=text,
            state=check.state.value,
            now=None if check.now is None else str(check.now),
            id=None if memory is None else memory.id,
            content=None if memory is None else memory.line.text,
            supersededBy=[newer for newer, olds in book.superseded.items() if memory is not None and memory.id in olds],
            note=check.note or None,
        )

    def _reaching(self, book: Book, admitted: Admitted) -> Book:
        visibility = Visibility.of(self.agent.id, admitted)
        sources = [
            source
            for memory in book.memories.values()
            for source in memory.sources
            if visibility.admits(source.line.attributes.scope)
        ]
        return book_of(sources, book.pages.values())

    async def _count_lines(self, path: str) -> int | None:
        """Count the lines of a note as it stands; None if nothing may be told of it."""
        try:
            text = (await self.journal.read(RelativePath(path), is_shown=True)).text
        except MemorydError:
            return None
        return None if text is None else len(text.removesuffix("\n").split("\n"))
