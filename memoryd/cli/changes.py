"""memoryctl changes: list what was written into the workspace, by whom."""

from collections.abc import Iterator

import click

from memoryd.cli.change_rows import change_lines, is_foreign, session_line
from memoryd.cli.invocation import HELP, Invocation, shared
from memoryd.cli.terminal import harmless_line
from memoryd.replies.memories import ChangesReply
from memoryd.wire import CHANGES_MAX, Exit


@click.command("changes", context_settings=HELP)
@click.option("--since", metavar="DATE", help="Only those of this date or later: 2026-11-18, or 7d for as long ago.")
@click.option("--by", metavar="WRITER", help="Only those by retain, core, reflect, …, by agent or agent:ID; or qa.")
@click.option("--path", metavar="FILE", help="Only those of this file.")
@click.option("--run", metavar="RUN", help="Only those of one act that wrote several files.")
@click.option("--limit", "-k", type=click.IntRange(1, CHANGES_MAX), metavar="N", help="How many at most (default 50).")
@click.option("--lines", is_flag=True, help="Also show the lines that went and came; else no text of a note is told.")
@shared
@click.pass_obj
def command(
    invocation: Invocation,
    since: str | None,
    by: str | None,
    path: str | None,
    run: str | None,
    limit: int | None,
    lines: bool,
) -> Exit:
    """List what memoryd wrote into the workspace, the newest first; `memoryctl undo` takes it back.

    `--by qa` lists the sessions of questions and answers, which `memoryctl sessions forget` takes out.
    """
    with invocation.client() as memory:
        reply = memory.changes(since=since, by=by, path=path, run=run, limit=limit, lines=lines, agent=invocation.agent)
    is_found = bool(reply["changes"] or reply["sessions"])
    # of one writer or one act, the newest change listed need not be the newest of its file
    told = _lines(reply, is_whole=not (by or run))
    invocation.show(reply, told, [*reply["trouble"], *["nothing was written"] * (not is_found)])
    return Exit.DONE if is_found else Exit.NOTHING_FOUND


def _lines(reply: ChangesReply, *, is_whole: bool) -> Iterator[str]:
    for change in reply["changes"]:
        yield from change_lines(change)
        if is_whole and is_foreign(change, reply["changes"]):
            yield f"    {harmless_line(change['path'])} was written by somebody else since"
    yield from map(session_line, reply["sessions"])
