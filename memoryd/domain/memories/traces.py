"""What is left of a memory where it was copied: in rows of changes, in diffs, on pages that reflect made.

Rather too much is taken for a trace than too little: it costs an undo, or a line that is written anew.
"""

import re
import unicodedata
from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property

from memoryd.domain.memories.identity import ShortId
from memoryd.domain.memories.said_words import END_MARKS, LEAST_CHARS, SaidWords

_BEFORE = r"(?:^[ \t+*>-]*|[:：][ \t]*|\")"
"""What stands before a short text: nothing but signs of a list or a diff, or the head of a bullet."""
_AFTER = rf"[{re.escape(END_MARKS)}]*(?:[ \t]*$|\")"


@dataclass(frozen=True)
class Traces:
    """Of memories by the words they say, and by their ids, as links on pages name them."""

    said: tuple[SaidWords, ...]
    ids: Set[ShortId] = frozenset()

    def are_in(self, text: str) -> bool:
        """Tell whether anything of them is in a text: all words, one line of several, or an id."""
        composed = text if text.isascii() else unicodedata.normalize("NFC", text)
        return (
            self.are_named_in(text)
            or any(words.stand_in(text) for words in self._long)
            or (self._short is not None and self._short.search(composed) is not None)
        )

    def are_named_in(self, text: str) -> bool:
        """Tell whether a link in a text names one of them."""
        return self._titles is not None and self._titles.search(text) is not None

    @cached_property
    def _pieces(self) -> tuple[str, ...]:
        lines = (line.strip() for words in self.said for line in words.text.split("\n"))
        return tuple(dict.fromkeys(filter(None, lines)))

    @cached_property
    def _long(self) -> tuple[SaidWords, ...]:
        return (*self.said, *(SaidWords(piece) for piece in self._pieces if not _is_short(piece)))

    @cached_property
    def _short(self) -> re.Pattern[str] | None:
        """What finds lines too short to be looked for within others: they are all that a line says."""
        short = [_bare(piece).split() for piece in self._pieces if _is_short(piece)]
        inner = "|".join(r"[ \t]+".join(map(re.escape, words)) for words in short)
        return re.compile(f"{_BEFORE}(?:{inner}){_AFTER}", re.IGNORECASE | re.MULTILINE) if short else None

    @cached_property
    def _titles(self) -> re.Pattern[str] | None:
        return re.compile(f'"(?:{"|".join(map(re.escape, sorted(self.ids)))})"') if self.ids else None


def _bare(text: str) -> str:
    composed = unicodedata.normalize("NFC", text)
    return composed.rstrip(END_MARKS) or composed


def _is_short(text: str) -> bool:
    return sum(map(len, text.split())) < LEAST_CHARS
