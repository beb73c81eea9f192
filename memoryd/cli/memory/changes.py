"""memoryctl changes and undo: what was written into the workspace, by whom, and taking it back."""

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Unpack

import click

from memoryd.cli.invocation import Invocation, argument, found, verb
from memoryd.cli.terminal import count, harmless_line, styled
from memoryd.client import ChangeBounds
from memoryd.domain.citations import is_conversation
from memoryd.replies.changes import ChangeReply, ChangesReply, WrittenSessionReply
from memoryd.wire import CHANGES_MAX, POSITION_MAX, Exit

SHOWN_HASH = 12
SHOWN_LINES = 3
"""Of each change, those that came and those that went."""


@click.command("changes")
@click.option("--since", metavar="DATE", help="Only those of this date or later: 2026-11-18, or 7d for as long ago.")
@click.option("--by", metavar="WRITER", help="Only those by retain, core, reflect, …, by agent or agent:ID; or qa.")
@click.option("--path", metavar="FILE", help="Only those of this file.")
@click.option("--run", metavar="RUN", help="Only those of one act that wrote several files.")
@click.option("--limit", "-k", type=click.IntRange(1, CHANGES_MAX), metavar="N", help="How many at most (default 50).")
@click.option("--lines", is_flag=True, help="Also show the lines that went and came; else no text of a note is told.")
@verb
def changes_command(invocation: Invocation, lines: bool, **filters: Unpack[ChangeBounds]) -> Exit:
    """List what memoryd wrote into the workspace, the newest first; `memoryctl undo` takes it back.

    `--by qa` lists the sessions of questions and answers, which `memoryctl sessions forget` takes out.
    """
    reply = invocation.memory.changes(lines=lines, **filters)
    is_found = bool(reply["changes"] or reply["sessions"])
    # of one writer or one act, the newest change listed need not be the newest of its file
    told = _lines(reply, is_whole=not (filters["by"] or filters["run"]))
    notes = [*reply["trouble"], *["nothing was written"] * (not is_found)]
    return invocation.show(reply, told, notes, code=found(is_found))


def _lines(reply: ChangesReply, *, is_whole: bool) -> Iterator[str]:
    for change in reply["changes"]:
        yield from change_lines(change)
        if is_whole and is_foreign(change, reply["changes"]):
            yield f"    {harmless_line(change['path'])} was written by somebody else since"
    yield from map(session_line, reply["sessions"])


def change_lines(change: ChangeReply, *, most: int = SHOWN_LINES, taken_back: bool = False) -> Iterator[str]:
    """Yield a change: its number, when, by whom, where, the hash of the file, then lines that went and came.

    Of one that is `taken_back`, what it took out comes again, and what it wrote goes.
    """
    moment = datetime.fromisoformat(change["at"]).astimezone()
    who = change["by"] if change["agent"] is None else f"{change['by']} ({change['agent']})"
    place = harmless_line(change["path"]) or "no file, but the ledger"
    told = [styled(str(change["id"]), bold=True), f"{moment:%Y-%m-%d %H:%M}", who, place]
    if change["state"] != "done":
        told.append(change["state"])
    if not change["undoable"]:
        told.append("cannot be undone")
    if change["path"]:
        told.append("gone" if change["hashAfter"] is None else change["hashAfter"][:SHOWN_HASH] or "no hash kept")
    yield "  ".join([*told, harmless_line(change["why"])])
    signed = [
        f"{sign} {harmless_line(line)}"
        for one in change["lines"]
        for went, came in [(one["removed"], one["added"])]
        for sign, lines in zip("-+", (went, came)[:: -1 if taken_back else 1], strict=True)
        for line in lines
        if line.strip()
    ]
    yield from (f"    {line}" for line in signed[:most])
    if len(signed) > most:
        yield f"    … {len(signed) - most} more"


def is_foreign(change: ChangeReply, listed: Sequence[ChangeReply]) -> bool:
    """Tell whether a change is the newest of its file, and the file is another one now: somebody else wrote it."""
    newest = next(one for one in listed if one["path"] == change["path"])
    return newest["id"] == change["id"] and change["standing"] is False


def session_line(session: WrittenSessionReply) -> str:
    """Return a session of questions and answers: its name, when it was written, how long it is, and what undoes it."""
    moment = datetime.fromisoformat(session["at"]).astimezone()
    name, undo = harmless_line(session["session"]), harmless_line(session["undo"])
    told = [styled(name, bold=True), f"{moment:%Y-%m-%d %H:%M}", "qa", count(session["turns"], "turn")]
    return "  ".join([*told, f"to take it out: memoryctl {undo}"])


class _ChangeNumber(click.IntRange):
    """The number of a change; a session is none, and is taken out otherwise."""

    def convert(self, value: int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; raises BadParameter."""
        if is_conversation(str(value)):
            self.fail(f"a conversation is no change: memoryctl sessions forget {value}", param, ctx)
        return super().convert(value, param, ctx)


@click.command("undo")
@argument("change", type=_ChangeNumber(1, POSITION_MAX), required=False, help="The number of a change.")
@click.option("--run", metavar="RUN", help="Take back all changes of one act that wrote several files.")
@click.option("--dry-run", is_flag=True, help="Say only what would be taken back.")
@verb
def undo_command(invocation: Invocation, change: int | None, run: str | None, dry_run: bool) -> Exit:
    """Take back a change where its lines still stand; that is a change too, and can be taken back.

    `memoryctl changes` lists the numbers.
    """
    if (change is None) == (run is None):
        raise click.UsageError("give the number of a change, or --run")
    reply = invocation.memory.undo(change, run=run, dry_run=dry_run)
    lines = (line for one in reply["undone"] for line in change_lines(one["change"], most=sys.maxsize, taken_back=True))
    again = [f"to have it again: memoryctl undo {one['undoneBy']}" for one in reply["undone"] if one["undoneBy"]]
    return invocation.show(reply, lines, [*again, *["nothing was written: it would be taken back"] * dry_run])
