"""Search for the lines that a sentence may revise, by their words.

An index of words is updated with each change of the book. Of ten thousand lines, a sentence is compared with the few
that have most of its words, weighted by rarity.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from datetime import date
from functools import cached_property, lru_cache
from itertools import islice
from threading import Lock

from msgspec import Struct

from memoryd.domain.expressions import caseless
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.capture.corrections import is_name
from memoryd.domain.memories.capture.values import ContentWords, Rarity, content, values_in
from memoryd.domain.memories.facts.values import HAN_SIGN
from memoryd.domain.memories.generated import subject_line
from memoryd.domain.memories.kinds import Kind, MemoryId
from memoryd.domain.memories.line import CACHED_LINES

_REVISABLE = frozenset(Kind) - {
    Kind.EXPERIENCE,
    Kind.OBSERVATION,
    Kind.LESSON,
    Kind.FAILURE,
    Kind.SUMMARY,
    Kind.SESSION,
}
"""Kinds of memories that can be revised; events, lessons and summaries cannot."""
NEAR_MAX = 32
"""Most lines that one sentence is compared with."""
ALIKE_MAX = 8
"""Most lines that may hold again, and most lines similar to one of them."""
_INDEXES_MAX = 8
"""Number of workspaces whose indexes are kept, the last used."""
_LIVES = caseless(
    r"\W*(?:i|we) (?:\w+ )?live\b|\W*(?:i(?:ch)?|wir) (?:\w+ )?wohn(?:en?)?\b"
    r"|我们?(?:现在|目前|一直|暂时|已经|平时|自己|独自|还|也|都|就)?住|我家[住在]"
)
"""A statement of the author's home, which a move revises, whatever words it uses."""


class Candidate(Struct, frozen=True):
    """A memory that a sentence may be about, with the text to compare, and all content words of its line."""

    memory: Memory
    text: str
    words: ContentWords


@lru_cache(maxsize=CACHED_LINES)
def memory_words(text: str, entities: tuple[str, ...]) -> ContentWords:
    """Return the content words of a memory, under which it is indexed."""
    return content(" ".join((text, *entities)))


@lru_cache(maxsize=CACHED_LINES)
def memory_values(text: str) -> Mapping[str, frozenset[str]]:
    """Return the keys of the values in a memory by their kinds."""
    keys: dict[str, frozenset[str]] = {}
    for value in values_in(text):
        keys[value.kind] = keys.get(value.kind, frozenset()) | {value.key}
    return keys


def says_home(line: Candidate) -> bool:
    """Return whether a line says where its author lives."""
    return _LIVES.match(line.text) is not None


class _Index:
    """Word index of the lines of a workspace, for the last book that was followed."""

    def __init__(self) -> None:
        self.memories: Mapping[MemoryId, Memory] = {}
        self.lines: dict[MemoryId, Candidate] = {}
        self.with_word: defaultdict[str, set[MemoryId]] = defaultdict(set)
        self.homes, self.names = set[MemoryId](), set[MemoryId]()
        self.counts: dict[tuple[str, date | None], _Counts] = {}
        """Counts of the last scope and day."""

    def follow(self, memories: Mapping[MemoryId, Memory]) -> None:
        """Apply the changes since the last book."""
        before = self.memories
        if memories is before:
            return
        for key, memory in before.items():
            if memories.get(key) is not memory:
                self._remove(key)
        for key, memory in memories.items():
            if before.get(key) is not memory:
                self._add(memory)
        self.memories, self.counts = memories, {}

    def _add(self, memory: Memory) -> None:
        key, line = memory.id, memory.line
        if line.kind not in _REVISABLE:
            return
        # a statement about another line is compared by the text of that line
        text = subject_line(line.text) or line.text
        candidate = self.lines[key] = Candidate(memory, text, memory_words(line.text, line.entities))
        for word in candidate.words:
            self.with_word[word].add(key)
        if says_home(candidate):
            self.homes.add(key)
        if is_name(memory):
            self.names.add(key)

    def _remove(self, key: MemoryId) -> None:
        for word in self.lines.pop(key).words if key in self.lines else ():
            self.with_word[word].discard(key)
            if not self.with_word[word]:
                del self.with_word[word]
        self.homes.discard(key)
        self.names.discard(key)


_indexes: list[_Index] = []
"""Indexes, the last used first."""
LOCK = Lock()
"""Guards the indexes. It is held while a sentence is compared with lines, so that its index follows no other book."""


def drop_lines() -> None:
    """Remove all cached words and indexes."""
    memory_words.cache_clear()
    memory_values.cache_clear()
    with LOCK:
        _indexes.clear()


def _index_of(book: Book) -> _Index:
    """Return the index of a book's workspace, updated; two books of one workspace share most memories."""
    index = next((index for index in _indexes if _are_alike(index.memories, book.memories)), None) or _Index()
    if index in _indexes:
        _indexes.remove(index)
    _indexes.insert(0, index)
    del _indexes[_INDEXES_MAX:]
    index.follow(book.memories)
    return index


def _are_alike(first: Mapping[MemoryId, Memory], second: Mapping[MemoryId, Memory]) -> bool:
    return first is second or 2 * len(first.keys() & second.keys()) > max(len(first), len(second))


class ValidLines:
    """The valid lines of a scope on a day. Use them while `LOCK` is held."""

    def __init__(self, book: Book, scope: str, day: date | None) -> None:
        self._index, self._scopes, self._day = _index_of(book), {scope, ""}, day
        if (counts := self._index.counts.get((scope, day))) is None:
            visible = (olds for newer, olds in book.superseded.items() if self._is_visible(newer))
            counts = _Counts(self._index.with_word, frozenset(old for olds in visible for old in olds))
            self._index.counts = {(scope, day): counts}
        self._outdated = counts.outdated
        lines = len(self._index.lines) - len(self._outdated & self._index.lines.keys())
        self.rarity = Rarity(counts, lines)

    def _is_visible(self, key: MemoryId) -> bool:
        line = self._index.lines.get(key)
        if line is None or line.memory.scope not in self._scopes:
            return False
        return self._day is None or line.memory.recorded <= self._day

    def _visible(self, keys: Iterable[MemoryId], *, with_outdated: bool = False) -> Iterator[Candidate]:
        for key in keys:
            if self._is_visible(key) and (with_outdated or key not in self._outdated):
                yield self._index.lines[key]

    @cached_property
    def own_names(self) -> ContentWords:
        """Content words of the lines with the author's name."""
        return frozenset[str]().union(*(line.words for line in self._visible(self._index.names)))

    @property
    def homes(self) -> Iterator[Candidate]:
        """Lines that say where the author lives."""
        return self._visible(self._index.homes)

    def having(self, words: Collection[str]) -> Iterator[Candidate]:
        """Yield the lines that contain all of the words."""
        sets = [self._index.with_word.get(word, set()) for word in words]
        return self._visible(set.intersection(*sets) if sets else ())

    def near(self, words: Collection[str]) -> tuple[list[Candidate], float]:
        """Return the `NEAR_MAX` lines with most of the words, or with a part of one, and the weight of the next line.

        The next line's weight, 0 without one, shows whether the sentence could as well mean a line that is left out.
        """
        weights = self._weights(words)
        if len(weights) < NEAR_MAX:
            # a word may be a part of a compound in a line, and a Chinese character occurs in several pairs
            weights |= dict.fromkeys(self._with_part(words) - weights.keys(), 0.0)
        lines = list(islice(self._by_weight(weights), NEAR_MAX + 1))
        return lines[:NEAR_MAX], weights[lines[-1].memory.id] if len(lines) > NEAR_MAX else 0.0

    def alike(self, words: Collection[str], *, with_outdated: bool = False) -> list[Candidate]:
        """Return the `ALIKE_MAX` lines with most of the words."""
        return list(islice(self._by_weight(self._weights(words), with_outdated=with_outdated), ALIKE_MAX))

    def weight(self, line: Candidate, words: Iterable[str]) -> float:
        """Return the weight of those of the words that a line contains."""
        return self.rarity.weight(line.words.intersection(words))

    def _weights(self, words: Iterable[str]) -> dict[MemoryId, float]:
        weights = defaultdict[MemoryId, float](float)
        for word in words:
            weight = self.rarity.weight((word,))
            for key in self._index.with_word.get(word, ()):
                weights[key] += weight
        return weights

    def _by_weight(self, weights: Mapping[MemoryId, float], *, with_outdated: bool = False) -> Iterator[Candidate]:
        return self._visible(sorted(weights, key=lambda key: -weights[key]), with_outdated=with_outdated)

    def _with_part(self, words: Iterable[str]) -> set[MemoryId]:
        stems = [word for word in words if not HAN_SIGN.match(word)]
        signs = frozenset("".join(word for word in words if HAN_SIGN.match(word)))
        lines = set[MemoryId]()
        for word, keys in self._index.with_word.items():
            if not signs.isdisjoint(word) or any(stem in word for stem in stems):
                lines |= keys
        return lines


class _Counts(Mapping[str, int]):
    """Number of valid lines by word, counted when it is first asked for."""

    def __init__(self, with_word: Mapping[str, Set[MemoryId]], outdated: frozenset[MemoryId]) -> None:
        self._with_word, self.outdated = with_word, outdated
        self._known: dict[str, int] = {}

    def __getitem__(self, word: str) -> int:
        count = self._known.get(word)
        if count is None and (ids := self._with_word.get(word)):
            count = self._known[word] = len(ids) - len(self.outdated & ids)
        if count:
            return count
        raise KeyError(word)

    def __iter__(self) -> Iterator[str]:
        return iter(self._with_word)

    def __len__(self) -> int:
        return len(self._with_word)
