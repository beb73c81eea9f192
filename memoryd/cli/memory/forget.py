"""memoryctl forget and verify: take a memory out of everything, after showing what goes; and check a citation."""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

import click

from memoryd.cli.invocation import SHORT_ID, Invocation, argument, found, key_option, verb
from memoryd.cli.terminal import count, harmless, harmless_line, is_terminal
from memoryd.replies.changes import ForgetReply, VerifyReply
from memoryd.replies.conversations import SessionForgetReply
from memoryd.wire import Exit

Receipt = TypeVar("Receipt", ForgetReply, SessionForgetReply)
dry_option = click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would go.")
sure_option = click.option("--yes", "is_sure", is_flag=True, help="Do not ask; needed where nobody can be asked.")


@click.command("forget")
@argument(
    "words",
    nargs=-1,
    required=True,
    metavar="ID|CITATION|WORDS…",
    help="The id of a memory or its beginning, a citation such as memory/2026-11-20.md#L12, or words that it says.",
)
@dry_option
@click.option("--undoable", "is_undoable", is_flag=True, help="Hold the lines for 24 hours, so that `undo` works.")
@sure_option
@verb
def forget_command(
    invocation: Invocation, words: tuple[str, ...], is_dry: bool, is_undoable: bool, is_sure: bool
) -> Exit:
    """Take a memory out of notes, indexes, turns and the ledger, so that nothing learns it again."""
    forget = partial(invocation.memory.forget, " ".join(words))
    return forget_if_sure(
        invocation,
        lambda: forget(dry_run=True),
        lambda _plan: forget(undoable=is_undoable),
        _receipt_lines,
        is_dry=is_dry,
        is_sure=is_sure,
    )


def forget_if_sure(
    invocation: Invocation,
    plan: Callable[[], Receipt],
    forget: Callable[[Receipt], Receipt],
    lines: Callable[[Receipt], Iterator[str]],
    *,
    is_dry: bool,
    is_sure: bool,
) -> Exit:
    """Show what would go, ask unless that `is_sure`, and have it go. Raises UsageError where nobody can be asked."""
    can_ask = is_terminal(sys.stdin) and is_terminal(sys.stdout) and not invocation.is_json
    if not (is_dry or is_sure or can_ask):
        raise click.UsageError("nobody can be asked here: say --yes to forget it, or --dry-run to see what would go")
    receipt = plan()
    if not (is_dry or is_sure):
        click.echo("\n".join(lines(receipt)))
        click.confirm("Forget it?", abort=True, err=True)
    if not is_dry:
        receipt = forget(receipt)
    return invocation.show(receipt, lines(receipt), code=Exit.ERROR if receipt["unfinished"] else Exit.DONE)


def receipt_lines(what: str, receipt: ForgetReply | SessionForgetReply, parts: Iterable[str]) -> Iterator[str]:
    """Yield that something is forgotten, or would be, what is not done yet, its parts, and what stays."""
    left = "forgotten, but for what follows" if receipt["unfinished"] else "would be forgotten"
    yield f"{what} {'forgotten' if receipt['forgotten'] else left}"
    yield from (f"  ! {harmless_line(sentence)}" for sentence in receipt["unfinished"])
    yield from (f"  {part}" for part in parts)
    yield "  out of reach:"
    yield from (f"  - {harmless_line(sentence)}" for sentence in receipt["stays"])


def _receipt_lines(receipt: ForgetReply) -> Iterator[str]:
    number = len(receipt["memories"])
    what = count(number, "memory", "memories") if number else count(len(receipt["lines"]), "place")
    return receipt_lines(what, receipt, _parts(receipt))


def _parts(receipt: ForgetReply) -> Iterator[str]:
    for memory in receipt["memories"]:
        if memory["content"] is not None:
            scope = f" (for {harmless_line(memory['scope'])})" if memory["scope"] else ""
            yield f"{memory['id'][:SHORT_ID]}{scope}  {harmless(memory['content'])}"
    yield from (f"line {harmless_line(line)}" for line in receipt["lines"])
    yield from (f"words in {harmless_line(turn)}" for turn in receipt["turns"])
    for number, noun in (
        (receipt["purgedChanges"], "earlier change that cannot be undone any more"),
        (receipt["purgedProposals"], "proposal that had the text"),
        (receipt["purgedAnswers"], "held answer that had the text"),
    ):
        if number:
            yield f"{number:,} × {noun}"
    for change in receipt["changes"]:
        yield f"within 24 hours it is taken back by: memoryctl undo {change}"


@click.command("verify")
@argument(
    "citation",
    help="As an answer gave it, such as memory/2026-11-20.md#L12@1a2b3c4d; without the mark behind @ it proves less.",
)
@key_option
@verb
def verify_command(invocation: Invocation, citation: str) -> Exit:
    """Tell whether cited lines still stand, moved, were edited or are gone; exit 3 unless they stand or moved."""
    reply = invocation.memory.verify(citation)
    code = found(reply["state"] in ("verified", "moved"))
    return invocation.show(reply, _verify_lines(reply), _verify_notes(reply), code=code)


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
