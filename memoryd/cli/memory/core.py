"""memoryctl core: show and edit the small file that every session sees."""

from collections.abc import Iterator

import click

from memoryd.cli.invocation import (
    SHORT_ID,
    BulletCommand,
    BulletText,
    Invocation,
    given_text,
    shared,
    text_argument,
    undo_notes,
    verb,
)
from memoryd.cli.terminal import harmless, styled
from memoryd.replies.changes import CoreEditReply, CoreReply
from memoryd.wire import Exit

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
    return _told(invocation, invocation.memory.core_append(given_text(text), expected=expected))


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
    return _told(invocation, invocation.memory.core_replace(old, given_text(new), expected=expected))


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
    return _told(invocation, invocation.memory.core_insert(given_text(text), after=after, expected=expected))


def _told(invocation: Invocation, reply: CoreEditReply) -> Exit:
    told = "written" if reply["changed"] else "nothing to write: it reads so already"
    line = f"{reply['path']}  {told}  {reply['chars']:,} of {reply['maxChars']:,} characters"
    return invocation.show(reply, [line], [*undo_notes([reply["change"]]), *reply["notes"]])


def _lines(reply: CoreReply) -> Iterator[str]:
    known = reply["sha256"][:SHORT_ID] or "not there"
    yield styled(f"{reply['path']}  {reply['chars']:,} of {reply['maxChars']:,} characters  {known}", bold=True)
    yield harmless(reply["text"]).rstrip("\n")
    if reply["soul"]:
        yield styled("\nSOUL.md  (never edited by memoryd)", bold=True)
        yield harmless(reply["soul"]).rstrip("\n")
