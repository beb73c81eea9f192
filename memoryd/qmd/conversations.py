"""Search of one agent's conversations through qmd, over exported transcripts, cited by the transcripts' own lines.

The exports are written by a room above this one, behind the seam `Exports`.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from memoryd.config.qmd import QmdLimitsSection
from memoryd.domain.citations import transcript_path
from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.memories.entries import ChunkSettings
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.sessions.conversation_parts import HEADING_LINES, MARK, SUFFIX, export_name
from memoryd.domain.text.chunking import chunk
from memoryd.errors import SidecarError
from memoryd.qmd.collections import Collection
from memoryd.qmd.engine import NAME, arms_of, ask, best_row, terms_in
from memoryd.qmd.query import QmdHit
from memoryd.qmd.sidecar import QmdSidecar
from memoryd.search.combined import joined_hits
from memoryd.search.hits import Hit, Ranks
from memoryd.search.protocol import VECTOR, Engine, Found, Query, SearchBackend
from memoryd.store.index.passages import ChunkRow

PATTERN = f"*{SUFFIX}"
AROUND: Final = 60
"""Lines before and behind the one that qmd names: of a long conversation no more is read."""
_MAX_LINE_CHARS: Final = 1 << 16


class Exports(Protocol):
    """The exported transcripts of one agent: a folder of files, each with a heading and then a line for each line."""

    @property
    def folder(self) -> Path | None:
        """Where they lie, None if there are to be none, and until `check` has looked."""
        ...

    def check(self) -> None:
        """Look whether they may be made where they are to lie. Blocks."""
        ...

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    @property
    def problem(self) -> str:
        """What cannot be exported, and why; empty if nothing."""
        ...

    def refresh(self, on_withdraw: Callable[[], None]) -> bool:
        """Bring them to what the transcripts say now; False if there is more to do. Blocks.

        `on_withdraw` is called before something goes that qmd may have read.
        """
        ...

    def transcript_of(self, name: str) -> str | None:
        """Return the name of the transcript that a file is the export of, None if it is none."""
        ...

    def withhold(self, transcript: str) -> None:
        """Delete the export of a transcript at once, and make none again. Blocks, and may raise OSError."""
        ...

    def release(self, transcript: str) -> None:
        """Take that back."""
        ...


def exported_collection(agent: str, exports: Exports) -> tuple[Collection, ...]:
    """Return the collection of an agent's exports, none where none are made."""
    if exports.folder is None:
        return ()
    return (Collection(f"sessions-{agent}", str(exports.folder), PATTERN, is_exported=True),)


class ExportedSearch(Struct, frozen=True, kw_only=True):
    """Asks qmd for the exports of one agent; raises SidecarError when it cannot answer."""

    agent: str
    qmd: QmdSidecar
    exports: Exports
    chunking: ChunkSettings
    limits: QmdLimitsSection

    @property
    def is_wanted(self) -> bool:
        """Whether there are exports to ask for."""
        return bool(self._names())

    @property
    def is_expected(self) -> bool:
        """Whether there are to be exports, which qmd may not have taken up yet."""
        return self.exports.folder is not None

    def lines(self, path: RelativePath, first: int, last: int) -> Mapping[int, str] | None:
        """Return what is exported of these lines of a transcript, by number; None of one that is not. Blocks."""
        transcript, folder = path.rpartition("/")[2], self.exports.folder
        name = export_name(transcript)
        is_ours = path == transcript_path(self.agent, transcript) and self.exports.transcript_of(name) == transcript
        if folder is None or not is_ours:
            return None
        try:
            with (folder / name).open(encoding="utf-8", errors="replace", newline="\n") as file:
                numbered = enumerate(islice(file, first - 1 + HEADING_LINES, last + HEADING_LINES), start=first)
                texts = {number: one.rstrip("\n") for number, one in numbered}
        except OSError:
            # withdrawn a moment ago
            return None
        return {number: text for number, text in texts.items() if text.strip() and text != MARK}

    async def search(self, query: Query) -> Found:
        """Return the passage of each conversation that qmd finds, best first."""
        names = self._names()
        terms, answer = await ask(self.qmd, query, query.limit + 4, names, is_wanted=bool(names))
        hits = await asyncio.to_thread(lambda: list(islice(self._hits(answer.hits, terms, query), query.limit)))
        arms, models = arms_of(self.qmd, answer), self.qmd.state.models
        model = models.embed.path.stem if models and arms[VECTOR].took_part else None
        limits = self.limits.max_snippet_chars, self.limits.max_injected_chars
        return Found(tuple(hits), (), arms, terms, Engine(NAME, model, 0, *limits))

    def _names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.qmd.collections if one.is_exported)

    def _hits(self, hits: Sequence[QmdHit], terms: tuple[str, ...], query: Query) -> Iterator[Hit]:
        for rank, hit in enumerate(hits, start=1):
            row = self._row(hit, terms, query)
            if row is not None:
                matched = terms_in(row.text, terms)
                because = f"qmd ranks its conversation {rank}, with a score of {hit.score:g}"
                yield Hit(row, hit.score, hit.score, ranks=Ranks(merged=rank), terms=matched, because=because)

    def _row(self, hit: QmdHit, terms: tuple[str, ...], query: Query) -> ChunkRow | None:
        """Return the passage with most of the terms, None if nothing of the conversation may be told."""
        folder, transcript = self.exports.folder, self.exports.transcript_of(hit.path)
        if folder is None or transcript is None:
            return None
        path = transcript_path(self.agent, transcript)
        try:
            mtime_ns = (folder / hit.path).lstat().st_mtime_ns
            if path in query.exclusions.paths or not query.filters.admits(path, Source.SESSIONS, mtime_ns):
                return None
            first, text = _window(folder / hit.path, hit.line)
        except OSError:
            # withdrawn since qmd read it
            return None
        rows = self._rows(path, first, text, mtime_ns)
        return best_row(rows, query.question, terms, hit.line - HEADING_LINES)

    def _rows(self, path: RelativePath, first: int, text: str, mtime_ns: int) -> Iterator[ChunkRow]:
        for part in chunk(text, tokens=self.chunking.tokens, overlap=self.chunking.overlap):
            lines = first + part.start_line - 1, first + part.end_line - 1
            yield ChunkRow(0, path, Source.SESSIONS, *lines, "", text[part.start : part.end], mtime_ns)


def _window(path: Path, line: int) -> tuple[int, str]:
    """Return the lines of a transcript around a line of its export, and the number of the first of them."""
    first = max(HEADING_LINES, line - 1 - AROUND)
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        lines = [one[:_MAX_LINE_CHARS] for one in islice(file, first, line + AROUND) if one.rstrip("\n") != MARK]
    spoken = [at for at, one in enumerate(lines) if one.strip()]
    if not spoken:
        return first, ""
    # an empty line at either end is nobody's
    return first + spoken[0], "".join(lines[spoken[0] : spoken[-1] + 1])


class JoinedConversations(Struct, frozen=True, kw_only=True):
    """Asks both side by side. Without an index, or while nothing is indexed, qmd alone is asked."""

    index: SearchBackend | None
    exports: ExportedSearch
    weights: Weights

    async def search(self, query: Query) -> Found:
        """Return the best of both; qmd that cannot answer costs its part. Raises SidecarError where it is alone."""
        if self.index is None:
            return await self.exports.search(query)
        if not self.exports.is_wanted:
            return await self.index.search(query)
        found, exported = await asyncio.gather(self.index.search(query), self._exported(query))
        if exported is None:
            return found
        told = {hit.chunk.path for hit in found.hits}
        new = replace(exported, hits=tuple(hit for hit in exported.hits if hit.chunk.path not in told))
        hits, misses = joined_hits(found, new, self.weights)
        return replace(found, hits=tuple(hits[: query.limit]), misses=tuple(misses[: query.limit]))

    async def _exported(self, query: Query) -> Found | None:
        try:
            return await self.exports.search(query)
        except SidecarError:
            # said already, where qmd answers for the notes
            return None
