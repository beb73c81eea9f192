"""memoryctl reflect: bring the pages of bank/ and opinions up to date, and make proposals."""

import contextlib
import sys
import threading

import click

from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.memory_rows import pair_lines
from memoryd.cli.terminal import count, harmless_line, is_terminal, note
from memoryd.client import Client
from memoryd.errors import MemorydError
from memoryd.replies.knowledge import ReflectReply
from memoryd.wire import Event, Exit

SHOWN = 10
"""Pages that are named."""
_STEPS = {"planning": "reading {} memories", "pages": "looking at {} pages", "proposals": "looking at {} notes"}


class _Progress(threading.Thread):
    """Says on stderr what a run does, as its events tell; without them nothing is said."""

    def __init__(self, client: Client, agent: str | None) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._agent = agent

    def run(self) -> None:
        with contextlib.suppress(MemorydError):
            for event in self._client.events(agent=self._agent):
                told = _STEPS.get(str(event["data"].get("step")))
                if event["event"] == Event.REFLECT and told is not None:
                    note(told.format(event["data"].get("count")))


@click.command("reflect", context_settings=HELP)
@click.option("--since", metavar="AGE", help="Look back to this day: 7d, or 2026-10-01 (else memory.reflect.since).")
@click.option("--dry-run", is_flag=True, help="Say what would be written and proposed, and write nothing.")
@click.option("--allow-loss", is_flag=True, help="Let pages lose what they told: it is gone on purpose.")
@shared
@click.pass_obj
def command(invocation: Invocation, since: str | None, dry_run: bool, allow_loss: bool) -> Exit:
    """Bring entity pages and opinions up to date, and propose what you have to decide."""
    with invocation.client() as client:
        if is_terminal(sys.stderr) and not invocation.is_json:
            _Progress(invocation.client(), invocation.agent).start()
        reply = client.reflect(since, dry_run=dry_run, allow_loss=allow_loss, agent=invocation.agent)
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        _print(reply)
    return Exit.DONE


def _print(reply: ReflectReply) -> None:
    would = "would write" if reply["dryRun"] else "wrote"
    memories = count(reply["memories"], "memory", "memories")
    click.echo(f"{would} {count(len(reply['pages']), 'page')} of {memories}")
    for page in reply["pages"][:SHOWN]:
        click.echo(f"  {harmless_line(page)}")
    _print_rest(len(reply["pages"]))
    if reply["steps"]:
        click.echo(f"{count(reply['steps'], 'piece')} of evidence counted for or against opinions")
    if reply["proposals"]:
        would = "would propose" if reply["dryRun"] else "proposed"
        click.echo(f"{would} {count(len(reply['proposals']), 'change')}; memoryctl proposals list")
        for one in reply["proposals"]:
            click.echo(f"  {one['id']}  {harmless_line(one['path'])}  {harmless_line(one['why'])}")
    near = pair_lines(reply["copies"], "say nearly the same")
    for line in (*near, *pair_lines(reply["acrossScopes"], "say the same in several scopes")):
        click.echo(line)
    if reply["coreLeftOut"]:
        note(f"{count(reply['coreLeftOut'], 'fact')} did not fit into the core file: memory.core.maxChars")
    for refusal in reply["refusals"]:
        note(f"{refusal['path']} was left as it is: {refusal['why']}")


def _print_rest(total: int) -> None:
    if total > SHOWN:
        click.echo(f"  … and {total - SHOWN} more")
