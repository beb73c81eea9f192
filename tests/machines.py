"""Two machines on one folder: two homes with a daemon each, and what carries files between them as a program does."""

import filecmp
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.daemon import RunningDaemon, write_config

SECRET = "three herons over the weir"
NEVER_TRAVELS = (".git/", ".memory/forgotten")


def machine(home: Path, secret: str | None = SECRET) -> RunningDaemon:
    """Return a daemon that is not started yet, with a home and a folder of its own."""
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    memory = {} if secret is None else {"memory": {"machines": {"secret": secret}}}
    return RunningDaemon(home, write_config(home, workspace, None, **memory), workspace)


class Carrier:
    """Carries files both ways, as Syncthing does: of two versions the newer stays, the other gets a name beside it."""

    def __init__(self, first: Path, second: Path) -> None:
        self._sides = first, second
        self._base: dict[str, bytes] = {}
        self.conflicts = 0

    def carry(self) -> None:
        """Bring both folders to the same state."""
        for name in sorted({*self._base, *_names(self._sides[0]), *_names(self._sides[1])}):
            self._carry(name)

    def _carry(self, name: str) -> None:
        first, second = (side / name for side in self._sides)
        was = self._base.get(name)
        now = [path.read_bytes() if path.exists() else None for path in (first, second)]
        if now[0] != now[1]:
            if now[0] == was:
                _put(second, first)
            elif now[1] == was:
                _put(first, second)
            elif None in now:
                # an edit is worth more than a deletion
                _put(*((first, second) if now[0] is not None else (second, first)))
            else:
                self._keep_both(first, second)
        if first.exists():
            self._base[name] = first.read_bytes()
        else:
            self._base.pop(name, None)

    def _keep_both(self, first: Path, second: Path) -> None:
        self.conflicts += 1
        newer, older = sorted((first, second), key=lambda path: -path.stat().st_mtime_ns)
        copy = f"{newer.stem}.sync-conflict-20261128-08000{self.conflicts}-ABCDEFG{newer.suffix}"
        shutil.copy2(older, newer.with_name(copy))
        _put(newer, older)
        _put(newer.with_name(copy), older.with_name(copy))
        self._base[str(newer.with_name(copy).relative_to(self._root_of(newer)))] = newer.with_name(copy).read_bytes()

    def _root_of(self, path: Path) -> Path:
        return next(side for side in self._sides if path.is_relative_to(side))

    @property
    def is_level(self) -> bool:
        """Whether both folders hold the same files."""
        first, second = map(set, map(_names, self._sides))
        return first == second and not any(
            not filecmp.cmp(self._sides[0] / name, self._sides[1] / name, shallow=False) for name in first
        )


def _names(side: Path) -> Iterator[str]:
    for path in side.rglob("*"):
        name = path.relative_to(side).as_posix()
        if path.is_file() and not name.startswith(NEVER_TRAVELS) and not path.name.startswith(".memoryd-"):
            yield name


def _put(source: Path, target: Path) -> None:
    if not source.exists():
        target.unlink(missing_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".memoryd-{target.name}.part")
    shutil.copy2(source, part)
    part.replace(target)
