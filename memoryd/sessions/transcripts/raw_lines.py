"""The complete lines of an open file, in bounded memory, with the hash of all that stands before each end."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

BLOCK_BYTES: Final = 1 << 20
EDGE_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class RawLine:
    """One line with its end; `data` is None where it is longer than was asked for."""

    data: bytes | None
    size: int
    prefix_hash: bytes


def raw_lines(descriptor: int, start: int, end: int, prefix_hash: bytes, max_line_bytes: int) -> Iterator[RawLine]:
    """Yield the lines that end between two offsets; `prefix_hash` is that of what stands before the first.

    Never holds more than one line of `max_line_bytes` and one block.
    """
    digest, held, size, at = sha256(prefix_hash), list[bytes](), 0, start
    while at < end and (block := os.pread(descriptor, min(BLOCK_BYTES, end - at), at)):
        at, begin = at + len(block), 0
        while (newline := block.find(b"\n", begin)) >= 0:
            piece = block[begin : newline + 1]
            digest.update(piece)
            size += len(piece)
            prefix_hash = digest.digest()
            yield RawLine(b"".join([*held, piece]) if size <= max_line_bytes else None, size, prefix_hash)
            digest, held, size, begin = sha256(prefix_hash), [], 0, newline + 1
        rest = block[begin:]
        digest.update(rest)
        size += len(rest)
        # a line that is too long is hashed and let go
        held = [*held, rest] if size <= max_line_bytes else []


def has_lines(descriptor: int, start: int, start_hash: bytes, end: int, end_hash: bytes) -> bool:
    """Tell whether the lines between two offsets lead from one prefix hash to the other: reads them all."""
    at, found = start, start_hash
    for line in raw_lines(descriptor, start, end, start_hash, 0):
        at, found = at + line.size, line.prefix_hash
    return (at, found) == (end, end_hash)


def edge_hash(descriptor: int, offset: int) -> bytes:
    """Return the hash of the first and the last 4,096 bytes before an offset."""
    first = os.pread(descriptor, min(EDGE_BYTES, offset), 0)
    last = os.pread(descriptor, min(EDGE_BYTES, offset), max(0, offset - EDGE_BYTES))
    return sha256(b"%d:%s%s" % (len(first), first, last)).digest()
