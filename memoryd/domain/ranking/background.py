"""How common words are in their language: what a few notes cannot tell, since in them every word is rare.

The table is packed into a row for each term, in the order of the bytes of the terms: it takes half a megabyte of
memory, where a dict takes four.
"""

import math
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate
from typing import Final

CHUNK_WORDS: Final = 150
"""Words, or pairs of characters, of a usual chunk."""
_FIRST, _STEP = 33, 0.1
"""The last byte of a row is this and more: one for each tenth of a natural logarithm that the term is rarer."""
_LAST: Final = 255


class Background:
    """How often terms are among all words of their language; raises ValueError if `data` is no packed table."""

    def __init__(self, data: bytes) -> None:
        try:
            self._rows = zlib.decompress(data)
        except zlib.error as exc:
            raise ValueError(f"this is no table of words: {exc}") from exc
        starts = accumulate((len(row) + 1 for row in self._rows.split(b"\n")[:-1]), initial=0)
        self._starts = array("I", starts)

    def commonness(self, term: str) -> float:
        """Return the chance that a usual chunk of the language holds a term of the index, 0 to 1; 0 for what is rare.

        A term is in lower case and without accents. What is not in the table is rare; so are numbers and codes.
        """
        # of words that come by chance (Poisson), at least one
        return -math.expm1(-CHUNK_WORDS * self._share(term.encode("utf-8", "surrogatepass")))

    def _share(self, term: bytes) -> float:
        at = bisect_left(self._starts, term, key=self._term)
        if at == len(self._starts) or self._term(self._starts[at]) != term:
            return 0.0
        return math.exp(-(self._rows[self._starts[at] + len(term)] - _FIRST) * _STEP)

    def _term(self, start: int) -> bytes:
        end = self._rows.find(b"\n", start)
        return self._rows[start : end - 1 if end > 0 else -1]


def packed(shares: Mapping[str, float]) -> bytes:
    """Return the table of terms and how often each is among all, above 0 and at most 1."""
    rows = sorted((term.encode(), share) for term, share in shares.items())
    return zlib.compress(b"\n".join(term + bytes([_sign(share)]) for term, share in rows), 9)


def _sign(share: float) -> int:
    return min(_LAST, _FIRST + round(-math.log(share) / _STEP))
