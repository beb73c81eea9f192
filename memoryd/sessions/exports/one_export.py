"""Bring the export of one transcript up to its end, or as far as one round goes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from memoryd.domain.sessions.conversation_parts import export_lines
from memoryd.domain.sessions.transcripts.reading import ReadOn, TranscriptState
from memoryd.files.reading import TornReadError
from memoryd.files.writing import FileChangedError
from memoryd.sessions.exports.export_files import ExportFiles
from memoryd.sessions.exports.export_record import Exported, identity
from memoryd.sessions.transcripts.agent_transcripts import TranscriptFile
from memoryd.sessions.transcripts.reading_on import read_on

STEP_BYTES: Final = 1 << 20
_READ: Final = (TranscriptState.UNCHANGED, TranscriptState.GROWN, TranscriptState.REWRITTEN)


@dataclass(frozen=True, slots=True)
class ExportStep:
    """How far a transcript is exported now, None if its export is to go; how much of it was read."""

    exported: Exported | None
    read_bytes: int = 0
    problem: str = ""


def brought_on(
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
    first = read_on(transcript.path, known.tail, whose=transcript.whose, max_bytes=STEP_BYTES)
    told = f"{transcript.name}: {first.problem}" if first.problem else ""
    if first.state is TranscriptState.UNREADABLE:
        return ExportStep(known, problem=told)
    if first.state not in _READ:
        # of no format that we know, which is not looked at again before it changes
        return ExportStep(Exported(transcript.name, first.tail) if told else None, problem=told)
    if first.state is TranscriptState.REWRITTEN:
        known = Exported(transcript.name)
    reading = _Reading(transcript, known, first, max_bytes)
    try:
        if reading.reaches_words():
            write = files.append if known.written else files.write
            stat = write(name, transcript.name, reading.texts(), at_ns=lambda: reading.exported.last_ns)
            reading.exported = replace(reading.exported, written=identity(stat))
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
        self._start = known.tail.offset
        self._max_bytes = max_bytes

    @property
    def read_bytes(self) -> int:
        return max(0, self._step.tail.offset - self._start)

    def reaches_words(self) -> bool:
        """Read up to a step in which somebody says something; return False if there is none."""
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
        self._step = read_on(self._transcript.path, self._step.tail, whose=self._transcript.whose, max_bytes=STEP_BYTES)
        if self._step.state not in (TranscriptState.GROWN, TranscriptState.UNCHANGED):
            raise TornReadError(self._transcript.name)
        return True

    def _note(self) -> None:
        step, known = self._step, self.exported
        times = [int(line.utterance.time.timestamp() * 1e9) for line in step.lines if line.utterance.time]
        last = max(times, default=0) or (step.tail.stat.mtime_ns if step.lines else 0)
        lines = step.lines[-1].number if step.lines else known.lines
        self.exported = replace(
            known, tail=step.tail, lines=lines, last_ns=max(known.last_ns, last), is_more=step.is_more
        )
