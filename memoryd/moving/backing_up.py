"""Making a backup: ledgers are copied as they are at one moment, whoever writes; the rest as it lies there."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from memoryd import __version__
from memoryd.config.loading.masking import masked_text
from memoryd.errors import ConfigError, InvalidRequest, StoreUnavailable
from memoryd.moving.archive import BackupWriter, Told, scratch_folder, sized
from memoryd.moving.manifest import BackupManifest, BackupWorkspace
from memoryd.moving.members import CONFIG
from memoryd.moving.sources import BackupSource, BackupSources
from memoryd.store.ledger.file import LEDGER, copy_ledger


@dataclass(frozen=True, slots=True)
class BackupWishes:
    """What somebody wants in a backup beside the ledgers."""

    has_notes: bool = False
    has_secrets: bool = False


def write_backup(
    out: IO[bytes], sources: BackupSources, wishes: BackupWishes, *, state: Path, told: Told
) -> BackupManifest:
    """Write a backup and return its manifest; raises StoreError, and InvalidRequest where keys cannot be masked.

    Raises OSError where `out` cannot be written.
    """
    masked, config = 0, None
    with scratch_folder(state) as scratch, BackupWriter(out, told) as writer:
        for number, source in enumerate(sources.files):
            if source.name == CONFIG:
                config, masked = str(source.path), _add_config(writer, source, wishes)
            elif source.is_ledger:
                copy = scratch / f"{number}.sqlite"
                copy_ledger(source.path, copy)
                _add(writer, source.name, copy)
                copy.unlink()
            else:
                _add(writer, source.name, source.path)
        manifest = _manifest(writer, sources, wishes, state).model_copy(
            update={"config_path": config, "masked_keys": masked}
        )
        writer.finish(manifest)
    return manifest


def _manifest(writer: BackupWriter, sources: BackupSources, wishes: BackupWishes, state: Path) -> BackupManifest:
    return BackupManifest(
        program=__version__,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        ledger_version=LEDGER.version,
        state_folder=str(state),
        config_path=None,
        masked_keys=0,
        has_notes=wishes.has_notes,
        folders=tuple(map(str, sources.folders)),
        workspaces=tuple(BackupWorkspace(path=str(path), agents=agents) for path, agents in sources.workspaces),
        members=tuple(writer.members),
    )


def _add(writer: BackupWriter, name: str, path: Path) -> None:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        # a session that was forgotten or put away since it was listed
        return
    except OSError as exc:
        raise StoreUnavailable(f"{path} cannot be read: {exc.strerror}", hint="no backup was written") from exc
    with file:
        writer.add(name, file, sized(file))


def _add_config(writer: BackupWriter, source: BackupSource, wishes: BackupWishes) -> int:
    """Add the configuration, and return how many keys were taken out of it."""
    data, masked = source.path.read_bytes(), 0
    if not wishes.has_secrets:
        try:
            text, masked = masked_text(data.decode("utf-8-sig"))
        except (ValueError, ConfigError) as exc:
            raise InvalidRequest(
                f"the keys of {source.path} cannot be masked: {exc}", hint="give --with-secrets, or write them as usual"
            ) from exc
        data = text.encode()
    writer.add(source.name, io.BytesIO(data), len(data))
    return masked


def held(manifest: BackupManifest) -> Sequence[tuple[str, int]]:
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
