"""Asking an agent's memory a question, and waiting until what was written can be found.

What a request leaves open is as the configuration says.
"""

import asyncio
import time
from collections.abc import Set
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.agents.workspace.settings import owners_time
from memoryd.config.agents import Agent
from memoryd.config.limits import check_question
from memoryd.domain.access import Admitted
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, changed_book
from memoryd.domain.memories.scopes import Visibility
from memoryd.domain.ranking.filters import Filters, parse_instant
from memoryd.domain.ranking.questions import parse_question
from memoryd.embed.current import CurrentEmbedder
from memoryd.errors import InvalidRequest
from memoryd.memory.book import MemoryCache
from memoryd.search.answer import SearchAnswer, SearchService
from memoryd.search.protocol import Engine, Query

INDEXED_SECONDS: Final = 5.0
"""How long a reply waits until what was written is found by its words."""


class SearchOptions(Struct, frozen=True, kw_only=True):
    """How to ask; None is as the configuration says, as are `sources` if there are none. Else empty is no filter.

    `since` and `until` are dates as somebody writes them, read in the time zone of the owner of the notes.
    """

    max_results: int | None = None
    min_score: float | None = None
    deadline: timedelta | None = None
    sources: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    is_explained: bool = False


class AgentSearch(Struct, frozen=True, kw_only=True):
    """The search of one agent."""

    agent: Agent
    service: SearchService
    slot: CurrentEmbedder

    async def answer(self, text: str, options: SearchOptions, admitted: Admitted) -> SearchAnswer:
        """Answer, citing as it is done in a direct chat or another; raises InvalidRequest."""
        has_citations = self.agent.memory.citation_mode.cites(is_direct=admitted.is_direct)
        visibility = Visibility.of(self.agent.id, admitted)
        answer = await self.service.answer(self._query(text, options, visibility), has_citations=has_citations)
        # after the answer, which says by which engine: an embedder that came meanwhile is named though it was not asked
        provider, model = self._provider(answer.found.engine)
        return replace(answer, provider=provider, model=model)

    def _query(self, text: str, options: SearchOptions, visibility: Visibility) -> Query:
        settings, memory = self.agent.memory_search.query, self.agent.memory
        check_question(text)
        now = owners_time(memory).now()
        question = parse_question(text, _filters(options, now), now)
        if not question.filters.sources:
            default_filters = replace(question.filters, sources=self.agent.default_sources)
            question = replace(question, filters=default_filters)
        default = memory.qmd.limits.max_results if memory.backend == "qmd" else settings.max_results
        return Query(
            text=question.text,
            limit=default if options.max_results is None else options.max_results,
            min_score=settings.min_score if options.min_score is None else options.min_score,
            deadline=settings.deadline_ms / 1000 if options.deadline is None else options.deadline.total_seconds(),
            filters=question.filters,
            asked=question,
            now=now,
            is_explained=options.is_explained,
            visibility=visibility,
        )

    def _provider(self, engine: Engine) -> tuple[str, str | None]:
        """Return who embeds questions for the engine that answered, and with which model."""
        if engine.name != "builtin":
            return ("none" if engine.model is None else engine.name), engine.model
        embedder = self.slot.embedder
        return ("none", None) if embedder is None else (embedder.identity.provider, embedder.identity.model)


def _filters(options: SearchOptions, now: datetime) -> Filters:
    try:
        return Filters(
            sources=options.sources,
            paths=options.paths,
            since=parse_instant(options.since, now) if options.since else None,
            until=parse_instant(options.until, now, is_end=True) if options.until else None,
            zone=now.tzinfo or UTC,
        )
    except (ValueError, OverflowError) as exc:
        raise InvalidRequest(str(exc)) from exc


async def is_searchable(index: WorkspaceIndex) -> bool:
    """Have what is on disk read at once, as for a question; return whether the index has it."""
    is_lacking = await index.indexer.catch_up(INDEXED_SECONDS, is_watched=False)
    # something is lacking, perhaps another note: wait until all is worked off
    if is_lacking and not await index.follow(INDEXED_SECONDS):
        return False
    return not index.why_waiting and index.trouble is None


async def current_book(index: WorkspaceIndex, book: MemoryCache, seconds: float) -> Book:
    """Return what is said here once the index has what is on disk now, or after these seconds; raises StoreError.

    What the index holds still of files that are gone is left out: an undo may have taken the whole file back.
    """
    until = time.monotonic() + seconds
    if await index.catch_up(seconds) and (left := until - time.monotonic()) > 0:
        # a note that no question waits for may be the one that was written
        await index.follow(left)
    whole, gone = (await book.now()).own, index.indexer.gone
    return await asyncio.to_thread(_without_files, whole, gone) if gone else whole


def _without_files(book: Book, gone: Set[RelativePath]) -> Book:
    stale = [source for memory in book.memories.values() for source in memory.sources if source.path in gone]
    return changed_book(book, stale, (), book.pages.values()) if stale else book
