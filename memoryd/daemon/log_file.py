"""A log file of our own, for where nobody else keeps what is said: rotated, bounded, and for its owner alone."""

import contextlib
import errno
import logging
import os
import stat
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

LOG_NAME: Final = "memoryd.log"
FILE_BYTES: Final = 4_800_000
KEPT: Final = 3
"""Files before the present one."""
MOST_BYTES: Final = FILE_BYTES * (KEPT + 1)
LINE_CHARS: Final = 64 * 1024
"""A longer line, as of a traceback without end, is cut in the middle."""


class LogFile:
    """Writes lines to the file; what stands in the way costs the line and is told by `trouble`."""

    def __init__(self, path: Path, *, file_bytes: int = FILE_BYTES) -> None:
        self.path = path
        self.trouble: str | None = None
        """Why the last line could not be written."""
        self._handler = _Handler(path, file_bytes)

    def write(self, line: str) -> bool:
        """Write a line and tell whether it is written. Never raises."""
        try:
            self._handler.handle(logging.makeLogRecord({"msg": _cut(line)}))
        except (OSError, ValueError) as exc:
            self.trouble = (isinstance(exc, OSError) and exc.strerror) or str(exc)
            return False
        self.trouble = None
        return True

    def bytes(self) -> int:
        """Return how long it is with those before it."""
        total = 0
        for number in range(KEPT + 1):
            with contextlib.suppress(OSError):
                total += self.path.with_name(f"{LOG_NAME}.{number}" if number else LOG_NAME).stat().st_size
        return total

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._handler.close()


class _Handler(RotatingFileHandler):
    """The handler of the standard library, for a file that may be removed and a folder that may be missing."""

    def __init__(self, path: Path, file_bytes: int) -> None:
        self._path = path
        super().__init__(path, maxBytes=file_bytes, backupCount=KEPT, encoding="utf-8", delay=True)

    def emit(self, record: logging.LogRecord) -> None:
        if self.stream is not None and not self._is_current():
            self._let_go()
        if self.shouldRollover(record):
            self.doRollover()
        # none after a rotation
        stream = self.stream = self.stream or self._open()
        stream.write(record.getMessage() + "\n")
        stream.flush()

    def _open(self) -> TextIOWrapper:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = opened_to_append(self._path)
        os.fchmod(descriptor, 0o600)
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding="utf-8", errors="backslashreplace")

    def _is_current(self) -> bool:
        try:
            return self.stream is not None and os.path.samestat(os.fstat(self.stream.fileno()), self._path.stat())
        except OSError:
            return False

    def _let_go(self) -> None:
        stream, self.stream = self.stream, None
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def opened_to_append(path: Path) -> int:
    """Return a descriptor of a file to append to, made if it is missing; raises OSError if it is anything else."""
    # a named pipe that nobody reads would be waited for, by the whole daemon
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as exc:
        raise OSError(exc.errno, "it is not a file") if exc.errno == errno.ENXIO else exc from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a file")
    return descriptor


def _cut(line: str) -> str:
    half = LINE_CHARS // 2
    return line if len(line) <= LINE_CHARS else f"{line[:half]} … {line[-half:]}"
