"""A memory in one sentence or in two or three lines, and pairs of memories that say nearly the same.

An abstract is made of slices of the text, with white space folded, so it says nothing that the memory does not say.
Near copies are listed for a person and never folded: the one word or number that differs may be the point.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice

from memoryd.domain.counters import grouped
from memoryd.domain.expressions import expression
from memoryd.domain.memories.book import Memory, newest_first
from memoryd.domain.ranking.selection import is_alike, tokens
from memoryd.domain.text.duplicates import gist
from memoryd.domain.text.sentences import sentences_of
from memoryd.domain.text.words import UNSPACED
from memoryd.replies.knowledge import NearCopiesReply

ABSTRACT_CHARS = 200
"""A longer sentence is cut, at a word where there is one, and ends in `CUT`."""
OVERVIEW_LINES = 3
CUT = "…"
_CLAUSE = expression(r"[,;:，；：、]\s*\Z")
_WORD = expression(rf"[{UNSPACED}]|[^\W{UNSPACED}]{{3,}}")
_TELLING = expression(r"[0-9]|(?<=\S )[A-Z]")
"""Numbers and names."""
_MIN_WORDS = 3


def abstract_of(text: str) -> str:
    """Return the first sentence of a text that says something, at most `ABSTRACT_CHARS` long."""
    sentences = sentences_of(text)
    return shortened(next(filter(_says_something, sentences), sentences[0])) if sentences else ""


def overview_of(text: str) -> str:
    """Return two or three sentences, each on a line, in the order of the text; one where there is no more.

    Beside the abstract those are chosen that say most of what the others speak of.
    """
    sentences = sentences_of(text)
    lead = next((at for at, one in enumerate(sentences) if _says_something(one)), 0)
    worths = _worths(sentences)
    others = sorted((at for at in range(len(sentences)) if at != lead), key=lambda at: (-worths[at], at))
    chosen = sorted([lead, *others[: OVERVIEW_LINES - 1]])
    return "\n".join(shortened(sentences[at]) for at in chosen if at < len(sentences))


def shorter(text: str) -> tuple[tuple[str, str], ...]:
    """Return overview and abstract of a text, each with its name, where they are shorter than it is."""
    forms = (("overview", overview_of(text)), ("abstract", abstract_of(text)))
    least, shorter_forms = len(" ".join(text.split())), list[tuple[str, str]]()
    for name, form in forms:
        if form and len(form) < least:
            shorter_forms.append((name, form))
            least = len(form)
    return tuple(shorter_forms)


def shortened(sentence: str, most: int = ABSTRACT_CHARS) -> str:
    """Return a sentence, or the beginning of one that is longer than `most`, with `CUT` behind it."""
    if len(sentence) <= most:
        return sentence
    beginning = sentence[: most - len(CUT)]
    at = beginning.rfind(" ")
    # a script without blanks is cut anywhere, and so is a word that takes all the room
    beginning = beginning[:at] if at > most // 2 else beginning
    return _CLAUSE.sub("", beginning).rstrip() + CUT


def _says_something(sentence: str) -> bool:
    """Tell whether a sentence can stand alone: no question, no heading of what follows, no greeting."""
    return not sentence.endswith(("?", "？", ":", "：")) and len(_WORD.findall(sentence)) >= _MIN_WORDS


def _worths(sentences: Sequence[str]) -> list[float]:
    """Weigh each sentence by the words that it shares with others, and by the numbers and names in it."""
    words = [frozenset(word.lower() for word in _WORD.findall(one)) for one in sentences]
    spread = Counter(word for each in words for word in each)
    return [
        sum(spread[word] - 1 for word in each) / (1 + len(each)) + 0.5 * bool(_TELLING.search(one))
        for one, each in zip(sentences, words, strict=True)
    ]


MAX_COPIES = 50
"""Pairs that are returned."""
MAX_COMPARED = 60
"""Of the newest memories about the same entities; each is compared with each."""


def copies_across_scopes(memories: Iterable[Memory]) -> list[NearCopiesReply]:
    """Return pairs that say the same about the same entities in several scopes, of one network; the newest first."""
    groups = grouped(
        ((text, memory.line.network, memory.line.attributes.at, memory.slugs), memory)
        for memory in newest_first(memories)
        if (text := gist(memory.text))
    )
    pairs = (pair for group in groups.values() for pair in combinations(group[:MAX_COMPARED], 2))
    across = (pair for pair in pairs if len({one.scope for one in pair}) > 1)
    return [NearCopiesReply(newer=newer.id, older=older.id) for newer, older in islice(across, MAX_COPIES)]


def near_copies(memories: Iterable[Memory]) -> list[NearCopiesReply]:
    """Return pairs that are about the same entities, of one network, and differ in a few words; the newest first."""
    groups = grouped(((memory.line.network, memory.slugs), memory) for memory in newest_first(memories))
    return list(islice((pair for key in sorted(groups) for pair in _pairs(groups[key][:MAX_COMPARED])), MAX_COPIES))


def _pairs(group: Sequence[Memory]) -> Iterator[NearCopiesReply]:
    words = {one.id: tokens(one.text) for one in group} if len(group) > 1 else {}
    for newer, older in combinations(group, 2):
        if is_alike(words[newer.id], words[older.id]):
            yield NearCopiesReply(newer=newer.id, older=older.id)
