"""memoryctl export and import: memories as lines of JSON, out of one workspace and into another."""

import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final
from uuid import uuid4

import click
from msgspec import Struct, field

from memoryd.cli.bars import told_count
from memoryd.cli.invocation import HELP, Argument, Invocation, require_place, shared
from memoryd.cli.terminal import count, harmless_line, note, size
from memoryd.client import Client
from memoryd.domain.memories.kinds import CHANGE_BYTES_MAX, CHANGES_MAX
from memoryd.errors import InvalidRequest, RequestError
from memoryd.replies.memories import ExportReply, TakenMemoryReply
from memoryd.wire import ErrorCode, Exit

PAGE = 1_000
LINE_BYTES_MAX: Final = 256 * 1024
BATCH: Final = 100
BATCH_BYTES: Final = 400_000
"""So that a request stays within its limit, however its letters are written."""
_TOLD = 1_000
"""Lines that are told one by one; the others are counted."""


@click.command("export", context_settings=HELP)
@click.argument("file", cls=Argument, default="-", help="The file to write; without one, standard output.")
@click.option(
    "--scope", metavar="SCOPE", help="Only memories of this scope: workspace, agent:ID, agent:ID:CHANNEL or global."
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@shared
@click.pass_obj
def export_command(invocation: Invocation, file: str, scope: str | None, force: bool) -> Exit:
    """Write every memory as one line of JSON: what it says, about whom, since when, and where it stands.

    `memoryctl import` reads it. Other agents' memories are not in it; --agent says whose are. How memories were used
    is in a backup: memoryctl backup.
    """
    number = 0
    with invocation.client() as client, _export_target(file, force=force) as out:
        # what was saved a moment ago is in it
        client.sync("indexed", agent=invocation.agent)
        with told_count("exporting") as told:
            for page in _pages(client, invocation, scope):
                for one in page["memories"]:
                    out.write(json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
                number += len(page["memories"])
                told(number, page["total"])
        out.flush()
    if file != "-":
        path = Path(file).absolute()
        reply = {"file": str(path), "memories": number}
        again = f"to have them elsewhere: memoryctl import {path}"
        invocation.show(reply, [f"{path}  {count(number, 'memory', 'memories')}"], [again])
    return Exit.DONE if number else Exit.NOTHING_FOUND


def _pages(client: Client, invocation: Invocation, scope: str | None) -> Iterator[ExportReply]:
    after: str | None = None
    while True:
        page = client.export_memories(after=after, limit=PAGE, scope=scope, agent=invocation.agent)
        yield page
        after = page["next"]
        if after is None:
            return


@contextmanager
def _export_target(file: str, *, force: bool) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdout.buffer
        return
    # here: only this needs a room that touches files
    from memoryd.cli.written_file import streamed

    path = Path(file)
    require_place(path, is_forced=force)
    with streamed(path, replaces=force) as out:
        yield out


class ImportLine(Struct, frozen=True):
    """A line of the file: a memory as it stands there, or why it is none."""

    number: int
    memory: dict[str, Any] | None
    trouble: str = ""
    bytes: int = 0


def import_lines(file: IO[bytes]) -> Iterator[ImportLine]:
    """Read lines one by one, none of them whole that is too long; empty ones are passed over."""
    number = 0
    while raw := file.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(raw) > LINE_BYTES_MAX:
            while raw and not raw.endswith(b"\n"):
                raw = file.readline(LINE_BYTES_MAX + 1)
            yield ImportLine(number, None, f"it is longer than {LINE_BYTES_MAX // 1024} kB, which no memory is")
        elif raw.strip():
            yield _import_line(number, raw)


def batches(lines: Iterator[ImportLine]) -> Iterator[list[ImportLine]]:
    """Put lines together, as many as one request may hold."""
    batch: list[ImportLine] = []
    size = 0
    for line in lines:
        if batch and (len(batch) == BATCH or size + line.bytes > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += line.bytes
    if batch:
        yield batch


def expected_changes(file: IO[bytes]) -> tuple[int, int]:
    """Return how many changes an import of a file makes at most, one for each day of a batch, and its bytes."""
    changes = octets = 0
    for batch in batches(import_lines(file)):
        told = [line.memory.get("days") for line in batch if line.memory is not None]
        days = {str(day) for one in told for day in (one if isinstance(one, list) else ())}
        # those without a day are of today
        changes += len(days) + any(not one for one in told)
        octets += sum(line.bytes for line in batch)
    return changes, octets


def _import_line(number: int, raw: bytes) -> ImportLine:
    try:
        found = json.loads(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError) as exc:
        return ImportLine(number, None, f"it is no JSON: {exc}")
    if not isinstance(found, dict):
        return ImportLine(number, None, 'it is no object, as {"text": …}')
    # where a memory stood says nothing here, and may be long
    return ImportLine(number, {key: value for key, value in found.items() if key != "sources"}, bytes=len(raw))


class _Tally(Struct):
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
def import_command(invocation: Invocation, file: str, dry_run: bool, with_secrets: bool) -> Exit:
    """State the memories of FILE on the days on which they were said; what stands here already is left as it is.

    A line is an object with "text", and where it has them kind, entities, importance, confidence, pinned, scope, at,
    saidBy, tags and days. What is no such line, was forgotten here, or is for another agent is told by its number and
    left out. Exit code 1 where lines were left out.
    """
    run, tally = uuid4().hex, _Tally()
    with _import_source(file) as source, invocation.client(timeout=120) as client:
        if not dry_run:
            _tell_beforehand(source)
        # what stands here already is known by its words
        client.sync("indexed", agent=invocation.agent)
        with _taken_back(_undo(run, invocation.agent), tally, is_dry=dry_run), told_count("importing") as told:
            for batch in batches(import_lines(source)):
                _take(client, batch, tally, run, invocation.agent, dry_run=dry_run, with_secrets=with_secrets)
                told(tally.counted.total(), None)
    _show_import(invocation, tally, run, is_dry=dry_run)
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
def _import_source(file: str) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(file).open("rb") as source:
            yield source
    except OSError as exc:
        raise InvalidRequest(f"{file} cannot be read: {exc.strerror}") from exc


def _show_import(invocation: Invocation, tally: _Tally, run: str, *, is_dry: bool) -> None:
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
        reply, [f"{line}{counted['refused']:,} refused"], _import_notes(tally, run, invocation.agent, is_dry=is_dry)
    )


def _import_notes(tally: _Tally, run: str, agent: str | None, *, is_dry: bool) -> Iterator[str]:
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
