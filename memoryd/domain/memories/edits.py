"""Adding memories to the text of a daily log: below its Retain heading, with every other line as it was.

Each place that may do is tried, and what comes of it is read back: only a text that states just what it stated
before, and the new memories, is an answer. So no fence that was left open, and no marker, can swallow one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.retained import RetainedLine, render
from memoryd.domain.memories.sections import MemorySections, PlacedLine, memory_sections, retain_sections
from memoryd.domain.text.headings import front_matter_bytes
from memoryd.domain.text.lines import padded

HEADING: Final = "## Retain"


class NoPlaceError(Exception):
    """Whatever is added would not be read as a memory, or would change what others say."""


@dataclass(frozen=True, slots=True)
class RetainedText:
    """A log with its memories; `placed` are those that were asked for, `added` the ids of the new ones."""

    text: str
    placed: tuple[PlacedLine, ...]
    added: frozenset[MemoryId]


def retained_in(text: str, path: RelativePath, wanted: Sequence[RetainedLine]) -> RetainedText:
    """Add the memories that a log does not state already; raise NoPlaceError."""
    before = memory_sections(padded(text), path)
    known = {one.line.id for one in before.lines}
    fresh = list({line.id: line for line in wanted if line.id not in known}.values())
    if not fresh:
        return RetainedText(text, _placed(before, wanted), frozenset())
    bullets = "\n".join(map(render, fresh)).split("\n")
    for tried in _tries(text, before, bullets):
        after = memory_sections(padded(tried), path)
        if _says(before, fresh) == _says(after) and _others(before) == _others(after):
            return RetainedText(tried, _placed(after, wanted), frozenset(line.id for line in fresh))
    raise NoPlaceError(f"no place for a memory in {path}: a fence or a marker in it is not closed")


def _tries(text: str, before: MemorySections, bullets: Sequence[str]) -> Iterator[str]:
    """Yield the text with the bullets in each place that may do, the best first."""
    lines = text.split("\n")
    sections = retain_sections(padded(text))
    for heading, last in reversed(sections):
        within = [one.end_line for one in before.lines if heading < one.end_line <= last]
        for place in dict.fromkeys((last, *within[-1:], heading)):
            yield _inserted(lines, place, bullets)
    # the last line is empty where the text ends in a line break
    end = len(lines) - (lines[-1] == "")
    yield _inserted(lines, end, [*_gap(lines, end), HEADING, *bullets])
    front = front_matter_bytes(padded(text))
    top = text.encode("utf-8", "surrogatepass")[:front].count(b"\n")
    yield _inserted(lines, top, [*_gap(lines, top), HEADING, *bullets, ""])


def _inserted(lines: Sequence[str], place: int, added: Sequence[str]) -> str:
    return "\n".join((*lines[:place], *added, *lines[place:]))


def _gap(lines: Sequence[str], place: int) -> list[str]:
    return [""] if place and lines[place - 1].strip() else []


def _says(sections: MemorySections, fresh: Sequence[RetainedLine] = ()) -> Counter[RetainedLine]:
    return Counter([*(one.line for one in sections.lines), *fresh])


def _others(sections: MemorySections) -> tuple[list[str], list[int]]:
    """Return what else a log holds that must stay what it is: what was meant for memories, and what was generated."""
    # what is merely like one may stand within the new memory, too
    misses = [one.miss.reason for one in sections.misses if one.miss.is_meant]
    return misses, [end - start for start, end in sections.generated]


def _placed(sections: MemorySections, wanted: Sequence[RetainedLine]) -> tuple[PlacedLine, ...]:
    """Return where the wanted memories stand: the last of several places."""
    places = {one.line.id: one for one in sections.lines}
    return tuple(places[line.id] for line in wanted)
