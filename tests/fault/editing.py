"""A thread that edits a workspace continuously, with an oracle that knows what it did."""

import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.fault import editors
from tests.fault.model import ALWAYS_HIDDEN, AT_TIMES_HIDDEN, HUSHED, Oracle, document, of_size, paragraph

MAX_FILES = 80
LENGTHS, SHORT = (1, 2, 3, 5, 8, 60), (1, 2, 3)
"""Lengths of documents in paragraphs; the short ones are for tests with a model."""
MAX_BYTES = 60_000
FOLDERS = ("memory", "memory/daily", "memory/projects", "bank", AT_TIMES_HIDDEN[:-1], ALWAYS_HIDDEN[:-1])
IGNORE_FILE = ".memoryignore"
QUIET, CALM_SECONDS = "memory/quiet", 4.0
"""A folder whose documents are left alone until their times are old enough to be trusted."""
MAX_TRIES = 50
"""Number of files created to get a certain inode."""


class Editor:
    """Makes random edits; `actions` counts them by name, `rnd` decides everything."""

    def __init__(
        self,
        workspace: Path,
        outside: Path,
        rnd: random.Random,
        log: Callable[[str], None],
        lengths: Sequence[int] = LENGTHS,
    ) -> None:
        self.oracle = Oracle()
        self.actions: dict[str, int] = {}
        self.reused = 0
        """How often a new file got the inode of one that was just removed."""
        self._workspace = workspace
        self._outside = outside
        self._rnd = rnd
        self._log = log
        self._lengths = lengths
        self._serial = 0
        self._calm_since: dict[str, float] = {}
        """Time (monotonic seconds) since which each document of the quiet folder is left alone."""

    def fill(self, files: int) -> None:
        """Write the first documents, and half as many that are left alone at first."""
        self._outside.mkdir(parents=True, exist_ok=True)
        (self._workspace / IGNORE_FILE).write_bytes(_ignoring(self.oracle.hidden))
        self._save("MEMORY.md", self._document(), editors.mkdirp_write)
        for _ in range(files - 1):
            self._save(self._new_path(), self._document(), editors.mkdirp_write)
        for number in range(files // 2):
            self._save(f"{QUIET}/{number}.md", self._document(), editors.mkdirp_write)
            self._calm_since[f"{QUIET}/{number}.md"] = time.monotonic()

    def act(self) -> None:
        """Do one random edit."""
        chosen = self._rnd.choices(list(_WEIGHTS), weights=list(_WEIGHTS.values()))[0]
        _ACTIONS[chosen](self)
        self.actions[chosen] = self.actions.get(chosen, 0) + 1

    def pause(self) -> None:
        """Wait as long as a program might between two system calls."""
        time.sleep(self._rnd.choice((0.0, 0.0, 0.001, 0.003)))

    def save(self) -> None:
        """Save a document, old or new, like some editor."""
        path = self._some_path() if self._rnd.random() < 0.8 else self._new_path()
        data = self._document()
        self._save(path, data, self._rnd.choice(list(editors.SAVES.values())))

    def append(self) -> None:
        """Add a paragraph at the end of a document."""
        path = self._some_path()
        old = self.oracle.files[path]
        if len(old) > MAX_BYTES:
            return self.save()
        added = ("\n" + paragraph(self._rnd, 12)).encode()
        self._log(f"append {path}")
        self.oracle.announce(path, old + added)
        editors.append(self._workspace / path, added, self.pause)
        self.oracle.wrote(path, old + added)
        return None

    def delete(self) -> None:
        """Remove a document."""
        path = self._some_path()
        if len(self.oracle.files) < 5:
            return
        self._log(f"delete {path}")
        (self._workspace / path).unlink()
        self.oracle.removed(path)

    def rename(self) -> None:
        """Give a document another name, perhaps in another folder."""
        self._move(self._some_path(), self._new_path())

    def rename_over(self) -> None:
        """Rename a document over another one."""
        old, new = self._some_path(), self._some_path()
        if old != new and len(self.oracle.files) > 5:
            self._move(old, new)

    def folder_out(self) -> None:
        """Move a whole folder out of the workspace."""
        folder = f"memory/moved{self._serial}"
        self._serial += 1
        for number in range(3):
            self._save(f"{folder}/{number}/note.md", document(self._rnd, 2), editors.mkdirp_write)
        target = self._outside / folder.replace("/", "-")
        (self._workspace / folder).rename(target)
        for number in range(3):
            self.oracle.removed(f"{folder}/{number}/note.md")
        self._log(f"folder out {folder}")
        shutil.rmtree(target)

    def folder_in(self) -> None:
        """Move a whole folder into the workspace."""
        source = self._outside / f"in{self._serial}"
        folder = f"memory/in{self._serial}"
        self._serial += 1
        texts = {f"{number}.md": document(self._rnd, 2) for number in range(3)}
        source.mkdir()
        for name, data in texts.items():
            (source / name).write_bytes(data)
            self.oracle.announce(f"{folder}/{name}", data)
        self._log(f"folder in {folder}")
        (self._workspace / "memory").mkdir(exist_ok=True)
        source.rename(self._workspace / folder)
        for name, data in texts.items():
            self.oracle.wrote(f"{folder}/{name}", data)

    def link(self) -> None:
        """Create a symlink that must never be followed, for a moment."""
        secret = self._outside / "secret.md"
        secret.write_text("mkeeeeeeeeeeee must never be found\n")
        link = self._workspace / "bank" / "linked.md"
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(secret)
        self.pause()
        link.unlink()

    def noise(self) -> None:
        """Create temporary files of editors for a moment."""
        (self._workspace / "memory").mkdir(exist_ok=True)
        editors.noise(self._workspace / "memory", self.pause)

    def chmod(self) -> None:
        """Change the mode and nothing else."""
        (self._workspace / self._some_path()).chmod(self._rnd.choice((0o600, 0o640, 0o644)))

    def hard_link(self) -> None:
        """Edit a document through another hard link, which causes no event."""
        path = self._some_path()
        other = self._outside / "other-name"
        other.unlink(missing_ok=True)
        os.link(self._workspace / path, other)
        data = self._document()
        self._log(f"hard link {path}")
        self.oracle.announce(path, data)
        other.write_bytes(data)
        self.oracle.wrote(path, data)
        other.unlink()

    def impostor(self) -> None:
        """Replace a document by another text and name, with the same size, time and, if possible, inode."""
        if old := self._quiet():
            self._serial += 1
            self._replace(old, f"{QUIET}/note{self._serial}.md")

    def unpack(self) -> None:
        """Replace a document by another text of its name, size and time, like unpacking an archive."""
        if path := self._quiet():
            self._replace(path, path)

    def retouch(self) -> None:
        """Overwrite a document with a text of its size, and restore its time."""
        path = self._quiet() or self._some_path()
        target = self._workspace / path
        before = target.stat()
        data = of_size(self._document(), before.st_size)
        self._log(f"retouch {path}")
        self.oracle.announce(path, data)
        with target.open("r+b") as file:
            file.write(data)
        os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.oracle.wrote(path, data)
        if path.startswith(QUIET):
            self._calm_since[path] = time.monotonic()

    def hush(self) -> None:
        """Make a document private by its front matter."""
        path = self._some_path()
        self._save(path, HUSHED + self.oracle.files[path], self._rnd.choice(list(editors.SAVES.values())))

    def ignore(self) -> None:
        """Ignore other folders; the ignore file is saved like by some editor."""
        hidden = self._rnd.choice(((ALWAYS_HIDDEN,), (ALWAYS_HIDDEN, AT_TIMES_HIDDEN)))
        self._log(f"ignore {hidden}")
        if len(hidden) < len(self.oracle.hidden):
            # documents may become visible from the first byte of the save on
            self.oracle.hide(hidden)
        self._rnd.choice(list(editors.SAVES.values()))(self._workspace / IGNORE_FILE, _ignoring(hidden), self.pause)
        self.oracle.hide(hidden)

    def ignore_moved(self) -> None:
        """Remove the ignore file, or replace it by something unreadable, for a moment."""
        path, aside = self._workspace / IGNORE_FILE, self._outside / "ignore"
        harm = self._rnd.choice(("gone", "folder", "fifo", "rubbish"))
        self._log(f"ignore file {harm}")
        path.rename(aside)
        if harm == "folder":
            path.mkdir()
        elif harm == "fifo":
            os.mkfifo(path)
        elif harm == "rubbish":
            path.write_bytes(b"\xff\xfe\xd8" + self._rnd.randbytes(31))
        self.pause()
        if harm == "folder":
            path.rmdir()
        aside.rename(path)

    def _replace(self, old: str, new: str) -> None:
        """Remove `old` and write `new` with another text of the same size, time and, if possible, inode."""
        before = (self._workspace / old).stat()
        data = of_size(self._document(), before.st_size)
        self._log(f"replace {old} by {new}")
        self.oracle.announce(new, data)
        (self._workspace / old).unlink()
        self.oracle.removed(old)
        made = self._with_inode(before.st_ino, data)
        os.utime(made, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.reused += made.stat().st_ino == before.st_ino
        (self._workspace / new).parent.mkdir(parents=True, exist_ok=True)
        made.rename(self._workspace / new)
        self.oracle.wrote(new, data)
        self._calm_since[new] = time.monotonic()

    def _with_inode(self, inode: int, data: bytes) -> Path:
        """Write a file outside, with the inode if the disk reuses it soon."""
        tries = []
        for number in range(MAX_TRIES):
            tries.append(self._outside / f"try{number}")
            tries[-1].write_bytes(data)
            if tries[-1].stat().st_ino == inode:
                break
        for path in tries[:-1]:
            path.unlink()
        return tries[-1]

    def _save(self, path: str, data: bytes, save: editors.Save) -> None:
        self._log(f"{save.__name__} {path} {len(data)}")
        self.oracle.announce(path, data)
        target = self._workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        save(target, data, self.pause)
        self.oracle.wrote(path, data)

    def _move(self, old: str, new: str) -> None:
        self._log(f"rename {old} {new}")
        self.oracle.announce(new, self.oracle.files[old])
        (self._workspace / new).parent.mkdir(parents=True, exist_ok=True)
        (self._workspace / old).rename(self._workspace / new)
        self.oracle.moved(old, new)

    def _document(self) -> bytes:
        return document(self._rnd, self._rnd.choice(self._lengths))

    def _some_path(self) -> str:
        return self._rnd.choice([path for path in self.oracle.files if path not in self._calm_since])

    def _quiet(self) -> str | None:
        """Return a document left alone long enough for its times to be trusted, or None."""
        calm = [path for path, since in self._calm_since.items() if time.monotonic() - since > CALM_SECONDS]
        path = self._rnd.choice(calm) if calm else None
        self._calm_since.pop(path or "", None)
        return path

    def _new_path(self) -> str:
        if len(self.oracle.files) >= MAX_FILES:
            return self._some_path()
        self._serial += 1
        return f"{self._rnd.choice(FOLDERS)}/note{self._serial}.md"


_WEIGHTS = {
    "save": 60,
    "append": 12,
    "delete": 5,
    "rename": 5,
    "rename_over": 2,
    "folder_out": 2,
    "folder_in": 2,
    "link": 2,
    "noise": 4,
    "chmod": 3,
    "hard_link": 3,
    "impostor": 6,
    "unpack": 2,
    "retouch": 3,
    "hush": 2,
    "ignore": 3,
    "ignore_moved": 3,
}
_ACTIONS: dict[str, Callable[[Editor], None]] = {name: getattr(Editor, name) for name in _WEIGHTS}


def _ignoring(prefixes: tuple[str, ...]) -> bytes:
    return "".join(f"/{prefix}\n" for prefix in prefixes).encode()


class EditorThread(threading.Thread):
    """Runs an Editor at about `rate` edits a second until held or ended; `error` is its exception."""

    def __init__(self, editor: Editor, rnd: random.Random, rate: float = 50.0) -> None:
        super().__init__(name="editor", daemon=True)
        self.error: Exception | None = None
        self._editor = editor
        self._rnd = rnd
        self._rate = rate
        self._may_edit = threading.Event()
        self._is_idle = threading.Event()
        self._is_over = False

    def resume(self) -> None:
        """Continue editing."""
        self._is_idle.clear()
        self._may_edit.set()

    def hold(self) -> None:
        """Pause, and wait until it is between two edits."""
        self._may_edit.clear()
        while self.is_alive() and not self._is_idle.wait(0.1):
            pass
        if self.error is not None:
            raise self.error

    def end(self) -> None:
        """Stop for good."""
        self._is_over = True
        self._may_edit.set()
        self.join(60)

    def run(self) -> None:
        try:
            while not self._is_over:
                if not self._may_edit.is_set():
                    self._is_idle.set()
                    self._may_edit.wait()
                    continue
                self._editor.act()
                time.sleep(self._rnd.expovariate(self._rate))
        except Exception as exc:
            self.error = exc
