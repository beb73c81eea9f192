"""How far a transcript was read, and by what the same one is known again."""

import json
from dataclasses import dataclass
from typing import Final

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.transcripts.utterances import TranscriptFormat

NO_FILE: Final = FileStat(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Tail:
    """A place in a transcript behind a complete line, and what stood before it. All of it is to be kept."""

    stat: FileStat = NO_FILE
    """Of the file when it was read last: that nothing has changed is seen by it."""
    offset: int = 0
    """Bytes that are read: complete lines."""
    lines: int = 0
    """Lines that are read; the next one has this number plus 1."""
    prefix_hash: bytes = b""
    """Of all bytes before the offset: for each line SHA-256 of the hash before it and its bytes."""
    edge_hash: bytes = b""
    """SHA-256 of the first and the last 4,096 bytes before the offset."""
    whose: TranscriptFormat | None = None
    is_generated: bool = False
    """Whether nobody speaks in what follows: a session of a timer or a dream."""


START: Final = Tail()


def written_tail(tail: Tail) -> str:
    """Return a tail as it is kept: one line of JSON."""
    stat = tail.stat
    return json.dumps(
        [
            [stat.device, stat.inode, stat.size, stat.mtime_ns, stat.ctime_ns],
            [tail.offset, tail.lines, tail.prefix_hash.hex(), tail.edge_hash.hex()],
            [tail.whose, tail.is_generated],
        ]
    )


def read_tail(text: str) -> Tail:
    """Return a tail that was kept; the start for an empty text, and for one that is no tail: all is read anew."""
    try:
        stat, (offset, lines, prefix_hash, edge_hash), (whose, is_generated) = json.loads(text)
        return Tail(
            FileStat(*map(int, stat)),
            int(offset),
            int(lines),
            bytes.fromhex(prefix_hash),
            bytes.fromhex(edge_hash),
            None if whose is None else TranscriptFormat(whose),
            bool(is_generated),
        )
    except (ValueError, TypeError):
        return START
