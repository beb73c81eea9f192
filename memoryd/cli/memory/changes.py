"""memoryctl changes, undo, forget, verify and conflicts: list, check and reverse changes, and erase memories."""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TypeVar, Unpack

import click

from memoryd.cli.invocation import (
    SHORT_ID,
    Invocation,
    Note,
    argument,
    command_from_call,
    exit_code_of,
    flag,
    key_option,
    shared,
    undo_hint,
    with_invocation,
    words_argument,
)
from memoryd.cli.terminal import bold, count, harmless, harmless_line, in_columns, is_terminal, minute, style
from memoryd.client import ChangeBounds, Client
from memoryd.domain.documents import is_conversation
from memoryd.replies.changes import (
    ChangeReply,
    ChangesReply,
    ConflictReply,
    ConflictSettledReply,
    ConflictsReply,
    ForgetReply,
    TeamPromoteReply,
    VerifyReply,
)
from memoryd.replies.conversations import SessionForgetReply
from memoryd.wire import CHANGES_MAX, POSITION_MAX, Exit

SHOWN_HASH = 12
SHOWN_LINES = 3
"""Added and removed lines shown for each change."""
SHOWN_CHANGES = 20
"""Changes shown when one undo takes back several."""


@click.command("changes")
@click.option("--since", metavar="DATE", help="Only those of this date or later: 2026-11-18, or 7d for as long ago.")
@click.option("--by", metavar="WRITER", help="Only those by retain, core, reflect, …, by agent or agent:ID; or qa.")
@click.option("--path", metavar="FILE", help="Only those of this file.")
@click.option("--run", metavar="RUN", help="Only those of one act that wrote several files.")
@click.option("--limit", "-k", type=click.IntRange(1, CHANGES_MAX), metavar="N", help="How many at most (default 50).")
@flag("--lines", help="Also show the removed and added lines; without it no text of a note is shown.")
@with_invocation
def changes_command(invocation: Invocation, lines: bool, **filters: Unpack[ChangeBounds]) -> Exit:
    """List what memoryd wrote into the workspace, newest first; `memoryctl undo` takes a change back.

    `--by qa` lists the sessions of questions and answers, which `memoryctl sessions forget` removes.
    """
    reply = invocation.memory.changes(lines=lines, **filters)
    has_changes = bool(reply["changes"] or reply["sessions"])
    # filtered by writer or run, the newest change listed for a file need not be the newest change of that file
    shown = _lines(reply, is_complete=not (filters["by"] or filters["run"]))
    notes = [*reply["trouble"], *["nothing was written"] * (not has_changes)]
    return invocation.show(reply, shown, notes, code=exit_code_of(has_changes))


def _lines(reply: ChangesReply, *, is_complete: bool) -> Iterator[str]:
    for change in reply["changes"]:
        yield from change_lines(change)
        if is_complete and _is_overwritten(change, reply["changes"]):
            yield f"    {harmless_line(change['path'])} has been written by another program or person since"
    for session in reply["sessions"]:
        hint = f"to take it out: memoryctl {harmless_line(session['undo'])}"
        yield in_columns(bold(session["session"]), minute(session["at"]), "qa", count(session["turns"], "turn"), hint)


def change_lines(change: ChangeReply, *, most: int = SHOWN_LINES, taken_back: bool = False) -> Iterator[str]:
    """Yield the lines that show a change: number, time, writer, file, hash of the file, then removed and added lines.

    With `taken_back` the signs are swapped: an undo restores the removed lines and removes the added ones. At most
    `most` removed and added lines are shown.
    """
    who = change["by"] if change["agent"] is None else f"{change['by']} ({change['agent']})"
    place = harmless_line(change["path"]) or "no file, but the ledger"
    digest = "gone" if change["hashAfter"] is None else change["hashAfter"][:SHOWN_HASH] or "no hash kept"
    yield in_columns(
        style(str(change["id"]), bold=True),
        minute(change["at"]),
        who,
        place,
        "" if change["state"] == "done" else change["state"],
        "" if change["undoable"] else "cannot be undone",
        digest if change["path"] else "",
        harmless_line(change["why"]),
    )
    signed = [
        f"{sign} {harmless_line(line)}"
        for edit in change["lines"]
        for sign, lines in zip("-+", (edit["removed"], edit["added"])[:: -1 if taken_back else 1], strict=True)
        for line in lines
        if line.strip()
    ]
    yield from (f"    {line}" for line in signed[:most])
    if len(signed) > most:
        yield f"    … {len(signed) - most} more"


def _is_overwritten(change: ChangeReply, listed: Sequence[ChangeReply]) -> bool:
    """Return True if a change is the newest listed for its file and another program has written the file since."""
    newest = next(other for other in listed if other["path"] == change["path"])
    return newest["id"] == change["id"] and change["standing"] is False


LISTS_CHANGES = "memoryctl changes lists them"


class _ChangeNumber(click.IntRange):
    """A change number; a session name fails with the command that removes a session."""

    def convert(self, value: int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; raises BadParameter."""
        if is_conversation(str(value)):
            self.fail(f"a conversation is no change: memoryctl sessions forget {shlex.quote(str(value))}", param, ctx)
        if not str(value).isdecimal():
            self.fail(f"{str(value)!r} is no number of a change: {LISTS_CHANGES}", param, ctx)
        return super().convert(value, param, ctx)


@click.command("undo")
@argument("change", type=_ChangeNumber(1, POSITION_MAX), required=False, help="The number of a change.")
@click.option("--run", metavar="RUN", help="Take back all changes of one act that wrote several files.")
@flag("--dry-run", help="Only say what would be taken back.")
@with_invocation
def undo_command(invocation: Invocation, change: int | None, run: str | None, dry_run: bool) -> Exit:
    """Take back a change whose lines are still there; an undo is a change too, and can be taken back.

    `memoryctl changes` lists the numbers. If notes of an import were edited since, the rest is taken back and the exit
    code is 1.
    """
    if (change is None) == (run is None):
        raise click.UsageError(f"give the number of a change, or --run RUN: {LISTS_CHANGES}")
    # an import consists of many changes
    invocation.memory.timeout = 150
    reply = invocation.memory.undo(change, run=run, dry_run=dry_run)
    undone, hints = reply["undone"], list[str]()
    shown = (change_lines(step["change"], most=sys.maxsize, taken_back=True) for step in undone[:SHOWN_CHANGES])
    if len(undone) > SHOWN_CHANGES:
        hints.append(f"and {len(undone) - SHOWN_CHANGES:,} more changes")
    if reply["run"] is not None:
        hints.append(f"to have it again: {undo_hint(reply['run'])}")
    else:
        hints += [f"to have it again: {undo_hint(step['undoneBy'])}" for step in undone if step["undoneBy"]]
    if not undone:
        hints = ["nothing of it is left to undo"]
    notes = [*hints, *reply["left"], *reply["notes"], *["nothing was written: it would be taken back"] * dry_run]
    return invocation.show(reply, chain.from_iterable(shown), notes, code=Exit.ERROR if reply["left"] else Exit.DONE)


Receipt = TypeVar("Receipt", ForgetReply, SessionForgetReply, TeamPromoteReply)
dry_option = flag("--dry-run", "is_dry", help="Only say what would be removed.")
sure_option = flag("--yes", "is_sure", help="Do not ask for confirmation; needed without a terminal.")


@click.command("forget")
@words_argument(
    "what",
    required=True,
    metavar="ID|CITATION|WORDS…",
    help="The id of a memory or its beginning, a citation such as memory/2026-11-20.md#L12, or words that it says.",
)
@dry_option
@flag("--undoable", "is_undoable", help="Keep the lines for 24 hours, so that `undo` works.")
@sure_option
@with_invocation
def forget_command(invocation: Invocation, what: str, is_dry: bool, is_undoable: bool, is_sure: bool) -> Exit:
    """Take a memory out of notes, indexes, turns and the ledger, so that it is not learned again."""
    forget = partial(invocation.memory.forget, what)
    return run_confirmed(
        invocation,
        lambda: forget(dry_run=True),
        lambda _plan: forget(undoable=is_undoable),
        _receipt_lines,
        what="forget",
        is_dry=is_dry,
        is_sure=is_sure,
    )


def run_confirmed(
    invocation: Invocation,
    plan: Callable[[], Receipt],
    do: Callable[[Receipt], Receipt],
    lines: Callable[[Receipt], Iterator[str]],
    *,
    what: str,
    is_dry: bool,
    is_sure: bool,
) -> Exit:
    """Show what would be done (`what` is a verb), ask for confirmation unless `is_sure`, and do it.

    Nothing is asked if the plan says that it is done already. Raises UsageError if there is no terminal to ask at.
    """
    can_ask = is_terminal(sys.stdin) and is_terminal(sys.stdout) and not invocation.is_json
    if not (is_dry or is_sure or can_ask):
        raise click.UsageError(f"no terminal to ask on: say --yes to {what} it, or --dry-run to see what would go")
    reply = plan()
    if not (is_dry or is_sure or reply.get("promoted")):
        click.echo("\n".join(line for line in lines(reply) if not isinstance(line, Note)))
        click.confirm(f"{what.capitalize()} it?", abort=True, err=True)
    if not is_dry:
        reply = do(reply)
    return invocation.show(reply, lines(reply), code=Exit.ERROR if reply.get("unfinished") else Exit.DONE)


def receipt_lines(what: str, receipt: ForgetReply | SessionForgetReply, parts: Iterable[str]) -> Iterator[str]:
    """Yield whether `what` is forgotten or would be, what is unfinished, its parts, and what is out of reach."""
    pending = "forgotten, but for what follows" if receipt["unfinished"] else "would be forgotten"
    yield f"{what} {'forgotten' if receipt['forgotten'] else pending}"
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
        yield f"within 24 hours it is taken back by: {undo_hint(change)}"


@click.command("verify")
@argument(
    "citation",
    help="As an answer gave it, such as memory/2026-11-20.md#L12@1a2b3c4d; without the mark behind @ it proves less.",
)
@key_option
@with_invocation
def verify_command(invocation: Invocation, citation: str) -> Exit:
    """Check whether cited lines are unchanged, moved, edited or deleted; exit 3 if they were edited or deleted."""
    reply = invocation.memory.verify(citation)
    return invocation.show(reply, _verify_lines(reply), code=exit_code_of(reply["state"] in ("verified", "moved")))


def _verify_lines(reply: VerifyReply) -> Iterator[str]:
    now = f", now {reply['now']}" if reply["now"] and reply["now"] != reply["citation"] else ""
    yield harmless_line(f"{reply['citation']}: {reply['state']}{now}")
    if reply["content"]:
        yield f"  {harmless(reply['content'])}"
    yield from (Note(f"there is a newer version: {newer[:SHORT_ID]}") for newer in reply["supersededBy"])
    if reply["note"]:
        yield Note(reply["note"])


VERSIONS = ("original", "copy", "both")


@click.group("conflicts", invoke_without_command=True)
@shared
@click.pass_context
def conflicts_command(context: click.Context) -> Exit | None:
    """Show notes that a folder synchroniser or git left in two versions, and settle them."""
    return context.invoke(list_conflicts) if context.invoked_subcommand is None else None


@conflicts_command.command("list")
@command_from_call(Client.conflicts, found_at="conflicts")
def list_conflicts(reply: ConflictsReply) -> Iterator[str]:
    """Show how each copy differs from its original (`-` original, `+` copy); exit 3 if there is none."""
    shown = reply["conflicts"]
    for conflict in shown:
        yield from _conflict_lines(conflict)
    yield Note("to settle one: memoryctl conflicts keep PATH original|copy|both" if shown else "no conflicts")
    if (more := reply["total"] - len(shown)) > 0:
        yield Note(f"{more} more are not shown")


@conflicts_command.command("keep")
@argument("path", metavar="PATH", help="The copy, or the note in which git left both versions.")
@argument("keep", type=click.Choice(VERSIONS), metavar="original|copy|both", help="What is to be kept.")
@command_from_call(Client.settle_conflict)
def keep_version(reply: ConflictSettledReply) -> Iterator[str]:
    """Keep one version, or the lines of both, in the original. The copy is removed; `memoryctl undo` restores it."""
    yield f"{harmless_line(reply['original'])}: {reply['keep']} kept"
    if reply["changes"]:
        yield Note(f"to have it back: {undo_hint(reply['run'])}")


def _conflict_lines(conflict: ConflictReply) -> Iterator[str]:
    path, original = conflict["path"], conflict["original"]
    description = "both versions between the marks of git" if path == original else f"copy of {original}"
    yield f"{bold(path)}  {harmless_line(description)}"
    yield from (f"    {harmless(line)}" for line in conflict["diff"].splitlines()[2:])
    if conflict["note"]:
        yield f"    {harmless_line(conflict['note'])}"
