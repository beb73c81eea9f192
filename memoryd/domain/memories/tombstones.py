"""What stays of a forgotten memory: keyed hashes, from which nobody reads what it said.

HMAC-SHA-256 (RFC 2104), cut to 16 bytes. One hash is of the id; the other of what the text says, so that the same
words under another scope or entity are known again.
"""

import hmac
from collections.abc import Iterable, Set
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Self

from memoryd.domain.text.gist import gist

HASH_BYTES: Final = 16
KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Tombstones:
    """The hashes of what is forgotten, and the key (32 bytes) that they are made with."""

    key: bytes = b""
    hashes: Set[bytes] = frozenset()

    def of(self, memory: str, text: str) -> tuple[bytes, bytes]:
        """Return the hashes of a memory, by its id and by its text."""
        return self._hash("id", memory), self._hash("text", as_said(text))

    def hold(self, memory: str, text: str) -> bool:
        """Tell whether this memory, or one that says the same, is forgotten."""
        return bool(self.hashes) and not self.hashes.isdisjoint(self.of(memory, text))

    def hold_id(self, memory: str) -> bool:
        """Tell whether this very memory is forgotten."""
        return bool(self.hashes) and self._hash("id", memory) in self.hashes

    def with_more(self, hashes: Iterable[bytes]) -> Self:
        """Return them with more."""
        return type(self)(self.key, self.hashes | frozenset(hashes))

    def without(self, hashes: Iterable[bytes]) -> Self:
        """Return them with fewer."""
        return type(self)(self.key, self.hashes - frozenset(hashes))

    def _hash(self, kind: str, value: str) -> bytes:
        message = f"{kind}\0{value}".encode("utf-8", "surrogatepass")
        return hmac.new(self.key, message, sha256).digest()[:HASH_BYTES]


def parsed(text: str) -> frozenset[bytes]:
    """Return the hashes of a mirror: one a line, hexadecimal; a line that is none says nothing."""
    return frozenset(filter(None, map(_hash_of, text.splitlines())))


def rendered(hashes: Iterable[bytes]) -> str:
    """Return the mirror of the hashes, in an order that says nothing."""
    return "".join(f"{one.hex()}\n" for one in sorted(hashes))


def _hash_of(line: str) -> bytes:
    try:
        found = bytes.fromhex(line.strip())
    except ValueError:
        return b""
    return found if len(found) == HASH_BYTES else b""


def as_said(text: str) -> str:
    """Return what texts that say the same have in common: without layout, case and the mark at the end."""
    said = gist(text) or text
    # who says it again may leave out the mark at its end
    return " ".join(said.split()).casefold().rstrip(".!。！ ")
