"""Export the transcripts of one agent as a folder of Markdown for qmd: one round before each of its updates.

An export is written again only if its transcript has grown. It is deleted when the transcript is deleted, too old,
forgotten or excluded, or when exports are switched off. Files that memoryd did not write are never changed; of those
with the name of an export only the first and the last line are read.
"""

import contextlib
import os
import stat as stat_module
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
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
from memoryd.domain.sessions.transcripts.reading import READ_STATES, TailRead, TranscriptState, read_tail, written_tail
from memoryd.files.reading import TornReadError, file_stat
from memoryd.files.writing import FileChangedError, make_private_folder, remove_drafts, streamed_file, write_private
from memoryd.sessions.transcripts.folders import AgentTranscripts, TranscriptFile
from memoryd.sessions.transcripts.reading import read_next

log = structlog.get_logger(__name__)

STEP_BYTES = 1 << 20
ROUND_BYTES = 32 << 20
"""Most bytes of transcripts read in one round. Then qmd updates, and the rest follows in the next round."""
_DAY_NS = 86_400_000_000_000
_MAX_PROBLEMS_SHOWN = 3
_HEAD_BYTES = 1024
_BLOCK_BYTES = 1 << 20


class ExportFiles(Struct, frozen=True):
    """The exports in one folder, by name. Methods block and raise OSError."""

    folder: Path

    def prepare(self) -> None:
        """Create the folder, accessible to its owner only, and remove drafts left by a kill."""
        make_private_folder(self.folder)
        self.folder.chmod(0o700)
        remove_drafts(self.folder)

    def ours(self) -> set[str]:
        """Return the names of the files in the folder that have the name and the content of an export."""
        try:
            names = [path.name for path in self.folder.iterdir()]
        except FileNotFoundError:
            return set()
        return {name for name in names if name.endswith(SUFFIX) and not name.startswith(".") and self.is_ours(name)}

    def stat(self, name: str) -> FileStat | None:
        """Return the status of an export, by which a change is detected; None if there is no such file."""
        try:
            return file_stat((self.folder / name).lstat())
        except OSError:
            return None

    def is_ours(self, name: str) -> bool:
        """Return whether a file is an export: a regular file with our heading and our mark."""
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
        """Write an export. `at_ns` is called at the end and returns the time of the last message.

        Raises FileChangedError if a file that is no export is in its place.
        """
        path = self.folder / name
        with streamed_file(path, replaces=self.is_ours(name)) as file:
            for block in head:
                file.write(block)
            for line in lines:
                file.write(line.encode("utf-8", "replace"))
            file.write(MARK_LINE)
            file.flush()
            # for programs that sort or filter by file times
            os.utime(file.fileno(), ns=(at_ns(), at_ns()))
        return file_stat(path.lstat())

    def without_mark(self, name: str) -> Iterator[bytes]:
        """Yield the content of an export without the mark, so that lines can be appended."""
        with (self.folder / name).open("rb") as file:
            left = os.fstat(file.fileno()).st_size - len(MARK_LINE)
            while left > 0 and (block := file.read(min(left, _BLOCK_BYTES))):
                left -= len(block)
                yield block

    def remove(self, name: str) -> None:
        """Delete a file if it is an export."""
        if self.is_ours(name):
            (self.folder / name).unlink(missing_ok=True)


class Exported(Struct, frozen=True, rename={"last_ns": "last", "is_more": "more"}):
    """How far a transcript was read and exported; `lines` is the number of the last exported line."""

    transcript: str
    tail: str = ""
    """Text by `written_tail`."""
    lines: int = 0
    last_ns: int = 0
    """Time of its last message."""
    written: tuple[int, int, int] | None = None
    """Inode, size and time of the export; None without an export, as the transcript has no message or is too old."""
    is_more: bool = False
    """Whether there is more to read."""

    def is_intact(self, stat: FileStat | None) -> bool:
        """Return whether the file with this status is the export that was written."""
        return self.written is not None and stat is not None and _identity(stat) == self.written


class ExportRecord(Struct, frozen=True):
    """The exports of an agent by file name, and their folder; empty if none were ever made.

    If the record is missing, everything is exported again; old exports are recognised by their mark.
    """

    folder: str = ""
    exports: dict[str, Exported] = {}


def _identity(stat: FileStat) -> tuple[int, int, int]:
    return stat.inode, stat.size, stat.mtime_ns


class ExportStep(Struct, frozen=True):
    """The new state of a transcript, None if its export must be removed, and the number of bytes read."""

    exported: Exported | None
    read_bytes: int = 0
    problem: str = ""


def _export_step(
    files: ExportFiles, name: str, transcript: TranscriptFile, known: Exported | None, *, max_bytes: int
) -> ExportStep:
    """Append new lines of a transcript to its export, reading little more than `max_bytes`.

    If the export was changed, or the part of the transcript that was read, it is written again. Raises OSError.
    """
    stat = files.stat(name)
    if stat is not None and not files.is_ours(name):
        return ExportStep(None, problem=f"{transcript.name}: another file is at the place of its export")
    if known is None or not (known.is_intact(stat) or (stat is None and not known.lines)):
        # a changed export cannot be continued
        known = Exported(transcript.name)
    first = read_next(transcript.path, read_tail(known.tail), format=transcript.format, max_bytes=STEP_BYTES)
    problem = f"{transcript.name}: {first.problem}" if first.problem else ""
    if first.state is TranscriptState.UNREADABLE:
        return ExportStep(known, problem=problem)
    if first.state not in READ_STATES:
        # an unknown format: remember the tail, so that it is not read again before it changes
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
        # the transcript was replaced: the next round reads the new one
        return ExportStep(replace(known, is_more=True), reading.read_bytes)
    return ExportStep(reading.exported, reading.read_bytes)


class _Reading:
    """Reads a transcript while its export is written, and tracks the progress."""

    def __init__(self, transcript: TranscriptFile, known: Exported, first: TailRead, max_bytes: int) -> None:
        self.exported = known
        self._transcript = transcript
        self._step = first
        self._start = read_tail(known.tail).offset
        self._max_bytes = max_bytes

    @property
    def read_bytes(self) -> int:
        return max(0, self._step.tail.offset - self._start)

    def reaches_words(self) -> bool:
        """Read up to the first step with a spoken line. Return False if there is none."""
        while not self._step.lines:
            self._note()
            if not self._read_next():
                return False
        return True

    def texts(self) -> Iterator[str]:
        """Yield the lines of the export from this step on. Raises TornReadError if the transcript is replaced."""
        while True:
            spoken = ((line.number, line.utterance.line) for line in self._step.lines)
            yield from export_lines(spoken, after=self.exported.lines)
            self._note()
            if not self._read_next():
                break

    def _read_next(self) -> bool:
        """Read the next step. Return False if there is none, or `max_bytes` are read."""
        if not self._step.is_more or self.read_bytes >= self._max_bytes:
            return False
        self._step = read_next(
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
    """The folder of the exports, whether they are enabled, and how many days after its last message an export stays."""

    folder: Path
    record: Path
    is_enabled: bool = True
    retention_days: int | None = None
    refusal: Callable[[Path], str] = lambda _folder: ""
    """Returns why nothing may be exported to a folder now; empty if it may."""


class SessionExports:
    """The exports of one agent. Methods block, and are protected by a lock.

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
        """Why nothing may be exported to the configured folder; None before the first check."""
        self._withheld: set[str] = set()
        self._lock = threading.Lock()
        self._folder = ""
        """The folder of the existing exports."""
        self._exported: dict[str, Exported] = {}
        self._is_loaded = False

    @property
    def folder(self) -> Path | None:
        """The folder of the exports; None if they are disabled or refused, and before the first `check`."""
        return self._settings.folder if self._settings.is_enabled and self._refusal == "" else None

    def check(self) -> None:
        """Check whether exports may be written to the configured folder."""
        self._refusal = self._settings.refusal(self._settings.folder) if self._settings.is_enabled else ""

    @property
    def count(self) -> int:
        """Number of exports."""
        return sum(exported.written is not None for exported in list(self._exported.values()))

    def transcript_of(self, name: str) -> str | None:
        """Return the displayed name of the transcript of an export; None if the file is no export."""
        exported = self._exported.get(name)
        return None if self.folder is None or exported is None or exported.written is None else exported.transcript

    def withhold(self, transcript: str) -> None:
        """Delete the export of a transcript at once, and make none again as long as this process lives.

        The record keeps its name, so that the next round makes qmd forget it. After a restart the list of transcripts
        has to withhold it.
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
        """Bring the exports up to date. Return False if there is more to do.

        `on_withdraw` is called before exports are deleted that qmd may have read. A disk error becomes the `problem`,
        and the next round tries again; it does not delay the notes.
        """
        with self._lock:
            try:
                return self._refresh(on_withdraw)
            except OSError as exc:
                self._report([f"transcripts cannot be exported to {self._settings.folder}: {exc.strerror or exc}"])
                return True

    def _refresh(self, on_withdraw: Callable[[], None]) -> bool:
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
        listed = self._transcripts()
        files.prepare()
        newest_first = sorted(listed.files, key=lambda transcript: transcript.stat.mtime_ns, reverse=True)
        included = {
            export_name(transcript.name): transcript
            for transcript in newest_first
            if not self._is_excluded(transcript.name, listed)
        }
        self._withdraw(files, self._orphans(files, listed, included), on_withdraw)
        left, is_done = ROUND_BYTES, True
        problems = [listed.problem] if listed.problem else []
        for name, transcript in included.items():
            if self._is_settled(files, name, transcript):
                continue
            if left <= 0:
                is_done = False
                break
            step = _export_step(files, name, transcript, self._exported.get(name), max_bytes=left)
            left -= step.read_bytes
            problems += [step.problem] if step.problem else []
            if step.exported is None or step.exported.written is None:
                # the transcript has no messages any more, or cannot be read
                self._withdraw(files, {name}, on_withdraw)
            self._note(name, step.exported)
            is_done &= step.exported is None or not step.exported.is_more
        self._expire(files, on_withdraw)
        write_private(self._settings.record, msgspec.json.encode(ExportRecord(self._folder, self._exported)))
        self._report(problems)
        return is_done

    def _orphans(self, files: ExportFiles, listed: AgentTranscripts, included: Collection[str]) -> set[str]:
        """Return the names of the exports to be removed."""
        orphans = (files.ours() | self._exported.keys()).difference(included)
        if not listed.problem:
            return orphans
        # a folder that could not be listed may still have their transcripts; only withheld ones are removed
        known = self._exported
        return {name for name in orphans if name in known and self._is_excluded(known[name].transcript, listed)}

    def _is_excluded(self, transcript: str, listed: AgentTranscripts) -> bool:
        return transcript in self._withheld or listed.is_excluded(transcript)

    def _is_settled(self, files: ExportFiles, name: str, transcript: TranscriptFile) -> bool:
        """Return whether neither the transcript nor its export has changed since the last round."""
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
        """Delete exports that are too old. Their progress is kept, so that their transcripts are not read again."""
        for name, exported in list(self._exported.items()):
            # the time of the last message is unknown until all is read
            if exported.written and not exported.is_more and self._is_old(exported):
                self._withdraw(files, {name}, on_withdraw)
                self._note(name, replace(exported, written=None))

    def _withdraw(self, files: ExportFiles, names: set[str], on_withdraw: Callable[[], None]) -> None:
        known = filter(None, map(self._exported.get, names))
        if any(exported.written for exported in known) or any(map(files.is_ours, names)):
            # before the deletion: otherwise qmd would keep deleted exports after a kill in between
            on_withdraw()
        for name in names:
            files.remove(name)
            self._note(name, None)

    def _withdraw_all(self, on_withdraw: Callable[[], None]) -> None:
        """Delete all exports in the configured folder and in the previous one."""
        for folder in sorted({self._folder, str(self._settings.folder)} - {""}):
            files = ExportFiles(Path(folder))
            self._withdraw(files, files.ours() | self._exported.keys(), on_withdraw)
            with contextlib.suppress(OSError):
                # fails if other files are in it
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
