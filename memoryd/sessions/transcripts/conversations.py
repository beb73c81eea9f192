"""Transcripts as conversations: find those in an agent's folders that have grown enough, and read them incrementally.

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
from memoryd.domain.sessions.transcripts.reading import CountedLine, TailRead, TranscriptState, read_tail, written_tail
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
from memoryd.sessions.transcripts.reading import read_next
from memoryd.sessions.withheld import WithheldConversations

STEP_BYTES = 512 << 10
"""Most bytes read in one step, which takes some hundredths of a second in a thread."""
_NOTHING_READ = (TranscriptState.UNKNOWN, TranscriptState.OTHER_FORMAT)
MAX_BYTES = 2 * 1024**3
"""Most bytes of all transcripts of one agent."""
BLOCK_BYTES = 256 << 10
MAX_TOTAL_BYTES = 4 << 20
"""Most bytes of a file whose lines are counted in one scan; a larger growth is enough by any sensible rule."""


class SeenTranscripts(Struct, frozen=True):
    """The result of the last scan; withheld files are counted separately."""

    folders: tuple[SeenFolder, ...] = ()
    files: int = 0
    bytes: int = 0
    max_bytes: int = MAX_BYTES
    """Most bytes that are read."""
    withheld: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    ids: Mapping[str, FolderId] = {}
    """Identities of the existing folders."""


class TranscriptConversations:
    """The transcripts of one agent. Conversations of a folder that went missing stay for `grace` seconds."""

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
        """Number of lines of each transcript that were skipped for their size."""
        self._rests: list[float] = []
        """Seconds until transcripts that have grown a little will have rested long enough."""

    def scan(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceListing:
        """List the transcripts, and those to be read on; if forced, all that have changed."""
        listing = self._folders.scan()
        # the content of transcripts that were read before was checked then
        withheld = {
            path
            for path, transcript in listing.transcripts.items()
            if self._withheld.withholds(path, None if path in read else transcript.path)
        }
        places = {path: place for path, place in listing.transcripts.items() if path not in withheld}
        over_limit = _over_limit(places, self._max_bytes)
        places = {path: place for path, place in places.items() if path not in over_limit}
        self._too_large = {path: lines for path, lines in self._too_large.items() if path in places}
        self._growing.keep({place.path for place in places.values()})
        folders = listing.retained
        retained = {path for path, state in read.items() if folders and folder_of(state) in (None, *folders)}
        self._rests = []
        due = [path for path, place in places.items() if self._is_due(place, read.get(path), is_forced=is_forced)]
        self._places = places
        skipped = (*listing.skipped, *(SkippedFile(path, SkipReason.BEYOND_MAX_BYTES) for path in over_limit))
        self.seen = SeenTranscripts(
            folders=tuple(listing.folders),
            files=len(places),
            bytes=sum(place.stat.size for place in places.values()),
            max_bytes=self._max_bytes,
            withheld=len(withheld),
            skipped=skipped,
            ids=folder_ids(listing.folders),
        )
        # first those that are in the index, which may have outdated text; then the newest
        due.sort(key=lambda path: (not read.get(path), -places[path].stat.mtime_ns))
        present, again_in = places.keys() | (retained - withheld), min(self._rests, default=None)
        return SourceListing(present, due, "; ".join(listing.troubles), again_in)

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read the next step; None if the file is missing."""
        place = self._places.get(path)
        if place is None:
            return None
        before = read_tail(tail)
        step = read_next(place.path, before, format=place.format, max_bytes=STEP_BYTES)
        if step.state is TranscriptState.MISSING:
            return None
        if step.state is TranscriptState.UNREADABLE:
            raise StoreUnavailable(step.problem)
        is_afresh = not before.offset or step.state in (TranscriptState.REWRITTEN, *_NOTHING_READ)
        too_large = step.counts[CountedLine.TOO_LONG] + step.counts[LeftOut.TOO_MANY_VALUES]
        self._too_large[path] = too_large + (0 if is_afresh else self._too_large.get(path, 0))
        return ReadStep(
            lines=tuple(_spoken_lines(step, is_first=is_afresh)),
            tail=written_tail(step.tail),
            stamp="" if step.is_more else state_of(step.tail.stat, place.path.parent),
            is_afresh=is_afresh,
            problem=step.problem if step.state in _NOTHING_READ else "",
        )

    def partly_read(self) -> list[SkippedFile]:
        """Return the transcripts with lines that were skipped for their size."""
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
            # the file was replaced: the index has the old content until it is read
            return True
        growth = self._growing.growth(place.path, place.stat, size)
        if is_due(growth, self._rule):
            return True
        rests = rests_in(growth, self._rule)
        self._rests += [] if rests is None else [rests]
        return False


def _over_limit(places: Mapping[RelativePath, TranscriptFile], max_bytes: int) -> set[RelativePath]:
    """Return the oldest transcripts, with which all together would be larger than `max_bytes`."""
    newest = sorted(places, key=lambda path: -places[path].stat.mtime_ns)
    sums = accumulate(places[path].stat.size for path in newest)
    return {path for path, size in zip(newest, sums, strict=True) if size > max_bytes}


def _spoken_lines(step: TailRead, *, is_first: bool) -> Iterator[ConversationLine]:
    """Yield the spoken lines. If the first line of the transcript has no time, it gets the time of the file."""
    known = 0 if not is_first else int(time_of_file(step.tail.stat.mtime_ns).timestamp() * 1e9)
    for line in step.lines:
        when = line.utterance.time
        at_ns = known if when is None else int(when.timestamp() * 1e9)
        known = 0
        yield ConversationLine(line.number, line.utterance.line, at_ns)


def visible_transcripts(agent: str, folders: TranscriptFolders, withheld: WithheldConversations) -> AgentTranscripts:
    """Return the transcripts of an agent that are not withheld, to be exported or read for their turns.

    There are none, and a `problem`, while the withheld ones are unknown. Blocks, and never raises.
    """
    # read before the scan, so that a change during the scan leads to another one
    marks = withheld.version
    listing = folders.scan()
    try:
        # if one file of a name is withheld, all files of that name are hidden
        withheld_twins = {path for path, file in listing.twins if withheld.withholds(path, file)}
        files = {
            transcript.name: transcript
            for path, transcript in listing.transcripts.items()
            if path not in withheld_twins and not withheld.withholds(path, transcript.path)
        }
    except StoreUnavailable as exc:
        return AgentTranscripts(problem=str(exc))
    hidden = {transcript.name for transcript in listing.transcripts.values()} - files.keys()
    return AgentTranscripts(
        tuple(files.values()),
        "; ".join(listing.troubles),
        lambda name: name in hidden or withheld.withholds_path(transcript_path(agent, name)),
        marks,
    )


class _Seen(Struct):
    stat: FileStat
    changed_at: float
    begun: int
    """Offset from which lines are counted: the end of the part that was read."""
    counted: int
    lines: int = 0
    is_compacted: bool = False


class GrowingFiles(Struct, eq=False):
    """Tracks when each file changed last, by a monotonic clock, and the number of its new lines."""

    _seen: dict[Path, _Seen] = {}

    def growth(self, file: Path, stat: FileStat, read_bytes: int) -> Growth:
        """Return the growth of a file after its first `read_bytes`; `stat` is its current status. Blocks."""
        seen = self._seen.get(file)
        changed_at = time.monotonic() if seen is None or seen.stat != stat else seen.changed_at
        if seen is None or seen.begun != read_bytes or stat.size < seen.counted:
            seen = self._seen[file] = _Seen(stat, changed_at, read_bytes, read_bytes)
        seen.stat, seen.changed_at = stat, changed_at
        self._count(file, seen)
        return Growth(max(0, stat.size - read_bytes), seen.lines, time.monotonic() - changed_at, seen.is_compacted)

    def keep(self, files: Collection[Path]) -> None:
        """Forget all files but these."""
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
