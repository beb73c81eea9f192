"""Which of the memories that an agent was told its answer uses: by its citation, or by distinctive words of it.

Words of the question say nothing: whoever repeats it has used nothing. What counts is what the memory adds to it, and
of that the words that few other memories hold.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.kinds import MemoryId, short_id
from memoryd.domain.text.words import MAX_CHARS, normalised, statement_of


class Judgement(StrEnum):
    """What the owner thinks of something that an agent was told for a question."""

    NOISE = "noise"
    """It has nothing to do with the question."""
    WRONG = "wrong"
    """It is not so."""


RARE_MEMORIES = 2
RARE_SHARE = 0.02
"""A word is distinctive that so many memories hold, or no more than this share of them."""
ANSWER_SIGNS = 40 * MAX_CHARS
"""Of a longer answer the beginning counts."""
_PART = 1 / 3
"""Of what a memory adds to the question, an answer that uses it says so much, in two distinctive words or more,"""
_HALF = 1 / 2
"""or so much in one,"""
_MANY = 4
"""or so many distinctive words, whatever else it leaves out."""


def used_memories(
    told: Iterable[tuple[Memory, str]], *, question: str, answer: str, memories: Iterable[Memory]
) -> list[MemoryId]:
    """Return those of the memories told, each with its citation, that an answer uses; `memories` are all there are."""
    question_words, answer_words = _words(question), _words(answer)
    added = {one.id: _words(one.text) - question_words for one, _citation in told}
    rare = _rare_words({word for words in added.values() for word in words & answer_words}, memories)
    return [
        one.id
        for one, citation in told
        if _cites(answer, one.id, citation) or _uses(added[one.id], added[one.id] & answer_words, rare)
    ]


def _rare_words(words: set[str], memories: Iterable[Memory]) -> frozenset[str]:
    """Return the distinctive ones of some words, by how many memories hold each."""
    counts, total = dict.fromkeys(words, 0), 0
    for memory in memories if words else ():
        text = normalised(memory.text).lower()
        total += 1
        for word in words:
            # inside of another word, too: then it is the less distinctive
            counts[word] += word in text
    most = max(RARE_MEMORIES, RARE_SHARE * total)
    return frozenset(word for word, count in counts.items() if count <= most)


def _uses(added: frozenset[str], shared: frozenset[str], rare_words: frozenset[str]) -> bool:
    if not shared:
        return False
    rare, share = len(shared & rare_words), len(shared) / len(added)
    return rare >= _MANY or (rare > 1 and share >= _PART) or (rare > 0 and share >= _HALF)


def _cites(answer: str, memory: MemoryId, citation: str) -> bool:
    # `#L1` is not `#L12`
    names = "|".join(re.escape(name) for name in (citation, short_id(memory)) if name)
    return re.search(rf"(?:{names})(?![0-9A-Za-z])", answer) is not None


def _words(text: str) -> frozenset[str]:
    parts = (text[at : at + MAX_CHARS] for at in range(0, min(len(text), ANSWER_SIGNS), MAX_CHARS))
    return frozenset(word for part in parts for word in statement_of(part).words)
