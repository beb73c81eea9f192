"""One agent's qmd put together from the configuration: what it indexes, with which models, and who stands in for it."""

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
from memoryd.files.ignore import Ruling, patterns_of
from memoryd.files.scanner import ScanRoot
from memoryd.qmd.collections import Collection, QmdCopies, collections_of, distinct, further_paths
from memoryd.qmd.engine import NAME, ChangedSince, ExportedSearch, Exports, QmdSearch, ResultFiles, exported_collection
from memoryd.qmd.index_writer import ModelLinks
from memoryd.qmd.maintenance import Supplies
from memoryd.qmd.program import QmdHome
from memoryd.qmd.sidecar import QmdSidecar, QmdState
from memoryd.search.combined import FallbackSearch
from memoryd.search.protocol import SearchBackend

log = structlog.get_logger(__name__)
FORGET_SECONDS = 20.0
"""So long whoever forgets waits for it; what is left goes later."""
STILL_IN_INDEX = "qmd may hold it still in its index: {}"


class Dependencies(Struct, frozen=True):
    """What the rest of the workspace gives to an agent's qmd."""

    workspace: Path
    builtin: SearchBackend
    words: SearchBackend
    known: Callable[[], Set[RelativePath]]
    is_excluded: Callable[[str], bool]
    changed_since: ChangedSince
    ruling: Callable[[], Ruling]
    roots: Callable[[], Sequence[ScanRoot]]
    max_file_bytes: int
    exports: Exports


class AgentQmd:
    """The sidecar of one agent, its files, and the search that falls back to the builtin index."""

    def __init__(self, agent: Agent, given: Dependencies) -> None:
        self._agent = agent
        self._given = given
        self._exclude = patterns_of(given.workspace, agent.memory_search.exclude)
        self._was_out = True
        config, home = agent.memory.qmd, QmdHome(qmd_home(agent.id))
        self._copies = QmdCopies(
            folder=home.notes,
            workspace=given.workspace,
            apart=state_dir(),
            rule=self._ruling,
            max_bytes=given.max_file_bytes,
            on_withdraw=self._on_withdraw,
        )
        self.qmd = QmdSidecar(
            home=home,
            settings=config,
            supplies=Supplies(
                collections=self._collections,
                models=ModelLinks(agent, home.models, os.environ).find,
                show=self._show,
            ),
            on_change=self._on_change,
            on_ready=self._on_ready,
        )
        self.files = ResultFiles(
            workspace=given.workspace,
            collections=lambda: self.qmd.collections,
            known=given.known,
            is_ignored=self._is_ignored,
            max_bytes=given.max_file_bytes,
        )
        chunking = agent.memory_search.chunking
        self.conversations = ExportedSearch(
            agent=agent.id,
            qmd=self.qmd,
            exports=given.exports,
            chunking=ChunkSettings(chunking.tokens, chunking.overlap),
            limits=config.limits,
        )
        """The search over exported transcripts."""
        self.search = FallbackSearch(
            first=QmdSearch(
                qmd=self.qmd,
                files=self.files,
                chunking=ChunkSettings(chunking.tokens, chunking.overlap),
                limits=config.limits,
                changed_paths_since=given.changed_since,
            ),
            second=given.builtin,
            recent=given.words,
            name=NAME,
        )
        self.search.note(self.qmd.unavailable_because)

    @property
    def is_healthy(self) -> bool:
        """Whether it answers, as far as is known, or will when the vectors are made that it is busy with."""
        return self.qmd.state.is_embedding or (self.qmd.unavailable_because is None and self.search.fallback is None)

    @property
    def has_vectors(self) -> bool:
        """Whether questions are asked by meaning too."""
        return self.qmd.settings.has_vectors

    @property
    def why_behind(self) -> str:
        """Why it does not follow the notes, in words for people."""
        state = self.qmd.state
        return state.trouble or state.vector_trouble or "it does not follow the notes"

    def state(self) -> QmdState:
        """Return what its parts say of themselves now."""
        qmd = self.qmd
        return QmdState(
            program=qmd.installation.program,
            search_mode=qmd.settings.search_mode,
            home=qmd.home.root,
            server=qmd.server.phase,
            pid=qmd.server.pid,
            restarts=qmd.server.restarts,
            is_given_up=qmd.server.is_given_up,
            # a copy: the upkeep goes on writing its own
            maintenance=replace(qmd.state),
            fallback=self.search.fallback,
            exported=None if self._given.exports.folder is None else self._given.exports.count,
            export_trouble=self._given.exports.problem,
        )

    def note_change(self) -> None:
        """Take the news that notes changed: an update follows, after the debounce."""
        self.qmd.maintenance.note_change()

    def demand(self) -> None:
        """Take the news that notes became private: an update follows at once."""
        self.qmd.maintenance.demand()

    async def drop_remains(self) -> str:
        """Have it forget at once what the notes do not say any more; return why it has not yet, empty if it has."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FORGET_SECONDS):
                if await self.qmd.maintenance.drop_remains():
                    return ""
        return STILL_IN_INDEX.format(self.qmd.state.trouble or "its index is being cleaned")

    async def follows_words(self) -> bool:
        """Wait until what is on disk now can be found by words; return False if qmd is in trouble."""
        # the builtin index answers for what qmd has not read yet, unless qmd indexes more than that
        return not further_paths(self._agent) or await self.qmd.maintenance.follow(embeds=False)

    async def follows_meaning(self) -> bool:
        """Wait until what is on disk now can be found by meaning; return False if qmd cannot make vectors."""
        return await self.qmd.maintenance.follow(embeds=True)

    def _ruling(self) -> Ruling:
        """Return the rules of the workspace and of this agent."""
        ruling = self._given.ruling()
        return replace(ruling, is_ignored=lambda path: ruling.is_ignored(path) or self._exclude.hides(path))

    def _is_ignored(self, path: str) -> bool:
        ruling = self._ruling()
        return ruling.hold is not None or ruling.is_ignored(path) or self._given.is_excluded(path)

    def _on_change(self) -> None:
        # The upkeep knows of program and index, questions alone of the server. So good news that is no news must not be
        # passed on: between two updates a question may have met a server that hangs, and an update that went well
        # again would clear what that question noted. The server's own news, `_on_ready`, may.
        unavailable_because = self.qmd.unavailable_because
        if unavailable_because is not None or self._was_out:
            self.search.note(unavailable_because)
        self._was_out = unavailable_because is not None
        if unavailable_because is None:
            self.qmd.server.wake()

    def _on_ready(self) -> None:
        """Take the news that the server runs (again): an outage that a question met is over."""
        # the other way round: a server may start over an index that was lost meanwhile, of which the upkeep has said so
        if self.qmd.unavailable_because is None:
            self.search.note(None)

    async def forget_transcript(self, transcript: str) -> bool:
        """Delete the export of a transcript, by the name of its file, and have qmd forget it at once.

        Return whether qmd has; if not it is told to nobody all the same, and qmd forgets it when it works again.
        Whoever calls sees to it that the transcript is withheld from now on: see `AgentTranscripts`. Raises OSError.
        """
        if self._given.exports.folder is None:
            return True
        await asyncio.to_thread(self._given.exports.withhold, transcript)
        return await self.qmd.maintenance.follow(embeds=False)

    def has_export(self, transcript: str) -> bool:
        """Tell whether there is an export of a transcript, by the name of its file."""
        return self._given.exports.transcript_of(export_name(transcript)) == transcript

    def remember_transcript(self, transcript: str) -> None:
        """Have a transcript be exported again, once whoever lists them tells of it."""
        self._given.exports.release(transcript)

    def _show(self, collections: Sequence[Collection]) -> bool:
        """Bring the notes and the conversations that qmd reads to what they are to be."""
        is_same = self._copies.refresh([one for one in collections if not one.is_exported])
        return self._given.exports.refresh(self._on_withdraw) and is_same

    def _on_withdraw(self) -> None:
        self.qmd.home.note_clean(False)

    def _collections(self) -> tuple[Collection, ...]:
        notes = collections_of(self._agent, self._given.workspace, self._given.roots)
        # before qmd is told of the folder: it would read whatever lies there
        self._given.exports.check()
        return distinct((*notes, *exported_collection(self._agent.id, self._given.exports)))


def forget_unused(agents: Sequence[Agent]) -> None:
    """Delete what qmd keeps for agents that it answers no more: nobody would take from it what becomes private."""
    used = {qmd_home(agent.id) for agent in agents if agent.memory.backend == "qmd"}
    for folder in (state_dir() / "agents").glob("*/qmd"):
        home = QmdHome(folder)
        if folder not in used and (home.index_file.exists() or home.notes.exists()):
            try:
                home.remove_notes()
            except OSError as exc:
                log.warning("what qmd kept cannot be deleted", path=str(folder), reason=exc.strerror)
