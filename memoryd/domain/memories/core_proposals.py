"""What reflect proposes for the core file: durable facts in, lines that a newer fact supersedes out.

Each line is a proposal of its own, so that a person may take one and leave another.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.diffs import unified_diff
from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.pages import SharedMemories
from memoryd.domain.memories.proposals import ProposalKind, ProposedChange
from memoryd.domain.memories.stale_lines import BULLET, folded, stale_lines

DURABLE: Final = frozenset({Kind.WORLD, Kind.ENTITY, Kind.FACT, Kind.RELATIONSHIP, Kind.PREFERENCE})
"""Kinds of what holds for long; what is pinned may be of any."""
MIN_IMPORTANCE: Final = 0.8
OFTEN_DAYS: Final = 3
"""Days on which a memory must have been stated to be durable by that alone."""
MAX_LINES: Final = 12
"""Lines that one run proposes, the most important first."""
MAX_LINE_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class CoreFile:
    """The file that every session sees, and how many characters it may have; a missing one is empty."""

    path: RelativePath
    text: str
    max_chars: int


@dataclass(frozen=True, slots=True)
class CoreChanges:
    """What is proposed; `left_out` counts facts for which the file has no room."""

    changes: tuple[ProposedChange, ...]
    left_out: int = 0


def core_changes(core: CoreFile, shared: SharedMemories, since: date) -> CoreChanges:
    """Return what is proposed for the core file, of facts recorded since a day; stale lines are looked at always."""
    stale = tuple(_stale(core, shared))
    room = core.max_chars - len(core.text)
    changes: list[ProposedChange] = []
    left_out = 0
    said = folded(core.text)
    # a fact that takes the place of a stale line is proposed with it
    fresh = {memory for one in stale for memory in one.memories[:1]}
    for memory in sorted(filter(is_durable, _current(shared, since)), key=_most_important):
        line = core_line(memory)
        if memory.id in fresh or len(changes) == MAX_LINES or folded(memory.line.text) in said:
            continue
        if len(line) + 1 > room:
            left_out += 1
            continue
        room -= len(line) + 1
        changes.append(_added(core, memory, line))
    return CoreChanges((*stale, *changes), left_out)


def is_durable(memory: Memory) -> bool:
    """Tell whether a memory is worth a line that every session sees: pinned, important, or said on several days.

    What is of one time only is not, unless somebody pinned it.
    """
    line = memory.line
    if line.attributes.is_pinned:
        return True
    is_of_a_time = any(source.event is not None for source in memory.sources)
    if line.kind not in DURABLE or is_of_a_time or len(line.text) > MAX_LINE_CHARS:
        return False
    days = {source.day for source in memory.sources}
    return line.importance >= MIN_IMPORTANCE or len(days) >= OFTEN_DAYS


def core_line(memory: Memory) -> str:
    """Return the bullet of a memory in the core file: its entities, unless its text names them, and its text."""
    text = " ".join(memory.line.text.split())
    named = [name for name in memory.line.entities if slug_of(name) not in folded(text)]
    return f"- {', '.join(named)}: {text}" if named else f"- {text}"


def _current(shared: SharedMemories, since: date) -> Iterable[Memory]:
    return (one for one in shared.memories.values() if one.id not in shared.outdated and one.recorded >= since)


def _most_important(memory: Memory) -> tuple[bool, float, int, MemoryId]:
    return not memory.line.attributes.is_pinned, -memory.line.importance, -len(memory.sources), memory.id


def _added(core: CoreFile, memory: Memory, line: str) -> ProposedChange:
    days = len({source.day for source in memory.sources})
    if memory.line.attributes.is_pinned:
        reason = "it is pinned"
    elif memory.line.importance >= MIN_IMPORTANCE:
        reason = f"its importance is {memory.line.importance:g}"
    else:
        reason = f"it was said on {days} days"
    source = memory.sources[0]
    why = f"{source.path}#L{source.start_line} states a fact for every session: {reason}."
    diff = unified_diff(core.path, core.text, with_line(core.text, line))
    return ProposedChange(ProposalKind.CORE_IN, core.path, why, diff, (memory.id,))


def with_line(text: str, line: str) -> str:
    """Return a text with a bullet at its end, apart from what is no list."""
    body = text.rstrip("\n")
    if not body:
        return f"{line}\n"
    gap = "" if BULLET.match(body.rpartition("\n")[2]) else "\n"
    return f"{body}\n{gap}{line}\n"


def _stale(core: CoreFile, shared: SharedMemories) -> Iterator[ProposedChange]:
    """Yield a change for each line that says what a newer memory supersedes: the newer one in its place."""
    lines, said = core.text.split("\n"), folded(core.text)
    for stale in stale_lines(core.text, shared, core_line):
        current = stale.current
        instead = [] if folded(current.line.text) in said else [core_line(current)]
        made = "\n".join([*lines[: stale.at], *instead, *lines[stale.at + 1 :]])
        source = current.sources[0]
        place = f"{source.path}#L{source.start_line}"
        why = f"{place} supersedes this line." if stale.is_verbatim else f"{place} has a newer value of this fact."
        diff = unified_diff(core.path, core.text, made)
        yield ProposedChange(ProposalKind.CORE_OUT, core.path, why, diff, (current.id, stale.older.id))
