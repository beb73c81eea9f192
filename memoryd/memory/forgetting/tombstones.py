"""What is forgotten in a workspace: keyed hashes in the ledger, the same in `.memory/forgotten`, and the key apart.

The ledger may be lost, and the workspace may be copied: where either is, it is known what was forgotten. The key lies
beside the ledger alone, so that a copy of the workspace is not enough to test what the hashes are of.
"""

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence, Set
from pathlib import Path

from memoryd.domain.memories.changes.tombstones import KEY_BYTES, Tombstones, parsed, rendered
from memoryd.domain.memories.machines import MIN_SECRET, machine_key
from memoryd.errors import ConfigError, StoreUnavailable
from memoryd.files.reading import file_stat
from memoryd.files.writing import FileChangedError, replace_file
from memoryd.store.ledger.forgotten import MachineRows, TombstoneRows, TombstoneState

FOLDER = ".memory"
MIRROR = "forgotten"
KEY_SUFFIX = ".forgotten-key"
MAX_BYTES = 8 * 2**20
"""Of a mirror: what is larger was not written by us."""
_TRIES = 20


class TombstoneStore:
    """The tombstones of one workspace. `key_file` names the key of its ledger, which is made with the first of them.

    `machines` tells those of other machines on the same folder, and knows theirs; `others` are of other ledgers of the
    workspace, which may hold some from before.
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
        """Return what is forgotten; none where nothing ever was. Raises StoreError."""
        key = await asyncio.to_thread(self._key)
        sources: list[TombstoneStore | MachineTombstones] = [*self._others, *filter(None, [self.machines])]
        found = [await one.all() for one in sources]
        if key:
            own = frozenset(await self._rows.all()) | await asyncio.to_thread(self._mirror_hashes)
            found.insert(0, Tombstones(key, own))
        keys = [key for one in found if one.key for key in (one.key, *one.others)]
        return Tombstones(next(iter(keys), b""), frozenset().union(*(one.hashes for one in found)), tuple(keys[1:]))

    async def pending(self) -> Set[bytes]:
        """Return the hashes of what may still stand somewhere, for a kill came in between; raises StoreError."""
        return frozenset(one for one, is_pending in (await self._rows.all()).items() if is_pending)

    async def begin(self, memories: Iterable[tuple[str, str]], *, tells: bool = True) -> frozenset[bytes]:
        """Note that these memories (id and text) are being forgotten, and return their hashes.

        Of one without a text it is the id alone. The other machines are told, unless they said so. Raises StoreError,
        Denied: then nothing may be taken out yet, for nothing would finish it.
        """
        stones, named = Tombstones(await asyncio.to_thread(self._create_key)), list(memories)
        hashes = _hashes_of(stones, named)
        if self.machines is not None and tells:
            await self.machines.tell(named, self._clock(), is_forgotten=True)
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
        if self.machines is not None:
            await self.machines.tell([(memory, text)], self._clock(), is_forgotten=False)
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


def _hashes_of(stones: Tombstones, memories: Iterable[tuple[str, str]]) -> frozenset[bytes]:
    return frozenset(one for id_, text in memories for one in (stones.of(id_, text) if text else (stones.name(id_),)))


class MachineTombstones:
    """What is forgotten on any of the machines on one folder, by hashes that their common secret keys.

    `secret` gives it; raises ConfigError.
    """

    def __init__(self, rows: MachineRows, secret: Callable[[], str]) -> None:
        self.rows = rows
        self.on_told: Callable[[], Awaitable[None]] | None = None
        """Has the others know, before anything is written into a note."""
        self._secret = secret
        self._key = b""

    async def key(self) -> bytes:
        """Return what hashes and lines are keyed with; raises StoreUnavailable where the secret cannot be read."""
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
        """Return what is forgotten; without the secret nothing, for its hashes say nothing then. Raises StoreError."""
        states = await self.rows.tombstones()
        with contextlib.suppress(StoreUnavailable):
            if states:
                return Tombstones(await self.key(), frozenset(one for one in states if states[one].is_forgotten))
        return Tombstones()

    async def tell(self, memories: Iterable[tuple[str, str]], now: float, *, is_forgotten: bool) -> None:
        """Note for all machines that memories are forgotten, or remembered again; raises StoreError."""
        hashes, known = _hashes_of(Tombstones(await self.key()), memories), await self.rows.tombstones()
        # behind whatever a clock that was ahead has said of it
        fresh = {one: max(now, known[one].at + 1e-3 if one in known else now) for one in hashes}
        states = {one: TombstoneState(at, is_forgotten) for one, at in fresh.items()}
        news = {one for one in states if one not in known or known[one].is_forgotten != is_forgotten}
        await self.rows.put({one: states[one] for one in news})
        if news and self.on_told is not None:
            await self.on_told()
