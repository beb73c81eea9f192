"""Searching an agent's memory and conversations, reading lines of a document, and verifying a citation.

What a request leaves open is taken from the configuration.
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
from memoryd.domain.memories.book import Book, book_of, changed_book, check_citation
from memoryd.domain.memories.kinds import GLOBAL, TEAM, ShortId, Visibility, is_scope, is_team, short_id
from memoryd.domain.memories.recall_filters import WORKSPACE
from memoryd.domain.memories.sections import is_of_memories
from memoryd.domain.memories.visibility import hidden_generated_lines, hidden_lines
from memoryd.domain.ranking.filters import Filters, parse_instant
from memoryd.domain.ranking.fusion import Weights
from memoryd.domain.ranking.questions import parse_question
from memoryd.domain.text.note_status import current_flags
from memoryd.embed.current import CurrentEmbedder
from memoryd.errors import InvalidRequest, MemorydError, NotFound, NotNow, StoreError
from memoryd.files.excerpts import (
    QMD_PREFIX,
    DiskState,
    Excerpt,
    FileLocation,
    LineRange,
    hide_lines,
    indexed_name,
    location_of,
    read_lines,
    rule_state,
)
from memoryd.files.reading import NotReadableError, TornReadError, read_snapshot, utf8_of
from memoryd.files.roots import workspace_roots
from memoryd.memory.book import MemoryCache
from memoryd.memory.journal import Journal
from memoryd.qmd.agent import AgentQmd
from memoryd.qmd.collections import further_paths
from memoryd.qmd.engine import ExportedSearch, MergedConversations
from memoryd.replies.changes import VerifyReply
from memoryd.replies.search import FileReply
from memoryd.search.answer import SearchAnswer, SearchService
from memoryd.search.combined import NOT_INDEXED, ConversationArm
from memoryd.search.protocol import Arm, ArmState, Engine, Query
from memoryd.sessions.transcripts.exports import ExportSettings, SessionExports
from memoryd.sessions.transcripts.folders import AgentTranscripts

INDEXED_SECONDS = 5.0
"""Seconds that a reply waits until what was written can be found by its words."""


def check_scope(scope: str) -> None:
    """Raise InvalidRequest if `scope` is not a scope; an empty text means all scopes."""
    if scope not in ("", WORKSPACE) and not is_team(scope) and not is_scope(scope):
        hint = f"{WORKSPACE}, {GLOBAL}, {TEAM}, agent:ID or agent:ID:CHANNEL"
        raise InvalidRequest(f"{scope!r} is no scope", hint=hint)


class SearchOptions(Struct, frozen=True, kw_only=True):
    """The options of a search. None, or empty `sources`, means the configured value; other empty values do not filter.

    `since` and `until` are dates as a person writes them, read in the time zone of the owner of the notes.
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
        """Answer a question, with or without citations as configured for the kind of chat. Raises InvalidRequest."""
        has_citations = self.agent.memory.citation_mode.cites(is_direct=admitted.is_direct)
        visibility = Visibility.of(self.agent.id, admitted)
        answer = await self.service.answer(self._query(text, options, visibility), has_citations=has_citations)
        # after the answer, which names its engine: an embedder that arrived during the search is named though it was
        # not used
        provider, model = self._provider(answer.result.engine)
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
            parsed=question,
            now=now,
            is_explained=options.is_explained,
            visibility=visibility,
        )

    def _provider(self, engine: Engine) -> tuple[str, str | None]:
        """Return the provider and the model that embed questions for the engine that answered."""
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


async def make_searchable(index: WorkspaceIndex, paths: Iterable[RelativePath]) -> bool:
    """Index notes that were written just now, as a question would; return whether the index has them."""
    is_indexed = await index.wait_until_indexed(frozenset(paths), INDEXED_SECONDS)
    # a file that is still changing, or is too large for a question to wait for, is indexed when all work is done
    if not is_indexed and (index.indexer.has_rest or not await index.follow(INDEXED_SECONDS)):
        return False
    return not index.why_waiting and index.trouble is None


async def current_book(index: WorkspaceIndex, book: MemoryCache, seconds: float) -> Book:
    """Return the agent's own memories once the index matches the disk, or after `seconds`. Raises StoreError.

    Memories of deleted files that are still indexed are left out: an undo may have removed the complete file.
    """
    until = time.monotonic() + seconds
    is_lacking = await index.catch_up(seconds) and not index.indexer.has_rest
    if is_lacking and (remaining := until - time.monotonic()) > 0:
        # the note just written may be one that questions do not wait for
        await index.follow(remaining)
    own, deleted = (await book.current()).own, index.indexer.missing
    return await asyncio.to_thread(_without_files, own, deleted) if deleted else own


def _without_files(book: Book, deleted: Set[RelativePath]) -> Book:
    stale = [source for memory in book.memories.values() for source in memory.sources if source.path in deleted]
    return changed_book(book, stale, (), book.pages.values()) if stale else book


NO_TRANSCRIPTS = (
    "transcripts are not read: set memorySearch.experimental.sessionMemory to true, "
    'with "sessions" in memorySearch.sources'
)
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
    """Return the search in an agent's conversations. If none are stored, its answers say what to configure.

    `is_reading`: transcripts are read into the index.
    """
    index = conversations.search if conversations.is_wanted else None
    if exports is None:
        return ConversationArm(index, lambda seconds: _index_arm(conversations, seconds, is_reading=is_reading))
    joined = MergedConversations(index=index, exports=exports, weights=weights)

    async def state(seconds: float) -> Arm:
        arm = NOT_INDEXED if index is None else await _index_arm(conversations, seconds, is_reading=is_reading)
        if arm.reason not in (NOT_INDEXED.reason, NO_TRANSCRIPTS) or not exports.is_expected:
            return arm
        if exports.has_collection:
            return Arm(ArmState.OK)
        return Arm(ArmState.PARTIAL, "transcripts are exported for qmd, which has not taken them up yet")

    return ConversationArm(joined, state)


async def _index_arm(conversations: AgentConversations, seconds: float, *, is_reading: bool) -> Arm:
    """Return what the index lacks after `seconds`. An unreadable index reports its error when it is searched."""
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
    """Return what `memory.qmd.sessions` means for an agent.

    In a configured folder each agent has a folder of its own.
    """
    section, home = agent.memory.qmd.sessions, qmd_home(agent.id)
    return ExportSettings(
        folder=Path(section.export_dir) / agent.id if section.export_dir else home / EXPORTS,
        record=home / RECORD,
        is_enabled=agent.exports_transcripts,
        retention_days=section.retention_days,
        refusal=lambda folder: _why_not_exported(folder, agents),
    )


def remove_unused_exports(agents: Sequence[Agent]) -> None:
    """Delete the exports of agents that no longer use qmd.

    Exports of the other agents are maintained with their qmd.
    """
    used = {qmd_home(agent.id) for agent in agents if agent.memory.backend == "qmd"}
    for home in set((state_dir() / "agents").glob("*/qmd")) - used:
        remaining = ExportSettings(home / EXPORTS, home / RECORD, is_enabled=False)
        SessionExports(remaining, AgentTranscripts).refresh(lambda: None)


def _why_not_exported(folder: Path, agents: Sequence[Agent]) -> str:
    """Return why a folder must not hold exports: in a folder of notes, every agent that reads it would see them."""
    real, state = Path(os.path.realpath(folder)), Path(os.path.realpath(state_dir()))
    for agent in agents:
        if real.is_relative_to(os.path.realpath(agent.workspace)) and not real.is_relative_to(state):
            return f"transcripts are not exported to {folder}: it lies in the workspace of agent {agent.id}"
        if any(real.is_relative_to(place) for place in _read_places(agent)):
            return f"transcripts are not exported to {folder}: agent {agent.id} reads notes there"
    return ""


def _read_places(agent: Agent) -> Iterator[Path]:
    """Yield the folders outside the workspace where notes are read."""
    workspace = Path(os.path.realpath(agent.workspace))
    for root in workspace_roots(workspace, agent.memory_search.extra_paths):
        if not root.is_optional:
            yield Path(os.path.realpath(root.path))
    for collection in further_paths(agent):
        yield Path(os.path.realpath(workspace / Path(collection.path).expanduser()))


_TRIES = 3
NO_BYTES = "memoryd returns no bytes of pictures and sounds; open the file itself"


class AgentFiles(Struct, frozen=True, kw_only=True):
    """The documents of one agent. Only indexed documents can be read, and none that is withdrawn."""

    agent: Agent
    index: WorkspaceIndex
    """The agent's path may since lead to another folder than its workspace, with other rules."""
    qmd: AgentQmd | None
    book: Callable[[], Awaitable[Book]]
    today: Callable[[], date]
    """Returns the current date in the owner's time zone."""

    async def read(self, path: str, requested: LineRange, visibility: Visibility) -> FileReply:
        """Return lines of a document. Raises InvalidRequest for a picture or sound, NotFound, NotNow.

        Lines with memories that are not visible to the client are left empty. So are lines written by reflect that rest
        on such memories, or on deleted ones.
        """
        if not path:
            raise InvalidRequest("the path is missing", hint="GET /v1/files/memory/2026-11-18.md")
        name, location = await self._find(path)
        is_unfiltered = visibility.is_owner or not is_of_memories(name)
        visible = None if is_unfiltered else await self._visible_memories(visibility)
        excerpt = await asyncio.to_thread(self._read, RelativePath(name), location, requested, visibility, visible)
        lines = excerpt.lines
        return FileReply(
            {
                "path": name,
                "text": lines.text,
                "from": requested.first,
                "lines": lines.count,
                "column": requested.column,
                "totalLines": lines.total,
                "sha256": excerpt.sha256,
                "truncated": lines.next_first is not None or lines.next_column is not None,
                "nextFrom": lines.next_first,
                "nextColumn": lines.next_column,
                "flags": [flag.value for flag in (*excerpt.flags, *current_flags(excerpt.marks, self.today()))],
            }
        )

    async def _visible_memories(self, visibility: Visibility) -> frozenset[ShortId]:
        """Return the short ids of the visible memories, as pages name them; none if the index cannot be read."""
        try:
            book = await self.book()
        except StoreError:
            return frozenset()
        memories = book.memories.items()
        return frozenset(short_id(key) for key, memory in memories if visibility.admits(memory.scope))

    def _read(
        self,
        name: RelativePath,
        location: FileLocation,
        requested: LineRange,
        visibility: Visibility,
        visible: frozenset[ShortId] | None,
    ) -> Excerpt:
        """Return the lines; unless `visible` is None, without the lines that state other memories."""
        size, follows = self.index.rules.max_file_bytes, self.agent.memory_search.follow_symlinks
        for _ in range(_TRIES):
            excerpt = read_lines(location, requested, max_bytes=size, follow_symlinks=follows)
            self._check_rules(name)
            if visible is None:
                return excerpt
            try:
                content = read_snapshot(location.base, location.relative, max_bytes=size, follow_symlinks=follows)
            except (OSError, NotReadableError, TornReadError):
                continue
            if content.sha256.hex() == excerpt.sha256:
                data = utf8_of(content)[0]
                hidden = hidden_lines(data, name, visibility) | hidden_generated_lines(data, visible.__contains__)
                return hide_lines(excerpt, requested, hidden)
        raise NotNow(f"{name!r} is being written", hint="ask again in a moment")

    def _check_rules(self, name: RelativePath) -> None:
        """Check a document against the rules, which may have changed since it was indexed.

        The documents of qmd are checked by qmd.
        """
        hidden = None if name.startswith(QMD_PREFIX) else rule_state(self.index.rules.rules(), name)
        if hidden is not None and hidden.presence is DiskState.STALE:
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
            # in a thread: the roots are globs, and one of their folders may be huge or unresponsive
            return name, await asyncio.to_thread(lambda: location_of(name, rules.workspace, rules.roots()))
        if path.startswith(QMD_PREFIX) and self.qmd is not None:
            return path, await asyncio.to_thread(self.qmd.files.named, path)
        raise NotFound(f"no document {path!r} is indexed", hint="paths are relative to the workspace")


FOLLOW_SECONDS = 5.0


class AgentVerifying(Struct, frozen=True, kw_only=True):
    """Verifies citations of one agent's notes; it does not know the memories of other agents."""

    agent: Agent
    book: MemoryCache
    journal: Journal
    index: WorkspaceIndex

    async def verify(self, text: str, admitted: Admitted) -> VerifyReply:
        """Return what became of the cited memory. Raises StoreError, and InvalidRequest if `text` is not a citation."""
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
        # files saved a moment ago count: the citation is checked against the disk
        await self.index.follow(FOLLOW_SECONDS)
        book = self._visible_book(await self.book.current(), admitted)
        check = check_citation(book, citation, await self._count_lines(citation.path))
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

    def _visible_book(self, book: Book, admitted: Admitted) -> Book:
        visibility = Visibility.of(self.agent.id, admitted)
        sources = [
            source
            for memory in book.memories.values()
            for source in memory.sources
            if visibility.admits(source.line.attributes.scope)
        ]
        return book_of(sources, book.pages.values())

    async def _count_lines(self, path: str) -> int | None:
        """Return the current number of lines of a note, or None if it cannot be read or shown."""
        try:
            text = (await self.journal.read(RelativePath(path), is_shown=True)).text
        except MemorydError:
            return None
        return None if text is None else len(text.removesuffix("\n").split("\n"))
