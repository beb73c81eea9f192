"""Tombstones of a workspace: keyed hashes of forgotten memories, in the ledger and in `.memory/forgotten`.

The ledger may be lost, and the workspace may be copied; in both cases the hashes survive. The key is stored beside the
ledger only, so that a copy of the workspace is not enough to test which text a hash belongs to.
"""

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence, Set
from pathlib import Path

from memoryd.domain.memories.changes.tombstones import KEY_BYTES, Tombstones, parse_mirror, render_mirror
from memoryd.domain.memories.machines import MIN_SECRET, machine_key
from memoryd.errors import ConfigError, StoreUnavailable
from memoryd.files.reading import file_stat
from memoryd.files.writing import FileChangedError, replace_file
from memoryd.store.ledger.forgotten import MachineRows, TombstoneRows, TombstoneState

FOLDER = ".memory"
MIRROR = "forgotten"
KEY_SUFFIX = ".forgotten-key"
MAX_BYTES = 8 * 2**20
"""Maximum size of a mirror; memoryd never wrote a larger one."""
_TRIES = 20


class TombstoneStore:
    """The tombstones of one workspace. `key_file` is the key of its ledger, created with the first tombstone.

    `machines` shares them with other machines on the folder, and returns theirs. `others` are those of other ledgers of
    the workspace, which may have older tombstones.
    """

    def __init__(
        self,
        *,
        rows: TombstoneRows,
        workspace: Path,
        key_file: Path,
        machines: "MachineTombstones | None" = None,
        others: Sequence["TombstoneStore"] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.machines = machines
        self._rows = rows
        self._mirror = workspace / FOLDER / MIRROR
        self._key_file = key_file
        self._others = others
        self._clock = clock
        self.trouble = ""
        """Why the mirror could not be written; empty if it could."""

    async def all(self) -> Tombstones:
        """Return all tombstones; empty if nothing was ever forgotten. Raises StoreError."""
        key = await asyncio.to_thread(self._key)
        sources: list[TombstoneStore | MachineTombstones] = [*self._others, *filter(None, [self.machines])]
        all_stones = [await source.all() for source in sources]
        if key:
            own = frozenset(await self._rows.all()) | await asyncio.to_thread(self._mirror_hashes)
            all_stones.insert(0, Tombstones(key, own))
        keys = [key for stones in all_stones if stones.key for key in (stones.key, *stones.others)]
        hashes = frozenset[bytes]().union(*(stones.hashes for stones in all_stones))
        return Tombstones(next(iter(keys), b""), hashes, tuple(keys[1:]))

    async def pending(self) -> Set[bytes]:
        """Return the hashes of memories whose forgetting is not finished, as after a kill; raises StoreError."""
        return frozenset(digest for digest, is_pending in (await self._rows.all()).items() if is_pending)

    async def begin(self, memories: Iterable[tuple[str, str]], *, is_published: bool = True) -> frozenset[bytes]:
        """Note that these memories (id and text) are being forgotten, and return their hashes.

        Without a text, only the id is hashed. Other machines are informed if `is_published`. Raises StoreError, Denied:
        then nothing may be removed yet, because nothing would finish it.
        """
        stones, named = Tombstones(await asyncio.to_thread(self._create_key)), list(memories)
        hashes = _hashes_of(stones, named)
        if self.machines is not None and is_published:
            await self.machines.publish(named, self._clock(), is_forgotten=True)
        await self._rows.put(hashes, self._clock(), is_pending=True)
        return hashes

    async def finish(self, hashes: Iterable[bytes]) -> None:
        """Note that nothing of these memories is left."""
        done = frozenset(hashes)
        await self._rows.put(done, self._clock(), is_pending=False)
        await asyncio.to_thread(self._write, lambda known: known | done)

    async def release(self, memory: str, text: str) -> bool:
        """Allow a memory to be remembered again; return whether it was forgotten."""
        stones = await self.all()
        if not stones.contains(memory, text):
            return False
        hashes = stones.hashes_of(memory, text)
        if self.machines is not None:
            await self.machines.publish([(memory, text)], self._clock(), is_forgotten=False)
        await self._rows.drop(hashes)
        await asyncio.to_thread(self._write, lambda known: known - frozenset(hashes))
        for other in self._others:
            await other.release(memory, text)
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
        # another daemon may create one at the same time: the first one is used
        with contextlib.suppress(FileChangedError):
            replace_file(self._key_file, secrets.token_bytes(KEY_BYTES), expected="absent", is_durable=True)
        return self._key()

    def _mirror_hashes(self) -> frozenset[bytes]:
        with contextlib.suppress(OSError):
            return parse_mirror(self._read())
        return frozenset()

    def _read(self) -> str:
        descriptor = os.open(self._mirror, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(MAX_BYTES).decode("ascii", "replace")

    def _write(self, change: Callable[[frozenset[bytes]], frozenset[bytes]]) -> None:
        """Update the mirror; a failure is only noted in `trouble`."""
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
            known = parse_mirror(self._read())
        except FileNotFoundError:
            replace_file(self._mirror, render_mirror(change(frozenset())).encode(), expected="absent", is_durable=True)
            return
        replace_file(self._mirror, render_mirror(change(known)).encode(), expected=before, is_durable=True)


def _hashes_of(stones: Tombstones, memories: Iterable[tuple[str, str]]) -> frozenset[bytes]:
    return frozenset(
        digest for id_, text in memories for digest in (stones.hashes_of(id_, text) if text else (stones.id_hash(id_),))
    )


class MachineTombstones:
    """Tombstones of all machines that share a folder, as hashes keyed with their common secret.

    `secret` returns it; raises ConfigError.
    """

    def __init__(self, rows: MachineRows, secret: Callable[[], str]) -> None:
        self.rows = rows
        self.on_change: Callable[[], Awaitable[None]] | None = None
        """Called after a change, before anything is written into a note, to inform the other machines."""
        self._secret = secret
        self._key = b""

    async def key(self) -> bytes:
        """Return the key of hashes and lines; raises StoreUnavailable if the secret cannot be read."""
        if not self._key:
            try:
                secret = await asyncio.to_thread(self._secret)
            except ConfigError as exc:
                raise StoreUnavailable(f"memory.machines.secret: {exc}") from exc
            if len(secret) < MIN_SECRET:
                raise StoreUnavailable(f"memory.machines.secret has less than {MIN_SECRET} characters")
            self._key = await asyncio.to_thread(machine_key, secret)
        return self._key

    async def all(self) -> Tombstones:
        """Return all tombstones; empty without the secret, which is needed to use the hashes. Raises StoreError."""
        states = await self.rows.tombstones()
        with contextlib.suppress(StoreUnavailable):
            if states:
                hashes = frozenset(name for name, state in states.items() if state.is_forgotten)
                return Tombstones(await self.key(), hashes)
        return Tombstones()

    async def publish(self, memories: Iterable[tuple[str, str]], now: float, *, is_forgotten: bool) -> None:
        """Note for all machines that memories are forgotten, or remembered again; raises StoreError."""
        hashes, known = _hashes_of(Tombstones(await self.key()), memories), await self.rows.tombstones()
        # later than any earlier state, also one from a clock that was ahead
        times = {name: max(now, known[name].at + 1e-3 if name in known else now) for name in hashes}
        changed = {
            name: TombstoneState(at, is_forgotten)
            for name, at in times.items()
            if name not in known or known[name].is_forgotten != is_forgotten
        }
        await self.rows.put(changed)
        if changed and self.on_change is not None:
            await self.on_change()
