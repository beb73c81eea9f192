"""Neighbouring words of a question, such as `support group`: where they stand side by side, both mean what is asked.

They are worth asking only if the two are seldom seen together: else they say what their rarer word says. Two names are
no such pair, for names stand together everywhere.
"""

import itertools
import math
import re

from memoryd.domain.text.words import STOP_WORDS, UNSPACED, Phrase, normalised

SHARE = 0.2
"""Of the BM25 of the neighbours counts beside that of the words."""
MOST_TOGETHER = 0.5
"""Of the chunks of the rarer word that hold them side by side."""
MAX_NEIGHBOURS = 8
"""Pairs of one question: each costs the index a phrase."""
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")


def neighbours_in(question: str) -> tuple[Phrase, ...]:
    """Return the pairs of words with nothing but a space between, without words that say nothing alone.

    Scripts without spaces have none: the index cuts them into pairs as they are.
    """
    text = normalised(question)
    words = [(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]
    found = (
        (one.lower(), two.lower())
        for (one, _, end), (two, start, _) in itertools.pairwise(words)
        if text[end:start].isspace() and _tells(one) and _tells(two) and not (one[0].isupper() and two[0].isupper())
    )
    return tuple(itertools.islice(dict.fromkeys(found), MAX_NEIGHBOURS))


def least_apart(together: int) -> int:
    """Return how many chunks must hold each of two words, which so many hold side by side, that this says more."""
    return math.ceil(together / MOST_TOGETHER)


def _tells(word: str) -> bool:
    return len(word) > 1 and word.lower() not in STOP_WORDS and _UNSPACED.search(word) is None
