"""Short forms of a memory (one sentence, or two or three lines), and pairs of memories with nearly the same text.

A short form consists of slices of the text, with white space folded, so it adds nothing to the memory. Near copies are
listed for a person and never merged: the one word or number that differs may be essential.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice

from memoryd.domain.counters import grouped
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Memory, newest_first
from memoryd.domain.ranking.selection import are_similar, tokens
from memoryd.domain.text.duplicates import gist
from memoryd.domain.text.sentences import sentences_of
from memoryd.domain.text.words import UNSPACED
from memoryd.replies.knowledge import NearCopiesReply

ABSTRACT_CHARS = 200
"""A longer sentence is cut, at a word if possible, and ends in `CUT`."""
OVERVIEW_LINES = 3
CUT = "…"
_CLAUSE = expression(r"[,;:，；：、]\s*\Z")
_WORD = expression(rf"[{UNSPACED}]|[^\W{UNSPACED}]{{3,}}")
_NUMBER_OR_NAME = expression(r"[0-9]|(?<=\S )[A-Z]")
_MIN_WORDS = 3


def abstract_of(text: str) -> str:
    """Return the first meaningful sentence of a text, at most `ABSTRACT_CHARS` long."""
    sentences = sentences_of(text)
    return shortened(next(filter(_is_meaningful, sentences), sentences[0])) if sentences else ""


def overview_of(text: str) -> str:
    """Return two or three sentences in the order of the text, each on a line; one if the text has no more.

    Besides the abstract, those are chosen that share most words with the others.
    """
    sentences = sentences_of(text)
    lead = next((at for at, sentence in enumerate(sentences) if _is_meaningful(sentence)), 0)
    worths = _worths(sentences)
    others = sorted((at for at in range(len(sentences)) if at != lead), key=lambda at: (-worths[at], at))
    chosen = sorted([lead, *others[: OVERVIEW_LINES - 1]])
    return "\n".join(shortened(sentences[at]) for at in chosen if at < len(sentences))


def shorter(text: str) -> tuple[tuple[str, str], ...]:
    """Return overview and abstract of a text with their names, each only if it is shorter than the previous form."""
    forms = (("overview", overview_of(text)), ("abstract", abstract_of(text)))
    limit, shorter_forms = len(" ".join(text.split())), list[tuple[str, str]]()
    for name, form in forms:
        if form and len(form) < limit:
            shorter_forms.append((name, form))
            limit = len(form)
    return tuple(shorter_forms)


def shortened(sentence: str, most: int = ABSTRACT_CHARS) -> str:
    """Return a sentence, or the beginning of one longer than `most`, followed by `CUT`."""
    if len(sentence) <= most:
        return sentence
    beginning = sentence[: most - len(CUT)]
    at = beginning.rfind(" ")
    # a script without blanks is cut anywhere, and so is a single very long word
    beginning = beginning[:at] if at > most // 2 else beginning
    return _CLAUSE.sub("", beginning).rstrip() + CUT


def _is_meaningful(sentence: str) -> bool:
    """Return whether a sentence is meaningful alone: no question, no introduction of what follows, no greeting."""
    return not sentence.endswith(("?", "？", ":", "：")) and len(_WORD.findall(sentence)) >= _MIN_WORDS


def _worths(sentences: Sequence[str]) -> list[float]:
    """Return the weight of each sentence: by the words that it shares with others, and by its numbers and names."""
    words = [frozenset(word.lower() for word in _WORD.findall(sentence)) for sentence in sentences]
    spread = Counter(word for distinct in words for word in distinct)
    return [
        sum(spread[word] - 1 for word in distinct) / (1 + len(distinct)) + 0.5 * bool(_NUMBER_OR_NAME.search(sentence))
        for sentence, distinct in zip(sentences, words, strict=True)
    ]


MAX_COPIES = 50
"""Most pairs returned."""
MAX_COMPARED = 60
"""The newest memories about the same entities that are compared with each other."""


def copies_across_scopes(memories: Iterable[Memory]) -> list[NearCopiesReply]:
    """Return pairs with the same text, entities and network in different scopes, newest first."""
    groups = grouped(
        ((text, memory.line.network, memory.line.attributes.at, memory.slugs), memory)
        for memory in newest_first(memories)
        if (text := gist(memory.text))
    )
    pairs = (pair for group in groups.values() for pair in combinations(group[:MAX_COMPARED], 2))
    across = (pair for pair in pairs if len({memory.scope for memory in pair}) > 1)
    return [NearCopiesReply(newer=newer.id, older=older.id) for newer, older in islice(across, MAX_COPIES)]


def near_copies(memories: Iterable[Memory]) -> list[NearCopiesReply]:
    """Return pairs with the same entities and network that differ in a few words, newest first."""
    groups = grouped(((memory.line.network, memory.slugs), memory) for memory in newest_first(memories))
    return list(islice((pair for key in sorted(groups) for pair in _pairs(groups[key][:MAX_COMPARED])), MAX_COPIES))


def _pairs(group: Sequence[Memory]) -> Iterator[NearCopiesReply]:
    words = {memory.id: tokens(memory.text) for memory in group} if len(group) > 1 else {}
    for newer, older in combinations(group, 2):
        if are_similar(words[newer.id], words[older.id]):
            yield NearCopiesReply(newer=newer.id, older=older.id)
