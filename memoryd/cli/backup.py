"""memoryctl backup: one file of all that cannot be made anew."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from memoryd.cli.invocation import HELP, Argument, Invocation, shared
from memoryd.cli.moving_progress import told_progress
from memoryd.cli.output_place import require_place
from memoryd.cli.terminal import count, is_terminal, let_go_of_output, size
from memoryd.config.loading.load import Loaded, load
from memoryd.config.paths import state_dir
from memoryd.errors import InvalidRequest, StoreUnavailable, UnknownAgent
from memoryd.files.writing import FileChangedError, streamed_file, sync_folder
from memoryd.moving.archive import BackupManifest, synced
from memoryd.moving.backup import BackupSources, BackupWishes, backup_sources, held, write_backup
from memoryd.wire import Exit


@click.command("backup", context_settings=HELP)
@click.argument("file", cls=Argument, help="The file to write; - is standard output, for a pipe.")
@click.option(
    "--notes", "has_notes", is_flag=True, help="Take the notes themselves, too: MEMORY.md, memory/ and bank/."
)
@click.option("--with-secrets", "has_secrets", is_flag=True, help="Keep the keys that stand in the configuration.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@shared
@click.pass_obj
def command(invocation: Invocation, file: str, has_notes: bool, has_secrets: bool, force: bool) -> Exit:
    """Write all that cannot be made anew into one file, for you alone; works while memoryd runs.

    That is the history of every workspace (ledgers, what is forgotten and the keys of that), the conversations, and
    the configuration without its keys. Not in it: the index, which is made anew, models, and notes without --notes.
    """
    sources = _sources(invocation, load(), has_notes=has_notes)
    wishes = BackupWishes(has_notes=has_notes, has_secrets=has_secrets)
    with _opened(file, force=force) as out, told_progress("backup", None) as told:
        manifest = write_backup(out, sources, wishes, state=state_dir(), told=told)
        octets = out.tell() if file != "-" else None
    if file == "-":
        return Exit.DONE
    path = Path(file).absolute()
    reply = {"file": str(path), "bytes": octets, **manifest.model_dump(mode="json", by_alias=True)}
    invocation.show(reply, [f"{path}  {size(octets or 0)}  {_told(manifest)}"], _notes(manifest, path, has_notes))
    return Exit.DONE


def _sources(invocation: Invocation, loaded: Loaded, *, has_notes: bool) -> BackupSources:
    agents = loaded.config.resolved_agents()
    if invocation.agent is not None and invocation.agent not in {agent.id for agent in agents}:
        known = ", ".join(agent.id for agent in agents)
        raise UnknownAgent(f"no agent {invocation.agent!r} is configured", hint=f"there is: {known}")
    return backup_sources(agents, state=state_dir(), config=loaded.source, only=invocation.agent, has_notes=has_notes)


@contextmanager
def _opened(file: str, *, force: bool) -> Iterator[IO[bytes]]:
    if file == "-":
        if is_terminal(sys.stdout):
            raise click.UsageError("a backup is no text: name a file, or send it into a pipe")
        with _standard_output() as out:
            yield out
        return
    path = Path(file)
    require_place(path, is_forced=force)
    try:
        with streamed_file(path, replaces=force) as out:
            yield out
            synced(out)
        sync_folder(path.absolute().parent)
    except FileChangedError as exc:
        raise InvalidRequest(str(exc), hint="name another file, or give --force") from exc
    except OSError as exc:
        raise StoreUnavailable(f"{path} cannot be written: {exc.strerror or exc}") from exc


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError as exc:
        let_go_of_output()
        raise StoreUnavailable(
            f"standard output cannot be written: {exc.strerror or exc}", hint="what came out is no backup: remove it"
        ) from exc


def _told(manifest: BackupManifest) -> str:
    return ", ".join(count(number, noun) for noun, number in held(manifest) if number) or "nothing to keep yet"


def _notes(manifest: BackupManifest, path: Path, has_notes: bool) -> Iterator[str]:
    if manifest.masked_keys:
        yield f"{count(manifest.masked_keys, 'key')} of the configuration left out: --with-secrets keeps them"
    if not has_notes:
        yield "your notes are not in it: --notes takes them, too, if nothing else backs them up"
    yield f"to bring it back: memoryctl restore {path}"
