"""Copy the turns of an agent's transcripts to the question-and-answer store, each once.

The place up to which a transcript was taken is stored in its session, together with the turns. Lines read since then
are buffered only in memory; after a kill they are read again. A rewritten transcript is read from its start, and turns
already stored, by time and words, are skipped.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import structlog
from msgspec import Struct, field

from memoryd.domain.documents import FileStat, SessionId
from memoryd.domain.sessions.making_turns import ReadingState, TakenTurns, TranscriptPlace, TranscriptTurn, read_turns
from memoryd.domain.sessions.transcripts.reading import READ_STATES, START, Tail, TailRead, TranscriptState
from memoryd.domain.sessions.turns import time_of_file
from memoryd.errors import Denied, MemorydError, NotNow, StoreError, StoreUnavailable
from memoryd.sessions.qa_store import QaStore
from memoryd.sessions.session_turns import PlaceMovedError
from memoryd.sessions.transcripts.folders import AgentTranscripts, TranscriptFile
from memoryd.sessions.transcripts.reading import read_next

log = structlog.get_logger(__name__)

_WRITE_SHARE = 4
"""A session is written when the pending text is at least this fraction (1/4) of the text taken so far."""
STEP_BYTES = 512 << 10
POLL_SECONDS = 15.0
IDLE_SECONDS = 600.0
_MAX_BUFFERS = 64
_MAX_BEGUN = 8
"""The number of partly read transcripts that are read alternately."""
_MAX_SHOWN = 3
Result = TypeVar("Result")
HoldAnswer = Callable[[SessionId, int, str], Awaitable[None]]
"""Stores an answer for a while that is not kept with its turn."""


class TranscriptBuffer(Struct):
    """State of one transcript, read up to `tail`. The question of the unfinished turn comes after `anchor`."""

    stored: TranscriptPlace | None
    tail: Tail = START
    anchor: Tail = START
    reading: ReadingState = ReadingState()
    line: int = 0
    """Turns whose question is on a line up to this one are final."""
    open_seq: int = 0
    """The number under which the first turn after `line` was stored before it ended; 0 if it was not."""
    is_again: bool = False
    taken_open: TranscriptTurn | None = None
    """The unfinished turn in the state in which it was stored."""
    pending: list[TranscriptTurn] = []
    """Finished turns that are not stored yet."""
    taken_chars: int = 0

    @property
    def is_worth_a_write(self) -> bool:
        """Whether enough is pending to justify a write, which rewrites everything taken so far."""
        return _WRITE_SHARE * sum(turn.chars for turn in self.pending) >= self.taken_chars


class StoreAccess(Protocol):
    """Access to a store: in threads, and only while the workspace exists."""

    async def read(self, step: Callable[[QaStore], Result]) -> Result:
        """Run a step that reads the store."""
        ...

    async def write(self, step: Callable[[QaStore], Result]) -> Result:
        """Run a step that changes the store."""
        ...


class TurnTaking(Struct, eq=False, kw_only=True):
    """Follows the transcripts of one agent. `trouble` is why it cannot; `problems` has a reason per transcript."""

    agent: str
    look: Callable[[], AgentTranscripts]
    store: StoreAccess
    store_answer: HoldAnswer
    poll_seconds: float = POLL_SECONDS
    now: Callable[[], float] = time.time
    trouble: str = ""
    problems: dict[str, str] = {}
    _buffers: dict[str, TranscriptBuffer] = {}
    _settled: dict[str, FileStat] = {}
    _marks: int = 0
    _is_excluded: Callable[[str], bool] = field(default_factory=lambda: lambda _name: False)

    @property
    def sentences(self) -> list[str]:
        """The problems, one sentence each."""
        unread = [f"turns of {name} are not taken: {problem}" for name, problem in sorted(self.problems.items())]
        more = len(unread) - _MAX_SHOWN
        shown = unread[:_MAX_SHOWN] + ([f"turns of {more} more transcripts are not taken"] if more > 0 else [])
        return [*([self.trouble] if self.trouble else []), *shown]

    async def run(self) -> None:
        """Take new turns until cancelled."""
        while True:
            try:
                if not await self.round():
                    continue
            except NotNow:
                # the store is still being opened
                pass
            except (MemorydError, OSError) as exc:
                if str(exc) != self.trouble:
                    log.warning("turns of transcripts are not taken", agent=self.agent, reason=str(exc))
                self.trouble = str(exc)
            await asyncio.sleep(self.poll_seconds)

    async def round(self) -> bool:
        """Scan all transcripts, and take the turns that ended since. Raises MemorydError, OSError.

        Small transcripts are read first, large ones alternately. Return False if another scan is due before all turns
        are taken.
        """
        began = time.monotonic()
        transcripts = await asyncio.to_thread(self.look)
        self._is_excluded, self.trouble = transcripts.is_excluded, transcripts.problem
        if transcripts.version != self._marks:
            # a forgotten transcript may be allowed again: only the store knows how far it was taken
            self._marks = transcripts.version
            self._settled.clear()
            self._buffers.clear()
        present = {transcript.name for transcript in transcripts.files}
        self.problems = {name: problem for name, problem in self.problems.items() if name in present}
        self._settled = {name: stat for name, stat in self._settled.items() if name in present}
        changed = [file for file in transcripts.files if self._settled.get(file.name) != file.stat]
        due = deque(sorted(changed, key=lambda transcript: transcript.stat.size > STEP_BYTES))
        begun = deque[TranscriptFile]()
        while due or begun:
            # limits the number of buffers in use
            is_new = bool(due) and len(begun) < _MAX_BEGUN
            transcript = due.popleft() if is_new else begun.popleft()
            if not transcripts.is_excluded(transcript.name) and not await self._try_to_follow(transcript):
                begun.append(transcript)
            # only after a step of a partly read one: small transcripts that keep changing must not starve large ones
            if not is_new and time.monotonic() - began > self.poll_seconds:
                return not due and not begun
        return True

    async def _try_to_follow(self, transcript: TranscriptFile) -> bool:
        """Read a step of one transcript. A failure does not stop the other transcripts.

        Return whether nothing more is to be done for it in this round.
        """
        try:
            with contextlib.suppress(PlaceMovedError):
                return await self._follow(transcript)
        except StoreUnavailable:
            raise
        except (StoreError, Denied) as exc:
            # its session is damaged, full or not its own: do not read it again before it changes
            self.problems[transcript.name] = str(exc)
            self._settled[transcript.name] = transcript.stat
        return True

    async def _follow(self, transcript: TranscriptFile) -> bool:
        """Read a step of one transcript, and return whether that was the last.

        After an error its buffer is dropped, so that the lines are read again.
        """
        buffer = self._buffers.pop(transcript.name, None) or await self._from_store(transcript)
        step = await asyncio.to_thread(
            read_next, transcript.path, buffer.tail, format=transcript.format, max_bytes=STEP_BYTES
        )
        if step.state not in READ_STATES:
            if step.problem:
                self.problems[transcript.name] = step.problem
            if step.state not in (TranscriptState.UNREADABLE, TranscriptState.MISSING):
                self._settled[transcript.name] = transcript.stat
            return True
        if not await self._take_step(transcript, buffer, step):
            # not to be remembered: ignore it until it changes
            self._settled[transcript.name] = transcript.stat
            return True
        if not step.is_more:
            self.problems.pop(transcript.name, None)
            if await self._at_end(transcript, buffer) and transcript.is_unchanged_at(step.tail.stat):
                self._settled[transcript.name] = transcript.stat
        self._buffers[transcript.name] = buffer
        if len(self._buffers) > _MAX_BUFFERS:
            del self._buffers[next(iter(self._buffers))]
        return not step.is_more

    async def _from_store(self, transcript: TranscriptFile) -> TranscriptBuffer:
        place = await self.store.read(lambda store: store.turns.transcript_place(transcript.name, agent=self.agent))
        if place is None:
            return TranscriptBuffer(None)
        seen = await asyncio.to_thread(read_next, transcript.path, place.seen, format=transcript.format, max_bytes=1)
        if seen.state is TranscriptState.REWRITTEN:
            return TranscriptBuffer(place, is_again=True)
        return TranscriptBuffer(
            place, place.tail, place.tail, line=place.line, open_seq=place.open_seq, is_again=place.is_again
        )

    async def _take_step(self, transcript: TranscriptFile, buffer: TranscriptBuffer, step: TailRead) -> bool:
        """Take the turns that end in a step. Return False if the transcript is not to be remembered."""
        if step.state is TranscriptState.REWRITTEN:
            buffer.tail, buffer.anchor, buffer.reading = START, START, ReadingState()
            buffer.is_again, buffer.taken_open, buffer.line, buffer.open_seq = True, None, 0, 0
            buffer.pending = []
        begin = buffer.tail
        fresh = [line for line in step.lines if line.number > buffer.line]
        fallback = time_of_file(step.tail.stat.mtime_ns)
        ended, buffer.reading = read_turns(buffer.reading, fresh, fallback)
        turn = buffer.reading.turn
        if turn is None:
            buffer.anchor = step.tail
        elif turn.line > begin.lines:
            buffer.anchor = begin
        buffer.tail = step.tail
        buffer.pending += ended
        if not buffer.pending or (step.is_more and not buffer.is_worth_a_write):
            return True
        ended, buffer.pending = buffer.pending, []
        buffer.taken_chars += sum(turn.chars for turn in ended)
        buffer.taken_open = None
        return await self._take(transcript, buffer, ended, ended[-1].line)

    async def _at_end(self, transcript: TranscriptFile, buffer: TranscriptBuffer) -> bool:
        """Take the unfinished turn if the transcript is idle. Return whether there is nothing to wait for."""
        turn = buffer.reading.turn
        if turn is None or turn == buffer.taken_open:
            return True
        # a file with a time in the future is not idle before that time
        if self.now() - transcript.stat.mtime_ns / 1e9 < IDLE_SECONDS:
            return False
        if await self._take(transcript, buffer, [turn], buffer.line, goes_on=True):
            buffer.taken_open = turn
        return True

    async def _take(
        self,
        transcript: TranscriptFile,
        buffer: TranscriptBuffer,
        turns: list[TranscriptTurn],
        line: int,
        *,
        goes_on: bool = False,
    ) -> bool:
        """Store turns, with `line` as the last final line. Return False if they are not to be remembered."""
        place = TranscriptPlace(transcript.name, buffer.anchor, buffer.tail, line, is_again=buffer.is_again)
        before, open_seq = buffer.stored, buffer.open_seq

        def take(store: QaStore) -> TakenTurns | None:
            # checked when writing: a transcript that was forgotten after the scan must not come back
            if self._is_excluded(place.file):
                return None
            return store.turns.take_transcript(
                turns, place, before=before, agent=self.agent, open_seq=open_seq, goes_on=goes_on
            )

        taken = await self.store.write(take)
        if taken is None:
            return False
        for made in taken.made:
            if made.dropped_answer is not None:
                await self.store_answer(taken.session.id, made.turn.seq, made.dropped_answer)
        buffer.stored, buffer.line, buffer.open_seq = taken.place, place.line, taken.place.open_seq
        return True
