"""memoryctl disagreements: what may contradict what, and which of it holds."""

from collections.abc import Iterator

import click

from memoryd.cli.invocation import SHORT_ID, Invocation, argument, found, shared, undo_notes, verb
from memoryd.cli.terminal import harmless_line, styled
from memoryd.replies.knowledge import DisagreementReply, DisagreementsReply
from memoryd.wire import Exit

_WHY = {
    "authority": "the later one is not its owner's word",
    "unsure": "both may hold",
    "stated": "one says that it contradicts the other",
}
KEPT = ("newer", "older", "both")


@click.group("disagreements", invoke_without_command=True)
@shared
@click.pass_context
def disagreements_command(context: click.Context) -> Exit | None:
    """List memories that may contradict each other, and say which of them hold; `memoryctl forget ID` takes one out."""
    return context.invoke(listing) if context.invoked_subcommand is None else None


@disagreements_command.command("list")
@verb
def listing(invocation: Invocation) -> Exit:
    """List the pairs, the newest first; exit 3 if there are none."""
    reply = invocation.memory.disagreements()
    pairs = reply["disagreements"]
    return invocation.show(reply, (line for one in pairs for line in _lines(one)), _rest(reply), code=found(pairs))


@disagreements_command.command("keep")
@argument("pair", metavar="ID", help="The pair, by its id or that of one of its memories.")
@argument("kept", type=click.Choice(KEPT), metavar="newer|older|both", help="What holds.")
@verb
def keep(invocation: Invocation, pair: str, kept: str) -> Exit:
    """Say which of two memories holds: the other is told as earlier, or both stand beside each other."""
    reply = invocation.memory.settle_disagreement(pair, kept)
    told = "both hold" if kept == "both" else f"the {kept} one holds"
    return invocation.show(reply, [f"{reply['id']}: {told}"], undo_notes(reply["changes"]))


def _lines(one: DisagreementReply) -> Iterator[str]:
    yield f"{one['id']}  {_WHY[one['doubt']]}"
    for age, memory in (("newer", one["newer"]), ("older", one["older"])):
        first = ", told first" if memory["id"] == one["leads"] else ""
        said = memory["saidBy"] or "by hand"
        yield f"   {age}: {harmless_line(memory['text'])}"
        yield "   " + styled(f"{memory['id'][:SHORT_ID]} · {said} · {memory['source']}{first}", dim=True)


def _rest(reply: DisagreementsReply) -> Iterator[str]:
    if (more := reply["total"] - len(reply["disagreements"])) > 0:
        yield f"{more} more are not shown"
    if not reply["total"]:
        yield "no disagreements"
    else:
        yield "to settle one: memoryctl disagreements keep ID newer|older|both, or memoryctl forget ID"
