"""The file format of a backup: a plain tar whose last member, the manifest, lists all others.

Only regular files listed in the manifest are read, and only as many bytes as it says. All names but these are refused:

config                        the configuration
state/FOLDER/ledger.sqlite    a ledger below the state folder, and its key
ledgers/N/ledger.sqlite       a ledger elsewhere
workspaces/N/PATH             a file of a workspace: conversations, marks of what is forgotten, and notes
"""

import contextlib
import hashlib
import io
import re
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Annotated, Final, Literal, Self, cast

import msgspec
from msgspec import Meta, Struct

from memoryd.domain.expressions import expression
from memoryd.domain.memories.machines import is_machine_journal
from memoryd.errors import InvalidRequest, StoreUnavailable

MANIFEST = "manifest.json"
FORMAT: Final = 1
"""Increased if an older program would misunderstand a backup."""
MANIFEST_BYTES_MAX = 64 << 20
MEMBERS_MAX = 200_000


_AbsolutePath = Annotated[str, Meta(pattern=r"^/[^\x00]*$", max_length=4096)]


class BackupMember(Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a backup."""

    name: Annotated[str, Meta(min_length=1, max_length=1_100)]
    bytes: Annotated[int, Meta(ge=0)]
    sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]


class BackupWorkspace(Struct, frozen=True, forbid_unknown_fields=True):
    """A workspace and its agents."""

    path: _AbsolutePath
    agents: tuple[str, ...]


class BackupManifest(Struct, frozen=True, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """The manifest: version, origin and all members of a backup."""

    format: Literal[1] = FORMAT
    program: str
    """The version of memoryd that wrote it."""
    made_at: str
    ledger_version: int
    """Version of the tables that this program creates; each ledger has its own version in its header."""
    state_folder: str
    config_path: str | None
    masked_keys: int
    """Number of keys that were removed from the configuration."""
    has_notes: bool
    folders: tuple[_AbsolutePath, ...]
    """Folders of ledgers outside of the state folder."""
    workspaces: tuple[BackupWorkspace, ...]
    members: Annotated[tuple[BackupMember, ...], Meta(max_length=MEMBERS_MAX)]


def decode_manifest(data: bytes) -> BackupManifest:
    """Parse a manifest. Raises InvalidRequest if it is invalid, or of a newer format."""
    try:
        raw = msgspec.json.decode(data)
        known = raw.get("format") if isinstance(raw, dict) else None
        if isinstance(known, int) and known > FORMAT:
            raise InvalidRequest(
                f"this backup has format {known}, of a newer memoryd ({str(raw.get('program'))[:40]}); this one reads "
                f"{FORMAT}",
                hint="restore it with the memoryd that wrote it, or a newer one; nothing was changed",
            )
        return msgspec.json.decode(data, type=BackupManifest)
    except (ValueError, RecursionError) as exc:
        raise InvalidRequest("this is no backup of memoryd, or it is damaged", hint="nothing was changed") from exc


_BLOCK = 1 << 20
_SCRATCH = "backup-"
_LEFT_SECONDS = 3600.0
ByteProgress = Callable[[str, int], None]
"""Called with the name of a member and the number of its bytes done so far."""
_DAMAGED = "nothing was changed; take another copy of the backup"


class BackupWriter:
    """Writes the members of a backup in order; `finish` writes the manifest.

    After an exception in between, the file is no valid backup. Methods raise OSError if it cannot be written.
    """

    def __init__(self, out: IO[bytes], report: ByteProgress) -> None:
        self._tar = tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT)  # noqa: SIM115
        self._report = report
        self.members: list[BackupMember] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        if kind is not None and self._tar.fileobj is not None:
            # otherwise the garbage collector flushes it, and prints errors to the terminal
            with contextlib.suppress(OSError, ValueError):
                self._tar.fileobj.close()

    def add(self, name: str, source: IO[bytes], size: int) -> None:
        """Write a member of `size` bytes. Raises StoreUnavailable if the source is shorter by now."""
        reader = _Hashing(name, source, lambda done: self._report(name, done))
        self._tar.addfile(_header(name, size), reader)
        self.members.append(BackupMember(name=name, bytes=size, sha256=reader.sum.hexdigest()))

    def finish(self, manifest: BackupManifest) -> None:
        """Write the manifest and the end of the archive."""
        data = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
        self._tar.addfile(_header(MANIFEST, len(data)), io.BytesIO(data))
        self._tar.close()


class OpenBackup(Struct, frozen=True):
    """A backup whose manifest was read; its members are not verified yet."""

    file: Path
    manifest: BackupManifest
    _tar: tarfile.TarFile
    _headers: dict[str, tarfile.TarInfo]

    def copy(self, member: BackupMember, out: IO[bytes]) -> None:
        """Copy a member to a file. Raises InvalidRequest if size or checksum differ from the manifest."""
        header = self._headers.get(member.name)
        source = self._tar.extractfile(header) if header is not None and header.size == member.bytes else None
        if source is None:
            raise InvalidRequest(f"{self.file.name} lacks {member.name}, or has it otherwise", hint=_DAMAGED)
        digest = hashlib.sha256()
        with _as_damage(self.file):
            while block := source.read(_BLOCK):
                digest.update(block)
                out.write(block)
        if digest.hexdigest() != member.sha256:
            raise InvalidRequest(f"{member.name} in {self.file.name} is damaged: its checksum is wrong", hint=_DAMAGED)


@contextlib.contextmanager
def open_backup(path: Path) -> Iterator[OpenBackup]:
    """Open a backup and read its manifest. Raises InvalidRequest for an invalid backup, StoreUnavailable."""
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
        manifest = decode_manifest(source.read())
        names = [member.name for member in manifest.members]
        if sorted(names) != sorted(headers):
            raise InvalidRequest(f"{path} has other members than its manifest says", hint=_DAMAGED)
        yield OpenBackup(path, manifest, tar, headers)


@contextlib.contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """Create a private folder and remove it at the end, as well as old ones left by a kill."""
    beside.mkdir(parents=True, exist_ok=True, mode=0o700)
    for left in beside.glob(f"{_SCRATCH}*"):
        with contextlib.suppress(FileNotFoundError):
            # a folder in use gets new files now and then
            if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=beside) as folder:
        yield Path(folder)


class _Hashing:
    """A reader for tarfile that hashes the bytes and reports progress. Raises StoreUnavailable."""

    def __init__(self, name: str, source: IO[bytes], report: Callable[[int], None]) -> None:
        self.sum = hashlib.sha256()
        self._name, self._source, self._done, self._report = name, source, 0, report

    def read(self, size: int = -1) -> bytes:
        try:
            block = self._source.read(size)
        except OSError as exc:
            raise self._trouble(str(exc)) from exc
        if size and not block:
            raise self._trouble("it became shorter while it was read")
        self.sum.update(block)
        self._done += len(block)
        self._report(self._done)
        return block

    def _trouble(self, why: str) -> StoreUnavailable:
        return StoreUnavailable(f"{self._name} cannot be copied: {why}", hint="do it again; no backup was written")


class _Bounded:
    """A file that refuses large reads, since a forged header may have any length."""

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
    """Return the members by name. Raises InvalidRequest for links, devices and folders, which no backup of ours has."""
    headers: dict[str, tarfile.TarInfo] = {}
    for header in tar:
        if header.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or header.sparse is not None:
            raise InvalidRequest(f"{path} has a member that is no plain file: {header.name[:80]!r}", hint=_DAMAGED)
        if header.name in headers or len(headers) > MEMBERS_MAX:
            raise InvalidRequest(f"{path} has a member twice, or too many", hint=_DAMAGED)
        headers[header.name] = header
    return headers


@contextlib.contextmanager
def _as_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError, UnicodeError, OverflowError) as exc:
        raise InvalidRequest(f"{path} is no backup of memoryd, or was cut short", hint=_DAMAGED) from exc


CONFIG = "config"
FORGOTTEN = ".memory/forgotten"
GOLDEN = ".memory/eval.jsonl"
"""Golden questions, which the owner wrote or accepted; they are backed up with the notes."""
MAIN_FILE = "memory/qa-index.json"
"""Generated from the sessions, so it is removed after a restore."""
_MEMBER = expression(
    r"(?P<top>state|ledgers|workspaces)/(?P<folder>[a-z0-9-]{1,60})/(?P<path>[^\x00-\x1f\x7f]{1,1000})\Z"
)
_LEDGER = expression(r"(?:[^/]{1,150}-)?ledger\.sqlite(?:\.forgotten-key)?\Z")
_SESSION = expression(r"memory/(?:sessions|archive)/[^/]+\.json\Z")
_NOTE = expression(r"(?:(?:MEMORY|memory|SOUL)\.md|\.memoryignore|(?:memory|bank)/.+\.md)\Z", re.DOTALL)


class BackupPlaces(Struct, frozen=True):
    """The paths of the parts of a backup on this machine; `folders` and `workspaces` are in the manifest's order."""

    config: Path
    state: Path
    folders: tuple[Path, ...]
    workspaces: tuple[Path, ...]


def place_of(name: str, places: BackupPlaces) -> Path | None:
    """Return the path of the member with this name, None if the name is not allowed."""
    if name == CONFIG:
        return places.config
    match = _MEMBER.match(name)
    if match is None:
        return None
    top, folder, path = match["top"], match["folder"], match["path"]
    if not (belongs_in_backup(path) if top == "workspaces" else _LEDGER.match(path)):
        return None
    if top == "state":
        return places.state / "workspaces" / folder / path
    folders = places.workspaces if top == "workspaces" else places.folders
    is_known = folder.isdecimal() and int(folder) < len(folders)
    return folders[int(folder)] / path if is_known else None


def belongs_in_backup(path: str) -> bool:
    """Return whether a relative path with `/` in a workspace may be in a backup.

    It may if it is a note, a conversation, a journal of a machine, the forgotten marks or the golden questions.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or any(part.startswith(".") for part in parts[1:]):
        return False
    if any("\ud800" <= sign <= "\udfff" for sign in path):
        # not encodable, so it cannot be in the manifest
        return False
    is_special = path in (FORGOTTEN, GOLDEN) or is_machine_journal(path)
    return is_special or is_conversation_file(path) or is_note_file(path)


def is_conversation_file(path: str) -> bool:
    """Return whether a file of a workspace is a conversation, or the chosen topics."""
    return path == "memory/topics.txt" or is_session_file(path)


def is_session_file(path: str) -> bool:
    """Return whether a file of a workspace is a session, archived or not."""
    return _SESSION.match(path) is not None


def is_note_file(path: str) -> bool:
    """Return whether a file of a workspace is a note, or `.memoryignore`, the rules for private notes."""
    return _NOTE.match(path) is not None


def is_ledger(name: str) -> bool:
    """Return whether the member with this name is a ledger, and not the key of a ledger."""
    return name.startswith(("state/", "ledgers/")) and name.endswith("ledger.sqlite")
