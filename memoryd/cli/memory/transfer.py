"""memoryctl import and export.

Import reads memories and notes from a file, a folder or an archive, written by memoryd or another program. Export
writes all memories as lines of JSON, as Markdown, or as a bundle of the Open Knowledge Format. OKF v0.2 has one file of
Markdown for each memory, with a front matter that gives its source and whether it still holds:
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
from memoryd.cli.invocation import (
    Invocation,
    argument,
    exit_code_of,
    flag,
    scope_option,
    undo_hint,
    wait_for,
    with_invocation,
)
from memoryd.cli.terminal import count, harmless_line, note, size
from memoryd.domain.memories.kinds import CHANGE_BYTES_MAX, CHANGES_MAX, ShortId, kind_named
from memoryd.domain.memories.line import Attributes, Provenance, RetainedLine, render
from memoryd.errors import InvalidRequest, RequestError
from memoryd.replies.memories import TransferredMemoryReply
from memoryd.wire import ErrorCode, Exit

_LISTED_MAX = 1_000
"""Lines listed one by one; more lines are only counted."""
_SAMPLES = 8
_SAMPLE_CHARS = 120


@click.command("import")
@argument("path", help="Data or an export of another program, or a file from memoryctl export; - reads such a file.")
@click.option(
    "--from",
    "source",
    type=click.Choice([JSONL, *SOURCES]),
    default=JSONL,
    show_default=True,
    help="The program that wrote it.",
)
@flag("--dry-run", help="Only say what would be imported, with samples.")
@flag("--with-secrets", help="Also import text that looks like a secret.")
@with_invocation
def import_command(invocation: Invocation, path: str, source: str, dry_run: bool, with_secrets: bool) -> Exit:
    """Take in the memories of PATH, each on the day on which it was said; memories that exist here stay unchanged.

    Notes of other programs are written below memory/imported/. Lines that look like a secret, were forgotten here, or
    cannot be read are listed and left out; the exit code is then 1. See the how-to "Bring what you have".

    A line of JSON is an object with "text", and optionally kind, entities, importance, confidence, pinned, scope, at,
    saidBy, tags and days.
    """
    if source != JSONL:
        _check_is_foreign(invocation, Path(path))
    # imported here: rich takes longer to import than the rest of the command
    from memoryd.cli.bars import memory_count

    work = _Import(invocation, is_dry=dry_run, with_secrets=with_secrets)
    # a batch has many memories
    invocation.memory.timeout = 150
    with _import_source(path, source) as (read, is_pipe):
        if not dry_run and not is_pipe:
            _warn_of_partial_undo(read())
        # the index finds memories that exist here already by their text
        if reason := wait_for(invocation, "indexed", invocation.memory.timeout).get("reason"):
            note(f"memories that exist here may not be recognised: {reason}")
        with work.hint_at_undo(), memory_count("importing") as report:
            for batch in batches(read()):
                work.send(batch)
                report(work.outcomes.total(), None)
    left = [f"not imported: {SOURCES[source].leaves}"] if source in SOURCES else []
    invocation.show(work.reply(), work.lines(), [*work.notes(), *left])
    return Exit.ERROR if work.outcomes["refused"] else Exit.DONE


def _check_is_foreign(invocation: Invocation, path: Path) -> None:
    """Raise InvalidRequest for a folder in the workspace itself, whose notes would be duplicated."""
    workspace = Path(invocation.chosen_agents(invocation.memory.status())[0]["workspace"]).resolve()
    if path.is_dir() and path.resolve().is_relative_to(workspace):
        raise InvalidRequest(
            f"{path} is in the workspace: its notes are indexed there", hint="nothing needs to be imported"
        )


def _warn_of_partial_undo(lines: Iterator[ImportLine]) -> None:
    """Print a note, before anything is written, if undo could not take back the complete import."""
    changes, content = expected_changes(lines)
    if changes > CHANGES_MAX or content > CHANGE_BYTES_MAX:
        note(
            f"this makes up to {count(changes, 'change')}, of which undo keeps {CHANGES_MAX:,} and "
            f"{size(CHANGE_BYTES_MAX)} of lines: it can be taken back in part only, and older changes not at all"
        )
        note("memoryctl backup FILE --notes keeps all as it is now")


@contextmanager
def _import_source(path: str, source: str) -> Iterator[tuple[Callable[[], Iterator[ImportLine]], bool]]:
    """Yield a function that reads all lines from the start, and whether the source is a pipe, which it reads once."""
    if source != JSONL:
        yield partial(entries, Path(path), of=source), False
    elif path == "-":
        yield partial(import_lines, sys.stdin.buffer), True
    else:
        try:
            with Path(path).open("rb") as file:
                yield partial(_from_start, file), not file.seekable()
        except OSError as exc:
            of_program = f"--from {'|'.join(SOURCES)} reads the folder of another program"
            hint = of_program if isinstance(exc, IsADirectoryError) else ""
            raise InvalidRequest(f"{path} cannot be read: {exc.strerror}", hint=hint) from exc


def _from_start(file: IO[bytes]) -> Iterator[ImportLine]:
    if file.seekable():
        file.seek(0)
    return import_lines(file)


class _Import:
    """An import: sends batches to the daemon, and collects the outcome of each line and the reason of notable ones."""

    def __init__(self, invocation: Invocation, *, is_dry: bool, with_secrets: bool) -> None:
        self._run = uuid4().hex
        self._is_dry = is_dry
        self._import = partial(
            invocation.memory.import_memories, run=self._run, dry_run=is_dry, with_secrets=with_secrets
        )
        self._undo = undo_hint(self._run)
        self._changes = 0
        self.outcomes = Counter[str]()
        self._notes = 0
        self._listed: list[tuple[int, str, str, str]] = []
        """Number, place, outcome and reason."""
        self._samples: list[str] = []

    def _add(self, line: ImportLine, outcome: str, reason: str | None) -> None:
        self.outcomes[outcome] += 1
        if outcome == "added":
            self._notes += line.note is not None
            if len(self._samples) < _SAMPLES:
                self._samples.append(harmless_line(line.sample)[:_SAMPLE_CHARS])
        if reason and len(self._listed) < _LISTED_MAX:
            self._listed.append((line.number, line.place, outcome, reason))

    @contextmanager
    def hint_at_undo(self) -> Iterator[None]:
        """Print the undo command before anything is written, and again if the import is interrupted."""
        if self._is_dry:
            yield
            return
        note(f"to take this import back, also if it is interrupted: {self._undo}")
        try:
            yield
        except BaseException:
            added = count(self.outcomes["added"], "memory", "memories")
            note(f"interrupted: {added} added, and perhaps some of the next {BATCH}; to take them back: {self._undo}")
            raise

    def send(self, batch: list[ImportLine]) -> None:
        """Send a batch; if the daemon rejects it as invalid or too large, send its halves separately."""
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
                # the error names the place in the request, which means nothing to the user
                self._add(sound[0], "refused", str(exc).replace("memories.0.", "").replace("notes.0.", ""))
                return
            middle = len(sound) // 2
            self.send(sound[:middle])
            self.send(sound[middle:])
            return
        self._changes += len(reply["changes"])
        for line, result in zip([*memories, *notes], [*reply["memories"], *reply["notes"]], strict=True):
            self._add(line, result["outcome"], result["reason"])

    def reply(self) -> dict[str, object]:
        """Return the result of the import as JSON."""
        return {
            **{name: self.outcomes[name] for name in ("added", "known", "refused")},
            "dryRun": self._is_dry,
            "run": self._run if self._changes else None,
            "changes": self._changes,
            "isUndoneWhole": self._changes <= CHANGES_MAX,
            "notes": self._notes,
            "samples": self._samples,
            "lines": [
                {"line": number, "where": place, "outcome": outcome, "reason": why}
                for number, place, outcome, why in sorted(self._listed)
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield the result of the import in words, on a dry run with samples."""
        memories = self.outcomes["added"] - self._notes
        parts = [count(memories, "memory", "memories")] if memories or not self._notes else []
        parts += [count(self._notes, "note")] if self._notes else []
        yield (
            f"{' and '.join(parts)} {'would be added' if self._is_dry else 'added'}, "
            f"{self.outcomes['known']:,} known, {self.outcomes['refused']:,} refused"
        )
        if self._is_dry:
            yield from (f"  {sample}" for sample in self._samples)

    def notes(self) -> Iterator[str]:
        """Yield the lines that were left out, and the command that takes the import back."""
        for _, place, outcome, reason in sorted(self._listed):
            yield harmless_line(f"{place}: {outcome}: {reason}")
        if len(self._listed) == _LISTED_MAX:
            yield "and more lines that are not listed"
        if self._is_dry:
            yield "nothing was written"
        elif self._changes:
            yield f"to take it back: {self._undo}"
        if self._changes > CHANGES_MAX:
            yield f"undo keeps the last {CHANGES_MAX:,} of its {self._changes:,} changes: earlier ones stay"


PAGE = 1_000
TITLE_CHARS = 80
_Memories = Iterator[TransferredMemoryReply]


def _write_jsonl(memories: _Memories, out: IO[bytes]) -> None:
    for memory in memories:
        out.write(json.dumps(memory, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")


def _write_markdown(memories: _Memories, out: IO[bytes]) -> None:
    """Write memories as bullets of a log, below the day on which each was first said."""
    out.write(b"# Memories\n")
    previous_day = ""
    for memory in memories:
        if (day := next(iter(memory["days"]), "")) != previous_day:
            out.write(f"\n## {day}\n\n".encode())
            previous_day = day
        out.write(f"{_bullet(memory)}\n".encode("utf-8", "replace"))


def _bullet(memory: TransferredMemoryReply) -> str:
    kind = kind_named(memory["kind"])
    attributes = Attributes(
        confidence=memory["confidence"],
        importance=memory["importance"],
        at=memory["at"] or "",
        scope=memory["scope"] or "",
        supports=tuple(map(ShortId, memory["supports"])),
        contradicts=tuple(map(ShortId, memory["contradicts"])),
        supersedes=tuple(map(ShortId, memory["supersedes"])),
        provenance=Provenance(memory["saidBy"]) if memory["saidBy"] else None,
        tags=tuple(memory["tags"]),
        is_pinned=memory["pinned"],
        superseded=tuple(map(ShortId, memory["superseded"])),
        beside=tuple(map(ShortId, memory["beside"])),
    )
    if kind is None:
        return f"- {memory['text']}"
    return render(RetainedLine(kind, memory["text"], tuple(memory["entities"]), attributes))


def _write_okf(memories: _Memories, out: IO[bytes]) -> None:
    """Write a zip archive with one concept for each memory."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        listed = []
        for memory in memories:
            name = f"memories/{memory['id']}.md"
            archive.writestr(name, _concept(memory).encode("utf-8", "replace"))
            listed.append(f"* [{_title(memory)}]({name})\n")
        index = f'---\nokf_version: "0.2"\n---\n\n# Memories\n\n{"".join(listed)}'
        archive.writestr("index.md", index.encode("utf-8", "replace"))


def _title(memory: TransferredMemoryReply) -> str:
    title = " ".join(memory["text"].split()).translate({ord(sign): " " for sign in "[]"})
    return title if len(title) <= TITLE_CHARS else title[: TITLE_CHARS - 1].rstrip() + "…"


def _concept(memory: TransferredMemoryReply) -> str:
    # the values are JSON, which is valid YAML, so that no text is read as a key
    values: dict[str, object] = {"type": memory["kind"], "title": _title(memory)}
    if tags := [*memory["entities"], *memory["tags"]]:
        values["tags"] = tags
    if memory["days"]:
        values["generated"] = {"by": f"memoryd/{__version__}", "at": f"{memory['days'][-1]}T00:00:00Z"}
    if memory["sources"]:
        values["sources"] = [{"resource": source} for source in memory["sources"]]
    if memory["superseded"]:
        values["status"] = "deprecated"
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items()]
    about = f"About {', '.join(memory['entities'])}: " if memory["entities"] else ""
    return f"---\n{''.join(lines)}---\n\n{about}{memory['text']}\n"


FORMATS: dict[str, Callable[[_Memories, IO[bytes]], None]] = {
    "jsonl": _write_jsonl,
    "markdown": _write_markdown,
    "okf": _write_okf,
}


@click.command("export")
@argument("file", default="-", help="The file to write (default: standard output).")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="jsonl",
    show_default=True,
    help="Lines of JSON, which import reads; bullets by days; or a zip archive of the Open Knowledge Format 0.2.",
)
@scope_option
@flag("--force", help="Overwrite an existing file.")
@with_invocation
def export_command(invocation: Invocation, file: str, form: str, scope: str | None, force: bool) -> Exit:
    """Write every memory: its text, entities, days and source lines.

    `memoryctl import` reads lines of JSON. Memories of other agents are left out; --agent names the agent. Usage counts
    are only in a backup: memoryctl backup.
    """
    # imported here, as in import_command
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
        # so that the export includes notes that were saved a moment ago
        invocation.memory.sync("indexed")
        FORMATS[form](memories(), out)
        out.flush()
    if file != "-":
        path = Path(file).absolute()
        reply = {"file": str(path), "memories": number}
        again = [f"to have them elsewhere: memoryctl import {shlex.quote(str(path))}"] if form == "jsonl" else []
        invocation.show(reply, [f"{path}  {count(number, 'memory', 'memories')}"], again)
    return exit_code_of(number)


@contextmanager
def _export_target(file: str, *, force: bool) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdout.buffer
        return
    # imported here: it loads memoryd.files, which nothing else here needs
    from memoryd.cli.written_file import open_for_export

    with open_for_export(Path(file), replaces=force) as out:
        yield out
