"""The journal files of the machines that share one folder: bounded reads, and writes readable by the owner only."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from memoryd.domain.documents import is_conflict_copy
from memoryd.domain.memories.machines import MACHINES, MachineEntry, entry_of, is_machine_journal
from memoryd.files.reading import READ_FLAGS
from memoryd.files.writing import write_private

MAX_JOURNALS = 64
MAX_BYTES = 8 * 2**20
"""Size limit of one journal; a larger file was not written by us."""
AHEAD_SECONDS = 86_400.0


class MachineJournalFile(Struct, frozen=True):
    """A journal as read.

    `broken` counts the lines that are no entries made with our secret; `refusal` is why the file could not be read.
    """

    path: Path
    stamp: tuple[int, ...] = ()
    entries: Sequence[MachineEntry] = ()
    broken: int = 0
    last: bytes = b""
    """The last line that is a valid entry."""
    refusal: str = ""

    @property
    def size(self) -> int:
        return self.stamp[1] if self.stamp else 0

    def problems(self, now: float) -> Iterator[str]:
        """Yield the problems that the owner should look at, one sentence each."""
        if self.refusal:
            yield self.refusal
        elif self.broken:
            yield f"passed over, for they are cut or written with another secret: {self.broken:,} of its lines"
        if any(entry.at > now + AHEAD_SECONDS for entry in self.entries):
            yield "its machine's clock was more than a day ahead"
        if is_conflict_copy(self.path.name):
            yield "it is the copy of a conflict: two machines had one id; what it says counts, and it may be deleted"


def read_journals(workspace: Path, key: bytes, known: Mapping[Path, MachineJournalFile]) -> list[MachineJournalFile]:
    """Return the journals of all machines on a workspace; unchanged ones are taken from `known`. Raises OSError."""
    folder = workspace / MACHINES
    if folder.is_symlink() or folder.parent.is_symlink():
        raise OSError(f"{folder} is a link")
    try:
        paths = sorted(path for path in folder.iterdir() if is_machine_journal(f"{MACHINES}/{path.name}"))
    except FileNotFoundError:
        return []
    return [_read(path, key, known.get(path)) for path in paths[:MAX_JOURNALS]]


def _read(path: Path, key: bytes, known: MachineJournalFile | None) -> MachineJournalFile:
    try:
        descriptor = os.open(path, READ_FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            stamp = (info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
            if known is not None and known.stamp == stamp:
                return known
            if not stat.S_ISREG(info.st_mode) or info.st_size > MAX_BYTES:
                return MachineJournalFile(path, stamp, refusal="it is no file, or too large to be a journal of ours")
            lines = file.read(MAX_BYTES).splitlines(keepends=True)
    except OSError as exc:
        return MachineJournalFile(path, refusal=f"it cannot be read: {exc.strerror}")
    valid = [(entry, line) for line in lines if (entry := entry_of(line, key)) is not None]
    entries, last = [entry for entry, _line in valid], valid[-1][1] if valid else b""
    return MachineJournalFile(path, stamp, entries, len(lines) - len(entries), last)


def write_journal(path: Path, data: bytes, *, is_anew: bool) -> None:
    """Replace a journal if `is_anew`, else append to it; durable. Raises OSError."""
    if is_anew:
        write_private(path, data, is_durable=True)
        return
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "ab") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
