"""memoryctl proposals: changes that wait for a decision."""

from collections.abc import Iterator

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.listing import undo_notes
from memoryd.cli.terminal import harmless, harmless_line
from memoryd.replies.knowledge import DecidedProposalReply, ProposalReply, ProposalsReply
from memoryd.wire import Exit

STATES = ("open", "accepted", "rejected", "outdated", "all")


@click.group("proposals", context_settings=HELP)
def command() -> None:
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
    invocation.show(reply, map(_line, reply["proposals"]), _rest_notes(reply, state))
    return Exit.DONE if reply["proposals"] else Exit.NOTHING_FOUND


@click.command("show", context_settings=HELP)
@click.argument("proposal", cls=Argument, metavar="ID", help="The proposal, by its id or four signs of it.")
@shared
@click.pass_obj
def show(invocation: Invocation, proposal: str) -> Exit:
    """Show what a proposal changes, and why."""
    with invocation.client() as client:
        reply = client.proposal(proposal, agent=invocation.agent)
    invocation.show(reply, _lines(reply))
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


def _line(one: ProposalReply) -> str:
    mark = "" if one["state"] == "open" else f"{one['state']}  "
    return f"{one['id']}  {mark}{harmless_line(one['path'])}  {harmless_line(one['why'])}"


def _rest_notes(reply: ProposalsReply, state: str) -> Iterator[str]:
    if reply["total"] > len(reply["proposals"]):
        yield f"{reply['total'] - len(reply['proposals'])} more are not shown"
    if not reply["total"]:
        yield "no proposals" if state == "all" else f"no {state} proposals"


def _lines(reply: ProposalReply) -> Iterator[str]:
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
    command.add_command(one)
