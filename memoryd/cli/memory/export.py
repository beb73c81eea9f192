"""memoryctl export and import: memories as lines of JSON, out of one workspace and into another."""

import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, Final
from uuid import uuid4

import click
from msgspec import Struct

from memoryd.cli.bars import memory_count
from memoryd.cli.invocation import Invocation, argument, found, verb
from memoryd.cli.terminal import count, harmless_line, note, size
from memoryd.domain.memories.kinds import CHANGE_BYTES_MAX, CHANGES_MAX
from memoryd.errors import InvalidRequest, RequestError
from memoryd.wire import LISTED_MAX, ErrorCode, Exit

PAGE = 1_000
LINE_BYTES_MAX: Final = 256 * 1024
BATCH: Final = LISTED_MAX
"""As many as one request may have: each has the logs of its days read as a whole."""
BATCH_DAYS: Final = 100
"""Each is a log that is written, so that a request has its answer soon."""
BATCH_BYTES: Final = 400_000
"""So that a request stays within its limit, however its letters are written."""
_TOLD = 1_000
"""Lines that are named one by one; the others are counted."""


@click.command("export")
@argument("file", default="-", help="The file to write; without one, standard output.")
@click.option(
    "--scope", metavar="SCOPE", help="Only memories of this scope: workspace, agent:ID, agent:ID:CHANNEL or global."
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@verb
def export_command(invocation: Invocation, file: str, scope: str | None, force: bool) -> Exit:
    """Write every memory as one line of JSON: what it says, about whom, since when, and where it stands.

    `memoryctl import` reads it. Other agents' memories are not in it; --agent says whose are. How memories were used
    is in a backup: memoryctl backup.
    """
    number, after = 0, None
    with _export_target(file, force=force) as out:
        # what was saved a moment ago is in it
        invocation.memory.sync("indexed")
        with memory_count("exporting") as report:
            while True:
                page = invocation.memory.export_memories(after=after, limit=PAGE, scope=scope)
                for one in page["memories"]:
                    out.write(json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
                number += len(page["memories"])
                report(number, page["total"])
                if (after := page["next"]) is None:
                    break
        out.flush()
    if file != "-":
        path = Path(file).absolute()
        reply = {"file": str(path), "memories": number}
        again = f"to have them elsewhere: memoryctl import {path}"
        invocation.show(reply, [f"{path}  {count(number, 'memory', 'memories')}"], [again])
    return found(number)


@contextmanager
def _export_target(file: str, *, force: bool) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdout.buffer
        return
    # here: only this needs a room that touches files
    from memoryd.cli.written_file import streamed

    with streamed(Path(file), replaces=force) as out:
        yield out


class ImportLine(Struct, frozen=True):
    """A line of the file: the memory, or why it is none."""

    number: int
    memory: dict[str, Any] | None
    trouble: str = ""
    bytes: int = 0

    @property
    def days(self) -> Set[str]:
        """The days on which it was said, "" for one without: it is of today."""
        given = self.memory.get("days") if self.memory is not None else None
        return {str(day) for day in given} if given and isinstance(given, list) else {""}


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
    size, days = 0, set[str]()
    for line in lines:
        size, days = size + line.bytes, days | line.days
        # what was said on many days is best sent together, for each batch writes their logs once more
        has_many_days = len(batch) >= BATCH_DAYS and len(days) > BATCH_DAYS
        if batch and (len(batch) == BATCH or size > BATCH_BYTES or has_many_days):
            yield batch
            batch, size, days = [], line.bytes, set(line.days)
        batch.append(line)
    if batch:
        yield batch


def expected_changes(file: IO[bytes]) -> tuple[int, int]:
    """Return how many changes an import of a file makes at most, one for each day of a batch, and its bytes."""
    changes = content = 0
    for batch in batches(import_lines(file)):
        changes += len({day for line in batch if line.memory is not None for day in line.days})
        content += sum(line.bytes for line in batch)
    return changes, content


def _import_line(number: int, raw: bytes) -> ImportLine:
    try:
        value = json.loads(raw.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError) as exc:
        return ImportLine(number, None, f"it is no JSON: {exc}")
    if not isinstance(value, dict):
        return ImportLine(number, None, 'it is no object, as {"text": …}')
    # where a memory stood says nothing here, and may be long
    return ImportLine(number, {key: one for key, one in value.items() if key != "sources"}, bytes=len(raw))


@click.command("import")
@argument("file", help="A file that memoryctl export wrote; - reads standard input.")
@click.option("--dry-run", is_flag=True, help="Only say what would be taken.")
@click.option("--with-secrets", is_flag=True, help="Also take what looks like a secret.")
@verb
def import_command(invocation: Invocation, file: str, dry_run: bool, with_secrets: bool) -> Exit:
    """State the memories of FILE on the days on which they were said; what stands here already is left as it is.

    A line is an object with "text", and where it has them kind, entities, importance, confidence, pinned, scope, at,
    saidBy, tags and days. What is no such line, was forgotten here, or is for another agent is told by its number and
    left out. Exit code 1 where lines were left out.
    """
    work = _Import(invocation, is_dry=dry_run, with_secrets=with_secrets)
    # a batch is many memories
    invocation.memory.timeout = 150
    with _import_source(file) as source:
        if not dry_run:
            _tell_beforehand(source)
        # a memory that is here already is known by its words
        invocation.memory.sync("indexed")
        with work.say_how_to_undo(), memory_count("importing") as report:
            for batch in batches(import_lines(source)):
                work.take(batch)
                report(work.counted.total(), None)
    invocation.show(work.reply(), [work.line()], work.notes())
    return Exit.ERROR if work.counted["refused"] else Exit.DONE


def _tell_beforehand(source: IO[bytes]) -> None:
    """Say before anything is written how much of it can be taken back; the length of a pipe is unknown."""
    if not source.seekable():
        return
    changes, content = expected_changes(source)
    source.seek(0)
    if changes > CHANGES_MAX or content > CHANGE_BYTES_MAX:
        note(
            f"this makes up to {count(changes, 'change')}, of which undo keeps {CHANGES_MAX:,} and "
            f"{size(CHANGE_BYTES_MAX)} of lines: it can be taken back in part only, and older changes not at all"
        )
        note("memoryctl backup FILE --notes keeps all as it is now")


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


class _Import:
    """An import, and what came of its lines; `told` are number, outcome and reason of those to be looked at."""

    def __init__(self, invocation: Invocation, *, is_dry: bool, with_secrets: bool) -> None:
        self._run = uuid4().hex
        self._is_dry = is_dry
        self._import = partial(
            invocation.memory.import_memories, run=self._run, dry_run=is_dry, with_secrets=with_secrets
        )
        agent = f" --agent {shlex.quote(invocation.agent)}" if invocation.agent else ""
        self._undo = f"memoryctl undo --run {self._run}{agent}"
        self._changes = 0
        self.counted = Counter[str]()
        self._told: list[tuple[int, str, str]] = []

    def _add(self, number: int, outcome: str, reason: str | None) -> None:
        self.counted[outcome] += 1
        if reason and len(self._told) < _TOLD:
            self._told.append((number, outcome, reason))

    @contextmanager
    def say_how_to_undo(self) -> Iterator[None]:
        """Say before anything is written how it is taken back, and again where it does not come to its end."""
        if self._is_dry:
            yield
            return
        note(f"to take this import back, also where it is cut short: {self._undo}")
        try:
            yield
        except BaseException:
            added = count(self.counted["added"], "memory", "memories")
            note(f"cut short: {added} added, and perhaps some of the next {BATCH}; to take them back: {self._undo}")
            raise

    def take(self, batch: list[ImportLine]) -> None:
        """Send a batch; where one of its lines makes no sense to the daemon, send its halves."""
        for line in batch:
            if line.memory is None:
                self._add(line.number, "refused", line.trouble)
        sound = [line for line in batch if line.memory is not None]
        if not sound:
            return
        try:
            reply = self._import([line.memory for line in sound if line.memory is not None])
        except RequestError as exc:
            if exc.code is not ErrorCode.INVALID_REQUEST and exc.code is not ErrorCode.TOO_LARGE:
                raise
            if len(sound) == 1:
                self._add(sound[0].number, "refused", str(exc))
                return
            middle = len(sound) // 2
            self.take(sound[:middle])
            self.take(sound[middle:])
            return
        self._changes += len(reply["changes"])
        for line, taken in zip(sound, reply["memories"], strict=True):
            self._add(line.number, taken["outcome"], taken["reason"])

    def reply(self) -> dict[str, object]:
        """Return what came of it, as JSON has it."""
        return {
            **{name: self.counted[name] for name in ("added", "known", "refused")},
            "dryRun": self._is_dry,
            "run": self._run if self._changes else None,
            "changes": self._changes,
            "isUndoneWhole": self._changes <= CHANGES_MAX,
            "lines": [{"line": line, "outcome": outcome, "reason": why} for line, outcome, why in sorted(self._told)],
        }

    def line(self) -> str:
        """Return what came of it in words."""
        added = f"{count(self.counted['added'], 'memory', 'memories')} {'would be added' if self._is_dry else 'added'}"
        return f"{added}, {self.counted['known']:,} known, {self.counted['refused']:,} refused"

    def notes(self) -> Iterator[str]:
        """Yield which lines were left out, and how it is taken back."""
        for number, outcome, reason in sorted(self._told):
            yield harmless_line(f"line {number}: {outcome}: {reason}")
        if len(self._told) == _TOLD:
            yield "and more lines than are told here"
        if self._is_dry:
            yield "nothing was written"
        elif self._changes:
            yield f"to take it back: {self._undo}"
        if self._changes > CHANGES_MAX:
            yield f"undo keeps the last {CHANGES_MAX:,} of its {self._changes:,} changes: those before stay"
