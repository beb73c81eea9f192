"""The words of a memory, found again in any text, however white space and case differ there."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from memoryd.domain.text.words import UNSPACED

FORGOTTEN: Final = "[forgotten]"
"""What stands where the words of a forgotten memory stood."""
LEAST_CHARS: Final = 6
"""A shorter text stands in many sentences that say something else; it is found only where it is all that is said."""
END_MARKS: Final = ".!?…,;:。！？，；：、"
"""What may end a sentence or a part of one: who says it again may leave it out, or put another."""
QUOTES: Final = "\"'`*“”„‟‚‘’‛«»‹›「」『』"
"""What may stand around words without saying anything: quotation marks and emphasis."""
_QUOTED_WORDS: Final = 200
"""So many words at most are looked for in quotation marks, too: a pattern for more of them is slow to make."""
_QUOTE: Final = "(?:[\"'*`«»]|[‘-‟]|[「-』])*"
_LETTER: Final = f"[^\\W{UNSPACED}]"
"""Of a script with spaces: there words have edges."""
_IS_LETTER: Final = re.compile(_LETTER)


@dataclass(frozen=True)
class SaidWords:
    """A text that may stand inside others. Composed letters count as their compositions (NFC), case not at all.

    Neither do the marks at its end, nor quotation marks around its words.
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
        first, last = words[0].strip(QUOTES) or words[0], _core(words[-1])
        if not _is_short(words, self.least) and _is_short([*words[:-1], last], self.least):
            last = words[-1]
        gap = rf"{_QUOTE}\s+{_QUOTE}" if len(words) <= _QUOTED_WORDS else r"\s+"
        inner = gap.join(map(re.escape, [*(word.strip(QUOTES) or word for word in words[:-1]), last]))
        if _is_short(words, self.least):
            # signs around it may be many: only where they cannot be its own
            around = r"\W*" if first[0].isalnum() and last[-1].isalnum() else r"\s*"
            return re.compile(rf"\A{around}{inner}{around}\Z", re.IGNORECASE)
        before = rf"(?<!{_LETTER})" if _IS_LETTER.match(first) else ""
        after = rf"(?!{_LETTER})" if _IS_LETTER.match(last[-1]) else ""
        # a five is no part of 2.5, nor of 9:35
        before += "(?<![0-9][.,:])" if first[0].isdecimal() else ""
        after += "(?![.,:][0-9])" if last[-1].isdecimal() else ""
        # its own mark goes with it where it stands
        own = words[-1][-1]
        mark = f"{re.escape(own)}?" if own in END_MARKS and last != words[-1] else ""
        return re.compile(f"{before}{inner}{after}{mark}", re.IGNORECASE)


def _is_short(words: Sequence[str], least: int) -> bool:
    return sum(map(len, words)) < least


def _core(word: str) -> str:
    """Return a word without quotation marks around it and marks behind it; of these alone they are what it says."""
    return word.strip(QUOTES).rstrip(END_MARKS + QUOTES) or word


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
