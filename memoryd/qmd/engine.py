"""The search of one agent through qmd: its results, checked against the files on disk and cited like our own."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from memoryd.config.qmd import QmdLimitsSection
from memoryd.domain.text.entries import ChunkSettings
from memoryd.domain.text.words import query_terms
from memoryd.qmd.passages import Passages, place_in_answer, without_copies
from memoryd.qmd.result_files import ResultFiles
from memoryd.qmd.sidecar import QmdAnswer, QmdSidecar
from memoryd.qmd.subqueries import MAX_LISTED, MAX_SEARCHES, QmdQuestion, sub_queries
from memoryd.search.hits import Hit
from memoryd.search.protocol import LEXICAL, RERANK, VECTOR, Arm, ArmState, Engine, Found, Query

NAME: Final = "qmd"
MOST_ASKED = MAX_SEARCHES * MAX_LISTED
"""Results asked for when the question may leave out most of them: all that qmd can tell."""
MAX_TERMS = 64


ChangedSince = Callable[[Sequence[str], float], set[str]]
"""Tells which of some documents are not what they were at a moment of the system clock."""


class QmdSearch:
    """Asks qmd; raises SidecarError when it cannot answer."""

    def __init__(
        self,
        *,
        qmd: QmdSidecar,
        files: ResultFiles,
        chunking: ChunkSettings,
        limits: QmdLimitsSection,
        changed_since: ChangedSince,
    ) -> None:
        self._qmd = qmd
        self._files = files
        self._changed_since = changed_since
        self._passages = Passages(files=files, chunking=chunking)
        self._limits = limits

    def changed_since(self, paths: Sequence[str], moment: float) -> set[str]:
        """Return the changed documents of the builtin index that qmd indexes too."""
        return {path for path in self._changed_since(paths, moment) if self._files.covers(path)}

    async def search(self, query: Query) -> Found:
        """Return the chunks of the files that qmd finds; a file that has changed meanwhile must still hold a word."""
        settings, question = self._qmd.settings, query.question
        terms = tuple(query_terms(question.text, limit=MAX_TERMS))
        searches = sub_queries(settings.mode, question, terms)
        if self._qmd.state.vector_trouble and settings.mode == "query":
            searches = tuple(one for one in searches if one.type == "lex")
        answer, narrows = QmdAnswer(()), question.is_narrowed or not query.filters.is_empty
        if searches:
            limit = MOST_ASKED if narrows else 2 * query.limit + 4
            seconds = min(settings.query, query.deadline)
            asked = QmdQuestion(searches, limit, self._qmd.reranks, self._qmd.names_of_notes)
            answer = await self._qmd.query(asked, seconds=seconds)
        hits = await asyncio.to_thread(self._passages.of, answer.hits, terms, query)
        found = self._found(query, terms, hits, arms_of(self._qmd, answer))
        # every line of the question that was cut short has filled the answer with as many
        if narrows and len(answer.hits) >= MAX_LISTED:
            best = f"none of the best {len(answer.hits)} files of qmd"
            return replace(found, doubt=f"{best} fits the filters, phrases and excluded words of the question")
        return found

    def _found(self, query: Query, terms: tuple[str, ...], hits: Sequence[Hit], arms: Mapping[str, Arm]) -> Found:
        state = self._qmd.state
        best = tuple(without_copies(hits, query)[: query.limit])
        told = {place_in_answer(chunk) for hit in best for chunk in (hit.chunk, *hit.copies)}
        return Found(
            hits=best,
            misses=tuple(hit for hit in hits if place_in_answer(hit.chunk) not in told)[: query.limit],
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
        state = self._qmd.state
        if state.trouble:
            return f"qmd found nothing, and its index may be old: {state.trouble}"
        if not state.is_current:
            return "qmd found nothing, and has not read the latest changes yet"
        return f"qmd found nothing by words, and {state.vector_trouble}" if state.vector_trouble else ""


def arms_of(qmd: QmdSidecar, answer: QmdAnswer) -> dict[str, Arm]:
    """Return how words, meaning and reranking took part in an answer."""
    settings, state = qmd.settings, qmd.state
    off = Arm(ArmState.OFF, f"memory.qmd.searchMode is {settings.mode}")
    trouble = answer.vector_trouble or state.vector_trouble
    vector = Arm(ArmState.FAILED, trouble) if trouble else Arm(ArmState.OK)
    arms = {
        LEXICAL: off if settings.mode == "vsearch" else Arm(ArmState.OK),
        VECTOR: vector if settings.has_vectors else off,
    }
    if settings.mode == "query" and settings.reranks and not qmd.reranks:
        why = state.models.rerank.trouble if state.models else "qmd is starting"
        arms[RERANK] = Arm(ArmState.FAILED, f"there is no reranking model: {why}")
    return arms
