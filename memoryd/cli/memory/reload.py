"""memoryctl reload: have the daemon read its configuration again."""

from collections.abc import Iterator
from pathlib import Path

import click

from memoryd.cli import terminal
from memoryd.cli.invocation import Invocation, verb
from memoryd.errors import MemorydError
from memoryd.replies.search import ReloadReply
from memoryd.wire import Exit

_PROBE_SECONDS = 5.0


@click.command("reload")
@click.option("--dry-run", "is_dry", is_flag=True, help="Say what a reload would change, and change nothing.")
@verb
def reload_command(invocation: Invocation, is_dry: bool) -> Exit:
    """Read the configuration again, without an end to anything that runs.

    A file that cannot be taken changes nothing: what is wrong with it is told, and the exit code is 78.
    """
    reply = invocation.memory.reload(is_dry)
    is_well = is_dry and not reply["problems"]
    code = Exit.DONE if reply["reloaded"] or is_well else Exit.CONFIG
    return invocation.show(reply, prospect(reply) if is_well else _lines(reply), reply["notices"], code=code)


def prospective_reload(invocation: Invocation, source: Path | None) -> ReloadReply | None:
    """Ask the running daemon what a reload would do; None if there is none, or it cannot say, or has another file."""
    try:
        with invocation.client(_PROBE_SECONDS) as client:
            if client.status()["config"]["source"] != (str(source) if source else None):
                return None
            reply = client.reload(is_dry=True)
    except MemorydError:
        return None
    return None if reply["problems"] else reply


def prospect(reply: ReloadReply) -> Iterator[str]:
    """Yield what a reload would change, as a daemon says that was asked for no more."""
    changed, owed = reply["changed"], reply["needsRestart"]
    yield "A reload would change:" if changed else "A reload would change nothing."
    late = set(owed)
    yield from (f"  {terminal.harmless(key)}{', at the next start' if key in late else ''}" for key in changed)
    if waiting := [key for key in owed if key not in changed]:
        yield f"Still waiting for the next start: {terminal.harmless(', '.join(waiting))}"


def _lines(reply: ReloadReply) -> Iterator[str]:
    if not reply["reloaded"]:
        yield "Nothing was reloaded; what held before holds on:"
        yield from (f"  {terminal.harmless(problem)}" for problem in reply["problems"])
        yield "Mend this, and run `memoryctl reload` again."
        return
    changed, owed = reply["changed"], reply["needsRestart"]
    now = [key for key in changed if key not in owed]
    if now:
        yield "Reloaded. These keys hold from now on:"
        yield from (f"  {terminal.harmless(key)}" for key in now)
    else:
        yield "Reloaded. Nothing changed." if not owed else "Reloaded."
    if owed:
        yield "These take effect when memoryd is started again:"
        yield from (f"  {terminal.harmless(key)}" for key in owed)
