"""Replace many files as good as at once, while no daemon runs: before the plan is written nothing has changed, and what
a kill left after that is finished by the next run. What was replaced is kept.

    <state>/replaced/<time>/new/…       the new files; gone at the end
                            old/…       the files before
                            plan.json   which is which; without it the folder is what a kill left, and goes
"""

import contextlib
import errno
import json
import os
import shutil
import tempfile
import time
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
    """One file: its path, the new file and the copy of the old one; None: there is none."""

    target: str
    new: str | None
    old: str | None


class ReplacementPlan(Struct, frozen=True):
    """All files that change places together; `what` tells a person what it was."""

    what: str
    state: Literal["going", "done"]
    pieces: tuple[ReplacedFile, ...]


class Replacement(Struct):
    """Files that are being prepared in a folder of their own; nothing outside of it changes before `carry_out`."""

    folder: Path
    what: str
    _wanted: dict[Path, str | None] = {}
    _made: int = 0

    @classmethod
    def begin(cls, state: Path, what: str) -> Self:
        """Make the folder; raises StoreUnavailable."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        number = 1
        while os.path.lexists(folder := state / FOLDER / (f"{stamp}.{number:03}")):
            number += 1
        with _on_disk(_UNCHANGED):
            for one in (_NEW, _OLD):
                (folder / one).mkdir(parents=True, mode=0o700)
        return cls(folder, what)

    @contextlib.contextmanager
    def put(self, target: Path) -> Iterator[IO[bytes]]:
        """Yield a file for the new content of a path; it lies at `staged(target)`."""
        self._made += 1
        name = f"{_NEW}/{self._made:06}"
        with _on_disk(_UNCHANGED), (self.folder / name).open("xb") as file:
            yield file
        self._wanted[target] = name

    def staged(self, target: Path) -> Path:
        """Return the file with the new content of a path."""
        return self.folder / str(self._wanted[target])

    def has(self, target: Path) -> bool:
        """Return whether a path gets a new file."""
        return self._wanted.get(target) is not None

    def remove(self, target: Path) -> None:
        """Have the file at a path removed."""
        self._wanted[target] = None

    def leave(self, target: Path) -> None:
        """Leave the file at a path as it is after all."""
        if (name := self._wanted.pop(target, None)) is not None:
            (self.folder / name).unlink(missing_ok=True)

    def require_places(self, *, is_tried: bool = False) -> None:
        """Raise StoreUnavailable where a file could not take its place; `is_tried` makes the folders, else none is.

        To find that halfway would leave some files new and some old.
        """
        wanted = {target for target, name in self._wanted.items() if name}
        for target in wanted:
            if above := wanted.intersection(target.parents):
                raise StoreUnavailable(f"{above.pop()} would be both a file and a folder", hint=_UNCHANGED)
        for folder in sorted({target.parent for target in wanted}):
            _require_place(folder, is_tried=is_tried)

    def drop(self) -> None:
        """Give it up: nothing has changed."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def carry_out(self) -> None:
        """Keep copies of the old files, then put the new ones in their places; raises StoreUnavailable."""
        self.require_places(is_tried=True)
        with _on_disk(_UNCHANGED):
            for name in filter(None, self._wanted.values()):
                # it may have been written to since it was staged
                sync_file(self.folder / name)
            pieces = tuple(self._keep_old(at, *one) for at, one in enumerate(self._wanted.items()))
            for name in (_NEW, _OLD):
                sync_folder(self.folder / name)
            plan = ReplacementPlan(self.what, "going", pieces)
            _write_plan(self.folder, plan)
            sync_folder(self.folder.parent)
        _carry_out(self.folder, plan)

    def _keep_old(self, at: int, target: Path, new: str | None) -> ReplacedFile:
        if not os.path.lexists(target):
            return ReplacedFile(str(target), new, None)
        name = f"{_OLD}/{at:06}"
        with (self.folder / name).open("xb") as copy:
            _copy(target, copy)
        return ReplacedFile(str(target), new, name)


def finish(state: Path) -> list[str]:
    """Finish what a kill left in the middle, and remove what it left before; return what was finished.

    Call it with the lock of the state folder held. Raises StoreUnavailable.
    """
    finished = []
    for folder in _folders(state):
        plan = _read_plan(folder)
        if plan is None:
            shutil.rmtree(folder, ignore_errors=True)
        elif plan.state == "going":
            for parent in {Path(piece.target).parent for piece in plan.pieces}:
                remove_drafts(parent)
            _carry_out(folder, plan)
            finished.append(plan.what)
    return finished


def replaced_folder(state: Path) -> Path | None:
    """Return the folder in which lies what was replaced; None where nothing does."""
    return state / FOLDER if _folders(state) else None


def _carry_out(folder: Path, plan: ReplacementPlan) -> None:
    """Put every file in its place: as often as it takes, for each time leads to the same."""
    with _on_disk(
        f"the next start finishes it; to give it up, put back what lies in {folder / _OLD}, by the {PLAN} beside it, "
        "delete what was not there before, and move that folder away"
    ):
        # the logs of databases go first: one beside another database than its own would be taken for that one's
        for piece in sorted(plan.pieces, key=lambda one: one.new is not None):
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
    """Copy a file into an open one, which then outlasts a loss of power."""
    with path.open("rb") as source:
        shutil.copyfileobj(source, out)
    out.flush()
    os.fsync(out.fileno())


def _require_place(folder: Path, *, is_tried: bool) -> None:
    """Raise StoreUnavailable unless files can be written into a folder, or it can be made."""
    hint = f"{_UNCHANGED}; make {folder} a folder that you may write into, then do it again"
    missing = [one for one in (folder, *folder.parents) if not os.path.lexists(one)]
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
        for one in missing:
            with contextlib.suppress(OSError):
                one.rmdir()
        raise StoreUnavailable(f"nothing can be written into {folder}: {exc}", hint=hint) from exc


def _folders(state: Path) -> list[Path]:
    try:
        return sorted(one for one in (state / FOLDER).iterdir() if one.is_dir() and not one.is_symlink())
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
    """Hold the lock of a daemon; what a kill left of a replacement is finished first, and told.

    Who only looks may do so beside a daemon, and is told. Raises AlreadyRunning, with how to stop it and the command to
    give then.
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
        yield [f"finished what was cut short before: {what}" for what in finish(state)]
