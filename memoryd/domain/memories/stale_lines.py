"""Lines of the core file that state what holds no longer: word for word, or an earlier value of a fact.

A line states an earlier value if it says what an older version says but for case, emphasis and the entity before it,
with that version's values. One that may be of several facts, or that says what holds today, is left alone.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.fact_skeletons import FactSkeleton, fact_skeleton
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.pages import SharedMemories

BULLET: Final = re.compile(r"\A[ \t]*[-*+][ \t]+")
_EMPHASIS: Final = re.compile(r"[*_`]+")
_MOST_LINES: Final = 1_000
"""Of the core file that are looked at."""


@dataclass(frozen=True, slots=True)
class StaleLine:
    """A line, 0-based, the memory that it states, and the one that holds now."""

    at: int
    older: Memory
    current: Memory
    is_verbatim: bool


def stale_lines(text: str, shared: SharedMemories, spoken: Callable[[Memory], str]) -> Iterator[StaleLine]:
    """Yield the bullets of a text that are out of date; `spoken` says how a memory is written there."""
    bullets = [(at, line) for at, line in enumerate(text.split("\n")[:_MOST_LINES]) if BULLET.match(line)]
    pairs = list(_superseded(shared)) if bullets else []
    verbatim = {said: pair for pair in pairs for said in (folded(spoken(pair[0])), folded(pair[0].line.text))}
    by_value = _by_value(pairs, {skeleton for _, line in bullets for skeleton, _ in _readings(line)})
    for at, line in bullets:
        pair = verbatim.get(folded(line))
        found = pair or _valued(line, by_value)
        if found is not None:
            yield StaleLine(at, *found, is_verbatim=pair is not None)


def folded(text: str) -> str:
    """Return a text as it is compared: without its bullet, its case, its layout and its last stop."""
    bare = BULLET.sub("", text) if "\n" not in text else text
    return " ".join(unicodedata.normalize("NFC", bare).casefold().split()).rstrip(".。")


_Pair = tuple[Memory, Memory]
"""An older memory, and the one that holds now."""


def _superseded(shared: SharedMemories) -> Iterator[_Pair]:
    """Yield each memory that is out of date with the newest of its line, however many lie between them."""
    for newest in sorted(shared.before.keys() - shared.outdated):
        seen: set[MemoryId] = set()
        waiting = list(shared.before[newest])
        while waiting:
            older = waiting.pop()
            if older not in seen:
                seen.add(older)
                waiting += shared.before.get(older, ())
                yield shared.memories[older], shared.memories[newest]


def _by_value(pairs: list[_Pair], asked: set[FactSkeleton]) -> Mapping[FactSkeleton, list[_Pair]]:
    found: defaultdict[FactSkeleton, list[_Pair]] = defaultdict(list)
    for older, current in pairs if asked else ():
        skeleton = _skeleton(older.line.text)
        # a value that was given up and came back is the current one
        if skeleton in asked and skeleton is not None and skeleton != _skeleton(current.line.text):
            found[skeleton].append((older, current))
    return found


def _valued(line: str, by_value: Mapping[FactSkeleton, list[_Pair]]) -> _Pair | None:
    """Return the fact whose earlier value a line states; None where it is of none, or of several."""
    found = {
        current.id: (older, current)
        for skeleton, names in _readings(line)
        for older, current in by_value.get(skeleton, ())
        if not names or {slug_of(name) for name in names} == set(older.slugs)
    }
    return next(iter(found.values())) if len(found) == 1 else None


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
