"""What was stated once, as keyed hashes: of what does not stand any more it is known that its owner took it back.

However that was done: by an undo, by deleting the memory, or in an editor. The hashes cost nothing but this knowledge
where the ledger cannot be used.
"""

import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from memoryd.domain.memories.capture.firewall import keyed
from memoryd.domain.memories.changes.tombstones import as_said
from memoryd.errors import Denied, StoreError
from memoryd.store.ledger.usage import StatedRows

KEY_BYTES: Final = 32


class StatedLines:
    """What was stated in one workspace. `key` returns what hashes are keyed with: the first that was proposed."""

    def __init__(
        self, rows: StatedRows, key: Callable[[bytes], Awaitable[bytes]], *, clock: Callable[[], float] = time.time
    ) -> None:
        self._rows = rows
        self._make_key = key
        self._clock = clock
        self._key = b""

    async def note(self, texts: Iterable[str]) -> None:
        """Note what is stated, or what is deleted, from now on known by its hash."""
        with contextlib.suppress(StoreError, Denied):
            hashes = await self._hashes(texts)
            if hashes:
                await self._rows.put(hashes.values(), self._clock())

    async def drop(self, texts: Iterable[str]) -> None:
        """Know nothing of these any more; raises StoreError, Denied."""
        await self._rows.drop((await self._hashes(texts)).values())

    async def among(self, texts: Iterable[str]) -> frozenset[str]:
        """Return those of the texts that were stated before, whether or not they stand."""
        with contextlib.suppress(StoreError, Denied):
            hashes = await self._hashes(texts)
            found = await self._rows.among(hashes.values()) if hashes else frozenset()
            return frozenset(text for text, one in hashes.items() if one in found)
        return frozenset()

    async def _hashes(self, texts: Iterable[str]) -> dict[str, bytes]:
        wanted = list(dict.fromkeys(texts))
        if wanted and not self._key:
            self._key = await self._make_key(secrets.token_bytes(KEY_BYTES))
        hashed = keyed(self._key)
        return {text: hashed(f"stated\0{as_said(text)}") for text in wanted}
