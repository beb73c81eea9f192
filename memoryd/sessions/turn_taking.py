"""Taking the turns of an agent's transcripts into the question-and-answer store, each once.

How far a transcript is taken is stored in its session, written with the turns; here only what was read since is kept,
so that a kill costs reading it again. A transcript that was rewritten is read from its start, and turns that are there
already, by time and words, are left out.
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
from memoryd.domain.sessions.taking_turns import FoundTurn, Listening, TakenTurns, TranscriptPlace, heard
from memoryd.domain.sessions.transcripts.reading import START, ReadOn, Tail, TranscriptState
from memoryd.domain.sessions.turns import time_of_file
from memoryd.errors import Denied, MemorydError, NotNow, StoreError, StoreUnavailable
from memoryd.sessions.qa_store import QaStore
from memoryd.sessions.session_turns import PlaceMovedError
from memoryd.sessions.transcripts.folders import AgentTranscripts, TranscriptFile
from memoryd.sessions.transcripts.reading import read_on

log = structlog.get_logger(__name__)

_WRITE_SHARE = 4
"""A write of a session that grows is worth it for so large a part of what it has."""
STEP_BYTES = 512 << 10
POLL_SECONDS = 15.0
IDLE_SECONDS = 600.0
_MAX_HEARINGS = 64
_MAX_BEGUN = 8
"""Large transcripts that are read by turns."""
_MAX_SHOWN = 3
_READ = (TranscriptState.UNCHANGED, TranscriptState.GROWN, TranscriptState.REWRITTEN)
Result = TypeVar("Result")
HoldAnswer = Callable[[SessionId, int, str], Awaitable[None]]
"""Keeps an answer that was not kept with its turn, for a while."""


class TranscriptBuffer(Struct):
    """What was heard of one transcript up to `tail`. The question in mind is not before the line behind `anchor`."""

    stored: TranscriptPlace | None
    tail: Tail = START
    anchor: Tail = START
    listening: Listening = Listening()
    line: int = 0
    """Turns asked on a line up to this are taken for good."""
    open_seq: int = 0
    """The turn that the first question behind it was taken as before it ended; 0: it was not."""
    is_again: bool = False
    taken_open: FoundTurn | None = None
    """The question in mind as it was taken before it ended."""
    pending: list[FoundTurn] = []
    """Turns that have ended and are not taken yet."""
    taken_chars: int = 0

    @property
    def is_worth_a_write(self) -> bool:
        """Whether enough is pending for what a write costs, which writes all that was taken once more."""
        return _WRITE_SHARE * sum(turn.chars for turn in self.pending) >= self.taken_chars


class StoreAccess(Protocol):
    """Where a store is asked and written: in threads, and only while the workspace is there."""

    async def read(self, step: Callable[[QaStore], Result]) -> Result:
        """Ask the store."""
        ...

    async def write(self, step: Callable[[QaStore], Result]) -> Result:
        """Have the store change something."""
        ...


class TurnTaking(Struct, eq=False, kw_only=True):
    """Follows the transcripts of one agent; `trouble` says why not, `problems` which of them cannot be read."""

    agent: str
    look: Callable[[], AgentTranscripts]
    store: StoreAccess
    hold: HoldAnswer
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
        """What is not taken and why, one sentence for each."""
        unread = [f"turns of {name} are not taken: {problem}" for name, problem in sorted(self.problems.items())]
        more = len(unread) - _MAX_SHOWN
        told = unread[:_MAX_SHOWN] + ([f"turns of {more} more transcripts are not taken"] if more > 0 else [])
        return [*([self.trouble] if self.trouble else []), *told]

    async def run(self) -> None:
        """Take what is said, until cancelled."""
        while True:
            try:
                if not await self.round():
                    continue
            except NotNow:
                # the store is being opened yet
                pass
            except (MemorydError, OSError) as exc:
                if str(exc) != self.trouble:
                    log.warning("turns of transcripts are not taken", agent=self.agent, reason=str(exc))
                self.trouble = str(exc)
            await asyncio.sleep(self.poll_seconds)

    async def round(self) -> bool:
        """Look at all transcripts, and take what has ended since; raises MemorydError, OSError.

        Small ones come first, and large ones by turns. Return False if another look is due before all was taken.
        """
        began = time.monotonic()
        found = await asyncio.to_thread(self.look)
        self._is_excluded, self.trouble = found.is_excluded, found.problem
        if found.marks != self._marks:
            # a forgotten transcript may be wanted again: only the store knows how far it was taken
            self._marks = found.marks
            self._settled.clear()
            self._buffers.clear()
        present = {one.name for one in found.files}
        self.problems = {name: problem for name, problem in self.problems.items() if name in present}
        self._settled = {name: stat for name, stat in self._settled.items() if name in present}
        changed = (one for one in found.files if self._settled.get(one.name) != one.stat)
        due = deque(sorted(changed, key=lambda one: one.stat.size > STEP_BYTES))
        begun = deque[TranscriptFile]()
        while due or begun:
            # of no more than so many is remembered what was heard
            is_new = bool(due) and len(begun) < _MAX_BEGUN
            one = due.popleft() if is_new else begun.popleft()
            if not found.is_excluded(one.name) and not await self._try_to_follow(one):
                begun.append(one)
            # small ones that are never done must not keep the large ones from a step
            if not is_new and time.monotonic() - began > self.poll_seconds:
                return not due and not begun
        return True

    async def _try_to_follow(self, transcript: TranscriptFile) -> bool:
        """Read some more of one transcript; one that fails does not stop the others.

        Return whether there is nothing more to be done for it in this round.
        """
        try:
            with contextlib.suppress(PlaceMovedError):
                return await self._follow(transcript)
        except StoreUnavailable:
            raise
        except (StoreError, Denied) as exc:
            # its session is damaged, full or not its own: no use to read it all again before anything changes
            self.problems[transcript.name] = str(exc)
            self._settled[transcript.name] = transcript.stat
        return True

    async def _follow(self, transcript: TranscriptFile) -> bool:
        """Read a step of one transcript, and return whether that was the last.

        What was heard is dropped if anything goes wrong: it is read again then.
        """
        buffer = self._buffers.pop(transcript.name, None) or await self._from_store(transcript)
        step = await asyncio.to_thread(
            read_on, transcript.path, buffer.tail, format=transcript.format, max_bytes=STEP_BYTES
        )
        if step.state not in _READ:
            if step.problem:
                self.problems[transcript.name] = step.problem
            if step.state not in (TranscriptState.UNREADABLE, TranscriptState.GONE):
                self._settled[transcript.name] = transcript.stat
            return True
        if not await self._hear(transcript, buffer, step):
            # not to be remembered: nothing of it before it changes
            self._settled[transcript.name] = transcript.stat
            return True
        if not step.is_more:
            self.problems.pop(transcript.name, None)
            if await self._at_end(transcript, buffer) and transcript.is_unchanged_at(step.tail.stat):
                self._settled[transcript.name] = transcript.stat
        self._buffers[transcript.name] = buffer
        if len(self._buffers) > _MAX_HEARINGS:
            del self._buffers[next(iter(self._buffers))]
        return not step.is_more

    async def _from_store(self, transcript: TranscriptFile) -> TranscriptBuffer:
        place = await self.store.read(lambda store: store.turns.transcript_place(transcript.name, agent=self.agent))
        if place is None:
            return TranscriptBuffer(None)
        seen = await asyncio.to_thread(read_on, transcript.path, place.seen, format=transcript.format, max_bytes=1)
        if seen.state is TranscriptState.REWRITTEN:
            return TranscriptBuffer(place, is_again=True)
        return TranscriptBuffer(
            place, place.tail, place.tail, line=place.line, open_seq=place.open_seq, is_again=place.is_again
        )

    async def _hear(self, transcript: TranscriptFile, buffer: TranscriptBuffer, step: ReadOn) -> bool:
        """Take what ends in a step; return False if nothing of this transcript is to be remembered."""
        if step.state is TranscriptState.REWRITTEN:
            buffer.tail, buffer.anchor, buffer.listening = START, START, Listening()
            buffer.is_again, buffer.taken_open, buffer.line, buffer.open_seq = True, None, 0, 0
            buffer.pending = []
        begin = buffer.tail
        fresh = [line for line in step.lines if line.number > buffer.line]
        fallback = time_of_file(step.tail.stat.mtime_ns)
        ended, buffer.listening = heard(buffer.listening, fresh, fallback)
        turn = buffer.listening.turn
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
        """Take the question in mind if nothing was said for a while; return whether there is nothing to wait for."""
        turn = buffer.listening.turn
        if turn is None or turn == buffer.taken_open:
            return True
        # a file from the future is not idle before its time comes
        if self.now() - transcript.stat.mtime_ns / 1e9 < IDLE_SECONDS:
            return False
        if await self._take(transcript, buffer, [turn], buffer.line, goes_on=True):
            buffer.taken_open = turn
        return True

    async def _take(
        self,
        transcript: TranscriptFile,
        buffer: TranscriptBuffer,
        found: list[FoundTurn],
        line: int,
        *,
        goes_on: bool = False,
    ) -> bool:
        """Store turns, which are taken up to this line; return False if they are not to be remembered."""
        place = TranscriptPlace(transcript.name, buffer.anchor, buffer.tail, line, is_again=buffer.is_again)
        before, open_seq = buffer.stored, buffer.open_seq

        def take(store: QaStore) -> TakenTurns | None:
            # where it is written, for what is forgotten after the look must not come back
            if self._is_excluded(place.file):
                return None
            return store.turns.take_transcript(
                found, place, before=before, agent=self.agent, open_seq=open_seq, goes_on=goes_on
            )

        taken = await self.store.write(take)
        if taken is None:
            return False
        for made in taken.made:
            if made.dropped_answer is not None:
                await self.hold(taken.session.id, made.turn.seq, made.dropped_answer)
        buffer.stored, buffer.line, buffer.open_seq = taken.place, place.line, taken.place.open_seq
        return True
