"""The files of sessions, one per session: the authoritative data. Each write replaces the file by compare-and-swap.

Many processes may write. A change reads the session, computes the new state and swaps the file. If another writer was
faster, it starts again. Moves between folders are protected by a lock.
"""

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from time import sleep
from typing import Literal

from msgspec import Struct

from memoryd.domain.documents import FileStat, SessionId
from memoryd.domain.sessions.documents import parse_session, render_session
from memoryd.domain.sessions.json_values import MAX_COUNT, DamagedDocumentError, ForeignDocumentError
from memoryd.domain.sessions.names import safe_id
from memoryd.domain.sessions.turns import Session
from memoryd.errors import NotFound, StoreError, StoreUnavailable
from memoryd.files.reading import NotReadableError, TornReadError, file_stat, read_stable
from memoryd.files.writing import (
    FileChangedError,
    locked_folder,
    make_private_folder,
    remove_drafts,
    remove_file,
    replace_file,
    sync_folder,
)

SUFFIX = ".json"
MAX_BYTES = 64 << 20
_CACHED = 64
_UNFREED = 64
"""Most replaced files whose space is not freed yet."""
UNREADABLE = (ForeignDocumentError, DamagedDocumentError, NotReadableError)
_TRIES = 500
"""Most attempts of a change. One of several competing writers wins each time, so more failures have another cause."""
_PAUSE_SECONDS = 0.001
Change = Callable[[Session], Session | None]
"""Returns the new state of a session, or None to leave it unchanged. It may be called more than once."""


class StoredSession(Struct, frozen=True):
    """The content of a session's file at one instant; `stat` is compared by a swap."""

    session: Session
    stat: FileStat
    """Status of the file without its device, which on some systems depends on the way of the query."""
    text: str = ""
    """Text by `render_session`; empty for a file that was read."""


class SessionFiles:
    """One folder of session files in a workspace. Methods raise OSError for disk errors and for symlinks."""

    def __init__(self, workspace: Path, folder: str) -> None:
        self._workspace = workspace
        self.folder = folder
        self._folder = f"{workspace / folder}/"
        self._path = workspace / folder
        way = (*reversed(Path(folder).parents[:-1]), Path(folder))
        self._way = [(str(part), workspace / part) for part in way]
        self._lock = threading.Lock()
        self._latest: dict[SessionId, StoredSession] = {}
        """Cache of the latest sessions read or written, so that a growing session is not parsed for each turn."""
        self._replaced: list[int] = []
        """Descriptors of replaced files: storing a turn does not wait until their space is freed."""
        weakref.finalize(self, _close_all, self._replaced)

    @property
    def path(self) -> Path:
        """The folder. Raises OSError if its path leads through a symlink."""
        self.refuse_links()
        return self._path

    def stats(self) -> dict[SessionId, FileStat]:
        """Return the status of each file, by session; files with other names are ignored."""
        try:
            with os.scandir(self.path) as entries:
                return {
                    SessionId(entry.name.removesuffix(SUFFIX)): _identity(file_stat(entry.stat(follow_symlinks=False)))
                    for entry in entries
                    if _is_ours(entry)
                }
        except FileNotFoundError:
            return {}

    def size(self) -> int:
        """Return the bytes of all session files."""
        return sum(stat.size for stat in self.stats().values())

    def has(self, session: SessionId) -> bool:
        """Return whether anything exists at the path of a session's file."""
        return os.path.lexists(self.path / f"{session}{SUFFIX}")

    def read(self, session: SessionId) -> StoredSession | None:
        """Return the current state of a session, None if it has no file.

        Raises ForeignDocumentError or DamagedDocumentError for a file that is no valid session, TornReadError for a
        file that changes while it is read, NotReadableError for a file that is too large.
        """
        self.refuse_links()
        latest = self._latest.get(session)
        if latest is not None and self.stat(session) == latest.stat:
            return latest
        try:
            content = read_stable(self._workspace, f"{self.folder}/{session}{SUFFIX}", max_bytes=MAX_BYTES)
        except FileNotFoundError:
            return None
        stored = StoredSession(parse_session(content.data), _identity(content.stat))
        if stored.session.id != session:
            raise DamagedDocumentError(f"its session_id is {stored.session.id!r}")
        self._cache(session, stored)
        return stored

    def write(self, session: Session, expected: FileStat | Literal["absent"]) -> StoredSession | None:
        """Write a session and return its stored state, None if another writer has replaced it already.

        Raises FileChangedError, and writes nothing, if the file is not the `expected` one. Raises StoreError for a
        session that is too large, or has too many turns, to be read again. The data survives a loss of power; the file
        name does only after `sync_folder`.
        """
        with self._lock:
            latest = self._latest.get(session.id)
        if session.last_seq > MAX_COUNT:
            raise StoreError(
                f"session {session.id} is full: its turns count to {MAX_COUNT}", hint="begin another session"
            )
        text = render_session(session, (latest.session, latest.text) if latest and latest.text else None)
        data = f"{text}\n".encode()
        if len(data) > MAX_BYTES:
            raise StoreError(f"session {session.id} is full: {MAX_BYTES >> 20} MiB", hint="begin another session")
        path = self.path / f"{session.id}{SUFFIX}"
        if expected == "absent":
            make_private_folder(path.parent)
        if len(self._replaced) >= _UNFREED:
            _close_all(self._replaced)
        stat = replace_file(path, data, expected=expected, is_durable=True, syncs_folder=False, replaced=self._replaced)
        if stat is None:
            return None
        stored = StoredSession(session, _identity(stat), text)
        self._cache(session.id, stored)
        return stored

    def remove(self, session: SessionId, expected: FileStat) -> None:
        """Remove the file of a session; raises FileChangedError if it is not the `expected` one."""
        with self._lock:
            self._latest.pop(session, None)
        remove_file(self.path / f"{session}{SUFFIX}", expected)

    def sync_folder(self) -> None:
        """Sync the folder, so that file names survive a loss of power, and free the space of replaced files."""
        sync_folder(self.path)
        _close_all(self._replaced)

    def stat(self, session: SessionId) -> FileStat | None:
        """Return the status by which a change of a session's file is detected, None if there is no file."""
        try:
            # no Path, for speed: this is called several times per turn
            stat = os.lstat(f"{self._folder}{session}{SUFFIX}")
        except OSError:
            return None
        return _identity(file_stat(stat))

    def refuse_links(self) -> None:
        """Raise OSError if the path of the folder leads through a symlink: its target may be outside the workspace."""
        for part, path in self._way:
            if path.is_symlink():
                raise OSError(f"{part} is a symbolic link, and nothing is read or written through one")

    def _cache(self, session: SessionId, stored: StoredSession) -> None:
        with self._lock:
            # move to the end: the first is evicted
            self._latest.pop(session, None)
            self._latest[session] = stored
            if len(self._latest) > _CACHED:
                del self._latest[next(iter(self._latest))]


def _close_all(descriptors: list[int]) -> None:
    while descriptors:
        os.close(descriptors.pop())


def _identity(stat: FileStat) -> FileStat:
    return FileStat(0, stat.inode, stat.size, stat.mtime_ns, stat.ctime_ns)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    name = entry.name.removesuffix(SUFFIX)
    return entry.name.endswith(SUFFIX) and name == safe_id(name) and entry.is_file(follow_symlinks=False)


class SessionChanges(Struct, frozen=True):
    """Changes of the sessions of a workspace and its archive. One thread at a time; other processes may write."""

    files: SessionFiles
    archive: SessionFiles

    def read(self, name: SessionId) -> StoredSession:
        """Return a session, archived or not. Raises NotFound, StoreError or StoreUnavailable."""
        with unavailable():
            stored = _read(self.files, name) or _read(self.archive, name)
        if stored is None:
            raise NotFound(f"there is no session {name}")
        return stored

    def change(self, name: SessionId, change: Change, *, fresh: Session | None = None) -> StoredSession | None:
        """Apply `change` to a session, write the result and return it, None if nothing is to be written.

        `fresh` is the initial state of a new session; without it NotFound is raised. An archived session is moved back.
        Raises StoreError for a file that cannot be read, and StoreUnavailable.
        """
        with unavailable():
            # always check the archive, so that a symlink there fails for every session alike
            self.archive.refuse_links()
            for _ in range(_TRIES):
                stored = _read(self.files, name)
                try:
                    if stored is None and self.archive.has(name):
                        return self._bring_back(name, change)
                    before = stored.session if stored else fresh
                    if before is None:
                        raise NotFound(f"there is no session {name}")
                    after = change(before)
                    if after is None:
                        return None
                    written = self.files.write(after, stored.stat if stored else "absent")
                except FileChangedError:
                    # another writer was faster: apply the change to its result
                    continue
                return written or _read(self.files, name)
        raise StoreUnavailable(f"others write to session {name} all the time")

    def _bring_back(self, name: SessionId, change: Change) -> StoredSession | None:
        """Change an archived session and move it back. Raises FileChangedError if it has been moved already."""
        with self._moving():
            archived = _read(self.archive, name)
            if archived is None or self.files.has(name):
                raise FileChangedError(f"session {name} was moved in between")
            after = change(archived.session)
            if after is None:
                return None
            written = self.files.write(after, "absent")
            _remove(self.archive, name)
            return written or _read(self.files, name)

    def put_away(self, name: SessionId, is_old: Callable[[Session], bool]) -> bool:
        """Move a session to the archive if it is old. Return False if it is not, or was changed in between."""
        with unavailable(), self._moving():
            stored = _read(self.files, name)
            if stored is None or not is_old(stored.session):
                return False
            before = _read(self.archive, name)
            try:
                if before is None or before.session != stored.session:
                    self.archive.write(stored.session, before.stat if before else "absent")
                # sync the archive first: after a loss of power it must not be missing in both places
                self.archive.sync_folder()
                self.files.remove(name, stored.stat)
            except FileChangedError:
                return False
        return True

    def change_archived(self, name: SessionId, change: Change) -> bool:
        """Apply `change` to an archived session, which stays archived. Return whether anything was written.

        Nothing is written if it has left the archive or another writer changed it in between.
        """
        with unavailable(), self._moving():
            stored = _read(self.archive, name)
            after = change(stored.session) if stored else None
            if stored is None or after is None:
                return False
            try:
                self.archive.write(after, stored.stat)
            except FileChangedError:
                return False
        return True

    def forget(self, name: SessionId) -> int:
        """Remove a session from both folders, and all drafts. Return the number of removed files."""
        if not self.files.path.parent.is_dir():
            return 0
        with unavailable(), self._moving():
            removed = _remove(self.files, name) + _remove(self.archive, name) + self.sweep()
            # a loss of power must not bring the names back
            self.files.sync_folder()
            self.archive.sync_folder()
        return removed

    def sweep(self) -> int:
        """Remove drafts that a kill left, and return their number."""
        return remove_drafts(self.files.path) + remove_drafts(self.archive.path)

    @contextlib.contextmanager
    def _moving(self) -> Iterator[None]:
        """Lock out other memoryd processes that move sessions between folders, or forget them."""
        with locked_folder(self.files.path.parent):
            yield


@contextlib.contextmanager
def unavailable() -> Iterator[None]:
    """Convert disk errors to StoreUnavailable."""
    try:
        yield
    except (OSError, TornReadError) as exc:
        raise StoreUnavailable(f"sessions cannot be read or written: {exc}") from exc


def _read(files: SessionFiles, name: SessionId) -> StoredSession | None:
    try:
        return files.read(name)
    except UNREADABLE as exc:
        raise StoreError(f"{files.folder}/{name}.json cannot be read: {exc}", hint="move it away, or mend it") from exc


def _remove(files: SessionFiles, name: SessionId) -> int:
    """Remove the file of a session until it stays away, even if another process writes it again.

    Return 1 if there was a file, else 0.
    """
    removed = 0
    for _ in range(_TRIES):
        stat = files.stat(name)
        if stat is None:
            return removed
        try:
            files.remove(name, stat)
        except FileChangedError:
            # let the other writer finish
            sleep(_PAUSE_SECONDS)
        else:
            removed = 1
    raise StoreUnavailable(f"others write to session {name} all the time")
