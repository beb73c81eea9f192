"""Making a backup: the configuration, every ledger with its key, conversations, and on demand the notes.

Ledgers are copied as they are at one moment, while others may write; the rest as it is on disk.
"""

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from msgspec import Struct

from memoryd import __version__
from memoryd.config.agents import Agent
from memoryd.config.loading.masking import masked_text
from memoryd.domain.memories.machines import MACHINES
from memoryd.errors import ConfigError, InvalidRequest, StoreUnavailable
from memoryd.moving.archive import (
    CONFIG,
    FORGOTTEN,
    GOLDEN,
    BackupManifest,
    BackupWorkspace,
    BackupWriter,
    ByteProgress,
    belongs_in_backup,
    is_conversation_file,
    is_ledger,
    is_note_file,
    scratch_folder,
)
from memoryd.store.ledger.file import LEDGER, copy_ledger, is_ledger_name

KEY_SUFFIX = ".forgotten-key"


class BackupSources(Struct, frozen=True):
    """All files by their names in the backup, folders of ledgers outside of the state folder, and the workspaces."""

    files: dict[str, Path]
    folders: tuple[str, ...]
    workspaces: tuple[BackupWorkspace, ...]


def backup_sources(
    agents: Sequence[Agent], *, state: Path, config: Path | None, only: str | None = None, has_notes: bool = False
) -> BackupSources:
    """Find what there is to be kept; `only` names one agent, and then nothing of workspaces that it has no part in.

    The ledgers of workspaces that are not configured any more are kept, too, unless one agent is named.
    """
    chosen = [agent for agent in agents if only in (None, agent.id)]
    owners = workspace_owners(chosen)
    ledgers = {Path(os.path.realpath(agent.ledger_path.parent)) / agent.ledger_path.name for agent in chosen}
    below = Path(os.path.realpath(state / "workspaces"))
    if only is None:
        ledgers.update(ledgers_below(below))
    folders = sorted({one.parent for one in ledgers if one.parent.parent != below and one.is_file()})
    files = {} if config is None else {CONFIG: config}
    for ledger in sorted(ledgers):
        files |= _ledger_files(ledger, below, folders)
    for number, workspace in enumerate(sorted(owners)):
        files |= {f"workspaces/{number}/{path}": workspace / path for path in _files_of(workspace, has_notes=has_notes)}
    workspaces = (BackupWorkspace(path=str(one), agents=tuple(owners[one])) for one in sorted(owners))
    return BackupSources(files, tuple(map(str, folders)), tuple(workspaces))


def workspace_owners(agents: Iterable[Agent]) -> dict[Path, list[str]]:
    """Return the agents of each workspace, by its real path."""
    owners: dict[Path, list[str]] = {}
    for agent in agents:
        owners.setdefault(Path(os.path.realpath(agent.workspace)), []).append(agent.id)
    return owners


def ledgers_below(folder: Path) -> Iterator[Path]:
    """Yield the ledgers in the folders of workspaces."""
    for path in folder.glob("*/*"):
        if is_ledger_name(path.name) and path.is_file() and not path.is_symlink():
            yield path


def _ledger_files(ledger: Path, below: Path, folders: Sequence[Path]) -> dict[str, Path]:
    is_below = ledger.parent.parent == below
    if not is_below and ledger.parent not in folders:
        return {}
    prefix = f"state/{ledger.parent.name}" if is_below else f"ledgers/{folders.index(ledger.parent)}"
    both = (ledger, ledger.with_name(ledger.name + KEY_SUFFIX))
    return {f"{prefix}/{path.name}": path for path in both if path.is_file() and not path.is_symlink()}


def _files_of(workspace: Path, *, has_notes: bool) -> Iterator[str]:
    """Yield the paths of a workspace that belong in a backup, with `/`; no link is followed."""
    for path in (FORGOTTEN, GOLDEN) if has_notes else (FORGOTTEN,):
        if (workspace / path).is_file() and not (workspace / path).parent.is_symlink():
            yield path
    machines = workspace / MACHINES
    if not machines.is_symlink() and not machines.parent.is_symlink():
        yield from (
            f"{MACHINES}/{one.name}"
            for one in sorted(machines.glob("*.jsonl"))
            if one.is_file() and not one.is_symlink()
        )
    for path in _regular_below(workspace):
        if belongs_in_backup(path) and (is_conversation_file(path) or (has_notes and is_note_file(path))):
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


def write_backup(
    out: IO[bytes], sources: BackupSources, *, state: Path, has_notes: bool, has_secrets: bool, report: ByteProgress
) -> BackupManifest:
    """Write a backup and return its manifest; raises StoreError, and InvalidRequest where keys cannot be masked.

    Raises OSError where `out` cannot be written.
    """
    masked, config = 0, sources.files.get(CONFIG)
    with scratch_folder(state) as scratch, BackupWriter(out, report) as writer:
        for name, path in sources.files.items():
            if name == CONFIG:
                masked = _add_config(writer, path, has_secrets=has_secrets)
            elif is_ledger(name):
                copy = scratch / "ledger.sqlite"
                copy_ledger(path, copy)
                _add(writer, name, copy)
                copy.unlink()
            else:
                _add(writer, name, path)
        manifest = BackupManifest(
            program=__version__,
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            ledger_version=LEDGER.version,
            state_folder=str(state),
            config_path=None if config is None else str(config),
            masked_keys=masked,
            has_notes=has_notes,
            folders=sources.folders,
            workspaces=sources.workspaces,
            members=tuple(writer.members),
        )
        writer.finish(manifest)
    return manifest


def _add(writer: BackupWriter, name: str, path: Path) -> None:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        # a session that was forgotten or put away since it was listed
        return
    except OSError as exc:
        raise StoreUnavailable(f"{path} cannot be read: {exc.strerror}", hint="no backup was written") from exc
    with file:
        writer.add(name, file, os.fstat(file.fileno()).st_size)


def _add_config(writer: BackupWriter, path: Path, *, has_secrets: bool) -> int:
    """Add the configuration, and return how many keys were taken out of it."""
    data, masked = path.read_bytes(), 0
    if not has_secrets:
        try:
            text, masked = masked_text(data.decode("utf-8-sig"))
        except (ValueError, ConfigError) as exc:
            raise InvalidRequest(
                f"the keys of {path} cannot be masked: {exc}", hint="give --with-secrets, or write them as usual"
            ) from exc
        data = text.encode()
    writer.add(CONFIG, io.BytesIO(data), len(data))
    return masked


def contents_of(manifest: BackupManifest) -> Sequence[tuple[str, int]]:
    """Return what a backup holds, in words and numbers."""
    names = [one.name for one in manifest.members]
    notes = sum(name.endswith((".md", ".memoryignore")) for name in names if name.startswith("workspaces/"))
    sessions = sum(name.startswith("workspaces/") and name.endswith(".json") for name in names)
    return [
        ("configuration", int(CONFIG in names)),
        ("ledger", sum(name.endswith("ledger.sqlite") for name in names if not name.startswith("workspaces/"))),
        ("conversation", sessions),
        ("note", notes),
    ]
