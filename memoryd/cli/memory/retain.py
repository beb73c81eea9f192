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
    Note,
    Number,
    argument,
    asks,
    bullet_argument,
    flag,
    said_argument,
    shared,
    text_argument,
    text_or_stdin,
    undo_notes,
    verb,
)
from memoryd.cli.terminal import bold, harmless, harmless_line, styled
from memoryd.client import Client, StatementOptions
from memoryd.errors import MemorydError
from memoryd.replies.changes import CoreEditReply, CoreReply
from memoryd.replies.conversations import CaptureReply
from memoryd.replies.memories import RetainReply
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


_by_agent = flag("--by-agent", "by_agent", help="A model says it, and not you: it may no more than by `memoryctl mcp`.")


@click.command("retain", cls=BulletCommand)
@said_argument("text", help='A bullet, "W @Peter: …", or plain text; - reads standard input.')
@click.option("--kind", metavar="KIND", help="The kind of plain text: W, B, O, S or a word such as fact (default W).")
@statement_options
@click.option("--replaces", metavar="ID|CITATION|WORDS", help="The memory whose place it takes, as `replace` has it.")
@_by_agent
@flag("--team", "is_shared", help="Also share it with your team, as `team promote --yes` does.")
@verb
def retain_command(
    invocation: Invocation,
    text: str,
    replaces: str | None,
    by_agent: bool,
    is_shared: bool,
    **statement: Unpack[StatementOptions],
) -> Exit:
    """State a memory: it becomes a bullet below the Retain heading of today's log.

    From standard input every bullet is a memory of its own, and all are written at once.
    """
    if by_agent and is_shared:
        raise click.UsageError("--by-agent and --team: what a model says is shared by you, with `team promote`")
    each = text == "-" and replaces is None
    reply = invocation.memory.retain(text_or_stdin(text), each=each, replaces=replaces, by_agent=by_agent, **statement)
    code = Exit.DONE
    for one in reply["memories"] if is_shared else ():
        try:
            shared = invocation.memory.promote_memory(one["id"])
        except MemorydError as exc:
            code, why = Exit.ERROR, "; ".join(filter(None, (str(exc), exc.hint)))
            reply["notes"].append(f"retained, but not shared: {one['citation']}: {why}")
        else:
            reply["notes"] += [f"shared with {', '.join(shared['readers'])}: {shared['citation']}", *shared["notes"]]
    return invocation.show(reply, _retained_lines(reply), code=code)


@click.command("replace", cls=BulletCommand)
@argument(
    "replaces",
    metavar="ID|CITATION|WORDS",
    help="The id of a memory or its beginning, a citation such as memory/2026-11-20.md#L12, or words that it says.",
)
@text_argument("text", help="What holds now, plain text or a bullet; - reads standard input.")
@flag("--in-place", help="Edit the line where it stands, without a new one.")
@_by_agent
@asks(Client.retain)
def replace_command(reply: RetainReply) -> Iterator[str]:
    """Replace what a memory says: TEXT is retained, and the older line is marked as superseded.

    Kind, entities and scope that TEXT does not name are those of the memory. `memoryctl undo` takes all of it back.
    """
    return _retained_lines(reply)


@click.command("remember", cls=BulletCommand)
@said_argument("text", help="What is to be remembered; - reads standard input.")
@statement_options
@verb
def remember_command(invocation: Invocation, text: str, **statement: Unpack[StatementOptions]) -> Exit:
    """Remember a text: a note of importance 0.8 in today's log, unless the text says otherwise."""
    reply = invocation.memory.retain(text_or_stdin(text), remember=True, **statement)
    return invocation.show(reply, _retained_lines(reply))


def _retained_lines(reply: RetainReply) -> Iterator[str]:
    done = f"retained in the place of {reply['replaced'][:SHORT_ID]}" if reply["replaced"] else "retained"
    for one in reply["memories"]:
        result = done if one["created"] else "stands there already"
        yield f"{bold(one['citation'])}  {one['id'][:SHORT_ID]}  {result}"
    yield from undo_notes(reply["changes"], reply["run"])
    if not reply["searchable"]:
        yield Note("it is written, and not indexed yet: memoryctl status says why")
    yield from map(Note, reply["notes"])


@click.command("capture")
@text_argument("text", type=str, help="What is said to the agent; - reads standard input.")
@flag("--dry-run", help="Say only what would be kept, by which form, and why not the rest.")
@click.option("--answer", metavar="TEXT", help="What the assistant said before it, which it may correct.")
@asks(Client.capture, found_at="kept")
def capture_command(reply: CaptureReply) -> Iterator[str]:
    """Keep what a message states, as a turn of its owner would; exit 3 if that is nothing."""
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
    if not reply["gate"] and not reply["dropped"]:
        yield Note("nothing in it marks what may be remembered")


expected_option = click.option(
    "--expected", metavar="HASH", help="Write only if the file has this hash, which `core show --json` tells."
)


@click.group("core")
@shared
def core_command() -> None:
    """Show and edit MEMORY.md, the small file that every session sees."""


@core_command.command("show")
@asks(Client.core)
def show(reply: CoreReply) -> Iterator[str]:
    """Show the core file, and SOUL.md beside it, which is never edited."""
    known = reply["sha256"][:SHORT_ID] or "not there"
    yield styled(f"{reply['path']}  {reply['chars']:,} of {reply['maxChars']:,} characters  {known}", bold=True)
    yield harmless(reply["text"]).rstrip("\n")
    if reply["soul"]:
        yield styled("\nSOUL.md  (never edited by memoryd)", bold=True)
        yield harmless(reply["soul"]).rstrip("\n")


@core_command.command("append", cls=BulletCommand)
@text_argument("text", help="The lines; - reads standard input.")
@expected_option
@asks(Client.core_append)
def append(reply: CoreEditReply) -> Iterator[str]:
    """Add lines at the end."""
    return _edited(reply)


@core_command.command("replace", cls=BulletCommand)
@bullet_argument("old", help="A text that stands there once.")
@text_argument(
    "new",
    help="What is to stand in its place; - reads standard input, '' takes it out.",
)
@expected_option
@asks(Client.core_replace)
def replace(reply: CoreEditReply) -> Iterator[str]:
    """Put a text in the place of another one."""
    return _edited(reply)


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
@asks(Client.core_insert)
def insert(reply: CoreEditReply) -> Iterator[str]:
    """Add lines below a heading or another line."""
    return _edited(reply)


def _edited(reply: CoreEditReply) -> Iterator[str]:
    result = "written" if reply["changed"] else "nothing to write: it reads so already"
    yield f"{reply['path']}  {result}  {reply['chars']:,} of {reply['maxChars']:,} characters"
    yield from undo_notes([reply["change"]])
    yield from map(Note, reply["notes"])
