"""`GET /v1/files/{path}`: lines of an indexed document."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from starlette.convertors import Convertor, register_url_convertor

from memoryd.agents.served import AgentTable, Served
from memoryd.api.access import Gate
from memoryd.api.models import FileReply
from memoryd.config.limits import LimitsSection
from memoryd.domain.access import Admitted
from memoryd.domain.documents import is_document_name
from memoryd.domain.media import LABELS, modality_of
from memoryd.errors import InvalidRequest, NotFound
from memoryd.files.excerpts import (
    DEFAULT_LINES,
    QMD_PREFIX,
    Excerpt,
    LineRange,
    Location,
    indexed_name,
    location_of,
    read_lines,
)
from memoryd.wire import API, LINES_MAX, POSITION_MAX

NO_BYTES = "memoryd returns no bytes of pictures and sounds; open the file itself"


class _AnyPath(Convertor[str]):
    """Takes every name that a file can have; the framework's own convertor ends at a line break."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


def router(agents: AgentTable, gate: Gate, limits: LimitsSection) -> APIRouter:
    """The reading route over these agents."""
    register_url_convertor("anyPath", _AnyPath())
    routes = APIRouter()

    @routes.get(f"{API}/files/{{path:anyPath}}")
    async def get_file(
        path: str,
        admitted: Annotated[Admitted, Depends(gate.from_query)],
        from_: Annotated[int, Query(alias="from", ge=1, le=POSITION_MAX)] = 1,
        lines: Annotated[int, Query(ge=1, le=LINES_MAX)] = DEFAULT_LINES,
        column: Annotated[int, Query(ge=1, le=POSITION_MAX)] = 1,
    ) -> FileReply:
        """Read lines of a document; only what is indexed can be read."""
        served = agents.enabled(admitted)
        wanted = LineRange(from_, lines, column)
        name, location = await _find(path, served)
        follows = served.agent.memory_search.follow_symlinks
        size = limits.max_file_bytes
        excerpt = await asyncio.to_thread(read_lines, location, wanted, max_bytes=size, follow_symlinks=follows)
        return _reply(name, excerpt, wanted)

    return routes


async def _find(path: str, served: Served) -> tuple[str, Location]:
    if not path:
        raise InvalidRequest("the path is missing", hint="GET /v1/files/memory/2026-11-18.md")
    name = indexed_name(path, served.agent.workspace)
    modality = modality_of(name)
    is_document = modality is not None or is_document_name(name.rpartition("/")[2])
    is_withdrawn = name in served.indexer.withdrawn
    if is_document and not is_withdrawn and await served.database.documents.is_indexed(name):
        if modality is not None:
            kind = LABELS[modality].lower()
            raise InvalidRequest(f"{path!r} is an {kind}: it is found by search and has no lines", hint=NO_BYTES)
        # in a thread: the roots are globs, and a folder of them may hold very much or hang
        return name, await asyncio.to_thread(lambda: location_of(name, served.agent.workspace, served.roots()))
    if path.startswith(QMD_PREFIX) and served.qmd is not None:
        found = await asyncio.to_thread(served.qmd.files.named, path)
        return path, Location(found.base, found.relative)
    raise NotFound(f"no document {path!r} is indexed", hint="paths are relative to the workspace")


def _reply(name: str, excerpt: Excerpt, wanted: LineRange) -> FileReply:
    lines = excerpt.lines
    return FileReply(
        path=name,
        text=lines.text,
        from_=wanted.first,
        lines=lines.count,
        column=wanted.column,
        total_lines=lines.total,
        sha256=excerpt.sha256,
        truncated=lines.next_first is not None or lines.next_column is not None,
        next_from=lines.next_first,
        next_column=lines.next_column,
        flags=list(excerpt.flags),
    )
