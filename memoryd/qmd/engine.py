"""The search of one agent through qmd: notes, checked against the files on disk, and exported conversations."""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import UTC
from itertools import islice
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from memoryd.config.qmd import QmdLimitsSection
from memoryd.domain.documents import RelativePath, Source, transcript_path
from memoryd.domain.memories.entries import ChunkSettings, apart_of
from memoryd.domain.memories.visibility import hidden_lines
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.ranking.questions import Question
from memoryd.domain.sessions.conversation_parts import HEADING_LINES, MARK, SUFFIX, export_name, through_next
from memoryd.domain.text.chunking import each_chunk
from memoryd.domain.text.lines import padded
from memoryd.domain.text.words import query_terms
from memoryd.errors import NotFound, SidecarError
from memoryd.files.excerpts import QMD_PREFIX, FileLocation
from memoryd.files.ignore import why_private
from memoryd.files.reading import FileSnapshot, NotReadableError, TornReadError, read_snapshot, utf8_of
from memoryd.qmd.collections import Collection
from memoryd.qmd.query import MAX_LISTED, MAX_SEARCHES, QmdHit, QmdQuestion, sub_queries
from memoryd.qmd.sidecar import QmdAnswer, QmdSidecar
from memoryd.search.combined import merge_hits
from memoryd.search.hits import Hit, Ranks, folded
from memoryd.search.protocol import LEXICAL, RERANK, VECTOR, Arm, ArmState, Engine, Found, Query, SearchBackend
from memoryd.store.index.passages import ChunkRow

NAME: Final = "qmd"
MAX_ASKED = MAX_SEARCHES * MAX_LISTED
"""Results asked for when the question may leave out most of them: all that qmd can tell."""
MAX_TERMS = 64
Terms = tuple[str, ...]
ChangedSince = Callable[[Sequence[str], float], set[str]]
"""Tells which of some documents are not what they were at a moment of the system clock."""


class ResultFile(FileLocation, frozen=True):
    """A file below a trusted folder, with the path that an answer cites it by."""

    path: str


class ResultFiles(Struct, frozen=True, kw_only=True):
    """Maps results to documents: one that the builtin index holds keeps its path, any other is `qmd/<collection>/…`.

    The rules of the builtin index hold here too: what it leaves out by name, by `exclude`, by `.memoryignore` or by
    `memory: false` is not told. All of it is blocking work.
    """

    workspace: Path
    collections: Callable[[], Sequence[Collection]]
    known: Callable[[], Set[RelativePath]]
    is_ignored: Callable[[str], bool]
    max_bytes: int

    def place(self, collection: str, relative: str) -> ResultFile | None:
        """Return where a result lies, None if it is not one of ours."""
        owner = next((one for one in self.collections() if one.name == collection), None)
        if owner is None or owner.is_exported or not owner.holds(relative):
            return None
        inside = os.path.relpath(os.path.join(owner.root, relative), self.workspace)  # noqa: PTH118  text is enough
        if inside in self.known():
            return ResultFile(Path(owner.root), relative, inside)
        if owner.is_default or self.is_ignored(inside):
            return None
        return ResultFile(Path(owner.root), relative, f"{QMD_PREFIX}{collection}/{relative}")

    def covers(self, path: str) -> bool:
        """Tell whether qmd would index a document of the builtin index."""
        full = os.path.join(self.workspace, path)  # noqa: PTH118  text is enough
        return any(one.holds(os.path.relpath(full, one.root)) for one in self.collections() if not one.is_exported)

    def read(self, place: ResultFile) -> tuple[FileSnapshot, bytes] | None:
        """Return the file as it is now and its text, UTF-8 that ends in `PADDING`.

        None if it is gone, cannot be read safely, or is private.
        """
        try:
            content = read_snapshot(place.base, place.relative, max_bytes=self.max_bytes)
        except (OSError, TornReadError, NotReadableError):
            return None
        data, _ = utf8_of(content)
        return None if why_private(data) else (content, data)

    def location(self, path: str) -> FileLocation | None:
        """Return where the document lies that is told as `qmd/<collection>/<path>`; None if it is told so no more."""
        place = self._named(path)
        return None if place is None or place.path != path else place

    def named(self, path: str) -> ResultFile:
        """Return the file that `qmd/<collection>/<path>` means; raises NotFound."""
        place = self._named(path)
        if place is None or self.read(place) is None:
            raise NotFound(f"no document {path!r} in the collections of qmd", hint="paths are as search gives them")
        return place

    def _named(self, path: str) -> ResultFile | None:
        collection, _, relative = path.removeprefix(QMD_PREFIX).partition("/")
        return self.place(collection, relative) if path.startswith(QMD_PREFIX) else None


class QmdSearch(Struct, frozen=True, kw_only=True):
    """Asks qmd; raises SidecarError when it cannot answer."""

    qmd: QmdSidecar
    files: ResultFiles
    chunking: ChunkSettings
    limits: QmdLimitsSection
    changed_paths_since: ChangedSince

    def changed_since(self, paths: Sequence[str], moment: float) -> set[str]:
        """Return the changed documents of the builtin index that qmd indexes too."""
        return {path for path in self.changed_paths_since(paths, moment) if self.files.covers(path)}

    async def search(self, query: Query) -> Found:
        """Return the chunks of the files that qmd finds; a file that has changed meanwhile must still hold a word."""
        terms, answer = await ask(self.qmd, query, 2 * query.limit + 4, self.qmd.names_of_notes)
        hits = await asyncio.to_thread(self._passages, answer.hits, terms, query)
        found = self._found(query, terms, hits, arms_of(self.qmd, answer))
        # every line of the question that was cut short has filled the answer with as many
        if _narrows(query) and len(answer.hits) >= MAX_LISTED:
            best = f"none of the best {len(answer.hits)} files of qmd"
            return replace(found, doubt=f"{best} fits the filters, phrases and excluded words of the question")
        return found

    def _found(self, query: Query, terms: tuple[str, ...], hits: Sequence[Hit], arms: Mapping[str, Arm]) -> Found:
        state = self.qmd.state
        best = tuple(without_copies(hits, query)[: query.limit])
        shown = {place_in_answer(chunk) for hit in best for chunk in (hit.chunk, *hit.copies)}
        return Found(
            hits=best,
            misses=tuple(hit for hit in hits if place_in_answer(hit.chunk) not in shown)[: query.limit],
            arms=arms,
            terms=terms,
            engine=_engine_of(self.qmd, arms, self.limits),
            as_of=state.as_of(by_words=self.qmd.settings.search_mode != "vsearch"),
            doubt=self._doubt(),
        )

    def _passages(self, hits: Sequence[QmdHit], terms: tuple[str, ...], query: Query) -> list[Hit]:
        """Return a passage of each file, best first, until there are as many as are wanted, apart from copies. Blocks.

        What scores no less than the last of them is read too: it may be a newer copy.
        """
        hits_by_place: dict[tuple[str, int], Hit] = {}
        # taken apart once, not once a file
        query = replace(query, asked=query.question)
        for rank, hit in enumerate(hits, start=1):
            best = without_copies(list(hits_by_place.values()), query)
            if len(best) >= query.limit and hit.score < best[query.limit - 1].score:
                break
            one = self._hit(hit, rank, terms, query)
            if one is not None:
                hits_by_place.setdefault(place_in_answer(one.chunk), one)
        return list(hits_by_place.values())

    def _hit(self, hit: QmdHit, rank: int, terms: tuple[str, ...], query: Query) -> Hit | None:
        """Return the passage of a file, None if it may not be told; one that has changed must still hold a word."""
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
        # by which lines qmd found it nobody knows: if some are for others, a word of theirs must not tell itself
        is_unchanged = bool(hit.docid) and content.sha256.hex().startswith(hit.docid) and not hidden
        if not matched and not is_unchanged:
            return None
        return _ranked(row, "file", rank, hit.score, matched)

    def _rows(self, content: FileSnapshot, data: bytes, path: RelativePath) -> Iterator[ChunkRow]:
        apart = tuple(apart_of(data, path))
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
    """Return the terms of a question, and what qmd finds for it, if wanted, in these collections, or in all without."""
    terms = tuple(query_terms(query.question.text, limit=MAX_TERMS))
    searches = sub_queries(qmd.settings.search_mode, query.question, terms)
    if qmd.state.vector_trouble and qmd.settings.search_mode == "query":
        searches = tuple(one for one in searches if one.type == "lex")
    if not searches or not is_wanted:
        return terms, QmdAnswer(())
    question = QmdQuestion(searches, MAX_ASKED if _narrows(query) else limit, qmd.reranks, collections)
    return terms, await qmd.query(question, seconds=min(qmd.settings.query_seconds, query.deadline))


def _narrows(query: Query) -> bool:
    return query.question.is_narrowed or not query.filters.is_empty


def arms_of(qmd: QmdSidecar, answer: QmdAnswer) -> dict[str, Arm]:
    """Return how words, meaning and reranking took part in an answer."""
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
    """Return the row with most of the terms, the one that holds the line if there is a tie.

    What lacks a phrase of the question or holds an excluded word is no part of the answer.
    """
    return max(
        (row for row in rows if question.allows([row.text, row.heading, row.path])),
        key=lambda row: (len(terms_in(row.text, terms)), row.start_line <= line <= row.end_line),
        default=None,
    )


def _ranked(row: ChunkRow, what: str, rank: int, score: float, terms: Terms) -> Hit:
    # qmd tells its order and its score; what stands behind them, it keeps for itself
    because = f"qmd ranks its {what} {rank}, with a score of {score:g}"
    return Hit(chunk=row, base_score=score, score=score, ranks=Ranks(merged=rank), terms=terms, because=because)


def without_copies(hits: Sequence[Hit], query: Query) -> list[Hit]:
    """Return the hits that may stand in the answer, each with its copies behind it."""
    eligible = [hit for hit in hits if hit.score >= query.min_score or hit.is_literal]
    return folded(eligible, query.now.tzinfo or UTC)


def place_in_answer(chunk: ChunkRow) -> tuple[str, int]:
    """Return what tells one passage of an answer from another."""
    return chunk.path, chunk.start_line


def terms_in(text: str, terms: Sequence[str]) -> tuple[str, ...]:
    """Return those of the terms that a text has."""
    lowered = text.lower()
    return tuple(term for term in terms if term in lowered)


PATTERN = f"*{SUFFIX}"
AROUND = 60
"""Lines before and behind the one that qmd names: of a long conversation no more is read."""
_MAX_LINE_CHARS = 1 << 16


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
        """Return what is exported of these lines of a transcript, by number, and of the next one behind them.

        Returns None of one that is not exported; blocks.
        """
        transcript, folder = path.rpartition("/")[2], self.exports.folder
        name = export_name(transcript)
        is_ours = path == transcript_path(self.agent, transcript) and self.exports.transcript_of(name) == transcript
        if folder is None or not is_ours:
            return None
        try:
            with (folder / name).open(encoding="utf-8", errors="replace", newline="\n") as file:
                numbered = enumerate(islice(file, first - 1 + HEADING_LINES, None), start=first)
                texts = ((number, one.rstrip("\n")) for number, one in numbered)
                spoken = ((number, text) for number, text in texts if text.strip() and text != MARK)
                return through_next(spoken, range(first, last + 1))
        except OSError:
            # withdrawn a moment ago
            return None

    async def search(self, query: Query) -> Found:
        """Return the passage of each conversation that qmd finds, best first."""
        names = self._names()
        terms, answer = await ask(self.qmd, query, query.limit + 4, names, is_wanted=bool(names))
        hits = await asyncio.to_thread(lambda: list(islice(self._hits(answer.hits, terms, query), query.limit)))
        arms = arms_of(self.qmd, answer)
        return Found(tuple(hits), (), arms, terms, _engine_of(self.qmd, arms, self.limits))

    def _names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.qmd.collections if one.is_exported)

    def _hits(self, hits: Sequence[QmdHit], terms: tuple[str, ...], query: Query) -> Iterator[Hit]:
        for rank, hit in enumerate(hits, start=1):
            row = self._row(hit, terms, query)
            if row is not None:
                yield _ranked(row, "conversation", rank, hit.score, terms_in(row.text, terms))

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
            first, text = transcript_window(folder / hit.path, hit.line)
        except OSError:
            # withdrawn since qmd read it
            return None
        rows = self._rows(path, first, text, mtime_ns)
        return best_row(rows, query.question, terms, hit.line - HEADING_LINES)

    def _rows(self, path: RelativePath, first: int, text: str, mtime_ns: int) -> Iterator[ChunkRow]:
        data = padded(text)
        for part in each_chunk(data, tokens=self.chunking.tokens, overlap=self.chunking.overlap):
            lines = first + part.start_line - 1, first + part.end_line - 1
            shown = data[part.start : part.end].decode("utf-8", "surrogatepass")
            yield ChunkRow(0, path, Source.SESSIONS, *lines, "", shown, mtime_ns)


def transcript_window(path: Path, line: int) -> tuple[int, str]:
    """Return the lines of a transcript around a line of its export, and the number of the first of them."""
    first = max(HEADING_LINES, line - 1 - AROUND)
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        texts = [one.rstrip("\n") for one in islice(file, first, line + AROUND)]
    # a mark is nobody's words, but a line that counts
    lines = ["\n" if text == MARK else f"{text[:_MAX_LINE_CHARS]}\n" for text in texts]
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
        hits, misses = merge_hits(found, new, self.weights)
        return replace(found, hits=tuple(hits[: query.limit]), misses=tuple(misses[: query.limit]))

    async def _exported(self, query: Query) -> Found | None:
        try:
            return await self.exports.search(query)
        except SidecarError:
            # said already, where qmd answers for the notes
            return None
