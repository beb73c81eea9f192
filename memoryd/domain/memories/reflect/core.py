"""The core file: explicit edits, the lines of it that are stale, and what reflect proposes to add or take out.

An edit leaves every other line as it was, or raises ValueError with the reason. Each proposed line is a proposal of
its own, so that a person may take one and leave another.

A line is stale if it states an earlier version of a fact, with that version's values, but for case, emphasis and the
entity before it. One that may be of several facts, or that says what holds today, is left alone.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date

from msgspec import Struct

from memoryd.domain.documents import RelativePath
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.changes.diffs import unified_diff
from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.facts.values import FactSkeleton, fact_skeleton
from memoryd.domain.memories.kinds import Kind, MemoryId
from memoryd.domain.memories.reflect.pages import SharedMemories
from memoryd.domain.memories.reflect.proposals import ProposalKind, ProposedChange

_SHOWN = 80


def appended(text: str, added: str) -> str:
    """Return a text with lines at its end, which has a line break behind it if it had one, or was empty."""
    body = text.removesuffix("\n")
    end = "\n" if not text or text.endswith("\n") else ""
    return (f"{body}\n" if body else "") + _lines(added) + end


def replaced(text: str, old: str, new: str) -> str:
    """Return a text with `new` for its only `old`; where nothing is left of a line, it goes."""
    old = _plain(old)
    if not old.strip():
        raise ValueError("nothing is named that is to be replaced")
    count = text.count(old)
    if count != 1:
        told = "does not stand there" if not count else f"stands there {count} times"
        raise ValueError(f"{_quote(old)} {told}; give a text that stands there once")
    at = text.index(old)
    before, behind = text[:at], text[at + len(old) :]
    is_whole_line = (not before or before.endswith("\n")) and behind.startswith("\n")
    return before + (behind[1:] if not new and is_whole_line else _plain(new) + behind)


def inserted(text: str, added: str, *, after: str) -> str:
    """Return a text with lines below the only line that reads `after`, blanks around it aside."""
    wanted = _plain(after).strip()
    lines = text.split("\n")
    places = [at for at, line in enumerate(lines) if line.strip() == wanted]
    if not wanted or len(places) != 1:
        told = f"stands there {len(places)} times" if places else "does not stand there"
        raise ValueError(f"the line {_quote(wanted)} {told}; give a line that stands there once")
    return "\n".join([*lines[: places[0] + 1], *_lines(added).split("\n"), *lines[places[0] + 1 :]])


def _lines(added: str) -> str:
    text = _plain(added).strip("\n")
    if not text.strip():
        raise ValueError("nothing is given that is to be added")
    return text


def _plain(text: str) -> str:
    if "\0" in text:
        raise ValueError("the text holds a byte that no text has")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _quote(text: str) -> str:
    first = text.strip().split("\n")[0]
    return repr(first if len(first) <= _SHOWN else f"{first[:_SHOWN]}…")


DURABLE = frozenset({Kind.WORLD, Kind.ENTITY, Kind.FACT, Kind.RELATIONSHIP, Kind.PREFERENCE})
"""Kinds of what holds for long; what is pinned may be of any."""
MIN_IMPORTANCE = 0.8
OFTEN_DAYS = 3
"""Days on which a memory must have been stated to be durable by that alone."""
MAX_LINES = 12
"""Lines that one run proposes, the most important first."""
MAX_LINE_CHARS = 300


class CoreFile(Struct, frozen=True):
    """The file that every session sees, and how many characters it may have; a missing one is empty."""

    path: RelativePath
    text: str
    max_chars: int


def core_changes(core: CoreFile, shared: SharedMemories, since: date) -> tuple[list[ProposedChange], int]:
    """Return what is proposed for the core file, and for how many facts it has no room.

    Facts are those recorded since a day; stale lines are always looked for.
    """
    stale = list(_stale_lines(core, shared))
    room = core.max_chars - len(core.text)
    changes: list[ProposedChange] = []
    left_out = 0
    stated = folded(core.text)
    # a fact that takes the place of a stale line is proposed with it
    fresh = {memory for one in stale for memory in one.memories[:1]}
    current = (one for one in shared.memories.values() if one.id not in shared.outdated and one.recorded >= since)
    for memory in sorted(filter(is_durable, current), key=_most_important):
        line = core_line(memory)
        if memory.id in fresh or len(changes) == MAX_LINES or folded(memory.text) in stated:
            continue
        if len(line) + 1 > room:
            left_out += 1
            continue
        room -= len(line) + 1
        changes.append(_addition(core, memory, line))
    return [*stale, *changes], left_out


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
    text = " ".join(memory.text.split())
    named = [name for name in memory.line.entities if slug_of(name) not in folded(text)]
    return f"- {', '.join(named)}: {text}" if named else f"- {text}"


def _most_important(memory: Memory) -> tuple[bool, float, int, MemoryId]:
    return not memory.line.attributes.is_pinned, -memory.line.importance, -len(memory.sources), memory.id


def _addition(core: CoreFile, memory: Memory, line: str) -> ProposedChange:
    if memory.line.attributes.is_pinned:
        reason = "it is pinned"
    elif memory.line.importance >= MIN_IMPORTANCE:
        reason = f"its importance is {memory.line.importance:g}"
    else:
        reason = f"it was said on {len({source.day for source in memory.sources})} days"
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


BULLET = expression(r"\A[ \t]*[-*+][ \t]+")
_EMPHASIS = expression(r"[*_`]+")
_MAX_LINES = 1_000
"""Of the core file that are looked at."""


def _stale_lines(core: CoreFile, shared: SharedMemories) -> Iterator[ProposedChange]:
    """Yield a change for each bullet that is out of date: the newer memory in its place, unless the file states it."""
    lines, stated = core.text.split("\n"), folded(core.text)
    bullets = [(at, line) for at, line in enumerate(lines[:_MAX_LINES]) if BULLET.match(line)]
    pairs = list(_outdated_pairs(shared)) if bullets else []
    verbatim = {text: pair for pair in pairs for text in (folded(core_line(pair[0])), folded(pair[0].line.text))}
    by_value = _pairs_by_value(pairs, {skeleton for _, line in bullets for skeleton, _ in _readings(line)})
    for at, line in bullets:
        pair = verbatim.get(folded(line)) or _pair_of_value(line, by_value)
        if pair is None:
            continue
        older, current = pair
        instead = [] if folded(current.text) in stated else [core_line(current)]
        diff = unified_diff(core.path, core.text, "\n".join([*lines[:at], *instead, *lines[at + 1 :]]))
        what = "supersedes this line" if folded(line) in verbatim else "has a newer value of this fact"
        why = f"{current.sources[0].path}#L{current.sources[0].start_line} {what}."
        yield ProposedChange(ProposalKind.CORE_OUT, core.path, why, diff, (current.id, older.id))


def folded(text: str) -> str:
    """Return a text as it is compared: without its bullet, its case, its layout and its last stop."""
    bare = BULLET.sub("", text) if "\n" not in text else text
    return " ".join(unicodedata.normalize("NFC", bare).casefold().split()).rstrip(".。")


_Pair = tuple[Memory, Memory]
"""An older memory, and the one that holds now."""


def _outdated_pairs(shared: SharedMemories) -> Iterator[_Pair]:
    """Yield each memory that is out of date with the newest of its line, however many lie between them."""
    for newest in sorted(shared.predecessors.keys() - shared.outdated):
        seen: set[MemoryId] = set()
        waiting = list(shared.predecessors[newest])
        while waiting:
            older = waiting.pop()
            if older not in seen:
                seen.add(older)
                waiting += shared.predecessors.get(older, ())
                yield shared.memories[older], shared.memories[newest]


def _pairs_by_value(pairs: list[_Pair], asked: set[FactSkeleton]) -> Mapping[FactSkeleton, list[_Pair]]:
    pairs_of: defaultdict[FactSkeleton, list[_Pair]] = defaultdict(list)
    for older, current in pairs if asked else ():
        skeleton = _skeleton(older.text)
        # a value that was given up and came back is the current one
        if skeleton in asked and skeleton is not None and skeleton != _skeleton(current.text):
            pairs_of[skeleton].append((older, current))
    return pairs_of


def _pair_of_value(line: str, by_value: Mapping[FactSkeleton, list[_Pair]]) -> _Pair | None:
    """Return the fact whose earlier value a line states; None where it is of none, or of several."""
    candidates = {
        current.id: (older, current)
        for skeleton, names in _readings(line)
        for older, current in by_value.get(skeleton, ())
        if not names or {slug_of(name) for name in names} == set(older.slugs)
    }
    return next(iter(candidates.values())) if len(candidates) == 1 else None


def _readings(line: str) -> Iterator[tuple[FactSkeleton, tuple[str, ...]]]:
    """Yield what a bullet says: as a whole, and behind the entities before its first colon."""
    bare = _EMPHASIS.sub("", BULLET.sub("", line))
    head, colon, rest = bare.partition(":")
    for text, names in ((bare, ()), (rest, tuple(head.split(", ")) if colon else ())):
        skeleton = _skeleton(text)
        if skeleton is not None and skeleton.words:
            yield skeleton, names


def _skeleton(text: str) -> FactSkeleton | None:
    return fact_skeleton(_EMPHASIS.sub("", text))
