"""The qmd of one agent, built from the configuration: its collections, its models, and the fallback search."""

import asyncio
import contextlib
import os
from collections.abc import Callable, Sequence, Set
from pathlib import Path

import structlog
from msgspec import Struct
from msgspec.structs import replace

from memoryd.config.agents import Agent
from memoryd.config.paths import qmd_home, state_dir
from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.entries import ChunkSettings
from memoryd.domain.sessions.conversation_parts import export_name
from memoryd.files.ignore import IgnoreState, patterns_of
from memoryd.files.scanner import ScanRoot
from memoryd.qmd.collections import Collection, QmdCopies, collections_of, distinct, further_paths
from memoryd.qmd.engine import NAME, ChangedSince, ExportedSearch, QmdSearch, ResultFiles, exported_collection
from memoryd.qmd.index_writer import ModelLinks
from memoryd.qmd.maintenance import QmdInputs
from memoryd.qmd.program import QmdHome
from memoryd.qmd.sidecar import QmdSidecar, QmdState
from memoryd.search.combined import FallbackSearch
from memoryd.search.protocol import SearchBackend
from memoryd.sessions.transcripts.exports import SessionExports

log = structlog.get_logger(__name__)
FORGET_SECONDS = 20.0
"""How long a caller that forgets notes waits for qmd to clean its index; the rest is cleaned later."""
STILL_IN_INDEX = "qmd may hold it still in its index: {}"


class QmdDependencies(Struct, frozen=True):
    """What an agent's qmd needs from the rest of the workspace."""

    workspace: Path
    builtin: SearchBackend
    words: SearchBackend
    known: Callable[[], Set[RelativePath]]
    is_excluded: Callable[[str], bool]
    changed_since: ChangedSince
    ruling: Callable[[], IgnoreState]
    roots: Callable[[], Sequence[ScanRoot]]
    max_file_bytes: int
    exports: SessionExports


class AgentQmd:
    """The qmd sidecar of one agent, its files, and the search with fallback to the builtin index."""

    def __init__(self, agent: Agent, dependencies: QmdDependencies) -> None:
        self._agent = agent
        self._dependencies = dependencies
        self._exclude = patterns_of(dependencies.workspace, agent.memory_search.exclude)
        self._was_out = True
        config, home = agent.memory.qmd, QmdHome(qmd_home(agent.id))
        self._copies = QmdCopies(
            folder=home.notes,
            workspace=dependencies.workspace,
            apart=state_dir(),
            rule=self._ruling,
            max_bytes=dependencies.max_file_bytes,
            on_withdraw=self._on_withdraw,
        )
        self.qmd = QmdSidecar(
            home=home,
            settings=config,
            supplies=QmdInputs(
                collections=self._collections,
                models=ModelLinks(agent, home.models, os.environ).find,
                refresh_copies=self._refresh_copies,
            ),
            on_change=self._on_change,
            on_ready=self._on_ready,
        )
        self.files = ResultFiles(
            workspace=dependencies.workspace,
            collections=lambda: self.qmd.collections,
            known=dependencies.known,
            is_ignored=self._is_ignored,
            max_bytes=dependencies.max_file_bytes,
        )
        chunking = agent.memory_search.chunking
        chunks = ChunkSettings(chunking.tokens, chunking.overlap)
        self.conversations = ExportedSearch(
            agent=agent.id,
            qmd=self.qmd,
            exports=dependencies.exports,
            chunking=chunks,
            limits=config.limits,
        )
        """The search over exported transcripts."""
        self.search = FallbackSearch(
            first=QmdSearch(
                qmd=self.qmd,
                files=self.files,
                chunking=chunks,
                limits=config.limits,
                changed_paths_since=dependencies.changed_since,
            ),
            second=dependencies.builtin,
            recent=dependencies.words,
            name=NAME,
        )
        self.search.note(self.qmd.unavailable_because)

    @property
    def is_healthy(self) -> bool:
        """Whether qmd answers, as far as is known, or is making vectors and will answer then."""
        return self.qmd.state.is_embedding or (self.qmd.unavailable_because is None and self.search.fallback is None)

    @property
    def has_vectors(self) -> bool:
        """Whether qmd also searches by vectors."""
        return self.qmd.settings.has_vectors

    @property
    def why_behind(self) -> str:
        """Why qmd is behind the notes, as text for a person."""
        state = self.qmd.state
        return state.trouble or state.vector_trouble or "it does not follow the notes"

    def state(self) -> QmdState:
        """Return the current state of its parts."""
        qmd = self.qmd
        return QmdState(
            program=qmd.installation.program,
            search_mode=qmd.settings.search_mode,
            home=qmd.home.root,
            server=qmd.server.phase,
            pid=qmd.server.pid,
            restarts=qmd.server.restarts,
            is_failing=qmd.server.is_failing,
            # a copy: the maintenance loop keeps changing the original
            maintenance=replace(qmd.state),
            fallback=self.search.fallback,
            exported=None if self._dependencies.exports.folder is None else self._dependencies.exports.count,
            export_trouble=self._dependencies.exports.problem,
        )

    def note_change(self) -> None:
        """Report that notes changed: an update follows after the debounce."""
        self.qmd.maintenance.note_change()

    def demand(self) -> None:
        """Report that notes became private: an update follows at once."""
        self.qmd.maintenance.demand()

    async def drop_remains(self) -> str:
        """Remove deleted text from the index of qmd now; return why that is not done yet, empty if it is."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FORGET_SECONDS):
                if await self.qmd.maintenance.drop_remains():
                    return ""
        return STILL_IN_INDEX.format(self.qmd.state.trouble or "its index is being cleaned")

    async def follows_words(self) -> bool:
        """Wait until the current files can be found by words; return False if qmd is in trouble."""
        # the builtin index answers for files that qmd has not read yet, unless qmd has further paths
        return not further_paths(self._agent) or await self.qmd.maintenance.follow(embeds=False)

    async def follows_meaning(self) -> bool:
        """Wait until the current files can be found by meaning; return False if qmd cannot make vectors."""
        return await self.qmd.maintenance.follow(embeds=True)

    def _ruling(self) -> IgnoreState:
        """Return the rules of the workspace and of this agent."""
        ruling = self._dependencies.ruling()
        return replace(ruling, is_ignored=lambda path: ruling.is_ignored(path) or self._exclude.hides(path))

    def _is_ignored(self, path: str) -> bool:
        ruling = self._ruling()
        return ruling.hold is not None or ruling.is_ignored(path) or self._dependencies.is_excluded(path)

    def _on_change(self) -> None:
        # The maintenance knows the state of program and index; only queries learn of a failing server. So a success is
        # reported only after a failure: a query between two updates may have met a hanging server, and another good
        # update must not clear the outage that it noted. `_on_ready`, called by the server, may clear it.
        unavailable_because = self.qmd.unavailable_because
        if unavailable_because is not None or self._was_out:
            self.search.note(unavailable_because)
        self._was_out = unavailable_because is not None
        if unavailable_because is None:
            self.qmd.server.wake()

    def _on_ready(self) -> None:
        """Clear an outage that a query met: the server runs again."""
        # not if the maintenance has reported trouble: the server may run on an index that was lost since
        if self.qmd.unavailable_because is None:
            self.search.note(None)

    async def forget_transcript(self, transcript: str) -> bool:
        """Delete the export of a transcript, by its file name, and remove it from the index of qmd now.

        Returns whether qmd has removed it. If not, no answer contains it, and qmd removes it when it works again. The
        caller must withhold the transcript from now on, see `AgentTranscripts`. Raises OSError.
        """
        if self._dependencies.exports.folder is None:
            return True
        await asyncio.to_thread(self._dependencies.exports.withhold, transcript)
        return await self.qmd.maintenance.follow(embeds=False)

    def has_export(self, transcript: str) -> bool:
        """Return whether a transcript, given by its file name, is exported."""
        return self._dependencies.exports.transcript_of(export_name(transcript)) == transcript

    def remember_transcript(self, transcript: str) -> None:
        """Allow the export of a transcript again; it is exported when the transcripts are listed next."""
        self._dependencies.exports.release(transcript)

    def _refresh_copies(self, collections: Sequence[Collection]) -> bool:
        """Update the notes and conversations that qmd reads; return False if something changed during that."""
        is_complete = self._copies.refresh([collection for collection in collections if not collection.is_exported])
        return self._dependencies.exports.refresh(self._on_withdraw) and is_complete

    def _on_withdraw(self) -> None:
        self.qmd.home.note_clean(False)

    def _collections(self) -> tuple[Collection, ...]:
        notes = collections_of(self._agent, self._dependencies.workspace, self._dependencies.roots)
        # before qmd gets the folder: it would read any file in it
        self._dependencies.exports.check()
        return distinct((*notes, *exported_collection(self._agent.id, self._dependencies.exports)))


def delete_unused_homes(agents: Sequence[Agent]) -> None:
    """Delete the qmd data of agents that no longer use qmd: notes that become private would stay in it."""
    used = {qmd_home(agent.id) for agent in agents if agent.memory.backend == "qmd"}
    for folder in (state_dir() / "agents").glob("*/qmd"):
        home = QmdHome(folder)
        if folder not in used and (home.index_file.exists() or home.notes.exists()):
            try:
                home.remove_notes()
            except OSError as exc:
                log.warning("what qmd kept cannot be deleted", path=str(folder), reason=exc.strerror)
