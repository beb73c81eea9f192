"""memoryctl retain, remember, replace, capture and core: state memories, and edit the core file."""

from collections.abc import Iterator
from typing import Unpack

import click

from memoryd.cli.invocation import (
    SHORT_ID,
    AnyCommand,
    BulletCommand,
    BulletText,
    Invocation,
    Note,
    Number,
    argument,
    bullet_argument,
    command_from_call,
    flag,
    shared,
    text_argument,
    text_or_stdin,
    undo_notes,
    unquoted_argument,
    with_invocation,
)
from memoryd.cli.terminal import bold, harmless, harmless_line, style
from memoryd.client import Client, StatementOptions
from memoryd.errors import MemorydError
from memoryd.replies.changes import CoreEditReply, CoreReply
from memoryd.replies.conversations import CaptureReply
from memoryd.replies.memories import RetainReply
from memoryd.wire import Exit


def statement_options(command: AnyCommand) -> AnyCommand:
    """Add the options that describe a memory beside its text: day, entities, scope and importance."""
    for add in (
        click.option("--at", metavar="DATE", help="When it was true: 2026-11-18, 2026-11 or 2026-11-18..2026-11-20."),
        click.option(
            "--entity", "-e", "entities", metavar="NAME", multiple=True, help="What it is about; may be repeated."
        ),
        click.option(
            "--scope",
            metavar="SCOPE",
            help="Who sees it: agent:ID, agent:ID:CHANNEL or global (default: all agents of the workspace).",
        ),
        click.option("--importance", "-i", type=Number(0, 1), metavar="0..1", help="How important it is."),
    ):
        command = add(command)
    return command


_by_agent = flag(
    "--by-agent", "by_agent", help="A model says it, not you: it has the same rights as in `memoryctl mcp`."
)


@click.command("retain", cls=BulletCommand)
@unquoted_argument("text", help='A bullet, "W @Peter: …", or plain text; - reads standard input.')
@click.option("--kind", metavar="KIND", help="The kind of plain text: W, B, O, S or a word such as fact (default W).")
@statement_options
@click.option("--replaces", metavar="ID|CITATION|WORDS", help="The memory that it replaces, as for `replace`.")
@_by_agent
@flag("--team", "is_shared", help="Also share it with your team, as `team promote --yes` does.")
@with_invocation
def retain_command(
    invocation: Invocation,
    text: str,
    replaces: str | None,
    by_agent: bool,
    is_shared: bool,
    **statement: Unpack[StatementOptions],
) -> Exit:
    """State a memory: it becomes a bullet below the Retain heading of today's log.

    On standard input every bullet is a separate memory, and all are written at once.
    """
    if by_agent and is_shared:
        raise click.UsageError("--by-agent and --team: what a model says is shared by you, with `team promote`")
    each = text == "-" and replaces is None
    reply = invocation.memory.retain(text_or_stdin(text), each=each, replaces=replaces, by_agent=by_agent, **statement)
    code = Exit.DONE
    for memory in reply["memories"] if is_shared else ():
        try:
            promoted = invocation.memory.promote_memory(memory["id"])
        except MemorydError as exc:
            code, why = Exit.ERROR, "; ".join(filter(None, (str(exc), exc.hint)))
            reply["notes"].append(f"retained, but not shared: {memory['citation']}: {why}")
        else:
            readers = ", ".join(promoted["readers"])
            reply["notes"] += [f"shared with {readers}: {promoted['citation']}", *promoted["notes"]]
    return invocation.show(reply, _retained_lines(reply), code=code)


@click.command("replace", cls=BulletCommand)
@argument(
    "replaces",
    metavar="ID|CITATION|WORDS",
    help="The id of a memory or its beginning, a citation such as memory/2026-11-20.md#L12, or words that it says.",
)
@text_argument("text", help="What holds now, plain text or a bullet; - reads standard input.")
@flag("--in-place", help="Edit the line in place, without a new one.")
@_by_agent
@command_from_call(Client.retain)
def replace_command(reply: RetainReply) -> Iterator[str]:
    """Replace what a memory says: TEXT is retained, and the older line is marked as superseded.

    Kind, entities and scope that TEXT does not name are copied from the memory. `memoryctl undo` takes all of it back.
    """
    return _retained_lines(reply)


@click.command("remember", cls=BulletCommand)
@unquoted_argument("text", help="The text to remember; - reads standard input.")
@statement_options
@with_invocation
def remember_command(invocation: Invocation, text: str, **statement: Unpack[StatementOptions]) -> Exit:
    """Remember a text: a note of importance 0.8 in today's log, unless the text says otherwise."""
    reply = invocation.memory.retain(text_or_stdin(text), remember=True, **statement)
    return invocation.show(reply, _retained_lines(reply))


def _retained_lines(reply: RetainReply) -> Iterator[str]:
    done = f"retained in the place of {reply['replaced'][:SHORT_ID]}" if reply["replaced"] else "retained"
    for memory in reply["memories"]:
        result = done if memory["created"] else "is there already"
        yield f"{bold(memory['citation'])}  {memory['id'][:SHORT_ID]}  {result}"
    yield from undo_notes(reply["changes"], reply["run"])
    if not reply["searchable"]:
        yield Note("it is written, but not indexed yet: memoryctl status says why")
    yield from map(Note, reply["notes"])


@click.command("capture")
@text_argument("text", type=str, help="A message to the agent; - reads standard input.")
@flag("--dry-run", help="Only say what would be kept, by which form, and why the rest would not.")
@click.option("--answer", metavar="TEXT", help="The answer of the assistant before it, which it may correct.")
@command_from_call(Client.capture, found_at="kept")
def capture_command(reply: CaptureReply) -> Iterator[str]:
    """Keep the statements of a message, as if its owner said it in a conversation; exit 3 if there are none."""
    word = "would keep" if reply["dryRun"] else "kept"
    for item in reply["kept"]:
        pinned = ", pinned" if item["pinned"] else ""
        summary = f"{item['kind']}, form {item['form']!r}, importance {item['importance']:g}{pinned}"
        yield harmless_line(f"{word} ({summary}): {item['text']}")
        if item["note"]:
            yield f"  {harmless_line(item['note'])}"
    for citation in reply["citations"]:
        yield f"  {harmless_line(citation)}"
    for sentence in reply["dropped"]:
        form = f" (form {sentence['form']!r})" if sentence["form"] else ""
        yield harmless_line(f"not kept, {sentence['reason']}{form}: {sentence['text']}")
    if not reply["gate"] and not reply["dropped"]:
        yield Note("nothing in it marks what may be remembered")


expected_option = click.option(
    "--expected", metavar="HASH", help="Write only if the file has this hash, as in `core show --json`."
)


@click.group("core")
@shared
def core_command() -> None:
    """Show and edit MEMORY.md, the small file that every session sees."""


@core_command.command("show")
@command_from_call(Client.core)
def show(reply: CoreReply) -> Iterator[str]:
    """Show the core file, and SOUL.md beside it, which is never edited."""
    digest = reply["sha256"][:SHORT_ID] or "not there"
    yield style(f"{reply['path']}  {reply['chars']:,} of {reply['maxChars']:,} characters  {digest}", bold=True)
    yield harmless(reply["text"]).rstrip("\n")
    if reply["soul"]:
        yield style("\nSOUL.md  (never edited by memoryd)", bold=True)
        yield harmless(reply["soul"]).rstrip("\n")


@core_command.command("append", cls=BulletCommand)
@text_argument("text", help="The lines; - reads standard input.")
@expected_option
@command_from_call(Client.core_append)
def append(reply: CoreEditReply) -> Iterator[str]:
    """Add lines at the end."""
    return _edit_lines(reply)


@core_command.command("replace", cls=BulletCommand)
@bullet_argument("old", help="A text that occurs once in the file.")
@text_argument("new", help="The text in its place; - reads standard input, '' deletes it.")
@expected_option
@command_from_call(Client.core_replace)
def replace(reply: CoreEditReply) -> Iterator[str]:
    """Replace a text."""
    return _edit_lines(reply)


@core_command.command("insert", cls=BulletCommand)
@text_argument("text", help="The lines; - reads standard input.")
@click.option(
    "--after",
    required=True,
    type=BulletText(),
    metavar="LINE",
    help="A line that occurs once in the file, such as '## People'.",
)
@expected_option
@command_from_call(Client.core_insert)
def insert(reply: CoreEditReply) -> Iterator[str]:
    """Add lines below a heading or another line."""
    return _edit_lines(reply)


def _edit_lines(reply: CoreEditReply) -> Iterator[str]:
    result = "written" if reply["changed"] else "nothing to write: it reads so already"
    yield f"{reply['path']}  {result}  {reply['chars']:,} of {reply['maxChars']:,} characters"
    yield from undo_notes([reply["change"]])
    yield from map(Note, reply["notes"])
