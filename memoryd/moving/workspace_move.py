"""Move a workspace with its state folder, which is named after the path; and list all known workspaces.

Each step is idempotent, so that the same command completes a move after a kill.
"""

import contextlib
import errno
import filecmp
import os
import shlex
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from memoryd.config.agents import Agent
from memoryd.config.paths import config_file, state_dir, state_dir_of_real_path, workspace_state_dir
from memoryd.errors import InvalidRequest, NotFound, StoreError, StoreUnavailable
from memoryd.moving.backup import KEY_SUFFIX, ledgers_below, workspace_owners
from memoryd.store.ledger.file import figures, is_ledger_name, rename_workspace, rows_of

_CACHES = ("index.sqlite", "index-", "conversations-")


class MovePlan(Struct, frozen=True):
    """The plan of a move; all paths are real paths."""

    old: Path
    new: Path
    moves_folder: bool
    old_state: Path | None
    new_state: Path
    makes_way: bool
    """Whether the state folder of the new path is removed first; it has only caches, which are created again."""
    ledgers: tuple[Path, ...]
    """The present paths of the ledgers that have rows of the workspace."""
    rows: int
    is_copied: bool = False
    """Whether the new folder is an exact copy already; then the old one is left to its owner."""


def move_plan(old: Path, new: Path, agents: Sequence[Agent]) -> MovePlan:
    """Check both paths and plan the move. Raises InvalidRequest or NotFound if it is impossible, and like `figures`."""
    link = _place_of_link(old, new)
    old, new = link or _real(old), _real(new)
    is_copied = not link and _check(old, new)
    old_state, new_state = state_dir_of_real_path(old), workspace_state_dir(new)
    ledgers = dict.fromkeys([*_ledgers_in(old_state), *_ledgers_in(new_state), *_configured_ledgers(agents, old, new)])
    counted = {ledger: figures(ledger).get(str(old), 0) for ledger in ledgers}
    has_state = old_state.is_dir()
    moves_folder = old.is_dir() and not (is_copied or link)
    if moves_folder:
        _require_workspace(old, agents, is_known=has_state or any(counted.values()))
    makes_way = has_state and new_state.is_dir()
    if makes_way and has_history(new_state):
        if moves_folder or has_history(old_state):
            aside = f"{new_state}-aside-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}"
            raise InvalidRequest(
                f"{new} has a history of its own in {new_state}",
                hint=f"nothing was changed; to do without that one: {shlex.join(['mv', str(new_state), aside])}",
            )
        # moved already, and memoryd ran with the old path since: it made caches there
        has_state = makes_way = False
    return MovePlan(
        old=old,
        new=new,
        moves_folder=moves_folder,
        old_state=old_state if has_state else None,
        new_state=new_state,
        makes_way=makes_way,
        ledgers=tuple(ledger for ledger, rows in counted.items() if rows),
        rows=sum(counted.values()),
        is_copied=is_copied,
    )


def carry_out(plan: MovePlan) -> bool:
    """Move the workspace. Return whether the old folder still exists.

    The caller must have locked out the daemon. After a StoreError, call it again: it continues where it stopped.
    """
    try:
        stays = _move_folder(plan.old, plan.new) if plan.moves_folder else plan.is_copied
        if plan.makes_way:
            shutil.rmtree(plan.new_state)
        if plan.old_state is not None:
            plan.old_state.rename(plan.new_state)
    except OSError as exc:
        again = "do it again: it goes on where it ended"
        raise StoreUnavailable(f"the disk refuses: {exc}", hint=again) from exc
    for ledger in plan.ledgers:
        rename_workspace(_now_at(ledger, plan), str(plan.old), str(plan.new))
    return stays


def has_history(state: Path) -> bool:
    """Return whether a state folder has more than caches: a ledger, or an unknown file."""
    return state.is_dir() and any(
        not path.name.startswith(_CACHES) or is_ledger_name(path.name) or path.name.endswith(KEY_SUFFIX)
        for path in state.iterdir()
    )


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _place_of_link(old: Path, new: Path) -> Path | None:
    """Return the old path if it is a symlink to the new one by now, and still has a state folder; else None."""
    link = _real(old.absolute().parent) / old.name
    has_moved = link.is_symlink() and _real(old) == _real(new) and state_dir_of_real_path(link).is_dir()
    return link if has_moved else None


def _check(old: Path, new: Path) -> bool:
    """Raise InvalidRequest or NotFound if the move is impossible. Return whether the new folder is a copy already."""
    if old == new:
        raise InvalidRequest(f"{old} and {new} are one folder")
    if new.is_relative_to(old) or old.is_relative_to(new):
        raise InvalidRequest(f"one of {old} and {new} lies in the other", hint="nothing was changed")
    if not old.is_dir() and not new.is_dir():
        raise NotFound(
            f"there is neither a folder {old} nor {new}", hint="memoryctl workspace list shows which are known"
        )
    # a rename replaces an empty folder
    is_free = not os.path.lexists(new) or (new.is_dir() and not any(new.iterdir()) and not new.is_mount())
    if is_free or not old.is_dir():
        return False
    # a copy to another disk was completed before a kill, or such a move is being reverted
    if new.is_dir() and any(old.iterdir()) and next(_differences(old, new), None) is None:
        return True
    raise InvalidRequest(
        f"both {old} and {new} are there, and are not the same",
        hint="nothing was changed; bring the notes together in the new one yourself, put the old one away, and do it "
        "again: what memoryd keeps of it follows",
    )


def _require_workspace(old: Path, agents: Sequence[Agent], *, is_known: bool) -> None:
    """Raise InvalidRequest for a folder that is no workspace, or that contains more than one workspace."""
    configured = {_real(agent.workspace) for agent in agents}
    if not is_known and old not in configured:
        raise InvalidRequest(
            f"{old} is no workspace: no agent has it, and memoryd has no state of it",
            hint="nothing was changed; memoryctl workspace list shows which there are; others are moved with mv",
        )
    within = {
        _real(state_dir()): "the state folder",
        _real(config_file()): "the configuration",
    }
    within |= dict.fromkeys(configured - {old}, "another workspace")
    within.setdefault(_real(Path.home()), "your home folder")
    for path, what in within.items():
        if path.is_relative_to(old):
            raise InvalidRequest(
                f"{what} lies in it: {path}", hint="nothing was changed; move the notes to a folder of their own first"
            )


def _ledgers_in(state: Path) -> Iterator[Path]:
    if state.is_dir():
        yield from (path for path in sorted(state.iterdir()) if is_ledger_name(path.name) and path.is_file())


def _configured_ledgers(agents: Sequence[Agent], old: Path, new: Path) -> Iterator[Path]:
    for agent in agents:
        for path in (agent.ledger_path, agent.with_other_ledger.ledger_path):
            ledger = _real(path.parent) / path.name
            # store.path may be inside the workspace, which may have been moved already
            moved = [new / ledger.relative_to(old)] if ledger.is_relative_to(old) else []
            yield from (candidate for candidate in (ledger, *moved) if candidate.is_file())


def _now_at(ledger: Path, plan: MovePlan) -> Path:
    """Return the path of a ledger after the folders have moved."""
    if plan.old_state is not None and ledger.is_relative_to(plan.old_state):
        return plan.new_state / ledger.relative_to(plan.old_state)
    if plan.moves_folder and ledger.is_relative_to(plan.old):
        return plan.new / ledger.relative_to(plan.old)
    return ledger


def _move_folder(old: Path, new: Path) -> bool:
    """Move the folder. Return True if it was copied to another disk, so that both folders exist."""
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        old.rename(new)
    except OSError as exc:
        if exc.errno != errno.EXDEV:
            raise
    else:
        return False
    _copy_folder(old, new)
    return True


def _copy_folder(old: Path, new: Path) -> None:
    """Copy a folder to another disk, completely or not at all. Raises StoreUnavailable, OSError."""
    draft = new.with_name(f".{new.name}.memoryd-copy")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        shutil.copytree(old, draft, symlinks=True)
        if (wrong := next(_differences(old, draft), None)) is not None:
            raise StoreUnavailable(
                f"{wrong} changed while it was copied", hint="close what writes there, then do it again"
            )
        draft.rename(new)
    except shutil.Error as exc:
        name, _, why = exc.args[0][0]
        hint = "nothing was changed, and the copy is gone; make room, or take that file away, then do it again"
        raise StoreUnavailable(f"{name} cannot be copied: {why}", hint=hint) from exc
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _differences(first: Path, second: Path) -> Iterator[Path]:
    """Yield the paths in the first folder that differ from the second folder."""
    for folder, inner, names in os.walk(first):
        counterpart = second / Path(folder).relative_to(first)
        if sorted(path.name for path in counterpart.iterdir()) != sorted([*inner, *names]):
            yield Path(folder)
        for name in [*names, *(name for name in inner if (Path(folder) / name).is_symlink())]:
            path = Path(folder) / name
            if not _is_same(path, counterpart / name):
                yield path


def _is_same(first: Path, second: Path) -> bool:
    """Return whether both are links with the same target, or regular files with the same bytes."""
    if first.is_symlink() or second.is_symlink():
        return first.is_symlink() and second.is_symlink() and first.readlink() == second.readlink()
    return first.is_file() and second.is_file() and filecmp.cmp(first, second, shallow=False)


class KnownWorkspace(Struct, frozen=True, rename="camel"):
    """A workspace (real path), its agents, whether its folder exists, and its state folder with the size in bytes."""

    path: Path
    agents: tuple[str, ...]
    is_there: bool
    state: Path
    bytes: int
    leads_to: Path | None = None
    """Target of the path if it is a symlink by now."""


def known_workspaces(agents: Sequence[Agent], state: Path) -> list[KnownWorkspace]:
    """Return all known workspaces by path; works while memoryd runs.

    A workspace that has only an index is left out unless it is configured: its path is unknown.
    """
    owners = workspace_owners(agents)
    for ledger in ledgers_below(state / "workspaces"):
        with contextlib.suppress(StoreError, OSError):
            for path in rows_of(ledger):
                owners.setdefault(Path(path), [])
    return [_known_workspace(path, tuple(owners[path])) for path in sorted(owners)]


def _known_workspace(path: Path, agents: tuple[str, ...]) -> KnownWorkspace:
    state, real = state_dir_of_real_path(path), _real(path)
    size = sum(file.stat().st_size for file in state.rglob("*") if file.is_file()) if state.is_dir() else 0
    return KnownWorkspace(path, agents, path.is_dir(), state, size, None if real == path else real)
