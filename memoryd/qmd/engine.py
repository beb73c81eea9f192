"""The search of one agent through qmd: notes, checked against the files on disk, and exported conversations."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.config.qmd import QmdLimitsSection
from memoryd.domain.documents import RelativePath, Source, transcript_path
from memoryd.domain.memories.entries import ChunkSettings, separate_lines
from memoryd.domain.memories.visibility import hidden_lines
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.ranking.questions import Question
from memoryd.domain.sessions.conversation_parts import HEADING_LINES, MARK, SUFFIX, export_name, through_next
from memoryd.domain.text.chunking import each_chunk
from memoryd.domain.text.lines import encode_padded
from memoryd.domain.text.words import query_terms
from memoryd.errors import NotFound, SidecarError
from memoryd.files.excerpts import QMD_PREFIX, FileLocation
from memoryd.files.ignore import why_private
from memoryd.files.reading import FileSnapshot, NotReadableError, TornReadError, read_snapshot, utf8_of
from memoryd.qmd.collections import Collection
from memoryd.qmd.query import MAX_LISTED, MAX_SEARCHES, QmdHit, QmdQuestion, sub_queries
from memoryd.qmd.sidecar import QmdAnswer, QmdSidecar
from memoryd.search.combined import merge_hits
from memoryd.search.hits import Hit, Ranks, fold_copies
from memoryd.search.protocol import LEXICAL, RERANK, VECTOR, Arm, ArmState, Engine, Query, SearchBackend, SearchResult
from memoryd.sessions.transcripts.exports import SessionExports
from memoryd.store.index.passages import ChunkRow

NAME: Final = "qmd"
MAX_RESULTS = MAX_SEARCHES * MAX_LISTED
"""Number of results to ask for if filters may exclude most of them: as many as qmd can return."""
MAX_TERMS = 64
Terms = tuple[str, ...]
ChangedSince = Callable[[Sequence[str], float], set[str]]
"""Returns which of the documents have changed since a time of the system clock."""


class ResultFile(FileLocation, frozen=True):
    """A file below a trusted folder, with the path for citations."""

    path: str


class ResultFiles(Struct, frozen=True, kw_only=True):
    """Maps results of qmd to documents: those in the builtin index keep their path, others get `qmd/<collection>/…`.

    The rules of the builtin index apply: documents excluded by name, by `exclude`, by `.memoryignore` or by
    `memory: false` are not returned. All methods block.
    """

    workspace: Path
    collections: Callable[[], Sequence[Collection]]
    known: Callable[[], Set[RelativePath]]
    is_ignored: Callable[[str], bool]
    max_bytes: int

    def place(self, collection: str, relative: str) -> ResultFile | None:
        """Return the file of a result, None if it is none of our documents."""
        owner = next((candidate for candidate in self.collections() if candidate.name == collection), None)
        if owner is None or owner.is_exported or not owner.holds(relative):
            return None
        inside = os.path.relpath(os.path.join(owner.root, relative), self.workspace)  # noqa: PTH118  text is enough
        if inside in self.known():
            return ResultFile(Path(owner.root), relative, inside)
        if owner.is_default or self.is_ignored(inside):
            return None
        return ResultFile(Path(owner.root), relative, f"{QMD_PREFIX}{collection}/{relative}")

    def covers(self, path: str) -> bool:
        """Return whether qmd would index a document of the builtin index."""
        full = os.path.join(self.workspace, path)  # noqa: PTH118  text is enough
        return any(at.holds(os.path.relpath(full, at.root)) for at in self.collections() if not at.is_exported)

    def read(self, place: ResultFile) -> tuple[FileSnapshot, bytes] | None:
        """Return the current file and its text, as UTF-8 that ends in `PADDING`.

        None if it is missing, cannot be read safely, or is private.
        """
        try:
            content = read_snapshot(place.base, place.relative, max_bytes=self.max_bytes)
        except (OSError, TornReadError, NotReadableError):
            return None
        data, _ = utf8_of(content)
        return None if why_private(data) else (content, data)

    def location(self, path: str) -> FileLocation | None:
        """Return the location of the document `qmd/<collection>/<path>`; None if it no longer has that path."""
        place = self._named(path)
        return None if place is None or place.path != path else place

    def named(self, path: str) -> ResultFile:
        """Return the file of `qmd/<collection>/<path>`; raises NotFound if it is missing or private."""
        place = self._named(path)
        if place is None or self.read(place) is None:
            raise NotFound(f"no document {path!r} in the collections of qmd", hint="paths are as search gives them")
        return place

    def _named(self, path: str) -> ResultFile | None:
        collection, _, relative = path.removeprefix(QMD_PREFIX).partition("/")
        return self.place(collection, relative) if path.startswith(QMD_PREFIX) else None


class QmdSearch(Struct, frozen=True, kw_only=True):
    """Searches notes with qmd; raises SidecarError if it cannot answer."""

    qmd: QmdSidecar
    files: ResultFiles
    chunking: ChunkSettings
    limits: QmdLimitsSection
    changed_paths_since: ChangedSince

    def changed_since(self, paths: Sequence[str], moment: float) -> set[str]:
        """Return those of the changed documents that qmd indexes, too."""
        return {path for path in self.changed_paths_since(paths, moment) if self.files.covers(path)}

    async def search(self, query: Query) -> SearchResult:
        """Return chunks of the files that qmd finds; a file changed since must still contain a word of the question."""
        terms, answer = await ask(self.qmd, query, 2 * query.limit + 4, self.qmd.names_of_notes)
        hits = await asyncio.to_thread(self._passages, answer.hits, terms, query)
        result = self._result(query, terms, hits, arms_of(self.qmd, answer))
        # a sub-query that was cut off contributes `MAX_LISTED` results
        if _narrows(query) and len(answer.hits) >= MAX_LISTED:
            best = f"none of the best {len(answer.hits)} files of qmd"
            return replace(result, doubt=f"{best} fits the filters, phrases and excluded words of the question")
        return result

    def _result(self, query: Query, terms: Terms, hits: Sequence[Hit], arms: Mapping[str, Arm]) -> SearchResult:
        state = self.qmd.state
        best = tuple(without_copies(hits, query)[: query.limit])
        shown = {place_in_answer(chunk) for hit in best for chunk in (hit.chunk, *hit.copies)}
        return SearchResult(
            hits=best,
            misses=tuple(hit for hit in hits if place_in_answer(hit.chunk) not in shown)[: query.limit],
            arms=arms,
            terms=terms,
            engine=_engine_of(self.qmd, arms, self.limits),
            as_of=state.as_of(by_words=self.qmd.settings.search_mode != "vsearch"),
            doubt=self._doubt(),
        )

    def _passages(self, hits: Sequence[QmdHit], terms: Terms, query: Query) -> list[Hit]:
        """Return a passage of each file, best first, until there are enough without copies. Blocks.

        Files that score as well as the last passage are read, too: they may be newer copies.
        """
        hits_by_place: dict[tuple[str, int], Hit] = {}
        # parse the question once, not for each file
        query = replace(query, parsed=query.question)
        for rank, hit in enumerate(hits, start=1):
            best = without_copies(list(hits_by_place.values()), query)
            if len(best) >= query.limit and hit.score < best[query.limit - 1].score:
                break
            passage = self._hit(hit, rank, terms, query)
            if passage is not None:
                hits_by_place.setdefault(place_in_answer(passage.chunk), passage)
        return list(hits_by_place.values())

    def _hit(self, hit: QmdHit, rank: int, terms: Terms, query: Query) -> Hit | None:
        """Return the best passage of a file; None if it is excluded, or changed and without a word of the question."""
        file = self.files.place(hit.collection, hit.path)
        if file is not None and file.path in query.exclusions.paths:
            return None
        read = self.files.read(file) if file is not None else None
        if file is None or read is None:
            return None
        content, data = read
        if not query.filters.admits(file.path, Source.MEMORY, content.stat.mtime_ns):
            return None
        path = RelativePath(file.path)
        hidden = frozenset[int]() if query.visibility is None else hidden_lines(data, path, query.visibility)
        rows = (row for row in self._rows(content, data, path) if row.start_line not in hidden)
        row = best_row(rows, query.question, terms, hit.line)
        if row is None:
            return None
        matched = terms_in(row.text, terms)
        # qmd does not say which lines matched: with hidden lines, a match may reveal a word in them
        is_unchanged = bool(hit.docid) and content.sha256.hex().startswith(hit.docid) and not hidden
        if not matched and not is_unchanged:
            return None
        return _make_hit(row, "file", rank, hit.score, matched)

    def _rows(self, content: FileSnapshot, data: bytes, path: RelativePath) -> Iterator[ChunkRow]:
        apart = tuple(separate_lines(data, path))
        known, mtime_ns = content.known, content.stat.mtime_ns
        for part in each_chunk(data, tokens=self.chunking.tokens, overlap=self.chunking.overlap, apart=apart):
            text = data[part.start : part.end].decode("utf-8", "surrogatepass")
            lines = part.start_line, part.end_line
            yield ChunkRow(0, path, Source.MEMORY, *lines, part.heading, text, mtime_ns, known)

    def _doubt(self) -> str:
        state = self.qmd.state
        if state.trouble:
            return f"qmd found nothing, and its index may be old: {state.trouble}"
        if not state.is_current:
            return "qmd found nothing, and has not read the latest changes yet"
        return f"qmd found nothing by words, and {state.vector_trouble}" if state.vector_trouble else ""


async def ask(
    qmd: QmdSidecar, query: Query, limit: int, collections: tuple[str, ...], *, is_wanted: bool = True
) -> tuple[Terms, QmdAnswer]:
    """Return a question's terms and qmd's answer in these collections (none: all); an empty answer unless wanted."""
    terms = tuple(query_terms(query.question.text, limit=MAX_TERMS))
    searches = sub_queries(qmd.settings.search_mode, query.question, terms)
    if qmd.state.vector_trouble and qmd.settings.search_mode == "query":
        searches = tuple(search for search in searches if search.type == "lex")
    if not searches or not is_wanted:
        return terms, QmdAnswer(())
    question = QmdQuestion(searches, MAX_RESULTS if _narrows(query) else limit, qmd.reranks, collections)
    return terms, await qmd.query(question, seconds=min(qmd.settings.query_seconds, query.deadline))


def _narrows(query: Query) -> bool:
    return query.question.is_narrowed or not query.filters.is_empty


def arms_of(qmd: QmdSidecar, answer: QmdAnswer) -> dict[str, Arm]:
    """Return the states of the arms (words, meaning, reranking) in an answer."""
    settings, state = qmd.settings, qmd.state
    off = Arm(ArmState.OFF, f"memory.qmd.searchMode is {settings.search_mode}")
    trouble = answer.vector_trouble or state.vector_trouble
    vector = Arm(ArmState.FAILED, trouble) if trouble else Arm(ArmState.OK)
    arms = {
        LEXICAL: off if settings.search_mode == "vsearch" else Arm(ArmState.OK),
        VECTOR: vector if settings.has_vectors else off,
    }
    if settings.wants_reranking and not qmd.reranks:
        why = state.models["rerank"].trouble if state.models else "qmd is starting"
        arms[RERANK] = Arm(ArmState.FAILED, f"there is no reranking model: {why}")
    return arms


def _engine_of(qmd: QmdSidecar, arms: Mapping[str, Arm], limits: QmdLimitsSection) -> Engine:
    model = qmd.state.models["embed"].path.stem if qmd.state.models and arms[VECTOR].took_part else None
    return Engine(NAME, model, 0, limits.max_snippet_chars, limits.max_injected_chars)


def best_row(rows: Iterable[ChunkRow], question: Question, terms: Sequence[str], line: int) -> ChunkRow | None:
    """Return the row with most of the terms; if equal, the row that contains the line.

    Rows that lack a phrase of the question, or contain an excluded word, do not count; None if no row is left.
    """
    return max(
        (row for row in rows if question.fits([row.text, row.heading, row.path])),
        key=lambda row: (len(terms_in(row.text, terms)), row.start_line <= line <= row.end_line),
        default=None,
    )


def _make_hit(row: ChunkRow, what: str, rank: int, score: float, terms: Terms) -> Hit:
    # qmd returns only rank and score, not the evidence for them
    because = f"qmd ranks its {what} {rank}, with a score of {score:g}"
    return Hit(chunk=row, base_score=score, score=score, ranks=Ranks(merged=rank), terms=terms, because=because)


def without_copies(hits: Sequence[Hit], query: Query) -> list[Hit]:
    """Return the hits above the minimum score, with copies folded."""
    eligible = [hit for hit in hits if hit.score >= query.min_score or hit.is_literal]
    return fold_copies(eligible, query.now.tzinfo or UTC)


def place_in_answer(chunk: ChunkRow) -> tuple[str, int]:
    """Return the key of a passage in an answer."""
    return chunk.path, chunk.start_line


def terms_in(text: str, terms: Sequence[str]) -> Terms:
    """Return the terms that a text contains."""
    lowered = text.lower()
    return tuple(term for term in terms if term in lowered)


PATTERN = f"*{SUFFIX}"
AROUND = 60
"""Number of lines to read before and after the line that qmd names."""
_MAX_LINE_CHARS = 1 << 16


def exported_collection(agent: str, exports: SessionExports) -> tuple[Collection, ...]:
    """Return the collection of an agent's exports; empty if there are none."""
    if exports.folder is None:
        return ()
    return (Collection(f"sessions-{agent}", str(exports.folder), PATTERN, is_exported=True),)


class ExportedSearch(Struct, frozen=True, kw_only=True):
    """Searches the exported transcripts of one agent with qmd; raises SidecarError if it cannot answer."""

    agent: str
    qmd: QmdSidecar
    exports: SessionExports
    chunking: ChunkSettings
    limits: QmdLimitsSection

    @property
    def has_collection(self) -> bool:
        """Whether qmd has a collection of exports."""
        return bool(self._names())

    @property
    def is_expected(self) -> bool:
        """Whether transcripts are exported, though qmd may not have the collection yet."""
        return self.exports.folder is not None

    def lines(self, path: RelativePath, first: int, last: int) -> Mapping[int, str] | None:
        """Return the exported text of these lines of a transcript, and of the next line after them, by line number.

        None if the transcript is not exported. Blocks.
        """
        transcript, folder = path.rpartition("/")[2], self.exports.folder
        name = export_name(transcript)
        is_ours = path == transcript_path(self.agent, transcript) and self.exports.transcript_of(name) == transcript
        if folder is None or not is_ours:
            return None
        try:
            with (folder / name).open(encoding="utf-8", errors="replace", newline="\n") as file:
                numbered = enumerate(islice(file, first - 1 + HEADING_LINES, None), start=first)
                texts = ((number, line.rstrip("\n")) for number, line in numbered)
                spoken = ((number, text) for number, text in texts if text.strip() and text != MARK)
                return through_next(spoken, range(first, last + 1))
        except OSError:
            # deleted a moment ago
            return None

    async def search(self, query: Query) -> SearchResult:
        """Return a passage of each conversation that qmd finds, best first."""
        names = self._names()
        terms, answer = await ask(self.qmd, query, query.limit + 4, names, is_wanted=bool(names))
        hits = await asyncio.to_thread(lambda: list(islice(self._hits(answer.hits, terms, query), query.limit)))
        arms = arms_of(self.qmd, answer)
        return SearchResult(tuple(hits), (), arms, terms, _engine_of(self.qmd, arms, self.limits))

    def _names(self) -> tuple[str, ...]:
        return tuple(collection.name for collection in self.qmd.collections if collection.is_exported)

    def _hits(self, hits: Sequence[QmdHit], terms: Terms, query: Query) -> Iterator[Hit]:
        for rank, hit in enumerate(hits, start=1):
            row = self._row(hit, terms, query)
            if row is not None:
                yield _make_hit(row, "conversation", rank, hit.score, terms_in(row.text, terms))

    def _row(self, hit: QmdHit, terms: Terms, query: Query) -> ChunkRow | None:
        """Return the passage with most of the terms, None if the conversation is excluded or no longer exported."""
        folder, transcript = self.exports.folder, self.exports.transcript_of(hit.path)
        if folder is None or transcript is None:
            return None
        path = transcript_path(self.agent, transcript)
        try:
            mtime_ns = (folder / hit.path).lstat().st_mtime_ns
            if path in query.exclusions.paths or not query.filters.admits(path, Source.SESSIONS, mtime_ns):
                return None
            first, text = transcript_window(folder / hit.path, hit.line)
        except OSError:
            # deleted since qmd read it
            return None
        rows = self._rows(path, first, text, mtime_ns)
        return best_row(rows, query.question, terms, hit.line - HEADING_LINES)

    def _rows(self, path: RelativePath, first: int, text: str, mtime_ns: int) -> Iterator[ChunkRow]:
        data = encode_padded(text)
        for part in each_chunk(data, tokens=self.chunking.tokens, overlap=self.chunking.overlap):
            lines = first + part.start_line - 1, first + part.end_line - 1
            shown = data[part.start : part.end].decode("utf-8", "surrogatepass")
            yield ChunkRow(0, path, Source.SESSIONS, *lines, "", shown, mtime_ns)


def transcript_window(path: Path, line: int) -> tuple[int, str]:
    """Return the number of the first line, and the text, of the lines around a line of an export."""
    first = max(HEADING_LINES, line - 1 - AROUND)
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        texts = [text.rstrip("\n") for text in islice(file, first, line + AROUND)]
    # a mark is no text, but counts as a line
    lines = ["\n" if text == MARK else f"{text[:_MAX_LINE_CHARS]}\n" for text in texts]
    spoken = [at for at, text in enumerate(lines) if text.strip()]
    if not spoken:
        return first, ""
    # without the empty lines at either end
    return first + spoken[0], "".join(lines[spoken[0] : spoken[-1] + 1])


class MergedConversations(Struct, frozen=True, kw_only=True):
    """Searches conversations in the builtin index and the exports concurrently; without an index, only the exports."""

    index: SearchBackend | None
    exports: ExportedSearch
    weights: Weights

    async def search(self, query: Query) -> SearchResult:
        """Return the best hits of both. If qmd fails, answer without it; raises SidecarError if there is no index."""
        if self.index is None:
            return await self.exports.search(query)
        if not self.exports.has_collection:
            return await self.index.search(query)
        indexed, exported = await asyncio.gather(self.index.search(query), self._exported(query))
        if exported is None:
            return indexed
        paths = {hit.chunk.path for hit in indexed.hits}
        new = replace(exported, hits=tuple(hit for hit in exported.hits if hit.chunk.path not in paths))
        hits, misses = merge_hits(indexed, new, self.weights)
        return replace(indexed, hits=tuple(hits[: query.limit]), misses=tuple(misses[: query.limit]))

    async def _exported(self, query: Query) -> SearchResult | None:
        try:
            return await self.exports.search(query)
        except SidecarError:
            # the search of notes with qmd reports the failure
            return None
