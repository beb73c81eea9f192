"""memoryctl get: the text of a document or of cited lines."""

import sys

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.terminal import count, harmless, is_terminal, note
from memoryd.domain.citations import Citation, parse
from memoryd.replies import FileReply
from memoryd.wire import LINES_MAX, POSITION_MAX, Exit


@click.command("get", context_settings=HELP)
@click.argument(
    "path",
    cls=Argument,
    metavar="PATH[#L10-L20]",
    help="The document as search cites it, relative to the workspace; with lines, those alone.",
)
@click.option(
    "--from", "start", type=click.IntRange(1, POSITION_MAX), metavar="LINE", help="First line, counted from 1."
)
@click.option("--lines", type=click.IntRange(1, LINES_MAX), metavar="N", help="How many lines at most.")
@click.option(
    "--column", type=click.IntRange(1, POSITION_MAX), metavar="N", help="First character of that line, counted from 1."
)
@click.option("--session-key", metavar="KEY", help="The session that asks, such as agent:main:main.")
@shared
@click.pass_obj
def command(
    invocation: Invocation, path: str, start: int | None, lines: int | None, column: int | None, session_key: str | None
) -> Exit:
    """Print a document of the memory, or the lines of a citation, exactly."""
    cited = _citation(path)
    if cited.start_line is not None and (start or lines):
        raise click.UsageError("give the lines in the citation or with --from and --lines, not both")
    if cited.start_line is not None:
        start = cited.start_line
        lines = (cited.end_line or start) - start + 1
    with invocation.client() as client:
        reply = client.get(
            cited.path, agent=invocation.agent, start=start, lines=lines, column=column, session_key=session_key
        )
    if invocation.is_json:
        invocation.print_json(reply)
    else:
        _print(reply, start or 1, lines)
        _note_end(reply["totalLines"], start, cited.end_line)
    return Exit.NOTHING_FOUND if start is not None and start > reply["totalLines"] else Exit.DONE


def _citation(text: str) -> Citation:
    if not text.strip():
        raise click.UsageError("no document: memoryctl get MEMORY.md")
    if "#L" not in text:
        return Citation(text)  # a file name may hold a #
    try:
        return parse(text)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc


def _note_end(total: int, start: int | None, end: int | None) -> None:
    """Say so if lines were asked for that lie behind the end of the document."""
    if start is not None and start > total:
        note(f"there is no line {start:,}, the document has {count(total, 'line')}")
    elif end is not None and end > total:
        note(f"the document ends at line {total:,}")


def _print(reply: FileReply, start: int, asked: int | None) -> None:
    text = reply["text"]
    if is_terminal(sys.stdout):
        click.echo(harmless(text), nl=bool(text) and not text.endswith("\n"))
    else:
        # bytes: click would take escape sequences out of text, and the locale could change letters
        click.echo(text.encode(errors="surrogatepass"), nl=False)
    if column := reply.get("nextColumn"):
        line = start + reply["lines"] - 1
        note(f"line {line} is too long for one reply; its rest: --from {line} --column {column}")
    elif reply.get("truncated") and (asked is None or reply["lines"] < asked):
        following = reply.get("nextFrom")
        more = f"; go on with --from {following}" if following else ""
        note(f"cut short, the document has {count(reply['totalLines'], 'line')}{more}")
