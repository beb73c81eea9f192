"""Where the log of memoryd lies: in files of its own, or in the journal of the system."""

import os
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

from memoryd.cli.log_lines import LogFilter, LogLine, log_line
from memoryd.errors import MemorydError, NotFound

LOG_NAME = "memoryd.log"
STEP_SECONDS = 0.25
UNIT = "memoryd.service"


class LogSource(Protocol):
    """A log that is kept somewhere."""

    def last(self, most: int, wanted: LogFilter) -> Iterable[LogLine]:
        """Return the last wanted lines, oldest first."""

    def following(self) -> Iterator[LogLine]:
        """Yield what is said after `last`, for ever."""


class LogFiles:
    """The file and those that were rotated away."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG_NAME
        self._end = 0
        self._inode = 0

    @property
    def exist(self) -> bool:
        """Whether there is a log."""
        return self._path.is_file()

    def required(self) -> "LogFiles":
        """Return this; raises NotFound where there is no log."""
        if not self.exist:
            raise NotFound(
                f"there is no log file {self._path} yet", hint="start memoryd; `memoryctl status` tells more"
            )
        return self

    def last(self, most: int, wanted: LogFilter) -> Iterable[LogLine]:
        """Return the last wanted lines, oldest first."""
        found: deque[LogLine] = deque(maxlen=most)
        for path in sorted(self._path.parent.glob(f"{LOG_NAME}.[0-9]"), reverse=True):
            with _opened(path) as file:
                found.extend(line for line in _lines(file) if wanted.takes(line))
        found.extend(line for line in self._new_lines() if wanted.takes(line))
        return found

    def following(self) -> Iterator[LogLine]:
        """Yield what is said after `last`, for ever; follows the name, whatever file has it."""
        while True:
            yield from self._new_lines()
            time.sleep(STEP_SECONDS)

    def _new_lines(self) -> Iterator[LogLine]:
        with _opened(self._path) as file:
            if file is None:
                return
            # of what is open: the name may have gone to another one by now
            found = os.fstat(file.fileno())
            if found.st_ino != self._inode or found.st_size < self._end:
                # rotated, or made anew: what was said at the end of the one before is in `.1`
                yield from self._rest_of_rotated()
                self._end, self._inode = 0, found.st_ino
            file.seek(self._end)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._end += len(line)
                yield _decoded(line)

    def _rest_of_rotated(self) -> Iterator[LogLine]:
        path = self._path.with_name(f"{LOG_NAME}.1")
        with _opened(path) as file:
            if file is not None and os.fstat(file.fileno()).st_ino == self._inode:
                file.seek(self._end)
                yield from _lines(file)


class JournalLog:
    """The journal, asked by the program that reads it for the unit of this user."""

    def last(self, most: int, wanted: LogFilter) -> Iterable[LogLine]:
        """Return the last wanted lines, oldest first; raises MemorydError where the journal cannot be read."""
        since = [] if wanted.since is None else ["--since", f"@{wanted.since.timestamp():.0f}"]
        # filtered here, so more are read than are wanted
        done = self._run([*since, "-n", str(max(most, 1) * 20)])
        lines = (log_line(line) for line in done.splitlines())
        return deque((line for line in lines if wanted.takes(line)), maxlen=most)

    def following(self) -> Iterator[LogLine]:
        """Yield what is said from now on, until the program ends."""
        with subprocess.Popen(_journalctl(["-n", "0", "-f"]), stdout=subprocess.PIPE, text=True) as running:
            try:
                yield from (log_line(line.rstrip("\n")) for line in running.stdout or ())
            finally:
                running.terminate()

    def _run(self, arguments: list[str]) -> str:
        done = subprocess.run(_journalctl(arguments), capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            raise MemorydError(f"the journal cannot be read: {done.stderr.strip() or done.returncode}")
        return done.stdout


def _journalctl(arguments: list[str]) -> list[str]:
    return ["journalctl", "--user", "--unit", UNIT, "--output", "cat", "--quiet", "--no-pager", *arguments]


def _lines(file: IO[bytes] | None) -> Iterator[LogLine]:
    for line in file or ():
        yield _decoded(line)


def _decoded(line: bytes) -> LogLine:
    return log_line(line.decode(errors="replace").rstrip("\n"))


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | None]:
    """Open a file to read bytes of it, None where there is none: the log is rotated while it is read."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        yield None
        return
    with file:
        yield file
