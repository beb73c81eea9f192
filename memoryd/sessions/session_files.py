"""The files of sessions, one each: the truth about a conversation. Written whole, by compare-and-swap."""

import os
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from memoryd.domain.documents import FileStat
from memoryd.domain.sessions.documents import parse_session, render_session
from memoryd.domain.sessions.json_values import MAX_COUNT, DamagedDocumentError
from memoryd.domain.sessions.names import safe_id
from memoryd.domain.sessions.turns import Session, SessionId
from memoryd.errors import StoreError
from memoryd.files.reading import file_stat, read_settled
from memoryd.files.writing import remove_file, replace_file, sync_folder

SUFFIX: Final = ".json"
MAX_BYTES: Final = 64 << 20
_REMEMBERED: Final = 64
_UNFREED: Final = 64
"""So many old files wait at most until their space is freed."""


class LinkedFolderError(OSError):
    """A symlink leads to the folder of sessions, or out of the workspace: nothing was read or written."""


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session as its file held it at one instant; `stat` is what a swap compares."""

    session: Session
    stat: FileStat
    """Without its device, which differs by how some systems are asked."""
    text: str = ""
    """As `render_session` gave it; empty for a file that was read."""


class SessionFiles:
    """One folder of them, below a workspace. Raises OSError where the disk or a symlink stands in the way."""

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
        """The folder; raises LinkedFolderError where a symlink leads to it: nothing is done through one."""
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

    def has(self, session: SessionId) -> bool:
        """Tell whether anything stands where the file of a session would, whatever it is."""
        return os.path.lexists(self.path / f"{session}{SUFFIX}")

    def read(self, session: SessionId) -> StoredSession | None:
        """Return a session as it stands now, None if there is none.

        Raises ForeignDocumentError or DamagedDocumentError for a file that cannot be read as one, TornReadError for
        one that changes meanwhile, NotReadableError for one that is too large.
        """
        self.refuse_links()
        latest = self._latest.get(session)
        if latest is not None and self.stat(session) == latest.stat:
            return latest
        try:
            octets = read_settled(self._workspace, f"{self.folder}/{session}{SUFFIX}", max_bytes=MAX_BYTES)
        except FileNotFoundError:
            return None
        stored = StoredSession(parse_session(octets.data), _identity(octets.stat))
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
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
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
        """Raise LinkedFolderError where a symlink leads to the folder."""
        # whoever put it there may not know what lies at its end, which may be no part of the workspace
        for part, path in self._way:
            if path.is_symlink():
                raise LinkedFolderError(f"{part} is a symbolic link, and nothing is read or written through one")

    def _keep(self, session: SessionId, stored: StoredSession) -> None:
        with self._lock:
            # the latest stands last
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
