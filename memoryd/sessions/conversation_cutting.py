"""From the parts of a conversation to what the index holds of them: cut as notes are, on the lines where they stand."""

import time
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from memoryd.domain.citations import part_path
from memoryd.domain.documents import FileStat, RelativePath, Source
from memoryd.domain.sessions.conversation_parts import ConversationPart
from memoryd.domain.text.entries import ChunkEntry, ChunkSettings, chunk_entries
from memoryd.store.index.documents import FileContent, FileRow


def cut(conversation: RelativePath, parts: Sequence[ConversationPart], settings: ChunkSettings) -> list[FileContent]:
    """Return the documents of these parts, with their chunks on the lines of the conversation."""
    return [FileContent(_row(conversation, part, settings), _entries(part, settings)) for part in parts]


def _entries(part: ConversationPart, settings: ChunkSettings) -> tuple[ChunkEntry, ...]:
    shift = part.first_line - 1
    return tuple(
        replace(entry, start_line=entry.start_line + shift, end_line=entry.end_line + shift)
        for entry in chunk_entries(part.text, settings)
    )


def _row(conversation: RelativePath, part: ConversationPart, settings: ChunkSettings) -> FileRow:
    data = part.text.encode("utf-8", "surrogatepass")
    return FileRow(
        path=part_path(conversation, part.first_line),
        source=Source.SESSIONS,
        # no file of its own: its time is that of its last message, for decay and for `since` and `until`
        stat=FileStat(0, 0, len(data), part.last_ns, part.last_ns),
        read_at_ns=time.time_ns(),
        sha256=sha256(data).digest(),
        # of the conversation, up to the end of the part
        lines=part.last_line,
        chunker=settings.fingerprint,
    )
