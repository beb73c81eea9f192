"""The log of the daemon: where it goes, how often an event may repeat, and its state for status.

A file of its own, where no other program keeps standard error, is rotated, bounded, and for its owner alone.
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
KEPT = 3
"""Files before the present one."""
MAX_BYTES = FILE_BYTES * (KEPT + 1)
LINE_CHARS = 64 * 1024
"""A longer line, as of a traceback without end, is cut in the middle."""
WINDOW_SECONDS = 60.0
MAX_KINDS = 1_000
"""Of events that are counted apart; beyond that all are one kind."""
OTHERS = "other events"
TELL_SECONDS = 10.0
LAUNCHD_BYTES = 1024 * 1024
"""What launchd's own file of our standard error may hold at a start, which is the only time to bound it."""


class OwnLog:
    """Sets up what is logged from `set_up` on; `run` tells what was left out."""

    def __init__(self, folder: Path, environment: Mapping[str, str] = os.environ) -> None:
        self._stderr = standard_error(environment)
        self._path = folder / LOG_NAME
        self._file: LogFile | None = None
        self._rate = LogRate(LogSection().max_per_minute, time.monotonic)
        self._left_out = 0
        self._reported_lost = log.STDERR.lost

    def set_up(self, wanted: LogSection) -> None:
        """Log as the configuration wants it, at once; may be called again."""
        self._rate.per_minute = wanted.max_per_minute
        if not wants_file(wanted.file, self._stderr):
            self.close()
            self._file = None
        elif self._file is None:
            self._file = LogFile(self._path)
        file, is_bounded = self._file, self._file is not None and self._stderr == "launchd"
        if is_bounded:
            _bound_standard_error()
        log.configure(
            wanted.level,
            file=None if file is None else file.write,
            to_stderr=not is_bounded,
            filters=[self._limited],
        )

    def close(self) -> None:
        """Close the file; the next event opens it again."""
        if self._file is not None:
            self._file.close()

    def dumps_to(self) -> Path | None:
        """Return where the stacks of a daemon that ends itself go beside the standard error."""
        return None if self._file is None else self._file.path

    def state(self) -> LogReply:
        """Return where the log goes now. Blocks for a few stats."""
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
        """Tell from time to time how many events were left out, until cancelled."""
        try:
            while True:
                await asyncio.sleep(TELL_SECONDS)
                self._tell()
        finally:
            self._tell(is_end=True)

    def _tell(self, *, is_end: bool = False) -> None:
        for kind, count in self._rate.told(is_end=is_end).items():
            events.warning("events were left out", of=kind, count=count)
        if lost := log.STDERR.lost - self._reported_lost:
            self._reported_lost += lost
            # where standard error is not read, this line is lost, too, and counted with the next
            events.warning("lines were lost, nobody read the standard error", count=lost)

    def _limited(self, _logger: object, level: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        # at level debug nothing is left out
        if level != "debug" and not self._rate.admits(f"{event.get('event')}"):
            self._left_out += 1
            raise structlog.DropEvent
        return event


StandardError = Literal["journal", "terminal", "launchd", "collected", "nothing"]
"""What the standard error leads to. What launchd keeps in a file grows without a bound; what is collected in a file, a
pipe or a socket is kept on purpose."""


def standard_error(environment: Mapping[str, str]) -> StandardError:
    """Return what the standard error of the process leads to; raises nothing."""
    try:
        found = os.fstat(2)
    except OSError:
        return "nothing"
    # systemd.exec(5): so a program tells whether it is connected to the journal itself
    if environment.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}":
        return "journal"
    if os.isatty(2):
        return "terminal"
    is_file = stat.S_ISREG(found.st_mode)
    # launchd gives each job its label; programs of a terminal have 0 there
    if is_file and sys.platform == "darwin" and environment.get("XPC_SERVICE_NAME", "0") != "0":
        return "launchd"
    return "collected" if is_file or stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode) else "nothing"


def wants_file(choice: LogFileChoice, stderr: StandardError) -> bool:
    """Tell whether there is to be a log file of our own: by itself only where no other program keeps the log."""
    return choice == "on" or (choice == "auto" and stderr in ("launchd", "nothing"))


def _bound_standard_error() -> None:
    """Empty the file that launchd appends our standard error to, once it is long."""
    try:
        if os.fstat(2).st_size > LAUNCHD_BYTES:
            os.ftruncate(2, 0)
    except OSError as exc:
        events.warning("the file of standard error stays as long as it is", reason=exc.strerror)


class LogRate:
    """Lets so many events of a kind through each minute, and counts the rest; `clock` in seconds."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self.per_minute = per_minute
        self._clock = clock
        self._begun: dict[str, float] = {}
        self._seen: dict[str, int] = {}

    def admits(self, kind: str) -> bool:
        """Count an event, and tell whether it may be logged."""
        kind = kind if kind in self._seen or len(self._seen) < MAX_KINDS else OTHERS
        self._begun.setdefault(kind, self._clock())
        self._seen[kind] = self._seen.get(kind, 0) + 1
        return self._seen[kind] <= self.per_minute

    def told(self, *, is_end: bool = False) -> dict[str, int]:
        """Return how many of each kind were left out in the minutes that are over, and begin new ones."""
        now = self._clock()
        over = [kind for kind, begun in self._begun.items() if is_end or now - begun >= WINDOW_SECONDS]
        left_out = {kind: self._seen[kind] - self.per_minute for kind in over}
        for kind in over:
            del self._begun[kind], self._seen[kind]
        return {kind: count for kind, count in left_out.items() if count > 0}


class LogFile:
    """Writes lines to the file; a line that cannot be written is lost, and `trouble` says why."""

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
    # the whole daemon would wait for the reader of a named pipe
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
