"""What qmd is given to read: copies of the notes that are public, and never the notes themselves.

qmd reads whatever its globs match, when it likes, and cannot judge what a note says of itself; what it has never been
shown it cannot keep, and a note that turns private while qmd reads is not in its way.
"""

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path

from memoryd.domain.documents import FileStat, is_utf8_name
from memoryd.domain.syncplan import Known
from memoryd.files.ignore import Ruling, is_private
from memoryd.files.reading import NotReadableError, TornReadError, decode, file_stat, read_octets
from memoryd.files.writing import replace_file
from memoryd.qmd.collections import Collection

_UNNAMEABLE = (errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR)


@dataclass(frozen=True, slots=True)
class _Note:
    """A file of a collection that no rule hides by its name."""

    root: Path
    relative: str
    stat: FileStat


class _Verdict(Enum):
    """What is to be done about a copy after the note was looked at."""

    AS_BEFORE = auto()
    PRIVATE = auto()
    AGAIN = auto()


@dataclass(frozen=True, slots=True)
class _Judged:
    """What a note was when it was read."""

    known: Known
    is_private: bool

    def holds(self, stat: FileStat) -> bool:
        """Tell whether that is sure to be so still."""
        return self.known.stat == stat and not self.known.is_racy(time.time_ns())


class QmdCopies:
    """Keeps a folder equal to what the collections hold of public notes; `refresh` blocks.

    `apart` is the state folder, which no collection reaches into: the copies lie in it. While nobody knows the rules,
    nothing new or changed is copied, and what is hidden by those that are known goes.
    """

    def __init__(
        self,
        *,
        folder: Path,
        workspace: Path,
        apart: Path,
        rule: Callable[[], Ruling],
        max_bytes: int,
        on_withdraw: Callable[[], None],
    ) -> None:
        self._folder = folder
        self._workspace = workspace
        self._apart = apart
        self._rule = rule
        self._max_bytes = max_bytes
        self._on_withdraw = on_withdraw
        self._judged: dict[str, _Judged] = {}

    def refresh(self, collections: Sequence[Collection]) -> bool:
        """Withdraw what is public no more and copy what is new; return False if something changed meanwhile.

        Raises OSError if the disk stands in the way.
        """
        ruling = self._rule()
        notes = {f"{one.name}/{note.relative}": note for one in collections for note in self._listed(one, ruling)}
        self._judged = {name: judged for name, judged in self._judged.items() if name in notes}
        self._withdraw(set(_files_below(self._folder)) - notes.keys())
        verdicts = {name: self._bring(name, note, ruling) for name, note in notes.items()}
        self._withdraw({name for name, verdict in verdicts.items() if verdict is _Verdict.PRIVATE})
        return _Verdict.AGAIN not in verdicts.values()

    def _bring(self, name: str, note: _Note, ruling: Ruling) -> _Verdict:
        """Look at a note if it may be another than before, and make a copy if there may be one."""
        target, judged = self._folder / name, self._judged.get(name)
        if judged is not None and judged.holds(note.stat) and (judged.is_private or os.path.lexists(target)):
            return _Verdict.PRIVATE if judged.is_private else _Verdict.AS_BEFORE
        try:
            octets = read_octets(note.root, note.relative, max_bytes=self._max_bytes)
        except TornReadError:
            return _Verdict.AGAIN
        except (OSError, NotReadableError):
            return _Verdict.PRIVATE
        data = octets.data
        judged = _Judged(Known(octets.stat, octets.read_at_ns), is_private(decode(data)[0]))
        if judged.is_private:
            self._judged[name] = judged
            return _Verdict.PRIVATE
        if ruling.hold is not None:
            return _Verdict.AS_BEFORE
        # after the note was read: rules that were written meanwhile may hide it
        if not ruling.is_current():
            return _Verdict.AGAIN
        _copy(target, data)
        self._judged[name] = judged
        return _Verdict.AS_BEFORE

    def _withdraw(self, names: set[str]) -> None:
        """Delete copies; before the first of them goes it is noted that qmd has to forget something."""
        there = [name for name in names if os.path.lexists(self._folder / name)]
        if there:
            self._on_withdraw()
        for name in there:
            path = self._folder / name
            path.unlink(missing_ok=True)
            for parent in path.relative_to(self._folder).parents:
                with contextlib.suppress(OSError):
                    (self._folder / parent).rmdir()

    def _listed(self, collection: Collection, ruling: Ruling) -> Iterator[_Note]:
        """Yield the files of a collection; through symlinks and into hidden folders qmd does not look either."""
        root, apart = Path(collection.root), _identity(self._apart)
        waiting = [""]
        while waiting:
            at = waiting.pop()
            inside = f"{os.path.relpath(root / at, self._workspace)}/".removeprefix("./")
            for entry in _entries(root / at):
                relative = f"{at}{entry.name}"
                if entry.is_dir():
                    is_wanted = collection.may_hold_below(relative) and _identity(Path(entry.path)) != apart
                    if is_wanted and not ruling.is_ignored(f"{inside}{entry.name}/"):
                        waiting.append(f"{relative}/")
                elif collection.holds(relative) and not ruling.is_ignored(f"{inside}{entry.name}"):
                    with contextlib.suppress(FileNotFoundError):
                        yield _Note(root, relative, file_stat(entry.stat()))


def _copy(target: Path, data: bytes) -> None:
    """Make a copy unless it is there; one whose name is too long for this place is left out."""
    try:
        with contextlib.suppress(FileNotFoundError):
            if target.read_bytes() == data:
                return
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(target, data)
    except OSError as exc:
        if exc.errno not in _UNNAMEABLE:
            raise


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the files and folders in a folder, no symlinks, and nothing of one that cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return [one for one in entries if is_utf8_name(one.name) and not one.is_symlink()]
    except OSError:
        return []


def _files_below(folder: Path) -> Iterator[str]:
    for at, _, names in os.walk(folder):
        yield from (os.path.relpath(os.path.join(at, name), folder) for name in names)  # noqa: PTH118


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
