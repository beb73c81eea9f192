"""memoryctl import and export: memories and notes of a file, a folder or an archive, of memoryd or of another program;
and all memories as lines of JSON, as Markdown, or as a bundle of the Open Knowledge Format.

OKF v0.2 is one Markdown file for each memory, under a front matter that says whence it is and whether it still holds:
https://github.com/GoogleCloudPlatform/knowledge-catalog/blob/main/okf/SPEC.md
"""

import json
import shlex
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO
from uuid import uuid4

import click

from memoryd import __version__
from memoryd.cli.importing.lines import BATCH, ImportLine, batches, expected_changes, import_lines
from memoryd.cli.importing.sources import JSONL, SOURCES, entries
from memoryd.cli.invocation import Invocation, argument, flag, found, scope_option, undo_hint, verb, wait_for
from memoryd.cli.terminal import count, harmless_line, note, size
from memoryd.domain.memories.kinds import CHANGE_BYTES_MAX, CHANGES_MAX, ShortId, kind_named
from memoryd.domain.memories.line import Attributes, Provenance, RetainedLine, render
from memoryd.errors import InvalidRequest, RequestError
from memoryd.replies.memories import TransferredMemoryReply
from memoryd.wire import ErrorCode, Exit

_TOLD = 1_000
"""Lines that are named one by one; the others are counted."""
_SAMPLES = 8
_SAMPLE_CHARS = 120


@click.command("import")
@argument("path", help="What the other program keeps or exported, or a file that memoryctl export wrote; - reads that.")
@click.option(
    "--from",
    "source",
    type=click.Choice([JSONL, *SOURCES]),
    default=JSONL,
    show_default=True,
    help="The program that it is of.",
)
@flag("--dry-run", help="Only say what would be taken, with samples.")
@flag("--with-secrets", help="Also take what looks like a secret.")
@verb
def import_command(invocation: Invocation, path: str, source: str, dry_run: bool, with_secrets: bool) -> Exit:
    """Take in the memories of PATH, each on the day on which it was said; what stands here already is left as it is.

    Notes of other programs are written below memory/imported/. What looks like a secret, was forgotten here, or cannot
    be read is told by its place and left out; exit code 1 then. See the how-to "Bring what you have".

    A line of JSON is an object with "text", and where it has them kind, entities, importance, confidence, pinned,
    scope, at, saidBy, tags and days.
    """
    if source != JSONL:
        _check_is_foreign(invocation, Path(path))
    # here: rich takes longer to import than all else
    from memoryd.cli.bars import memory_count

    work = _Import(invocation, is_dry=dry_run, with_secrets=with_secrets)
    # a batch is many memories
    invocation.memory.timeout = 150
    with _import_source(path, source) as (read, is_pipe):
        if not dry_run and not is_pipe:
            _tell_beforehand(read())
        # a memory that is here already is known by its words
        if reason := wait_for(invocation, "indexed", invocation.memory.timeout).get("reason"):
            note(f"what stands here may not be known: {reason}")
        with work.say_how_to_undo(), memory_count("importing") as report:
            for batch in batches(read()):
                work.take(batch)
                report(work.counted.total(), None)
    left = [f"left there: {SOURCES[source].leaves}"] if source in SOURCES else []
    invocation.show(work.reply(), work.lines(), [*work.notes(), *left])
    return Exit.ERROR if work.counted["refused"] else Exit.DONE


def _check_is_foreign(invocation: Invocation, path: Path) -> None:
    """Raise InvalidRequest for notes of the workspace itself, which would stand there twice."""
    workspace = Path(invocation.chosen_agents(invocation.memory.status())[0]["workspace"]).resolve()
    if path.is_dir() and path.resolve().is_relative_to(workspace):
        raise InvalidRequest(
            f"{path} is in the workspace: its notes are indexed where they stand", hint="nothing is to be imported"
        )


def _tell_beforehand(lines: Iterator[ImportLine]) -> None:
    """Say before anything is written how much of it can be taken back."""
    changes, content = expected_changes(lines)
    if changes > CHANGES_MAX or content > CHANGE_BYTES_MAX:
        note(
            f"this makes up to {count(changes, 'change')}, of which undo keeps {CHANGES_MAX:,} and "
            f"{size(CHANGE_BYTES_MAX)} of lines: it can be taken back in part only, and older changes not at all"
        )
        note("memoryctl backup FILE --notes keeps all as it is now")


@contextmanager
def _import_source(path: str, source: str) -> Iterator[tuple[Callable[[], Iterator[ImportLine]], bool]]:
    """Yield what reads all of it, more than once but for a pipe, and whether it is one."""
    if source != JSONL:
        yield partial(entries, Path(path), of=source), False
    elif path == "-":
        yield partial(import_lines, sys.stdin.buffer), True
    else:
        try:
            with Path(path).open("rb") as file:
                yield partial(_from_start, file), not file.seekable()
        except OSError as exc:
            raise InvalidRequest(f"{path} cannot be read: {exc.strerror}") from exc


def _from_start(file: IO[bytes]) -> Iterator[ImportLine]:
    if file.seekable():
        file.seek(0)
    return import_lines(file)


class _Import:
    """An import, and what came of its lines; of those to be looked at, the outcome and the reason."""

    def __init__(self, invocation: Invocation, *, is_dry: bool, with_secrets: bool) -> None:
        self._run = uuid4().hex
        self._is_dry = is_dry
        self._import = partial(
            invocation.memory.import_memories, run=self._run, dry_run=is_dry, with_secrets=with_secrets
        )
        self._undo = undo_hint(self._run)
        self._changes = 0
        self.counted = Counter[str]()
        self._notes = 0
        self._told: list[tuple[int, str, str, str]] = []
        self._samples: list[str] = []

    def _add(self, line: ImportLine, outcome: str, reason: str | None) -> None:
        self.counted[outcome] += 1
        if outcome == "added":
            self._notes += line.note is not None
            if len(self._samples) < _SAMPLES:
                self._samples.append(harmless_line(line.sample)[:_SAMPLE_CHARS])
        if reason and len(self._told) < _TOLD:
            self._told.append((line.number, line.place, outcome, reason))

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
        sound = []
        for line in batch:
            if line.trouble:
                self._add(line, "refused", line.trouble)
            elif line.same_as:
                self._add(line, "known", f"{line.same_as} says the same")
            else:
                sound.append(line)
        if not sound:
            return
        memories = [line for line in sound if line.memory is not None]
        notes = [line for line in sound if line.note is not None]
        try:
            reply = self._import(
                [line.memory for line in memories if line.memory is not None],
                notes=[line.note for line in notes if line.note is not None],
            )
        except RequestError as exc:
            if exc.code is not ErrorCode.INVALID_REQUEST and exc.code is not ErrorCode.TOO_LARGE:
                raise
            if len(sound) == 1:
                # its place in the request is none in the file
                self._add(sound[0], "refused", str(exc).replace("memories.0.", "").replace("notes.0.", ""))
                return
            middle = len(sound) // 2
            self.take(sound[:middle])
            self.take(sound[middle:])
            return
        self._changes += len(reply["changes"])
        for line, taken in zip([*memories, *notes], [*reply["memories"], *reply["notes"]], strict=True):
            self._add(line, taken["outcome"], taken["reason"])

    def reply(self) -> dict[str, object]:
        """Return what came of it, as JSON has it."""
        return {
            **{name: self.counted[name] for name in ("added", "known", "refused")},
            "dryRun": self._is_dry,
            "run": self._run if self._changes else None,
            "changes": self._changes,
            "isUndoneWhole": self._changes <= CHANGES_MAX,
            "notes": self._notes,
            "samples": self._samples,
            "lines": [
                {"line": number, "where": place, "outcome": outcome, "reason": why}
                for number, place, outcome, why in sorted(self._told)
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield what came of it in words, on a dry run with samples."""
        added, notes = self.counted["added"], count(self._notes, "note")
        what = [count(added - self._notes, "memory", "memories")] * (added > self._notes or not self._notes)
        yield (
            f"{' and '.join([*what, *[notes] * bool(self._notes)])} {'would be added' if self._is_dry else 'added'}, "
            f"{self.counted['known']:,} known, {self.counted['refused']:,} refused"
        )
        if self._is_dry:
            yield from (f"  {sample}" for sample in self._samples)

    def notes(self) -> Iterator[str]:
        """Yield which lines were left out, and how it is taken back."""
        for _, place, outcome, reason in sorted(self._told):
            yield harmless_line(f"{place}: {outcome}: {reason}")
        if len(self._told) == _TOLD:
            yield "and more lines than are told here"
        if self._is_dry:
            yield "nothing was written"
        elif self._changes:
            yield f"to take it back: {self._undo}"
        if self._changes > CHANGES_MAX:
            yield f"undo keeps the last {CHANGES_MAX:,} of its {self._changes:,} changes: those before stay"


PAGE = 1_000
TITLE_CHARS = 80
_Memories = Iterator[TransferredMemoryReply]


def _write_jsonl(memories: _Memories, out: IO[bytes]) -> None:
    for one in memories:
        out.write(json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")


def _write_markdown(memories: _Memories, out: IO[bytes]) -> None:
    """Write memories as bullets of a log, below the day on which each was said first."""
    out.write(b"# Memories\n")
    before = ""
    for one in memories:
        if (day := next(iter(one["days"]), "")) != before:
            out.write(f"\n## {day}\n\n".encode())
            before = day
        out.write(f"{_bullet(one)}\n".encode("utf-8", "replace"))


def _bullet(one: TransferredMemoryReply) -> str:
    kind = kind_named(one["kind"])
    attributes = Attributes(
        confidence=one["confidence"],
        importance=one["importance"],
        at=one["at"] or "",
        scope=one["scope"] or "",
        supports=tuple(map(ShortId, one["supports"])),
        contradicts=tuple(map(ShortId, one["contradicts"])),
        supersedes=tuple(map(ShortId, one["supersedes"])),
        provenance=Provenance(one["saidBy"]) if one["saidBy"] else None,
        tags=tuple(one["tags"]),
        is_pinned=one["pinned"],
        superseded=tuple(map(ShortId, one["superseded"])),
        beside=tuple(map(ShortId, one["beside"])),
    )
    return render(RetainedLine(kind, one["text"], tuple(one["entities"]), attributes)) if kind else f"- {one['text']}"


def _write_okf(memories: _Memories, out: IO[bytes]) -> None:
    """Write a zip archive with one concept for each memory."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        listed = []
        for one in memories:
            name = f"memories/{one['id']}.md"
            archive.writestr(name, _concept(one).encode("utf-8", "replace"))
            listed.append(f"* [{_title(one)}]({name})\n")
        index = f'---\nokf_version: "0.2"\n---\n\n# Memories\n\n{"".join(listed)}'
        archive.writestr("index.md", index.encode("utf-8", "replace"))


def _title(one: TransferredMemoryReply) -> str:
    title = " ".join(one["text"].split()).translate({ord(sign): " " for sign in "[]"})
    return title if len(title) <= TITLE_CHARS else title[: TITLE_CHARS - 1].rstrip() + "…"


def _concept(one: TransferredMemoryReply) -> str:
    # JSON is YAML: no text can be taken for a key
    values: dict[str, object] = {"type": one["kind"], "title": _title(one)}
    if tags := [*one["entities"], *one["tags"]]:
        values["tags"] = tags
    if one["days"]:
        values["generated"] = {"by": f"memoryd/{__version__}", "at": f"{one['days'][-1]}T00:00:00Z"}
    if one["sources"]:
        values["sources"] = [{"resource": source} for source in one["sources"]]
    if one["superseded"]:
        values["status"] = "deprecated"
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items()]
    about = f"About {', '.join(one['entities'])}: " if one["entities"] else ""
    return f"---\n{''.join(lines)}---\n\n{about}{one['text']}\n"


FORMATS: dict[str, Callable[[_Memories, IO[bytes]], None]] = {
    "jsonl": _write_jsonl,
    "markdown": _write_markdown,
    "okf": _write_okf,
}


@click.command("export")
@argument("file", default="-", help="The file to write; without one, standard output.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="jsonl",
    show_default=True,
    help="Lines of JSON, which import reads; bullets by days; or a zip archive of the Open Knowledge Format 0.2.",
)
@scope_option
@flag("--force", help="Write over a file that is there.")
@verb
def export_command(invocation: Invocation, file: str, form: str, scope: str | None, force: bool) -> Exit:
    """Write every memory: what it says, about whom, since when, and where it stands.

    `memoryctl import` reads lines of JSON. Other agents' memories are not in it; --agent says whose are. How memories
    were used is in a backup: memoryctl backup.
    """
    # here: as above
    from memoryd.cli.bars import memory_count

    number = 0

    def memories() -> _Memories:
        nonlocal number
        after = None
        with memory_count("exporting") as report:
            while True:
                page = invocation.memory.export_memories(after=after, limit=PAGE, scope=scope)
                yield from page["memories"]
                number += len(page["memories"])
                report(number, page["total"])
                if (after := page["next"]) is None:
                    break

    with _export_target(file, force=force) as out:
        # what was saved a moment ago is in it
        invocation.memory.sync("indexed")
        FORMATS[form](memories(), out)
        out.flush()
    if file != "-":
        path = Path(file).absolute()
        reply = {"file": str(path), "memories": number}
        again = [f"to have them elsewhere: memoryctl import {shlex.quote(str(path))}"] if form == "jsonl" else []
        invocation.show(reply, [f"{path}  {count(number, 'memory', 'memories')}"], again)
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
