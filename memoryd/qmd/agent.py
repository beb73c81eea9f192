"""One agent's qmd put together from the configuration: what it indexes, with which models, and who stands in for it."""

import os
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from memoryd.config.models import Agent
from memoryd.config.paths import qmd_home, state_dir
from memoryd.config.qmd import QmdPathSection, QmdSection
from memoryd.domain.documents import CORE_FILES, ROOT_FILES, ROOT_FOLDERS, RelativePath
from memoryd.domain.gitignore import Patterns
from memoryd.domain.media import modality_of
from memoryd.domain.text.entries import ChunkSettings
from memoryd.files.ignore import Ruling
from memoryd.files.scanner import ScanRoot
from memoryd.qmd.collections import Collection, distinct, escaped
from memoryd.qmd.copies import QmdCopies
from memoryd.qmd.engine import NAME, QmdLimits, QmdSearch, Sidecar
from memoryd.qmd.files import QmdFiles
from memoryd.qmd.home import QmdHome
from memoryd.qmd.models import QmdModelFiles
from memoryd.qmd.sidecar import Qmd, QmdSettings
from memoryd.qmd.upkeep import UpkeepTimes
from memoryd.search.backend import SearchBackend
from memoryd.search.fallback import ChangedSince, FallbackSearch

log = structlog.get_logger(__name__)

MARKDOWN = "**/*.{md,MD}"


@dataclass(frozen=True, slots=True)
class Standing:
    """What the rest of the workspace gives to an agent's qmd."""

    workspace: Path
    builtin: SearchBackend
    words: SearchBackend
    known: Callable[[], Set[RelativePath]]
    changed_since: ChangedSince
    ruling: Callable[[], Ruling]
    roots: Callable[[], Sequence[ScanRoot]]
    max_file_bytes: int


class AgentQmd:
    """The sidecar of one agent, its files, and the search that falls back to the builtin index."""

    def __init__(self, agent: Agent, standing: Standing) -> None:
        self._agent = agent
        self._standing = standing
        self._exclude = Patterns(agent.memory_search.exclude)
        self._was_out = True
        config, home = agent.memory.qmd, QmdHome(qmd_home(agent.id))
        self.qmd = Qmd(
            home=home,
            settings=_settings(config),
            models=QmdModelFiles(agent, home, os.environ).find,
            collections=self._collections,
            show=QmdCopies(
                folder=home.notes,
                workspace=standing.workspace,
                apart=state_dir(),
                rule=self._ruling,
                max_bytes=standing.max_file_bytes,
                on_withdraw=lambda: home.note_clean(False),
            ).refresh,
            on_change=self._on_change,
            on_ready=self._on_ready,
        )
        self.files = QmdFiles(
            workspace=standing.workspace,
            collections=lambda: self.qmd.collections,
            known=standing.known,
            is_ignored=self._is_ignored,
            max_bytes=standing.max_file_bytes,
        )
        chunking = agent.memory_search.chunking
        self.search = FallbackSearch(
            first=QmdSearch(
                qmd=self.qmd,
                files=self.files,
                chunks=ChunkSettings(chunking.tokens, chunking.overlap),
                limits=QmdLimits(config.limits.max_snippet_chars, config.limits.max_injected_chars),
            ),
            second=standing.builtin,
            recent=standing.words,
            name=NAME,
            changed_since=self._changed_since,
        )
        self.search.note(self.qmd.outage)

    @property
    def sidecar(self) -> Sidecar:
        """What the routes and status see of it."""
        return Sidecar(self.qmd, self.search, self.files, is_wider=bool(self._more_paths))

    @property
    def is_healthy(self) -> bool:
        """Whether it answers, as far as is known, or will when the vectors are made that it is busy with."""
        return self.qmd.upkeep.is_embedding or (self.qmd.outage is None and self.search.fallback is None)

    def _ruling(self) -> Ruling:
        """Return the rules of the workspace and of this agent."""
        ruling = self._standing.ruling()
        return replace(ruling, is_ignored=lambda path: ruling.is_ignored(path) or self._exclude.hides(path))

    def _is_ignored(self, path: str) -> bool:
        ruling = self._ruling()
        return ruling.hold is not None or ruling.is_ignored(path)

    def _on_change(self) -> None:
        outage = self.qmd.outage
        if outage is not None or self._was_out:
            self.search.note(outage)
        self._was_out = outage is not None
        if outage is None:
            self.qmd.server.wake()

    def _on_ready(self) -> None:
        """Take the news that the server runs (again): an outage that a question met is over."""
        if self.qmd.outage is None:
            self.search.note(None)

    def _changed_since(self, paths: Sequence[str], moment: float) -> set[str]:
        return {path for path in self._standing.changed_since(paths, moment) if self.files.covers(path)}

    def _collections(self) -> tuple[Collection, ...]:
        agent, workspace = self._agent, self._standing.workspace
        wanted: list[Collection] = []
        if agent.memory.qmd.include_default_memory:
            wanted += _default_collections(agent.id, workspace, self._standing.roots())
        return distinct((*wanted, *_configured(agent.id, workspace, self._more_paths)))

    @property
    def _more_paths(self) -> tuple[QmdPathSection, ...]:
        return (*self._agent.memory.qmd.paths, *self._agent.memory_search.qmd.extra_collections)


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


def _settings(config: QmdSection) -> QmdSettings:
    update = config.update
    delay = update.startup_delay_ms / 1000 if update.startup == "idle" else 0.0
    return QmdSettings(
        command=config.command,
        mode=config.search_mode,
        reranks=config.rerank is not False,
        waits_for_boot=update.wait_for_boot_sync,
        query=config.limits.timeout_ms / 1000,
        times=UpkeepTimes(
            interval=update.interval.total_seconds(),
            debounce=update.debounce_ms / 1000,
            boot_delay=delay if update.on_boot else None,
            embed_interval=update.embed_interval.total_seconds(),
            command=update.command_timeout_ms / 1000,
            update=update.update_timeout_ms / 1000,
            embed=update.embed_timeout_ms / 1000,
        ),
    )


def _default_collections(agent: str, workspace: Path, roots: Sequence[ScanRoot]) -> Iterator[Collection]:
    """Yield what the builtin index holds: the notes of the workspace as one collection, then the extra paths.

    One and not one for each folder: asked for several by name, qmd ranks each alone, and the best of a folder with
    nothing to say stands beside the best of all.
    """
    files = ",".join(name.removesuffix(".md") for name in dict.fromkeys((*CORE_FILES, *ROOT_FILES)))
    pattern = f"{{{files}}}.md,{{{','.join(ROOT_FOLDERS)}}}/{MARKDOWN}"
    yield Collection(f"memory-root-{agent}", str(workspace), pattern, is_default=True)
    extra = [root for root in roots if not root.is_optional and modality_of(root.path.name) is None]
    extra = [root for root in extra if str(root.path) != root.pattern]
    for number, root in enumerate(extra):
        yield _at(root.path, f"extra-{number}-{agent}", MARKDOWN, is_default=True)


def _configured(agent: str, workspace: Path, paths: Sequence[QmdPathSection]) -> Iterator[Collection]:
    for number, one in enumerate(paths):
        # by its real name, since the rules name the notes of the workspace by theirs
        path = Path(os.path.realpath(workspace / Path(one.path).expanduser()))
        yield _at(path, one.name or f"custom-{number}-{agent}", one.pattern, is_default=False)


def _at(path: Path, name: str, pattern: str, *, is_default: bool) -> Collection:
    if path.is_file():
        return Collection(name, str(path.parent), escaped(path.name), is_default)
    return Collection(name, str(path), pattern, is_default)
