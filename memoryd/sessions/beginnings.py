"""Tell transcripts from each other by their bytes: which of two is the other one, or goes on from it.

Two conversations may begin alike: one is a fork of the other, or both have said next to nothing. So one is another
only if it has all of its bytes, and if these name a session or a message.
"""

import hashlib
import hmac
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from memoryd.domain.documents import FileStat
from memoryd.files.reading import file_stat, open_beneath

HEAD_BYTES: Final = 4096
"""Looked at before a whole file is: most transcripts differ in them."""
MIN_BYTES: Final = 32
"""What is shorter tells nobody which conversation it is."""
_DIGEST_BYTES: Final = hashlib.sha256().digest_size
_BLOCK: Final = 1 << 20
_NAME: Final = re.compile(rb'"(?:id|uuid|sessionId|messageId)"\s*:\s*"[^"]+"')


@dataclass(frozen=True, slots=True)
class Beginning:
    """So many bytes of a transcript, and their keyed hash: of the head, and behind it that of all if there are more."""

    size: int = 0
    digests: bytes = b""

    def is_of(self, file: Path, key: bytes) -> bool:
        """Tell whether a file begins so. Blocks; raises OSError."""
        if self.size < MIN_BYTES:
            return False
        with _opened(file) as descriptor:
            stat = file_stat(os.fstat(descriptor))
            if stat.size < self.size:
                return False
            head = os.pread(descriptor, min(self.size, HEAD_BYTES), 0)
        if not hmac.compare_digest(hmac.digest(key, head, "sha256"), self.digests[:_DIGEST_BYTES]):
            return False
        return self.size <= HEAD_BYTES or _hashed(file, stat, self.size, key) == self.digests[_DIGEST_BYTES:]


def beginning_of(file: Path, key: bytes) -> Beginning:
    """Return how a transcript begins, which is all that it is; nothing for one that does not say which it is.

    Blocks; raises OSError.
    """
    with _opened(file) as descriptor:
        stat = file_stat(os.fstat(descriptor))
        head = os.pread(descriptor, HEAD_BYTES, 0)
    if not _is_telling(head):
        return Beginning()
    digest = hmac.digest(key, head, "sha256")
    if stat.size <= len(head):
        return Beginning(len(head), digest)
    return Beginning(stat.size, digest + _hashed(file, stat, stat.size, key))


def begins_alike(one: Path, other: Path) -> bool:
    """Tell whether two transcripts have the same head, and it says which conversation it is. Blocks; raises OSError."""
    with _opened(one) as first, _opened(other) as second:
        size = min(HEAD_BYTES, os.fstat(first).st_size, os.fstat(second).st_size)
        head = os.pread(first, size, 0)
        return _is_telling(head) and head == os.pread(second, size, 0)


def is_one(one: Path, other: Path) -> bool:
    """Tell whether two transcripts are one, or one goes on from the other's end. Blocks; raises OSError."""
    if not begins_alike(one, other):
        return False
    with _opened(one) as first, _opened(other) as second:
        size = min(os.fstat(first).st_size, os.fstat(second).st_size)
        return all(_block(first, at, size) == _block(second, at, size) for at in range(0, size, _BLOCK))


def _is_telling(head: bytes) -> bool:
    return len(head) >= MIN_BYTES and _NAME.search(head) is not None


@lru_cache(maxsize=256)
def _hashed(file: Path, stat: FileStat, size: int, key: bytes) -> bytes:
    """Hash the first bytes of a file in the state that `stat` tells: each look at the folders asks for it."""
    digest = hmac.new(key, digestmod="sha256")
    with _opened(file) as descriptor:
        for at in range(0, size, _BLOCK):
            digest.update(_block(descriptor, at, size))
    return digest.digest()


def _block(descriptor: int, at: int, end: int) -> bytes:
    return os.pread(descriptor, min(_BLOCK, end - at), at)


@contextmanager
def _opened(file: Path) -> Iterator[int]:
    descriptor = open_beneath(file.parent, file.name)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
