"""The files of sessions, one each: the truth about a conversation. Written whole, by compare-and-swap.

Many processes may write: a change is read, decided and swapped, and decided again where another writer was faster.
Moves between folders are behind a lock.
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
from memoryd.files.reading import NotReadableError, TornReadError, file_stat, read_settled
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
_REMEMBERED = 64
_UNFREED = 64
"""So many old files wait at most until their space is freed."""
UNREADABLE = (ForeignDocumentError, DamagedDocumentError, NotReadableError)
_TRIES = 500
_PAUSE_SECONDS = 0.001
"""Of writers that meet one wins each time; so many defeats in a row are not theirs."""
Change = Callable[[Session], Session | None]
"""What a session is to become, from what it is; None leaves it. It may be asked more than once."""


class StoredSession(Struct, frozen=True):
    """A session as its file held it at one instant; `stat` is what a swap compares."""

    session: Session
    stat: FileStat
    """Without its device, which differs by how some systems are asked."""
    text: str = ""
    """As `render_session` gave it; empty for a file that was read."""


class SessionFiles:
    """One folder of them, below a workspace. Raises OSError where the disk or a symlink refuses it."""

    def __init__(self, workspace: Path, folder: str) -> None:
        self._workspace = workspace
        self.folder = folder
        self._folder = f"{workspace / folder}/"
        self._path = workspace / folder
        way = (*reversed(Path(folder).parents[:-1]), Path(folder))
        self._way = [(str(part), workspace / part) for part in way]
        self._lock = threading.Lock()
        self._latest: dict[SessionId, StoredSession] = {}
        """Those that were read or written last, so that a session that grows is not parsed at every turn."""
        self._replaced: list[int] = []
        """Descriptors of old files without a name: a turn does not wait until their space is free."""
        weakref.finalize(self, _close_all, self._replaced)

    @property
    def path(self) -> Path:
        """The folder; raises OSError where a symlink leads to it: nothing is done through one."""
        self.refuse_links()
        return self._path

    def stats(self) -> dict[SessionId, FileStat]:
        """Return what a scan compares of each file, by session; files with other names are none of ours."""
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
        """Return the bytes of all of them."""
        return sum(stat.size for stat in self.stats().values())

    def has(self, session: SessionId) -> bool:
        """Tell whether there is anything at the path of a session's file, whatever it is."""
        return os.path.lexists(self.path / f"{session}{SUFFIX}")

    def read(self, session: SessionId) -> StoredSession | None:
        """Return a session as it is now, None if there is none.

        Raises ForeignDocumentError or DamagedDocumentError for a file that cannot be read as one, TornReadError for
        one that changes meanwhile, NotReadableError for one that is too large.
        """
        self.refuse_links()
        latest = self._latest.get(session)
        if latest is not None and self.stat(session) == latest.stat:
            return latest
        try:
            content = read_settled(self._workspace, f"{self.folder}/{session}{SUFFIX}", max_bytes=MAX_BYTES)
        except FileNotFoundError:
            return None
        stored = StoredSession(parse_session(content.data), _identity(content.stat))
        if stored.session.id != session:
            raise DamagedDocumentError(f"its session_id is {stored.session.id!r}")
        self._keep(session, stored)
        return stored

    def write(self, session: Session, expected: FileStat | Literal["absent"]) -> StoredSession | None:
        """Put a session into its file and return it, None if another writer has been there already.

        Raises FileChangedError, and writes nothing, if another writer was there since it was read; StoreError for one
        that could not be read again for its size or its numbers.
        The bytes outlast a loss of power; that the name leads to them is made sure of by `settle`.
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
        self._keep(session.id, stored)
        return stored

    def remove(self, session: SessionId, expected: FileStat) -> None:
        """Remove the file of a session that is still the one that was read; raises FileChangedError if it is not."""
        with self._lock:
            self._latest.pop(session, None)
        remove_file(self.path / f"{session}{SUFFIX}", expected)

    def settle(self) -> None:
        """Have the names of all files outlast a loss of power, and free the space of those that were replaced."""
        sync_folder(self.path)
        _close_all(self._replaced)

    def stat(self, session: SessionId) -> FileStat | None:
        """Return what tells whether the file of a session is still the one that was read, None if there is none."""
        try:
            # no Path: this is asked several times a turn
            stat = os.lstat(f"{self._folder}{session}{SUFFIX}")
        except OSError:
            return None
        return _identity(file_stat(stat))

    def refuse_links(self) -> None:
        """Raise OSError where a symlink leads to the folder."""
        # its target may lie outside of the workspace
        for part, path in self._way:
            if path.is_symlink():
                raise OSError(f"{part} is a symbolic link, and nothing is read or written through one")

    def _keep(self, session: SessionId, stored: StoredSession) -> None:
        with self._lock:
            # the latest is last
            self._latest.pop(session, None)
            self._latest[session] = stored
            if len(self._latest) > _REMEMBERED:
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
    """The sessions of a workspace and its archive. One thread at a time; other processes may write as they like."""

    files: SessionFiles
    archive: SessionFiles

    def read(self, name: SessionId) -> StoredSession:
        """Return a session, from the archive too; raises NotFound, StoreError or StoreUnavailable."""
        with unavailable():
            stored = _read(self.files, name) or _read(self.archive, name)
        if stored is None:
            raise NotFound(f"there is no session {name}")
        return stored

    def change(self, name: SessionId, change: Change, *, fresh: Session | None = None) -> StoredSession | None:
        """Write what `change` makes of a session and return it, None if nothing is to be written.

        `fresh` is what is changed where there is no session; without it NotFound is raised. One that lies in the
        archive comes back from it. Raises StoreError for a file that cannot be read, and StoreUnavailable.
        """
        with unavailable():
            # one rule for both: else it would depend on the session whether anything is kept
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
                    # another writer was faster: its turn comes before ours
                    continue
                return written or _read(self.files, name)
        raise StoreUnavailable(f"others write to session {name} all the time")

    def _bring_back(self, name: SessionId, change: Change) -> StoredSession | None:
        """Change a session that lies in the archive, which it leaves; raises FileChangedError where it does not."""
        with self._moving():
            archived = _read(self.archive, name)
            if archived is None or self.files.has(name):
                raise FileChangedError(f"session {name} is elsewhere since it was looked for")
            after = change(archived.session)
            if after is None:
                return None
            written = self.files.write(after, "absent")
            _remove(self.archive, name)
            return written or _read(self.files, name)

    def put_away(self, name: SessionId, is_old: Callable[[Session], bool]) -> bool:
        """Move a session to the archive if it is old; return False if it is not, or has grown meanwhile."""
        with unavailable(), self._moving():
            stored = _read(self.files, name)
            if stored is None or not is_old(stored.session):
                return False
            before = _read(self.archive, name)
            try:
                if before is None or before.session != stored.session:
                    self.archive.write(stored.session, before.stat if before else "absent")
                # the archive first: a loss of power must not find it in neither
                self.archive.settle()
                self.files.remove(name, stored.stat)
            except FileChangedError:
                return False
        return True

    def change_archived(self, name: SessionId, change: Change) -> bool:
        """Write what `change` makes of a session in the archive, where it stays; return whether anything was written.

        Nothing is where it is gone from there, or in the hands of another.
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
        """Remove a session here and from the archive, and what a kill left of either; return how many files went."""
        if not self.files.path.parent.is_dir():
            return 0
        with unavailable(), self._moving():
            gone = _remove(self.files, name) + _remove(self.archive, name)
            gone += self.sweep()
            # a loss of power must not bring the names back
            self.files.settle()
            self.archive.settle()
        return gone

    def sweep(self) -> int:
        """Remove drafts that a kill left, and return how many."""
        return remove_drafts(self.files.path) + remove_drafts(self.archive.path)

    @contextlib.contextmanager
    def _moving(self) -> Iterator[None]:
        """Keep others of ours from moving a session between folders: in between they hold what may be forgotten."""
        with locked_folder(self.files.path.parent):
            yield


@contextlib.contextmanager
def unavailable() -> Iterator[None]:
    """Raise what the disk says as StoreUnavailable."""
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
    """Remove the file of a session, however often another process writes it; return how many there were."""
    gone = 0
    for _ in range(_TRIES):
        stat = files.stat(name)
        if stat is None:
            return gone
        try:
            files.remove(name, stat)
        except FileChangedError:
            # a writer that was interrupted in between comes on only if nobody spins
            sleep(_PAUSE_SECONDS)
        else:
            gone = 1
    raise StoreUnavailable(f"others write to session {name} all the time")
