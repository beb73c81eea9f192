"""Transcripts as conversations: which files the folders of an agent hold, which have grown enough, and reading them on.

Line n of the conversation is line n of the file. Nothing is ever written to these folders.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from memoryd.domain.conversation_paths import transcript_path
from memoryd.domain.documents import FileStat, RelativePath, SkippedFile
from memoryd.domain.sessions.conversation_parts import ConversationLine
from memoryd.domain.sessions.reading_on_time import ReadingRule, is_due, rests_in
from memoryd.domain.sessions.transcripts.steps import ReadOn, TranscriptState
from memoryd.domain.sessions.transcripts.tails import read_tail, written_tail
from memoryd.domain.sessions.transcripts.utterances import TranscriptFormat
from memoryd.domain.sessions.turn_times import time_of_file
from memoryd.errors import StoreUnavailable
from memoryd.files.scanner import FolderId
from memoryd.sessions.conversation_source import ReadStep, SourceLook
from memoryd.sessions.transcripts.growing import GrowingFiles
from memoryd.sessions.transcripts.reading_on import read_on
from memoryd.sessions.transcripts.transcript_folder import find_transcripts

STEP_BYTES: Final = 512 << 10
"""Read in one step: some hundredths of a second in a thread."""
GRACE_SECONDS: Final = 60.0
BEYOND: Final = "not indexed: with newer transcripts it is more than memory.sessions.maxBytes"
TWICE: Final = "another folder of this agent has a transcript of this name"
_NOTHING_READ: Final = (TranscriptState.UNKNOWN, TranscriptState.OTHER_FORMAT)


@dataclass(frozen=True, slots=True)
class TranscriptFolder:
    """A folder whose transcripts are read, and of which program they are; None: that is seen.

    `is_optional`: it may be missing without anybody being told.
    """

    path: Path
    whose: TranscriptFormat | None = None
    is_optional: bool = False


class Withholding(Protocol):
    """Says which transcripts are not to be remembered; raises StoreUnavailable while nobody knows."""

    def names(self, path: RelativePath) -> bool:
        """Tell whether one is withheld by its name."""
        ...

    def transcript_like(self, file: Path) -> object | None:
        """Return what was forgotten and began as this file does. Blocks; raises OSError, StoreUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class SeenFolder:
    """A folder at the last look; `problem` says why it was not seen whole."""

    path: Path
    files: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SeenTranscripts:
    """What the last look found; of the files those that are withheld are not counted."""

    folders: tuple[SeenFolder, ...] = ()
    files: int = 0
    bytes: int = 0
    withheld: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    ids: Mapping[str, FolderId] = field(default_factory=dict)
    """Of the folders that are there."""


@dataclass(frozen=True, slots=True)
class _Place:
    folder: TranscriptFolder
    file: Path
    stat: FileStat

    @property
    def state(self) -> str:
        return _state(self.stat, self.folder.path)


class TranscriptConversations:
    """The transcripts of one agent; a folder that vanished keeps what was read of it for a `grace`, in seconds."""

    def __init__(
        self,
        agent: str,
        folders: Sequence[TranscriptFolder],
        *,
        rule: ReadingRule,
        withholding: Withholding,
        grace: float = GRACE_SECONDS,
        max_bytes: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.prefix: str = transcript_path(agent, "")
        self.seen = SeenTranscripts()
        self._folders = folders
        self._rule = rule
        self._withholding = withholding
        self._grace = grace
        self._max_bytes = max_bytes
        self._clock = clock
        self._missing: dict[Path, float] = {}
        self._growing = GrowingFiles(clock)
        self._places: Mapping[RelativePath, _Place] = {}
        self._rests: list[float] = []
        """In how many seconds transcripts that have grown a little will have rested long enough."""

    def look(self, read: Mapping[RelativePath, str], *, is_forced: bool) -> SourceLook:
        """Say which transcripts there are, and which of them are to be read on; forced, all that have changed."""
        found, folders, skipped = dict[RelativePath, _Place](), list[SeenFolder](), list[SkippedFile]()
        for folder in self._folders:
            folders.append(self._listed(folder, found, skipped))
        withheld = {path for path, place in found.items() if self._is_withheld(path, place, is_known=path in read)}
        places = {path: place for path, place in found.items() if path not in withheld}
        beyond = self._beyond(places)
        skipped += [SkippedFile(path, BEYOND) for path in beyond]
        places = {path: place for path, place in places.items() if path not in beyond}
        self._growing.keep({place.file for place in places.values()})
        lost = {seen.path for seen in folders if seen.problem and self._keeps(seen)}
        kept = {path for path, state in read.items() if lost and _folder_of(state) in (None, *lost)}
        self._rests = []
        due = [path for path, place in places.items() if self._is_due(place, read.get(path), is_forced=is_forced)]
        self._places = places
        self.seen = _seen(folders, places, len(withheld), skipped)
        troubles = [f"{seen.path}: {seen.problem}" for seen in folders if seen.problem and not self._may_miss(seen)]
        newest_first = sorted(due, key=lambda path: -places[path].stat.mtime_ns)
        present, again_in = places.keys() | (kept - withheld), min(self._rests, default=None)
        return SourceLook(present, newest_first, "; ".join(troubles), again_in)

    def read_on(self, path: RelativePath, tail: str) -> ReadStep | None:
        """Read some lines more; None if the file is gone."""
        place = self._places.get(path)
        if place is None:
            return None
        before = read_tail(tail)
        step = read_on(place.file, before, whose=place.folder.whose, max_bytes=STEP_BYTES)
        if step.state is TranscriptState.GONE:
            return None
        if step.state is TranscriptState.UNREADABLE:
            raise StoreUnavailable(step.problem)
        is_afresh = not before.offset or step.state in (TranscriptState.REWRITTEN, *_NOTHING_READ)
        return ReadStep(
            lines=tuple(_lines(step, is_first=is_afresh)),
            tail=written_tail(step.tail),
            stamp="" if step.is_more else _state(step.tail.stat, place.folder.path),
            is_afresh=is_afresh,
            problem=step.problem if step.state in _NOTHING_READ else "",
        )

    def _listed(
        self, folder: TranscriptFolder, places: dict[RelativePath, _Place], skipped: list[SkippedFile]
    ) -> SeenFolder:
        found = find_transcripts(folder.path)
        skipped += found.skipped
        for name, stat in found.files.items():
            path = RelativePath(f"{self.prefix}{name}")
            if path in places:
                skipped.append(SkippedFile(path, TWICE))
            else:
                places[path] = _Place(folder, folder.path / name, stat)
        return SeenFolder(folder.path, len(found.files), found.problem)

    def _beyond(self, places: Mapping[RelativePath, _Place]) -> set[RelativePath]:
        """Return the transcripts for which there is no room: those that were written longest ago."""
        left, beyond = self._max_bytes, set[RelativePath]()
        if left is None:
            return beyond
        for path, place in sorted(places.items(), key=lambda item: -item[1].stat.mtime_ns):
            left -= place.stat.size
            if left < 0:
                beyond.add(path)
        return beyond

    def _keeps(self, seen: SeenFolder) -> bool:
        """Tell whether what was read of a folder stays: one that is gone may come back, but not for ever."""
        if seen.path.is_dir():
            self._missing.pop(seen.path, None)
            return True
        return self._clock() - self._missing.setdefault(seen.path, self._clock()) < self._grace

    def _may_miss(self, seen: SeenFolder) -> bool:
        return any(one.path == seen.path and one.is_optional for one in self._folders) and not seen.path.exists()

    def _is_withheld(self, path: RelativePath, place: _Place, *, is_known: bool) -> bool:
        if self._withholding.names(path):
            return True
        try:
            return not is_known and self._withholding.transcript_like(place.file) is not None
        except OSError:
            # nobody can say now: the next look may
            return True

    def _is_due(self, place: _Place, stamp: str | None, *, is_forced: bool) -> bool:
        if stamp == place.state:
            return False
        if is_forced or stamp == "":
            return True
        inode, size = _identity_of(stamp) if stamp else (place.stat.inode, 0)
        if inode != place.stat.inode or place.stat.size < size:
            # another file under its name: what was read of the old one is told until it is read
            return True
        growth = self._growing.growth(place.file, place.stat, size)
        if is_due(growth, self._rule):
            return True
        rests = rests_in(growth, self._rule)
        self._rests += [] if rests is None else [rests]
        return False


def _lines(step: ReadOn, *, is_first: bool) -> Iterator[ConversationLine]:
    """Yield what was said; until somebody told a time, that of the file stands for it."""
    known = 0 if not is_first else int(time_of_file(step.tail.stat.mtime_ns).timestamp() * 1e9)
    for line in step.lines:
        when = line.utterance.time
        at_ns = known if when is None else int(when.timestamp() * 1e9)
        known = 0
        yield ConversationLine(line.number, line.utterance.line, at_ns)


def _seen(
    folders: Sequence[SeenFolder], places: Mapping[RelativePath, _Place], withheld: int, skipped: Sequence[SkippedFile]
) -> SeenTranscripts:
    return SeenTranscripts(
        folders=tuple(folders),
        files=len(places),
        bytes=sum(place.stat.size for place in places.values()),
        withheld=withheld,
        skipped=tuple(skipped),
        ids=dict(_ids(folders)),
    )


def _ids(folders: Sequence[SeenFolder]) -> Iterator[tuple[str, FolderId]]:
    for seen in folders:
        try:
            info = seen.path.stat()
        except OSError:
            continue
        yield str(seen.path), (info.st_dev, info.st_ino)


def _state(stat: FileStat, folder: Path) -> str:
    """Return what names the state of a file: of the device only the folder's is the same however it is asked."""
    return f"{stat.inode}:{stat.size}:{stat.mtime_ns}:{stat.ctime_ns} {folder}"


def _identity_of(state: str) -> tuple[int, int]:
    inode, size, *_ = state.split(":", 2)
    return int(inode), int(size)


def _folder_of(state: str) -> Path | None:
    """Return the folder that a state was seen in, None where the reading was not finished."""
    return Path(state.partition(" ")[2]) if state else None
