"""What is forgotten in a workspace: keyed hashes in the ledger, the same in `.memory/forgotten`, and the key apart.

The ledger may be lost, and the workspace may be copied: where either is, it is known what was forgotten. The key lies
beside the ledger alone, so that a copy of the workspace is not enough to test what the hashes are of.
"""

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Set
from pathlib import Path
from typing import Final

from memoryd.domain.memories.changes.tombstones import KEY_BYTES, Tombstones, parsed, rendered
from memoryd.errors import StoreUnavailable
from memoryd.files.reading import file_stat
from memoryd.files.writing import FileChangedError, replace_file
from memoryd.store.ledger.forgotten import TombstoneRows

FOLDER: Final = ".memory"
MIRROR: Final = "forgotten"
KEY_SUFFIX: Final = ".forgotten-key"
MAX_BYTES: Final = 8 * 2**20
"""Of a mirror: what is larger was not written by us."""
_TRIES: Final = 20


class TombstoneStore:
    """The tombstones of one workspace. `key_file` names the key of its ledger, which is made with the first of them."""

    def __init__(
        self, *, rows: TombstoneRows, workspace: Path, key_file: Path, clock: Callable[[], float] = time.time
    ) -> None:
        self._rows = rows
        self._mirror = workspace / FOLDER / MIRROR
        self._key_file = key_file
        self._clock = clock
        self.trouble = ""
        """Why the mirror could not be written; empty if it could."""

    async def all(self) -> Tombstones:
        """Return what is forgotten; none where nothing ever was. Raises StoreError."""
        key = await asyncio.to_thread(self._key)
        if not key:
            return Tombstones()
        return Tombstones(key, frozenset(await self._rows.all()) | await asyncio.to_thread(self._mirror_hashes))

    async def pending(self) -> Set[bytes]:
        """Return the hashes of what may still stand somewhere, for a kill came in between; raises StoreError."""
        return frozenset(one for one, is_pending in (await self._rows.all()).items() if is_pending)

    async def begin(self, memories: Iterable[tuple[str, str]]) -> frozenset[bytes]:
        """Note that these memories (id and text) are being forgotten, and return their hashes.

        Raises StoreError, Denied: then nothing may be taken out yet, for nothing would finish it.
        """
        stones = Tombstones(await asyncio.to_thread(self._create_key))
        hashes = frozenset(one for memory in memories for one in stones.of(*memory))
        await self._rows.put(hashes, self._clock(), is_pending=True)
        return hashes

    async def finish(self, hashes: Iterable[bytes]) -> None:
        """Note that nothing of them is left."""
        done = frozenset(hashes)
        await self._rows.put(done, self._clock(), is_pending=False)
        await asyncio.to_thread(self._write, lambda known: known | done)

    async def release(self, memory: str, text: str) -> bool:
        """Let a memory be remembered again; return whether it was forgotten."""
        stones = await self.all()
        if not stones.hold(memory, text):
            return False
        hashes = stones.of(memory, text)
        await self._rows.drop(hashes)
        await asyncio.to_thread(self._write, lambda known: known - frozenset(hashes))
        return True

    def _key(self) -> bytes:
        with contextlib.suppress(FileNotFoundError):
            key = self._key_file.read_bytes()
            if len(key) == KEY_BYTES:
                return key
            raise StoreUnavailable(
                f"{self._key_file} is no key of ours", hint="move it away, or put the right one back"
            )
        return b""

    def _create_key(self) -> bytes:
        if key := self._key():
            return key
        self._key_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # another daemon may make one at this moment: the first one stays
        with contextlib.suppress(FileChangedError):
            replace_file(self._key_file, secrets.token_bytes(KEY_BYTES), expected="absent", is_durable=True)
        return self._key()

    def _mirror_hashes(self) -> frozenset[bytes]:
        with contextlib.suppress(OSError):
            return parsed(self._read())
        return frozenset()

    def _read(self) -> str:
        descriptor = os.open(self._mirror, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MAX_BYTES).decode("ascii", "replace")

    def _write(self, change: Callable[[frozenset[bytes]], frozenset[bytes]]) -> None:
        """Bring the mirror up to date; a failure costs the mirror alone."""
        try:
            if self._mirror.parent.is_symlink():
                raise OSError(f"{self._mirror.parent} is a link")
            self._mirror.parent.mkdir(mode=0o700, exist_ok=True)
            for _ in range(_TRIES):
                with contextlib.suppress(FileChangedError):
                    self._swap(change)
                    self.trouble = ""
                    return
            raise OSError(f"others write {self._mirror} all the time")
        except OSError as exc:
            self.trouble = f"{FOLDER}/{MIRROR} cannot be written: {exc.strerror or exc}"

    def _swap(self, change: Callable[[frozenset[bytes]], frozenset[bytes]]) -> None:
        try:
            before = file_stat(self._mirror.lstat())
            known = parsed(self._read())
        except FileNotFoundError:
            replace_file(self._mirror, rendered(change(frozenset())).encode(), expected="absent", is_durable=True)
            return
        replace_file(self._mirror, rendered(change(known)).encode(), expected=before, is_durable=True)
