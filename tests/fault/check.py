"""Checks of the invariants from outside: the index equals a rebuild and is sound, and no note is changed."""

import asyncio
import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw
from msgspec.structs import replace

from memoryd.client import Client
from memoryd.config.limits import LimitsSection
from memoryd.config.memory_search import ChunkingSection
from memoryd.domain.memories.entries import ChunkSettings, content_hash
from memoryd.store.index.schema import check_words, problems
from tests.daemon import RunningDaemon, write_config
from tests.fault.model import Oracle, markers
from tests.integration.indexing import QUICK, staged
from tests.waiting import eventually

SYNC_MS = 180_000
SECRET_SECONDS = 10.0
CHUNKING = ChunkingSection()
AS_CONFIGURED = replace(QUICK, chunks=ChunkSettings(CHUNKING.tokens, CHUNKING.overlap))

_DUMP = """
SELECT f.path, hex(f.sha256), c.ordinal, c.start_line, c.end_line, c.heading, c.text
FROM files f LEFT JOIN chunks c ON c.file_id = f.id ORDER BY f.path, c.ordinal
"""
_PASSAGES = """
SELECT f.path, c.ordinal, p.start, p.stop, p.hash, c.heading, c.text
FROM passages p JOIN chunks c ON c.id = p.chunk_id JOIN files f ON f.id = c.file_id ORDER BY f.path, c.ordinal, p.start
"""
_WITHOUT_VECTOR = """
SELECT count(*) FROM passages p
WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.space_id = :space AND v.hash = p.hash)
  AND NOT EXISTS (SELECT 1 FROM rejected r WHERE r.space_id = :space AND r.hash = p.hash)
"""


class ViolationError(AssertionError):
    """An invariant does not hold."""


@dataclass(frozen=True, slots=True)
class ChunkLine:
    """One chunk of a dump; ordinal and lines are 0 for a document without text."""

    path: str
    sha256: str
    ordinal: int
    lines: tuple[int, int]
    text: str


Rebuild = Callable[[RunningDaemon, Path], list[ChunkLine]]
"""Builds an index of a daemon's workspace in an unused folder, and dumps it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the daemon must not change about a file."""

    sha256: str
    mode: int
    mtime_ns: int


def index_of(daemon: RunningDaemon) -> Path:
    """Return the only index below the daemon's state directory."""
    (index,) = (daemon.state / "workspaces").glob("*/index.sqlite")
    return index


@contextmanager
def snapshot(index: Path) -> Iterator[apsw.Connection]:
    """Copy the index into memory, so that reading it does not disturb the daemon."""
    copy = apsw.Connection(":memory:")
    try:
        eventually(lambda: _is_copied(index, copy))
        yield copy
    finally:
        copy.close()


def _is_copied(index: Path, copy: apsw.Connection) -> bool:
    """Copy the index; return False if its files were replaced meanwhile."""
    source = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        source.set_busy_timeout(5_000)
        with copy.backup("main", source, "main") as backup:
            backup.step()
    except apsw.IOError:
        return False
    finally:
        source.close()
    return True


def dump(index: Path) -> list[ChunkLine]:
    """Return every chunk in order."""
    with snapshot(index) as copy:
        return [_chunk_line(row) for row in copy.execute(_DUMP)]


def check_inside(index: Path, *, is_embedded: bool = False) -> None:
    """Check I3: sound pages and words, no orphaned rows, and hashes that match their texts."""
    with snapshot(index) as copy:
        found = [str(row[0]) for row in copy.execute("PRAGMA integrity_check")]
        if found != ["ok"]:
            raise ViolationError(f"I3: {found}")
        if wrong := problems(copy):
            raise ViolationError(f"I3: {wrong}")
        check_words(copy)
        _check_hashes(copy)
        if is_embedded:
            _check_vectors(copy)


def rebuilt_here(daemon: RunningDaemon, folder: Path) -> list[ChunkLine]:
    """Return the dump of an index that this process builds of the same workspace."""

    async def rebuild() -> None:
        async with staged(
            daemon.workspace, folder, settings=AS_CONFIGURED, max_file_bytes=LimitsSection().max_file_bytes
        ) as stage:
            await stage.sync(seconds=SYNC_MS / 1000)

    asyncio.run(rebuild())
    return dump(folder / "index.sqlite")


def rebuilt_by_daemon(daemon: RunningDaemon, folder: Path) -> list[ChunkLine]:
    """Return the dump of a second daemon with a new index of the same workspace, without vectors."""
    folder.mkdir()
    config = write_config(folder, daemon.workspace, None, search={"sync": {"watch": False}})
    with RunningDaemon(folder, config, daemon.workspace) as fresh, fresh.client() as client:
        sync(client)
        return dump(index_of(fresh))


def sync(client: Client, *, embedded: bool = False) -> None:
    """Wait until the index has caught up with the disk."""
    reply = client.sync(wait="embedded" if embedded else "indexed", timeout_ms=SYNC_MS)
    if not reply.get("complete"):
        raise ViolationError(f"I1: no quiet within {SYNC_MS / 1000:g} s: {reply}; {client.status()}")


def check_converged(
    daemon: RunningDaemon,
    folder: Path,
    *,
    is_embedded: bool = False,
    rebuilt: Rebuild = rebuilt_here,
) -> list[ChunkLine]:
    """Check I1, I3 and I4 of a quiet workspace, with a rebuild in the unused `folder`; return the dump."""
    before = manifest(daemon.workspace)
    with daemon.client() as client:
        sync(client, embedded=is_embedded)
    live = dump(index_of(daemon))
    check_inside(index_of(daemon), is_embedded=is_embedded)
    compare(live, rebuilt(daemon, folder))
    if manifest(daemon.workspace) != before:
        raise ViolationError("I4: the workspace was changed")
    return live


def compare(live: list[ChunkLine], fresh: list[ChunkLine]) -> None:
    """Check I1 of two dumps."""
    if live == fresh:
        return
    ghosts, missing = set(live) - set(fresh), set(fresh) - set(live)
    shown = [f"{word} {line}"[:300] for word, lines in (("+", ghosts), ("-", missing)) for line in list(lines)[:5]]
    raise ViolationError(f"I1: {len(ghosts)} chunks too many, {len(missing)} too few:\n" + "\n".join(shown))


def manifest(workspace: Path) -> dict[str, Seen]:
    """Return what I4 protects, for every file of the workspace."""
    found = {}
    for folder, _, names in os.walk(workspace):
        for name in names:
            path = Path(folder, name)
            info = path.lstat()
            data = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found[str(path)] = Seen(hashlib.sha256(data).hexdigest(), info.st_mode, info.st_mtime_ns)
    return found


def check_oracle(oracle: Oracle, workspace: Path, lines: list[ChunkLine]) -> None:
    """Check that disk and index have exactly the oracle's documents."""
    on_disk = {path: (workspace / path).read_bytes() for path in oracle.files}
    if wrong := [path for path, data in oracle.files.items() if on_disk[path] != data]:
        raise ViolationError(f"I4: bytes changed: {wrong}")
    hashes = {path: hashlib.sha256(data).hexdigest().upper() for path, data in oracle.public().items()}
    indexed = {line.path: line.sha256 for line in lines}
    if indexed != hashes:
        raise ViolationError(f"I1: index and oracle differ in {sorted(set(indexed.items()) ^ set(hashes.items()))[:6]}")


def check_answers(client: Client, live: Mapping[str, str], dead: set[str]) -> None:
    """Check that each live marker is found in its document, and no dead one anywhere."""
    for word, path in live.items():
        hits = client.search(word, max_results=3)["results"]
        if not any(word in markers(hit["snippet"].encode()) for hit in hits):
            raise ViolationError(f"I1: {word} of {path} is not found: {[hit['path'] for hit in hits]}")
    for word in dead:
        for hit in client.search(word, max_results=3)["results"]:
            if word in hit["snippet"]:
                raise ViolationError(f"I1: {word} is gone and found in {hit['path']}")


def check_secrets(oracle: Oracle, daemon: RunningDaemon) -> None:
    """Check that soon no file below the state directory has a word of a private document, nor the index as a term.

    A damaged index that was set aside is deleted one scan after the new one is complete, and the log is truncated as
    soon as it has no reader.
    """
    secrets, end = oracle.secrets(), time.monotonic() + SECRET_SECONDS
    while kept := _kept(secrets, daemon.state):
        if time.monotonic() >= end:
            raise ViolationError(f"I7: of private notes after {SECRET_SECONDS:g} s: {kept[:5]}")
        time.sleep(0.1)
    with snapshot(index_of(daemon)) as copy:
        copy.execute("CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'chunk_words', 'row')")
        terms = {str(row[0]) for row in copy.execute("SELECT term FROM temp.terms")}
    if found := secrets & terms:
        raise ViolationError(f"I7: {sorted(found)[:5]} of private notes are terms of the word index")


def _kept(secrets: set[str], folder: Path) -> list[str]:
    """Return the words found in files below a folder, each with the path of its file."""
    found = []
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            if path.is_file():
                found += [f"{word} in {path}" for word in secrets & markers(path.read_bytes())]
    return found


def _chunk_line(row: tuple[object, ...]) -> ChunkLine:
    path, sha, ordinal, start, end, heading, text = row
    digest = hashlib.sha256(f"{heading}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
    lines = (int(str(start or 0)), int(str(end or 0)))
    return ChunkLine(str(path), str(sha), int(str(ordinal or 0)), lines, digest)


def _check_hashes(copy: apsw.Connection) -> None:
    for path, ordinal, start, stop, key, heading, text in copy.execute(_PASSAGES):
        if content_hash(heading, text[start:stop]) != key:
            raise ViolationError(f"I3: the hash of a passage of {path} chunk {ordinal} does not match its text")


def _check_vectors(copy: apsw.Connection) -> None:
    spaces = [row[0] for row in copy.execute("SELECT id FROM spaces")]
    lacking = [copy.execute(_WITHOUT_VECTOR, {"space": space}).get for space in spaces]
    if not spaces or min(lacking) > 0:
        raise ViolationError(f"I3: passages without a vector, by space: {lacking}")
