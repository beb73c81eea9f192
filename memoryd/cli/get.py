"""memoryctl get: the text of a document or of cited lines, these among their neighbours."""

import shlex
import sys
from collections.abc import Callable
from functools import partial

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.terminal import behind_gutter, count, harmless, is_terminal, note
from memoryd.domain.citations import Citation, conversation_cited, parse
from memoryd.replies.search import FileReply
from memoryd.wire import LINES_MAX, POSITION_MAX, Exit

NEIGHBOURS = 3
"""Lines before and after those of a citation, on a terminal."""


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
@click.option(
    "-C",
    "--context",
    "around",
    type=click.IntRange(0, LINES_MAX),
    metavar="N",
    help=f"So many lines before and after those of the citation too (else {NEIGHBOURS} on a terminal, 0 elsewhere).",
)
@click.option("--session-key", metavar="KEY", help="The session that asks, such as agent:main:main.")
@shared
@click.pass_obj
def command(
    invocation: Invocation,
    path: str,
    start: int | None,
    lines: int | None,
    column: int | None,
    around: int | None,
    session_key: str | None,
) -> Exit:
    """Print a document of the memory, or the lines of a citation, exactly.

    On a terminal cited lines stand among their neighbours, and are marked.
    """
    cited = _citation(path)
    if cited.start_line is not None and (start or lines):
        raise click.UsageError("give the lines in the citation or with --from and --lines, not both")
    if cited.start_line is None and around is not None:
        raise click.UsageError("--context is for cited lines: memoryctl get MEMORY.md#L3-L4 --context 5")
    if cited.start_line is not None:
        start = cited.start_line
        lines = (cited.end_line or start) - start + 1
    with invocation.client() as client:
        read = partial(client.get, cited.path, agent=invocation.agent, session_key=session_key)
        reply = read(start=start, lines=lines, column=column)
        is_marked = cited.start_line is not None and is_terminal(sys.stdout) and not invocation.is_json
        around = around if around is not None else NEIGHBOURS if is_marked else 0
        shown = _among_neighbours(read, reply, around) if reply["lines"] == lines else reply
    if invocation.is_json:
        invocation.print_json(shown)
    else:
        _print(shown, cited if is_marked else None)
        _note_rest(reply, start or 1, lines)
        _note_end(reply["totalLines"], start, cited.end_line)
    return Exit.NOTHING_FOUND if start is not None and start > reply["totalLines"] else Exit.DONE


def _citation(text: str) -> Citation:
    if not text.strip():
        raise click.UsageError("no document: memoryctl get MEMORY.md")
    if conversation_cited(text) is not None:
        raise click.UsageError(f"{text} is of a conversation: memoryctl sessions show {shlex.quote(text)}")
    if "#L" not in text:
        return Citation(text)  # a file name may hold a #
    try:
        cited = parse(text)
    except ValueError as exc:
        raise click.UsageError(str(exc)) from exc
    if (cited.end_line or 0) - (cited.start_line or 0) >= LINES_MAX:
        raise click.UsageError(
            f"not a line range: L{cited.start_line}-L{cited.end_line} (at most {LINES_MAX:,} lines at once)"
        )
    return cited


def _among_neighbours(read: Callable[..., FileReply], cited: FileReply, around: int) -> FileReply:
    """Return cited lines with so many around them, or alone where these would take their room in the reply."""
    if not around or cited.get("nextColumn"):
        return cited
    first = max(1, cited["from"] - around)
    behind = cited["from"] + cited["lines"]
    found = read(start=first, lines=min(LINES_MAX, behind + around - first))
    whole = found["lines"] - (1 if found.get("nextColumn") else 0)
    return found if first + whole >= behind else cited


def _note_end(total: int, start: int | None, end: int | None) -> None:
    """Say so if lines were asked for that lie behind the end of the document."""
    if start is not None and start > total:
        note(f"there is no line {start:,}, the document has {count(total, 'line')}")
    elif end is not None and end > total:
        note(f"the document ends at line {total:,}")


def _print(reply: FileReply, marked: Citation | None) -> None:
    text = reply["text"]
    if marked is not None and marked.start_line is not None:
        wanted = range(marked.start_line, (marked.end_line or marked.start_line) + 1)
        lines = text.removesuffix("\n").split("\n") if text else []
        for number, line in enumerate(lines, start=reply["from"]):
            click.echo(behind_gutter(line, is_marked=number in wanted))
    elif is_terminal(sys.stdout):
        click.echo(harmless(text), nl=bool(text) and not text.endswith("\n"))
    else:
        # bytes: click would take escape sequences out of text, and the locale could change letters
        click.echo(text.encode(errors="surrogatepass"), nl=False)


def _note_rest(reply: FileReply, start: int, asked: int | None) -> None:
    """Say where to go on if not all that was asked for had room in the reply."""
    if column := reply.get("nextColumn"):
        line = start + reply["lines"] - 1
        note(f"line {line} is too long for one reply; its rest: --from {line} --column {column}")
    elif reply.get("truncated") and (asked is None or reply["lines"] < asked):
        following = reply.get("nextFrom")
        more = f"; go on with --from {following}" if following else ""
        note(f"cut short, the document has {count(reply['totalLines'], 'line')}{more}")
