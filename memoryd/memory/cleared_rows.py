"""Rows of the index without the lines that are for somebody else: agents that share a workspace may share a log."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memoryd.domain.memories.scopes import MemoryReach
from memoryd.domain.memories.visibility import told_text
from memoryd.search.hits import Hit
from memoryd.store.index.passages import ChunkRow


def cleared_hits(hits: Iterable[Hit], reach: MemoryReach) -> Iterator[Hit]:
    """Yield the hits without the lines beyond reach; one that was found by these alone is none."""
    for hit in hits:
        chunk, copies = _cleared(hit.chunk, reach), tuple(_cleared(copy, reach) for copy in hit.copies)
        if chunk is hit.chunk and all(new is old for new, old in zip(copies, hit.copies, strict=True)):
            yield hit
        elif chunk.text.strip() and (not hit.terms or _holds(chunk, hit.terms)):
            yield replace(hit, chunk=chunk, near=(), copies=tuple(copy for copy in copies if copy.text.strip()))


def _cleared(row: ChunkRow, reach: MemoryReach) -> ChunkRow:
    """Return a row with nothing on the lines that are beyond reach; its lines stay where they are."""
    text = told_text(row.text, row.path, reach)
    return row if text == row.text else replace(row, text=text)


def _holds(chunk: ChunkRow, terms: Iterable[str]) -> bool:
    text = f"{chunk.path} {chunk.heading} {chunk.text}".lower()
    return any(term in text for term in terms)
