"""Edits of the lines that state a memory: other attributes, or no line at all; every other byte of a note stays.

A line is found by the id of what it states, wherever it stands now. What comes of an edit is read back: only a text
that states just what it stated before, but for the line that was meant, is an answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.attributes import reweighed
from memoryd.domain.memories.edits import NoPlaceError
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.kinds import Kind, written_kind
from memoryd.domain.memories.retained import RetainedLine, head_of
from memoryd.domain.memories.sections import PAGES, MemorySections, PlacedLine, memory_sections
from memoryd.domain.text.lines import padded

_UNREADABLE: Final = "the line that states it in {} would be read as another one: edit it yourself"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeChange:
    """What is to become of a line: whether it is pinned, and its importance, 0 to 1; None leaves it as it is."""

    is_pinned: bool | None = None
    importance: float | None = None

    def of(self, line: RetainedLine) -> RetainedLine:
        """Return a line as it is to be."""
        said = line.attributes
        return replace(
            line,
            attributes=replace(
                said,
                is_pinned=said.is_pinned if self.is_pinned is None else self.is_pinned,
                importance=said.importance if self.importance is None else self.importance,
            ),
        )


def stating(text: str, path: RelativePath, memory: MemoryId) -> tuple[PlacedLine, ...]:
    """Return the lines of a note that state a memory."""
    return tuple(one for one in memory_sections(padded(text), path).lines if one.line.id == memory)


def with_attributes(text: str, path: RelativePath, memory: MemoryId, change: AttributeChange) -> str | None:
    """Return a note whose lines that state a memory have these attributes; None if no line states it.

    Of each such line the kind and its brackets are written anew, nothing else. Raise NoPlaceError where that would
    not be read as it is meant.
    """
    data = padded(text)
    before = memory_sections(data, path)
    meant = [one for one in before.lines if one.line.id == memory]
    if not meant:
        return None
    pieces, at = [], 0
    for one in meant:
        pieces += [data[at : one.start], _rewritten(data[one.start : one.end], one, path, change)]
        at = one.end
    size = len(text.encode("utf-8", "surrogatepass"))
    edited = b"".join([*pieces, data[at:size]]).decode("utf-8", "surrogatepass")
    wanted = [change.of(one.line) if one.line.id == memory else one.line for one in before.lines]
    _check(edited, path, before, wanted)
    return edited


def without_memory(text: str, path: RelativePath, memory: MemoryId) -> str | None:
    """Return a note without the lines that state a memory; None if no line does. Raise NoPlaceError as above."""
    data = padded(text)
    before = memory_sections(data, path)
    pieces, at = [], 0
    for one in before.lines:
        if one.line.id == memory:
            pieces.append(data[at : one.start])
            at = one.end
    if not pieces:
        return None
    size = len(text.encode("utf-8", "surrogatepass"))
    edited = b"".join([*pieces, data[at:size]]).decode("utf-8", "surrogatepass")
    _check(edited, path, before, [one.line for one in before.lines if one.line.id != memory])
    return edited


def _rewritten(bullet: bytes, one: PlacedLine, path: RelativePath, change: AttributeChange) -> bytes:
    text = bullet.decode("utf-8", "surrogatepass")
    if change.of(one.line) == one.line:
        return bullet
    return _headed(text, PAGES.get(path), one.line.kind, change).encode("utf-8", "surrogatepass")


def _headed(text: str, usual: Kind | None, kind: Kind, change: AttributeChange) -> str:
    """Return a bullet with other attributes behind its kind, which is written where it was not and must be."""
    head = head_of(text, usual_kind=usual)
    named = text[head.start : head.end]
    opens, closes = head.inside or (head.end, head.end)
    said = reweighed(text[opens:closes], importance=change.importance, is_pinned=change.is_pinned)
    if said and head.inside:
        return text[:opens] + said + text[closes:]
    start, end = head.outside if head.inside else (head.end, head.end)
    brackets = f"({said})" if said else ""
    rest = text[end:]
    if not head.has_colon:
        rest = f": {rest}"
    elif not named and not rest.startswith((":", "：", " ")):
        rest = f" {rest}"
    return text[: head.start] + (named or written_kind(kind)) + text[head.end : start] + brackets + rest


def _check(edited: str, path: RelativePath, before: MemorySections, wanted: Sequence[RetainedLine]) -> None:
    after = memory_sections(padded(edited), path)
    is_as_meant = [one.line for one in after.lines] == list(wanted)
    if not is_as_meant or _beside(after) != _beside(before):
        raise NoPlaceError(_UNREADABLE.format(path))


def _beside(sections: MemorySections) -> tuple[list[str], list[int]]:
    """Return what else a note holds that must stay: what was meant for memories, and what reflect wrote."""
    misses = [one.miss.reason for one in sections.misses if one.miss.is_meant]
    return misses, [end - start for start, end in sections.generated]
