"""What a backup is made of: the configuration, every ledger with its key, conversations, and on demand the notes."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memoryd.config.agents import Agent
from memoryd.moving.members import CONFIG, FORGOTTEN, is_conversation_file, is_ledger, is_note_file, may_be_kept
from memoryd.store.ledger.file import is_ledger_name

KEY_SUFFIX = ".forgotten-key"


@dataclass(frozen=True, slots=True)
class BackupSource:
    """A file and its name in the backup."""

    name: str
    path: Path

    @property
    def is_ledger(self) -> bool:
        return is_ledger(self.name)


@dataclass(frozen=True, slots=True)
class BackupSources:
    """All files, the folders of ledgers outside of the state folder, and the workspaces (real path and agents)."""

    files: tuple[BackupSource, ...]
    folders: tuple[Path, ...]
    workspaces: tuple[tuple[Path, tuple[str, ...]], ...]


def backup_sources(
    agents: Sequence[Agent], *, state: Path, config: Path | None, only: str | None = None, has_notes: bool = False
) -> BackupSources:
    """Find what there is to be kept; `only` names one agent, and then nothing of workspaces that it has no part in.

    The ledgers of workspaces that are not configured any more are kept, too, unless one agent is named.
    """
    chosen = [agent for agent in agents if only in (None, agent.id)]
    workspaces: dict[Path, list[str]] = {}
    for agent in chosen:
        workspaces.setdefault(Path(os.path.realpath(agent.workspace)), []).append(agent.id)
    ledgers = {Path(os.path.realpath(agent.ledger_path.parent)) / agent.ledger_path.name for agent in chosen}
    below = Path(os.path.realpath(state / "workspaces"))
    if only is None:
        ledgers |= set(_ledgers_below(below))
    folders = sorted({one.parent for one in ledgers if one.parent.parent != below and one.is_file()})
    files = [BackupSource(CONFIG, config)] if config is not None else []
    for ledger in sorted(ledgers):
        files += _ledger_files(ledger, below, folders)
    for number, workspace in enumerate(sorted(workspaces)):
        files += [
            BackupSource(f"workspaces/{number}/{path}", workspace / path)
            for path in _files_of(workspace, has_notes=has_notes)
        ]
    return BackupSources(
        tuple(files), tuple(folders), tuple((one, tuple(workspaces[one])) for one in sorted(workspaces))
    )


def _ledgers_below(folder: Path) -> Iterator[Path]:
    for path in folder.glob("*/*"):
        if is_ledger_name(path.name) and path.is_file() and not path.is_symlink():
            yield path


def _ledger_files(ledger: Path, below: Path, folders: Sequence[Path]) -> Iterator[BackupSource]:
    is_below = ledger.parent.parent == below
    if not is_below and ledger.parent not in folders:
        return
    prefix = f"state/{ledger.parent.name}" if is_below else f"ledgers/{folders.index(ledger.parent)}"
    for path in (ledger, ledger.with_name(ledger.name + KEY_SUFFIX)):
        if path.is_file() and not path.is_symlink():
            yield BackupSource(f"{prefix}/{path.name}", path)


def _files_of(workspace: Path, *, has_notes: bool) -> Iterator[str]:
    """Yield what is to be kept of a workspace, with `/`; no link is followed."""
    if (workspace / FORGOTTEN).is_file() and not (workspace / ".memory").is_symlink():
        yield FORGOTTEN
    for path in _regular_below(workspace):
        if may_be_kept(path) and (is_conversation_file(path) or (has_notes and is_note_file(path))):
            yield path


def _regular_below(workspace: Path) -> Iterator[str]:
    if workspace.is_dir():
        yield from sorted(one.name for one in workspace.iterdir() if one.is_file() and not one.is_symlink())
    for top in ("memory", "bank"):
        # os.walk follows no link but the first
        for folder, inner, names in os.walk(workspace / top) if not (workspace / top).is_symlink() else ():
            inner.sort()
            for name in sorted(names):
                path = Path(folder) / name
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(workspace).as_posix()
