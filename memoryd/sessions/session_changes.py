"""Change sessions so that many writers may: read, decide, compare and swap; decide again where another was faster."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Final

from memoryd.domain.sessions.json_values import DamagedDocumentError, ForeignDocumentError
from memoryd.domain.sessions.turns import Session, SessionId
from memoryd.errors import NotFound, StoreError, StoreUnavailable
from memoryd.files.reading import NotReadableError, TornReadError
from memoryd.files.writing import FileChangedError, locked_folder, remove_drafts
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
            # one rule for both: else it would depend on the session whether anything is kept
            self._archive.refuse_links()
            for _ in range(_TRIES):
                stored = _read(self._files, name)
                try:
                    if stored is None and self._archive.has(name):
                        return self._brought_back(name, change)
                    before = stored.session if stored else fresh
                    if before is None:
                        raise NotFound(f"there is no session {name}")
                    after = change(before)
                    if after is None:
                        return None
                    written = self._files.write(after, stored.stat if stored else "absent")
                except FileChangedError:
                    # another writer was faster: its turn comes before ours
                    continue
                return written or _read(self._files, name)
        raise StoreUnavailable(f"others write to session {name} all the time")

    def _brought_back(self, name: SessionId, change: Change) -> StoredSession | None:
        """Change a session that lies in the archive, which it leaves; raises FileChangedError where it does not."""
        with self._moving():
            archived = _read(self._archive, name)
            if archived is None or self._files.has(name):
                raise FileChangedError(f"session {name} is elsewhere since it was looked for")
            after = change(archived.session)
            if after is None:
                return None
            written = self._files.write(after, "absent")
            _remove(self._archive, name)
            return written or _read(self._files, name)

    def put_away(self, name: SessionId, is_old: Callable[[Session], bool]) -> bool:
        """Move a session to the archive if it is old; return False if it is not, or somebody added to it meanwhile."""
        with unavailable(), self._moving():
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

    def change_archived(self, name: SessionId, change: Change) -> bool:
        """Write what `change` makes of a session in the archive, where it stays; return whether anything was written.

        Nothing is where it is gone from there, or in the hands of another.
        """
        with unavailable(), self._moving():
            stored = _read(self._archive, name)
            after = change(stored.session) if stored else None
            if stored is None or after is None:
                return False
            try:
                self._archive.write(after, stored.stat)
            except FileChangedError:
                return False
        return True

    def forget(self, name: SessionId) -> int:
        """Remove a session here and from the archive, and what a kill left of either; return how many files went."""
        if not self._files.path.parent.is_dir():
            return 0
        with unavailable(), self._moving():
            gone = _remove(self._files, name) + _remove(self._archive, name)
            gone += self.sweep()
            # a loss of power must not bring the names back
            self._files.settle()
            self._archive.settle()
        return gone

    def sweep(self) -> int:
        """Remove drafts that a kill left, and return how many."""
        return remove_drafts(self._files.path) + remove_drafts(self._archive.path)

    @contextlib.contextmanager
    def _moving(self) -> Iterator[None]:
        """Keep others of ours from moving a session between folders: in between they hold what may be forgotten."""
        with locked_folder(self._files.path.parent):
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
    """Remove the file of a session, however often somebody writes it; return how many there were."""
    gone = 0
    for _ in range(_TRIES):
        stat = files.stat(name)
        if stat is None:
            return gone
        with contextlib.suppress(FileChangedError):
            files.remove(name, stat)
            gone = 1
    raise StoreUnavailable(f"others write to session {name} all the time")
