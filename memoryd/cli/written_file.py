"""Files that commands write for their user: whole or not at all, and what was there before kept on request."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Literal

from memoryd.cli.invocation import Invocation
from memoryd.errors import DaemonNotRunning, InvalidRequest, MemorydError, NotNow, StoreUnavailable
from memoryd.files.reading import NotReadableError, TornReadError, read_beginning, read_snapshot
from memoryd.files.writing import FileChangedError, replace_file, streamed_file, sync_folder

_MAX_BYTES = 4 * 1024 * 1024
_FOLDER_MODE = 0o700


@contextmanager
def _translated_errors(path: Path, happened: str = "has been made") -> Iterator[None]:
    """Raise what keeps a file from being written as NotNow, where another program wrote it, or MemorydError."""
    try:
        yield
    except FileChangedError as exc:
        raise NotNow(f"{path} {happened} meanwhile, and is left as it is", hint="try again") from exc
    except (OSError, NotReadableError, TornReadError) as exc:
        what = exc.strerror if isinstance(exc, OSError) and exc.strerror else exc
        raise MemorydError(f"{path} cannot be written: {what}") from exc


def read_text(path: Path) -> str:
    """Return the text of a file that `rewrite` may replace, empty if there is none.

    Raises InvalidRequest for a link, for what is no regular file, over 4 MB or not UTF-8, and what cannot be read.
    """
    try:
        info, data = read_beginning(path, _MAX_BYTES + 1, os.O_NOFOLLOW)
        if not stat.S_ISREG(info.st_mode):
            raise InvalidRequest(f"{path} is no regular file", hint="put the file itself there")
        if len(data) > _MAX_BYTES:
            raise InvalidRequest(f"{path} is larger than 4 MB")
        return data.decode()
    except FileNotFoundError:
        return ""
    except OSError as exc:
        if exc.errno == errno.ELOOP:
            raise InvalidRequest(f"{path} is a symbolic link", hint="put the file itself there") from exc
        raise InvalidRequest(f"{path} cannot be read: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise InvalidRequest(f"{path}: line {line} is not UTF-8", hint="save the file as UTF-8") from exc


def rewrite(path: Path, text: str, *, expected: Literal["absent"] | None = None) -> None:
    """Write a file for its owner alone, over the one that is there, if any; raises MemorydError.

    With `absent` raises NotNow if there is one.
    """
    with _translated_errors(path):
        path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        replace_file(path, text.encode(), expected=expected, is_durable=True)


def make_folder(path: Path) -> None:
    """Make a folder for its owner alone, with those above it. Raises MemorydError."""
    with _translated_errors(path):
        path.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)


def link(path: Path, target: Path, now: datetime | None) -> Path | None:
    """Put a link to a file at the path; with a time, what is there is copied and removed first. Return the copy.

    Raises NotNow, MemorydError.
    """
    copy = None
    with _translated_errors(path):
        path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        if now is not None:
            copy = _copy_beside(path, path.read_bytes(), now)
            path.unlink()
        try:
            path.symlink_to(target)
        except FileExistsError as exc:
            raise FileChangedError(str(path)) from exc
    return copy


def replace_with_backup(path: Path, text: str, now: datetime) -> Path:
    """Write a file in place of another, which is copied beside it first; return the copy. Raises NotNow, MemorydError.

    Of a link the copy holds what it leads to, and the link itself gives way: what it leads to is somebody else's.
    """
    with _translated_errors(path, "was changed"):
        if path.is_symlink():
            copy = _copy_beside(path, path.read_bytes() if path.exists() else b"", now)
            replace_file(path, text.encode(), is_durable=True)
            return copy
        before = read_snapshot(path.parent, path.name, max_bytes=_MAX_BYTES)
        copy = _copy_beside(path, before.data, now)
        replace_file(path, text.encode(), expected=before.stat, is_durable=True)
    return copy


def write_config(invocation: Invocation, path: Path, text: str) -> Path | None:
    """Write the configuration, and have a running daemon take it; return the copy of the file before, if there was one.

    Raises NotNow where somebody else wrote it meanwhile, MemorydError.
    """
    kept = None
    if path.exists():
        kept = replace_with_backup(path, text, datetime.now().astimezone())
    else:
        rewrite(path, text, expected="absent")
    try:
        reply = invocation.memory.reload()
    except DaemonNotRunning:
        return kept
    if reply["problems"]:
        raise MemorydError(f"memoryd did not take the new configuration: {'; '.join(reply['problems'])}")
    return kept


@contextmanager
def streamed(path: Path, *, replaces: bool) -> Iterator[IO[bytes]]:
    """Write a file part by part; it is there when all is written, and outlasts a loss of power.

    Raises InvalidRequest for a place where no file may be written, StoreUnavailable.
    """
    _require_place(path, replaces=replaces)
    try:
        with streamed_file(path, replaces=replaces) as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        sync_folder(path.absolute().parent)
    except FileChangedError as exc:
        raise InvalidRequest(str(exc), hint="name another file, or give --force") from exc
    except OSError as exc:
        raise StoreUnavailable(f"{path} cannot be written: {exc.strerror or exc}") from exc


def _require_place(path: Path, *, replaces: bool) -> None:
    """Raise InvalidRequest for a place of another file, unless it `replaces` that, or of what is no file.

    Other programs may use a device, a pipe or a link by that name.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:
        # there is none, or who writes it says why it cannot be
        return
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a link" if stat.S_ISLNK(mode) else "no regular file"
        raise InvalidRequest(
            f"{path} is {what}, and is left as it is", hint="name a file; - is standard output, for a pipe or a device"
        )
    if not replaces:
        raise InvalidRequest(f"{path} is there already", hint="name another file, or give --force")


def _copy_beside(path: Path, data: bytes, now: datetime) -> Path:
    copy = path.with_name(f"{path.name}.{now:%Y-%m-%d-%H%M%S}")
    replace_file(copy, data, expected="absent", is_durable=True)
    return copy
