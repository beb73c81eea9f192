"""Bringing a backup back, and undoing that: all is verified beside the present files, and only then replaces them.

What was forgotten since stays forgotten either way: the marks of the later ledger are joined to the earlier one.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from memoryd.config.agents import Agent
from memoryd.config.loading.load import loaded_of
from memoryd.config.loading.masking import unmasked_text
from memoryd.config.loading.raw import ConfigText, Raw, parse, read
from memoryd.domain.memories.changes.tombstones import parsed, rendered
from memoryd.domain.sessions.documents import parse_session
from memoryd.domain.sessions.json_values import DamagedDocumentError, ForeignDocumentError
from memoryd.errors import ConfigError, ForeignDatabase, InvalidRequest, StoreError
from memoryd.moving.archive import (
    CONFIG,
    FORGOTTEN,
    MAIN_FILE,
    BackupMember,
    BackupPlaces,
    OpenBackup,
    Told,
    is_conversation_file,
    is_ledger,
    is_note_file,
    is_session_file,
    place_of,
    scratch_folder,
)
from memoryd.moving.backup import KEY_SUFFIX
from memoryd.moving.replacing import Replacement, last_done, put_back
from memoryd.store.ledger.file import LOGS, carry_marks, copy_ledger, empty_ledger, figures, is_ledger_name

_NAME_BYTES_MAX: Final = 255
_SESSION_BYTES_MAX: Final = 64 << 20
"""Nobody could read a larger one."""


class RestoreWishes(Struct, frozen=True):
    """What of a backup is to come back."""

    keeps_config: bool = False
    """Leave the configuration that is there."""
    into: tuple[Path, ...] = ()
    """Folders to write into that the configuration does not name."""


class Restored(Struct):
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
    _require_named(backup, places, replacement, wishes)
    _leave_damaged(backup, places, replacement, result)
    _settle_restore(backup, places, replacement, wishes, result)
    replacement.require_places()
    return result


def _stage(backup: OpenBackup, member: BackupMember, target: Path, replacement: Replacement) -> None:
    with replacement.put(target) as file:
        backup.copy(member, file)
    if is_ledger(member.name):
        figures(replacement.staged(target), is_strict=True)


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


def _require_named(backup: OpenBackup, places: BackupPlaces, replacement: Replacement, wishes: RestoreWishes) -> None:
    """Raise InvalidRequest for a folder that neither the configuration names, as it will be, nor the command line.

    What a made-up backup says of itself is no reason to write anywhere.
    """
    is_new = replacement.has(places.config) and not wishes.keeps_config
    agents = _agents(places.config, replacement.staged(places.config) if is_new else places.config)
    named = {os.path.realpath(one) for one in wishes.into}
    named |= {os.path.realpath(folder) for one in agents for folder in (one.workspace, one.ledger_path.parent)}
    for member in backup.manifest.members:
        top, _, rest = member.name.partition("/")
        if top in ("workspaces", "ledgers"):
            folders = places.workspaces if top == "workspaces" else places.folders
            if os.path.realpath(folder := folders[int(rest.split("/")[0])]) not in named:
                raise InvalidRequest(
                    f"the backup writes into {folder}, which the configuration does not name",
                    hint=f"nothing was changed; if it is yours, name it: --into {folder}",
                )


def _agents(config: Path, text: Path) -> Sequence[Agent]:
    """Return the agents of a configuration that lies, or is to lie, at a place; none of one that memoryd refuses."""
    try:
        return loaded_of(read(text) if os.path.lexists(text) else ConfigText(), config).config.resolved_agents()
    except ConfigError:
        return ()


def _leave_damaged(backup: OpenBackup, places: BackupPlaces, replacement: Replacement, result: Restored) -> None:
    """Leave out what is no conversation: the daemon could not read it, and a sound one may stand in its place."""
    for name, target in _targets(backup, places):
        if not name.startswith("workspaces/") or not is_session_file(_below(name)):
            continue
        file = replacement.staged(target)
        try:
            if file.stat().st_size > _SESSION_BYTES_MAX:
                raise DamagedDocumentError("it is too large")
            if (found := parse_session(file.read_bytes()).id) != target.stem:
                raise DamagedDocumentError(f"its session_id is {found!r}")
        except (DamagedDocumentError, ForeignDocumentError) as exc:
            replacement.leave(target)
            result.notes.append(f"{name} of the backup is left out: {exc}")


def _settle_restore(
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
        if not replacement.has(target):
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


class TakenBack(Struct):
    """What is ready to stand again, how many marks of what was forgotten go along, and what to know of it."""

    replacement: Replacement
    carried: int = 0
    notes: list[str] = field(default_factory=list)


def taken_back(state: Path) -> TakenBack:
    """Prepare the last replacement the other way round; raises NotFound, StoreError. Nothing has changed yet."""
    _, plan = last_done(state)
    back = TakenBack(put_back(state))
    for target in (Path(piece.target) for piece in plan.pieces):
        if is_ledger_name(target.name):
            _settle_undo(target, back, state)
        elif target.match(FORGOTTEN):
            _keep_forgotten(target, back.replacement)
    return back


def _settle_undo(target: Path, back: TakenBack, state: Path) -> None:
    if not back.replacement.has(key_of(target)):
        # the marks mean nothing without it
        back.replacement.leave(key_of(target))
    if back.replacement.has(target):
        try:
            _join_log(target, back.replacement, state)
        except (StoreError, OSError) as exc:
            back.notes.append(f"what was forgotten since in {target} comes back with it, for that is damaged: {exc}")
            return
        back.carried += settle_ledger(target, back.replacement, back.notes)
    elif os.path.lexists(target):
        _keep_marks_alone(target, back)


def _keep_marks_alone(target: Path, back: TakenBack) -> None:
    """Where there was no ledger before, one with nothing but the marks stays, if there are any."""
    with back.replacement.put(target) as file:
        file.write(empty_ledger())
    carried = settle_ledger(target, back.replacement, back.notes)
    back.carried += carried
    if not carried:
        back.replacement.remove(target)


def _join_log(target: Path, replacement: Replacement, state: Path) -> None:
    """Bring what only the log of a ledger knows into it: the log of a ledger that changes is nobody's."""
    if not any(replacement.has(target.with_name(target.name + ending)) for ending in LOGS):
        return
    with scratch_folder(state) as scratch:
        for ending in ("", *LOGS):
            if replacement.has(part := target.with_name(target.name + ending)):
                shutil.copyfile(replacement.staged(part), scratch / f"with-log{ending}")
        copy_ledger(scratch / "with-log", scratch / "whole")
        shutil.copyfile(scratch / "whole", replacement.staged(target))


def _keep_forgotten(target: Path, replacement: Replacement) -> None:
    if replacement.has(target):
        join_forgotten(target, replacement.staged(target))
    else:
        replacement.leave(target)


def settle_ledger(target: Path, replacement: Replacement, notes: list[str]) -> int:
    """Have the logs of the present ledger go with it, and its marks come into the one that is staged.

    Returns how many marks are new to that; what cannot be carried is told.
    """
    for ending in LOGS:
        replacement.remove(target.with_name(target.name + ending))
    key = key_of(target)
    if not os.path.lexists(target):
        return 0
    try:
        has_same_key = not replacement.has(key) or is_same_file(key, replacement.staged(key)) or not key.exists()
        carried = carry_marks(target, replacement.staged(target), has_same_key=has_same_key)
    except (StoreError, OSError) as exc:
        notes.append(f"{target} cannot be read, so that what was forgotten since is not known any more: {exc}")
        return 0
    if not has_same_key:
        notes.append(f"what was forgotten since in {target} is not known any more: another key")
    return carried


def join_forgotten(present: Path, new: Path) -> None:
    """Add what is forgotten now to what was then, and take out what says nothing."""
    files = [one.read_text("ascii", "replace") for one in (present, new) if one.is_file()]
    new.write_text(rendered(frozenset().union(*map(parsed, files))))


def key_of(ledger: Path) -> Path:
    """Return where the key of what is forgotten lies."""
    return ledger.with_name(ledger.name + KEY_SUFFIX)


def is_same_file(one: Path, other: Path) -> bool:
    """Tell whether both can be read and have the same bytes."""
    try:
        return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()
    except OSError:
        return False
