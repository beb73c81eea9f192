"""What the indexer knows of each file between two looks at the disk."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from memoryd.domain.documents import RelativePath
from memoryd.domain.syncplan import Known


class _LeftOut(NamedTuple):
    known: Known
    reason: str


class _Failure(NamedTuple):
    since: float
    reason: str


class FileTable:
    """Files that are indexed, those that were read and left out, and those that could not be read.

    A file is indexed or left out, never both; that it cannot be read now may be true of either. Only the first part
    is in the index too: after a restart the others are read again.
    """

    def __init__(self) -> None:
        self._indexed: dict[RelativePath, Known] = {}
        self._left_out: dict[RelativePath, _LeftOut] = {}
        self._failed: dict[RelativePath, _Failure] = {}
        self._held: dict[RelativePath, str] = {}

    @property
    def indexed(self) -> Mapping[RelativePath, Known]:
        """The files that the index holds; it changes under whoever keeps it."""
        return self._indexed

    @property
    def has_left_out(self) -> bool:
        return bool(self._left_out)

    @property
    def held(self) -> int:
        """How many files wait until somebody can say whether they are private."""
        return len(self._held)

    @property
    def reasons(self) -> Mapping[RelativePath, str]:
        """Why files are not indexed, or not as they are now."""
        reasons = {path: why for path, (_, why) in self._left_out.items()}
        return reasons | {path: why for path, (_, why) in self._failed.items()} | self._held

    def learn(self, indexed: Mapping[RelativePath, Known]) -> None:
        """Begin anew with what an index holds that was just opened."""
        self._indexed = dict(indexed)
        self._left_out, self._failed = {}, {}

    def view(self, *, is_forced: bool) -> dict[RelativePath, Known]:
        """Return all that a file on disk is compared with; if forced, as if all of it were stale."""
        view = self._indexed | {path: known for path, (known, _) in self._left_out.items()}
        return {path: replace(known, is_stale=True) for path, known in view.items()} if is_forced else view

    def knows(self, path: RelativePath) -> bool:
        """Tell whether a file is indexed or left out."""
        return path in self._indexed or path in self._left_out

    def put(self, path: RelativePath, known: Known) -> None:
        """Note that the index holds a file as it is."""
        self._indexed[path] = known
        self._left_out.pop(path, None)
        self._failed.pop(path, None)

    def leave_out(self, path: RelativePath, known: Known, reason: str) -> None:
        """Note why a file that could be read is not indexed."""
        self._left_out[path] = _LeftOut(known, reason)

    def touch(self, path: RelativePath, known: Known) -> None:
        """Note that a file was found unchanged."""
        self._failed.pop(path, None)
        if path in self._left_out:
            self._left_out[path] = self._left_out[path]._replace(known=known)
        else:
            self._indexed[path] = known

    def rename(self, old: RelativePath, new: RelativePath, known: Known, *, is_same: bool) -> None:
        """Give what is known of a file to its new name; one that was left out and is to be read anew is forgotten."""
        if self._indexed.pop(old, None) is not None:
            self._indexed[new] = known
            self._failed.pop(new, None)
        left_out = self._left_out.pop(old, None)
        if left_out is not None and is_same:
            self._left_out[new] = left_out._replace(known=known)

    def fail(self, path: RelativePath, reason: str, now: float) -> float:
        """Note that a file cannot be read; return since when, by the clock of `now`."""
        since = self._failed[path].since if path in self._failed else now
        self._failed[path] = _Failure(since, reason)
        return since

    def hold(self, path: RelativePath, reason: str) -> None:
        """Note that a file may be private, and why nobody can say now."""
        self._held[path] = reason

    def release(self) -> None:
        """Forget what was held: the rules of another look say it anew."""
        self._held = {}

    def forget(self, paths: Iterable[RelativePath]) -> None:
        """Note that these are gone, from the index too."""
        for path in paths:
            for part in (self._indexed, self._left_out, self._failed):
                part.pop(path, None)

    def keep_failures(self, paths: Collection[RelativePath]) -> None:
        """Forget that others than these could not be read: they are no longer on disk."""
        self._failed = {path: failure for path, failure in self._failed.items() if path in paths}
