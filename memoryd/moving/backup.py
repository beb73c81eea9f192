"""Make a backup, and restore it."""

import contextlib
import filecmp
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd import __version__
from memoryd.config.agents import Agent
from memoryd.config.loading.load import load_text
from memoryd.config.loading.masking import mask_text, unmask_text
from memoryd.config.loading.raw import Raw, parse, read
from memoryd.config.paths import state_dir_of_real_path
from memoryd.domain.memories.changes.tombstones import parse_mirror, render_mirror
from memoryd.domain.memories.machines import MACHINES
from memoryd.domain.sessions.documents import parse_session, render_session
from memoryd.domain.sessions.json_values import DamagedDocumentError, ForeignDocumentError
from memoryd.errors import ConfigError, ForeignDatabase, InvalidRequest, StoreError, StoreUnavailable
from memoryd.files.ignore import IGNORE_FILE, joined_rules
from memoryd.moving.archive import (
    CONFIG,
    FORGOTTEN,
    GOLDEN,
    MAIN_FILE,
    BackupManifest,
    BackupPlaces,
    BackupWorkspace,
    BackupWriter,
    ByteProgress,
    OpenBackup,
    belongs_in_backup,
    is_conversation_file,
    is_ledger,
    is_note_file,
    is_session_file,
    place_of,
    scratch_folder,
)
from memoryd.moving.replacing import Replacement
from memoryd.store.ledger.database import LEDGER
from memoryd.store.ledger.file import LOGS, carry_marks, copy_ledger, figures, is_ledger_name

KEY_SUFFIX = ".forgotten-key"


class BackupSources(Struct, frozen=True):
    """All files by their member names, folders of ledgers outside of the state folder, and the workspaces."""

    files: dict[str, Path]
    folders: tuple[str, ...]
    workspaces: tuple[BackupWorkspace, ...]


def backup_sources(
    agents: Sequence[Agent], *, state: Path, config: Path | None, only: str | None, has_notes: bool = False
) -> BackupSources:
    """Find the files for a backup. With `only`, the id of an agent, workspaces of other agents are left out.

    Without it, the ledgers of workspaces that are not configured any more are included, too. Raises StoreUnavailable if
    a workspace that memoryd has used is missing: its conversations and notes would be missing in the backup.
    """
    owners = workspace_owners(agent for agent in agents if only in (None, agent.id))
    for path in owners:
        if not path.is_dir() and state_dir_of_real_path(path).is_dir():
            hint = "no backup was written; mount or make it first, or back up one other agent with --agent"
            raise StoreUnavailable(f"there is no folder {path}", hint=hint)
    # the changes of a workspace are in the ledger of its first agent
    sharing = [agent for agent in agents if Path(os.path.realpath(agent.workspace)) in owners]
    paths = [path for agent in sharing for path in (agent.ledger_path, agent.with_other_ledger.ledger_path)]
    ledgers = {Path(os.path.realpath(path.parent)) / path.name for path in paths}
    below = Path(os.path.realpath(state / "workspaces"))
    if only is None:
        ledgers.update(ledgers_below(below))
    folders = sorted({ledger.parent for ledger in ledgers if ledger.parent.parent != below and ledger.is_file()})
    files = {} if config is None else {CONFIG: config}
    for ledger in sorted(ledgers):
        files |= _ledger_files(ledger, below, folders)
    for number, workspace in enumerate(sorted(owners)):
        files |= {f"workspaces/{number}/{path}": workspace / path for path in _files_of(workspace, has_notes=has_notes)}
    workspaces = (BackupWorkspace(path=str(path), agents=tuple(owners[path])) for path in sorted(owners))
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
    """Yield the relative paths with `/` of the files of a workspace for a backup; no link is followed."""
    for path in (FORGOTTEN, GOLDEN) if has_notes else (FORGOTTEN,):
        if (workspace / path).is_file() and not (workspace / path).parent.is_symlink():
            yield path
    machines = workspace / MACHINES
    if not machines.is_symlink() and not machines.parent.is_symlink():
        journals = (path for path in sorted(machines.glob("*.jsonl")) if path.is_file() and not path.is_symlink())
        yield from (f"{MACHINES}/{path.name}" for path in journals)
    for path in _regular_below(workspace):
        if belongs_in_backup(path) and (is_conversation_file(path) or (has_notes and is_note_file(path))):
            yield path


def _regular_below(workspace: Path) -> Iterator[str]:
    if workspace.is_dir():
        yield from sorted(path.name for path in workspace.iterdir() if path.is_file() and not path.is_symlink())
    for top in ("memory", "bank"):
        # os.walk follows no link, except for its argument
        for folder, inner, names in os.walk(workspace / top) if not (workspace / top).is_symlink() else ():
            inner.sort()
            for name in sorted(names):
                path = Path(folder) / name
                if path.is_file() and not path.is_symlink():
                    yield path.relative_to(workspace).as_posix()


def write_backup(
    out: IO[bytes], sources: BackupSources, *, state: Path, has_notes: bool, has_secrets: bool, report: ByteProgress
) -> BackupManifest:
    """Write a backup and return its manifest.

    Raises StoreError, InvalidRequest if keys cannot be masked, and OSError if `out` cannot be written.
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
        # a session that was forgotten or archived since it was listed
        return
    except OSError as exc:
        raise StoreUnavailable(f"{path} cannot be read: {exc.strerror}", hint="no backup was written") from exc
    with file:
        writer.add(name, file, os.fstat(file.fileno()).st_size)


def _add_config(writer: BackupWriter, path: Path, *, has_secrets: bool) -> int:
    """Add the configuration, and return the number of masked keys."""
    data, masked = path.read_bytes(), 0
    if not has_secrets:
        try:
            text, masked = mask_text(data.decode("utf-8-sig"))
        except (ValueError, ConfigError) as exc:
            raise InvalidRequest(
                f"the keys of {path} cannot be masked: {exc}", hint="give --with-secrets, or write them as usual"
            ) from exc
        data = text.encode()
    writer.add(CONFIG, io.BytesIO(data), len(data))
    return masked


def contents_of(manifest: BackupManifest) -> Sequence[tuple[str, int]]:
    """Return the kinds of content of a backup with their numbers, for a person."""
    names = [member.name for member in manifest.members]
    notes = sum(name.endswith((".md", ".memoryignore")) for name in names if name.startswith("workspaces/"))
    sessions = sum(name.startswith("workspaces/") and name.endswith(".json") for name in names)
    return [
        ("configuration", int(CONFIG in names)),
        ("ledger", sum(name.endswith("ledger.sqlite") for name in names if not name.startswith("workspaces/"))),
        ("conversation", sessions),
        ("note", notes),
    ]


_NAME_BYTES_MAX = 255
_SESSION_BYTES_MAX = 64 << 20
"""Largest session file that the daemon reads."""
_UNCHANGED = "nothing was changed"


class Restored(Struct, rename="camel"):
    """The changes by a restore, and notes for the owner."""

    replaced: list[Path] = []
    added: list[Path] = []
    same: int = 0
    carried: int = 0
    """Number of things forgotten since the backup, which stay forgotten."""
    missing_keys: list[str] = []
    notes: list[str] = []


def stage_restore(
    backup: OpenBackup,
    places: BackupPlaces,
    replacement: Replacement,
    report: ByteProgress,
    *,
    keeps_config: bool = False,
    into: Sequence[Path] = (),
) -> Restored:
    """Verify all members, and stage those that differ from the present files in the replacement.

    `keeps_config` keeps the present configuration; `into` are further folders that may be written although the
    configuration does not name them. Raises InvalidRequest for a damaged or hostile backup, ForeignDatabase for a newer
    ledger, StoreError.
    """
    staging = _Staging(backup, places, replacement, keeps_config, into)
    staging.take_members(report)
    staging.require_named()
    staging.check_conversations()
    staging.finish()
    replacement.require_places()
    return staging.result


class _Staging(Struct):
    """A restore that is being prepared; `targets` are the paths of the verified members by name."""

    backup: OpenBackup
    places: BackupPlaces
    replacement: Replacement
    keeps_config: bool
    into: Sequence[Path]
    targets: dict[str, Path] = {}
    result: Restored = field(default_factory=Restored)

    def take_members(self, report: ByteProgress) -> None:
        done, seen = 0, set[str]()
        for member in self.backup.manifest.members:
            target = place_of(member.name, self.places)
            if target is None:
                raise InvalidRequest(f"{self.backup.file.name} has a member of no known name: {member.name[:80]!r}")
            if (real := os.path.realpath(target)) in seen:
                raise InvalidRequest(f"{self.backup.file.name} has two members for {target}", hint=_UNCHANGED)
            seen.add(real)
            _require_fit(member.name, target, self.places)
            with self.replacement.put(target) as file:
                self.backup.copy(member, file)
            if is_ledger(member.name):
                figures(self.replacement.staged(target), is_strict=True)
            done += member.bytes
            report(member.name, done)
            if member.name == CONFIG and not self.keeps_config:
                self._fill_keys(target)
            self.targets[member.name] = target

    def _fill_keys(self, target: Path) -> None:
        """Replace masked keys of the restored configuration by those of the present configuration."""
        staged_file = self.replacement.staged(target)
        present = _present(target, self.result)
        text, self.result.missing_keys = unmask_text(staged_file.read_text("utf-8-sig"), present)
        staged_file.write_text(text, "utf-8")
        try:
            load_text(text, target)
        except ConfigError as exc:
            raise InvalidRequest(
                f"memoryd refuses the configuration of the backup: {'; '.join(exc.problems)}",
                hint="nothing was changed; --keep-config restores all but the configuration",
            ) from exc

    def require_named(self) -> None:
        """Raise InvalidRequest for a folder named neither by the resulting configuration nor on the command line.

        A forged backup must not cause writes to arbitrary folders.
        """
        config = self.places.config
        is_new = self.replacement.has(config) and not self.keeps_config
        agents = _agents(config, self.replacement.staged(config) if is_new else config)
        named = {os.path.realpath(folder) for folder in self.into}
        named |= {os.path.realpath(path) for agent in agents for path in (agent.workspace, agent.ledger_path.parent)}
        for name in self.targets:
            top, _, rest = name.partition("/")
            if top in ("workspaces", "ledgers"):
                folders = self.places.workspaces if top == "workspaces" else self.places.folders
                if os.path.realpath(folder := folders[int(rest.split("/")[0])]) not in named:
                    raise InvalidRequest(
                        f"the backup writes into {folder}, which the configuration does not name",
                        hint=f"nothing was changed; if it is yours, name it: --into {folder}",
                    )

    def check_conversations(self) -> None:
        """Leave out damaged conversations, which no daemon could read, and keep present marks "do not remember"."""
        for name, target in self.targets.items():
            if not name.startswith("workspaces/") or not is_session_file(_below(name)):
                continue
            file = self.replacement.staged(target)
            try:
                if file.stat().st_size > _SESSION_BYTES_MAX:
                    raise DamagedDocumentError("it is too large")
                if (session := parse_session(file.read_bytes())).id != target.stem:
                    raise DamagedDocumentError(f"its session_id is {session.id!r}")
                if session.is_remembered and _is_marked(target):
                    file.write_text(render_session(replace(session, is_remembered=False)) + "\n", "utf-8")
            except (DamagedDocumentError, ForeignDocumentError) as exc:
                self.replacement.leave(target)
                self.result.notes.append(f"{name} of the backup is left out: {exc}")

    def finish(self) -> None:
        """Leave out files that are unchanged, and add what was forgotten since the backup to the restored files."""
        workspaces, replacement, result = set[Path](), self.replacement, self.result
        for name, target in self.targets.items():
            if is_ledger(name):
                result.carried += carry_forgotten_marks(target, replacement, result.notes)
            elif name.endswith(f"/{FORGOTTEN}"):
                _join_forgotten(target, replacement.staged(target))
            elif name.endswith(f"/{IGNORE_FILE}"):
                _join_rules(target, replacement.staged(target))
            elif name == CONFIG and self.keeps_config:
                replacement.leave(target)
            if not replacement.has(target):
                continue
            if not is_ledger(name) and _is_same_file(target, replacement.staged(target)):
                replacement.leave(target)
                result.same += 1
                continue
            (result.replaced if os.path.lexists(target) else result.added).append(target)
            if name.startswith("workspaces/") and not is_note_file(_below(name)) and is_conversation_file(_below(name)):
                workspaces.add(self.places.workspaces[int(name.split("/")[1])])
        for workspace in sorted(workspaces):
            # generated again from the sessions
            replacement.remove(workspace / MAIN_FILE)


def _require_fit(name: str, target: Path, places: BackupPlaces) -> None:
    """Raise InvalidRequest if a link leads out of the workspace, or no file can be written at a path."""
    if any(len(os.fsencode(part)) > _NAME_BYTES_MAX for part in target.parts):
        raise InvalidRequest(f"a name is too long: {target.name[:80]!r}…", hint=_UNCHANGED)
    try:
        os.lstat(target)
        is_folder = target.is_dir()
    except (FileNotFoundError, NotADirectoryError):
        is_folder = False
    except OSError as exc:
        raise InvalidRequest(f"no file can be written at {target}: {exc.strerror}", hint=_UNCHANGED) from exc
    if is_folder:
        raise InvalidRequest(f"{target} is a folder, where the backup has a file")
    if name.startswith("workspaces/"):
        workspace = places.workspaces[int(name.split("/")[1])]
        parent, root = Path(os.path.realpath(target.parent)), Path(os.path.realpath(workspace))
        if not parent.is_relative_to(root) or target.is_symlink():
            raise InvalidRequest(f"a link at {target} leads out of the workspace", hint=_UNCHANGED)
    elif target.is_symlink() and name != CONFIG:
        raise ForeignDatabase(f"{target} is a link, which a ledger must not be", hint=_UNCHANGED)


def _present(config: Path, result: Restored) -> Raw:
    try:
        return parse(config.read_text("utf-8-sig"), config)
    except FileNotFoundError:
        return {}
    except (ConfigError, OSError, ValueError):
        result.notes.append(f"{config} could not be read, so that its keys are not taken over")
        return {}


def _agents(config: Path, text: Path) -> Sequence[Agent]:
    """Return the agents of the configuration in file `text`, as if at path `config`; none if memoryd refuses it."""
    try:
        return load_text(read(text) if os.path.lexists(text) else "", config).config.resolved_agents()
    except ConfigError:
        return ()


def _below(name: str) -> str:
    return name.split("/", 2)[2]


def carry_forgotten_marks(target: Path, replacement: Replacement, notes: list[str]) -> int:
    """Remove the logs of the present ledger with it, and copy its marks into the staged ledger.

    Return the number of marks that are new there. Marks that cannot be copied are reported in `notes`.
    """
    for ending in LOGS:
        replacement.remove(target.with_name(target.name + ending))
    key = target.with_name(target.name + KEY_SUFFIX)
    if not os.path.lexists(target):
        return 0
    try:
        has_same_key = not replacement.has(key) or _is_same_file(key, replacement.staged(key)) or not key.exists()
        carried = carry_marks(target, replacement.staged(target), has_same_key=has_same_key)
    except (StoreError, OSError) as exc:
        notes.append(f"{target} cannot be read, so that what was forgotten since is not known any more: {exc}")
        return 0
    if not has_same_key:
        notes.append(f"what was forgotten since in {target} is not known any more: another key")
    return carried


def _is_marked(session: Path) -> bool:
    """Return whether the session with this file, archived or not, is marked "do not remember" now."""
    for folder in ("sessions", "archive"):
        with contextlib.suppress(OSError, DamagedDocumentError, ForeignDocumentError):
            if not parse_session((session.parents[1] / folder / session.name).read_bytes()).is_remembered:
                return True
    return False


def _join_forgotten(present: Path, new: Path) -> None:
    """Join the present forgotten marks with those of the backup."""
    texts = [path.read_text("ascii", "replace") for path in (present, new) if path.is_file()]
    new.write_text(render_mirror(frozenset().union(*map(parse_mirror, texts))))


def _join_rules(present: Path, new: Path) -> None:
    """Add the present rules of privacy to those of the backup, which may lack one that was added since."""
    if present.is_file():
        new.write_bytes(joined_rules(new.read_bytes(), present.read_bytes()))


def _is_same_file(first: Path, second: Path) -> bool:
    """Return whether both files can be read and have the same bytes."""
    try:
        return filecmp.cmp(first, second, shallow=False)
    except OSError:
        return False
