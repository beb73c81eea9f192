"""Reading and replacing the notes of a workspace, and the record day of their lines.

The record day of a line comes from the name of its file, from the ledger, or from the file's modification time.
"""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator, Mapping, Set
from datetime import date
from hashlib import sha256
from pathlib import Path

import structlog
from msgspec import Struct

from memoryd.domain.documents import (
    IMPORTED,
    PERSONA,
    FileStat,
    RelativePath,
    is_document_name,
    is_hidden,
    is_utf8_name,
    owner_path,
    person_of,
)
from memoryd.domain.memories.changes.note_text import EMPTY, NoteText, encode_note, read_note
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.syncplan import IndexedFile
from memoryd.domain.text.lines import PADDING
from memoryd.errors import Denied, InvalidRequest, MemorydError, NotNow, StoreError, StoreUnavailable, TooLarge
from memoryd.files.ignore import RealPaths, is_private_file, why_private
from memoryd.files.reading import FileSnapshot, NotReadableError, read_snapshot, utf8_of
from memoryd.files.scanner import ScanRules
from memoryd.files.writing import open_draft, remove_drafts, remove_file, replace_file, sync_folder
from memoryd.store.index.documents import FileVersion, MemoryFiles
from memoryd.store.ledger.usage import FirstSeen

log = structlog.get_logger(__name__)

OWN_FOLDERS = ("memory", "bank", "bank/entities")
"""Folders that memoryd creates if missing; any other folder is left to its owner."""
_MAX_FILES = 100_000
_LINKED = (errno.ELOOP, errno.EXDEV)
LineDays = Callable[[FileVersion, MemoryId], date]
"""Returns the day on which a file first stated a memory."""
_NANO = 1e9


class StoredNote(Struct, frozen=True):
    """A note as read from disk; `stat` is None if the file does not exist."""

    path: RelativePath
    note: NoteText
    stat: FileStat | None
    sha256: bytes

    @property
    def text(self) -> str | None:
        """The text with `\\n` line ends, or None if there is no such file."""
        return None if self.stat is None else self.note.text


class NoteFiles:
    """Reads and writes notes below the real path of a workspace. The scan rules are read at each call; all calls block.

    `configured` is the path in the owner's configuration, which may later resolve to a different folder.
    """

    def __init__(self, workspace: Path, rules: Callable[[], ScanRules], *, configured: Path | None = None) -> None:
        self.workspace = workspace
        self._configured = configured or workspace
        self._rules = rules

    def read(self, path: RelativePath, *, is_shown: bool = False) -> StoredNote:
        """Return a note that may be written or, with `is_shown`, one that is only displayed.

        Raises InvalidRequest if it may not, for a reason that its owner can change; TornReadError while another program
        saves it; StoreUnavailable if the workspace is missing or the disk fails.
        """
        _check_name(path, is_shown=is_shown)
        rules = self._rules()
        self._check_rules(path, rules)
        limit, key = rules.limit(path)
        try:
            folder = rules.folders_by_prefix.get(f"{person_of(path)}:", self.workspace)
            content = read_snapshot(folder, owner_path(path), max_bytes=limit)
        except FileNotFoundError:
            self._check_folder(path)
            return StoredNote(path, EMPTY, None, b"")
        except NotReadableError as exc:
            raise InvalidRequest(f"{path} cannot be written: {exc}", hint=f"see {key}") from exc
        except OSError as exc:
            raise _failure(path, exc) from exc
        return _stored_note(path, content)

    def is_private(self, path: RelativePath) -> bool:
        """Return whether the rules hide a note, or its text marks it private. A missing note is not private."""
        rules = self._rules()
        if rules.is_ignored(path):
            return True
        try:
            return is_private_file(self.workspace, path)
        except OSError:
            return False

    def out_of_sight(self, gone: Mapping[RelativePath, IndexedFile]) -> frozenset[RelativePath]:
        """Return those of these notes that were moved to a hidden or private place.

        A moved note is recognised by its file name together with its content, or its inode and modification time.
        """
        missing = {path: known for path, known in gone.items() if not os.path.lexists(self.workspace / path)}
        hidden = [file for file in self._files_named({_name(path) for path in missing}) if self._is_out_of_sight(file)]
        return frozenset(
            path
            for path, known in missing.items()
            if any(file.name.lstrip(".") == _name(path) and _is_same(file, known) for file in hidden)
        )

    def _files_named(self, names: Set[str]) -> Iterator[Path]:
        """Yield files with these names, with or without a leading dot. The walk ends after about `_MAX_FILES` files."""
        left = _MAX_FILES if names else 0
        for folder, folders, files in os.walk(self.workspace):
            if left <= 0:
                return
            left -= len(files)
            folders[:] = [name for name in folders if name != ".git"]
            yield from (Path(folder, name) for name in files if name.lstrip(".") in names)

    def _is_out_of_sight(self, path: Path) -> bool:
        relative = path.relative_to(self.workspace)
        return any(map(is_hidden, relative.parts)) or self.is_private(RelativePath(str(relative)))

    def write(self, before: StoredNote, data: bytes) -> None:
        """Replace the note that was read by these bytes, durably.

        Raises FileChangedError if the file changed since, and what `read` raises. Nothing was written then.
        """
        try:
            self._make_folders(before.path)
            target = self.workspace / before.path
            replace_file(target, data, expected=before.stat or "absent", is_durable=True)
        except OSError as exc:
            raise _failure(before.path, exc) from exc

    def encode(self, before: StoredNote, text: str) -> bytes:
        """Return the bytes of a note with a new text; raises InvalidRequest and TooLarge."""
        try:
            data = encode_note(before.note, text)
        except ValueError as exc:
            raise InvalidRequest("the text holds half a character", hint="send whole characters") from exc
        limit, key = self._rules().limit(before.path)
        if len(data) > limit:
            raise TooLarge(f"{before.path} would have {len(data):,} bytes; {key} is {limit:,}")
        if reason := why_private(data + PADDING):
            # a private note is never written again, so this write could not be undone either
            raise InvalidRequest(f"{before.path} would be private: {reason}", hint="write that line yourself")
        return data

    def check_room(self, before: StoredNote) -> None:
        """Raise StoreUnavailable if the disk has no room for a second copy of the note. The test file is removed."""
        if before.stat is None:
            return
        try:
            with open_draft(self.workspace / before.path) as (_, file):
                file.write(bytes(before.stat.size))
                file.flush()
                os.fsync(file.fileno())
        except OSError as exc:
            raise _failure(before.path, exc) from exc

    def remove(self, before: StoredNote) -> None:
        """Remove a note that was read; raises FileChangedError and StoreUnavailable."""
        if before.stat is None:
            return
        target = self.workspace / before.path
        try:
            remove_file(target, before.stat)
        except OSError as exc:
            raise _failure(before.path, exc) from exc
        folder = target.parent
        if before.path.startswith(IMPORTED):
            # these folders were created for the note
            with contextlib.suppress(OSError):
                while folder != self.workspace / "memory":
                    folder.rmdir()
                    folder = folder.parent
        sync_folder(folder)

    def sweep(self) -> None:
        """Remove unfinished drafts of notes that a killed process left; raises OSError."""
        for folder in (*map(self.workspace.joinpath, ("", *OWN_FOLDERS)), *self.workspace.glob(f"{IMPORTED}**/")):
            remove_drafts(folder)

    def _check_rules(self, path: RelativePath, rules: ScanRules) -> None:
        if not self.workspace.is_dir():
            # an unmounted workspace must not be created
            raise StoreUnavailable(f"there is no folder {self.workspace}", hint="make or mount the workspace first")
        if os.path.realpath(self._configured) != str(self.workspace):
            raise StoreUnavailable(
                f"{self._configured} leads to another folder than when memoryd was started", hint="restart memoryd"
            )
        if RealPaths(self.workspace, follow_symlinks=True).of(path) != f"{self.workspace}/{path}":
            raise InvalidRequest(f"there is a symbolic link on the way to {path}", hint="put the file itself there")
        if rules.is_ignored(path) or rules.may_hide(path):
            raise InvalidRequest(f"{path} is left out of the memory", hint="see .memoryignore and memorySearch.exclude")

    def _check_folder(self, path: RelativePath) -> None:
        folder = path.rpartition("/")[0]
        is_ours = folder in ("", *OWN_FOLDERS) or path.startswith(IMPORTED)
        if not is_ours and not (self.workspace / folder).is_dir():
            raise InvalidRequest(f"there is no folder {folder}", hint="make it first")

    def _make_folders(self, path: RelativePath) -> None:
        *folders, _ = path.split("/")
        for count in range(1, len(folders) + 1):
            folder = self.workspace.joinpath(*folders[:count])
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                continue
            sync_folder(folder.parent)


def _name(path: RelativePath) -> str:
    return path.rpartition("/")[2]


def _is_same(file: Path, known: IndexedFile) -> bool:
    """Return whether a file is the known one (by inode and modification time), or has the same content."""
    with contextlib.suppress(OSError):
        stat = file.lstat()
        is_moved = (stat.st_ino, stat.st_mtime_ns) == (known.stat.inode, known.stat.mtime_ns)
        return is_moved or (stat.st_size == known.stat.size and sha256(file.read_bytes()).digest() == known.digest)
    return False


def _check_name(path: RelativePath, *, is_shown: bool) -> None:
    parts = path.split("/")
    is_plain = is_utf8_name(path) and "\0" not in path and not any(is_hidden(part) or not part for part in parts)
    if not is_plain or not is_document_name(parts[-1]):
        raise InvalidRequest(f"{path!r} is no note of the workspace", hint="give a path such as memory/2026-11-18.md")
    if (person := person_of(path)) and not is_shown:
        hint = f"`memoryctl retain` states what holds here; {person} alone can take it back"
        raise InvalidRequest(f"{path} is what {person} shares with the team", hint=hint)
    if path == PERSONA and not is_shown:
        raise InvalidRequest(f"{path} is never written by memoryd", hint="edit it yourself")


def _stored_note(path: RelativePath, content: FileSnapshot) -> StoredNote:
    if reason := why_private(utf8_of(content)[0]):
        raise InvalidRequest(f"{path} is not written: {reason}", hint="take that line out of it first")
    try:
        note = read_note(content.data)
    except ValueError as exc:
        reason, _, hint = str(exc).partition(": ")
        raise InvalidRequest(f"{path} {reason}", hint=hint) from exc
    return StoredNote(path, note, content.stat, content.sha256)


def _failure(path: RelativePath, exc: OSError) -> MemorydError:
    """Return the error to raise for an error of the disk."""
    if exc.errno in _LINKED:
        return InvalidRequest(f"{path} is a symbolic link, or leads through one", hint="put the file itself there")
    if exc.errno in (errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR):
        return InvalidRequest(f"{path} cannot be a note: {os.strerror(exc.errno).lower()}")
    if exc.errno in (errno.EAGAIN, errno.EINTR, errno.EBUSY):
        return NotNow(f"{path} cannot be written now: {exc.strerror}")
    reason = os.strerror(exc.errno or errno.EIO).lower()
    return StoreUnavailable(f"{path} cannot be read or written: {reason}", hint="nothing was changed")


class RecordDays(Struct, kw_only=True, eq=False):
    """Record days of the lines of one workspace.

    `local_day` returns the owner's day of a Unix time, `clock` the Unix time now. If the ledger cannot store a day, the
    modification day of the file is used until it can.
    """

    first_seen: FirstSeen
    local_day: Callable[[float], date]
    clock: Callable[[], float]
    _known: dict[MemoryId, date] = {}
    _unsettled: frozenset[int] = frozenset()

    @property
    def today(self) -> date:
        """The owner's day."""
        return self.local_day(self.clock())

    def are_final(self, file: int) -> bool:
        """Return whether the days of the lines of a file, by its id, are final."""
        return file not in self._unsettled

    async def of(self, files: MemoryFiles) -> LineDays:
        """Learn the days of the lines that were read, and return a function that looks them up."""
        # a modification time in the future comes from a wrong clock
        today = self.today
        undated = [file for file in files.versions if file.id in files.lines and _named_day(file.path, today) is None]
        changed = {file.id: min(self.local_day(file.mtime_ns / _NANO), today) for file in undated}
        seen: dict[MemoryId, date] = {}
        for file in undated:
            for line in files.lines[file.id]:
                seen[line.memory] = min(changed[file.id], seen.get(line.memory, date.max))
        is_learned = await self._learn(seen)
        self._unsettled = frozenset() if is_learned else frozenset(changed)
        known = dict(self._known)

        def day(file: FileVersion, memory: MemoryId) -> date:
            return _named_day(file.path, today) or known.get(memory) or changed.get(file.id, today)

        return day

    async def _learn(self, seen: dict[MemoryId, date]) -> bool:
        """Load unknown days from the ledger, and store those that it lacks. Tell whether the ledger could be used."""
        new = seen.keys() - self._known.keys()
        if not new:
            return True
        try:
            stored = await self.first_seen.days(new)
            self._known |= stored
            if missing := {memory: seen[memory] for memory in new if memory not in stored}:
                await self.first_seen.note(missing)
                self._known |= missing
        except (StoreError, Denied) as exc:
            log.debug("days of memories cannot be kept", reason=str(exc))
            return False
        return True


def _named_day(path: str, today: date) -> date | None:
    """Return the day in a file name.

    None for a future day in a file shared by another team member: its lines count from the day on which they arrived
    here.
    """
    day = date_in_name(path)
    return None if day is not None and day > today and person_of(path) else day
