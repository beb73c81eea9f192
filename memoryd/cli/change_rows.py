"""How changes are shown."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from memoryd.cli.terminal import count, harmless_line, styled
from memoryd.replies.memories import ChangeReply, WrittenSessionReply

SHOWN_HASH = 12
SHOWN_LINES = 3
"""Of each change, those that came and those that went."""


def change_lines(change: ChangeReply, *, most: int = SHOWN_LINES) -> Iterator[str]:
    """Yield a change: its number, when, by whom, where, the hash of the file, then lines that went and came."""
    moment = datetime.fromisoformat(change["at"]).astimezone()
    who = change["by"] if change["agent"] is None else f"{change['by']} ({change['agent']})"
    told = [styled(str(change["id"]), bold=True), f"{moment:%Y-%m-%d %H:%M}", who, harmless_line(change["path"])]
    if change["state"] != "done":
        told.append(change["state"])
    if not change["undoable"]:
        told.append("cannot be undone")
    told.append("gone" if change["hashAfter"] is None else change["hashAfter"][:SHOWN_HASH] or "no hash kept")
    yield "  ".join([*told, harmless_line(change["why"])])
    signed = [
        f"{sign} {harmless_line(line)}"
        for one in change["lines"]
        for sign, lines in (("-", one["removed"]), ("+", one["added"]))
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
