"""memoryctl logs: what memoryd said, from its own file or from the journal, whichever is in use."""

import shutil
from datetime import UTC, datetime

import click

from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.log_lines import LogFilter, LogLine, shown_line, since_time
from memoryd.cli.log_sources import JournalLog, LogFiles, LogSource
from memoryd.config.paths import state_dir
from memoryd.errors import DaemonNotRunning, InvalidRequest, NotFound
from memoryd.wire import Exit

LEVELS = ("debug", "info", "warning", "error")


@click.command("logs", context_settings=HELP)
@click.option("-f", "--follow", "is_following", is_flag=True, help="Go on with what is said from now on, until Ctrl-C.")
@click.option(
    "-n",
    "--lines",
    type=click.IntRange(min=0, max=100_000),
    default=100,
    show_default=True,
    help="How many of the last lines.",
)
@click.option("--since", metavar="TIME", help="Only what is younger: 10m, 2h or 1d, or a time as 2026-11-20 08:30.")
@click.option(
    "--level",
    type=click.Choice(LEVELS, case_sensitive=False),
    default="debug",
    help="Only what is at least so grave.",
)
@shared
@click.pass_obj
def command(invocation: Invocation, is_following: bool, lines: int, since: str | None, level: str) -> Exit:
    """Show what memoryd said: when, how grave, what happened and the details.

    Works without a running memoryd. With --json one event a line, as it was written.
    """
    try:
        wanted = LogFilter(LEVELS[LEVELS.index(level.lower()) :], since_time(since, datetime.now(UTC)))
    except ValueError as exc:
        raise InvalidRequest(f"--since: {exc}", hint="10m, 2h, 1d, or a time such as 2026-11-20 08:30") from exc
    print_log(invocation, _source(invocation), wanted, lines=lines, is_following=is_following)
    return Exit.DONE


def print_log(invocation: Invocation, source: LogSource, wanted: LogFilter, *, lines: int, is_following: bool) -> None:
    """Print the last lines of a log, and go on with what comes if that is asked for."""
    for line in source.last(lines, wanted):
        _show(invocation, line)
    if is_following:
        for line in source.following():
            if wanted.takes(line):
                _show(invocation, line)


def _source(invocation: Invocation) -> LogSource:
    """Return where the daemon says that its log goes; without a daemon where there is one. Raises NotFound."""
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
        "memoryd writes to the standard error of whoever started it, and keeps no log",
        hint='look there, or set log.file: "on"',
    )


def _show(invocation: Invocation, line: LogLine) -> None:
    click.echo(line.text if invocation.is_json else shown_line(line))
