"""memoryctl forget and verify: take a memory out of everything, after showing what goes; and check a citation."""

import sys
from collections.abc import Iterator

import click

from memoryd.cli.invocation import HELP, SHORT_ID, Argument, Invocation, shared
from memoryd.cli.terminal import count, harmless, harmless_line, is_terminal
from memoryd.replies.changes import ForgetReply, VerifyReply
from memoryd.wire import Exit


@click.command("forget", context_settings=HELP)
@click.argument(
    "words",
    nargs=-1,
    required=True,
    cls=Argument,
    metavar="ID|CITATION|WORDS…",
    help="The id of a memory or its beginning, a citation such as memory/2026-11-20.md#L12, or words that it says.",
)
@click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would go.")
@click.option("--undoable", "is_undoable", is_flag=True, help="Hold the lines for 24 hours, so that `undo` works.")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask; needed where nobody can be asked.")
@shared
@click.pass_obj
def forget_command(
    invocation: Invocation, words: tuple[str, ...], is_dry: bool, is_undoable: bool, is_sure: bool
) -> Exit:
    """Take a memory out of notes, indexes, turns and the ledger, so that nothing learns it again."""
    can_ask = is_terminal(sys.stdin) and is_terminal(sys.stdout) and not invocation.is_json
    if not (is_dry or is_sure or can_ask):
        raise click.UsageError("nobody can be asked here: say --yes to forget it, or --dry-run to see what would go")
    what = " ".join(words)
    with invocation.client() as client:
        plan = client.forget(what, dry_run=True, agent=invocation.agent)
        if is_dry:
            return _tell(invocation, plan)
        if not is_sure:
            _print_receipt(plan)
            click.confirm("Forget it?", abort=True, err=True)
        return _tell(invocation, client.forget(what, undoable=is_undoable, agent=invocation.agent))


def _tell(invocation: Invocation, receipt: ForgetReply) -> Exit:
    if invocation.is_json:
        invocation.print_json(receipt)
    else:
        _print_receipt(receipt)
    return Exit.ERROR if receipt["unfinished"] else Exit.DONE


def _print_receipt(receipt: ForgetReply) -> None:
    left = "forgotten, but for what follows" if receipt["unfinished"] else "would be forgotten"
    number = len(receipt["memories"])
    what = count(number, "memory", "memories") if number else count(len(receipt["lines"]), "place")
    click.echo(f"{what} {'forgotten' if receipt['forgotten'] else left}")
    for sentence in receipt["unfinished"]:
        click.echo(f"  ! {harmless_line(sentence)}")
    for memory in receipt["memories"]:
        if memory["content"] is not None:
            scope = f" (for {harmless_line(memory['scope'])})" if memory["scope"] else ""
            click.echo(f"  {memory['id'][:SHORT_ID]}{scope}  {harmless(memory['content'])}")
    for line in receipt["lines"]:
        click.echo(f"  line {harmless_line(line)}")
    for turn in receipt["turns"]:
        click.echo(f"  words in {harmless_line(turn)}")
    for number, noun in (
        (receipt["purgedChanges"], "earlier change that cannot be undone any more"),
        (receipt["purgedProposals"], "proposal that had the text"),
        (receipt["purgedAnswers"], "held answer that had the text"),
    ):
        if number:
            click.echo(f"  {number:,} × {noun}")
    for change in receipt["changes"]:
        click.echo(f"  within 24 hours it is taken back by: memoryctl undo {change}")
    click.echo("  out of reach:")
    for sentence in receipt["stays"]:
        click.echo(f"  - {harmless_line(sentence)}")


@click.command("verify", context_settings=HELP)
@click.argument(
    "citation",
    cls=Argument,
    help="As an answer gave it, such as memory/2026-11-20.md#L12@1a2b3c4d; without the mark behind @ it proves less.",
)
@click.option(
    "--key", "--session-key", "session_key", metavar="KEY", help="The session that asks, such as agent:main:main."
)
@shared
@click.pass_obj
def verify_command(invocation: Invocation, citation: str, session_key: str | None) -> Exit:
    """Tell whether cited lines still stand, moved, were edited or are gone; exit 3 unless they stand or moved."""
    with invocation.client() as client:
        reply = client.verify(citation, session_key=session_key, agent=invocation.agent)
    invocation.show(reply, _verify_lines(reply), _verify_notes(reply))
    return Exit.DONE if reply["state"] in ("verified", "moved") else Exit.NOTHING_FOUND


def _verify_lines(reply: VerifyReply) -> Iterator[str]:
    now = f", now {reply['now']}" if reply["now"] and reply["now"] != reply["citation"] else ""
    yield harmless_line(f"{reply['citation']}: {reply['state']}{now}")
    if reply["content"]:
        yield f"  {harmless(reply['content'])}"


def _verify_notes(reply: VerifyReply) -> Iterator[str]:
    for newer in reply["supersededBy"]:
        yield f"there is a newer version: {newer[:SHORT_ID]}"
    if reply["note"]:
        yield reply["note"]
