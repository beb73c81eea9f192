"""Keeping a folder of Markdown equal to the transcripts of one agent, for qmd: a round before each of its updates.

An export is written again only where its transcript has grown. It is deleted when the transcript is deleted, too old,
forgotten or excluded, or when exports are switched off. Files that memoryd did not write are never read or changed.
"""

import contextlib
import os
import stat as stat_module
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.conversation_parts import (
    MARK_LINE,
    SUFFIX,
    export_lines,
    export_name,
    heading,
    is_export,
)
from memoryd.domain.sessions.transcripts.reading import ReadOn, TranscriptState, read_tail, written_tail
from memoryd.files.reading import TornReadError, file_stat
from memoryd.files.writing import FileChangedError, make_private_folder, remove_drafts, streamed_file, write_private
from memoryd.sessions.transcripts.folders import AgentTranscripts, TranscriptFile
from memoryd.sessions.transcripts.reading import read_on

log = structlog.get_logger(__name__)

STEP_BYTES = 1 << 20
_READ = (TranscriptState.UNCHANGED, TranscriptState.GROWN, TranscriptState.REWRITTEN)
ROUND_BYTES = 32 << 20
"""Read of transcripts in one round: then qmd has its turn, and what is left follows."""
_DAY_NS = 86_400_000_000_000
_MAX_PROBLEMS_SHOWN = 3
_HEAD_BYTES = 1024
_BLOCK_BYTES = 1 << 20


class ExportFiles(Struct, frozen=True):
    """Exports below one folder, by name. Its methods wait for the disk and raise OSError where it refuses."""

    folder: Path

    def prepare(self) -> None:
        """Make the folder, open to its owner alone, and clear away what a kill left half written."""
        make_private_folder(self.folder)
        self.folder.chmod(0o700)
        remove_drafts(self.folder)

    def ours(self) -> set[str]:
        """Return the names of the exports in the folder, by name and by mark."""
        try:
            names = [path.name for path in self.folder.iterdir()]
        except FileNotFoundError:
            return set()
        return {name for name in names if name.endswith(SUFFIX) and not name.startswith(".") and self.is_ours(name)}

    def stat(self, name: str) -> FileStat | None:
        """Return what shows whether an export is the one that was written, None if there is none of that name."""
        try:
            return file_stat((self.folder / name).lstat())
        except OSError:
            return None

    def is_ours(self, name: str) -> bool:
        """Tell whether a file is an export: a regular one with our heading and our mark."""
        try:
            descriptor = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return False
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            if not stat_module.S_ISREG(info.st_mode):
                return False
            first = file.readline(_HEAD_BYTES)
            file.seek(max(0, info.st_size - len(MARK_LINE) - 1))
            return is_export(first, file.read())

    def write(self, name: str, head: Iterable[bytes], lines: Iterable[str], *, at_ns: Callable[[], int]) -> FileStat:
        """Put an export in its place; `at_ns` tells at the end when the last message was said.

        Raises FileChangedError if a file that is no export is there.
        """
        path = self.folder / name
        with streamed_file(path, replaces=self.is_ours(name)) as file:
            for block in head:
                file.write(block)
            for line in lines:
                file.write(line.encode("utf-8", "replace"))
            file.write(MARK_LINE)
            file.flush()
            # the time of the last message, for programs that sort or filter by the times of files
            os.utime(file.fileno(), ns=(at_ns(), at_ns()))
        return file_stat(path.lstat())

    def without_mark(self, name: str) -> Iterator[bytes]:
        """Yield what an export holds, to be written with more lines behind it."""
        with (self.folder / name).open("rb") as file:
            left = os.fstat(file.fileno()).st_size - len(MARK_LINE)
            while left > 0 and (block := file.read(min(left, _BLOCK_BYTES))):
                left -= len(block)
                yield block

    def remove(self, name: str) -> None:
        """Delete a file that is ours."""
        if self.is_ours(name):
            (self.folder / name).unlink(missing_ok=True)


class Exported(Struct, frozen=True, rename={"last_ns": "last", "is_more": "more"}):
    """How far a transcript was read; its export holds its lines up to `lines`, the last one that says something."""

    transcript: str
    tail: str = ""
    """As `written_tail` gives it."""
    lines: int = 0
    last_ns: int = 0
    """When its last message was said."""
    written: tuple[int, int, int] | None = None
    """Inode, size and time of the export; None while there is none: nothing was said, or all of it is too old."""
    is_more: bool = False
    """Whether there was more to read."""

    def is_intact(self, stat: FileStat | None) -> bool:
        """Tell whether an export is the one that was written."""
        return self.written is not None and stat is not None and _identity(stat) == self.written


class ExportRecord(Struct, frozen=True):
    """The exports of an agent, by the names of their files, and their folder; empty where none were ever made.

    It can be lost: everything is exported again then, and the marks tell ours.
    """

    folder: str = ""
    exports: dict[str, Exported] = {}


def _identity(stat: FileStat) -> tuple[int, int, int]:
    return stat.inode, stat.size, stat.mtime_ns


class ExportStep(Struct, frozen=True):
    """How far a transcript is exported now, None if its export is to go; how much of it was read."""

    exported: Exported | None
    read_bytes: int = 0
    problem: str = ""


def _export_step(
    files: ExportFiles, name: str, transcript: TranscriptFile, known: Exported | None, *, max_bytes: int
) -> ExportStep:
    """Export what a transcript says behind what is exported of it, reading little more than `max_bytes`.

    Where the export or what was read of the transcript is another one, it is written anew. Raises OSError.
    """
    stat = files.stat(name)
    if stat is not None and not files.is_ours(name):
        return ExportStep(None, problem=f"{transcript.name}: another file is at the place of its export")
    if known is None or not (known.is_intact(stat) or (stat is None and not known.lines)):
        # what is not there as it was written cannot be continued
        known = Exported(transcript.name)
    first = read_on(transcript.path, read_tail(known.tail), format=transcript.format, max_bytes=STEP_BYTES)
    problem = f"{transcript.name}: {first.problem}" if first.problem else ""
    if first.state is TranscriptState.UNREADABLE:
        return ExportStep(known, problem=problem)
    if first.state not in _READ:
        # of no format that we know, which is not looked at again before it changes
        return ExportStep(Exported(transcript.name, written_tail(first.tail)) if problem else None, problem=problem)
    if first.state is TranscriptState.REWRITTEN:
        known = Exported(transcript.name)
    reading = _Reading(transcript, known, first, max_bytes)
    try:
        if reading.reaches_words():
            head = files.without_mark(name) if known.written else [f"{heading(transcript.name)}\n".encode()]
            stat = files.write(name, head, reading.texts(), at_ns=lambda: reading.exported.last_ns)
            reading.exported = replace(reading.exported, written=_identity(stat))
    except FileChangedError:
        return ExportStep(None, reading.read_bytes, f"{transcript.name}: another file is at the place of its export")
    except TornReadError:
        # it is another one by now: the next round reads that
        return ExportStep(replace(known, is_more=True), reading.read_bytes)
    return ExportStep(reading.exported, reading.read_bytes)


class _Reading:
    """Reads a transcript on while its export is written, and knows how far it came."""

    def __init__(self, transcript: TranscriptFile, known: Exported, first: ReadOn, max_bytes: int) -> None:
        self.exported = known
        self._transcript = transcript
        self._step = first
        self._start = read_tail(known.tail).offset
        self._max_bytes = max_bytes

    @property
    def read_bytes(self) -> int:
        return max(0, self._step.tail.offset - self._start)

    def reaches_words(self) -> bool:
        """Read up to the first step with a spoken line; return False if there is none."""
        while not self._step.lines:
            self._note()
            if not self._goes_on():
                return False
        return True

    def texts(self) -> Iterator[str]:
        """Yield the lines of the export from this step on; raises TornReadError if the transcript is replaced."""
        while True:
            spoken = ((line.number, line.utterance.line) for line in self._step.lines)
            yield from export_lines(spoken, after=self.exported.lines)
            self._note()
            if not self._goes_on():
                break

    def _goes_on(self) -> bool:
        """Read the next step if there is one, and time for it."""
        if not self._step.is_more or self.read_bytes >= self._max_bytes:
            return False
        self._step = read_on(
            self._transcript.path, self._step.tail, format=self._transcript.format, max_bytes=STEP_BYTES
        )
        if self._step.state not in (TranscriptState.GROWN, TranscriptState.UNCHANGED):
            raise TornReadError(self._transcript.name)
        return True

    def _note(self) -> None:
        step, known = self._step, self.exported
        times = [int(line.utterance.time.timestamp() * 1e9) for line in step.lines if line.utterance.time]
        last = max(times, default=0) or (step.tail.stat.mtime_ns if step.lines else 0)
        lines = step.lines[-1].number if step.lines else known.lines
        self.exported = replace(
            known, tail=written_tail(step.tail), lines=lines, last_ns=max(known.last_ns, last), is_more=step.is_more
        )


class ExportSettings(Struct, frozen=True):
    """Where exports go, whether there are to be any, and for how many days after its last message one stays."""

    folder: Path
    record: Path
    is_enabled: bool = True
    retention_days: int | None = None
    refusal: Callable[[Path], str] = lambda _folder: ""
    """Why nothing may be exported to a folder now; empty if it may."""


class SessionExports:
    """The exports of one agent; its methods wait for the disk, and one thread at a time is in them.

    `problem` says what cannot be exported, and why; empty if nothing.
    """

    def __init__(
        self,
        settings: ExportSettings,
        transcripts: Callable[[], AgentTranscripts],
        *,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self.problem = ""
        self._settings = settings
        self._transcripts = transcripts
        self._now_ns = now_ns
        self._refusal: str | None = None
        """Why none may be made where they are to lie; None before the first look."""
        self._withheld: set[str] = set()
        self._lock = threading.Lock()
        self._folder = ""
        """Where they were written until now."""
        self._exported: dict[str, Exported] = {}
        self._is_loaded = False

    @property
    def folder(self) -> Path | None:
        """Where the exports lie, None if there are to be none, and until `check` has looked."""
        return self._settings.folder if self._settings.is_enabled and self._refusal == "" else None

    def check(self) -> None:
        """Look whether exports may be made where they are to lie."""
        self._refusal = self._settings.refusal(self._settings.folder) if self._settings.is_enabled else ""

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(one.written is not None for one in list(self._exported.values()))

    def transcript_of(self, name: str) -> str | None:
        """Return whose export a file is, by the name that it is told by; None if it is none of ours."""
        one = self._exported.get(name)
        return None if self.folder is None or one is None or one.written is None else one.transcript

    def withhold(self, transcript: str) -> None:
        """Delete the export of a transcript at once, and make none again as long as this process lives.

        The record keeps its name, so that the next round has qmd forget it; from the next start on it is for whoever
        lists the transcripts to withhold it.
        """
        with self._lock:
            self._withheld.add(transcript)
            self._load()
            if self._folder:
                ExportFiles(Path(self._folder)).remove(export_name(transcript))

    def release(self, transcript: str) -> None:
        """Let a transcript be exported again, unless the list of transcripts withholds it."""
        self._withheld.discard(transcript)

    def refresh(self, on_withdraw: Callable[[], None]) -> bool:
        """Bring the exports to what the transcripts say now; return False if there is more to do.

        `on_withdraw` is called before something goes that qmd may have read. What the disk refuses is a `problem`, and
        tried again in the next round: the notes do not wait for it.
        """
        with self._lock:
            try:
                return self._refreshed(on_withdraw)
            except OSError as exc:
                self._report([f"transcripts cannot be exported to {self._settings.folder}: {exc.strerror or exc}"])
                return True

    def _refreshed(self, on_withdraw: Callable[[], None]) -> bool:
        self._load()
        self.check()
        folder = self._settings.folder
        if not self._settings.is_enabled or self._refusal:
            self._withdraw_all(on_withdraw)
            self._report([self._refusal] if self._refusal else [])
            return True
        if self._folder not in ("", str(folder)):
            self._withdraw_all(on_withdraw)
        self._folder = str(folder)
        return self._round(ExportFiles(folder), on_withdraw)

    def _round(self, files: ExportFiles, on_withdraw: Callable[[], None]) -> bool:
        found = self._transcripts()
        files.prepare()
        newest_first = sorted(found.files, key=lambda transcript: transcript.stat.mtime_ns, reverse=True)
        wanted = {export_name(one.name): one for one in newest_first if not self._is_excluded(one.name, found)}
        self._withdraw(files, self._orphans(files, found, wanted), on_withdraw)
        left, is_done = ROUND_BYTES, True
        problems = [found.problem] if found.problem else []
        for name, transcript in wanted.items():
            if self._is_settled(files, name, transcript):
                continue
            if left <= 0:
                is_done = False
                break
            step = _export_step(files, name, transcript, self._exported.get(name), max_bytes=left)
            left -= step.read_bytes
            problems += [step.problem] if step.problem else []
            if step.exported is None or step.exported.written is None:
                # the transcript says nothing any more, or cannot be read
                self._withdraw(files, {name}, on_withdraw)
            self._note(name, step.exported)
            is_done &= step.exported is None or not step.exported.is_more
        self._expire(files, on_withdraw)
        write_private(self._settings.record, msgspec.json.encode(ExportRecord(self._folder, self._exported)))
        self._report(problems)
        return is_done

    def _orphans(self, files: ExportFiles, found: AgentTranscripts, wanted: dict[str, TranscriptFile]) -> set[str]:
        orphans = (files.ours() | self._exported.keys()) - wanted.keys()
        if not found.problem:
            return orphans
        # a folder that cannot be looked at may hold them still; but what is withheld goes in any case
        known = self._exported
        return {name for name in orphans if name in known and self._is_excluded(known[name].transcript, found)}

    def _is_excluded(self, transcript: str, found: AgentTranscripts) -> bool:
        return transcript in self._withheld or found.is_excluded(transcript)

    def _is_settled(self, files: ExportFiles, name: str, transcript: TranscriptFile) -> bool:
        """Tell whether nothing has changed since the last round, on either side."""
        known = self._exported.get(name)
        if known is None or known.is_more or not transcript.is_unchanged_at(read_tail(known.tail).stat):
            return False
        if known.written is None:
            return not known.lines or self._is_old(known)
        return known.is_intact(files.stat(name))

    def _is_old(self, exported: Exported) -> bool:
        days = self._settings.retention_days
        return days is not None and exported.last_ns < self._now_ns() - days * _DAY_NS

    def _expire(self, files: ExportFiles, on_withdraw: Callable[[], None]) -> None:
        """Delete what is too old; how far it was read stays known, so that it is not read again."""
        # the time of the last message is unknown before all is read
        whole = {name: one for name, one in self._exported.items() if one.written and not one.is_more}
        for name in [name for name, one in whole.items() if self._is_old(one)]:
            known = replace(self._exported[name], written=None)
            self._withdraw(files, {name}, on_withdraw)
            self._note(name, known)

    def _withdraw(self, files: ExportFiles, names: set[str], on_withdraw: Callable[[], None]) -> None:
        known = filter(None, map(self._exported.get, names))
        if any(exported.written for exported in known) or any(map(files.is_ours, names)):
            # first: after a kill in between qmd would keep what is deleted
            on_withdraw()
        for name in names:
            files.remove(name)
            self._note(name, None)

    def _withdraw_all(self, on_withdraw: Callable[[], None]) -> None:
        """Delete everything that is ours, where it is to lie and where it lay before."""
        for folder in sorted({self._folder, str(self._settings.folder)} - {""}):
            files = ExportFiles(Path(folder))
            self._withdraw(files, files.ours() | self._exported.keys(), on_withdraw)
            with contextlib.suppress(OSError):
                # files that are not ours may be in it
                files.folder.rmdir()
        self._folder = ""
        self._settings.record.unlink(missing_ok=True)

    def _note(self, name: str, exported: Exported | None) -> None:
        if exported is None:
            self._exported.pop(name, None)
        else:
            self._exported[name] = exported

    def _load(self) -> None:
        if not self._is_loaded:
            with contextlib.suppress(OSError, ValueError):
                record = msgspec.json.decode(self._settings.record.read_bytes(), type=ExportRecord)
                self._folder, self._exported = record.folder, record.exports
            self._is_loaded = True

    def _report(self, problems: list[str]) -> None:
        more = len(problems) - _MAX_PROBLEMS_SHOWN
        problem = "; ".join(problems[:_MAX_PROBLEMS_SHOWN]) + (f"; and {more} more" if more > 0 else "")
        if problem and problem != self.problem:
            log.warning("transcripts are not exported as they should be", reason=problem)
        self.problem = problem
