"""Changes that wait for a person: each edits a few lines of one file, and says in one sentence why.

A proposal is withdrawn when what it rests on is missing, hidden from some agents, or superseded.
"""

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Final, NewType

from msgspec import Struct
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Memory, MemorySource
from memoryd.domain.memories.changes.diffs import changed_lines, unified_diff
from memoryd.domain.memories.edits import NoPlaceError, retained_in
from memoryd.domain.memories.generated import BEGIN, END
from memoryd.domain.memories.kinds import MemoryId, short_id
from memoryd.domain.memories.line import RetainedLine, parse_line, render
from memoryd.domain.memories.reflect.inference import Recurrence
from memoryd.domain.memories.reflect.pages import SharedMemories

ProposalId = NewType("ProposalId", str)
"""Twelve hexadecimal digits."""

ID_CHARS: Final = 12
MAX_DIFF_CHARS: Final = 8_000
"""What a person reads in one go."""
MAX_OPEN: Final = 100
"""Open proposals of a workspace: whoever lets them lie is not given more."""


class ProposalKind(StrEnum):
    """What a proposal is for."""

    CORE_IN = "core-in"
    """A durable fact for `MEMORY.md`."""
    CORE_OUT = "core-out"
    """A line of `MEMORY.md` that a newer fact supersedes."""
    RETAIN = "retain"
    """A `## Retain` block for a log that has none."""
    OBSERVATION = "observation"
    """What recurred."""
    CONTRADICTION = "contradiction"
    """A line that says the opposite of an opinion is to count against it."""
    MARKERS = "markers"
    """A page that a person wrote gets a part that is kept up to date."""


class ProposalState(StrEnum):
    """Where a proposal stands."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    OUTDATED = "outdated"
    """Its file has changed, and it no longer says where its lines go."""


class ProposedChange(Struct, frozen=True):
    """What is proposed; `memories` are those it rests on."""

    kind: ProposalKind
    path: RelativePath
    why: str
    diff: str
    memories: tuple[MemoryId, ...] = ()

    @property
    def id(self) -> ProposalId:
        """Return its id, of the lines that change alone: it outlives an edit elsewhere in the file."""
        named = "\0".join((self.kind, self.path, changed_lines(self.diff)))
        return ProposalId(sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:ID_CHARS])


class Proposal(Struct, frozen=True):
    """A change in the queue; `run` is the one that made it first."""

    id: ProposalId
    run: str
    change: ProposedChange
    state: ProposalState
    made_at: datetime
    decided_at: datetime | None = None


def to_propose(
    changes: Iterable[ProposedChange], known: Mapping[ProposalId, ProposalState]
) -> tuple[ProposedChange, ...]:
    """Return the changes that are to be put into the queue, with those that are to be opened again.

    What was decided stays so: a change is proposed once. One too large to be read is not proposed.
    """
    room = MAX_OPEN - sum(state is ProposalState.OPEN for state in known.values())
    chosen: dict[ProposalId, ProposedChange] = {}
    for change in changes:
        if not change.diff or len(change.diff) > MAX_DIFF_CHARS or change.id in chosen:
            continue
        if known.get(change.id, ProposalState.OUTDATED) is ProposalState.OUTDATED and len(chosen) < room:
            chosen[change.id] = change
    return tuple(chosen.values())


MAX_NOTE_CHARS: Final = 2_000_000
"""Of a note that is compared line by line."""


def observation_change(found: Recurrence, text: str) -> ProposedChange | None:
    """Propose an observation, behind the last of the memories that it rests on; None where that line has moved."""
    last = found.memories[-1]
    source = last.sources[-1]
    made = _with_bullet(text, source, last.id, render(found.line), is_behind=True)
    why = f"“{found.word}” came up on {len(found.memories)} days with {found.entity}."
    return _change(ProposalKind.OBSERVATION, source.path, why, text, made, tuple(one.id for one in found.memories))


def source_of(evidence: Memory, day: date) -> MemorySource:
    """Return the line by which a memory counts on a day; its oldest where none is of that day."""
    return next((source for source in reversed(evidence.sources) if source.day == day), evidence.sources[-1])


def contradiction_change(opinion: Memory, evidence: Memory, day: date, text: str) -> ProposedChange | None:
    """Propose that a line of a day which says the opposite of an opinion counts against it; None where it has moved."""
    source = source_of(evidence, day)
    given = source.line.attributes
    named = short_id(opinion.id)
    if named in given.contradicts:
        return None
    line = replace(source.line, attributes=replace(given, contradicts=(*given.contradicts, named)))
    made = _with_bullet(text, source, evidence.id, render(line), is_behind=False)
    why = f"This line seems to say the opposite of the opinion {named}, and is to count against it."
    return _change(ProposalKind.CONTRADICTION, source.path, why, text, made, (evidence.id, opinion.id))


def retain_change(path: RelativePath, lines: tuple[RetainedLine, ...], text: str) -> ProposedChange | None:
    """Propose a `## Retain` block for a log; None where there is nothing for it, or no place to be read as one."""
    if not lines or len(text) > MAX_NOTE_CHARS:
        return None
    body = text.rstrip("\n")
    try:
        made = retained_in(f"{body}\n" if body else "", path, lines).text
    except NoPlaceError:
        return None
    count = "one sentence" if len(lines) == 1 else f"{len(lines)} sentences"
    why = f"This log has no Retain section, and {count} of it may be worth remembering."
    return _change(ProposalKind.RETAIN, path, why, text, made, tuple(line.id for line in lines))


def markers_change(path: RelativePath, text: str) -> ProposedChange | None:
    """Propose a part that is kept up to date at the end of a page that a person wrote; the next run fills it."""
    why = f"Two marker lines at the end of {path}, between which memoryd may write what is known."
    body = text.rstrip("\n")
    made = f"{body}\n\n{BEGIN}\n{END}\n" if body else f"{BEGIN}\n{END}\n"
    return _change(ProposalKind.MARKERS, path, why, text, made)


def _change(
    kind: ProposalKind, path: str, why: str, before: str, after: str | None, memories: tuple[MemoryId, ...] = ()
) -> ProposedChange | None:
    if after is None or len(before) > MAX_NOTE_CHARS:
        return None
    diff = unified_diff(path, before, after)
    return ProposedChange(kind, RelativePath(path), why, diff, memories) if diff else None


def _with_bullet(text: str, source: MemorySource, memory: MemoryId, bullet: str, *, is_behind: bool) -> str | None:
    """Return a text with a bullet behind a line or in its place; None where it does not state the memory any more."""
    lines, first = text.split("\n"), source.start_line - 1
    stated = parse_line("\n".join(lines[first : source.end_line]), default_kind=source.line.kind)
    # the file may have changed since it was indexed
    if not isinstance(stated, RetainedLine) or stated.id != memory:
        return None
    return "\n".join([*lines[: source.end_line if is_behind else first], bullet, *lines[source.end_line :]])


WITHDRAWN: Final = "What it rests on is gone, is superseded, or may not be told to all any more."
"""Why a proposal is outdated of which no other word is kept."""


def still_rests(change: ProposedChange, shared: SharedMemories) -> bool:
    """Tell whether a change may still be proposed and accepted, by the memories that it rests on."""
    match change.kind:
        case ProposalKind.CORE_IN | ProposalKind.CORE_OUT:
            # of a stale line it is the newer fact alone that must stand
            current = change.memories[:1]
            return all(one in shared.memories and one not in shared.outdated for one in current)
        case ProposalKind.OBSERVATION | ProposalKind.CONTRADICTION:
            return all(one in shared.memories for one in change.memories)
        case ProposalKind.RETAIN | ProposalKind.MARKERS:
            # the lines of the one stand nowhere yet, and the other tells of none
            return True
