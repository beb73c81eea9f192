"""Moving a workspace with its state folder, which is named after the path; and all known workspaces.

Each step gives the same when it is done again, so that the same command finishes what a kill left.
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
from memoryd.config.paths import config_file, state_dir, state_dir_named, workspace_state_dir
from memoryd.errors import InvalidRequest, NotFound, StoreError, StoreUnavailable
from memoryd.moving.backup import KEY_SUFFIX, ledgers_below, workspace_owners
from memoryd.store.ledger.file import figures, is_ledger_name, rename_workspace, rows_of

_CACHES = ("index.sqlite", "index-", "conversations-")


class MovePlan(Struct, frozen=True):
    """What is to be done; paths are real."""

    old: Path
    new: Path
    moves_folder: bool
    old_state: Path | None
    new_state: Path
    makes_way: bool
    """Whether caches of the new place go first; they are made anew."""
    ledgers: tuple[Path, ...]
    """Those that have rows of the workspace, as they lie now."""
    rows: int
    is_copied: bool = False
    """Whether the new folder is a copy already, byte by byte: then the old one is left to its owner."""


def move_plan(old: Path, new: Path, agents: Sequence[Agent]) -> MovePlan:
    """Look at both places; raises InvalidRequest and NotFound for what cannot be, and what `figures` raises."""
    left = _place_of_link(old, new)
    old, new = left or _real(old), _real(new)
    is_copied = not left and _check(old, new)
    old_state, new_state = state_dir_named(old), workspace_state_dir(new)
    ledgers = dict.fromkeys([*_ledgers_in(old_state), *_ledgers_in(new_state), *_configured_ledgers(agents, old, new)])
    counted = {one: figures(one).get(str(old), 0) for one in ledgers}
    is_kept = old_state.is_dir()
    moves_folder = old.is_dir() and not (is_copied or left)
    if moves_folder:
        _require_workspace(old, agents, is_known=is_kept or any(counted.values()))
    if makes_way := is_kept and new_state.is_dir():
        _require_no_history(new, new_state)
    return MovePlan(
        old=old,
        new=new,
        moves_folder=moves_folder,
        old_state=old_state if is_kept else None,
        new_state=new_state,
        makes_way=makes_way,
        ledgers=tuple(one for one, rows in counted.items() if rows),
        rows=sum(counted.values()),
        is_copied=is_copied,
    )


def carry_out(plan: MovePlan) -> bool:
    """Move all; return whether the old folder is still there.

    With the lock of the daemon held. Raises StoreError: then do it again, it goes on where it ended.
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


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _place_of_link(old: Path, new: Path) -> Path | None:
    """Return the old place where a link was left there that leads to the new one, and something is kept of it."""
    written = _real(old.absolute().parent) / old.name
    is_left = written.is_symlink() and _real(old) == _real(new) and state_dir_named(written).is_dir()
    return written if is_left else None


def _check(old: Path, new: Path) -> bool:
    """Raise InvalidRequest or NotFound for what cannot be; return whether the new folder is a copy already."""
    if old == new:
        raise InvalidRequest(f"{old} and {new} are one folder")
    if new.is_relative_to(old) or old.is_relative_to(new):
        raise InvalidRequest(f"one of {old} and {new} lies in the other", hint="nothing was changed")
    if not old.is_dir() and not new.is_dir():
        raise NotFound(
            f"there is neither a folder {old} nor {new}", hint="memoryctl workspace list shows which are known"
        )
    if not (os.path.lexists(new) and old.is_dir()):
        return False
    # a copy to another disk was finished before a kill; or such a move is taken back
    if new.is_dir() and any(old.iterdir()) and next(_differences(old, new), None) is None:
        return True
    raise InvalidRequest(
        f"both {old} and {new} are there, and are not the same",
        hint="nothing was changed; bring the notes together in the new one yourself, put the old one away, and do it "
        "again: what memoryd keeps of it follows",
    )


def _require_workspace(old: Path, agents: Sequence[Agent], *, is_known: bool) -> None:
    """Raise InvalidRequest for a folder that is no workspace, or that holds more than one: other programs need it."""
    configured = {_real(agent.workspace) for agent in agents}
    if not is_known and old not in configured:
        raise InvalidRequest(
            f"{old} is no workspace: no agent has it, and nothing is kept of it",
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
        yield from (one for one in sorted(state.iterdir()) if is_ledger_name(one.name) and one.is_file())


def _configured_ledgers(agents: Sequence[Agent], old: Path, new: Path) -> Iterator[Path]:
    for path in (one.ledger_path for agent in agents for one in (agent, agent.former)):
        ledger = _real(path.parent) / path.name
        # store.path may lie in the workspace, which may have gone already
        inside = [new / ledger.relative_to(old)] if ledger.is_relative_to(old) else []
        yield from (one for one in (ledger, *inside) if one.is_file())


def _now_at(ledger: Path, plan: MovePlan) -> Path:
    """Return where a ledger lies once the folders have moved."""
    if plan.old_state is not None and ledger.is_relative_to(plan.old_state):
        return plan.new_state / ledger.relative_to(plan.old_state)
    if plan.moves_folder and ledger.is_relative_to(plan.old):
        return plan.new / ledger.relative_to(plan.old)
    return ledger


def _require_no_history(new: Path, state: Path) -> None:
    """Raise InvalidRequest for a state folder that is not all made anew by itself: a ledger, or what we do not know."""
    aside = f"{state}-aside-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}"
    for one in state.iterdir():
        if not one.name.startswith(_CACHES) or is_ledger_name(one.name) or one.name.endswith(KEY_SUFFIX):
            raise InvalidRequest(
                f"{new} has a history of its own in {state}",
                hint=f"nothing was changed; to do without that one: {shlex.join(['mv', str(state), aside])}",
            )


def _move_folder(old: Path, new: Path) -> bool:
    """Move the folder; return True if it was copied to another disk, so that it is in both places."""
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
    """Copy to another disk, whole or not at all; raises StoreUnavailable, OSError."""
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


def _differences(one: Path, other: Path) -> Iterator[Path]:
    """Yield what two folders do not have in common."""
    for folder, inner, names in os.walk(one):
        there = other / Path(folder).relative_to(one)
        if sorted(path.name for path in there.iterdir()) != sorted([*inner, *names]):
            yield Path(folder)
        for name in [*names, *(name for name in inner if (Path(folder) / name).is_symlink())]:
            path = Path(folder) / name
            if not _is_same(path, there / name):
                yield path


def _is_same(one: Path, other: Path) -> bool:
    """Return whether two are the same link, or regular files with the same bytes; nothing else is opened."""
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


class KnownWorkspace(Struct, frozen=True, rename="camel"):
    """A workspace (real path), whose it is, whether there is such a folder, and how much is kept of it."""

    path: Path
    agents: tuple[str, ...]
    is_there: bool
    state: Path
    bytes: int
    leads_to: Path | None = None
    """Where it leads, if it is a link by now."""


def known_workspaces(agents: Sequence[Agent], state: Path) -> list[KnownWorkspace]:
    """Find them, by path; works while memoryd runs. What only an index is kept of has no name, and is left out."""
    owners = workspace_owners(agents)
    for ledger in ledgers_below(state / "workspaces"):
        with contextlib.suppress(StoreError, OSError):
            for path in rows_of(ledger):
                owners.setdefault(Path(path), [])
    return [_known(path, tuple(owners[path])) for path in sorted(owners)]


def _known(path: Path, agents: tuple[str, ...]) -> KnownWorkspace:
    state, real = state_dir_named(path), _real(path)
    kept = sum(one.stat().st_size for one in state.rglob("*") if one.is_file()) if state.is_dir() else 0
    return KnownWorkspace(path, agents, path.is_dir(), state, kept, None if real == path else real)
