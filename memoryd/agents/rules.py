"""Where the notes of one workspace lie, and what of them may be read."""

import os
from collections.abc import Iterable
from pathlib import Path

from memoryd.config.agents import Agent
from memoryd.domain.media import MediaRules
from memoryd.files.ignore import IgnoreFile, IgnoreTimings, RealPaths, Ruling, joined, related
from memoryd.files.roots import workspace_roots
from memoryd.files.scanner import ScanRoot, ScanRules


class WorkspaceRules:
    """The folders of one workspace and its rules of privacy, as they are on disk at the moment of each question."""

    def __init__(self, agent: Agent, *, media: MediaRules | None, max_file_bytes: int) -> None:
        settings, index = agent.memory_search, agent.index_path
        self.workspace = Path(os.path.realpath(agent.workspace))
        self.max_file_bytes = max_file_bytes
        self._settings = settings
        self._media = media
        self._index_folder = index.parent
        self._timings = IgnoreTimings(settle=settings.sync.settle_ms / 1000, grace=settings.sync.delete_grace_ms / 1000)
        self._ignore = IgnoreFile(
            self.workspace,
            exclude=settings.exclude,
            memory=index.with_name(f"{index.name}-ignore"),
            timings=self._timings,
            follow_symlinks=settings.follow_symlinks,
        )
        self._neighbours: list[tuple[Path, IgnoreFile]] = []

    def heed(self, others: Iterable["WorkspaceRules"]) -> None:
        """Keep the ignore files of other workspaces, too, for what is listed of their folders."""
        paths = {other.workspace for other in others} - {self.workspace}
        self._neighbours = [(path, IgnoreFile(path, timings=self._timings)) for path in sorted(paths)]

    def roots(self) -> list[ScanRoot]:
        """Return where to look. Blocks: the extra paths may be globs."""
        return workspace_roots(self.workspace, self._settings.extra_paths)

    def ruling(self) -> Ruling:
        """Return what is private now. Blocks: reads the ignore files."""
        own = self._ignore.look()
        if not self._neighbours:
            return own
        near = related((path for path, _ in self._neighbours), (root.path for root in self.roots()))
        others = [(path, file.look()) for path, file in self._neighbours if path in near]
        return joined(own, RealPaths(self.workspace, follow_symlinks=self._settings.follow_symlinks), others)

    def look(self) -> tuple[list[ScanRoot], ScanRules]:
        """Return where to look and by which rules, for one scan. Blocks."""
        rules = self.rules()
        return self.roots(), rules

    def rules(self) -> ScanRules:
        """Return by which rules to look. Blocks: reads the ignore files."""
        ruling = self.ruling()
        return ScanRules(
            workspace=self.workspace,
            is_ignored=ruling.is_ignored,
            has_patterns=ruling.has_rules,
            hold=ruling.hold,
            notice=ruling.notice,
            may_hide=ruling.may_hide,
            is_current=ruling.is_current,
            excluded_folder=self._index_folder,
            max_file_bytes=self.max_file_bytes,
            follow_symlinks=self._settings.follow_symlinks,
            media=self._media,
        )
