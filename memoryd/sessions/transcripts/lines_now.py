"""What single lines of a transcript say now, for whoever follows a citation: by their numbers, without a tail."""

import os
from itertools import islice
from pathlib import Path

from memoryd.domain.sessions.transcripts.reading import LOOKED_AT, recognised, record_of, said
from memoryd.domain.sessions.transcripts.records import LeftOut, TranscriptFormat, Utterance
from memoryd.files.reading import open_beneath
from memoryd.sessions.transcripts.raw_lines import BLOCK_BYTES, RawLine, raw_lines
from memoryd.sessions.transcripts.reading_on import MAX_LINE_BYTES


def lines_now(path: Path, first: int, last: int, *, whose: TranscriptFormat | None = None) -> dict[int, str]:
    """Return what the lines from `first` to `last` say, as they are indexed; those that say nothing are left out.

    Reads all that stands before them. Blocks, so run it in a thread; raises OSError.
    """
    descriptor = open_beneath(path.parent, path.name)
    try:
        size = os.fstat(descriptor).st_size
        told = whose or _recognised(descriptor, size)
        if told is None:
            return {}
        lines = enumerate(raw_lines(descriptor, 0, size, b"", MAX_LINE_BYTES), start=1)
        spoken = {number: _said(line, told) for number, line in islice(lines, first - 1, last)}
    finally:
        os.close(descriptor)
    return {number: text for number, text in spoken.items() if text}


def _recognised(descriptor: int, size: int) -> TranscriptFormat | None:
    lines = raw_lines(descriptor, 0, min(size, MAX_LINE_BYTES + BLOCK_BYTES), b"", MAX_LINE_BYTES)
    return recognised(record_of(line.data) for line in islice(lines, LOOKED_AT) if line.data is not None)


def _said(line: RawLine, whose: TranscriptFormat) -> str:
    record = LeftOut.UNREADABLE if line.data is None else record_of(line.data)
    what = record if isinstance(record, LeftOut) else said(record, whose)
    return what.line if isinstance(what, Utterance) else ""
