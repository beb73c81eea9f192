"""Which words of a long message are looked for: those of its questions, and beside them those that are rare in notes.

A message may have hundreds of words, and each costs the index time; most are of what is told around the question. By
place the question at the end would be lost. What stands in none of the notes finds nothing, and what stands in many
says little, so of the others those count that stand in the fewest.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.text.words import query_terms

MOST_COUNTED: Final = 512
"""Words of one message of which is asked how rare they are: of more the beginning and the end."""
ENOUGH_HOLDERS: Final = 256
"""Chunks that hold a word, beyond which it is as usual as any other."""
SHARE_BESIDE: Final = 0.5
"""Of the limit is filled where something is asked: what stands around a question only helps to find its matter."""
_SENTENCE: Final = expression(r"[^.!?;。！？；\n]*+(?:\.(?!\s)[^.!?;。！？；\n]*+)*+(?P<end>[.!?;。！？；\n]|\Z)")
_ASKS: Final = expression(
    r"\A\W*(?:and\s|but\s|so\s)?(?:what|which|who|whom|whose|why|how|(?:when|where)\s(?:do|did|does|is|are|was|were|will|can))"
    r"(?:'s|s)?\b|什么|甚麼|什麼|哪|谁|誰|多少|怎么|怎麼|如何|几[个點点号時时天年次岁]|[吗嗎]\s*\W?\Z",
    re.IGNORECASE,
)
"""A question without its mark; `when` and `where` often begin what is told."""


class LongMessage(Struct, frozen=True):
    """The distinct terms of a message that has more than `limit`, in order; `asked` are those of its questions."""

    terms: tuple[str, ...]
    asked: frozenset[str]
    limit: int

    def by_place(self) -> tuple[str, ...]:
        """Return those to look for where nobody knows the notes: what is asked, and else the first ones."""
        return self._first(sorted(self.terms, key=lambda term: term not in self.asked))

    def by_rarity(self, holders: Mapping[str, int]) -> tuple[str, ...]:
        """Return those to look for in notes of which so many chunks hold each; what stands in none is left out."""
        known = [term for term in self.terms if holders.get(term)]
        room = self.limit if not self.asked else max(1, int(self.limit * SHARE_BESIDE))
        asked = [term for term in known if term in self.asked][: self.limit]
        others = sorted((term for term in known if term not in self.asked), key=lambda term: holders[term])
        return self._in_order({*asked, *others[: max(0, room - len(asked))]}) or self.by_place()

    def _first(self, terms: list[str]) -> tuple[str, ...]:
        return self._in_order(set(terms[: self.limit]))

    def _in_order(self, chosen: set[str]) -> tuple[str, ...]:
        return tuple(term for term in self.terms if term in chosen)


def long_message(text: str, terms: Sequence[str], limit: int) -> LongMessage | None:
    """Return the terms of a text as what to choose from; None where there are no more than may be looked for."""
    if len(terms) <= limit:
        return None
    most = max(limit, MOST_COUNTED)
    counted = terms if len(terms) <= most else [*terms[: most // 2], *terms[-(most - most // 2) :]]
    asked = query_terms(asked_in(text), limit=len(text) + 1)
    return LongMessage(tuple(counted), frozenset(counted).intersection(asked), limit)


def asked_in(text: str) -> str:
    """Return the sentences of a text that end with a question mark; without any those that have a word of questions."""
    sentences = list(_SENTENCE.finditer(text))
    marked = [match[0] for match in sentences if match["end"] in ("?", "？")]
    return "\n".join(marked or [match[0] for match in sentences if _ASKS.search(match[0])])
