"""Bringing a backup back: all of it is verified beside what is there, and only then takes its place.

What was forgotten since the backup was made stays forgotten: the ledgers that come back are told of it.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from memoryd.config.loading.load import loaded_of
from memoryd.config.loading.masking import unmasked_text
from memoryd.config.loading.raw import ConfigText, Raw, parse
from memoryd.errors import ConfigError, ForeignDatabase, InvalidRequest
from memoryd.moving.archive import OpenBackup, Told
from memoryd.moving.manifest import BackupMember
from memoryd.moving.marks_carried import is_same_file, join_forgotten, settle_ledger
from memoryd.moving.members import (
    CONFIG,
    FORGOTTEN,
    MAIN_FILE,
    BackupPlaces,
    is_conversation_file,
    is_ledger,
    is_note_file,
    place_of,
)
from memoryd.moving.replacing import Replacement
from memoryd.store.ledger.file import figures

_NAME_BYTES_MAX: Final = 255


@dataclass(frozen=True, slots=True)
class RestoreWishes:
    """What of a backup is to come back."""

    keeps_config: bool = False
    """Leave the configuration that is there."""


@dataclass(slots=True)
class Restored:
    """What is to change, and what somebody should know of it."""

    replaced: list[Path] = field(default_factory=list)
    added: list[Path] = field(default_factory=list)
    same: int = 0
    carried: int = 0
    """Things forgotten since the backup, which stay so."""
    missing_keys: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def staged(
    backup: OpenBackup, places: BackupPlaces, replacement: Replacement, wishes: RestoreWishes, told: Told
) -> Restored:
    """Verify all members, and lay those that differ from what is there into the replacement.

    Raises InvalidRequest for a damaged or hostile backup, ForeignDatabase for a newer ledger, StoreError.
    """
    result, done, seen = Restored(), 0, set[str]()
    for member in backup.manifest.members:
        target = place_of(member.name, places)
        if target is None:
            raise InvalidRequest(f"{backup.file.name} has a member of no known name: {member.name[:80]!r}")
        if (real := os.path.realpath(target)) in seen:
            raise InvalidRequest(f"{backup.file.name} has two members for {target}", hint="nothing was changed")
        seen.add(real)
        _stage(backup, member, _checked(member, target, places), replacement)
        done += member.bytes
        told(member.name, done)
        if member.name == CONFIG:
            _fill_keys(replacement, target, wishes, result)
    _settle(backup, places, replacement, wishes, result)
    replacement.require_places()
    return result


def _stage(backup: OpenBackup, member: BackupMember, target: Path, replacement: Replacement) -> None:
    with replacement.put(target) as file:
        backup.copy(member, file)
    if is_ledger(member.name):
        figures(replacement.staged(target))


def _checked(member: BackupMember, target: Path, places: BackupPlaces) -> Path:
    """Return the place; raises InvalidRequest where a link leads out of the workspace, or something else is there."""
    if any(len(os.fsencode(part)) > _NAME_BYTES_MAX for part in target.parts):
        raise InvalidRequest(f"a name is too long: {target.name[:80]!r}…", hint="nothing was changed")
    try:
        os.lstat(target)
        is_folder = target.is_dir()
    except (FileNotFoundError, NotADirectoryError):
        is_folder = False
    except OSError as exc:
        raise InvalidRequest(f"nothing can stand at {target}: {exc.strerror}", hint="nothing was changed") from exc
    if is_folder:
        raise InvalidRequest(f"{target} is a folder, where the backup has a file")
    if member.name.startswith("workspaces/"):
        workspace = places.workspaces[int(member.name.split("/")[1])]
        parent, root = Path(os.path.realpath(target.parent)), Path(os.path.realpath(workspace))
        if not parent.is_relative_to(root) or target.is_symlink():
            raise InvalidRequest(f"a link at {target} leads out of the workspace", hint="nothing was changed")
    elif target.is_symlink() and member.name != CONFIG:
        raise ForeignDatabase(f"{target} is a link, which a ledger must not be", hint="nothing was changed")
    return target


def _fill_keys(replacement: Replacement, target: Path, wishes: RestoreWishes, result: Restored) -> None:
    """Put the keys of the present configuration in the stead of those that were masked."""
    staged_file = replacement.staged(target)
    if wishes.keeps_config:
        return
    text, result.missing_keys = unmasked_text(staged_file.read_text("utf-8-sig"), _present(target, result))
    staged_file.write_text(text, "utf-8")
    _require_loading(text, target)


def _require_loading(text: str, target: Path) -> None:
    """Raise InvalidRequest for a configuration that memoryd would refuse here: it would not start with it."""
    try:
        loaded_of(ConfigText(text), target)
    except ConfigError as exc:
        raise InvalidRequest(
            f"memoryd refuses the configuration of the backup: {'; '.join(exc.problems)}",
            hint="nothing was changed; --keep-config restores all but the configuration",
        ) from exc


def _present(config: Path, result: Restored) -> Raw:
    try:
        return parse(config.read_text("utf-8-sig"), config)
    except FileNotFoundError:
        return {}
    except (ConfigError, OSError, ValueError):
        result.notes.append(f"{config} could not be read, so that its keys are not taken over")
        return {}


def _settle(
    backup: OpenBackup, places: BackupPlaces, replacement: Replacement, wishes: RestoreWishes, result: Restored
) -> None:
    """Leave out what is there already, and bring what was forgotten since into what comes back."""
    workspaces = set[Path]()
    for name, target in _targets(backup, places):
        if is_ledger(name):
            result.carried += settle_ledger(target, replacement, result.notes)
        elif name.endswith(f"/{FORGOTTEN}"):
            join_forgotten(target, replacement.staged(target))
        elif name == CONFIG and wishes.keeps_config:
            replacement.leave(target)
            continue
        if not is_ledger(name) and is_same_file(target, replacement.staged(target)):
            replacement.leave(target)
            result.same += 1
            continue
        (result.replaced if os.path.lexists(target) else result.added).append(target)
        if name.startswith("workspaces/") and not is_note_file(_below(name)) and is_conversation_file(_below(name)):
            workspaces.add(places.workspaces[int(name.split("/")[1])])
    for workspace in sorted(workspaces):
        # made anew of the sessions
        replacement.remove(workspace / MAIN_FILE)


def _targets(backup: OpenBackup, places: BackupPlaces) -> Iterator[tuple[str, Path]]:
    for member in backup.manifest.members:
        target = place_of(member.name, places)
        if target is not None:
            yield member.name, target


def _below(name: str) -> str:
    return name.split("/", 2)[2]
