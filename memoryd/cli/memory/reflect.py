"""memoryctl reflect and proposals: bring pages of bank/ and opinions up to date, and decide on what it proposes."""

import contextlib
import sys
import threading
from collections.abc import Iterator

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared, undo_notes
from memoryd.cli.memory.memories import pair_lines
from memoryd.cli.terminal import count, harmless, harmless_line, is_terminal, note
from memoryd.client import Client
from memoryd.errors import MemorydError
from memoryd.replies.knowledge import DecidedProposalReply, ProposalReply, ProposalsReply, ReflectReply
from memoryd.wire import Event, Exit

SHOWN = 10
"""Pages that are named."""
_STEPS = {"planning": "reading {} memories", "pages": "looking at {} pages", "proposals": "looking at {} notes"}
STATES = ("open", "accepted", "rejected", "outdated", "all")


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
def reflect_command(invocation: Invocation, since: str | None, dry_run: bool, allow_loss: bool) -> Exit:
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
    if (more := len(reply["pages"]) - SHOWN) > 0:
        click.echo(f"  … and {more} more")
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
    if reply["disagreements"]:
        click.echo(f"{count(reply['disagreements'], 'pair')} may contradict each other; memoryctl disagreements")
    if reply["coreLeftOut"]:
        note(f"{count(reply['coreLeftOut'], 'fact')} did not fit into the core file: memory.core.maxChars")
    for refusal in reply["refusals"]:
        note(f"{refusal['path']} was left as it is: {refusal['why']}")


@click.group("proposals", context_settings=HELP)
def proposals_command() -> None:
    """Look at the changes that reflect proposes, and accept or reject them."""


@click.command("list", context_settings=HELP)
@click.option(
    "--state", type=click.Choice(STATES), default="open", show_default=True, help="Which ones, by what became of them."
)
@shared
@click.pass_obj
def listing(invocation: Invocation, state: str) -> Exit:
    """List proposals, the oldest first; exit 3 if there are none."""
    with invocation.client() as client:
        reply = client.proposals(None if state == "all" else state, agent=invocation.agent)
    invocation.show(reply, map(_proposal_line, reply["proposals"]), _rest_notes(reply, state))
    return Exit.DONE if reply["proposals"] else Exit.NOTHING_FOUND


@click.command("show", context_settings=HELP)
@click.argument("proposal", cls=Argument, metavar="ID", help="The proposal, by its id or four signs of it.")
@shared
@click.pass_obj
def show(invocation: Invocation, proposal: str) -> Exit:
    """Show what a proposal changes, and why."""
    with invocation.client() as client:
        reply = client.proposal(proposal, agent=invocation.agent)
    invocation.show(reply, _proposal_lines(reply))
    return Exit.DONE


@click.command("accept", context_settings=HELP)
@click.argument("proposals", cls=Argument, nargs=-1, required=True, metavar="ID…", help="The proposals, by their ids.")
@shared
@click.pass_obj
def accept(invocation: Invocation, proposals: tuple[str, ...]) -> Exit:
    """Write what proposals say, where their lines still stand unmistakably."""
    with invocation.client() as client:
        _report(invocation, [client.accept_proposal(one, agent=invocation.agent) for one in proposals])
    return Exit.DONE


@click.command("reject", context_settings=HELP)
@click.argument("proposals", cls=Argument, nargs=-1, required=True, metavar="ID…", help="The proposals, by their ids.")
@shared
@click.pass_obj
def reject(invocation: Invocation, proposals: tuple[str, ...]) -> Exit:
    """Take proposals out of the queue; the same lines are not proposed again."""
    with invocation.client() as client:
        _report(invocation, [client.reject_proposal(one, agent=invocation.agent) for one in proposals])
    return Exit.DONE


def _proposal_line(one: ProposalReply) -> str:
    mark = "" if one["state"] == "open" else f"{one['state']}  "
    return f"{one['id']}  {mark}{harmless_line(one['path'])}  {harmless_line(one['why'])}"


def _rest_notes(reply: ProposalsReply, state: str) -> Iterator[str]:
    if reply["total"] > len(reply["proposals"]):
        yield f"{reply['total'] - len(reply['proposals'])} more are not shown"
    if not reply["total"]:
        yield "no proposals" if state == "all" else f"no {state} proposals"


def _proposal_lines(reply: ProposalReply) -> Iterator[str]:
    state = "" if reply["state"] == "open" else f" ({reply['state']})"
    yield f"{reply['id']}{state}: {harmless_line(reply['why'])}"
    yield harmless(reply["diff"]).removesuffix("\n")


def _report(invocation: Invocation, replies: list[DecidedProposalReply]) -> None:
    lines = (f"{one['id']} {one['state']}: {harmless_line(one['path'])}" for one in replies)
    notes = (note for one in replies for note in _decided_notes(one))
    invocation.show(replies[0] if len(replies) == 1 else replies, lines, notes)


def _decided_notes(reply: DecidedProposalReply) -> Iterator[str]:
    if reply["change"]:
        yield from undo_notes([reply["change"]])
    elif reply["note"]:
        yield reply["note"]


for one in (listing, show, accept, reject):
    proposals_command.add_command(one)
