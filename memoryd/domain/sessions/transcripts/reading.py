"""Reading a transcript step by step: from a line's bytes to an utterance, how far, and whether the file is the same.

The first lines tell whose transcript it is.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct, field

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.transcripts.claude import claude_text
from memoryd.domain.sessions.transcripts.openclaw import openclaw_text
from memoryd.domain.sessions.transcripts.records import LeftOut, TranscriptFormat, Utterance

LOOKED_AT = 64
"""Lines by which a format is recognised."""
_CLAUDE_KEYS = {"summary": "leafUuid", "file-history-snapshot": "messageId", "queue-operation": "sessionId"}
"""What Claude Code writes before anybody speaks, and a key of it."""
_SPACE = b"\0 \t\r\n"
"""Around a record; a crash may leave zeros where a program wrote on afterwards."""
MAX_VALUES = 200_000
"""So many values of a line are parsed, which take some 40 MB at most; a message of a person or a model has a few."""

Record = Mapping[str, object]


def record_of(line: bytes) -> Record | LeftOut:
    """Return the JSON object of a line, or why there is none; what is no UTF-8 becomes U+FFFD."""
    data = line.removeprefix(b"\xef\xbb\xbf").strip(_SPACE)
    if not data:
        return LeftOut.NO_MESSAGE
    if _values(data) > MAX_VALUES and _values(_outside_strings(data)) > MAX_VALUES:
        return LeftOut.TOO_MANY_VALUES
    try:
        record = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return LeftOut.UNREADABLE
    return record if isinstance(record, dict) else LeftOut.UNREADABLE


def _values(data: bytes) -> int:
    """Return how many values a text may have, by what opens a list or an object, or parts two values."""
    return sum(map(data.count, (b"[", b"{", b",")))


def _outside_strings(data: bytes) -> bytes:
    """Return what stands outside of strings, and inside too if they are very many."""
    # what is escaped first, in pairs from the left: then each quote begins or ends a string
    bare = data.replace(rb"\\", b"").replace(rb"\"", b"")
    return data if bare.count(b'"') > 2 * MAX_VALUES else b"".join(bare.split(b'"')[::2])


def said(record: Record, format: TranscriptFormat) -> Utterance | LeftOut:
    """Return what a record of a transcript of a format says."""
    return openclaw_text(record) if format is TranscriptFormat.OPENCLAW else claude_text(record)


def recognised(records: Iterable[Record | LeftOut]) -> TranscriptFormat | None:
    """Return whose transcript begins with these records, None while none of them tells."""
    return next(filter(None, map(_is_shared_by, records)), None)


def _is_shared_by(record: Record | LeftOut) -> TranscriptFormat | None:
    if isinstance(record, LeftOut):
        return None
    kind, message = record.get("type"), record.get("message")
    if kind == "message" and isinstance(message, dict) and isinstance(message.get("role"), str):
        return TranscriptFormat.OPENCLAW
    if kind == "session" and isinstance(record.get("id"), str) and record.keys() & {"version", "cwd"}:
        return TranscriptFormat.OPENCLAW
    if kind in ("user", "assistant") and isinstance(message, dict) and "content" in message:
        return TranscriptFormat.CLAUDE_CODE
    if isinstance(record.get("isSidechain"), bool) and isinstance(record.get("sessionId"), str):
        return TranscriptFormat.CLAUDE_CODE
    if isinstance(kind, str) and isinstance(record.get(_CLAUDE_KEYS.get(kind, "")), str):
        return TranscriptFormat.CLAUDE_CODE
    return None


NO_FILE = FileStat(0, 0, 0, 0, 0)


class Tail(Struct, frozen=True):
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
    format: TranscriptFormat | None = None
    is_generated: bool = False
    """Whether nobody speaks in what follows: a session of a timer or a dream."""


START = Tail()


def written_tail(tail: Tail) -> str:
    """Return a tail as it is kept: one line of JSON."""
    stat = tail.stat
    return json.dumps(
        [
            [stat.device, stat.inode, stat.size, stat.mtime_ns, stat.ctime_ns],
            [tail.offset, tail.lines, tail.prefix_hash.hex(), tail.edge_hash.hex()],
            [tail.format, tail.is_generated],
        ]
    )


def read_tail(text: str) -> Tail:
    """Return a tail that was kept; the start for an empty text, and for one that is no tail: all is read anew."""
    try:
        stat, (offset, lines, prefix_hash, edge_hash), (format, is_generated) = json.loads(text)
        return Tail(
            FileStat(*map(int, stat)),
            int(offset),
            int(lines),
            bytes.fromhex(prefix_hash),
            bytes.fromhex(edge_hash),
            None if format is None else TranscriptFormat(format),
            bool(is_generated),
        )
    except (ValueError, TypeError):
        return START


class TranscriptState(StrEnum):
    """What became of a transcript since it was read last."""

    UNCHANGED = "unchanged"
    """No further complete line."""
    GROWN = "grown"
    """`lines` come behind those that were read."""
    REWRITTEN = "rewritten"
    """What was read is not there any more: `lines` are the first ones, and all that is known of it falls."""
    GONE = "gone"
    """The file is not there, and its folder is: what was known falls."""
    UNKNOWN = "unknown format"
    """Complete lines, and none of the first 64 is of a program that we know: nothing is read, what was known falls."""
    OTHER_FORMAT = "other format"
    """Of another program than the configuration says: nothing is read, what was known falls."""
    UNREADABLE = "unreadable"
    """Now, for the reason that `problem` tells; what is known of it stays."""


class CountedLine(StrEnum):
    """What else a step counts beside the reasons of `LeftOut`."""

    SPOKEN = "spoken"
    CUT = "cut"
    """Spoken, and longer than what is kept of it."""
    TOO_LONG = "too long"


class SpokenLine(Struct, frozen=True):
    """A line that says something, by its number in the file, from 1 on."""

    number: int
    utterance: Utterance


class ReadOn(Struct, frozen=True):
    """One step: what to keep with `tail`, in one transaction."""

    state: TranscriptState
    tail: Tail
    lines: tuple[SpokenLine, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)
    """Of the lines of this step, by `spoken`, `too long` or why they were left out; of those spoken, how many `cut`."""
    is_more: bool = False
    """Whether further lines are there already."""
    problem: str = ""
