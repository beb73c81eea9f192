"""`memoryd`: read the configuration, take the lock, serve until a signal."""

import asyncio
import contextlib
import errno
import faulthandler
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

import click
import structlog

from memoryd import __version__, log
from memoryd.config.loading.load import Loaded, load
from memoryd.config.loading.overrides import Overrides
from memoryd.config.paths import socket_path, state_dir
from memoryd.daemon import heartbeats
from memoryd.daemon.heartbeats import POOL, Notifier
from memoryd.daemon.lock import DaemonLock
from memoryd.daemon.log_output import OwnLog
from memoryd.errors import MemorydError
from memoryd.moving.replacing import complete_interrupted
from memoryd.wire import Exit

events = structlog.get_logger(__name__)

PERMANENT = frozenset({Exit.CANNOT_CREATE, Exit.ALREADY_RUNNING, Exit.NOT_PERMITTED, Exit.CONFIG})
"""The exit codes of failures that a restart does not resolve."""
FILES = 4096
"""The limit of open files, as in the unit for systemd."""
NEEDED_MB = 1200
"""The needed address space, most of it for stacks and heaps of threads that are hardly used."""
REST_SECONDS = 0.5
"""Seconds that the threads of the pool get to end by themselves."""
_early_hang_ups: list[int] = []
"""SIGHUP signals that came before there was anything to reload; unhandled, they would end the process."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Configuration file, JSON5 (else $MEMORYD_CONFIG, else ~/.config/memoryd/config.json5).",
)
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    help="Workspace of the default agent (else $MEMORYD_WORKSPACE, else the configured one).",
)
@click.option(
    "--all",
    "all_markdown",
    is_flag=True,
    help="Index every Markdown file below the workspaces, not only memory/ and the like.",
)
@click.option(
    "--log-level", metavar="LEVEL", help="DEBUG, INFO, WARNING or ERROR (else $MEMORYD_LOG_LEVEL, else log.level)."
)
@click.version_option(__version__, prog_name="memoryd")
def main(config: Path | None, workspace: Path | None, all_markdown: bool, log_level: str | None) -> None:
    """Serve the memory of AI agents: index Markdown notes and answer questions on a Unix socket."""
    # handled rather than ignored, since children would inherit that
    signal.signal(signal.SIGHUP, lambda number, _frame: _early_hang_ups.append(number))
    try:
        overrides = Overrides(workspace=workspace, all_markdown=all_markdown, log_level=log_level)
        _serve(lambda: load(config, overrides))
    except MemorydError as exc:
        _say(exc)
        _leave(_exit_code(exc, os.environ))
    except Exception as exc:
        if not _is_of_memory(exc):
            raise
        _say(_out_of_memory())
        _leave(Exit.NO_MEMORY)
    _leave(Exit.DONE)


def _serve(read: Callable[[], Loaded]) -> None:
    if resource.RLIM_INFINITY != resource.getrlimit(resource.RLIMIT_AS)[0] < NEEDED_MB << 20:
        raise MemoryError
    loaded = read()
    log.configure(loaded.config.log.level)
    log.route_library_logs()
    for notice in loaded.notices:
        events.warning("configuration", notice=notice)
    _harden()
    notifier = Notifier.from_environment(os.environ)
    with DaemonLock(state_dir(), socket=socket_path()) as lock:
        own_log = OwnLog(state_dir() / "log")
        # within the lock: a refused second daemon must not rotate the log of the first
        own_log.set_up(loaded.config.log)
        if finished := complete_interrupted(state_dir()):
            events.warning("finished what was cut short before", what=finished)
            # the configuration may have changed
            loaded = read()
            own_log.set_up(loaded.config.log)
        with heartbeats.without_collection():
            # most of the start: neither a second daemon, refused above, nor a wrong configuration has to wait for it
            from memoryd.daemon.app import run
        asyncio.run(run(loaded, notifier, lock, own_log, read, is_hung_up=lambda: bool(_early_hang_ups)))


def _harden() -> None:
    """Keep files private and memory small, prevent core dumps, and survive a closed pipe."""
    os.umask(0o077)
    heartbeats.share_heap()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _raise_file_limit()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if sys.stderr is not None:
        # other threads run at a fatal signal, and reading a changing stack could crash again
        faulthandler.enable(all_threads=False)
        # this stack at once; all stacks when Python runs here the next time, which pauses the other threads
        signal.signal(signal.SIGUSR1, lambda *_: faulthandler.dump_traceback())
        faulthandler.register(signal.SIGUSR1, all_threads=False, chain=True)


def _raise_file_limit() -> None:
    """Raise the limit of open files to FILES, or as far as allowed: an index takes nine, and there may be a hundred."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


def _exit_code(exc: MemorydError, environ: Mapping[str, str]) -> int:
    """Return the exit code: 0 under launchd if a restart cannot help, since launchd would restart forever.

    For systemd, `RestartPreventExitStatus` of the unit lists these codes. launchd knows only success.
    """
    return 0 if environ.get("MEMORYD_SUPERVISOR") == "launchd" and exc.exit_code in PERMANENT else exc.exit_code


def _leave(code: int) -> NoReturn:
    """End the process without waiting long for pool threads, which may still read for minutes."""
    until = time.monotonic() + REST_SECONDS
    pool = [thread for thread in threading.enumerate() if thread.name.startswith(POOL)]
    for thread in pool:
        thread.join(max(0.0, until - time.monotonic()))
    if any(thread.is_alive() for thread in pool):
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        os._exit(code)
    sys.exit(code)


def _is_of_memory(exc: BaseException) -> bool:
    """Return whether the cause of an error is that the system refused memory or a thread."""
    if isinstance(exc, BaseExceptionGroup):
        return any(map(_is_of_memory, exc.exceptions))
    is_refused = isinstance(exc, OSError) and exc.errno == errno.ENOMEM
    # a failed thread start has no exception class of its own
    is_threadless = isinstance(exc, RuntimeError) and "can't start new thread" in str(exc)
    if isinstance(exc, MemoryError) or is_refused or is_threadless:
        return True
    # closing a file without memory fails with another error, whose context is the cause
    return exc.__context__ is not None and _is_of_memory(exc.__context__)


def _out_of_memory() -> MemorydError:
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    limit = "" if soft == resource.RLIM_INFINITY else f", which may have {soft >> 20} MB of address space"
    return MemorydError(
        f"the system gives no more memory, or no thread, to this process{limit}",
        hint=f"give it {NEEDED_MB} MB or no such limit (`ulimit -v unlimited`, LimitAS=infinity); to need less, set "
        "limits.maxVectorBytes: 0 and a lower limits.maxFileBytes",
    )


def _say(exc: MemorydError) -> None:
    click.echo(f"memoryd: {exc}", err=True)
    if exc.hint:
        click.echo(f"  {exc.hint}", err=True)


if __name__ == "__main__":
    main()
