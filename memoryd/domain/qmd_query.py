"""A question in the words of qmd: typed sub-queries instead of prose, since qmd wants every word of a line found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Mode = Literal["search", "vsearch", "query"]

MAX_SEARCHES: Final = 10
"""qmd takes no more in one question."""
_MAX_TOGETHER: Final = 16
_MAX_VECTOR_CHARS: Final = 2000


@dataclass(frozen=True, slots=True)
class SubQuery:
    """One line of a question: `lex` wants all its words, `vec` is compared by meaning."""

    type: Literal["lex", "vec"]
    query: str


def sub_queries(mode: Mode, text: str, terms: Sequence[str]) -> tuple[SubQuery, ...]:
    """Return what to ask for a question and its terms; nothing if there is no word to look for.

    Words: all together first, which weighs twice, then each alone, longest first, so that a question in prose finds
    what holds some of it. Meaning: the question as it is.
    """
    words = _words(terms, MAX_SEARCHES - (mode == "query")) if mode in ("search", "query") else []
    meaning = _meaning(text) if mode in ("vsearch", "query") else ""
    vector = [SubQuery("vec", meaning)] if meaning else []
    return (*(SubQuery("lex", line) for line in words), *vector)


def document(searches: Sequence[SubQuery]) -> str:
    """Return the sub-queries as the text that the command line takes."""
    return "\n".join(f"{one.type}: {one.query}" for one in searches)


def _words(terms: Sequence[str], room: int) -> list[str]:
    together = " ".join(terms[:_MAX_TOGETHER])
    if len(terms) < 2:
        return [together] if together else []
    alone = sorted(terms, key=len, reverse=True)[: room - 1]
    return [together, *alone]


def _meaning(text: str) -> str:
    return re.sub(r"[\s\0]+", " ", text).strip()[:_MAX_VECTOR_CHARS]
