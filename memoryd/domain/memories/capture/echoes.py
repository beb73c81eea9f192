"""The echo firewall: what was told of the memory in a session is not learned from it anew.

Of a span that was delivered hashes alone are kept, of its words and of each three in a row. A sentence is an echo of
it if it says the same, or quotes it at length, and brings no number and no negation of its own: who corrects what was
told brings one.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from memoryd.domain.text.negations import statement_of
from memoryd.domain.text.words import UNSPACED, normalised

HASH_BYTES: Final = 8
SIGNS_MAX: Final = 2000
"""Of a longer span the beginning counts."""
RUN: Final = 3
QUOTED_SHARE: Final = 0.6
"""A sentence whose runs of words were delivered to this share is an echo."""
LEAST_WORDS: Final = 3
_UNIT: Final = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_DIGITS: Final = re.compile(r"\d")

SpanHash = Callable[[str], bytes]
"""From a word or a run of them to `HASH_BYTES` bytes; keyed, so that nobody can try what they are of."""


@dataclass(frozen=True, slots=True)
class SpanPrint:
    """What is kept of a span: the hash of all of it, those of its words and runs, and whether it negates."""

    whole: bytes
    words: frozenset[bytes]
    runs: frozenset[bytes]
    is_negated: bool


def keyed(key: bytes) -> SpanHash:
    """Return what hashes with a key (up to 64 bytes)."""

    def hashed(text: str) -> bytes:
        return blake2b(text.encode("utf-8", "surrogatepass"), key=key, digest_size=HASH_BYTES).digest()

    return hashed


def span_print(text: str, hashed: SpanHash) -> SpanPrint | None:
    """Return the print of a span; None if it says nothing."""
    told = text[:SIGNS_MAX]
    units = _units(told)
    if not units:
        return None
    return SpanPrint(
        whole=hashed(" ".join(units)),
        words=frozenset(map(hashed, units)),
        runs=frozenset(map(hashed, _runs(units))),
        is_negated=statement_of(told).is_negated,
    )


def is_echo(text: str, delivered: Iterable[SpanPrint], hashed: SpanHash) -> bool:
    """Tell whether a sentence says what was delivered, and nothing else."""
    own = span_print(text, hashed)
    if own is None:
        return False
    numbers = frozenset(hashed(unit) for unit in _units(text[:SIGNS_MAX]) if _DIGITS.search(unit))
    return any(_repeats(own, numbers, span) for span in delivered)


def _repeats(own: SpanPrint, numbers: frozenset[bytes], span: SpanPrint) -> bool:
    if own.whole == span.whole:
        return True
    if not numbers <= span.words or own.is_negated != span.is_negated or len(own.words) < LEAST_WORDS:
        return False
    return bool(own.runs) and len(own.runs & span.runs) >= QUOTED_SHARE * len(own.runs)


def _units(text: str) -> list[str]:
    return _UNIT.findall(normalised(text).casefold())


def _runs(units: list[str]) -> list[str]:
    return [" ".join(units[at : at + RUN]) for at in range(len(units) - RUN + 1)]
