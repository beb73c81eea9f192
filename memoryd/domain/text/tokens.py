"""How many tokens a text costs, without a tokenizer: a weight for every character, read off its first UTF-8 byte.

The weights are a least-squares fit to a WordPiece vocabulary over English prose, chat logs, technical Markdown
and Chinese notes; text totals come out within 7 % there, a single line within about 20 %.
"""

import string

import numpy as np
from numpy.typing import NDArray

UNIT = 64
"""Weights are counted in 1/64 of a token, so that a byte holds one and sums are exact."""

ByteArray = NDArray[np.uint8]

_SHORT = 256


def _weight_of_byte(byte: int) -> int:
    char = chr(byte) if byte < 0x80 else ""
    if char in string.ascii_lowercase and char:
        return 13
    if byte < 0x80:
        return _weight_of_ascii(char)
    return _weight_of_lead(byte)


def _weight_of_ascii(char: str) -> int:
    if char in string.ascii_uppercase:
        return 17
    if char in string.digits:
        return 26
    if char in string.punctuation:
        return 77
    return 4 if char == "\n" else 8


def _weight_of_lead(byte: int) -> int:
    """Weigh a whole character by its first byte; the bytes that continue it weigh nothing."""
    if byte < 0xC0:
        return 0
    if byte < 0xE2:  # Latin, Greek, Cyrillic, Hebrew, Arabic; Devanagari, Thai and their neighbours
        return 32
    if byte == 0xE2:  # dashes, quotation marks, arrows, symbols
        return 77
    return 64 if byte < 0xF0 else 128  # Chinese, Japanese, Korean; emoji and rare ideographs


_WEIGHTS = bytes(_weight_of_byte(byte) for byte in range(256))


def weigh(data: bytes, start: int, stop: int) -> ByteArray:
    """Give every byte of a stretch of UTF-8 its weight, in units of 1/64 token."""
    return np.frombuffer(data[start:stop].translate(_WEIGHTS), np.uint8)


def estimate(text: str) -> int:
    """Estimate the tokens of a text, rounded up: 0 only for the empty text.

    English costs about one token per 4 to 4.5 characters, CJK one per character, other scripts one per two,
    emoji two. Any `str` is accepted, lone surrogates too.
    """
    weights = text.encode("utf-8", "surrogatepass").translate(_WEIGHTS)
    if len(weights) < _SHORT:
        return -(-sum(weights) // UNIT)
    return -(-int(np.frombuffer(weights, np.uint8).sum(dtype=np.int64)) // UNIT)
