"""What a statement says apart from whether it says so: its telling words without negations, and how many those are.

Explicit wording alone counts, English and Chinese: not, never, no longer, don't, cannot · 不, 不再, 从不, 没, 未. What
only looks like one (not only, 不错, 没关系, 是不是) is left alone. This finds what a person should look at; it decides
nothing.
"""

import re
from dataclasses import dataclass
from typing import Final

from memoryd.domain.text.spelling import HAN, one_sign
from memoryd.domain.text.words import STOP_WORDS, spoken_words

MAX_SIGNS: Final = 2000
"""Of a longer text the beginning counts."""
_IDLE: Final = re.compile(
    r"\b(?:not only|not just|not least|never mind|why not|whether or not|or not)\b|"
    r"不得不|不好意思|差不多|对不起|了不起|来不及|不一定|不[错同过仅但少断久管论如然止只]|没关系|没问题|没事|未来|未必"
    rf"|(?P<sign>[{HAN}])[不没](?P=sign)"
)
_NEGATION: Final = re.compile(
    r"\bno longer\b|\bnot\b(?: any ?more\b)?|\bnever\b|\bcannot\b"
    r"|(?:\b(?:ca|wo|sha))?n't\b|\b(?:do|does|did|is|are|was|were|has|have|had|would|could|should)nt\b"
    r"|(?P<han>(?:从来|从|并|再也|也|都|已经|已)?[不没未](?:再|会再)?)"
)
_FORMS: Final = {"has": "have", "had": "have", "is": "be", "are": "be", "was": "be", "were": "be", "goes": "go"}
_SIBILANTS: Final = ("ches", "shes", "sses", "xes", "zes")
_SHORTEST: Final = 4
"""Shorter words have no ending of a verb: `gas`, `bus`."""


@dataclass(frozen=True, slots=True)
class Statement:
    """The telling words of a text, with English verbs in one form, and how often it negates."""

    words: frozenset[str]
    negations: int

    @property
    def is_negated(self) -> bool:
        """Whether it says that something is not so: twice not is so."""
        return self.negations % 2 == 1


def statement_of(text: str) -> Statement:
    """Return what a text states; for texts of any length, in time that grows with it."""
    told = _IDLE.sub(lambda match: " " * len(match[0]), one_sign(text[:MAX_SIGNS]).lower())
    # a Chinese one stands inside a run, whose pairs must be those of the same run without it
    bare, count = _NEGATION.subn(lambda match: "" if match["han"] else " ", told)
    words = spoken_words(bare)
    telling = frozenset(_base_form(word) for word in words if word not in STOP_WORDS)
    return Statement(telling or frozenset(words), count)


def _base_form(word: str) -> str:
    if word in _FORMS:
        return _FORMS[word]
    if not word.isascii() or len(word) < _SHORTEST or word.endswith("ss") or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(_SIBILANTS) else word[:-1]
