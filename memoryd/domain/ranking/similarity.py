"""How alike two texts are, by the words they share. What counts as a word follows the MMR of OpenClaw.

Scripts without spaces count by single characters and by pairs of neighbours, all others by whole words: also those
that are not written in Latin letters, which OpenClaw 2026.7 takes for empty texts.
"""

import re
from collections.abc import Set

from memoryd.domain.text.words import UNSPACED, normalised

Tokens = frozenset[str]

_UNITS = re.compile(f"[{UNSPACED}]+|[^\\W{UNSPACED}]+")
_ASCII_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(f"[{UNSPACED}]")

ALIKE = 0.9
"""Share of all words of two texts that must stand in both."""
MIN_SHARED_WORDS, MAX_OTHER_NUMBERS = 8, 2
"""Texts that share at least so many words and differ in so few numbers alone are alike too: a counter, a date."""


def tokens(text: str) -> Tokens:
    """Return the distinct words of a text, in lower case."""
    if text.isascii():
        return frozenset(_ASCII_WORD.findall(text.lower()))
    found: set[str] = set()
    for unit in _UNITS.findall(normalised(text).lower()):
        if _UNSPACED.match(unit):
            found.update(unit)
            found.update(unit[at : at + 2] for at in range(len(unit) - 1))
        else:
            found.add(unit)
    return frozenset(found)


def jaccard(first: Set[str], second: Set[str]) -> float:
    """Return the share of common tokens, 0 to 1; two empty sets tell nothing and count as different."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0


def is_alike(first: Tokens, second: Tokens) -> bool:
    """Tell whether two texts differ in a few words alone, or in a number or two: they may tell two facts, and crowd."""
    least = ALIKE * max(len(first), len(second)) - MAX_OTHER_NUMBERS
    if not first or not second or min(len(first), len(second)) < least or len(first & second) < least:
        # most pairs of many are told apart here
        return False
    if jaccard(first, second) >= ALIKE:
        return True
    others = first ^ second
    is_counted = all(any(sign.isdigit() for sign in word) for word in others)
    return is_counted and len(others) <= MAX_OTHER_NUMBERS and len(first & second) >= MIN_SHARED_WORDS
