"""Transcripts as conversations: which of those in the folders of an agent have grown enough, and reading them on.

Line n of the conversation is line n of the file. Nothing is ever written to these folders.
"""

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from msgspec import Struct

from memoryd.domain.documents import FileStat, RelativePath, SkippedFile, transcript_path
from memoryd.domain.sessions.conversation_parts import ConversationLine
from memoryd.domain.sessions.transcripts.reading import CountedLine, ReadOn, TranscriptState, read_tail, written_tail
from memoryd.domain.sessions.transcripts.records import Growth, LeftOut, ReadingRule, is_due, rests_in, tells_compaction
from memoryd.domain.sessions.turns import time_of_file
from memoryd.domain.skips import SkipReason
from memoryd.errors import StoreUnavailable
from memoryd.files.reading import open_below
from memoryd.files.scanner import FolderId
from memoryd.sessions.conversation_source import ReadStep, SourceListing
from memoryd.sessions.transcripts.folders import (
    AgentTranscripts,
    SeenFolder,
    TranscriptFile,
    TranscriptFolder,
    TranscriptFolders,
    folder_ids,
    folder_of,
    identity_of,
    state_of,
)
from memoryd.sessions.transcripts.reading import read_on
from memoryd.sessions.withheld import WithheldConversations

STEP_BYTES = 512 << 10
"""Read in one step: some hundredths of a second in a thread."""
_NOTHING_READ = (TranscriptState.UNKNOWN, TranscriptState.OTHER_FORMAT)
MAX_BYTES = 2 * 1024**3
"""Of the transcripts of one agent."""
BLOCK_BYTES = 256 << 10
MAX_TOTAL_BYTES = 4 << 20
"""Looked at in one look; more than that has grown enough by any sensible rule."""


class SeenTranscripts(Struct, frozen=True):
    """What the last look found; of the files those that are withheld are not counted."""

    folders: tuple[SeenFolder, ...] = ()
    files: int = 0
    bytes: int = 0
    max_bytes: int = MAX_BYTES
    """How many there may be."""
    withheld: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    ids: Mapping[str, FolderId] = {}
    """Of the folders that are there."""


class TranscriptConversations:
    """The transcripts of one agent; a folder that vanished keeps what was read of it for a `grace`, in seconds."""

    def __init__(
        self,
        agent: str,
        folders: Sequence[TranscriptFolder],
        *,
        rule: ReadingRule,
        withheld: WithheldConversations,
        grace: float,
        max_bytes: int,
    ) -> None:
        self.prefix: str = transcript_path(agent, "")
        self.seen = SeenTranscripts(max_bytes=max_bytes)
        self._folders = TranscriptFolders(self.prefix, folders, grace=grace)
        self._rule = rule
        self._withheld = withheld
        self._max_bytes = max_bytes
        self._growing = GrowingFiles()
        self._places: Mapping[RelativePath, TranscriptFile] = {}
        self._too_large: dict[RelativePath, int] = {}
        """How many lines were left out for their size."""
        self._rests: list[float] = []
        """In how many seconds transcripts that have grown a little will have rested long enough."""

    def look(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceListing:
        """Say which transcripts there are, and which of them are to be read on; forced, all that have changed."""
        found = self._folders.look()
        # what is read already was held against what was forgotten before that
        withheld = {
            path
            for path, one in found.transcripts.items()
            if self._withheld.withholds(path, None if path in read else one.path)
        }
        places = {path: one for path, one in found.transcripts.items() if path not in withheld}
        beyond = _over_limit(places, self._max_bytes)
        places = {path: one for path, one in places.items() if path not in beyond}
        self._too_large = {path: lines for path, lines in self._too_large.items() if path in places}
        self._growing.keep({one.path for one in places.values()})
        kept = {path for path, state in read.items() if found.lost and folder_of(state) in (None, *found.lost)}
        self._rests = []
        due = [path for path, one in places.items() if self._is_due(one, read.get(path), is_forced=is_forced)]
        self._places = places
        skipped = (*found.skipped, *(SkippedFile(path, SkipReason.BEYOND_MAX_BYTES) for path in beyond))
        self.seen = SeenTranscripts(
            folders=tuple(found.folders),
            files=len(places),
            bytes=sum(place.stat.size for place in places.values()),
            max_bytes=self._max_bytes,
            withheld=len(withheld),
            skipped=skipped,
            ids=folder_ids(found.folders),
        )
        # first those of which the index may hold what is no longer so
        newest_first = sorted(due, key=lambda path: (not read.get(path), -places[path].stat.mtime_ns))
        present, again_in = places.keys() | (kept - withheld), min(self._rests, default=None)
        return SourceListing(present, newest_first, "; ".join(found.troubles), again_in)

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read some lines more; None if the file is gone."""
        place = self._places.get(path)
        if place is None:
            return None
        before = read_tail(tail)
        step = read_on(place.path, before, format=place.format, max_bytes=STEP_BYTES)
        if step.state is TranscriptState.GONE:
            return None
        if step.state is TranscriptState.UNREADABLE:
            raise StoreUnavailable(step.problem)
        is_afresh = not before.offset or step.state in (TranscriptState.REWRITTEN, *_NOTHING_READ)
        left_out = step.counts[CountedLine.TOO_LONG] + step.counts[LeftOut.TOO_MANY_VALUES]
        self._too_large[path] = left_out + (0 if is_afresh else self._too_large.get(path, 0))
        return ReadStep(
            lines=tuple(_spoken_lines(step, is_first=is_afresh)),
            tail=written_tail(step.tail),
            stamp="" if step.is_more else state_of(step.tail.stat, place.path.parent),
            is_afresh=is_afresh,
            problem=step.problem if step.state in _NOTHING_READ else "",
        )

    def partly_read(self) -> list[SkippedFile]:
        """Return the transcripts of which lines were left out for their size."""
        return [
            SkippedFile(path, SkipReason.LARGE_LINES.format(lines))
            for path, lines in self._too_large.copy().items()
            if lines
        ]

    def _is_due(self, place: TranscriptFile, stamp: str | None, *, is_forced: bool) -> bool:
        if stamp == place.state:
            return False
        if is_forced or stamp == "":
            return True
        inode, size = identity_of(stamp) if stamp else (place.stat.inode, 0)
        if inode != place.stat.inode or place.stat.size < size:
            # another file under its name: the index shows the old one until it is read
            return True
        growth = self._growing.growth(place.path, place.stat, size)
        if is_due(growth, self._rule):
            return True
        rests = rests_in(growth, self._rule)
        self._rests += [] if rests is None else [rests]
        return False


def _over_limit(places: Mapping[RelativePath, TranscriptFile], max_bytes: int) -> set[RelativePath]:
    """Return the transcripts for which there is no room: those that were written longest ago."""
    newest = sorted(places, key=lambda path: -places[path].stat.mtime_ns)
    sums = accumulate(places[path].stat.size for path in newest)
    return {path for path, size in zip(newest, sums, strict=True) if size > max_bytes}


def _spoken_lines(step: ReadOn, *, is_first: bool) -> Iterator[ConversationLine]:
    """Yield what was said; before the first line with a time, the time of the file is taken."""
    known = 0 if not is_first else int(time_of_file(step.tail.stat.mtime_ns).timestamp() * 1e9)
    for line in step.lines:
        when = line.utterance.time
        at_ns = known if when is None else int(when.timestamp() * 1e9)
        known = 0
        yield ConversationLine(line.number, line.utterance.line, at_ns)


def visible_transcripts(agent: str, folders: TranscriptFolders, withheld: WithheldConversations) -> AgentTranscripts:
    """Return the transcripts of an agent that are not withheld, to be exported or read for their turns.

    None while it is not known which are withheld. Blocks, and never raises.
    """
    # before the look: what changes meanwhile is looked at once more
    marks = withheld.version
    found = folders.look()
    try:
        # a name that was forgotten hides every file of it
        like = {path for path, file in found.twins if withheld.withholds(path, file)}
        files = {
            transcript.name: transcript
            for path, transcript in found.transcripts.items()
            if path not in like and not withheld.withholds(path, transcript.path)
        }
    except StoreUnavailable as exc:
        return AgentTranscripts(problem=str(exc))
    hidden = {transcript.name for transcript in found.transcripts.values()} - files.keys()
    return AgentTranscripts(
        tuple(files.values()),
        "; ".join(found.troubles),
        lambda name: name in hidden or withheld.withholds_path(transcript_path(agent, name)),
        marks,
    )


class _Seen(Struct):
    stat: FileStat
    changed_at: float
    begun: int
    """Where the lines are counted from: what was read before."""
    counted: int
    lines: int = 0
    is_compacted: bool = False


class GrowingFiles(Struct, eq=False):
    """Remembers of each file when it changed last, by a clock that never jumps, and how many lines were counted."""

    _seen: dict[Path, _Seen] = {}

    def growth(self, file: Path, stat: FileStat, read_bytes: int) -> Growth:
        """Return what came to a file, now with this `stat`, behind its first `read_bytes`. Blocks."""
        seen = self._seen.get(file)
        changed_at = time.monotonic() if seen is None or seen.stat != stat else seen.changed_at
        if seen is None or seen.begun != read_bytes or stat.size < seen.counted:
            seen = self._seen[file] = _Seen(stat, changed_at, read_bytes, read_bytes)
        seen.stat, seen.changed_at = stat, changed_at
        self._count(file, seen)
        return Growth(max(0, stat.size - read_bytes), seen.lines, time.monotonic() - changed_at, seen.is_compacted)

    def keep(self, files: Collection[Path]) -> None:
        """Forget all but these."""
        self._seen = {file: seen for file, seen in self._seen.items() if file in files}

    def _count(self, file: Path, seen: _Seen) -> None:
        end = min(seen.stat.size, seen.counted + MAX_TOTAL_BYTES)
        if seen.counted >= end:
            return
        try:
            descriptor = open_below(file.parent, file.name)
        except OSError:
            return
        try:
            while seen.counted < end and (block := os.pread(descriptor, BLOCK_BYTES, seen.counted)):
                seen.lines += block.count(b"\n")
                seen.is_compacted |= tells_compaction(block)
                seen.counted += len(block)
        finally:
            os.close(descriptor)
