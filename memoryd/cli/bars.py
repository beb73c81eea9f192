"""Progress bars on stderr for long work, if it is a terminal. Imports rich, so import this module only to draw one."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import click
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from memoryd.cli.terminal import harmless_line, is_coloured, is_terminal, size
from memoryd.replies.status import AgentStatus
from memoryd.wire import SyncGoal

PIPE_WIDTH = 160
"""Columns of output that is not a terminal."""


def console(*, to_stderr: bool = False) -> Console:
    """Return a console that writes escape sequences only where terminal.is_coloured says so."""
    stream = sys.stderr if to_stderr else sys.stdout
    return Console(
        file=stream,
        width=None if is_terminal(stream) else PIPE_WIDTH,
        force_terminal=is_terminal(stream),
        color_system="auto" if is_coloured(stream) else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def print_view(view: RenderableType) -> None:
    """Print a view of rich without trailing blanks, so that it can be pasted."""
    screen = console()
    with screen.capture() as captured:
        screen.print(view)
    # rich pads the last column with blanks
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()), color=is_coloured(sys.stdout))


class Bars(Progress):
    """Named progress bars, each with an amount in words; they disappear when the context ends."""

    def __init__(self) -> None:
        super().__init__(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[amount]}", markup=False),
            TimeRemainingColumn(),
            console=console(to_stderr=True),
            transient=True,
        )
        self._named: dict[str, TaskID] = {}

    def show(self, name: str, done: int, total: int | None, amount: str) -> None:
        """Set the bar `name`, and create it at first; without a total it pulses."""
        if name not in self._named:
            self._named[name] = self.add_task(name, total=total, amount=amount)
        self.update(self._named[name], completed=done, total=total, amount=amount)

    def show_transfer(self, name: str, done_bytes: int, total_bytes: int | None) -> None:
        """Set a bar of bytes, with their speed."""
        of_total = f" of {size(total_bytes)}" if total_bytes else ""
        speeds = [task.speed for task in self.tasks if task.id == self._named.get(name)]
        a_second = f", {size(speeds[0])}/s" if speeds and speeds[0] else ""
        self.show(name, done_bytes, total_bytes, f"{size(done_bytes)}{of_total}{a_second}")

    def hide(self, name: str) -> None:
        """Remove the bar `name`, if there is one."""
        if name in self._named:
            self.remove_task(self._named.pop(name))


class IndexBars(Bars):
    """Progress of files being indexed, passages being embedded and models being downloaded."""

    def __init__(self, goal: SyncGoal) -> None:
        super().__init__()
        self._goal = goal
        self._most_files = 0

    def show_agents(self, agents: Sequence[AgentStatus]) -> None:
        """Set the bars to the pending work of `agents`."""
        pending = sum(agent["pendingFiles"] for agent in agents)
        self._most_files = max(self._most_files, pending)
        done = self._most_files - pending
        self.show("indexing", done, self._most_files or None, f"{done:,} of {self._most_files:,} files")
        if self._goal == "embedded":
            self._show_embedding(agents)

    def _show_embedding(self, agents: Sequence[AgentStatus]) -> None:
        embedded = sum(agent["embedded"] for agent in agents)
        total = embedded + sum(agent["pendingEmbeddings"] for agent in agents)
        self.show("embedding", embedded, total or None, f"{embedded:,} of {total:,} passages")
        for agent in agents:
            name = f"model of {harmless_line(agent['id'])}"
            transfer = agent["embedder"]["progress"]
            if transfer is None:
                self.hide(name)
            else:
                self.show_transfer(name, transfer["doneBytes"], transfer["totalBytes"])


@contextmanager
def byte_progress(name: str, total: int | None) -> Iterator[Callable[[str, int], None]]:
    """Yield a function that takes a file name and the bytes done; without a total the bar pulses."""
    if not is_terminal(sys.stderr):
        yield lambda _file, _done: None
        return
    with Bars() as bars:
        yield lambda _file, done: bars.show_transfer(name, done, total)


@contextmanager
def count_progress(name: str, noun: str) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function that takes the number done and the total, None if that is unknown."""
    if not is_terminal(sys.stderr):
        yield lambda _done, _total: None
        return
    with Bars() as bars:
        yield lambda done, total: bars.show(name, done, total, f"{done:,}{f' of {total:,}' if total else ''} {noun}")


memory_count = partial(count_progress, noun="memories")
