"""memoryctl backup and restore: one file of all that cannot be made anew, and bringing it back."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

import click
from msgspec import to_builtins

from memoryd.cli.bars import byte_progress
from memoryd.cli.invocation import Invocation, argument, unknown_agent, verb
from memoryd.cli.terminal import count, harmless_line, is_terminal, let_go_of_output, note, size
from memoryd.config.loading.load import load
from memoryd.config.paths import config_file, socket_path, state_dir
from memoryd.daemon.lock import DaemonLock
from memoryd.errors import InvalidRequest, StoreUnavailable
from memoryd.moving.archive import BackupManifest, BackupPlaces, OpenBackup, open_backup
from memoryd.moving.backup import backup_sources, contents_of, write_backup
from memoryd.moving.replacing import Replacement, without_daemon
from memoryd.moving.restore import Restored, staged
from memoryd.wire import Exit

_SHOWN = 20


@click.command("backup")
@argument("file", help="The file to write; - is standard output, for a pipe.")
@click.option(
    "--notes", "has_notes", is_flag=True, help="Take the notes themselves, too: MEMORY.md, memory/ and bank/."
)
@click.option("--with-secrets", "has_secrets", is_flag=True, help="Keep the keys that stand in the configuration.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@verb
def backup_command(invocation: Invocation, file: str, has_notes: bool, has_secrets: bool, force: bool) -> Exit:
    """Write all that cannot be made anew into one file, for you alone; works while memoryd runs.

    That is the history of every workspace (ledgers, what is forgotten and the keys of that), the conversations, and
    the configuration without its keys. Not in it: the index, which is made anew, models, and notes without --notes.
    """
    loaded = load()
    agents = loaded.config.resolved_agents()
    if invocation.agent is not None and invocation.agent not in {agent.id for agent in agents}:
        raise unknown_agent(invocation.agent, (agent.id for agent in agents))
    sources = backup_sources(
        agents, state=state_dir(), config=loaded.source, only=invocation.agent, has_notes=has_notes
    )
    with _backup_target(file, force=force) as out, byte_progress("backup", None) as report:
        manifest = write_backup(
            out, sources, state=state_dir(), has_notes=has_notes, has_secrets=has_secrets, report=report
        )
        content = out.tell() if file != "-" else None
    if file == "-":
        return Exit.DONE
    path = Path(file).absolute()
    reply = {"file": str(path), "bytes": content, **to_builtins(manifest)}
    contents = (
        ", ".join(count(number, noun) for noun, number in contents_of(manifest) if number) or "nothing to keep yet"
    )
    return invocation.show(
        reply, [f"{path}  {size(content or 0)}  {contents}"], _backup_notes(manifest, path, has_notes)
    )


@contextmanager
def _backup_target(file: str, *, force: bool) -> Iterator[IO[bytes]]:
    if file == "-":
        if is_terminal(sys.stdout):
            raise click.UsageError("a backup is no text: name a file, or send it into a pipe")
        try:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except OSError as exc:
            let_go_of_output()
            why = f"standard output cannot be written: {exc.strerror or exc}"
            raise StoreUnavailable(why, hint="what came out is no backup: remove it") from exc
        return
    # here: only this needs a room that touches files
    from memoryd.cli.written_file import streamed

    with streamed(Path(file), replaces=force) as out:
        yield out


def _backup_notes(manifest: BackupManifest, path: Path, has_notes: bool) -> Iterator[str]:
    if manifest.masked_keys:
        yield f"{count(manifest.masked_keys, 'key')} of the configuration left out: --with-secrets keeps them"
    if not has_notes:
        yield "your notes are not in it: --notes takes them, too, if nothing else backs them up"
    yield f"to bring it back: memoryctl restore {path}"


@click.command("restore")
@argument("file", type=click.Path(path_type=Path), help="A file that memoryctl backup wrote.")
@click.option("--dry-run", is_flag=True, help="Verify all of it, and say what would change; memoryd may run.")
@click.option("--keep-config", is_flag=True, help="Leave the configuration as it is.")
@click.option(
    "--into",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="A folder of the backup that the configuration does not name; may be given again.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@verb
def restore_command(
    invocation: Invocation,
    file: Path,
    dry_run: bool,
    keep_config: bool,
    into: tuple[Path, ...],
    yes: bool,
) -> Exit:
    """Bring a backup back. Memoryd must be stopped; all is verified first, and what is replaced is kept.

    Notes that are there now stay unless the backup has another version of them. The index is made anew by itself.
    What was forgotten since the backup was made stays forgotten. Only folders that the configuration names, or --into,
    are written into.
    """
    state = state_dir()
    lock = DaemonLock(state, socket=socket_path())
    # a file that is no backup is refused before anything else is asked for
    with (
        open_backup(file) as backup,
        without_daemon(lock, state, f"memoryctl restore {file}", is_look=dry_run) as notes,
    ):
        for finished in notes:
            note(finished)
        stage = partial(staged, keeps_config=keep_config, into=into)
        return _restore(invocation, backup, state, stage, dry_run=dry_run, yes=yes)


def _restore(
    invocation: Invocation,
    backup: OpenBackup,
    state: Path,
    stage: Callable[..., Restored],
    *,
    dry_run: bool,
    yes: bool,
) -> Exit:
    total = sum(member.bytes for member in backup.manifest.members)
    replacement = Replacement.begin(state, f"restore of {backup.file.absolute()}")
    try:
        with byte_progress("verifying", total) as report:
            result = stage(backup, _backup_places(backup), replacement, report)
        is_changing = bool(result.replaced or result.added)
        if is_changing and not dry_run:
            _confirm(invocation, [*_changed_lines(result), _about(backup)], is_agreed=yes)
    except BaseException:
        replacement.drop()
        raise
    if dry_run or not is_changing:
        replacement.drop()
    else:
        replacement.carry_out()
    kept = None if dry_run or not is_changing else replacement.folder
    reply = {
        "dryRun": dry_run,
        "madeAt": backup.manifest.made_at,
        "program": backup.manifest.program,
        **to_builtins(result, enc_hook=str),
        "kept": str(kept) if kept else None,
    }
    lines, notes = map(harmless_line, _changed_lines(result)), _restore_notes(backup, result, kept, is_dry=dry_run)
    return invocation.show(reply, lines, notes)


def _backup_places(backup: OpenBackup) -> BackupPlaces:
    return BackupPlaces(
        # a link to the configuration stays one
        config=config_file().resolve(),
        state=state_dir(),
        folders=tuple(map(Path, backup.manifest.folders)),
        workspaces=tuple(Path(one.path) for one in backup.manifest.workspaces),
    )


def _confirm(invocation: Invocation, lines: list[str], *, is_agreed: bool) -> None:
    if is_agreed:
        return
    if invocation.is_json or not is_terminal(sys.stdin):
        raise InvalidRequest("this replaces files", hint="look with --dry-run, then give --yes")
    for line in lines:
        click.echo(harmless_line(line), err=True)
    click.confirm("Restore it?", abort=True, err=True)


def _about(backup: OpenBackup) -> str:
    made = backup.manifest
    names = ", ".join(f"{one.path} ({', '.join(one.agents)})" for one in made.workspaces)
    return f"made {made.made_at} by memoryd {made.program}, of {names or 'no workspace'}"


def _changed_lines(result: Restored) -> list[str]:
    changed = [*((path, "replaced") for path in result.replaced), *((path, "new") for path in result.added)]
    shown = [f"{path}  {word}" for path, word in changed[:_SHOWN]]
    return [*shown, *[f"… and {len(changed) - _SHOWN:,} more"] * (len(changed) > _SHOWN)]


def _restore_notes(backup: OpenBackup, result: Restored, folder: Path | None, *, is_dry: bool) -> Iterator[str]:
    yield _about(backup)
    yield from result.notes
    if result.same:
        yield f"{count(result.same, 'file')} as in the backup already"
    if result.carried:
        marks = count(result.carried, "mark")
        yield f"{marks} of what was forgotten since the backup kept: what comes back of that is taken out again"
    for key in result.missing_keys:
        yield f"the configuration lacks a key, which is not in the backup: {key}"
    for one in backup.manifest.workspaces:
        if not Path(one.path).is_dir():
            yield f"there is no folder {one.path} here; if it lies elsewhere: memoryctl workspace move {one.path} NEW"
    if folder is None:
        yield "nothing was changed: all is well so far" if is_dry else "nothing was changed: all is as in the backup"
        return
    yield f"what was replaced is kept in {folder}: delete that once all is well"
    yield "start memoryd, which makes the index anew: memoryctl service start"
