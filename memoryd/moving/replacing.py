"""Replace many files together, while no daemon runs.

Nothing changes before the plan is written; after a kill later than that, the next run completes the replacement. The
replaced files are kept. <state>/replaced/<time>/new/… the new files; removed at the end old/… copies of the replaced
files plan.json the plan; a folder without it was left by a kill, and is removed
"""

import contextlib
import errno
import json
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Literal, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from memoryd.errors import AlreadyRunning, StoreUnavailable
from memoryd.files.writing import remove_drafts, replace_file, streamed_file, sync_file, sync_folder

FOLDER = "replaced"
PLAN = "plan.json"
_NEW, _OLD = "new", "old"
_UNCHANGED = "nothing was changed"


class ReplacedFile(Struct, frozen=True):
    """One file: its path, the new file (None: remove it), and the copy of the old file (None: there was none)."""

    target: str
    new: str | None
    old: str | None


class ReplacementPlan(Struct, frozen=True):
    """All files that are replaced together; `what` is a description for a person."""

    what: str
    state: Literal["going", "done"]
    pieces: tuple[ReplacedFile, ...]


class Replacement(Struct):
    """New files, prepared in a folder of their own; nothing outside of it changes before `carry_out`."""

    folder: Path
    what: str
    _staged: dict[Path, str | None] = {}
    _count: int = 0

    @classmethod
    def begin(cls, state: Path, what: str) -> Self:
        """Create the folder. Raises StoreUnavailable."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        number = 1
        while os.path.lexists(folder := state / FOLDER / (f"{stamp}.{number:03}")):
            number += 1
        with _on_disk(_UNCHANGED):
            for name in (_NEW, _OLD):
                (folder / name).mkdir(parents=True, mode=0o700)
        return cls(folder, what)

    @contextlib.contextmanager
    def put(self, target: Path) -> Iterator[IO[bytes]]:
        """Yield a file for the new content of a path; its path is `staged(target)`."""
        self._count += 1
        name = f"{_NEW}/{self._count:06}"
        with _on_disk(_UNCHANGED), (self.folder / name).open("xb") as file:
            yield file
        self._staged[target] = name

    def staged(self, target: Path) -> Path:
        """Return the file with the new content of a path."""
        return self.folder / str(self._staged[target])

    def has(self, target: Path) -> bool:
        """Return whether a path gets a new file."""
        return self._staged.get(target) is not None

    def remove(self, target: Path) -> None:
        """Stage the removal of a file."""
        self._staged[target] = None

    def leave(self, target: Path) -> None:
        """Discard what is staged for a path."""
        if (name := self._staged.pop(target, None)) is not None:
            (self.folder / name).unlink(missing_ok=True)

    def require_places(self, *, is_tried: bool = False) -> None:
        """Raise StoreUnavailable if a new file cannot be written. Only with `is_tried` the folders are created.

        This is checked first, since an error halfway would leave some files new and some old.
        """
        with _on_disk(_UNCHANGED):
            self._require_room()
        targets = {target for target, name in self._staged.items() if name}
        for target in targets:
            if above := targets.intersection(target.parents):
                raise StoreUnavailable(f"{above.pop()} would be both a file and a folder", hint=_UNCHANGED)
        for folder in sorted({target.parent for target in targets}):
            _require_place(folder, is_tried=is_tried)

    def _require_room(self) -> None:
        """Raise StoreUnavailable if a disk has no room for all new files, and for the copies of the old ones."""
        places, needed = dict[int, Path](), Counter[int]()
        for target, name in self._staged.items():
            above = next(path for path in (target.parent, *target.parents) if path.exists())
            new = self.folder / name if name else None
            for place, content in ((above, new), (self.folder, target)):
                device = place.stat().st_dev
                places[device] = place
                needed[device] += content.stat().st_size if content and content.exists() else 0
        for device, size in needed.items():
            disk = shutil.disk_usage(places[device])
            # some network file systems report no size
            if disk.total and disk.free < size:
                message = f"the disk of {places[device]} has {disk.free:,} bytes free, and {size:,} are needed"
                raise StoreUnavailable(message, hint=f"{_UNCHANGED}; make room, then do it again")

    def drop(self) -> None:
        """Discard everything; nothing has changed."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def carry_out(self) -> None:
        """Copy the old files, then write the new ones. Raises StoreUnavailable."""
        self.require_places(is_tried=True)
        with _on_disk(_UNCHANGED):
            for name in filter(None, self._staged.values()):
                # synced here, since it may have been changed after it was staged
                sync_file(self.folder / name)
            pieces = tuple(self._copy_old(at, target, new) for at, (target, new) in enumerate(self._staged.items()))
            for name in (_NEW, _OLD):
                sync_folder(self.folder / name)
            plan = ReplacementPlan(self.what, "going", pieces)
            _write_plan(self.folder, plan)
            sync_folder(self.folder.parent)
        _carry_out(self.folder, plan)

    def _copy_old(self, at: int, target: Path, new: str | None) -> ReplacedFile:
        if not os.path.lexists(target):
            return ReplacedFile(str(target), new, None)
        name = f"{_OLD}/{at:06}"
        with (self.folder / name).open("xb") as copy:
            _copy(target, copy)
        return ReplacedFile(str(target), new, name)


def interrupted(state: Path) -> Iterator[tuple[Path, ReplacementPlan | None]]:
    """Yield the folders of replacements that are not done, with their plans; None: nothing was replaced yet.

    Raises StoreUnavailable.
    """
    for folder in _folders(state):
        plan = _read_plan(folder)
        if plan is None or plan.state == "going":
            yield folder, plan


def complete_interrupted(state: Path) -> list[str]:
    """Complete replacements that a kill interrupted, and remove those without a plan. Return what was completed.

    The caller must have locked the state folder. Raises StoreUnavailable.
    """
    finished = []
    for folder, plan in interrupted(state):
        if plan is None:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            for parent in {Path(piece.target).parent for piece in plan.pieces}:
                remove_drafts(parent)
            _carry_out(folder, plan)
            finished.append(plan.what)
    return finished


def replaced_folder(state: Path) -> Path | None:
    """Return the folder with the replaced files, None if there are none."""
    return state / FOLDER if _folders(state) else None


def _carry_out(folder: Path, plan: ReplacementPlan) -> None:
    """Write all new files. Idempotent, so that it can be repeated after a kill."""
    with _on_disk(
        f"the next start finishes it; to give it up, put back what lies in {folder / _OLD}, by the {PLAN} beside it, "
        "delete what was not there before, and move that folder away"
    ):
        # removals first: SQLite would apply the log of an old database to the new one
        for piece in sorted(plan.pieces, key=lambda piece: piece.new is not None):
            _put_file(folder, piece.new, Path(piece.target))
        _write_plan(folder, replace(plan, state="done"))
    shutil.rmtree(folder / _NEW, ignore_errors=True)


def _put_file(folder: Path, name: str | None, target: Path) -> None:
    if name is None:
        target.unlink(missing_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with streamed_file(target, replaces=True) as file:
        _copy(folder / name, file)
    sync_folder(target.parent)


def _copy(path: Path, out: IO[bytes]) -> None:
    """Copy a file into an open one, and sync it."""
    with path.open("rb") as source:
        shutil.copyfileobj(source, out)
    out.flush()
    os.fsync(out.fileno())


def _require_place(folder: Path, *, is_tried: bool) -> None:
    """Raise StoreUnavailable unless files can be written into a folder, or it can be created.

    With `is_tried` that is tried, else only permissions are checked.
    """
    hint = f"{_UNCHANGED}; make {folder} a folder that you may write into, then do it again"
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    try:
        if not is_tried:
            above = missing[-1].parent if missing else folder
            if not above.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(above))
            if not os.access(above, os.W_OK | os.X_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(above))
            return
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as exc:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise StoreUnavailable(f"nothing can be written into {folder}: {exc}", hint=hint) from exc


def _folders(state: Path) -> list[Path]:
    try:
        return sorted(path for path in (state / FOLDER).iterdir() if path.is_dir() and not path.is_symlink())
    except FileNotFoundError:
        return []


def _write_plan(folder: Path, plan: ReplacementPlan) -> None:
    replace_file(folder / PLAN, json.dumps(msgspec.to_builtins(plan), indent=1).encode(), is_durable=True)


def _read_plan(folder: Path) -> ReplacementPlan | None:
    try:
        return msgspec.convert(json.loads((folder / PLAN).read_bytes()), ReplacementPlan)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as exc:
        raise StoreUnavailable(f"{folder / PLAN} cannot be read", hint="look at it, then move its folder away") from exc


@contextlib.contextmanager
def _on_disk(hint: str) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise StoreUnavailable(f"the disk refuses: {exc}", hint=hint) from exc


@contextlib.contextmanager
def without_daemon(
    lock: AbstractContextManager[object], state: Path, again: str, *, is_look: bool = False
) -> Iterator[list[str]]:
    """Lock out the daemon, complete interrupted replacements, and yield messages about them.

    With `is_look` (a dry run) the daemon may be running; a message says so. Otherwise raises AlreadyRunning, whose hint
    says how to stop it and which command to give `again`.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(lock)
        except AlreadyRunning as exc:
            if is_look:
                yield ["memoryd is running: stop it before you do this without --dry-run: memoryctl service stop"]
                return
            how = "stop it first: memoryctl service stop (or end it where you started it)"
            raise AlreadyRunning(str(exc), hint=f"{how}; then: {again}") from exc
        yield [f"finished what was cut short before: {what}" for what in complete_interrupted(state)]
