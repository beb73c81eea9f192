"""memoryctl workspace: which workspaces there are, and take one to another folder with all that is kept of it."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
from msgspec import to_builtins

from memoryd.cli.invocation import Invocation, argument, verb
from memoryd.cli.terminal import count, harmless_line, note, size, styled
from memoryd.config.loading.load import Loaded, load
from memoryd.config.loading.masking import FolderNaming, namings, renamed
from memoryd.config.paths import socket_path, state_dir
from memoryd.daemon.lock import DaemonLock
from memoryd.errors import NotFound, StoreUnavailable
from memoryd.files.reading import file_stat
from memoryd.files.writing import FileChangedError, replace_file
from memoryd.moving.replacing import without_daemon
from memoryd.moving.workspace_move import KnownWorkspace, MovePlan, carry_out, known_workspaces, move_plan
from memoryd.wire import Exit

folder_type = click.Path(path_type=Path)


@click.group("workspace")
def workspace_command() -> None:
    """Show workspaces, and move one with its pins, history and what is forgotten."""


@workspace_command.command("list")
@verb
def listing(invocation: Invocation) -> Exit:
    """List workspaces: those of the configuration, and those that something is kept of."""
    found = known_workspaces(load().config.resolved_agents(), state_dir())
    lines = map(_line, found)
    notes = [note for one in found for note in _move_notes(one)]
    return invocation.show({"workspaces": to_builtins(found, enc_hook=str)}, lines, notes)


def _line(one: KnownWorkspace) -> str:
    place = "" if one.is_there else "  (no such folder)"
    if one.leads_to:
        place = f"  (a link to {one.leads_to} by now)"
    agents = ", ".join(one.agents) or "of no agent"
    return f"{styled(str(one.path), bold=True)}  {agents}{place}  {size(one.bytes)} kept"


def _move_notes(one: KnownWorkspace) -> Iterator[str]:
    if one.leads_to and one.is_there:
        yield f"to have its history follow the link: {_command(one.path, one.leads_to)}"
    elif not one.is_there:
        yield f"moved elsewhere? {_command(one.path)} NEW"


def _command(*paths: Path) -> str:
    return shlex.join(["memoryctl", "workspace", "move", *map(str, paths)])


@workspace_command.command("move")
@argument("old", type=folder_type, help="The folder that it is, or was.")
@argument("new", type=folder_type, help="The folder that it is to be, or is by now.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--write-config", "writes_config", is_flag=True, help="Also name the new folder in the configuration.")
@verb
def move(invocation: Invocation, old: Path, new: Path, dry_run: bool, writes_config: bool) -> Exit:
    """Take a workspace from OLD to NEW: the folder, unless it is there already, and all that memoryd keeps of it.

    Pins, history, what is forgotten, how memories are used and the steps of opinions go along. Memoryd must be
    stopped. To take it back: move it back.
    """
    loaded, state = load(), state_dir()
    with without_daemon(
        DaemonLock(state, socket=socket_path()), state, f"memoryctl workspace move {old} {new}"
    ) as notes:
        for one in notes:
            note(one)
        plan = move_plan(old, new, loaded.config.resolved_agents())
        if not (plan.moves_folder or plan.is_copied or plan.old_state or plan.rows):
            raise NotFound(
                f"nothing is kept of {plan.old}", hint="memoryctl workspace list shows of which folders something is"
            )
        # before the folder moves: links on the way lead to it now
        source = loaded.source
        lines = namings(source.read_text("utf-8-sig"), source, plan.old, plan.new) if source is not None else []
        stays = not dry_run and carry_out(plan)
        written = writes_config and not dry_run and _write_config(loaded, lines)
    reply = {
        "old": str(plan.old),
        "new": str(plan.new),
        "dryRun": dry_run,
        "movedFolder": plan.moves_folder,
        "rows": plan.rows,
        "state": str(plan.new_state),
        "oldStays": stays,
        "configWritten": written,
        "config": [{"key": one.key, "line": one.line, "said": one.said, "instead": one.instead} for one in lines],
    }
    moved = "would be moved" if dry_run else "moved"
    folder = "the folder and what is kept of it" if plan.moves_folder else "what is kept of it"
    line = f"{plan.old} → {plan.new}: {folder} {moved}, {count(plan.rows, 'row')} of history"
    ways_back = ["nothing was changed"] if dry_run else _ways_back(plan, stays=stays)
    notes = [*_config_notes(loaded, plan, lines, written=written, is_dry=dry_run), *ways_back]
    return invocation.show(reply, [harmless_line(line)], notes)


def _write_config(loaded: Loaded, lines: list[FolderNaming]) -> bool:
    if loaded.source is None or not lines:
        return False
    path = Path(os.path.realpath(loaded.source))
    before = file_stat(path.stat())
    try:
        replace_file(path, renamed(path.read_text("utf-8"), lines).encode(), expected=before, is_durable=True)
    except (OSError, FileChangedError) as exc:
        raise StoreUnavailable(f"{path} cannot be written: {exc}", hint="name the new folder in it yourself") from exc
    return True


def _config_notes(
    loaded: Loaded, plan: MovePlan, lines: list[FolderNaming], *, written: bool, is_dry: bool
) -> Iterator[str]:
    for one in lines:
        said = f"now says {one.instead}" if written else f"is to say {one.instead} instead of {one.said}"
        yield f"{loaded.source}:{one.line}: {one.key} {said}"
    if lines and not written and not is_dry:
        yield "change that before memoryd starts; a move with --write-config does it by itself"
    if not lines and any(Path(os.path.realpath(one.workspace)) == plan.old for one in loaded.config.resolved_agents()):
        yield f"no line of the configuration names {plan.old}: set agents.defaults.workspace to {plan.new}"
    if os.environ.get("MEMORYD_WORKSPACE"):
        yield "MEMORYD_WORKSPACE is set and goes before the configuration: see that it names the new folder"


def _ways_back(plan: MovePlan, *, stays: bool) -> Iterator[str]:
    """Yield what takes a move back; what stands in the old place by then must not be in the way."""
    back = _command(plan.new, plan.old)
    if stays:
        yield f"it lies on another disk: {plan.new} is a copy, compared byte by byte; delete {plan.old} yourself"
        yield f"to take it back: {back} (once one of the two has changed, delete {plan.old} before)"
    else:
        yield f"to take it back: {f'remove the link {plan.old}, then ' if plan.old.is_symlink() else ''}{back}"
