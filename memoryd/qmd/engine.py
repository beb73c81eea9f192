"""The search of one agent through qmd: its results, checked against the files on disk and cited like our own."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Final

from memoryd.config.qmd import QmdLimitsSection
from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.questions import Question
from memoryd.domain.text.chunking import Chunk, chunk
from memoryd.domain.text.entries import ChunkSettings
from memoryd.domain.text.words import query_terms
from memoryd.files.octets import Content
from memoryd.qmd.output import QmdHit
from memoryd.qmd.result_files import ResultFile, ResultFiles
from memoryd.qmd.sidecar import QmdAnswer, QmdSidecar
from memoryd.qmd.subqueries import MAX_LISTED, MAX_SEARCHES, sub_queries
from memoryd.search.arms import LEXICAL, VECTOR
from memoryd.search.folding import folded
from memoryd.search.query import Arm, ArmState, Engine, Found, Query, Scored, Why
from memoryd.store.chunks import ChunkRow

NAME: Final = "qmd"
RERANK = "rerank"
MOST_ASKED = MAX_SEARCHES * MAX_LISTED
"""Results asked for when the question may leave out most of them: all that qmd can tell."""
MAX_TERMS = 64


class QmdSearch:
    """Asks qmd; raises SidecarError when it cannot answer."""

    def __init__(self, *, qmd: QmdSidecar, files: ResultFiles, chunks: ChunkSettings, limits: QmdLimitsSection) -> None:
        self._qmd = qmd
        self._files = files
        self._chunks = chunks
        self._limits = limits

    async def search(self, query: Query) -> Found:
        """Return the chunks of the files that qmd finds; a file that has changed meanwhile must still hold a word."""
        settings, question = self._qmd.settings, query.question
        terms = tuple(query_terms(question.text, limit=MAX_TERMS))
        searches = sub_queries(settings.mode, question, terms)
        if self._qmd.upkeep.state.vector_trouble and settings.mode == "query":
            searches = tuple(one for one in searches if one.type == "lex")
        answer, narrows = QmdAnswer(()), question.is_narrowed or not query.filters.is_empty
        if searches:
            limit = MOST_ASKED if narrows else 2 * query.limit + 4
            seconds = min(settings.query, query.deadline)
            answer = await self._qmd.query(searches, limit=limit, reranks=self._qmd.reranks, seconds=seconds)
        hits = await asyncio.to_thread(self._checked, answer.hits, terms, query)
        found = self._found(query, terms, hits, self._arms(answer))
        # every line of the question that was cut short has filled the answer with as many
        is_cut = narrows and len(answer.hits) >= MAX_LISTED
        return replace(found, doubt=_none_fits(len(answer.hits))) if is_cut else found

    def _found(self, query: Query, terms: tuple[str, ...], hits: Sequence[Scored], arms: Mapping[str, Arm]) -> Found:
        state = self._qmd.upkeep.state
        best = tuple(_distinct(hits, query)[: query.limit])
        told = {_place(chunk) for hit in best for chunk in (hit.chunk, *hit.copies)}
        return Found(
            hits=best,
            misses=tuple(hit for hit in hits if _place(hit.chunk) not in told)[: query.limit],
            arms=arms,
            terms=terms,
            engine=Engine(
                name=NAME,
                model=state.models.embed.path.stem if state.models and arms[VECTOR].took_part else None,
                pending_embeddings=0,
                snippet_chars=self._limits.max_snippet_chars,
                total_chars=self._limits.max_injected_chars,
            ),
            as_of=state.as_of(by_words=self._qmd.settings.mode != "vsearch"),
            doubt=self._doubt(),
        )

    def _doubt(self) -> str:
        state = self._qmd.upkeep.state
        if state.trouble:
            return f"qmd found nothing, and its index may be old: {state.trouble}"
        if not state.is_current:
            return "qmd found nothing, and has not read the latest changes yet"
        return f"qmd found nothing by words, and {state.vector_trouble}" if state.vector_trouble else ""

    def _arms(self, answer: QmdAnswer) -> dict[str, Arm]:
        settings, state = self._qmd.settings, self._qmd.upkeep.state
        off = Arm(ArmState.OFF, f"memory.qmd.searchMode is {settings.mode}")
        trouble = answer.vector_trouble or state.vector_trouble
        vector = Arm(ArmState.FAILED, trouble) if trouble else Arm(ArmState.OK)
        arms = {
            LEXICAL: off if settings.mode == "vsearch" else Arm(ArmState.OK),
            VECTOR: vector if settings.has_vectors else off,
        }
        if settings.mode == "query" and settings.reranks and not self._qmd.reranks:
            why = state.models.rerank.trouble if state.models else "qmd is starting"
            arms[RERANK] = Arm(ArmState.FAILED, f"there is no reranking model: {why}")
        return arms

    def _checked(self, hits: Sequence[QmdHit], terms: tuple[str, ...], query: Query) -> list[Scored]:
        """Read the files of the results, best first, until there are as many hits as are wanted, apart from copies.

        What scores no less than the last of them is read too: it may be a newer copy.
        """
        found: dict[tuple[str, int], Scored] = {}
        question = query.question
        for rank, hit in enumerate(hits, start=1):
            distinct = _distinct(list(found.values()), query)
            if len(distinct) >= query.limit and hit.score < distinct[query.limit - 1].score:
                break
            one = self._scored(hit, rank, terms, query.filters, question)
            if one is not None:
                found.setdefault(_place(one.chunk), one)
        return list(found.values())

    def _scored(
        self, hit: QmdHit, rank: int, terms: tuple[str, ...], filters: Filters, question: Question
    ) -> Scored | None:
        place = self._files.place(hit.collection, hit.path)
        content = self._files.read(place) if place is not None else None
        if place is None or content is None:
            return None
        if not filters.admits(place.path, Source.MEMORY, content.stat.mtime_ns):
            return None
        row = self._best_part(content, place, hit, terms, question)
        if row is None:
            return None
        held = _held(row.text, terms)
        if not held and not _is_unchanged(content, hit):
            return None
        return Scored(row, hit.score, why=_why(hit, rank, held))

    def _best_part(
        self, content: Content, place: ResultFile, hit: QmdHit, terms: tuple[str, ...], question: Question
    ) -> ChunkRow | None:
        """Return the chunk with most of the terms, the one that holds the line of the result if there is a tie.

        What lacks a phrase of the question or holds an excluded word is no part of the answer.
        """
        parts = chunk(content.text, tokens=self._chunks.tokens, overlap=self._chunks.overlap)
        rows = (_row(content, place, part) for part in parts)
        return max(
            (row for row in rows if question.allows([row.text, row.heading, row.path])),
            key=lambda row: (len(_held(row.text, terms)), row.start_line <= hit.line <= row.end_line),
            default=None,
        )


def _is_eligible(hit: Scored, query: Query) -> bool:
    return hit.score >= query.min_score or hit.is_literal


def _distinct(hits: Sequence[Scored], query: Query) -> list[Scored]:
    """Return the hits that may stand in the answer, without copies."""
    return folded([hit for hit in hits if _is_eligible(hit, query)], query.now.tzinfo or UTC)


def _place(chunk: ChunkRow) -> tuple[str, int]:
    return chunk.path, chunk.start_line


def _none_fits(count: int) -> str:
    return f"none of the best {count} files of qmd fits the filters, phrases and excluded words of the question"


def _row(content: Content, place: ResultFile, part: Chunk) -> ChunkRow:
    text = content.text[part.start : part.end]
    lines = part.start_line, part.end_line
    return ChunkRow(0, RelativePath(place.path), Source.MEMORY, *lines, part.heading, text, content.stat.mtime_ns)


def _why(hit: QmdHit, rank: int, held: tuple[str, ...]) -> Why:
    """Tell what qmd tells: its order and its score. What stands behind them, it keeps for itself."""
    because = f"qmd ranks its file {rank}, with a score of {hit.score:g}"
    return Why(base=hit.score, fused_rank=rank, terms=held, because=because)


def _held(text: str, terms: Sequence[str]) -> tuple[str, ...]:
    lowered = text.lower()
    return tuple(term for term in terms if term in lowered)


def _is_unchanged(content: Content, hit: QmdHit) -> bool:
    return bool(hit.docid) and content.sha256.hex().startswith(hit.docid)
