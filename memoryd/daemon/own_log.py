"""The log of the daemon: where it goes, how often an event may repeat, and what is told of both in status."""

import asyncio
import os
import stat
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import structlog

from memoryd import log
from memoryd.api.daemon_state import LogState
from memoryd.config.limits import LogSection
from memoryd.daemon.log_file import LOG_NAME, MOST_BYTES, LogFile
from memoryd.domain.log_rules import FileChoice, LogRate, StandardError, wants_file

events = structlog.get_logger(__name__)

TELL_SECONDS: Final = 10.0
LAUNCHD_BYTES: Final = 1024 * 1024
"""What launchd's own file of our standard error may hold at a start, which is the only time to bound it."""


class OwnLog:
    """Sets up what is logged from `set_up` on; `run` tells what was left out."""

    def __init__(self, folder: Path, environment: Mapping[str, str] = os.environ) -> None:
        self._found = standard_error(environment)
        self._path = folder / LOG_NAME
        self._file: LogFile | None = None
        self._rate = LogRate(LogSection().max_per_minute, time.monotonic)
        self._left_out = 0
        self._told_lost = log.STDERR.lost

    def set_up(self, wanted: LogSection) -> None:
        """Log as the configuration wants it, at once; may be called again."""
        self._rate.per_minute = wanted.max_per_minute
        if not wants_file(FileChoice(wanted.file), self._found):
            self.close()
            self._file = None
        elif self._file is None:
            self._file = LogFile(self._path)
        file, is_bounded = self._file, self._file is not None and self._found.is_launchds
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

    def state(self) -> LogState:
        """Return where the log goes now. Blocks for a few stats."""
        file = self._file
        if file is None:
            destination = "journal" if self._found.is_journal else "stderr"
            return LogState(destination, None, 0, 0, None, self._left_out)
        return LogState("file", file.path, file.bytes(), MOST_BYTES, file.trouble, self._left_out)

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
        if lost := log.STDERR.lost - self._told_lost:
            self._told_lost += lost
            # to where nobody reads it goes the same way, and is told with the next
            events.warning("lines were lost, nobody read the standard error", count=lost)

    def _limited(self, _logger: object, level: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        # whoever asks for everything gets everything
        if level != "debug" and not self._rate.admits(f"{event.get('event')}"):
            self._left_out += 1
            raise structlog.DropEvent
        return event


def standard_error(environment: Mapping[str, str]) -> StandardError:
    """Say what the standard error leads to; raises nothing."""
    try:
        found = os.fstat(2)
    except OSError:
        return StandardError()
    is_file = stat.S_ISREG(found.st_mode)
    return StandardError(
        # systemd.exec(5): so a program tells whether it is connected to the journal itself
        is_journal=environment.get("JOURNAL_STREAM") == f"{found.st_dev}:{found.st_ino}",
        is_terminal=os.isatty(2),
        is_collected=is_file or stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode),
        # launchd gives each job its label; programs of a terminal have 0 there
        is_launchds=is_file and sys.platform == "darwin" and environment.get("XPC_SERVICE_NAME", "0") != "0",
    )


def _bound_standard_error() -> None:
    """Empty the file that launchd appends our standard error to, once it is long."""
    try:
        if os.fstat(2).st_size > LAUNCHD_BYTES:
            os.ftruncate(2, 0)
    except OSError as exc:
        events.warning("the file of standard error stays as long as it is", reason=exc.strerror)
