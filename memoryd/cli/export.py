"""memoryctl export: memories as lines of JSON."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.moving_progress import told_count
from memoryd.cli.output_place import require_place
from memoryd.cli.terminal import count
from memoryd.client import Client
from memoryd.errors import InvalidRequest, StoreUnavailable
from memoryd.files.writing import FileChangedError, streamed_file
from memoryd.replies.memories import ExportReply
from memoryd.wire import Exit

PAGE = 1_000


@click.command("export", context_settings=HELP)
@click.argument("file", cls=Argument, default="-", help="The file to write; without one, standard output.")
@click.option(
    "--scope", metavar="SCOPE", help="Only memories of this scope: workspace, agent:ID, agent:ID:CHANNEL or global."
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@shared
@click.pass_obj
def command(invocation: Invocation, file: str, scope: str | None, force: bool) -> Exit:
    """Write every memory as one line of JSON: what it says, about whom, since when, and where it stands.

    `memoryctl import` reads it. Other agents' memories are not in it; --agent says whose are. How memories were used
    is in a backup: memoryctl backup.
    """
    number = 0
    with invocation.client() as client, _opened(file, force=force) as out:
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
def _opened(file: str, *, force: bool) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdout.buffer
        return
    path = Path(file)
    require_place(path, is_forced=force)
    try:
        with streamed_file(path, replaces=force) as out:
            yield out
    except FileChangedError as exc:
        raise InvalidRequest(str(exc), hint="name another file, or give --force") from exc
    except OSError as exc:
        raise StoreUnavailable(f"{path} cannot be written: {exc.strerror or exc}") from exc
