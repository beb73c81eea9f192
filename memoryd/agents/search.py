"""Asking an agent's memory a question, its conversations too; reading lines of a document, and verifying a citation.

What a request leaves open is as the configuration says.
"""

import asyncio
import os
import shlex
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence, Set
from datetime import UTC, date, datetime, timedelta
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
from memoryd.domain.documents import RelativePath, is_conversation, is_document_name, parse
from memoryd.domain.media import LABELS, modality_of
from memoryd.domain.memories.book import Book, book_of, changed_book, verified
from memoryd.domain.memories.kinds import GLOBAL, TEAM, ShortId, Visibility, is_scope, is_team, short_id
from memoryd.domain.memories.recall_filters import WORKSPACE
from memoryd.domain.memories.sections import is_of_memories
from memoryd.domain.memories.visibility import hidden_generated_lines, hidden_lines
from memoryd.domain.ranking.filters import Filters, parse_instant
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.ranking.questions import parse_question
from memoryd.domain.text.standing import standing_of
from memoryd.embed.current import CurrentEmbedder
from memoryd.errors import InvalidRequest, MemorydError, NotFound, NotNow, StoreError
from memoryd.files.excerpts import (
    QMD_PREFIX,
    Excerpt,
    FileLocation,
    LineRange,
    Presence,
    hidden_by,
    indexed_name,
    location_of,
    read_lines,
    without,
)
from memoryd.files.reading import NotReadableError, TornReadError, read_snapshot, utf8_of
from memoryd.files.roots import workspace_roots
from memoryd.memory.book import MemoryCache
from memoryd.memory.journal import Journal
from memoryd.qmd.agent import AgentQmd
from memoryd.qmd.collections import further_paths
from memoryd.qmd.engine import ExportedSearch, JoinedConversations
from memoryd.replies.changes import VerifyReply
from memoryd.replies.search import FileReply
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


async def is_searchable(index: WorkspaceIndex, paths: Iterable[RelativePath]) -> bool:
    """Have notes that were written just now read at once, as for a question; return whether the index has them."""
    is_found = await index.holds(frozenset(paths), INDEXED_SECONDS)
    # what does not lie still, or is too large for a question to wait for it, comes with all that is worked off
    if not is_found and (index.indexer.has_rest or not await index.follow(INDEXED_SECONDS)):
        return False
    return not index.why_waiting and index.trouble is None


async def current_book(index: WorkspaceIndex, book: MemoryCache, seconds: float) -> Book:
    """Return what is said here once the index has what is on disk now, or after these seconds; raises StoreError.

    What the index holds still of files that are gone is left out: an undo may have taken the whole file back.
    """
    until = time.monotonic() + seconds
    is_lacking = await index.catch_up(seconds) and not index.indexer.has_rest
    if is_lacking and (left := until - time.monotonic()) > 0:
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


_TRIES = 3
NO_BYTES = "memoryd returns no bytes of pictures and sounds; open the file itself"


class AgentFiles(Struct, frozen=True, kw_only=True):
    """The documents of one agent; only what is indexed can be read, and nothing that is withdrawn."""

    agent: Agent
    index: WorkspaceIndex
    """The agent's path may lead elsewhere than its workspace by now, where other rules hold."""
    qmd: AgentQmd | None
    book: Callable[[], Awaitable[Book]]
    today: Callable[[], date]
    """The owner's day."""

    async def read(self, path: str, asked: LineRange, visibility: Visibility) -> FileReply:
        """Return lines of a document; raises InvalidRequest for a picture or sound, NotFound, NotNow.

        Lines that state memories beyond the reach of whoever asks are left empty, as are those that reflect wrote and
        that rest on such, or on what is gone.
        """
        if not path:
            raise InvalidRequest("the path is missing", hint="GET /v1/files/memory/2026-11-18.md")
        name, location = await self._find(path)
        told = (
            frozenset() if visibility.is_owner or not is_of_memories(name) else await self._visible_memories(visibility)
        )
        excerpt = await asyncio.to_thread(self._read, RelativePath(name), location, asked, visibility, told)
        lines = excerpt.lines
        return FileReply(
            {
                "path": name,
                "text": lines.text,
                "from": asked.first,
                "lines": lines.count,
                "column": asked.column,
                "totalLines": lines.total,
                "sha256": excerpt.sha256,
                "truncated": lines.next_first is not None or lines.next_column is not None,
                "nextFrom": lines.next_first,
                "nextColumn": lines.next_column,
                "flags": [one.value for one in (*excerpt.flags, *standing_of(excerpt.marks, self.today()))],
            }
        )

    async def _visible_memories(self, visibility: Visibility) -> frozenset[ShortId]:
        """Return the memories that may be told, as pages name them; none where the index does not say."""
        try:
            book = await self.book()
        except StoreError:
            return frozenset()
        every = book.memories.items()
        return frozenset(short_id(key) for key, memory in every if visibility.admits(memory.scope))

    def _read(
        self,
        name: RelativePath,
        location: FileLocation,
        asked: LineRange,
        visibility: Visibility,
        told: frozenset[ShortId],
    ) -> Excerpt:
        size, follows = self.index.rules.max_file_bytes, self.agent.memory_search.follow_symlinks
        for _ in range(_TRIES):
            excerpt = read_lines(location, asked, max_bytes=size, follow_symlinks=follows)
            self._check_rules(name)
            if visibility.is_owner or not is_of_memories(name):
                return excerpt
            try:
                content = read_snapshot(location.base, location.relative, max_bytes=size, follow_symlinks=follows)
            except (OSError, NotReadableError, TornReadError):
                continue
            if content.sha256.hex() == excerpt.sha256:
                data = utf8_of(content)[0]
                hidden = hidden_lines(data, name, visibility) | hidden_generated_lines(data, told.__contains__)
                return without(excerpt, asked, hidden)
        raise NotNow(f"{name!r} is being written", hint="ask again in a moment")

    def _check_rules(self, name: RelativePath) -> None:
        """Hold a document against the rules, which may have been saved since it was indexed; qmd's were looked at."""
        hidden = None if name.startswith(QMD_PREFIX) else hidden_by(self.index.rules.rules(), name)
        if hidden is not None and hidden.presence is Presence.STALE:
            raise NotNow(f"{name!r} cannot be read now: {hidden.reason}", hint="ask again in a moment")
        if hidden is not None:
            raise NotFound(f"no document {name!r} is indexed", hint="paths are relative to the workspace")

    async def _find(self, path: str) -> tuple[str, FileLocation]:
        name, rules = indexed_name(path, self.agent.workspace), self.index.rules
        modality = modality_of(name)
        is_document = modality is not None or is_document_name(name.rpartition("/")[2])
        is_included = is_document and name not in self.index.indexer.withdrawn
        if is_included and await self.index.database.documents.is_indexed(name):
            if modality is not None:
                kind = LABELS[modality].lower()
                raise InvalidRequest(f"{path!r} is an {kind}: it is found by search and has no lines", hint=NO_BYTES)
            # in a thread: the roots are globs, and a folder of them may hold very much or hang
            return name, await asyncio.to_thread(lambda: location_of(name, rules.workspace, rules.roots()))
        if path.startswith(QMD_PREFIX) and self.qmd is not None:
            found = await asyncio.to_thread(self.qmd.files.named, path)
            return path, found
        raise NotFound(f"no document {path!r} is indexed", hint="paths are relative to the workspace")


FOLLOW_SECONDS = 5.0


class AgentVerifying(Struct, frozen=True, kw_only=True):
    """Verifies citations of one agent's notes; of memories of others it knows nothing."""

    agent: Agent
    book: MemoryCache
    journal: Journal
    index: WorkspaceIndex

    async def verify(self, text: str, admitted: Admitted) -> VerifyReply:
        """Return what became of a citation; raises InvalidRequest for what is none, StoreError."""
        try:
            citation = parse(text)
        except ValueError as exc:
            raise InvalidRequest(str(exc)) from exc
        if is_conversation(citation.path) or citation.path.startswith(QMD_PREFIX):
            opens = "sessions show" if is_conversation(citation.path) else "get"
            hint = f"memoryctl {opens} {shlex.quote(text)} shows what is there now"
            raise InvalidRequest(f"{text} is of no note of the workspace, and only those are verified", hint=hint)
        if citation.start_line is None:
            raise InvalidRequest(f"{text} names no lines", hint="give a citation such as memory/2026-11-20.md#L12")
        # what was saved a moment ago counts: the citation is held against the disk
        await self.index.follow(FOLLOW_SECONDS)
        book = self._reaching(await self.book.now(), admitted)
        check = verified(book, citation, await self._count_lines(citation.path))
        memory = check.memory
        return VerifyReply(
            citation=text,
            state=check.state.value,
            now=None if check.now is None else str(check.now),
            id=None if memory is None else memory.id,
            content=None if memory is None else memory.text,
            supersededBy=[newer for newer, olds in book.superseded.items() if memory is not None and memory.id in olds],
            note=check.note or None,
        )

    def _reaching(self, book: Book, admitted: Admitted) -> Book:
        visibility = Visibility.of(self.agent.id, admitted)
        sources = [
            source
            for memory in book.memories.values()
            for source in memory.sources
            if visibility.admits(source.line.attributes.scope)
        ]
        return book_of(sources, book.pages.values())

    async def _count_lines(self, path: str) -> int | None:
        """Count the lines of a note as it stands; None if nothing may be told of it."""
        try:
            text = (await self.journal.read(RelativePath(path), is_shown=True)).text
        except MemorydError:
            return None
        return None if text is None else len(text.removesuffix("\n").split("\n"))
