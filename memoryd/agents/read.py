"""Reading lines of a document that an agent's memory holds."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from memoryd.config.agents import Agent
from memoryd.domain.citations import conversation_cited
from memoryd.domain.documents import RelativePath, is_document_name
from memoryd.domain.media import LABELS, modality_of
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.kinds import ShortId, short_id
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.domain.memories.sections import is_of_memories
from memoryd.domain.memories.visibility import generated_beyond, lines_beyond
from memoryd.errors import InvalidRequest, NotFound, NotNow, StoreError
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
from memoryd.files.reading import NotReadableError, TornReadError, read_octets, utf8_of
from memoryd.files.scanner import ScanRoot, ScanRules
from memoryd.qmd.agent import AgentQmd
from memoryd.store.index.database import Database

_TRIES = 3
NO_BYTES = "memoryd returns no bytes of pictures and sounds; open the file itself"


@dataclass(frozen=True, slots=True)
class NoteExcerpt:
    """Lines of a document, under the name that search tells."""

    path: str
    asked: LineRange
    excerpt: Excerpt


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFiles:
    """The documents of one agent; only what is indexed can be read, and nothing that is withdrawn."""

    agent: Agent
    workspace: Path
    """The folder that the index is of: the agent's path may lead elsewhere by now, where other rules hold."""
    database: Database
    withdrawn: Container[str]
    roots: Callable[[], Sequence[ScanRoot]]
    rules: Callable[[], ScanRules]
    """Blocks: what `.memoryignore` hides at this moment."""
    max_file_bytes: int
    qmd: AgentQmd | None
    book: Callable[[], Awaitable[Book]]

    async def read(self, path: str, asked: LineRange, reach: MemoryReach) -> NoteExcerpt:
        """Return lines of a document; raises InvalidRequest for a picture or sound, NotFound, NotNow.

        Lines that state memories beyond the reach of whoever asks are left empty, as are those that reflect wrote and
        that rest on such, or on what is gone.
        """
        if not path:
            raise InvalidRequest("the path is missing", hint="GET /v1/files/memory/2026-11-18.md")
        name, location = await self._find(path)
        told = frozenset() if reach.is_owner or not is_of_memories(name) else await self._told(reach)
        excerpt = await asyncio.to_thread(self._read, RelativePath(name), location, asked, reach, told)
        return NoteExcerpt(name, asked, excerpt)

    async def _told(self, reach: MemoryReach) -> frozenset[ShortId]:
        """Return the memories that may be told, as pages name them; none where the index does not say."""
        try:
            book = await self.book()
        except StoreError:
            return frozenset()
        every = book.memories.items()
        return frozenset(short_id(key) for key, memory in every if reach.admits(memory.line.attributes.scope))

    def _read(
        self,
        name: RelativePath,
        location: FileLocation,
        asked: LineRange,
        reach: MemoryReach,
        told: frozenset[ShortId],
    ) -> Excerpt:
        size, follows = self.max_file_bytes, self.agent.memory_search.follow_symlinks
        for _ in range(_TRIES):
            excerpt = read_lines(location, asked, max_bytes=size, follow_symlinks=follows)
            self._check_rules(name)
            if reach.is_owner or not is_of_memories(name):
                return excerpt
            try:
                octets = read_octets(location.base, location.relative, max_bytes=size, follow_symlinks=follows)
            except (OSError, NotReadableError, TornReadError):
                continue
            if octets.sha256.hex() == excerpt.sha256:
                data = utf8_of(octets)[0]
                hidden = lines_beyond(data, name, reach) | generated_beyond(data, told.__contains__)
                return without(excerpt, asked, hidden)
        raise NotNow(f"{name!r} is being written", hint="ask again in a moment")

    def _check_rules(self, name: RelativePath) -> None:
        """Hold a document against the rules, which may have been saved since it was indexed; qmd's were looked at."""
        hidden = None if name.startswith(QMD_PREFIX) else hidden_by(self.rules(), name)
        if hidden is not None and hidden.presence is Presence.OWED:
            raise NotNow(f"{name!r} cannot be read now: {hidden.reason}", hint="ask again in a moment")
        if hidden is not None:
            raise NotFound(f"no document {name!r} is indexed", hint="paths are relative to the workspace")

    async def _find(self, path: str) -> tuple[str, FileLocation]:
        workspace = self.agent.workspace
        name = indexed_name(path, workspace)
        modality = modality_of(name)
        is_document = modality is not None or is_document_name(name.rpartition("/")[2])
        if is_document and name not in self.withdrawn and await self.database.documents.is_indexed(name):
            if modality is not None:
                kind = LABELS[modality].lower()
                raise InvalidRequest(f"{path!r} is an {kind}: it is found by search and has no lines", hint=NO_BYTES)
            # in a thread: the roots are globs, and a folder of them may hold very much or hang
            return name, await asyncio.to_thread(lambda: location_of(name, self.workspace, self.roots()))
        if path.startswith(QMD_PREFIX) and self.qmd is not None:
            found = await asyncio.to_thread(self.qmd.files.named, path)
            return path, FileLocation(found.base, found.relative)
        if conversation_cited(name) is not None:
            hint = f"memoryctl sessions show {shlex.quote(name)}"
            raise InvalidRequest(f"{path!r} is of a conversation, not of a note", hint=hint)
        raise NotFound(f"no document {path!r} is indexed", hint="paths are relative to the workspace")
