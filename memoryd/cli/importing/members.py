"""The files of an export: one file, a folder, or a zip archive as it was handed out, which is read in place.

What a folder or an archive holds is not trusted: no link is followed, each read is bounded, and so are all together.
"""

import errno
import os
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from msgspec import Struct

from memoryd.errors import InvalidRequest

TOTAL_BYTES_MAX = 4 * 2**30
"""What is unpacked of one archive: exports of years have less, and a bomb ends here."""
MEMBERS_MAX = 200_000
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError)
"""What `zipfile` raises for damaged and encrypted members, and methods that it does not know."""


class UnreadableExportError(Exception):
    """A file cannot be read, and why."""


class ExportedFile(Struct, frozen=True):
    """A file of an export by its path there, with `/` between parts."""

    name: str
    opened: Callable[[], IO[bytes]]
    left: list[int]
    """How many bytes may still be read of all of them: one number that they share."""

    def read(self, limit: int) -> bytes:
        """Return the file, or one byte more than `limit` of a longer one.

        Raises UnreadableExportError, and InvalidRequest where all that was read is too much.
        """
        try:
            with self.opened() as file:
                data = file.read(limit + 1)
        except OSError as exc:
            raise UnreadableExportError(f"it cannot be read: {exc.strerror or exc}") from exc
        except DAMAGED as exc:
            raise UnreadableExportError(f"it is damaged or encrypted: {exc}") from exc
        self.left[0] -= len(data)
        if self.left[0] < 0:
            raise InvalidRequest("it holds more than 4 GB, unpacked", hint="give a folder with a part of it")
        return data


@contextmanager
def opened_members(path: Path) -> Iterator[list[ExportedFile]]:
    """Open what lies at a path; the files are in the order of their names. Raises InvalidRequest."""
    left = [TOTAL_BYTES_MAX]
    with ExitStack() as stack:
        try:
            if path.is_dir():
                found = [ExportedFile(name, partial(_open_plain, path / name), left) for name in _files_below(path)]
            elif zipfile.is_zipfile(file := stack.enter_context(_open_plain(path.resolve()))):
                archive = stack.enter_context(zipfile.ZipFile(file))
                infos = [one for one in archive.infolist() if not one.is_dir()]
                found = [ExportedFile(one.filename, partial(archive.open, one), left) for one in infos]
            else:
                found = [ExportedFile(path.name, partial(_open_plain, path), left)]
        except OSError as exc:
            raise InvalidRequest(f"{path} cannot be read: {exc.strerror or exc}") from exc
        except DAMAGED as exc:
            raise InvalidRequest(f"{path} is a damaged archive: {exc}") from exc
        if len(found) > MEMBERS_MAX:
            raise InvalidRequest(f"{path} holds more than {MEMBERS_MAX:,} files", hint="give a part of it")
        yield sorted(found, key=lambda one: one.name)


def _files_below(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, and as `name/` the folders that are links; raises OSError of the folder itself.

    What lies in a hidden folder is left out.
    """
    next(folder.iterdir(), None)
    for where, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if not one.startswith(".")]
        links = [f"{one}/" for one in folders if (Path(where) / one).is_symlink()]
        at = Path(where).relative_to(folder).as_posix()
        yield from (name if at == "." else f"{at}/{name}" for name in (*names, *links))


def _open_plain(path: Path) -> IO[bytes]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as exc:
        if exc.errno == errno.ELOOP:
            raise OSError(f"{path} is a link") from exc
        raise
    file = os.fdopen(descriptor, "rb")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        raise OSError(f"{path} is no regular file")
    return file
