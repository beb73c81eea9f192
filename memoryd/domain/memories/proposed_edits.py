"""Edits of a note that reflect proposes: each changes a few lines of one file, and nothing else of it."""

from dataclasses import replace
from datetime import date
from typing import Final

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Memory, MemorySource
from memoryd.domain.memories.diffs import unified_diff
from memoryd.domain.memories.edits import NoPlaceError, retained_in
from memoryd.domain.memories.generated import BEGIN, END
from memoryd.domain.memories.identity import MemoryId, short_id
from memoryd.domain.memories.observations import Recurrence
from memoryd.domain.memories.proposals import ProposalKind, ProposedChange
from memoryd.domain.memories.retained import RetainedLine, parse_line, render

MAX_NOTE_CHARS: Final = 2_000_000
"""Of a note that is compared line by line."""


def observation_change(found: Recurrence, text: str) -> ProposedChange | None:
    """Propose an observation, behind the last of the memories that it rests on; None where that line has moved."""
    last = found.memories[-1]
    source = last.sources[-1]
    made = _behind(text, source, last.id, render(found.line))
    why = f"“{found.word}” came up on {len(found.memories)} days with {found.entity}."
    return _change(ProposalKind.OBSERVATION, source.path, why, text, made, found.ids)


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
    made = _instead(text, source, evidence.id, render(line))
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
    return _change(ProposalKind.MARKERS, path, why, text, made, ())


def _change(
    kind: ProposalKind, path: str, why: str, before: str, after: str | None, memories: tuple[MemoryId, ...]
) -> ProposedChange | None:
    if after is None or len(before) > MAX_NOTE_CHARS:
        return None
    diff = unified_diff(path, before, after)
    return ProposedChange(kind, RelativePath(path), why, diff, memories) if diff else None


def _behind(text: str, source: MemorySource, memory: MemoryId, bullet: str) -> str | None:
    lines = text.split("\n")
    if not _states(lines, source, memory):
        return None
    return "\n".join([*lines[: source.end_line], bullet, *lines[source.end_line :]])


def _instead(text: str, source: MemorySource, memory: MemoryId, bullet: str) -> str | None:
    lines = text.split("\n")
    if not _states(lines, source, memory):
        return None
    return "\n".join([*lines[: source.start_line - 1], bullet, *lines[source.end_line :]])


def _states(lines: list[str], source: MemorySource, memory: MemoryId) -> bool:
    """Tell whether the lines of a source still state its memory: the file may have changed since it was indexed."""
    found = parse_line("\n".join(lines[source.start_line - 1 : source.end_line]), usual_kind=source.line.kind)
    return isinstance(found, RetainedLine) and found.id == memory
