"""Waits until the index equals the disk, with a bar on a terminal."""

import sys
import threading
import time

import click

from memoryd.cli.invocation import Invocation, Number
from memoryd.cli.terminal import count, is_terminal, note
from memoryd.errors import MemorydError
from memoryd.replies.search import ReindexReply, SyncReply
from memoryd.wire import Exit, SyncGoal

SLICE_SECONDS = 10.0
"""How long one call may wait, so that a daemon that hangs is noticed."""
TIMEOUT_SECONDS = 600.0
REFRESH_SECONDS = 0.2

timeout_option = click.option(
    "--timeout",
    type=Number(min=0),
    default=TIMEOUT_SECONDS,
    show_default=True,
    metavar="S",
    help="Seconds to wait at most; then exit with 1. The work goes on.",
)


def wait_for(invocation: Invocation, goal: SyncGoal, seconds: float) -> SyncReply:
    """Wait for `goal` and return what is still pending then; show a bar if stderr is a terminal."""
    if not is_terminal(sys.stderr) or goal == "none":
        return _wait(invocation, goal, seconds)
    # rich takes 50 ms to import and is needed for a bar only
    from memoryd.cli.bars import IndexBars

    outcome: list[SyncReply | MemorydError] = []

    def wait() -> None:
        try:
            outcome.append(_wait(invocation, goal, seconds))
        except MemorydError as exc:
            outcome.append(exc)

    # in the background, so that the bar moves and Ctrl-C is answered at once
    waiting = threading.Thread(target=wait, daemon=True)
    with invocation.client() as client, IndexBars(goal) as bars:
        waiting.start()
        while waiting.is_alive():
            bars.show_agents(invocation.chosen_agents(client.status()))
            waiting.join(REFRESH_SECONDS)
    found = outcome[0] if outcome else MemorydError("waiting for the index ended without a result")
    if isinstance(found, MemorydError):
        raise found
    return found


def report(invocation: Invocation, goal: SyncGoal, pending: SyncReply) -> Exit:
    """Print how far the index is; return exit code 1 if the goal was not reached."""
    is_done = goal == "none" or _is_goal_met(goal, pending)
    tell(invocation, goal, pending, is_done=is_done)
    if reason := pending.get("reason"):
        note(reason)
    return Exit.DONE if is_done else Exit.ERROR


def tell(invocation: Invocation, goal: SyncGoal, pending: ReindexReply, *, is_done: bool) -> None:
    """Print what is left to do on the way to `goal`."""
    counted = (
        (pending["pendingFiles"], "file", "to index"),
        (pending["pendingEmbeddings"], "passage", "to embed"),
    )
    left = " and ".join(f"{count(number, noun)} {what}" for number, noun, what in counted if number)
    verb = {"none": "asked for", "indexed": "indexed", "embedded": "indexed and embedded"}[goal]
    invocation.show(pending, ["; ".join(filter(None, [verb if is_done else "not finished", left]))])


def _wait(invocation: Invocation, goal: SyncGoal, seconds: float) -> SyncReply:
    deadline = time.monotonic() + seconds
    with invocation.client() as client:
        while True:
            began = time.monotonic()
            slice_seconds = max(0.0, min(SLICE_SECONDS, deadline - began))
            pending = client.sync(goal, timeout_ms=max(1, int(slice_seconds * 1000)), agent=invocation.agent)
            took = time.monotonic() - began
            # a daemon that gives up before its time has its reasons: asking again at once would only spin
            is_refused = bool(pending.get("reason")) or took < slice_seconds / 2
            if goal == "none" or _is_goal_met(goal, pending) or is_refused or time.monotonic() >= deadline:
                return pending


def _is_goal_met(goal: SyncGoal, pending: SyncReply) -> bool:
    left = pending["pendingFiles"] + (pending["pendingEmbeddings"] if goal == "embedded" else 0)
    return pending.get("complete", left == 0)
