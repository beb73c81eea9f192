"""memoryctl verify: whether a citation still stands."""

from collections.abc import Iterator

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.listing import SHORT_ID
from memoryd.cli.terminal import harmless, harmless_line
from memoryd.replies.memories import VerifyReply
from memoryd.wire import Exit


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
def command(invocation: Invocation, citation: str, session_key: str | None) -> Exit:
    """Tell whether cited lines still stand, moved, were edited or are gone; exit 3 unless they stand or moved."""
    with invocation.client() as client:
        reply = client.verify(citation, session_key=session_key, agent=invocation.agent)
    invocation.show(reply, _lines(reply), _notes(reply))
    return Exit.DONE if reply["state"] in ("verified", "moved") else Exit.NOTHING_FOUND


def _lines(reply: VerifyReply) -> Iterator[str]:
    now = f", now {reply['now']}" if reply["now"] and reply["now"] != reply["citation"] else ""
    yield harmless_line(f"{reply['citation']}: {reply['state']}{now}")
    if reply["content"]:
        yield f"  {harmless(reply['content'])}"


def _notes(reply: VerifyReply) -> Iterator[str]:
    for newer in reply["supersededBy"]:
        yield f"there is a newer version: {newer[:SHORT_ID]}"
    if reply["note"]:
        yield reply["note"]
