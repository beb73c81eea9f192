"""memoryctl import: state memories that memoryctl export wrote, here."""

import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from uuid import uuid4

import click

from memoryd.cli.import_lines import BATCH, ImportLine, batches, expected_changes, import_lines
from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.moving_progress import told_count
from memoryd.cli.terminal import count, harmless_line, note, size
from memoryd.client import Client
from memoryd.domain.memories.kinds import CHANGE_BYTES_MAX, CHANGES_MAX
from memoryd.errors import InvalidRequest, RequestError
from memoryd.replies.memories import TakenMemoryReply
from memoryd.wire import ErrorCode, Exit

_TOLD = 1_000
"""Lines that are told one by one; the others are counted."""


@dataclass(slots=True)
class _Tally:
    """What came of all lines; `told` are number, outcome and reason of those that somebody should look at."""

    counted: Counter[str] = field(default_factory=Counter)
    told: list[tuple[int, str, str]] = field(default_factory=list)
    changes: int = 0

    def add(self, number: int, taken: TakenMemoryReply) -> None:
        self.counted[taken["outcome"]] += 1
        if taken["reason"] and len(self.told) < _TOLD:
            self.told.append((number, taken["outcome"], taken["reason"]))


@click.command("import", context_settings=HELP)
@click.argument("file", cls=Argument, help="A file that memoryctl export wrote; - reads standard input.")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken.")
@click.option("--with-secrets", is_flag=True, help="Also take what looks like a secret.")
@shared
@click.pass_obj
def command(invocation: Invocation, file: str, dry_run: bool, with_secrets: bool) -> Exit:
    """State the memories of FILE on the days on which they were said; what stands here already is left as it is.

    A line is an object with "text", and where it has them kind, entities, importance, confidence, pinned, scope, at,
    saidBy, tags and days. What is no such line, was forgotten here, or is for another agent is told by its number and
    left out. Exit code 1 where lines were left out.
    """
    run, tally = uuid4().hex, _Tally()
    with _opened(file) as source, invocation.client(timeout=120) as client:
        if not dry_run:
            _tell_beforehand(source)
        # what stands here already is known by its words
        client.sync("indexed", agent=invocation.agent)
        with _taken_back(_undo(run, invocation.agent), tally, is_dry=dry_run), told_count("importing") as told:
            for batch in batches(import_lines(source)):
                _take(client, batch, tally, run, invocation.agent, dry_run=dry_run, with_secrets=with_secrets)
                told(tally.counted.total(), None)
    _show(invocation, tally, run, is_dry=dry_run)
    return Exit.ERROR if tally.counted["refused"] else Exit.DONE


def _tell_beforehand(source: IO[bytes]) -> None:
    """Say before anything is written what of it could be taken back; of a pipe nobody knows how long it is."""
    if not source.seekable():
        return
    changes, octets = expected_changes(source)
    source.seek(0)
    if changes > CHANGES_MAX or octets > CHANGE_BYTES_MAX:
        note(
            f"this makes up to {count(changes, 'change')}, of which undo keeps {CHANGES_MAX:,} and "
            f"{size(CHANGE_BYTES_MAX)} of lines: it can be taken back in part only, and older changes not at all"
        )
        note("memoryctl backup FILE --notes keeps all as it is now")


def _take(
    client: Client,
    batch: list[ImportLine],
    tally: _Tally,
    run: str,
    agent: str | None,
    *,
    dry_run: bool,
    with_secrets: bool,
) -> None:
    """Send a batch; where one of its lines makes no sense to the daemon, send them one by one."""
    sound = [line for line in batch if line.memory is not None]
    for line in batch:
        if line.memory is None:
            tally.add(line.number, {"outcome": "refused", "id": "", "reason": line.trouble})
    if not sound:
        return
    memories = [line.memory for line in sound if line.memory is not None]
    try:
        reply = client.import_memories(memories, run=run, dry_run=dry_run, with_secrets=with_secrets, agent=agent)
    except RequestError as exc:
        if exc.code is not ErrorCode.INVALID_REQUEST and exc.code is not ErrorCode.TOO_LARGE:
            raise
        if len(sound) == 1:
            tally.add(sound[0].number, {"outcome": "refused", "id": "", "reason": str(exc)})
            return
        for line in sound:
            _take(client, [line], tally, run, agent, dry_run=dry_run, with_secrets=with_secrets)
        return
    tally.changes += len(reply["changes"])
    for line, taken in zip(sound, reply["memories"], strict=True):
        tally.add(line.number, taken)


@contextmanager
def _taken_back(way: str, tally: _Tally, *, is_dry: bool) -> Iterator[None]:
    """Say before anything is written how it is taken back, and again where it does not come to its end."""
    if is_dry:
        yield
        return
    note(f"to take this import back, also where it is cut short: {way}")
    try:
        yield
    except BaseException:
        added = count(tally.counted["added"], "memory", "memories")
        note(f"cut short: {added} added, and perhaps some of the next {BATCH}; to take them back: {way}")
        raise


def _undo(run: str, agent: str | None) -> str:
    return f"memoryctl undo --run {run}" + (f" --agent {shlex.quote(agent)}" if agent else "")


@contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(file).open("rb") as source:
            yield source
    except OSError as exc:
        raise InvalidRequest(f"{file} cannot be read: {exc.strerror}") from exc


def _show(invocation: Invocation, tally: _Tally, run: str, *, is_dry: bool) -> None:
    counted = {name: tally.counted[name] for name in ("added", "known", "refused")}
    reply = {
        **counted,
        "dryRun": is_dry,
        "run": run if tally.changes else None,
        "changes": tally.changes,
        "isUndoneWhole": tally.changes <= CHANGES_MAX,
        "lines": [
            {"line": number, "outcome": outcome, "reason": reason} for number, outcome, reason in sorted(tally.told)
        ],
    }
    would = "would be added" if is_dry else "added"
    line = f"{count(counted['added'], 'memory', 'memories')} {would}, {counted['known']:,} known, "
    invocation.show(
        reply, [f"{line}{counted['refused']:,} refused"], _notes(tally, run, invocation.agent, is_dry=is_dry)
    )


def _notes(tally: _Tally, run: str, agent: str | None, *, is_dry: bool) -> Iterator[str]:
    for number, outcome, reason in sorted(tally.told):
        yield harmless_line(f"line {number}: {outcome}: {reason}")
    if len(tally.told) == _TOLD:
        yield "and more lines than are told here"
    if is_dry:
        yield "nothing was written"
    elif tally.changes:
        yield f"to take it back: {_undo(run, agent)}"
    if tally.changes > CHANGES_MAX:
        yield f"undo keeps the last {CHANGES_MAX:,} of its {tally.changes:,} changes: those before stay"
