"""memoryctl reflect, proposals and disagreements: have pages and opinions follow, and decide what is left to you."""

import contextlib
import sys
import threading
from collections.abc import Iterator

import click

from memoryd.cli.invocation import SHORT_ID, Invocation, Note, argument, asks, flag, found, shared, undo_notes, verb
from memoryd.cli.memory.memories import pair_lines
from memoryd.cli.terminal import count, harmless, harmless_line, is_terminal, note, styled
from memoryd.client import Client
from memoryd.errors import MemorydError
from memoryd.replies.knowledge import (
    DecidedProposalReply,
    DisagreementsReply,
    ProposalReply,
    ProposalsReply,
    ReflectReply,
    SettledReply,
)
from memoryd.wire import Event, Exit

SHOWN = 10
"""Pages that are named."""
_STEPS = {"planning": "reading {} memories", "pages": "looking at {} pages", "proposals": "looking at {} notes"}
STATES = ("open", "accepted", "rejected", "outdated", "all")


def _tell_steps(invocation: Invocation) -> None:
    """Say on stderr what a run does, as its events tell; without them nothing is said."""
    with contextlib.suppress(MemorydError):
        for event in invocation.client().events(agent=invocation.agent):
            summary = _STEPS.get(str(event["data"].get("step")))
            if event["event"] == Event.REFLECT and summary is not None:
                note(summary.format(event["data"].get("count")))


@click.command("reflect")
@click.option("--since", metavar="AGE", help="Look back to this day: 7d, or 2026-10-01 (else memory.reflect.since).")
@flag("--dry-run", help="Say what would be written and proposed, and write nothing.")
@flag("--allow-loss", help="Let pages lose what they told: it is gone on purpose.")
@verb
def reflect_command(invocation: Invocation, since: str | None, dry_run: bool, allow_loss: bool) -> Exit:
    """Bring entity pages and opinions up to date, and propose what you have to decide."""
    if is_terminal(sys.stderr) and not invocation.is_json:
        threading.Thread(target=_tell_steps, args=(invocation,), daemon=True).start()
    reply = invocation.memory.reflect(since, dry_run=dry_run, allow_loss=allow_loss)
    return invocation.show(reply, _lines(reply))


def _lines(reply: ReflectReply) -> Iterator[str]:
    would = "would write" if reply["dryRun"] else "wrote"
    memories = count(reply["memories"], "memory", "memories")
    yield f"{would} {count(len(reply['pages']), 'page')} of {memories}"
    yield from (f"  {harmless_line(page)}" for page in reply["pages"][:SHOWN])
    if (more := len(reply["pages"]) - SHOWN) > 0:
        yield f"  … and {more} more"
    if reply["steps"]:
        yield f"{count(reply['steps'], 'piece')} of evidence counted for or against opinions"
    if reply["proposals"]:
        would = "would propose" if reply["dryRun"] else "proposed"
        yield f"{would} {count(len(reply['proposals']), 'change')}; memoryctl proposals list"
        yield from (
            f"  {one['id']}  {harmless_line(one['path'])}  {harmless_line(one['why'])}" for one in reply["proposals"]
        )
    yield from pair_lines(reply["copies"], reply["acrossScopes"])
    if reply["disagreements"]:
        yield f"{count(reply['disagreements'], 'pair')} may contradict each other; memoryctl disagreements"
    if reply["coreLeftOut"]:
        yield Note(f"{count(reply['coreLeftOut'], 'fact')} did not fit into the core file: memory.core.maxChars")
    yield from (Note(f"{one['path']} was left as it is: {one['why']}") for one in reply["refusals"])


@click.group("proposals")
def proposals_command() -> None:
    """Look at the changes that reflect proposes, and accept or reject them."""


@proposals_command.command("list")
@click.option(
    "--state", type=click.Choice(STATES), default="open", show_default=True, help="Which ones, by what became of them."
)
@verb
def list_proposals(invocation: Invocation, state: str) -> Exit:
    """List proposals, the oldest first; exit 3 if there are none."""
    reply = invocation.memory.proposals(None if state == "all" else state)
    return invocation.show(reply, _proposal_lines(reply, state), code=found(reply["proposals"]))


@proposals_command.command("show")
@argument("name", metavar="ID", help="The proposal, by its id or four signs of it.")
@asks(Client.proposal)
def show(reply: ProposalReply) -> Iterator[str]:
    """Show what a proposal changes, and why."""
    state = "" if reply["state"] == "open" else f" ({reply['state']})"
    yield f"{reply['id']}{state}: {harmless_line(reply['why'])}"
    yield harmless(reply["diff"]).removesuffix("\n")


@proposals_command.command("accept")
@argument("proposals", nargs=-1, required=True, metavar="ID…", help="The proposals, by their ids.")
@verb
def accept(invocation: Invocation, proposals: tuple[str, ...]) -> Exit:
    """Write what proposals say, where their lines still stand unmistakably."""
    return _report(invocation, [invocation.memory.accept_proposal(one) for one in proposals])


@proposals_command.command("reject")
@argument("proposals", nargs=-1, required=True, metavar="ID…", help="The proposals, by their ids.")
@verb
def reject(invocation: Invocation, proposals: tuple[str, ...]) -> Exit:
    """Take proposals out of the queue; the same lines are not proposed again."""
    return _report(invocation, [invocation.memory.reject_proposal(one) for one in proposals])


def _proposal_lines(reply: ProposalsReply, state: str) -> Iterator[str]:
    for one in reply["proposals"]:
        mark = "" if one["state"] == "open" else f"{one['state']}  "
        yield f"{one['id']}  {mark}{harmless_line(one['path'])}  {harmless_line(one['why'])}"
    if (more := reply["total"] - len(reply["proposals"])) > 0:
        yield Note(f"{more} more are not shown")
    if not reply["total"]:
        yield Note("no proposals" if state == "all" else f"no {state} proposals")


def _report(invocation: Invocation, replies: list[DecidedProposalReply]) -> Exit:
    lines = (f"{one['id']} {one['state']}: {harmless_line(one['path'])}" for one in replies)
    notes = (note for one in replies for note in (undo_notes([one["change"]]) if one["change"] else [one["note"]]))
    return invocation.show(replies[0] if len(replies) == 1 else replies, lines, filter(None, notes))


_WHY = {
    "authority": "the later one is not its owner's word",
    "people": "somebody else of the team said the other",
    "copy": "the older one stands in a copy of a conflict alone: memoryctl conflicts",
    "unsure": "both may hold",
    "stated": "one says that it contradicts the other",
}
_AGES = ("newer", "older")


@click.group("disagreements", invoke_without_command=True)
@shared
@click.pass_context
def disagreements_command(context: click.Context) -> Exit | None:
    """List memories that may contradict each other, and say which of them hold; `memoryctl forget ID` takes one out."""
    return context.invoke(list_disagreements) if context.invoked_subcommand is None else None


@disagreements_command.command("list")
@asks(Client.disagreements, found_at="disagreements")
def list_disagreements(reply: DisagreementsReply) -> Iterator[str]:
    """List the pairs, the newest first; exit 3 if there are none."""
    for one in reply["disagreements"]:
        yield f"{one['id']}  {_WHY[one['doubt']]}"
        for memory in (one["newer"], one["older"]):
            first = ", told first" if memory["id"] == one["leads"] else ""
            author = memory["saidBy"] or "by hand"
            yield f"   {harmless_line(memory['name'])}: {harmless_line(memory['text'])}"
            yield "   " + styled(f"{memory['id'][:SHORT_ID]} · {author} · {memory['source']}{first}", dim=True)
    if (more := reply["total"] - len(reply["disagreements"])) > 0:
        yield Note(f"{more} more are not shown")
    if not reply["total"]:
        yield Note("no disagreements")
    else:
        yield Note("to settle one: memoryctl disagreements keep ID newer|older|NAME|both, or memoryctl forget ID")


@disagreements_command.command("keep")
@argument("name", metavar="ID", help="The pair, by its id or that of one of its memories.")
@argument("keep", metavar="newer|older|NAME|both", help="What holds, as the list has it before the text.")
@asks(Client.settle_disagreement)
def keep(reply: SettledReply) -> Iterator[str]:
    """Say which of two memories holds: the other is told as earlier, or both stand beside each other."""
    keep = reply["keep"]
    summary = "both hold" if keep == "both" else f"the {keep} one holds" if keep in _AGES else f"what {keep} says holds"
    yield f"{reply['id']}: {summary}"
    yield from undo_notes(reply["changes"])
