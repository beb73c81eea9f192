"""memoryctl export: all memories as lines of JSON, as Markdown, or as a bundle of the Open Knowledge Format.

OKF v0.2 is one Markdown file for each memory, under a front matter that says whence it is and whether it still holds:
https://github.com/GoogleCloudPlatform/knowledge-catalog/blob/main/okf/SPEC.md
"""

import json
import shlex
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from memoryd import __version__
from memoryd.cli.bars import memory_count
from memoryd.cli.invocation import Invocation, argument, found, verb
from memoryd.cli.terminal import count
from memoryd.domain.memories.kinds import ShortId, kind_named
from memoryd.domain.memories.line import Attributes, Provenance, RetainedLine, render
from memoryd.replies.memories import TransferredMemoryReply
from memoryd.wire import Exit

PAGE = 1_000
TITLE_CHARS = 80
Pages = Iterator[list[TransferredMemoryReply]]


def _write_jsonl(pages: Pages, out: IO[bytes]) -> None:
    for page in pages:
        for one in page:
            out.write(json.dumps(one, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")


def _write_markdown(pages: Pages, out: IO[bytes]) -> None:
    """Write memories as bullets of a log, below the day on which each was said first."""
    out.write(b"# Memories\n")
    before = ""
    for page in pages:
        for one in page:
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


def _write_okf(pages: Pages, out: IO[bytes]) -> None:
    """Write a zip archive with one concept for each memory."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        listed = []
        for page in pages:
            for one in page:
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


FORMATS: dict[str, Callable[[Pages, IO[bytes]], None]] = {
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
@click.option(
    "--scope", metavar="SCOPE", help="Only memories of this scope: workspace, agent:ID, agent:ID:CHANNEL or global."
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@verb
def export_command(invocation: Invocation, file: str, form: str, scope: str | None, force: bool) -> Exit:
    """Write every memory: what it says, about whom, since when, and where it stands.

    `memoryctl import` reads lines of JSON. Other agents' memories are not in it; --agent says whose are. How memories
    were used is in a backup: memoryctl backup.
    """
    number = 0

    def pages() -> Pages:
        nonlocal number
        after = None
        with memory_count("exporting") as report:
            while True:
                page = invocation.memory.export_memories(after=after, limit=PAGE, scope=scope)
                yield page["memories"]
                number += len(page["memories"])
                report(number, page["total"])
                if (after := page["next"]) is None:
                    break

    with _export_target(file, force=force) as out:
        # what was saved a moment ago is in it
        invocation.memory.sync("indexed")
        FORMATS[form](pages(), out)
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
