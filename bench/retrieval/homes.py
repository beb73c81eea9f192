"""Homes of daemons that are kept from one evaluation to the next, because making vectors takes by far the longest.

A home belongs to a set, a model and this checkout. Vectors need no care: the index itself knows the text and the model
that each was made from. Its rows do not know the code that cut and stemmed them, so where that changed every note is
read anew, which is quick. What changed in `embed/` itself shows only after the home is discarded.
"""

import fcntl
import hashlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

import memoryd
from memoryd.config.paths import cache_dir

ROWS = ("domain/text", "files", "index", "store")
"""Rooms whose code decides what the rows of an index are."""


@dataclass(frozen=True, slots=True)
class Home:
    """A folder for the state of a daemon; `is_stale` if other code than today's read the notes."""

    folder: Path
    is_stale: bool

    def note_read(self) -> None:
        """Note that the code of today has read all notes."""
        (self.folder / "code").write_text(_code())


@contextmanager
def kept_home(questions: Path, model: str, *, fresh: bool) -> Iterator[Home]:
    """Yield the home of a set, a model and this checkout, for us alone; `fresh` discards what was kept."""
    shared = cache_dir() / "evaluation" / f"{questions.name}-{_digest(f'{questions.resolve()} {model}')}"
    folder = shared / _digest(str(Path(memoryd.__file__).resolve()))
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            raise click.ClickException(f"another evaluation is at work in {folder}") from exc
        if fresh:
            for name in ("state", "cache"):
                shutil.rmtree(folder / name, ignore_errors=True)
        elif not (folder / "state").exists():
            _take_over(shared, folder)
        code = folder / "code"
        is_stale = (folder / "state").exists() and not (code.exists() and code.read_text() == _code())
        yield Home(folder, is_stale)


def _take_over(shared: Path, folder: Path) -> None:
    """Copy the state from the home of another checkout, which saves making the same vectors again."""
    for other in sorted(shared.iterdir()):
        if not (other / "state").is_dir():
            continue
        with (other / "lock").open("a") as lock:
            try:
                # nobody may be writing what is copied
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            shutil.rmtree(folder / "taken", ignore_errors=True)
            shutil.copytree(other / "state", folder / "taken")
            (folder / "taken").rename(folder / "state")
            return


def _code() -> str:
    root = Path(memoryd.__file__).parent
    paths = sorted(path for room in ROWS for path in (root / room).rglob("*") if path.suffix in (".py", ".sql"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
