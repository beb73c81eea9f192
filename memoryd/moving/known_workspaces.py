"""The workspaces that memoryd knows of: those that are configured, and those that something is kept of."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memoryd.config.agents import Agent
from memoryd.config.paths import state_dir_named
from memoryd.errors import StoreError
from memoryd.store.ledger.file import is_ledger_name, rows_of


@dataclass(frozen=True, slots=True)
class KnownWorkspace:
    """A workspace (real path), whose it is, whether there is such a folder, and how much is kept of it."""

    path: Path
    agents: tuple[str, ...]
    is_there: bool
    state: Path
    bytes: int
    leads_to: Path | None = None
    """Where a link leads that stands in its place by now."""

    def row(self) -> dict[str, object]:
        """Return it as a program reads it."""
        return {
            "path": str(self.path),
            "agents": list(self.agents),
            "isThere": self.is_there,
            "state": str(self.state),
            "bytes": self.bytes,
            "leadsTo": str(self.leads_to) if self.leads_to else None,
        }


def known_workspaces(agents: Sequence[Agent], state: Path) -> list[KnownWorkspace]:
    """Find them, by path; works while memoryd runs. What only an index is kept of has no name, and is left out."""
    found: dict[Path, list[str]] = {}
    for agent in agents:
        found.setdefault(Path(os.path.realpath(agent.workspace)), []).append(agent.id)
    for ledger in (state / "workspaces").glob("*/*"):
        if is_ledger_name(ledger.name) and ledger.is_file():
            with contextlib.suppress(StoreError, OSError):
                for path in rows_of(ledger):
                    found.setdefault(Path(path), [])
    return [_known(path, tuple(found[path])) for path in sorted(found)]


def _known(path: Path, agents: tuple[str, ...]) -> KnownWorkspace:
    state, real = state_dir_named(path), Path(os.path.realpath(path))
    kept = sum(one.stat().st_size for one in state.rglob("*") if one.is_file()) if state.is_dir() else 0
    return KnownWorkspace(path, agents, path.is_dir(), state, kept, None if real == path else real)
