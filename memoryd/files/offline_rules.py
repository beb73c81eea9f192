"""One look at the workspace of an agent without a daemon: what it would list, and by which rules."""

import os
from pathlib import Path

from memoryd.config.agents import Agent
from memoryd.domain.media import MediaRules
from memoryd.files.ignore import IgnoreFile, IgnoreTimings
from memoryd.files.roots import workspace_roots
from memoryd.files.scan_rules import ScanRoot, ScanRules


def roots_and_rules(
    agent: Agent, *, max_file_bytes: int, media: MediaRules | None = None
) -> tuple[list[ScanRoot], ScanRules]:
    """Return where the agent's notes lie and what is left out now; nothing is remembered of earlier rules. Blocks."""
    search, workspace = agent.memory_search, Path(os.path.realpath(agent.workspace))
    now = IgnoreTimings(settle=0, grace=0)
    ruling = IgnoreFile(workspace, exclude=search.exclude, timings=now, follow_symlinks=search.follow_symlinks).look()
    return workspace_roots(workspace, search.extra_paths), ScanRules(
        workspace=workspace,
        is_ignored=ruling.is_ignored,
        hold=ruling.hold,
        excluded_folder=agent.index_path.parent,
        max_file_bytes=max_file_bytes,
        follow_symlinks=search.follow_symlinks,
        media=media,
    )
