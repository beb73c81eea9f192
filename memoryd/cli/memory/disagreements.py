"""memoryctl disagreements: what may contradict what, and which of it holds."""

from collections.abc import Iterator

import click

from memoryd.cli.invocation import HELP, SHORT_ID, Argument, Invocation, shared, undo_notes
from memoryd.cli.terminal import harmless_line, styled
from memoryd.replies.knowledge import DisagreeingMemoryReply, DisagreementReply, DisagreementsReply
from memoryd.wire import Exit

_WHY = {
    "authority": "the later one is not its owner's word",
    "unsure": "both may hold",
    "stated": "one says that it contradicts the other",
}
KEPT = ("newer", "older", "both")


@click.group("disagreements", context_settings=HELP, invoke_without_command=True)
@shared
@click.pass_context
def disagreements_command(context: click.Context) -> Exit | None:
    """List memories that may contradict each other, and say which of them hold; `memoryctl forget ID` takes one out."""
    return context.invoke(listing) if context.invoked_subcommand is None else None


@click.command("list", context_settings=HELP)
@shared
@click.pass_obj
def listing(invocation: Invocation) -> Exit:
    """List the pairs, the newest first; exit 3 if there are none."""
    with invocation.client() as client:
        reply = client.disagreements(agent=invocation.agent)
    invocation.show(reply, (line for one in reply["disagreements"] for line in _lines(one)), _rest(reply))
    return Exit.DONE if reply["disagreements"] else Exit.NOTHING_FOUND


@click.command("keep", context_settings=HELP)
@click.argument("pair", cls=Argument, metavar="ID", help="The pair, by its id or that of one of its memories.")
@click.argument("kept", cls=Argument, type=click.Choice(KEPT), metavar="newer|older|both", help="What holds.")
@shared
@click.pass_obj
def keep(invocation: Invocation, pair: str, kept: str) -> Exit:
    """Say which of two memories holds: the other is told as earlier, or both stand beside each other."""
    with invocation.client() as client:
        reply = client.settle_disagreement(pair, kept, agent=invocation.agent)
    invocation.show(reply, [f"{reply['id']}: {_kept(kept)}"], undo_notes(reply["changes"]))
    return Exit.DONE


def _kept(kept: str) -> str:
    return "both hold" if kept == "both" else f"the {kept} one holds"


def _lines(one: DisagreementReply) -> Iterator[str]:
    yield f"{one['id']}  {_WHY[one['doubt']]}"
    for age in ("newer", "older"):
        memory: DisagreeingMemoryReply = one["newer"] if age == "newer" else one["older"]
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


for one in (listing, keep):
    disagreements_command.add_command(one)
