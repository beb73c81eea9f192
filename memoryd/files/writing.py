"""Write a file so that whoever reads it sees the old bytes or the new ones, never a part, and nobody's change is lost.

The only place of the package that puts a new file in the stead of another, but for a model: one that was downloaded or
converted is far too large to be handed over as bytes, so `models` renames the finished file into its place itself.
"""

import contextlib
import os
import stat as stat_module
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from memoryd.domain.documents import FileStat
from memoryd.files.drafts import draft_beside
from memoryd.files.exchange import exchange
from memoryd.files.folder_lock import locked_folder
from memoryd.files.octets import file_stat

PRIVATE_MODE: Final = 0o600


class FileChangedError(Exception):
    """The file is another one than was read; nothing was written. Read it again."""


def replace_file(
    path: Path,
    data: bytes,
    *,
    expected: FileStat | Literal["absent"] | None = None,
    is_durable: bool = False,
    syncs_folder: bool = True,
    replaced: list[int] | None = None,
) -> FileStat | None:
    """Write a file whole, or leave what is there and raise OSError; return its stat, None if it is another's already.

    `expected` makes it a compare-and-swap: FileChangedError is raised unless the file is still the one whose stat
    `read_octets` returned, or unless there is none. None writes over whatever is there. A new file is for its owner
    alone (mode 0600); one that was expected keeps its mode. `is_durable`: it outlasts a loss of power, too.
    Without `syncs_folder` the old file, whole, may stand there again after one, until `sync_folder` is called.
    `replaced` gets a descriptor of the old file, as `draft_beside` says.
    """
    with draft_beside(path, replaced) as (draft, file):
        file.write(data)
        file.flush()
        if is_durable:
            # before the rename: else the name may outlive a loss of power and the bytes not
            os.fsync(file.fileno())
        ours = _saved(draft)
        if expected is None:
            draft.replace(path)
        else:
            with locked_folder(path.parent):
                _swap(draft, path, expected)
    if is_durable and syncs_folder:
        sync_folder(path.parent)
    after = _stat_of(path)
    return file_stat(after) if after is not None and _of(after) == ours else None


def remove_file(path: Path, expected: FileStat) -> None:
    """Remove a file that is still the one that was read; raises FileChangedError if it is not, or OSError.

    No writer of ours comes in between, for it takes the same lock; an editor may.
    """
    with locked_folder(path.parent):
        stat = _stat_of(path)
        if stat is None or file_stat(stat) != replace(expected, device=stat.st_dev):
            raise FileChangedError(f"{path.name} has changed since it was read")
        path.unlink()


def _swap(draft: Path, path: Path, expected: FileStat | Literal["absent"]) -> None:
    """Put the draft in place of the file that is expected.

    The lock keeps other writers of ours out, but no editor: it may save at any moment, also between the comparison
    and the rename, which would throw away what it saved. So the two files change places in one step, and what came
    out is compared once more; where it is the editor's, they change back.
    """
    if expected == "absent":
        try:
            # unlike a rename, a link never takes the place of what is there
            os.link(draft, path)
        except FileExistsError as exc:
            raise FileChangedError(f"{path.name} has been made meanwhile") from exc
        return
    before = _stat_of(path)
    if before is None or file_stat(before) != replace(expected, device=before.st_dev):
        raise FileChangedError(f"{path.name} has changed since it was read")
    draft.chmod(stat_module.S_IMODE(before.st_mode))
    ours = _saved(draft)
    try:
        is_exchanged = exchange(draft, path)
    except FileNotFoundError as exc:
        raise FileChangedError(f"{path.name} has gone since it was read") from exc
    if not is_exchanged:
        # a system or a disk that cannot: an editor that saves within these microseconds loses
        draft.replace(path)
        return
    out = draft.lstat()
    # a rename sets the ctime, and nothing else; so an edit in place that sets back its time is not seen here
    if file_stat(out) != replace(expected, device=out.st_dev, ctime_ns=out.st_ctime_ns):
        _put_back(draft, path, ours)
        raise FileChangedError(f"{path.name} has changed since it was read")


def _put_back(draft: Path, path: Path, ours: tuple[int, int, int]) -> None:
    """Give the editor's file its place again, unless the editor has saved over ours, or removed it."""
    with contextlib.suppress(FileNotFoundError):
        exchange(draft, path)
        if _saved(draft) != ours:
            # saved once more in between, over ours or into it: that one stays
            exchange(draft, path)


def _saved(path: Path) -> tuple[int, int, int]:
    """Return what tells one save of a file from another."""
    return _of(path.lstat())


def _of(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _stat_of(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def sync_folder(folder: Path) -> None:
    """Have the name outlast a loss of power; the bytes are on the disk already, so that a refusal costs little."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
