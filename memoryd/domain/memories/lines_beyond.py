"""Which lines of a note are for somebody else: they stand under a scope that does not reach whoever reads."""

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.reach import MemoryReach
from memoryd.domain.memories.scoped_items import scoped_spans
from memoryd.domain.memories.sections import PAGES, is_of_memories, memory_sections
from memoryd.domain.text.lines import padded

_SIGN = b"scope"


def lines_beyond(data: bytes, path: RelativePath, reach: MemoryReach) -> frozenset[int]:
    """Return the numbers (from 1) of the lines of a note, UTF-8 that ends in `PADDING`, that must not be told.

    What names a scope that cannot be read is for nobody but the owner.
    """
    if reach.is_owner or not is_of_memories(path) or _SIGN not in data.lower():
        return frozenset()
    spans = memory_sections(data, path).scoped
    hidden = (span for span in spans if not reach.admits(span.scope))
    lines = data.split(b"\n")
    return frozenset(
        line for span in hidden for line in range(span.first_line, span.last_line + 1) if lines[line - 1].strip()
    )


def told_text(text: str, path: RelativePath, reach: MemoryReach) -> str:
    """Return part of a note with nothing on the lines that must not be told; the lines stay where they are.

    Of what stands above the part nothing is known: it is the second look, for what was cut before it was known.
    """
    if not is_of_memories(path) or _SIGN.decode() not in text.lower():
        return text
    spans = [one for one in scoped_spans(padded(text), usual=PAGES.get(path)) if not reach.admits(one.scope)]
    if not spans:
        return text
    lines = text.split("\n")
    for span in spans:
        lines[span.first_line - 1 : span.last_line] = [""] * (span.last_line - span.first_line + 1)
    return "\n".join(lines)
