"""Files that commands write for the user: each is written completely or not at all, with a backup on request."""

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
def _translate_errors(path: Path, event: str = "has been made") -> Iterator[None]:
    """Raise NotNow if another program wrote the file, MemorydError for other failures to write it."""
    try:
        yield
    except FileChangedError as exc:
        raise NotNow(f"{path} {event} meanwhile, and stays unchanged", hint="try again") from exc
    except (OSError, NotReadableError, TornReadError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else exc
        raise MemorydError(f"{path} cannot be written: {reason}") from exc


def read_text(path: Path) -> str:
    """Return the text of a file that `rewrite` may replace, empty if there is none.

    Raises InvalidRequest for a link, and for a file that is not regular, over 4 MB, not UTF-8 or not readable.
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
    """Write a file, readable by its owner only, and replace an existing one. Raises MemorydError.

    With `expected="absent"`, raises NotNow if the file exists.
    """
    with _translate_errors(path):
        path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        replace_file(path, text.encode(), expected=expected, is_durable=True)


def make_folder(path: Path) -> None:
    """Make a folder and its parents, readable by their owner only. Raises MemorydError."""
    with _translate_errors(path):
        path.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)


def link(path: Path, target: Path, now: datetime | None) -> Path | None:
    """Make a symbolic link at `path`. With `now`, copy and remove the existing file first. Return the copy, or None.

    Raises NotNow if `path` exists, MemorydError.
    """
    copy = None
    with _translate_errors(path):
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
    """Copy a file beside itself, then replace it; return the copy. Raises NotNow if it changed, MemorydError.

    For a symbolic link the copy has the content of its target, and the link itself is replaced: the target may belong
    to another program.
    """
    with _translate_errors(path, "was changed"):
        if path.is_symlink():
            copy = _copy_beside(path, path.read_bytes() if path.exists() else b"", now)
            replace_file(path, text.encode(), is_durable=True)
            return copy
        before = read_snapshot(path.parent, path.name, max_bytes=_MAX_BYTES)
        copy = _copy_beside(path, before.data, now)
        replace_file(path, text.encode(), expected=before.stat, is_durable=True)
    return copy


def write_config(invocation: Invocation, path: Path, text: str) -> Path | None:
    """Write the configuration and make a running daemon reload it; return the backup of the old file, or None.

    Raises NotNow if another program wrote the file at the same time, MemorydError.
    """
    backup = None
    if path.exists():
        backup = replace_with_backup(path, text, datetime.now().astimezone())
    else:
        rewrite(path, text, expected="absent")
    try:
        reply = invocation.memory.reload()
    except DaemonNotRunning:
        return backup
    if reply["problems"]:
        raise MemorydError(f"memoryd did not take the new configuration: {'; '.join(reply['problems'])}")
    return backup


@contextmanager
def open_for_export(path: Path, *, replaces: bool) -> Iterator[IO[bytes]]:
    """Yield a stream to a new file, which appears under its name when all is written, and is then durable.

    Raises InvalidRequest if no file may be written at `path`, StoreUnavailable.
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
    """Raise InvalidRequest if `path` exists, unless `replaces` is true and it is a regular file.

    Other programs may use a device, a pipe or a link of that name.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:
        # there is no file, or writing it reports the error
        return
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a link" if stat.S_ISLNK(mode) else "no regular file"
        raise InvalidRequest(
            f"{path} is {what}, and stays unchanged", hint="name a file; - is standard output, for a pipe or a device"
        )
    if not replaces:
        raise InvalidRequest(f"{path} is there already", hint="name another file, or give --force")


def _copy_beside(path: Path, data: bytes, now: datetime) -> Path:
    copy = path.with_name(f"{path.name}.{now:%Y-%m-%d-%H%M%S}")
    replace_file(copy, data, expected="absent", is_durable=True)
    return copy
