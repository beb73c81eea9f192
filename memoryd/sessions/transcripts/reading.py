"""Read a transcript incrementally, read single lines of it, and detect whether it continues another transcript.

Transcripts grow by complete lines. Each time it is checked that the part read before is unchanged: by its first and
last bytes, and by all of its bytes if the file was replaced, is shorter, or was written without growing.

Two conversations may begin alike: one is a fork of the other, or both are nearly empty. So a transcript continues
another only if it begins with all bytes of the other, and if these contain the id of a session or a message.
"""

import contextlib
import hashlib
import hmac
import os
import stat as stat_module
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.documents import FileStat
from memoryd.domain.expressions import expression
from memoryd.domain.sessions.transcripts.openclaw import is_of_generated_session
from memoryd.domain.sessions.transcripts.reading import (
    FORMAT_LINES,
    START,
    CountedLine,
    SpokenLine,
    Tail,
    TailRead,
    TranscriptState,
    recognise_format,
    record_of,
    utterance_of,
)
from memoryd.domain.sessions.transcripts.records import LeftOut, TranscriptFormat, Utterance, plausible_time
from memoryd.domain.skips import SkipReason
from memoryd.files.reading import NotReadableError, TornReadError, file_stat, open_below

HEAD_BYTES = 4096
"""First bytes, compared before the complete file: most transcripts differ in them."""
MIN_BYTES = 32
"""A shorter beginning does not identify a conversation."""
_DIGEST_BYTES = hashlib.sha256().digest_size
_NAME = expression(rb'"(?:id|uuid|sessionId|messageId)"\s*:\s*"[^"]+"')
BLOCK_BYTES = 1 << 20
EDGE_BYTES = 4096
MAX_BYTES = 4 << 20
"""Default of the bytes read in one step."""
MAX_LINE_BYTES = 8 << 20
"""Longest line that is parsed; parsing may take eight times as much memory."""
MAX_SCAN_BYTES = 256 << 20
"""Most bytes that are searched for the end of a line; a file with a longer line is no transcript."""
_TRIES = 3


class Beginning(Struct, frozen=True):
    """The size of a transcript's beginning, and keyed hashes of its head and, if it is longer, of all its bytes."""

    size: int = 0
    digests: bytes = b""

    def is_of(self, file: Path, key: bytes) -> bool:
        """Return whether a file has this beginning. Blocks; raises OSError."""
        if self.size < MIN_BYTES:
            return False
        with _open(file) as descriptor:
            stat = file_stat(os.fstat(descriptor))
            if stat.size < self.size:
                return False
            head = os.pread(descriptor, min(self.size, HEAD_BYTES), 0)
        if not hmac.compare_digest(hmac.digest(key, head, "sha256"), self.digests[:_DIGEST_BYTES]):
            return False
        return self.size <= HEAD_BYTES or _keyed_hash(file, stat, self.size, key) == self.digests[_DIGEST_BYTES:]


def beginning_of(file: Path, key: bytes) -> Beginning:
    """Return the complete content of a transcript as a `Beginning`; an empty one if its head has no id.

    Blocks; raises OSError.
    """
    with _open(file) as descriptor:
        stat = file_stat(os.fstat(descriptor))
        head = os.pread(descriptor, HEAD_BYTES, 0)
    if not _has_id(head):
        return Beginning()
    digest = hmac.digest(key, head, "sha256")
    if stat.size <= len(head):
        return Beginning(len(head), digest)
    return Beginning(stat.size, digest + _keyed_hash(file, stat, stat.size, key))


def begins_alike(first_path: Path, second_path: Path) -> bool:
    """Return whether two transcripts have the same head, with the id of a conversation. Blocks; raises OSError."""
    with _open(first_path) as first, _open(second_path) as second:
        size = min(HEAD_BYTES, os.fstat(first).st_size, os.fstat(second).st_size)
        head = os.pread(first, size, 0)
        return _has_id(head) and head == os.pread(second, size, 0)


def is_same_conversation(first_path: Path, second_path: Path) -> bool:
    """Return whether two transcripts are equal, or one continues the other. Blocks; raises OSError."""
    if not begins_alike(first_path, second_path):
        return False
    with _open(first_path) as first, _open(second_path) as second:
        size = min(os.fstat(first).st_size, os.fstat(second).st_size)
        return all(_block(first, at, size) == _block(second, at, size) for at in range(0, size, BLOCK_BYTES))


def _has_id(head: bytes) -> bool:
    return len(head) >= MIN_BYTES and _NAME.search(head) is not None


@lru_cache(maxsize=256)
def _keyed_hash(file: Path, stat: FileStat, size: int, key: bytes) -> bytes:
    """Return the keyed hash of the first bytes of a file.

    Cached by its status, since each scan of the folders needs it.
    """
    digest = hmac.new(key, digestmod="sha256")
    with _open(file) as descriptor:
        for at in range(0, size, BLOCK_BYTES):
            digest.update(_block(descriptor, at, size))
    return digest.digest()


def _block(descriptor: int, at: int, end: int) -> bytes:
    return os.pread(descriptor, min(BLOCK_BYTES, end - at), at)


class RawLine(Struct, frozen=True):
    """A line with its newline; `data` is None if it is longer than `max_line_bytes`."""

    data: bytes | None
    size: int
    prefix_hash: bytes


def raw_lines(descriptor: int, start: int, end: int, prefix_hash: bytes, max_line_bytes: int) -> Iterator[RawLine]:
    """Yield the lines that end between two offsets; `prefix_hash` is the hash of the bytes before the first.

    Uses memory for at most one line of `max_line_bytes` and one block.
    """
    digest, pieces, size, at = sha256(prefix_hash), list[bytes](), 0, start
    while at < end and (block := os.pread(descriptor, min(BLOCK_BYTES, end - at), at)):
        at, begin = at + len(block), 0
        while (newline := block.find(b"\n", begin)) >= 0:
            piece = block[begin : newline + 1]
            digest.update(piece)
            size += len(piece)
            prefix_hash = digest.digest()
            yield RawLine(b"".join([*pieces, piece]) if size <= max_line_bytes else None, size, prefix_hash)
            digest, pieces, size, begin = sha256(prefix_hash), [], 0, newline + 1
        rest = block[begin:]
        digest.update(rest)
        size += len(rest)
        # a line that is too long is hashed, but not stored
        pieces = [*pieces, rest] if size <= max_line_bytes else []


def has_lines(descriptor: int, start: int, start_hash: bytes, end: int, end_hash: bytes) -> bool:
    """Return whether the lines between two offsets lead from one prefix hash to the other. Reads all of them."""
    at, prefix_hash = start, start_hash
    for line in raw_lines(descriptor, start, end, start_hash, 0):
        at, prefix_hash = at + line.size, line.prefix_hash
    return (at, prefix_hash) == (end, end_hash)


def edge_hash(descriptor: int, offset: int) -> bytes:
    """Return the hash of the first and the last 4,096 bytes before an offset."""
    first = os.pread(descriptor, min(EDGE_BYTES, offset), 0)
    last = os.pread(descriptor, min(EDGE_BYTES, offset), max(0, offset - EDGE_BYTES))
    return sha256(b"%d:%s%s" % (len(first), first, last)).digest()


def read_lines(path: Path, first: int, last: int, *, format: TranscriptFormat | None = None) -> dict[int, str]:
    """Return the indexed texts of the lines from `first` to `last` by number; lines without a message are left out.

    Reads all lines before them, too. Blocks, so run it in a thread; raises OSError.
    """
    with _open(path) as descriptor:
        size = os.fstat(descriptor).st_size
        known = format or _recognise(descriptor, size, MAX_LINE_BYTES)
        if known is None:
            return {}
        lines = enumerate(raw_lines(descriptor, 0, size, b"", MAX_LINE_BYTES), start=1)
        spoken: dict[int, str] = {}
        for number, line in islice(lines, first - 1, last):
            record = LeftOut.UNREADABLE if line.data is None else record_of(line.data)
            message = record if isinstance(record, LeftOut) else utterance_of(record, known)
            if isinstance(message, Utterance):
                spoken[number] = message.line
    return spoken


def _recognise(descriptor: int, size: int, max_line_bytes: int) -> TranscriptFormat | None:
    lines = raw_lines(descriptor, 0, min(size, max_line_bytes + BLOCK_BYTES), b"", max_line_bytes)
    return recognise_format(record_of(line.data) for line in islice(lines, FORMAT_LINES) if line.data is not None)


def read_next(
    path: Path,
    tail: Tail = START,
    *,
    format: TranscriptFormat | None = None,
    max_bytes: int = MAX_BYTES,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> TailRead:
    """Return the next lines of a transcript after a tail, and the new tail.

    `format` is the configured one, None to recognise it. A step ends with the line that reaches `max_bytes`; a line
    longer than `max_line_bytes` is counted and skipped. A line without its newline is not read yet. Blocks, so run it
    in a thread. Disk errors are returned as a state, not raised.
    """
    try:
        for _ in range(_TRIES):
            with contextlib.suppress(TornReadError), _open(path) as descriptor:
                return _Reading(descriptor, format, max_bytes, max_line_bytes).on(tail)
    except FileNotFoundError:
        if path.parent.is_dir():
            return TailRead(TranscriptState.MISSING, START)
        return TailRead(TranscriptState.UNREADABLE, tail, problem=SkipReason.NO_FOLDER)
    except NotReadableError as exc:
        return TailRead(TranscriptState.UNREADABLE, tail, problem=str(exc))
    except OSError as exc:
        return TailRead(TranscriptState.UNREADABLE, tail, problem=exc.strerror or str(exc))
    return TailRead(TranscriptState.UNREADABLE, tail, problem=SkipReason.KEEPS_CHANGING, is_more=True)


@contextlib.contextmanager
def _open(path: Path) -> Iterator[int]:
    # does not wait for the writer of a FIFO, and follows no link created since the folder was listed
    descriptor = open_below(path.parent, path.name)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


class _Reading(Struct):
    """One step of reading an open file."""

    descriptor: int
    format: TranscriptFormat | None
    max_bytes: int
    max_line_bytes: int
    lines: list[SpokenLine] = []
    counts: Counter[str] = field(default_factory=Counter)
    is_generated: bool = False
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def on(self, tail: Tail) -> TailRead:
        info = os.fstat(self.descriptor)
        if not stat_module.S_ISREG(info.st_mode):
            raise NotReadableError(SkipReason.NOT_REGULAR)
        before = file_stat(info)
        is_same = self._is_same(tail, before)
        state = TranscriptState.GROWN if is_same else TranscriptState.REWRITTEN
        start = tail if is_same else START
        if start.format is None:
            start = replace(start, format=_recognise(self.descriptor, before.size, self.max_line_bytes))
        if start.format is None or self.format not in (None, start.format):
            return self._refuse(start, before, state)
        end = self._read(start, before.size)
        if end.lines == start.lines:
            self._bound(before.size - start.offset)
        new = replace(end, stat=before, edge_hash=edge_hash(self.descriptor, end.offset))
        # last, so that the edge hash above is checked, too
        self._check(start, end)
        if is_same and end.lines == tail.lines:
            state = TranscriptState.UNCHANGED
        is_more = end.offset - start.offset >= self.max_bytes and end.offset < before.size
        return TailRead(state, new, tuple(self.lines), self.counts, is_more)

    def _refuse(self, start: Tail, stat: FileStat, state: TranscriptState) -> TailRead:
        """Return a step without lines: the format is unknown or another one, or there is no complete line yet."""
        if start.format is not None:
            return TailRead(
                TranscriptState.OTHER_FORMAT, Tail(stat), problem=SkipReason.OTHER_FORMAT.format(start.format)
            )
        if next(self._raw(START, stat.size), None) is not None:
            return TailRead(TranscriptState.UNKNOWN, Tail(stat), problem=SkipReason.UNKNOWN_FORMAT)
        self._bound(stat.size)
        return TailRead(TranscriptState.UNCHANGED if state is TranscriptState.GROWN else state, Tail(stat))

    def _bound(self, unended: int) -> None:
        if unended > MAX_SCAN_BYTES:
            raise NotReadableError(SkipReason.LONG_LINE.format(MAX_SCAN_BYTES >> 20))

    def _is_same(self, tail: Tail, now: FileStat) -> bool:
        """Return whether the part that was read before is unchanged."""
        if tail.offset > now.size or (tail.offset and edge_hash(self.descriptor, tail.offset) != tail.edge_hash):
            return False
        is_this_file = (tail.stat.device, tail.stat.inode) == (now.device, now.inode)
        has_grown_or_rested = now.size > tail.stat.size or now == tail.stat
        if not tail.offset or (is_this_file and has_grown_or_rested):
            return True
        return has_lines(self.descriptor, 0, b"", tail.offset, tail.prefix_hash)

    def _raw(self, tail: Tail, size: int) -> Iterator[RawLine]:
        end = min(size, tail.offset + MAX_SCAN_BYTES)
        return raw_lines(self.descriptor, tail.offset, end, tail.prefix_hash, self.max_line_bytes)

    def _read(self, start: Tail, size: int) -> Tail:
        """Read lines up to `max_bytes`, and return the tail after them."""
        offset, number, prefix_hash = start.offset, start.lines, start.prefix_hash
        self.is_generated = start.is_generated
        for line in self._raw(start, size):
            offset, number, prefix_hash = offset + line.size, number + 1, line.prefix_hash
            self._take(line, number, start.format)
            if offset - start.offset >= self.max_bytes:
                break
        return replace(start, offset=offset, lines=number, prefix_hash=prefix_hash, is_generated=self.is_generated)

    def _take(self, line: RawLine, number: int, format: TranscriptFormat | None) -> None:
        message: Utterance | LeftOut | None = None
        if line.data is not None and format is not None:
            record = record_of(line.data)
            message = record if isinstance(record, LeftOut) else utterance_of(record, format)
            if format is TranscriptFormat.OPENCLAW and not isinstance(record, LeftOut):
                # no person speaks after such a record
                self.is_generated |= is_of_generated_session(record)
        if isinstance(message, Utterance):
            if self.is_generated:
                message = LeftOut.DROPPED
            else:
                self.lines.append(SpokenLine(number, replace(message, time=plausible_time(message.time, self.now))))
                self.counts[CountedLine.CUT] += message.is_cut
        kind = CountedLine.SPOKEN if isinstance(message, Utterance) else message
        self.counts[kind or CountedLine.TOO_LONG] += 1

    def _check(self, start: Tail, end: Tail) -> None:
        """Raise TornReadError if the file has changed during this step.

        If a program rewrites the file in place while it is read, the lines come from both versions; modification times
        are too coarse to detect that.
        """
        is_unchanged = not start.offset or edge_hash(self.descriptor, start.offset) == start.edge_hash
        span = start.offset, start.prefix_hash, end.offset, end.prefix_hash
        if not is_unchanged or not has_lines(self.descriptor, *span):
            raise TornReadError
