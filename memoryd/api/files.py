"""`GET /v1/files/{path}`: lines of an indexed document."""

from typing import Annotated

from fastapi import Path, Query

from memoryd.agents.read import NoteExcerpt
from memoryd.api.dependencies import AdmittedByQuery, Memories
from memoryd.api.models import FileReply
from memoryd.files.excerpts import DEFAULT_LINES, LineRange
from memoryd.wire import LINES_MAX, POSITION_MAX

DocumentPath = Annotated[str, Path(description="the document, as search names it, percent-encoded")]
FromLine = Annotated[int, Query(alias="from", ge=1, le=POSITION_MAX, description="the first line, from 1")]
LineCount = Annotated[int, Query(ge=1, le=LINES_MAX, description="how many lines at most")]
FromColumn = Annotated[int, Query(ge=1, le=POSITION_MAX, description="the first character of that line, from 1")]


async def get_file(
    path: DocumentPath,
    admitted: AdmittedByQuery,
    memories: Memories,
    from_: FromLine = 1,
    lines: LineCount = DEFAULT_LINES,
    column: FromColumn = 1,
) -> FileReply:
    """Read lines of a document; only what is indexed can be read."""
    return encoded(await memories.read(admitted, path, LineRange(from_, lines, column)))


def encoded(found: NoteExcerpt) -> FileReply:
    """Return the reply, which says where the document goes on."""
    asked, lines = found.asked, found.excerpt.lines
    return FileReply(
        path=found.path,
        text=lines.text,
        from_=asked.first,
        lines=lines.count,
        column=asked.column,
        total_lines=lines.total,
        sha256=found.excerpt.sha256,
        truncated=lines.next_first is not None or lines.next_column is not None,
        next_from=lines.next_first,
        next_column=lines.next_column,
        flags=list(found.excerpt.flags),
    )
