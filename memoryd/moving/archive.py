"""A backup as a file: a plain tar, whose last member says what all the others are. Written whole or not at all.

Of a tar only regular members are read whose names the manifest has, and of each just as many bytes as that says.
"""

import contextlib
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Self, cast

from memoryd.errors import InvalidRequest, StoreUnavailable
from memoryd.moving.manifest import (
    MANIFEST,
    MANIFEST_BYTES_MAX,
    MEMBERS_MAX,
    BackupManifest,
    BackupMember,
    decoded_manifest,
)

_BLOCK: Final = 1 << 20
_SCRATCH: Final = "backup-"
_LEFT_SECONDS: Final = 3600.0
Told = Callable[[str, int], None]
"""Is told the name of what is done, and how many bytes of it."""
_DAMAGED: Final = "nothing was changed; take another copy of the backup"


class BackupWriter:
    """Writes the members of a backup one after the other; `finish` writes the manifest.

    Whoever raises in between leaves a file that is no backup. Raises OSError where it cannot be written.
    """

    def __init__(self, out: IO[bytes], told: Told) -> None:
        self._tar = tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self._told = told
        self.members: list[BackupMember] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if kind is not None and self._tar.fileobj is not None:
            # else it is written to when it is collected, and what it then says goes to the terminal
            with contextlib.suppress(OSError, ValueError):
                self._tar.fileobj.close()

    def add(self, name: str, source: IO[bytes], size: int) -> None:
        """Write a member of so many bytes; raises StoreUnavailable where the source has fewer by now."""
        reader = _Hashing(name, source, size, lambda done: self._told(name, done))
        self._tar.addfile(_header(name, size), reader)
        self.members.append(BackupMember(name=name, bytes=size, sha256=reader.sum.hexdigest()))

    def finish(self, manifest: BackupManifest) -> None:
        """Write the manifest and the end."""
        data = manifest.encoded()
        self._tar.addfile(_header(MANIFEST, len(data)), io.BytesIO(data))
        self._tar.close()


@dataclass(frozen=True, slots=True)
class OpenBackup:
    """A backup whose manifest was read; its members are not looked at yet."""

    file: Path
    manifest: BackupManifest
    _tar: tarfile.TarFile
    _headers: dict[str, tarfile.TarInfo]

    def copy(self, member: BackupMember, out: IO[bytes]) -> None:
        """Write a member elsewhere; raises InvalidRequest unless it is what the manifest says."""
        header = self._headers.get(member.name)
        source = self._tar.extractfile(header) if header is not None and header.size == member.bytes else None
        if source is None:
            raise InvalidRequest(f"{self.file.name} lacks {member.name}, or has it otherwise", hint=_DAMAGED)
        summed = hashlib.sha256()
        with _as_damage(self.file):
            while block := source.read(_BLOCK):
                summed.update(block)
                out.write(block)
        if summed.hexdigest() != member.sha256:
            raise InvalidRequest(f"{member.name} in {self.file.name} is damaged: its checksum is wrong", hint=_DAMAGED)


@contextlib.contextmanager
def opened_backup(path: Path) -> Iterator[OpenBackup]:
    """Open a backup and read its manifest; raises InvalidRequest for what is none, StoreUnavailable."""
    try:
        file = path.open("rb")
    except OSError as exc:
        raise InvalidRequest(f"{path} cannot be read: {exc.strerror}") from exc
    bounded = cast("IO[bytes]", _Bounded(file))
    with file, _as_damage(path), tarfile.open(fileobj=bounded, mode="r:") as tar:
        headers = _headers(path, tar)
        last = headers.pop(MANIFEST, None)
        source = tar.extractfile(last) if last is not None and last.size <= MANIFEST_BYTES_MAX else None
        if source is None:
            raise InvalidRequest(f"{path} is no backup of memoryd, or was cut short", hint=_DAMAGED)
        manifest = decoded_manifest(source.read())
        names = [one.name for one in manifest.members]
        if sorted(names) != sorted(headers):
            raise InvalidRequest(f"{path} has other members than its manifest says", hint=_DAMAGED)
        yield OpenBackup(path, manifest, tar, headers)


@contextlib.contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """Give a folder for its owner alone that is gone at the end; what a kill left of an earlier one goes, too."""
    beside.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in beside.glob(f"{_SCRATCH}*"):
        with contextlib.suppress(FileNotFoundError):
            # one that is in use gets a new file every now and then
            if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=beside) as folder:
        yield Path(folder)


def sized(file: IO[bytes]) -> int:
    """Return how many bytes an open file has."""
    return os.fstat(file.fileno()).st_size


def synced(file: IO[bytes]) -> None:
    """Have what was written to an open file outlast a loss of power; raises OSError."""
    file.flush()
    os.fsync(file.fileno())


class _Hashing(io.RawIOBase):
    """Reads just `size` bytes of a file, sums them up, and tells how far it is; raises StoreUnavailable."""

    def __init__(self, name: str, source: IO[bytes], size: int, told: Callable[[int], None]) -> None:
        self.sum = hashlib.sha256()
        self._name, self._source, self._left, self._done, self._told = name, source, size, 0, told

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            block = self._source.read(min(self._left, size if size >= 0 else self._left))
        except OSError as exc:
            raise self._trouble(str(exc)) from exc
        if size and self._left and not block:
            raise self._trouble("it became shorter meanwhile")
        self.sum.update(block)
        self._left -= len(block)
        self._done += len(block)
        self._told(self._done)
        return block

    def _trouble(self, why: str) -> StoreUnavailable:
        return StoreUnavailable(f"{self._name} cannot be copied: {why}", hint="do it again; no backup was written")


class _Bounded:
    """A file of which nobody reads much at once: a made-up header may say that it has any length."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= MANIFEST_BYTES_MAX:
            raise tarfile.ReadError("a header is too long")
        return self._file.read(size)


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mode = size, 0o600
    return header


def _headers(path: Path, tar: tarfile.TarFile) -> dict[str, tarfile.TarInfo]:
    """Return the members by name; raises InvalidRequest for what no backup of ours has: links, devices, folders."""
    found: dict[str, tarfile.TarInfo] = {}
    for header in tar:
        if header.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or header.sparse is not None:
            raise InvalidRequest(f"{path} has a member that is no plain file: {header.name[:80]!r}", hint=_DAMAGED)
        if header.name in found or len(found) > MEMBERS_MAX:
            raise InvalidRequest(f"{path} has a member twice, or too many", hint=_DAMAGED)
        found[header.name] = header
    return found


@contextlib.contextmanager
def _as_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, UnicodeError, OverflowError) as exc:
        raise InvalidRequest(f"{path} is no backup of memoryd, or was cut short", hint=_DAMAGED) from exc
