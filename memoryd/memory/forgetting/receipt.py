"""What forgetting takes with it: planned, then told."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from memoryd.domain.citations import Citation
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.changes.diffs import Forgotten
from memoryd.domain.memories.changes.forgetting import Traces, is_of_session, told_without
from memoryd.domain.memories.changes.tombstones import SaidWords
from memoryd.domain.memories.kinds import short_id
from memoryd.memory.forgetting.copied_lines import NOWHERE
from memoryd.store.ledger.forgotten import PurgedRows


@dataclass(frozen=True, slots=True)
class SaidElsewhere:
    """Where the words of a memory stand beside its lines."""

    prose: tuple[Citation, ...] = ()
    """Lines of notes that state no memory."""
    turns: tuple[str, ...] = ()
    """Turns of sessions, as `session:<id>#Q17`."""
    transcripts: tuple[str, ...] = ()
    """Conversations of other programs."""


@dataclass(frozen=True, slots=True)
class MemoryForgettingPlan:
    """What is to be forgotten: memories with all their lines, or lines of a note, whose text is `lines`."""

    memories: tuple[Memory, ...]
    elsewhere: SaidElsewhere
    said: tuple[SaidWords, ...]
    place: Citation | None = None
    lines: tuple[str, ...] = ()

    @property
    def traces(self) -> Traces:
        """What may be left of it where it was copied."""
        # other lines that state it may be broken elsewhere
        stated = [SaidWords(source.line.text) for memory in self.memories for source in memory.sources]
        ids = frozenset(short_id(memory.id) for memory in self.memories)
        return Traces(tuple(dict.fromkeys((*self.said, *stated))), ids)

    @property
    def gone(self) -> Forgotten:
        """The same for copies of lines, which are left as the lines in the notes are."""
        return Forgotten(self.traces.are_in, partial(told_without, self.told_by_sessions))

    @property
    def told_by_sessions(self) -> tuple[SaidWords, ...]:
        """What goes from ends and summaries of sessions, too: all but what these say themselves."""
        own = {memory.line.text for memory in self.memories if is_of_session(memory.line)}
        return tuple(words for words in self.said if words.text not in own)

    @property
    def citations(self) -> list[Citation]:
        """The lines that go."""
        stated = [
            Citation(source.path, source.start_line, source.end_line)
            for memory in self.memories
            for source in memory.sources
            if source.start_line != NOWHERE
        ]
        return [*stated, *([self.place] if self.place else [])]


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenReceipt:
    """What was forgotten, by counts; `unfinished` goes as soon as it can, `stays` is out of reach."""

    plan: MemoryForgettingPlan
    is_forgotten: bool = False
    files: int = 0
    changes: tuple[int, ...] = ()
    """Numbers of the changes that undo it, for 24 hours; empty if nothing does."""
    turns: Sequence[str] = ()
    purged: PurgedRows = field(default=PurgedRows())
    unfinished: Sequence[str] = ()
    stays: Sequence[str] = ()
