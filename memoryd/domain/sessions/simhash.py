"""A hash that is near for near questions: SimHash of their keywords (Charikar 2002, section 3).

Each keyword votes for every of 64 bits by its BLAKE2b digest of eight bytes; a bit is set if more vote for it than
against it. Nothing of it depends on the process, the machine or the version, so that it may be kept in files.
"""

import re
from collections.abc import Collection
from hashlib import blake2b
from typing import Final

BITS: Final = 64
NEAR: Final = 12
"""Questions at most so many bits apart are near; two that have nothing in common are 32 apart, give or take 4."""
_HASH: Final = re.compile("[0-9a-f]{16}")


def simhash(words: Collection[str], text: str = "") -> str:
    """Return 16 hexadecimal digits; of the text itself if there are no words, so that greetings differ too."""
    votes = [0] * BITS
    for word in sorted(set(words)) or [" ".join(text.lower().split())]:
        digest = int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
        for bit in range(BITS):
            votes[bit] += 1 if digest >> bit & 1 else -1
    return f"{sum(1 << bit for bit, vote in enumerate(votes) if vote > 0):016x}"


def hash_value(text: str) -> int | None:
    """Return the number of a hash of ours, None for what another program wrote: such a one is only ever equal."""
    return int(text, 16) if _HASH.fullmatch(text) else None


def distance(first: str, second: str) -> int:
    """Return in how many bits two hashes differ, 0 to 64; 64 for different ones that are not ours."""
    one, other = hash_value(first), hash_value(second)
    if one is None or other is None:
        return 0 if first == second else BITS
    return (one ^ other).bit_count()
