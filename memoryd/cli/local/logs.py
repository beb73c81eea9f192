"""memoryctl logs: show memoryd's log, from its own file or from the journal, whichever is in use."""

import json
import os
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import click
from msgspec import Struct

from memoryd.cli.invocation import Invocation, flag, with_invocation
from memoryd.cli.terminal import harmless, harmless_line, style
from memoryd.config.paths import state_dir
from memoryd.config.section import parse_duration
from memoryd.errors import DaemonNotRunning, InvalidRequest, MemorydError, NotFound
from memoryd.wire import Exit

COLOURS = {"warning": "yellow", "error": "red", "critical": "red"}
GRAVEST = ("critical", "exception")
"""Levels that are always shown."""
SHOWN_FIRST = ("timestamp", "level", "event", "exception")
LOG_NAME = "memoryd.log"
STEP_SECONDS = 0.25
JOURNALCTL = ("journalctl", "--user", "--unit", "memoryd.service", "--output", "cat", "--quiet", "--no-pager")
LEVELS = ("debug", "info", "warning", "error")


class LogLine(Struct, frozen=True):
    """One line; `fields` is empty if the line is not an event, such as a line of a traceback that ended the process."""

    text: str
    fields: Mapping[str, object]

    @property
    def level(self) -> str:
        return str(self.fields.get("level", ""))

    @property
    def at(self) -> datetime | None:
        """The time of the event; None if it has no timestamp."""
        try:
            moment = datetime.fromisoformat(str(self.fields.get("timestamp", "")))
        except ValueError:
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class LogFilter(Struct, frozen=True):
    """The lines to show. Lines that are not events are shown, too, unless `since` is set."""

    levels: Sequence[str]
    since: datetime | None = None

    def takes(self, line: LogLine) -> bool:
        """Return whether a line is shown."""
        if self.since is not None and (line.at is None or line.at < self.since):
            return False
        return not line.level or line.level in self.levels or line.level in GRAVEST


@click.command("logs")
@flag("-f", "--follow", "is_following", help="Go on with new lines, until Ctrl-C.")
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(min=0, max=100_000),
    default=100,
    show_default=True,
    help="How many of the last lines.",
)
@click.option("--since", metavar="TIME", help="Only newer lines: 10m, 2h or 1d, or a time such as 2026-11-20 08:30.")
@click.option(
    "--level",
    type=click.Choice(LEVELS, case_sensitive=False),
    default="debug",
    help="Only events of at least this level.",
)
@with_invocation
def logs_command(invocation: Invocation, is_following: bool, lines: int, since: str | None, level: str) -> Exit:
    """Show memoryd's log: time, level, event and details.

    Works without a running memoryd. With --json one event per line, as it was written.
    """
    try:
        wanted = LogFilter(LEVELS[LEVELS.index(level.lower()) :], since_time(since, datetime.now(UTC)))
    except ValueError as exc:
        raise InvalidRequest(f"--since: {exc}", hint="10m, 2h, 1d, or a time such as 2026-11-20 08:30") from exc
    print_log(invocation, _source(invocation), wanted, lines=lines, is_following=is_following)
    return Exit.DONE


def print_log(
    invocation: Invocation, source: "LogFiles | JournalLog", wanted: LogFilter, *, lines: int, is_following: bool
) -> None:
    """Print the last lines of a log, and with `is_following` new lines as they come."""
    for line in chain(source.last(lines, wanted), filter(wanted.takes, source.following()) if is_following else ()):
        click.echo(line.text if invocation.is_json else shown_line(line))


def _source(invocation: Invocation) -> "LogFiles | JournalLog":
    """Return the log that the daemon reports; without a daemon, the log that exists. Raises NotFound."""
    files = LogFiles(state_dir() / "log")
    try:
        with invocation.client(timeout=5) as client:
            process = client.status()["daemon"]
    except DaemonNotRunning:
        if files.exist or shutil.which("journalctl") is None:
            return files.required()
        return JournalLog()
    destination = process["log"]["destination"] if process else ""
    if destination == "file":
        return files.required()
    if destination == "journal":
        return JournalLog()
    raise NotFound(
        "memoryd writes to the standard error that it was started with, and keeps no log",
        hint='look there, or set log.file: "on"',
    )


def log_line(text: str) -> LogLine:
    """Parse a line; never raises."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = {}
    return LogLine(text, fields if isinstance(fields, dict) and "event" in fields else {})


def since_time(text: str | None, now: datetime) -> datetime | None:
    """Parse `10m`, `2h`, `1d`, or a local time; None for an empty text. Raises ValueError."""
    if not text:
        return None
    try:
        return now - parse_duration(text.strip())
    except ValueError:
        # a time without a zone is local time
        return datetime.fromisoformat(text.strip()).astimezone()


def shown_line(line: LogLine) -> str:
    """Return a line for a person: local time, level, event, and the rest as `name=value`."""
    if not line.fields:
        return harmless(line.text)
    at = line.at.astimezone().strftime("%m-%d %H:%M:%S") if line.at else "-"
    level = style(f"{line.level:<7}", colour=COLOURS.get(line.level))
    rest = {name: value for name, value in line.fields.items() if name not in SHOWN_FIRST}
    details = " ".join(f"{name}={_value(value)}" for name, value in rest.items())
    stack = "".join(f"\n    {harmless(row)}" for row in str(line.fields.get("exception", "")).splitlines())
    return f"{at}  {level} {harmless_line(str(line.fields['event']))}  {harmless_line(details)}".rstrip() + stack


def _value(value: object) -> str:
    return value if isinstance(value, str) and value and " " not in value else json.dumps(value, ensure_ascii=False)


class LogFiles:
    """The log file and its rotated files."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG_NAME
        self._end = 0
        self._inode = 0

    @property
    def exist(self) -> bool:
        """True if there is a log file."""
        return self._path.is_file()

    def required(self) -> "LogFiles":
        """Return this object; raises NotFound if there is no log file."""
        if not self.exist:
            raise NotFound(f"there is no log file {self._path} yet", hint="start memoryd; `memoryctl status` says more")
        return self

    def last(self, most: int, wanted: LogFilter) -> Iterable[LogLine]:
        """Return at most `most` of the last wanted lines, oldest first."""
        rotated = sorted(self._path.parent.glob(f"{LOG_NAME}.[0-9]"), reverse=True)
        lines = chain(chain.from_iterable(map(_lines_of, rotated)), self._new_lines())
        return deque(filter(wanted.takes, lines), maxlen=most)

    def following(self) -> Iterator[LogLine]:
        """Yield new lines after `last`, for ever; follows the path also when the file is rotated."""
        while True:
            yield from self._new_lines()
            time.sleep(STEP_SECONDS)

    def _new_lines(self) -> Iterator[LogLine]:
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            # the stat of the open file, since the path may have a new file
            stat = os.fstat(file.fileno())
            if stat.st_ino != self._inode or stat.st_size < self._end:
                # rotated or created again: the last lines of the former file are in `.1`
                yield from _lines_of(self._path.with_name(f"{LOG_NAME}.1"), start=self._end, inode=self._inode)
                self._end, self._inode = 0, stat.st_ino
            file.seek(self._end)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._end += len(line)
                yield _decode(line)


def _lines_of(path: Path, *, start: int = 0, inode: int | None = None) -> Iterator[LogLine]:
    """Yield the lines of a file; nothing if its inode differs, since the log may be rotated at any time."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        if inode in (None, os.fstat(file.fileno()).st_ino):
            file.seek(start)
            yield from map(_decode, file)


def _decode(line: bytes) -> LogLine:
    return log_line(line.decode(errors="replace").rstrip("\n"))


class JournalLog:
    """The journal of the user's unit, read with journalctl."""

    def last(self, most: int, wanted: LogFilter) -> Iterable[LogLine]:
        """Return at most `most` of the last wanted lines, oldest first; raises MemorydError if journalctl fails."""
        since = [] if wanted.since is None else ["--since", f"@{wanted.since.timestamp():.0f}"]
        limit = max(most, 1) * 20
        while True:
            words = [*JOURNALCTL, *since, "-n", str(limit)]
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode:
                raise MemorydError(f"the journal cannot be read: {done.stderr.strip() or done.returncode}")
            lines = done.stdout.splitlines()
            rows = deque(filter(wanted.takes, map(log_line, lines)), maxlen=most)
            # lines are filtered here, so more are read than wanted, and yet more if too few of them match
            if len(rows) == most or len(lines) < limit:
                return rows
            limit *= 4

    def following(self) -> Iterator[LogLine]:
        """Yield new lines until journalctl ends."""
        words = [*JOURNALCTL, "-n", "0", "-f"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, errors="replace") as running:
            try:
                yield from (log_line(line.rstrip("\n")) for line in running.stdout or ())
            finally:
                running.terminate()
