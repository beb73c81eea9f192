"""Reading lines of a document that an agent's memory holds."""

import asyncio
import shlex
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from memoryd.config.resolved import Agent
from memoryd.domain.citations import conversation_cited
from memoryd.domain.documents import is_document_name
from memoryd.domain.media import LABELS, modality_of
from memoryd.errors import InvalidRequest, NotFound
from memoryd.files.excerpts import QMD_PREFIX, Excerpt, FileLocation, LineRange, indexed_name, location_of, read_lines
from memoryd.files.scan_rules import ScanRoot
from memoryd.qmd.agent import AgentQmd
from memoryd.store.database import Database

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
    max_file_bytes: int
    qmd: AgentQmd | None

    async def read(self, path: str, asked: LineRange) -> NoteExcerpt:
        """Return lines of a document; raises InvalidRequest for a picture or sound, NotFound, NotNow."""
        if not path:
            raise InvalidRequest("the path is missing", hint="GET /v1/files/memory/2026-11-18.md")
        name, location = await self._find(path)
        follows, size = self.agent.memory_search.follow_symlinks, self.max_file_bytes
        excerpt = await asyncio.to_thread(read_lines, location, asked, max_bytes=size, follow_symlinks=follows)
        return NoteExcerpt(name, asked, excerpt)

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
