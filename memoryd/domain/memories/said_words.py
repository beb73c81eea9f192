"""The words of a memory, found again in any text, however white space and case differ there."""

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from memoryd.domain.text.words import UNSPACED

FORGOTTEN: Final = "[forgotten]"
"""What stands where the words of a forgotten memory stood."""
LEAST_CHARS: Final = 6
"""A shorter text stands in many sentences that say something else; it is found only where it is all that is said."""
_LETTER: Final = f"[^\\W{UNSPACED}]"
"""Of a script with spaces: there words have edges."""
_IS_LETTER: Final = re.compile(_LETTER)


@dataclass(frozen=True)
class SaidWords:
    """A text that may stand inside others. Composed letters count as their compositions (NFC), case not at all.

    One of fewer signs than `least` stands only where it is all that is said.
    """

    text: str
    least: int = LEAST_CHARS

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.text.split()

    def stand_in(self, other: str) -> bool:
        """Tell whether the words stand in another text, whole and in a row."""
        return not self.is_empty and self._pattern.search(_composed(other)) is not None

    def cut_from(self, other: str) -> str:
        """Return the other text with `[forgotten]` in their stead; itself where they do not stand in it."""
        composed = _composed(other)
        if self.is_empty or self._pattern.search(composed) is None:
            return other
        return self._pattern.sub(lambda _: FORGOTTEN, composed)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        words = _composed(self.text).split()
        inner = r"\s+".join(map(re.escape, words))
        if sum(map(len, words)) < self.least:
            return re.compile(rf"\A\s*{inner}\s*\Z", re.IGNORECASE)
        before = rf"(?<!{_LETTER})" if _IS_LETTER.match(words[0]) else ""
        after = rf"(?!{_LETTER})" if _IS_LETTER.match(words[-1][-1]) else ""
        # a five is no part of 2.5, nor of 9:35
        before += "(?<![0-9][.,:])" if words[0][0].isdecimal() else ""
        after += "(?![.,:][0-9])" if words[-1][-1].isdecimal() else ""
        return re.compile(f"{before}{inner}{after}", re.IGNORECASE)


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
