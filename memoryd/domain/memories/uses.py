"""Which of the memories given to an agent its answer uses: by citation, or by distinctive words.

Words of the question do not count, because an answer may repeat them. Only words that the memory adds count, and of
these the ones that few other memories have.
"""

import re
from collections.abc import Iterable
from enum import StrEnum

from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.kinds import MemoryId, short_id
from memoryd.domain.text.words import MAX_CHARS, normalised, statement_of


class Judgement(StrEnum):
    """The owner's judgement of an item that an agent was given for a question."""

    NOISE = "noise"
    """It is unrelated to the question."""
    WRONG = "wrong"
    """It is not true."""


RARE_MEMORIES = 2
RARE_SHARE = 0.02
"""A word is distinctive if at most `RARE_MEMORIES` memories have it, or this share of all."""
ANSWER_SIGNS = 40 * MAX_CHARS
"""Only the beginning of a longer answer counts."""
_PART = 1 / 3
"""An answer uses a memory if it has this share of the added words, with two distinctive words or more,"""
_HALF = 1 / 2
"""or this share, with one distinctive word,"""
_MANY = 4
"""or this number of distinctive words, whatever the share."""


def used_memories(
    returned: Iterable[tuple[Memory, str]], *, question: str, answer: str, memories: Iterable[Memory]
) -> list[MemoryId]:
    """Return those of the returned memories, each given with its citation, that an answer uses.

    `memories` are all memories of the workspace.
    """
    question_words, answer_words = _words(question), _words(answer)
    added = {memory.id: _words(memory.text) - question_words for memory, _citation in returned}
    rare = _rare_words({word for words in added.values() for word in words & answer_words}, memories)
    return [
        memory.id
        for memory, citation in returned
        if _cites(answer, memory.id, citation) or _uses(added[memory.id], added[memory.id] & answer_words, rare)
    ]


def _rare_words(words: set[str], memories: Iterable[Memory]) -> frozenset[str]:
    """Return the distinctive words, by the number of memories that contain each."""
    counts, total = dict.fromkeys(words, 0), 0
    for memory in memories if words else ():
        text = normalised(memory.text).lower()
        total += 1
        for word in words:
            # also counted within another word, which makes it less distinctive
            counts[word] += word in text
    limit = max(RARE_MEMORIES, RARE_SHARE * total)
    return frozenset(word for word, count in counts.items() if count <= limit)


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
