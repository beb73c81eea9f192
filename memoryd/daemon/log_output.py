"""The log of the daemon: its destination, the limit for repeated events, and its state for status.

If no other program stores standard error, the daemon writes a log file, rotated, limited, and private to its owner.
"""

import asyncio
import contextlib
import errno
import logging
import os
import stat
import sys
import time
from collections.abc import Callable, Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Literal

import structlog

from memoryd import log
from memoryd.config.limits import LogFileChoice, LogSection
from memoryd.replies.daemon import LogReply

events = structlog.get_logger(__name__)

LOG_NAME = "memoryd.log"
FILE_BYTES = 4_800_000
BACKUPS = 3
"""The number of rotated files besides the current one."""
MAX_BYTES = FILE_BYTES * (BACKUPS + 1)
LINE_CHARS = 64 * 1024
"""A longer line, such as an endless traceback, is cut in the middle."""
WINDOW_SECONDS = 60.0
MAX_KINDS = 1_000
"""The number of kinds of events that are counted separately; further kinds are counted together."""
OTHERS = "other events"
REPORT_SECONDS = 10.0
LAUNCHD_BYTES = 1024 * 1024
"""The size above which launchd's file of our standard error is emptied at the start, the only time to do so."""


class OwnLog:
    """Configures logging with `set_up`; `run` reports how many events were left out."""

    def __init__(self, folder: Path, environment: Mapping[str, str] = os.environ) -> None:
        self._stderr = standard_error(environment)
        self._path = folder / LOG_NAME
        self._file: LogFile | None = None
        self._rate = LogRate(LogSection().max_per_minute, time.monotonic)
        self._left_out = 0
        self._lost_reported = log.STDERR.lost

    def set_up(self, section: LogSection) -> None:
        """Log as configured, at once; may be called again."""
        self._rate.per_minute = section.max_per_minute
        if not wants_file(section.file, self._stderr):
            self.close()
            self._file = None
        elif self._file is None:
            self._file = LogFile(self._path)
        file, is_bounded = self._file, self._file is not None and self._stderr == "launchd"
        if is_bounded:
            _bound_standard_error()
        log.configure(
            section.level,
            file=None if file is None else file.write,
            to_stderr=not is_bounded,
            filters=[self._limit],
        )

    def close(self) -> None:
        """Close the file; the next event opens it again."""
        if self._file is not None:
            self._file.close()

    def dumps_to(self) -> Path | None:
        """Return the file for the stacks of a daemon that ends itself, in addition to standard error.

        None without one.
        """
        return None if self._file is None else self._file.path

    def state(self) -> LogReply:
        """Return the current destination of the log. Blocks for a few stats."""
        file = self._file
        elsewhere = "journal" if self._stderr == "journal" else "stderr"
        return LogReply(
            destination=elsewhere if file is None else "file",
            path=None if file is None else str(file.path),
            bytes=0 if file is None else file.bytes(),
            maxBytes=0 if file is None else MAX_BYTES,
            leftOut=self._left_out,
            reason=None if file is None else file.trouble,
        )

    async def run(self) -> None:
        """Report at intervals how many events were left out, until cancelled."""
        try:
            while True:
                await asyncio.sleep(REPORT_SECONDS)
                self._report()
        finally:
            self._report(is_end=True)

    def _report(self, *, is_end: bool = False) -> None:
        for kind, count in self._rate.take_left_out(is_end=is_end).items():
            events.warning("events were left out", of=kind, count=count)
        if lost := log.STDERR.lost - self._lost_reported:
            self._lost_reported += lost
            # if standard error is not read, this line is lost, too, and counted with the next one
            events.warning("lines were lost, no one read the standard error", count=lost)

    def _limit(self, _logger: object, level: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        # at level debug nothing is left out
        if level != "debug" and not self._rate.admits(f"{event.get('event')}"):
            self._left_out += 1
            raise structlog.DropEvent
        return event


StandardError = Literal["journal", "terminal", "launchd", "collected", "nothing"]
"""The destination of standard error. launchd's file grows without limit; a file, pipe or socket of another program is
intended to store it."""


def standard_error(environment: Mapping[str, str]) -> StandardError:
    """Return the destination of standard error; raises nothing."""
    try:
        status = os.fstat(2)
    except OSError:
        return "nothing"
    # systemd.exec(5): this variable shows whether standard error is connected to the journal
    if environment.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}":
        return "journal"
    if os.isatty(2):
        return "terminal"
    is_file = stat.S_ISREG(status.st_mode)
    # launchd sets this variable to the label of a job; in a terminal it is 0
    if is_file and sys.platform == "darwin" and environment.get("XPC_SERVICE_NAME", "0") != "0":
        return "launchd"
    return "collected" if is_file or stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode) else "nothing"


def wants_file(choice: LogFileChoice, stderr: StandardError) -> bool:
    """Return whether to write our own log file; `auto` does so only if no other program stores the log."""
    return choice == "on" or (choice == "auto" and stderr in ("launchd", "nothing"))


def _bound_standard_error() -> None:
    """Empty the file to which launchd appends our standard error, if it is too long."""
    try:
        if os.fstat(2).st_size > LAUNCHD_BYTES:
            os.ftruncate(2, 0)
    except OSError as exc:
        events.warning("the file of standard error stays as long as it is", reason=exc.strerror)


class LogRate:
    """Admits `per_minute` events of each kind per minute, and counts the others. `clock` is in seconds."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._begun: dict[str, float] = {}
        self._seen: dict[str, int] = {}

    def admits(self, kind: str) -> bool:
        """Count an event, and return whether it may be logged."""
        kind = kind if kind in self._seen or len(self._seen) < MAX_KINDS else OTHERS
        self._begun.setdefault(kind, self._clock())
        self._seen[kind] = self._seen.get(kind, 0) + 1
        return self._seen[kind] <= self.per_minute

    def take_left_out(self, *, is_end: bool = False) -> dict[str, int]:
        """Return how many events of each kind were left out in the finished minutes, and begin new ones."""
        now = self._clock()
        over = [kind for kind, begun in self._begun.items() if is_end or now - begun >= WINDOW_SECONDS]
        left_out = {kind: self._seen[kind] - self.per_minute for kind in over}
        for kind in over:
            del self._begun[kind], self._seen[kind]
        return {kind: count for kind, count in left_out.items() if count > 0}


class LogFile:
    """Writes lines to the file. A line that cannot be written is lost, and `trouble` says why."""

    def __init__(self, path: Path, *, file_bytes: int = FILE_BYTES) -> None:
        self.path = path
        self.trouble: str | None = None
        """Why the last line could not be written."""
        self._handler = _Handler(path, file_bytes)

    def write(self, line: str) -> bool:
        """Write a line and return whether it was written. Never raises."""
        try:
            self._handler.handle(logging.makeLogRecord({"msg": _cut(line)}))
        except (OSError, ValueError) as exc:
            self.trouble = (isinstance(exc, OSError) and exc.strerror) or str(exc)
            return False
        self.trouble = None
        return True

    def bytes(self) -> int:
        """Return the total size of the current and the rotated files."""
        total = 0
        for number in range(BACKUPS + 1):
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
        super().__init__(path, maxBytes=file_bytes, backupCount=BACKUPS, encoding="utf-8", delay=True)

    def emit(self, record: logging.LogRecord) -> None:
        if self.stream is not None and not self._is_current():
            self._release()
        if self.shouldRollover(record):
            self.doRollover()
        # the stream is None after a rotation
        stream = self.stream = self.stream or self._open()
        stream.write(record.getMessage() + "\n")
        stream.flush()

    def _open(self) -> TextIOWrapper:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = open_to_append(self._path)
        os.fchmod(descriptor, 0o600)
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding="utf-8", errors="backslashreplace")

    def _is_current(self) -> bool:
        try:
            return self.stream is not None and os.path.samestat(os.fstat(self.stream.fileno()), self._path.stat())
        except OSError:
            return False

    def _release(self) -> None:
        stream, self.stream = self.stream, None
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def open_to_append(path: Path) -> int:
    """Return a descriptor for appending to a file, created if missing. Raises OSError for anything but a file."""
    # non-blocking, since opening a named pipe would block the daemon until there is a reader
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
