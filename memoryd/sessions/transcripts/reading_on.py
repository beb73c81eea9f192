"""Read a transcript on from where it was read last, and tell what became of it meanwhile.

Transcripts grow by whole lines. That what was read before is still the same is checked at every look by its first
and last bytes, and by all of it where the file is another one, is shorter, or was written without growing.
"""

import contextlib
import os
import stat as stat_module
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.transcripts.reading import (
    LOOKED_AT,
    START,
    CountedLine,
    ReadOn,
    SpokenLine,
    Tail,
    TranscriptState,
    is_generated_from,
    recognised,
    record_of,
    said,
)
from memoryd.domain.sessions.transcripts.records import LeftOut, TranscriptFormat, Utterance, believed
from memoryd.files.reading import NotReadableError, TornReadError, file_stat, open_beneath
from memoryd.sessions.transcripts.raw_lines import BLOCK_BYTES, RawLine, edge_hash, has_lines, raw_lines

MAX_BYTES: Final = 4 << 20
"""Read in one step."""
MAX_LINE_BYTES: Final = 8 << 20
"""Read of one line; as text and as what it says it may take eight times as many while it is parsed."""
MAX_SCAN_BYTES: Final = 256 << 20
"""So far the end of a line is looked for: what has none is no transcript, whatever it was before."""
_TRIES: Final = 3


def read_on(
    path: Path,
    tail: Tail = START,
    *,
    whose: TranscriptFormat | None = None,
    max_bytes: int = MAX_BYTES,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> ReadOn:
    """Return the next lines of a transcript behind a tail, and the new tail.

    `whose` is the configured format, None to recognise it. A step ends with the line that reaches `max_bytes`; a line
    beyond `max_line_bytes` is counted and skipped. A line without its end waits. Blocks, so run it in a thread;
    raises nothing of the disk: it is told as a state.
    """
    for _ in range(_TRIES):
        with contextlib.suppress(TornReadError):
            return _told(path, tail, whose, max_bytes, max_line_bytes)
    return ReadOn(TranscriptState.UNREADABLE, tail, problem="it is written anew again and again", is_more=True)


def _told(path: Path, tail: Tail, whose: TranscriptFormat | None, max_bytes: int, max_line_bytes: int) -> ReadOn:
    """Read on once, with what the disk refuses told as a state; raises TornReadError."""
    try:
        with _opened(path) as descriptor:
            return _Reading(descriptor, whose, max_bytes, max_line_bytes).on(tail)
    except FileNotFoundError:
        if path.parent.is_dir():
            return ReadOn(TranscriptState.GONE, START)
        return ReadOn(TranscriptState.UNREADABLE, tail, problem="its folder is not there")
    except NotReadableError as exc:
        return ReadOn(TranscriptState.UNREADABLE, tail, problem=str(exc))
    except OSError as exc:
        return ReadOn(TranscriptState.UNREADABLE, tail, problem=exc.strerror or str(exc))


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    # never waits for a writer of a FIFO, and follows no link that was put there since the folder was read
    descriptor = open_beneath(path.parent, path.name)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@dataclass(slots=True)
class _Reading:
    """One look at one open file."""

    descriptor: int
    whose: TranscriptFormat | None
    max_bytes: int
    max_line_bytes: int
    lines: list[SpokenLine] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    is_generated: bool = False
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def on(self, tail: Tail) -> ReadOn:
        before = self._stat()
        is_same = self._is_same(tail, before)
        state = TranscriptState.GROWN if is_same else TranscriptState.REWRITTEN
        start = tail if is_same else START
        if start.whose is None:
            start = replace(start, whose=self._recognised(before.size))
        if start.whose is None or self.whose not in (None, start.whose):
            return self._refused(start, before, state)
        end = self._read(start, before.size)
        if end.lines == start.lines:
            self._bound(before.size - start.offset)
        new = replace(end, stat=before, edge_hash=edge_hash(self.descriptor, end.offset))
        # last, so that the edges above are of the file that was read
        self._check(start, end)
        if is_same and end.lines == tail.lines:
            state = TranscriptState.UNCHANGED
        is_more = end.offset - start.offset >= self.max_bytes and end.offset < before.size
        return ReadOn(state, new, tuple(self.lines), self.counts, is_more)

    def _refused(self, start: Tail, stat: FileStat, state: TranscriptState) -> ReadOn:
        """Return that nothing is read: nobody knows the format, or there is no line yet to tell it."""
        if start.whose is not None:
            return ReadOn(TranscriptState.OTHER_FORMAT, Tail(stat), problem=f"it is of the format {start.whose}")
        if next(self._raw(START, stat.size), None) is not None:
            return ReadOn(TranscriptState.UNKNOWN, Tail(stat), problem="nobody knows its format")
        self._bound(stat.size)
        return ReadOn(TranscriptState.UNCHANGED if state is TranscriptState.GROWN else state, Tail(stat))

    def _bound(self, unended: int) -> None:
        if unended > MAX_SCAN_BYTES:
            raise NotReadableError(f"has a line of more than {MAX_SCAN_BYTES >> 20} MiB")

    def _stat(self) -> FileStat:
        info = os.fstat(self.descriptor)
        if not stat_module.S_ISREG(info.st_mode):
            raise NotReadableError("not a regular file")
        return file_stat(info)

    def _is_same(self, tail: Tail, now: FileStat) -> bool:
        """Tell whether what was read before stands there still."""
        if tail.offset > now.size or (tail.offset and edge_hash(self.descriptor, tail.offset) != tail.edge_hash):
            return False
        is_this_file = (tail.stat.device, tail.stat.inode) == (now.device, now.inode)
        has_grown_or_rested = now.size > tail.stat.size or now == tail.stat
        if not tail.offset or (is_this_file and has_grown_or_rested):
            return True
        return has_lines(self.descriptor, 0, b"", tail.offset, tail.prefix_hash)

    def _recognised(self, size: int) -> TranscriptFormat | None:
        first = islice(self._raw(START, min(size, self.max_line_bytes + BLOCK_BYTES)), LOOKED_AT)
        return recognised(record_of(line.data) for line in first if line.data is not None)

    def _raw(self, tail: Tail, size: int) -> Iterator[RawLine]:
        end = min(size, tail.offset + MAX_SCAN_BYTES)
        return raw_lines(self.descriptor, tail.offset, end, tail.prefix_hash, self.max_line_bytes)

    def _read(self, start: Tail, size: int) -> Tail:
        """Read lines until there are enough, and return the tail behind them."""
        offset, number, prefix_hash = start.offset, start.lines, start.prefix_hash
        self.is_generated = start.is_generated
        for line in self._raw(start, size):
            offset, number, prefix_hash = offset + line.size, number + 1, line.prefix_hash
            self._take(line, number, start.whose)
            if offset - start.offset >= self.max_bytes:
                break
        return replace(start, offset=offset, lines=number, prefix_hash=prefix_hash, is_generated=self.is_generated)

    def _take(self, line: RawLine, number: int, whose: TranscriptFormat | None) -> None:
        what: Utterance | LeftOut | None = None
        if line.data is not None and whose is not None:
            record = record_of(line.data)
            self.is_generated |= not isinstance(record, LeftOut) and is_generated_from(record, whose)
            what = record if isinstance(record, LeftOut) else said(record, whose)
        if isinstance(what, Utterance) and self.is_generated:
            what = LeftOut.DROPPED
        if isinstance(what, Utterance):
            time = believed(what.time, self.now)
            self.lines.append(SpokenLine(number, what if time == what.time else replace(what, time=time)))
            self.counts[CountedLine.CUT] += what.is_cut
        self.counts[_counted(what)] += 1

    def _check(self, start: Tail, end: Tail) -> None:
        """Raise TornReadError unless all that this look relied on stands there still.

        A program that writes its file anew in place, while it is read, leaves lines of both; a time of change is too
        coarse to tell that.
        """
        is_there = not start.offset or edge_hash(self.descriptor, start.offset) == start.edge_hash
        span = start.offset, start.prefix_hash, end.offset, end.prefix_hash
        if not is_there or not has_lines(self.descriptor, *span):
            raise TornReadError


def _counted(what: Utterance | LeftOut | None) -> str:
    if what is None:
        return CountedLine.TOO_LONG
    return what if isinstance(what, LeftOut) else CountedLine.SPOKEN
