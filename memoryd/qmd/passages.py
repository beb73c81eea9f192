"""From the files that qmd names to the passages that answer: read as they are now, and judged by the question."""

from collections.abc import Container, Sequence
from dataclasses import replace
from datetime import UTC

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.memories.visibility import lines_beyond
from memoryd.domain.syncplan import Known
from memoryd.domain.text.chunking import Chunk, each_chunk
from memoryd.domain.text.entries import ChunkSettings, apart_of
from memoryd.domain.text.lines import padded
from memoryd.files.reading import Content
from memoryd.qmd.output import QmdHit
from memoryd.qmd.result_files import ResultFile, ResultFiles
from memoryd.search.hits import Hit, Ranks, folded
from memoryd.search.protocol import Query
from memoryd.store.index.passages import ChunkRow


class Passages:
    """Reads the files of results. All of it is blocking work."""

    def __init__(self, *, files: ResultFiles, chunking: ChunkSettings) -> None:
        self._files = files
        self._chunking = chunking

    def of(self, hits: Sequence[QmdHit], terms: tuple[str, ...], query: Query) -> list[Hit]:
        """Return a passage of each file, best first, until there are as many as are wanted, apart from copies.

        What scores no less than the last of them is read too: it may be a newer copy.
        """
        found: dict[tuple[str, int], Hit] = {}
        # taken apart once, not once a file
        query = replace(query, asked=query.question)
        for rank, hit in enumerate(hits, start=1):
            told = without_copies(list(found.values()), query)
            if len(told) >= query.limit and hit.score < told[query.limit - 1].score:
                break
            one = self._hit(hit, rank, terms, query)
            if one is not None:
                found.setdefault(place_in_answer(one.chunk), one)
        return list(found.values())

    def _hit(self, hit: QmdHit, rank: int, terms: tuple[str, ...], query: Query) -> Hit | None:
        """Return the passage of a file, None if it may not be told; one that has changed must still hold a word."""
        file = self._files.place(hit.collection, hit.path)
        if file is not None and file.path in query.untold.paths:
            return None
        content = self._files.read(file) if file is not None else None
        if file is None or content is None:
            return None
        if not query.filters.admits(file.path, Source.MEMORY, content.stat.mtime_ns):
            return None
        beyond = _beyond(content, file, query)
        row = self._best_part(content, file, hit, terms, query, beyond)
        if row is None:
            return None
        held = _held(row.text, terms)
        # by which lines qmd found it nobody knows: if some are for others, a word of theirs must not tell itself
        is_unchanged = bool(hit.docid) and content.sha256.hex().startswith(hit.docid) and not beyond
        if not held and not is_unchanged:
            return None
        # qmd tells its order and its score; what stands behind them, it keeps for itself
        because = f"qmd ranks its file {rank}, with a score of {hit.score:g}"
        return Hit(row, hit.score, hit.score, ranks=Ranks(merged=rank), terms=held, because=because)

    def _best_part(
        self,
        content: Content,
        file: ResultFile,
        hit: QmdHit,
        terms: tuple[str, ...],
        query: Query,
        beyond: Container[int],
    ) -> ChunkRow | None:
        """Return the chunk with most of the terms, the one that holds the line of the result if there is a tie.

        What lacks a phrase of the question or holds an excluded word is no part of the answer, nor what begins on a
        line beyond the asker's reach.
        """
        question = query.question
        data = padded(content.text)
        apart = tuple(apart_of(data, RelativePath(file.path)))
        parts = each_chunk(data, tokens=self._chunking.tokens, overlap=self._chunking.overlap, apart=apart)
        rows = (_row(content, data, file, part) for part in parts)
        return max(
            (
                row
                for row in rows
                if row.start_line not in beyond and question.allows([row.text, row.heading, row.path])
            ),
            key=lambda row: (len(_held(row.text, terms)), row.start_line <= hit.line <= row.end_line),
            default=None,
        )


def without_copies(hits: Sequence[Hit], query: Query) -> list[Hit]:
    """Return the hits that may stand in the answer, each with its copies behind it."""
    eligible = [hit for hit in hits if hit.score >= query.min_score or hit.is_literal]
    return folded(eligible, query.now.tzinfo or UTC)


def place_in_answer(chunk: ChunkRow) -> tuple[str, int]:
    """Return what tells one passage of an answer from another."""
    return chunk.path, chunk.start_line


def _beyond(content: Content, file: ResultFile, query: Query) -> frozenset[int]:
    if query.reach is None:
        return frozenset()
    return lines_beyond(padded(content.text), RelativePath(file.path), query.reach)


def _row(content: Content, data: bytes, file: ResultFile, part: Chunk) -> ChunkRow:
    text = data[part.start : part.end].decode("utf-8", "surrogatepass")
    lines = part.start_line, part.end_line
    known = Known(content.stat, content.read_at_ns, content.sha256)
    mtime_ns = content.stat.mtime_ns
    return ChunkRow(0, RelativePath(file.path), Source.MEMORY, *lines, part.heading, text, mtime_ns, known)


def _held(text: str, terms: Sequence[str]) -> tuple[str, ...]:
    lowered = text.lower()
    return tuple(term for term in terms if term in lowered)
