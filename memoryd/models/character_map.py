"""What a SentencePiece tokenizer replaces in a text before it looks for pieces, in the form that llama.cpp reads.

That form (`tokenizer.ggml.precompiled_charsmap`) is a trie over the bytes of UTF-8 in one array, followed by the
replacements: https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp (`llm_tokenizer_ugm`). A node at
place `p` has a base `b`, written as `p ^ b`; its child by the byte `c` stands at `b ^ c` and repeats `c`; what the
node replaces stands at `b` itself. No two nodes share a base.
"""

import struct
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

END: Final = 0
"""The label of a node's own replacement; no byte of a key, for llama.cpp ends a text there."""
HAS_VALUE: Final = 1 << 8
IS_VALUE: Final = 1 << 31
BASE_SHIFT: Final = 10
BLOCK: Final = 256
"""A child lies in the block of its parent's base, so that whole blocks keep every look-up inside."""
UNITS_MAX: Final = 1 << 21
"""What a base can reach without the multiplier of the format, which this writer does not use."""


def compile_map(replacements: Mapping[str, str]) -> bytes:
    """Return the map of each key to its replacement, which may be empty; of keys that fit the longest counts.

    Raises ValueError for an empty key, for a NUL in a text, and for more than fits.
    """
    values, offsets = bytearray(), dict[bytes, int]()
    for text, replacement in replacements.items():
        if not text or "\0" in text + replacement:
            raise ValueError(f"cannot map {text!r} to {replacement!r}")
        offsets[text.encode()] = len(values)
        values += replacement.encode() + b"\0"
    trie = _Trie()
    places = {b"": 0}
    for key, labels in sorted(_labels(offsets).items()):
        base = trie.add(places[key], sorted(labels), offsets.get(key, 0))
        places |= {key + bytes([label]): base ^ label for label in labels if label != END}
    units = trie.units.tobytes()
    return struct.pack("<I", len(units)) + units + values


def _labels(keys: Iterable[bytes]) -> dict[bytes, set[int]]:
    """Return for each beginning of a key the bytes that go on from there, and END where a key ends."""
    labels: dict[bytes, set[int]] = {b"": set()}
    for key in keys:
        for at, byte in enumerate(key):
            labels.setdefault(key[:at], set()).add(byte)
        labels.setdefault(key, set()).add(END)
    return labels


class _Trie:
    """Nodes in an array of whole blocks; a place that no node has holds 0."""

    def __init__(self) -> None:
        self.units = np.zeros(BLOCK, "<u4")
        self._is_free = np.ones(BLOCK, bool)
        self._is_free[0] = False  # the root
        self._is_base = np.zeros(BLOCK, bool)

    def add(self, place: int, labels: list[int], value: int) -> int:
        """Give the node at `place` a base and its children, in ascending order of their labels, places; the base."""
        base = self._free_base(np.array(labels, np.intp))
        self._is_base[base] = True
        self.units[place] |= (place ^ base) << BASE_SHIFT
        for label in labels:
            self._is_free[base ^ label] = False
            self.units[base ^ label] = label
        if labels[:1] == [END]:
            self.units[place] |= HAS_VALUE
            self.units[base] = IS_VALUE | value
        return base

    def _free_base(self, labels: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> int:
        bases = np.flatnonzero(~self._is_base)
        fits = self._is_free[bases[:, None] ^ labels].all(axis=1)
        if fits.any():
            return int(bases[fits.argmax()])
        if len(self.units) >= UNITS_MAX:
            raise ValueError("the character map is too large")
        start = len(self.units)
        self.units = np.append(self.units, np.zeros(BLOCK, "<u4"))
        self._is_free = np.append(self._is_free, np.ones(BLOCK, bool))
        self._is_base = np.append(self._is_base, np.zeros(BLOCK, bool))
        return start
