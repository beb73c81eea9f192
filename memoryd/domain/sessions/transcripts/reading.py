"""Incremental reading of a transcript: parse a line, record how far it was read, and detect that the file was replaced.

The format is recognised by the first lines.
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

FORMAT_LINES = 64
"""Most lines that are read to recognise the format."""
_CLAUDE_KEYS = {"summary": "leafUuid", "file-history-snapshot": "messageId", "queue-operation": "sessionId"}
"""Record types that Claude Code writes before the first message, each with a key that it has."""
_SPACE = b"\0 \t\r\n"
"""Bytes that may surround a record; a crash may leave zeros in the file."""
MAX_VALUES = 200_000
"""Most JSON values of a line that is parsed; they take at most about 40 MB. An ordinary message has a few."""

Record = Mapping[str, object]


def record_of(line: bytes) -> Record | LeftOut:
    """Return the JSON object of a line, or why there is none. Invalid UTF-8 becomes U+FFFD."""
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
    """Return an upper bound of the number of JSON values, by counting `[`, `{` and `,`."""
    return sum(map(data.count, (b"[", b"{", b",")))


def _outside_strings(data: bytes) -> bytes:
    """Return the bytes outside of strings; all bytes if there are very many strings."""
    # remove escapes from the left, so that each remaining quote begins or ends a string
    bare = data.replace(rb"\\", b"").replace(rb"\"", b"")
    return data if bare.count(b'"') > 2 * MAX_VALUES else b"".join(bare.split(b'"')[::2])


def utterance_of(record: Record, format: TranscriptFormat) -> Utterance | LeftOut:
    """Return the message of a record in a format."""
    return openclaw_text(record) if format is TranscriptFormat.OPENCLAW else claude_text(record)


def recognise_format(records: Iterable[Record | LeftOut]) -> TranscriptFormat | None:
    """Return the format of a transcript by its first records, None if no record identifies it."""
    return next(filter(None, map(_format_of, records)), None)


def _format_of(record: Record | LeftOut) -> TranscriptFormat | None:
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
    """A position in a transcript after a complete line, with hashes of the text before it. All fields are stored."""

    stat: FileStat = NO_FILE
    """Status of the file at the last read, by which an unchanged file is recognised."""
    offset: int = 0
    """Bytes read so far: complete lines."""
    lines: int = 0
    """Lines read so far; the next line has this number plus 1."""
    prefix_hash: bytes = b""
    """Hash chain of all bytes before the offset: for each line, SHA-256 of the previous hash and the line's bytes."""
    edge_hash: bytes = b""
    """SHA-256 of the first and the last 4,096 bytes before the offset."""
    format: TranscriptFormat | None = None
    is_generated: bool = False
    """Whether it is the session of a timer or a dream, so that no person speaks in the rest."""


START = Tail()


def written_tail(tail: Tail) -> str:
    """Return a tail in its stored form: one line of JSON."""
    stat = tail.stat
    return json.dumps(
        [
            [stat.device, stat.inode, stat.size, stat.mtime_ns, stat.ctime_ns],
            [tail.offset, tail.lines, tail.prefix_hash.hex(), tail.edge_hash.hex()],
            [tail.format, tail.is_generated],
        ]
    )


def read_tail(text: str) -> Tail:
    """Parse a stored tail. Return the start for an empty or invalid text, so that everything is read again."""
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
    """State of a transcript compared with the last read."""

    UNCHANGED = "unchanged"
    """There is no new complete line."""
    GROWN = "grown"
    """`lines` follow the lines that were read before."""
    REWRITTEN = "rewritten"
    """The lines that were read have changed: `lines` are the first ones, and the transcript's data is discarded."""
    MISSING = "gone"
    """The file is missing, but its folder exists: its data is discarded."""
    UNKNOWN = "unknown format"
    """None of the first 64 complete lines is of a known program: nothing is read, its data is discarded."""
    OTHER_FORMAT = "other format"
    """The format is not the configured one: nothing is read, its data is discarded."""
    UNREADABLE = "unreadable"
    """It cannot be read now, for the reason in `problem`; its data stays."""


READ_STATES = (TranscriptState.UNCHANGED, TranscriptState.GROWN, TranscriptState.REWRITTEN)
"""States in which the transcript was read."""


class CountedLine(StrEnum):
    """Counters of a step in addition to the reasons of `LeftOut`."""

    SPOKEN = "spoken"
    CUT = "cut"
    """Spoken, but longer than the part that is stored."""
    TOO_LONG = "too long"


class SpokenLine(Struct, frozen=True):
    """A message and the number of its line in the file, from 1."""

    number: int
    utterance: Utterance


class TailRead(Struct, frozen=True):
    """The result of one step. Its lines and `tail` are to be stored in one transaction."""

    state: TranscriptState
    tail: Tail
    lines: tuple[SpokenLine, ...] = ()
    counts: Counter[str] = field(default_factory=Counter)
    """Number of lines by `spoken`, `too long` or `LeftOut`; and how many of the spoken ones were `cut`."""
    is_more: bool = False
    """Whether the file has further lines already."""
    problem: str = ""
