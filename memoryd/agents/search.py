"""Asking an agent's memory a question, its conversations too, and waiting until what was written can be found.

What a request leaves open is as the configuration says.
"""

import asyncio
import os
import time
from collections.abc import Iterator, Sequence, Set
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.agents.workspace.settings import owners_time
from memoryd.config.agents import Agent
from memoryd.config.limits import check_question
from memoryd.config.paths import qmd_home, state_dir
from memoryd.domain.access import Admitted
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, changed_book
from memoryd.domain.memories.kinds import GLOBAL, TEAM, Visibility, is_scope, is_team
from memoryd.domain.memories.recall_filters import WORKSPACE
from memoryd.domain.ranking.filters import Filters, parse_instant
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.ranking.questions import parse_question
from memoryd.embed.current import CurrentEmbedder
from memoryd.errors import InvalidRequest
from memoryd.files.roots import workspace_roots
from memoryd.memory.book import MemoryCache
from memoryd.qmd.collections import further_paths
from memoryd.qmd.engine import ExportedSearch, JoinedConversations
from memoryd.search.answer import SearchAnswer, SearchService
from memoryd.search.combined import NOTHING_TO_ASK, ConversationArm
from memoryd.search.protocol import Arm, ArmState, Engine, Query
from memoryd.sessions.transcripts.exports import ExportSettings, SessionExports
from memoryd.sessions.transcripts.folders import AgentTranscripts

INDEXED_SECONDS = 5.0
"""How long a reply waits until what was written is found by its words."""


def check_scope(scope: str) -> None:
    """Raise InvalidRequest for what is no scope; empty is none, and all."""
    if scope not in ("", WORKSPACE) and not is_team(scope) and not is_scope(scope):
        hint = f"{WORKSPACE}, {GLOBAL}, {TEAM}, agent:ID or agent:ID:CHANNEL"
        raise InvalidRequest(f"{scope!r} is no scope", hint=hint)


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


NO_TRANSCRIPTS = (
    "transcripts are not read: set memorySearch.experimental.sessionMemory to true, "
    'with "sessions" in memorySearch.sources'
)
NOT_TAKEN_UP = "transcripts are exported for qmd, which has not taken them up yet"
STILL_READING = "conversations are still being read"
EXPORTS = "sessions"
RECORD = "exports.json"


def conversation_arm(
    conversations: AgentConversations,
    *,
    is_reading: bool,
    exports: ExportedSearch | None,
    weights: Weights,
) -> ConversationArm:
    """Return what answers from an agent's conversations; where none are kept, it says what to set.

    `is_reading`: transcripts are read for it.
    """
    index = conversations.search if conversations.is_wanted else None
    if exports is None:
        return ConversationArm(index, lambda seconds: _index_arm(conversations, seconds, is_reading=is_reading))
    joined = JoinedConversations(index=index, exports=exports, weights=weights)

    async def standing(seconds: float) -> Arm:
        arm = NOTHING_TO_ASK if index is None else await _index_arm(conversations, seconds, is_reading=is_reading)
        if arm.reason not in (NOTHING_TO_ASK.reason, NO_TRANSCRIPTS) or not exports.is_expected:
            return arm
        return Arm(ArmState.OK) if exports.is_wanted else Arm(ArmState.PARTIAL, NOT_TAKEN_UP)

    return ConversationArm(joined, standing)


async def _index_arm(conversations: AgentConversations, seconds: float, *, is_reading: bool) -> Arm:
    """Say what the index lacks after these seconds; one that cannot be read at all says so when it is asked."""
    is_current = await conversations.catch_up(seconds)
    if trouble := conversations.trouble:
        return Arm(ArmState.PARTIAL, trouble)
    if not is_current:
        return Arm(ArmState.PARTIAL, STILL_READING)
    if pending := conversations.embedding_loop.pending:
        reason = f"{pending} {'passage has' if pending == 1 else 'passages have'} no vector yet"
        return Arm(ArmState.PARTIAL, reason)
    return Arm(ArmState.OK, "" if is_reading else NO_TRANSCRIPTS)


def export_settings(agent: Agent, agents: Sequence[Agent]) -> ExportSettings:
    """Return what `memory.qmd.sessions` means for an agent; in a folder that is named each agent has its own."""
    wanted, home = agent.memory.qmd.sessions, qmd_home(agent.id)
    return ExportSettings(
        folder=Path(wanted.export_dir) / agent.id if wanted.export_dir else home / EXPORTS,
        record=home / RECORD,
        is_enabled=agent.exports_transcripts,
        retention_days=wanted.retention_days,
        refusal=lambda folder: _refusal(folder, agents),
    )


def remove_unused_exports(agents: Sequence[Agent]) -> None:
    """Delete what was exported for agents that no qmd answers any more; for the others its upkeep does so."""
    used = {qmd_home(agent.id) for agent in agents if agent.memory.backend == "qmd"}
    for home in set((state_dir() / "agents").glob("*/qmd")) - used:
        left = ExportSettings(home / EXPORTS, home / RECORD, is_enabled=False)
        SessionExports(left, AgentTranscripts).refresh(lambda: None)


def _refusal(folder: Path, agents: Sequence[Agent]) -> str:
    """Say why conversations must not lie in a folder: where notes are read, every agent of them would be told."""
    real, state = Path(os.path.realpath(folder)), Path(os.path.realpath(state_dir()))
    for agent in agents:
        if real.is_relative_to(os.path.realpath(agent.workspace)) and not real.is_relative_to(state):
            return f"transcripts are not exported to {folder}: it lies in the workspace of agent {agent.id}"
        if any(real.is_relative_to(place) for place in _read_places(agent)):
            return f"transcripts are not exported to {folder}: agent {agent.id} reads notes there"
    return ""


def _read_places(agent: Agent) -> Iterator[Path]:
    """Yield where notes are read beside the workspace."""
    workspace = Path(os.path.realpath(agent.workspace))
    for root in workspace_roots(workspace, agent.memory_search.extra_paths):
        if not root.is_optional:
            yield Path(os.path.realpath(root.path))
    for one in further_paths(agent):
        yield Path(os.path.realpath(workspace / Path(one.path).expanduser()))
