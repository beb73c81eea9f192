"""memoryctl backup, restore and workspace: save and restore all data that cannot be rebuilt, and move a workspace."""

import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

import click
from msgspec import to_builtins

from memoryd.cli.bars import byte_progress
from memoryd.cli.invocation import Invocation, argument, flag, unknown_agent, with_invocation
from memoryd.cli.terminal import count, discard_output, harmless_line, is_terminal, note, size, style
from memoryd.config.loading.load import Loaded, load
from memoryd.config.loading.masking import FolderReference, folder_references
from memoryd.config.paths import config_file, socket_path, state_dir
from memoryd.daemon.lock import DaemonLock
from memoryd.errors import InvalidRequest, NotFound, StoreUnavailable
from memoryd.moving.archive import BackupManifest, BackupPlaces, OpenBackup, open_backup
from memoryd.moving.backup import Restored, backup_sources, contents_of, stage_restore, write_backup
from memoryd.moving.replacing import Replacement, without_daemon
from memoryd.moving.workspace_move import (
    KnownWorkspace,
    MovePlan,
    carry_out,
    has_history,
    known_workspaces,
    move_plan,
)
from memoryd.wire import Exit

_SHOWN = 20


@click.command("backup")
@argument("file", help="The file to write; - is standard output, for a pipe.")
@flag("--notes", "has_notes", help="Include the notes themselves: MEMORY.md, memory/ and bank/.")
@flag("--with-secrets", "has_secrets", help="Keep the keys of the configuration.")
@flag("--force", help="Overwrite an existing file.")
@with_invocation
def backup_command(invocation: Invocation, file: str, has_notes: bool, has_secrets: bool, force: bool) -> Exit:
    """Write all data that cannot be rebuilt into one file, readable by you alone; works while memoryd runs.

    That is the history of every workspace (ledgers, what is forgotten and the keys of that), the conversations, and
    the configuration without its keys. Not in it: the index, which is rebuilt, models, and notes without --notes.
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
    contents = ", ".join(count(number, noun) for noun, number in contents_of(manifest) if number)
    line = f"{path}  {size(content or 0)}  {contents or 'nothing to keep yet'}"
    notes = list(_backup_notes(manifest, path, has_notes))
    if has_notes and any(agent.memory_search.extra_paths for agent in agents):
        notes.append("notes that only memorySearch.extraPaths names are not in it: back them up yourself")
    return invocation.show(reply, [line], notes)


@contextmanager
def _backup_target(file: str, *, force: bool) -> Iterator[IO[bytes]]:
    if file == "-":
        if is_terminal(sys.stdout):
            raise click.UsageError("a backup is no text: name a file, or send it into a pipe")
        try:
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        except OSError as exc:
            discard_output()
            why = f"standard output cannot be written: {exc.strerror or exc}"
            raise StoreUnavailable(why, hint="what came out is no backup: remove it") from exc
        return
    # here: only this command needs the module, which imports the file layer
    from memoryd.cli.written_file import open_for_export

    with open_for_export(Path(file), replaces=force) as out:
        yield out


def _backup_notes(manifest: BackupManifest, path: Path, has_notes: bool) -> Iterator[str]:
    if manifest.masked_keys:
        yield f"{count(manifest.masked_keys, 'key')} of the configuration left out: --with-secrets keeps them"
    if not has_notes:
        yield "your notes are not in it: --notes takes them, too, if nothing else backs them up"
    yield f"to bring it back: {shlex.join(['memoryctl', 'restore', str(path)])}"


@click.command("restore")
@argument("file", type=click.Path(path_type=Path), help="A file that memoryctl backup wrote.")
@flag("--dry-run", help="Verify the file, and say what would change; memoryd may run.")
@flag("--keep-config", help="Do not restore the configuration.")
@click.option(
    "--into",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="A folder of the backup that the configuration does not name; may be given again.",
)
@flag("-y", "--yes", help="Do not ask.")
@with_invocation
def restore_command(
    invocation: Invocation,
    file: Path,
    dry_run: bool,
    keep_config: bool,
    into: tuple[Path, ...],
    yes: bool,
) -> Exit:
    """Bring a backup back. Memoryd must be stopped; the file is verified first, and replaced files are kept.

    Existing notes stay unless the backup has another version of them. The index is rebuilt automatically. Memories
    forgotten since the backup stay forgotten. Only folders that the configuration or --into names are written.
    """
    state = state_dir()
    lock = DaemonLock(state, socket=socket_path())
    # open the file first, so that a file that is not a backup is rejected at once
    with (
        open_backup(file) as backup,
        without_daemon(lock, state, shlex.join(["memoryctl", "restore", str(file)]), is_look=dry_run) as notes,
    ):
        for finished in notes:
            note(finished)
        stage = partial(stage_restore, keeps_config=keep_config, into=into)
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
        if is_changing and not dry_run and not yes:
            _confirm(invocation, [*_changed_lines(result, is_done=False), _about(backup)])
    except BaseException:
        replacement.drop()
        raise
    if dry_run or not is_changing:
        replacement.drop()
    else:
        replacement.carry_out()
    folder = None if dry_run or not is_changing else replacement.folder
    reply = {
        "dryRun": dry_run,
        "madeAt": backup.manifest.made_at,
        "program": backup.manifest.program,
        **to_builtins(result, enc_hook=str),
        "kept": str(folder) if folder else None,
    }
    notes = _restore_notes(backup, result, folder, is_dry=dry_run)
    return invocation.show(reply, map(harmless_line, _changed_lines(result, is_done=not dry_run)), notes)


def _backup_places(backup: OpenBackup) -> BackupPlaces:
    return BackupPlaces(
        # resolved, so that a link to the configuration stays a link
        config=config_file().resolve(),
        state=state_dir(),
        folders=tuple(map(Path, backup.manifest.folders)),
        workspaces=tuple(Path(workspace.path) for workspace in backup.manifest.workspaces),
    )


def _confirm(invocation: Invocation, lines: list[str]) -> None:
    if invocation.is_json or not is_terminal(sys.stdin):
        raise InvalidRequest("this replaces files", hint="look with --dry-run, then give --yes")
    for line in lines:
        click.echo(harmless_line(line), err=True)
    click.confirm("Restore it?", abort=True, err=True)


def _about(backup: OpenBackup) -> str:
    manifest = backup.manifest
    names = ", ".join(f"{workspace.path} ({', '.join(workspace.agents)})" for workspace in manifest.workspaces)
    return f"made {manifest.made_at} by memoryd {manifest.program}, of {names or 'no workspace'}"


def _changed_lines(result: Restored, *, is_done: bool) -> list[str]:
    changed = [*((path, "replaced") for path in result.replaced), *((path, "added") for path in result.added)]
    shown = [f"{path}  {word if is_done else f'would be {word}'}" for path, word in changed[:_SHOWN]]
    return [*shown, *[f"… and {len(changed) - _SHOWN:,} more"] * (len(changed) > _SHOWN)]


def _restore_notes(backup: OpenBackup, result: Restored, folder: Path | None, *, is_dry: bool) -> Iterator[str]:
    yield _about(backup)
    yield from result.notes
    if result.same:
        yield f"{count(result.same, 'file')} as in the backup already"
    if result.carried:
        marks = count(result.carried, "mark")
        yield f"{marks} of what was forgotten since the backup kept: restored copies of that are removed again"
    for key in result.missing_keys:
        yield f"the configuration lacks a key, which is not in the backup: {key}"
    for path in (Path(workspace.path) for workspace in backup.manifest.workspaces):
        if not path.is_dir():
            yield f"there is no folder {path} here; if it lies elsewhere: {_command(path)} NEW"
    if folder is None:
        yield "nothing was changed: all is well so far" if is_dry else "nothing was changed: all is as in the backup"
        return
    yield f"what was replaced is kept in {folder}: delete that once all is well"
    yield "start memoryd, which rebuilds the index: memoryctl service start, or memoryd"


folder_type = click.Path(path_type=Path)


@click.group("workspace")
def workspace_command() -> None:
    """Show workspaces, and move one with its pins, history and what is forgotten."""


@workspace_command.command("list")
@with_invocation
def listing(invocation: Invocation) -> Exit:
    """List workspaces: those of the configuration, and those with stored data."""
    workspaces = known_workspaces(load().config.resolved_agents(), state_dir())
    notes = [text for workspace in workspaces for text in _move_notes(workspace)]
    return invocation.show(
        {"workspaces": to_builtins(workspaces, enc_hook=str)}, map(_workspace_line, workspaces), notes
    )


def _workspace_line(workspace: KnownWorkspace) -> str:
    place = "" if workspace.is_there else "  (no such folder)"
    if workspace.leads_to:
        place = f"  (a link to {workspace.leads_to} by now)"
    agents = ", ".join(workspace.agents) or "of no agent"
    return f"{style(str(workspace.path), bold=True)}  {agents}{place}  {size(workspace.bytes)} of state"


def _move_notes(workspace: KnownWorkspace) -> Iterator[str]:
    if workspace.leads_to and workspace.is_there:
        yield f"to have its history follow the link: {_command(workspace.path, workspace.leads_to)}"
    elif not workspace.is_there and has_history(workspace.state):
        yield f"moved elsewhere? {_command(workspace.path)} NEW"
    elif not workspace.is_there:
        yield f"moved elsewhere? then {workspace.path} is still in the configuration: change it there"


def _command(*paths: Path) -> str:
    return shlex.join(["memoryctl", "workspace", "move", *map(str, paths)])


@workspace_command.command("move")
@argument("old", type=folder_type, help="The current, or former, folder.")
@argument("new", type=folder_type, help="The new folder; it may exist already if you moved it.")
@flag("--dry-run", help="Only say what would be done.")
@with_invocation
def move(invocation: Invocation, old: Path, new: Path, dry_run: bool) -> Exit:
    """Move a workspace from OLD to NEW: the folder, unless you moved it already, and all that memoryd stores of it.

    Pins, history, what is forgotten, how memories are used and the steps of opinions move, too. Memoryd must be
    stopped. To undo it, move it back.
    """
    loaded, state = load(), state_dir()
    with without_daemon(DaemonLock(state, socket=socket_path()), state, _command(old, new)) as notes:
        for finished in notes:
            note(finished)
        plan = move_plan(old, new, loaded.config.resolved_agents())
        if not (plan.moves_folder or plan.is_copied or plan.old_state or plan.rows):
            raise NotFound(
                f"memoryd has no history of {plan.old}",
                hint="memoryctl workspace list shows the folders with state",
            )
        # before the folder moves, while links in paths still resolve to it
        lines: list[FolderReference] = []
        if (source := loaded.source) is not None:
            lines = folder_references(source.read_text("utf-8-sig"), source, plan.old, plan.new)
        stays = not dry_run and carry_out(plan)
    reply = {
        "old": str(plan.old),
        "new": str(plan.new),
        "dryRun": dry_run,
        "movedFolder": plan.moves_folder,
        "rows": plan.rows,
        "state": str(plan.new_state),
        "oldStays": stays,
        "config": to_builtins(lines),
    }
    moved = "would be moved" if dry_run else "moved"
    folder = "the folder and its state" if plan.moves_folder else "its state"
    line = f"{plan.old} → {plan.new}: {folder} {moved}, with {count(plan.rows, 'row')} of history"
    ways_back = ["nothing was changed"] if dry_run else _ways_back(plan, stays=stays)
    notes = [*_config_notes(loaded, plan, lines, is_dry=dry_run), *ways_back]
    return invocation.show(reply, [harmless_line(line)], notes)


def _config_notes(loaded: Loaded, plan: MovePlan, lines: list[FolderReference], *, is_dry: bool) -> Iterator[str]:
    for naming in lines:
        yield f"{loaded.source}:{naming.line}: change {naming.key} from {naming.said} to {naming.instead}"
    if lines and not is_dry:
        yield "do that before memoryd starts"
    workspaces = (os.path.realpath(agent.workspace) for agent in loaded.config.resolved_agents())
    if not lines and str(plan.old) in workspaces:
        yield f"no line of the configuration names {plan.old}: set agents.defaults.workspace to {plan.new}"
    if os.environ.get("MEMORYD_WORKSPACE"):
        yield "MEMORYD_WORKSPACE is set and goes before the configuration: see that it names the new folder"


def _ways_back(plan: MovePlan, *, stays: bool) -> Iterator[str]:
    """Yield how to undo a move; a copy or a link at the old path must be removed first."""
    back = _command(plan.new, plan.old)
    if stays:
        yield f"on another disk: {plan.new} is a copy, compared byte by byte; once memoryd uses it, delete {plan.old}"
        yield f"to take it back: {back} (once one of the two has changed, delete {plan.old} before)"
    else:
        yield f"to take it back: {f'remove the link {plan.old}, then ' if plan.old.is_symlink() else ''}{back}"
