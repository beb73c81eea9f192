"""memoryctl retain, remember, replace, capture and core: what becomes a memory, and the core file."""

from collections.abc import Iterator
from typing import Unpack

import click

from memoryd.cli.invocation import (
    SHORT_ID,
    AnyCommand,
    BulletCommand,
    BulletText,
    Invocation,
    Number,
    argument,
    found,
    shared,
    text_argument,
    text_or_stdin,
    undo_notes,
    verb,
)
from memoryd.cli.terminal import harmless, harmless_line, styled
from memoryd.client import StatementOptions
from memoryd.replies.changes import CoreEditReply, CoreReply
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
@click.option("--team", "is_shared", is_flag=True, help="Also share it with your team, as `team promote --yes` does.")
@verb
def retain_command(
    invocation: Invocation,
    text: str,
    replaces: str | None,
    is_shared: bool,
    **statement: Unpack[StatementOptions],
) -> Exit:
    """State a memory: it becomes a bullet below the Retain heading of today's log.

    From standard input every bullet is a memory of its own, and all are written at once.
    """
    each = text == "-" and replaces is None
    reply = invocation.memory.retain(text_or_stdin(text), each=each, replaces=replaces, **statement)
    if is_shared:
        # what must not be shared is refused by now, and is retained all the same
        shared = [invocation.memory.promote_memory(one["id"]) for one in reply["memories"]]
        reply["notes"] += [f"shared with {', '.join(one['readers'])}: {one['citation']}" for one in shared]
        reply["notes"] += [note for one in shared for note in one["notes"]]
    return _show(invocation, reply)


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
    return _show(invocation, invocation.memory.retain(text_or_stdin(text), replaces=name, in_place=is_in_place))


@click.command("remember", cls=BulletCommand)
@text_argument("text", help="What is to be remembered; - reads standard input.")
@statement_options
@verb
def remember_command(invocation: Invocation, text: str, **statement: Unpack[StatementOptions]) -> Exit:
    """Remember a text: a note of importance 0.8 in today's log, unless the text says otherwise."""
    return _show(invocation, invocation.memory.retain(text_or_stdin(text), remember=True, **statement))


def _show(invocation: Invocation, reply: RetainReply) -> Exit:
    unsearchable = [] if reply["searchable"] else ["it is written, and not indexed yet: memoryctl status says why"]
    notes = [*undo_notes(reply["changes"], reply["run"]), *unsearchable, *reply["notes"]]
    return invocation.show(reply, (_retained_line(one, reply["replaced"]) for one in reply["memories"]), notes)


def _retained_line(one: RetainedReply, replaced: str | None) -> str:
    result = "stands there already"
    if one["created"]:
        result = f"retained in the place of {replaced[:SHORT_ID]}" if replaced else "retained"
    return f"{styled(harmless_line(one['citation']), bold=True)}  {one['id'][:SHORT_ID]}  {result}"


@click.command("capture")
@argument("text", help="What is said to the agent; - reads standard input.")
@click.option("--dry-run", is_flag=True, help="Say only what would be kept, by which form, and why not the rest.")
@click.option("--answer", metavar="TEXT", help="What the assistant said before it, which it may correct.")
@verb
def capture_command(invocation: Invocation, text: str, dry_run: bool, answer: str | None) -> Exit:
    """Keep what a message states, as a turn of its owner would; exit 3 if that is nothing."""
    reply = invocation.memory.capture(text_or_stdin(text), answer=answer, dry_run=dry_run)
    is_unmarked = not reply["gate"] and not reply["dropped"]
    notes = ["nothing in it marks what may be remembered"] * is_unmarked
    return invocation.show(reply, _capture_lines(reply), notes, code=found(reply["kept"]))


def _capture_lines(reply: CaptureReply) -> Iterator[str]:
    word = "would keep" if reply["dryRun"] else "kept"
    for item in reply["kept"]:
        pinned = ", pinned" if item["pinned"] else ""
        result = f"{item['kind']}, form {item['form']!r}, importance {item['importance']:g}{pinned}"
        yield harmless_line(f"{word} ({result}): {item['text']}")
        if item["note"]:
            yield f"  {harmless_line(item['note'])}"
    for citation in reply["citations"]:
        yield f"  {harmless_line(citation)}"
    for one in reply["dropped"]:
        form = f" (form {one['form']!r})" if one["form"] else ""
        yield harmless_line(f"not kept, {one['reason']}{form}: {one['text']}")


expected_option = click.option(
    "--expected", metavar="HASH", help="Write only if the file has this hash, which `core show --json` tells."
)


@click.group("core")
@shared
def core_command() -> None:
    """Show and edit MEMORY.md, the small file that every session sees."""


@core_command.command("show")
@verb
def show(invocation: Invocation) -> Exit:
    """Show the core file, and SOUL.md beside it, which is never edited."""
    reply = invocation.memory.core()
    return invocation.show(reply, _lines(reply))


@core_command.command("append", cls=BulletCommand)
@text_argument("text", help="The lines; - reads standard input.")
@expected_option
@verb
def append(invocation: Invocation, text: str, expected: str | None) -> Exit:
    """Add lines at the end."""
    return _show_edit(invocation, invocation.memory.core_append(text_or_stdin(text), expected=expected))


@core_command.command("replace", cls=BulletCommand)
@text_argument("old", help="A text that stands there once.")
@text_argument(
    "new",
    help="What is to stand in its place; - reads standard input, '' takes it out.",
)
@expected_option
@verb
def replace(invocation: Invocation, old: str, new: str, expected: str | None) -> Exit:
    """Put a text in the place of another one."""
    return _show_edit(invocation, invocation.memory.core_replace(old, text_or_stdin(new), expected=expected))


@core_command.command("insert", cls=BulletCommand)
@text_argument("text", help="The lines; - reads standard input.")
@click.option(
    "--after",
    required=True,
    type=BulletText(),
    metavar="LINE",
    help="A line that stands there once, such as '## People'.",
)
@expected_option
@verb
def insert(invocation: Invocation, text: str, after: str, expected: str | None) -> Exit:
    """Add lines below a heading or another line."""
    return _show_edit(invocation, invocation.memory.core_insert(text_or_stdin(text), after=after, expected=expected))


def _show_edit(invocation: Invocation, reply: CoreEditReply) -> Exit:
    result = "written" if reply["changed"] else "nothing to write: it reads so already"
    line = f"{reply['path']}  {result}  {reply['chars']:,} of {reply['maxChars']:,} characters"
    return invocation.show(reply, [line], [*undo_notes([reply["change"]]), *reply["notes"]])


def _lines(reply: CoreReply) -> Iterator[str]:
    known = reply["sha256"][:SHORT_ID] or "not there"
    yield styled(f"{reply['path']}  {reply['chars']:,} of {reply['maxChars']:,} characters  {known}", bold=True)
    yield harmless(reply["text"]).rstrip("\n")
    if reply["soul"]:
        yield styled("\nSOUL.md  (never edited by memoryd)", bold=True)
        yield harmless(reply["soul"]).rstrip("\n")
