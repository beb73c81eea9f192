"""memoryctl capture: what of a message becomes a memory, and why or why not."""

from collections.abc import Iterator

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.terminal import harmless_line
from memoryd.cli.turn_arguments import given_text
from memoryd.replies.conversations import CaptureReply
from memoryd.wire import Exit


@click.command("capture", context_settings=HELP)
@click.argument("text", cls=Argument, help="What is said to the agent; - reads standard input.")
@click.option("--dry-run", is_flag=True, help="Say only what would be kept, by which form, and why not the rest.")
@click.option("--answer", metavar="TEXT", help="What the assistant said before it, which it may correct.")
@shared
@click.pass_obj
def command(invocation: Invocation, text: str, dry_run: bool, answer: str | None) -> Exit:
    """Keep what a message states, as a turn of its owner would; exit 3 if that is nothing."""
    with invocation.client() as memory:
        reply = memory.capture(given_text(text), answer=answer, dry_run=dry_run, agent=invocation.agent)
    is_unmarked = not reply["gate"] and not reply["dropped"]
    invocation.show(reply, _lines(reply), ["nothing in it marks what may be remembered"] * is_unmarked)
    return Exit.DONE if reply["kept"] else Exit.NOTHING_FOUND


def _lines(reply: CaptureReply) -> Iterator[str]:
    word = "would keep" if reply["dryRun"] else "kept"
    for item in reply["kept"]:
        pinned = ", pinned" if item["pinned"] else ""
        told = f"{item['kind']}, form {item['form']!r}, importance {item['importance']:g}{pinned}"
        yield harmless_line(f"{word} ({told}): {item['text']}")
    for citation in reply["citations"]:
        yield f"  {harmless_line(citation)}"
    for one in reply["dropped"]:
        form = f" (form {one['form']!r})" if one["form"] else ""
        yield harmless_line(f"not kept, {one['reason']}{form}: {one['text']}")
