"""Change sessions so that many writers may: read, decide, compare and swap; decide again where another was faster."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Final

from memoryd.domain.sessions.json_values import DamagedDocumentError, ForeignDocumentError
from memoryd.domain.sessions.turns import Session, SessionId
from memoryd.errors import NotFound, StoreError, StoreUnavailable
from memoryd.files.octets import NotReadableError, TornReadError
from memoryd.files.writing import FileChangedError
from memoryd.sessions.session_files import SessionFiles, StoredSession

UNREADABLE: Final = (ForeignDocumentError, DamagedDocumentError, NotReadableError)
_TRIES: Final = 500
"""Of writers that meet one wins each time; so many defeats in a row are not theirs."""

Change = Callable[[Session], Session | None]
"""What a session is to become, from what it is; None leaves it. It may be asked more than once."""


class SessionChanges:
    """The sessions of a workspace and its archive. One thread at a time; other processes may write as they like."""

    def __init__(self, files: SessionFiles, archive: SessionFiles) -> None:
        self._files = files
        self._archive = archive

    def read(self, name: SessionId) -> StoredSession:
        """Return a session, from the archive too; raises NotFound, StoreError or StoreUnavailable."""
        with unavailable():
            stored = _read(self._files, name) or _read(self._archive, name)
        if stored is None:
            raise NotFound(f"there is no session {name}")
        return stored

    def change(self, name: SessionId, change: Change, *, fresh: Session | None = None) -> StoredSession | None:
        """Write what `change` makes of a session and return it, None if nothing is to be written.

        `fresh` is what is changed where there is no session; without it NotFound is raised. One that lies in the
        archive comes back from it. Raises StoreError for a file that cannot be read, and StoreUnavailable.
        """
        with unavailable():
            for _ in range(_TRIES):
                stored = _read(self._files, name)
                archived = None if stored else _read(self._archive, name)
                before = stored or archived
                if before is None and fresh is None:
                    raise NotFound(f"there is no session {name}")
                after = change(before.session if before else fresh)  # type: ignore[arg-type]  # one of them is there
                if after is None:
                    return None
                try:
                    self._files.write(after, stored.stat if stored else "absent")
                except FileChangedError:
                    # another writer was faster: its turn comes before ours
                    continue
                if archived is not None:
                    _remove(self._archive, name)
                return _read(self._files, name)
        raise StoreUnavailable(f"others write to session {name} all the time")

    def put_away(self, name: SessionId, is_old: Callable[[Session], bool]) -> bool:
        """Move a session to the archive if it is old; return False if it is not, or somebody added to it meanwhile."""
        with unavailable():
            stored = _read(self._files, name)
            if stored is None or not is_old(stored.session):
                return False
            before = _read(self._archive, name)
            try:
                if before is None or before.session != stored.session:
                    self._archive.write(stored.session, before.stat if before else "absent")
                # the archive first: a loss of power must not find it in neither
                self._archive.settle()
                self._files.remove(name, stored.stat)
            except FileChangedError:
                return False
        return True

    def forget(self, name: SessionId) -> None:
        """Remove a session here and from the archive."""
        with unavailable():
            _remove(self._files, name)
            _remove(self._archive, name)


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


def _remove(files: SessionFiles, name: SessionId) -> None:
    for _ in range(_TRIES):
        stat = files.stat(name)
        if stat is None:
            return
        with contextlib.suppress(FileChangedError):
            files.remove(name, stat)
