"""The core file: explicit edits, detection of stale lines, and the additions and removals that reflect proposes.

An edit does not change any other line, or raises ValueError with the reason. Each proposed line is a proposal of its
own, so that a person can accept or reject it separately.

A line is stale if it states an earlier version of a fact, with that version's values, ignoring case, emphasis and the
entity before it. A line that may belong to several facts, or that states the current value, is not stale.
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


def append_lines(text: str, added: str) -> str:
    """Return a text with lines added at its end; it ends with a line break if it did before, or was empty."""
    body = text.removesuffix("\n")
    end = "\n" if not text or text.endswith("\n") else ""
    return (f"{body}\n" if body else "") + _lines(added) + end


def replace_text(text: str, old: str, new: str) -> str:
    """Return a text with its only occurrence of `old` replaced by `new`; a line that becomes empty is removed."""
    old = _plain(old)
    if not old.strip():
        raise ValueError("nothing is named that is to be replaced")
    count = text.count(old)
    if count != 1:
        raise ValueError(f"{_quote(old)} {_occurrences(count)}; give a text that occurs there once")
    before, _, after = text.partition(old)
    is_full_line = (not before or before.endswith("\n")) and after.startswith("\n")
    return before + (after[1:] if not new and is_full_line else _plain(new) + after)


def insert_lines(text: str, added: str, *, after: str) -> str:
    """Return a text with lines added below the only line that equals `after`, ignoring blanks around it."""
    wanted = _plain(after).strip()
    lines = text.split("\n")
    places = [at for at, line in enumerate(lines) if line.strip() == wanted]
    if not wanted or len(places) != 1:
        message = f"the line {_quote(wanted)} {_occurrences(len(places))}; give a line that occurs there once"
        raise ValueError(message)
    return "\n".join([*lines[: places[0] + 1], *_lines(added).split("\n"), *lines[places[0] + 1 :]])


def _occurrences(count: int) -> str:
    return f"occurs there {count} times" if count else "does not occur there"


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
"""Kinds of long-lasting facts; a pinned memory may be of any kind."""
MIN_IMPORTANCE = 0.8
OFTEN_DAYS = 3
"""Number of days on which a memory must have been stated to be durable for that alone."""
MAX_LINES = 12
"""Most lines proposed by one run, the most important first."""
MAX_LINE_CHARS = 300


class CoreFile(Struct, frozen=True):
    """The file that every session sees, and its size limit in characters; a missing file is empty."""

    path: RelativePath
    text: str
    max_chars: int


def core_changes(core: CoreFile, shared: SharedMemories, since: date) -> tuple[list[ProposedChange], int]:
    """Return the proposed changes to the core file, and the number of facts that it has no room for.

    Facts are those recorded since a day; stale lines are always detected.
    """
    stale = list(_stale_lines(core, shared))
    room = core.max_chars - len(core.text)
    changes: list[ProposedChange] = []
    left_out = 0
    stated = folded(core.text)
    # a fact that replaces a stale line is proposed together with its removal
    replacing = {memory for change in stale for memory in change.memories[:1]}
    current = (
        memory for memory in shared.memories.values() if memory.id not in shared.outdated and memory.recorded >= since
    )
    for memory in sorted(filter(is_durable, current), key=_most_important):
        line = core_line(memory)
        if memory.id in replacing or len(changes) == MAX_LINES or folded(memory.text) in stated:
            continue
        if len(line) + 1 > room:
            left_out += 1
            continue
        room -= len(line) + 1
        changes.append(_addition(core, memory, line))
    return [*stale, *changes], left_out


def is_durable(memory: Memory) -> bool:
    """Return whether a memory is worth a line that every session sees: pinned, important, or stated on several days.

    A memory about one point in time is not, unless it is pinned.
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
    """Return the bullet of a memory in the core file: its text, after its entities, unless the text names them."""
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
    """Return a text with a bullet at its end, separated by a blank line from text that is no list."""
    body = text.rstrip("\n")
    if not body:
        return f"{line}\n"
    gap = "" if BULLET.match(body.rpartition("\n")[2]) else "\n"
    return f"{body}\n{gap}{line}\n"


BULLET = expression(r"\A[ \t]*[-*+][ \t]+")
_EMPHASIS = expression(r"[*_`]+")
_MAX_CORE_LINES = 1_000
"""Lines of the core file that are examined."""


def _stale_lines(core: CoreFile, shared: SharedMemories) -> Iterator[ProposedChange]:
    """Yield a change for each stale bullet: the newer memory instead, or nothing if the file states it already."""
    lines, stated = core.text.split("\n"), folded(core.text)
    bullets = [(at, line) for at, line in enumerate(lines[:_MAX_CORE_LINES]) if BULLET.match(line)]
    pairs = list(_outdated_pairs(shared)) if bullets else []
    verbatim = {text: pair for pair in pairs for text in (folded(core_line(pair[0])), folded(pair[0].line.text))}
    by_value = _pairs_by_value(pairs, {skeleton for _, line in bullets for skeleton, _ in _readings(line)})
    for at, line in bullets:
        pair = verbatim.get(folded(line)) or _pair_of_value(line, by_value)
        if pair is None:
            continue
        older, current = pair
        replacement = [] if folded(current.text) in stated else [core_line(current)]
        diff = unified_diff(core.path, core.text, "\n".join([*lines[:at], *replacement, *lines[at + 1 :]]))
        what = "supersedes this line" if folded(line) in verbatim else "has a newer value of this fact"
        why = f"{current.sources[0].path}#L{current.sources[0].start_line} {what}."
        yield ProposedChange(ProposalKind.CORE_OUT, core.path, why, diff, (current.id, older.id))


def folded(text: str) -> str:
    """Return a text normalised for comparison: without its bullet, case, layout and final stop."""
    bare = BULLET.sub("", text) if "\n" not in text else text
    return " ".join(unicodedata.normalize("NFC", bare).casefold().split()).rstrip(".。")


_Pair = tuple[Memory, Memory]
"""An older memory, and the current one."""


def _outdated_pairs(shared: SharedMemories) -> Iterator[_Pair]:
    """Yield each outdated memory with the current version of its fact, however many versions are in between."""
    for newest in sorted(shared.predecessors.keys() - shared.outdated):
        seen: set[MemoryId] = set()
        waiting = list(shared.predecessors[newest])
        while waiting:
            older = waiting.pop()
            if older not in seen:
                seen.add(older)
                waiting += shared.predecessors.get(older, ())
                yield shared.memories[older], shared.memories[newest]


def _pairs_by_value(pairs: list[_Pair], wanted: set[FactSkeleton]) -> Mapping[FactSkeleton, list[_Pair]]:
    pairs_of: defaultdict[FactSkeleton, list[_Pair]] = defaultdict(list)
    for older, current in pairs if wanted else ():
        skeleton = _skeleton(older.text)
        # a value that was replaced and later restored is the current one
        if skeleton in wanted and skeleton is not None and skeleton != _skeleton(current.text):
            pairs_of[skeleton].append((older, current))
    return pairs_of


def _pair_of_value(line: str, by_value: Mapping[FactSkeleton, list[_Pair]]) -> _Pair | None:
    """Return the only fact whose earlier value a line states; None if there is none, or several."""
    candidates = {
        current.id: (older, current)
        for skeleton, names in _readings(line)
        for older, current in by_value.get(skeleton, ())
        if not names or {slug_of(name) for name in names} == set(older.slugs)
    }
    return next(iter(candidates.values())) if len(candidates) == 1 else None


def _readings(line: str) -> Iterator[tuple[FactSkeleton, tuple[str, ...]]]:
    """Yield the readings of a bullet: the full text, and the text after the entities before its first colon."""
    bare = _EMPHASIS.sub("", BULLET.sub("", line))
    head, colon, rest = bare.partition(":")
    for text, names in ((bare, ()), (rest, tuple(head.split(", ")) if colon else ())):
        skeleton = _skeleton(text)
        if skeleton is not None and skeleton.words:
            yield skeleton, names


def _skeleton(text: str) -> FactSkeleton | None:
    return fact_skeleton(_EMPHASIS.sub("", text))
