"""memoryctl top: what the daemon does now."""

import contextlib
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import RenderableType
from rich.live import Live
from rich.text import Text

from memoryd.cli.bars import console
from memoryd.cli.invocation import HELP, Invocation, Number, shared
from memoryd.cli.terminal import encoded, harmless_line, is_terminal
from memoryd.cli.top_figures import TopFigures, TopLook, figures_between, look_of
from memoryd.cli.top_view import top_view
from memoryd.client import Client
from memoryd.errors import DaemonNotRunning, DeadlineExceeded, MemorydError, NotNow
from memoryd.wire import Exit

LEAVES = frozenset("qQ\x1b\x03\x04")
"""Keys that end it: q, Escape, Ctrl-C and Ctrl-D."""


@click.command("top", context_settings=HELP)
@click.option(
    "-n",
    "--interval",
    "seconds",
    type=Number(0.1, 3600),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between two looks.",
)
@click.option("--once", "is_once", is_flag=True, help="Show one interval, and leave.")
@shared
@click.pass_obj
def command(invocation: Invocation, seconds: float, is_once: bool) -> Exit:
    """Show requests, arms, queues, processes and caches as they change, until q.

    With --json each interval is a line. A daemon that is restarted meanwhile is waited for.
    """
    with invocation.client() as client:
        # whoever asks a daemon that is not there is told so, and waits for none
        first = _look(client)
        if is_once:
            time.sleep(seconds)
            _tell(invocation, figures_between(first, _look(client)))
        elif invocation.is_json or not is_terminal(sys.stdout):
            for found in _intervals(client, first, seconds):
                if not isinstance(found, MemorydError):
                    _tell(invocation, found)
        else:
            _show(client, first, seconds)
    return Exit.DONE


def _look(client: Client) -> TopLook:
    return look_of(client.metrics(), time.monotonic())


def _intervals(client: Client, before: TopLook, seconds: float) -> Iterator[TopFigures | MemorydError]:
    """Yield what happened in each interval, or why that cannot be told, for ever."""
    while True:
        if _has_left(seconds):
            return
        try:
            after = _look(client)
        except (DaemonNotRunning, NotNow, DeadlineExceeded) as exc:
            yield exc
            continue
        yield figures_between(before, after)
        before = after


def _tell(invocation: Invocation, figures: TopFigures) -> None:
    if invocation.is_json:
        click.echo(encoded(figures, indent=None))
    else:
        screen = console()
        with screen.capture() as captured:
            screen.print(top_view(figures))
        click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


def _show(client: Client, first: TopLook, seconds: float) -> None:
    waiting = Text(f"looking for {seconds:g} s; q leaves", style="dim")
    with _keys(), Live(waiting, console=console(), auto_refresh=False, screen=True) as live:
        for found in _intervals(client, first, seconds):
            live.update(_view(found), refresh=True)


def _view(found: TopFigures | MemorydError) -> RenderableType:
    if isinstance(found, MemorydError):
        return Text(f"{harmless_line(str(found))}; looking again, q leaves", style="yellow")
    return top_view(found)


@contextmanager
def _keys() -> Iterator[None]:
    """Have keys come as they are pressed, where somebody types."""
    if not is_terminal(sys.stdin):
        yield
        return
    import termios  # not on every system
    import tty

    before = termios.tcgetattr(sys.stdin)
    # not flushed, as it would be else: a q that came before counts
    tty.setcbreak(sys.stdin, termios.TCSADRAIN)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _has_left(seconds: float) -> bool:
    """Wait so long for a key that ends it."""
    if not is_terminal(sys.stdin):
        time.sleep(seconds)
        return False
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        with contextlib.suppress(OSError, ValueError):
            if select.select([sys.stdin], [], [], left)[0] and sys.stdin.read(1) in LEAVES | {""}:
                return True
    return False
