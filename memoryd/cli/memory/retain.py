"""memoryctl retain, remember, replace and capture: state a memory, or see what of a message becomes one."""

from collections.abc import Iterator
from typing import Unpack

import click

from memoryd.cli.invocation import (
    SHORT_ID,
    AnyCommand,
    BulletCommand,
    Invocation,
    Number,
    argument,
    found,
    given_text,
    text_argument,
    undo_notes,
    verb,
)
from memoryd.cli.terminal import harmless_line, styled
from memoryd.client import StatementOptions
from memoryd.replies.conversations import CaptureReply
from memoryd.replies.memories import RetainedReply, RetainReply
from memoryd.wire import Exit


def statement_options(command: AnyCommand) -> AnyCommand:
    """Add what may be said of a memory beside its text."""
    for add in (
        click.option("--at", metavar="DATE", help="When it was so: 2026-11-18, 2026-11 or 2026-11-18..2026-11-20."),
        click.option(
            "--entity", "-e", "entities", metavar="NAME", multiple=True, help="What it is about; may be repeated."
        ),
        click.option(
            "--scope", metavar="SCOPE", help="Whom it is for: agent:ID, agent:ID:CHANNEL or global (default: all here)."
        ),
        click.option("--importance", "-i", type=Number(0, 1), metavar="0..1", help="How important it is."),
    ):
        command = add(command)
    return command


@click.command("retain", cls=BulletCommand)
@text_argument("text", help='A bullet, "W @Peter: …", or plain text; - reads standard input.')
@click.option("--kind", metavar="KIND", help="The kind of plain text: W, B, O, S or a word such as fact (default W).")
@statement_options
@click.option("--replaces", metavar="ID|CITATION|WORDS", help="The memory whose place it takes, as `replace` has it.")
@verb
def retain_command(
    invocation: Invocation,
    text: str,
    replaces: str | None,
    **statement: Unpack[StatementOptions],
) -> Exit:
    """State a memory: it becomes a bullet below the Retain heading of today's log.

    From standard input every bullet is a memory of its own, and all are written at once.
    """
    each = text == "-" and replaces is None
    return _show(invocation, invocation.memory.retain(given_text(text), each=each, replaces=replaces, **statement))


@click.command("replace", cls=BulletCommand)
@argument(
    "name",
    metavar="ID|CITATION|WORDS",
    help="The id of a memory or its beginning, a citation such as memory/2026-11-20.md#L12, or words that it says.",
)
@text_argument("text", help="What holds now, plain text or a bullet; - reads standard input.")
@click.option("--in-place", "is_in_place", is_flag=True, help="Edit the line where it stands, without a new one.")
@verb
def replace_command(invocation: Invocation, name: str, text: str, is_in_place: bool) -> Exit:
    """Replace what a memory says: TEXT is retained, and the older line is marked as superseded.

    Kind, entities and scope that TEXT does not name are those of the memory. `memoryctl undo` takes all of it back.
    """
    return _show(invocation, invocation.memory.retain(given_text(text), replaces=name, in_place=is_in_place))


@click.command("remember", cls=BulletCommand)
@text_argument("text", help="What is to be remembered; - reads standard input.")
@statement_options
@verb
def remember_command(invocation: Invocation, text: str, **statement: Unpack[StatementOptions]) -> Exit:
    """Remember a text: a note of importance 0.8 in today's log, unless the text says otherwise."""
    return _show(invocation, invocation.memory.retain(given_text(text), remember=True, **statement))


def _show(invocation: Invocation, reply: RetainReply) -> Exit:
    unsearchable = [] if reply["searchable"] else ["it is written, and not indexed yet: memoryctl status says why"]
    notes = [*undo_notes(reply["changes"], reply["run"]), *unsearchable, *reply["notes"]]
    return invocation.show(reply, (_retained_line(one, reply["replaced"]) for one in reply["memories"]), notes)


def _retained_line(one: RetainedReply, replaced: str | None) -> str:
    told = "stands there already"
    if one["created"]:
        told = f"retained in the place of {replaced[:SHORT_ID]}" if replaced else "retained"
    return f"{styled(harmless_line(one['citation']), bold=True)}  {one['id'][:SHORT_ID]}  {told}"


@click.command("capture")
@argument("text", help="What is said to the agent; - reads standard input.")
@click.option("--dry-run", is_flag=True, help="Say only what would be kept, by which form, and why not the rest.")
@click.option("--answer", metavar="TEXT", help="What the assistant said before it, which it may correct.")
@verb
def capture_command(invocation: Invocation, text: str, dry_run: bool, answer: str | None) -> Exit:
    """Keep what a message states, as a turn of its owner would; exit 3 if that is nothing."""
    reply = invocation.memory.capture(given_text(text), answer=answer, dry_run=dry_run)
    is_unmarked = not reply["gate"] and not reply["dropped"]
    notes = ["nothing in it marks what may be remembered"] * is_unmarked
    return invocation.show(reply, _capture_lines(reply), notes, code=found(reply["kept"]))


def _capture_lines(reply: CaptureReply) -> Iterator[str]:
    word = "would keep" if reply["dryRun"] else "kept"
    for item in reply["kept"]:
        pinned = ", pinned" if item["pinned"] else ""
        told = f"{item['kind']}, form {item['form']!r}, importance {item['importance']:g}{pinned}"
        yield harmless_line(f"{word} ({told}): {item['text']}")
        if item["note"]:
            yield f"  {harmless_line(item['note'])}"
    for citation in reply["citations"]:
        yield f"  {harmless_line(citation)}"
    for one in reply["dropped"]:
        form = f" (form {one['form']!r})" if one["form"] else ""
        yield harmless_line(f"not kept, {one['reason']}{form}: {one['text']}")
