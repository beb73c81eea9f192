"""The lines that a sentence may revise, found by their words.

An index of the words follows the book from change to change: of ten thousand lines a sentence is held against the few
that have most of its words, the rarest first.
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
from memoryd.domain.memories.capture.values import Rarity, content, values_in
from memoryd.domain.memories.facts.values import HAN_SIGN
from memoryd.domain.memories.generated import line_said_of
from memoryd.domain.memories.kinds import Kind, MemoryId
from memoryd.domain.memories.line import CACHED_LINES

_REVISED = frozenset(Kind) - {
    Kind.EXPERIENCE,
    Kind.OBSERVATION,
    Kind.LESSON,
    Kind.FAILURE,
    Kind.SUMMARY,
    Kind.SESSION,
}
"""What was done once, learned or summed up is as it was."""
NEAR_MAX = 32
"""Lines that one sentence is held against."""
ALIKE_MAX = 8
"""Of those that may say what holds again, and lines that are like one of them."""
_INDEXES_MAX = 8
"""Of workspaces of which something was said last."""
_LIVES = caseless(r"\W*(?:i|we) (?:\w+ )?live\b|我们?[\u4e00-\u9fff]{0,2}住|我家[住在]")
"""Of who moves another place holds, whatever word is said for it."""


class Candidate(Struct, frozen=True):
    """A memory that a sentence may be about, with the text that this is of, and all content words of its line."""

    memory: Memory
    text: str
    words: frozenset[str]


@lru_cache(maxsize=CACHED_LINES)
def memory_words(text: str, entities: tuple[str, ...]) -> frozenset[str]:
    """Return the content words of a memory, by which it is found."""
    return content(" ".join((text, *entities)))


@lru_cache(maxsize=CACHED_LINES)
def memory_values(text: str) -> Mapping[str, frozenset[str]]:
    """Return the values of a memory by their types."""
    values: dict[str, frozenset[str]] = {}
    for one in values_in(text):
        values[one.kind] = values.get(one.kind, frozenset()) | {one.key}
    return values


def says_home(one: Candidate) -> bool:
    """Tell whether a line says where its author lives."""
    return _LIVES.match(one.text) is not None


class _Index:
    """The lines of a workspace by their words, as its book had them last."""

    def __init__(self) -> None:
        self.memories: dict[MemoryId, Memory] = {}
        self.lines: dict[MemoryId, Candidate] = {}
        self.with_word: defaultdict[str, set[MemoryId]] = defaultdict(set)
        self.homes, self.names = set[MemoryId](), set[MemoryId]()

    def follow(self, memories: Mapping[MemoryId, Memory]) -> None:
        """Take over what changed since the last book."""
        for one in [one for one, memory in self.memories.items() if memories.get(one) is not memory]:
            self._remove(one)
        for one, memory in memories.items():
            if one not in self.memories:
                self._add(one, memory)

    def _add(self, one: MemoryId, memory: Memory) -> None:
        self.memories[one], line = memory, memory.line
        if line.kind not in _REVISED:
            return
        # what was said of a line is about that
        text = line_said_of(line.text) or line.text
        self.lines[one] = Candidate(memory, text, memory_words(line.text, line.entities))
        for word in self.lines[one].words:
            self.with_word[word].add(one)
        if says_home(self.lines[one]):
            self.homes.add(one)
        if is_name(memory):
            self.names.add(one)

    def _remove(self, one: MemoryId) -> None:
        del self.memories[one]
        for word in self.lines.pop(one).words if one in self.lines else ():
            self.with_word[word].discard(one)
            if not self.with_word[word]:
                del self.with_word[word]
        self.homes.discard(one)
        self.names.discard(one)


_indexes: list[_Index] = []
"""Those last used come first."""
LOCK = Lock()
"""Held while a sentence is held against lines: its index follows no other book meanwhile."""


def drop_lines() -> None:
    """Forget the words of all lines."""
    memory_words.cache_clear()
    memory_values.cache_clear()
    with LOCK:
        _indexes.clear()


def _index_of(book: Book) -> _Index:
    """Return the index of a book brought up to date: of a workspace two books are hardly different."""
    known = next((one for one in _indexes if _is_like(one.memories, book.memories)), None) or _Index()
    if known in _indexes:
        _indexes.remove(known)
    _indexes.insert(0, known)
    del _indexes[_INDEXES_MAX:]
    known.follow(book.memories)
    return known


def _is_like(one: Mapping[MemoryId, Memory], other: Mapping[MemoryId, Memory]) -> bool:
    return 2 * len(one.keys() & other.keys()) > max(len(one), len(other))


class StandingLines:
    """The lines that hold on a day in a scope. Use them while `LOCK` is held."""

    def __init__(self, book: Book, scope: str, day: date | None) -> None:
        self._index, self._scopes, self._day = _index_of(book), {scope, ""}, day
        seen = (olds for newer, olds in book.superseded.items() if self._is_seen(newer))
        self._outdated = frozenset(old for olds in seen for old in olds)
        lines = len(self._index.lines) - len(self._outdated & self._index.lines.keys())
        self.rarity = Rarity(_Counts(self._index.with_word, self._outdated), lines)

    def _is_seen(self, one: MemoryId) -> bool:
        line = self._index.lines.get(one)
        if line is None or line.memory.scope not in self._scopes:
            return False
        return self._day is None or line.memory.recorded <= self._day

    def _seen(self, ids: Iterable[MemoryId], *, with_outdated: bool = False) -> Iterator[Candidate]:
        for one in ids:
            if self._is_seen(one) and (with_outdated or one not in self._outdated):
                yield self._index.lines[one]

    @cached_property
    def own_names(self) -> frozenset[str]:
        """The words of what the author is called."""
        return frozenset[str]().union(*(one.words for one in self._seen(self._index.names)))

    @property
    def homes(self) -> Iterator[Candidate]:
        """The lines that say where the author lives."""
        return self._seen(self._index.homes)

    def having(self, words: Collection[str]) -> Iterator[Candidate]:
        """Yield the lines that have all of some words."""
        sets = [self._index.with_word.get(word, set()) for word in words]
        return self._seen(set.intersection(*sets) if sets else ())

    def near(self, words: Collection[str]) -> tuple[list[Candidate], float]:
        """Return the lines that have most of some words, or a part of one, and what the words of the first one weigh
        that is left out: whatever else has no more may be meant as well."""
        weights = self._weights(words)
        if len(weights) < NEAR_MAX:
            # a word may be a part of what is one word of the whole line, a sign stands in several pairs
            weights |= dict.fromkeys(self._with_part(words) - weights.keys(), 0.0)
        found = list(islice(self._by_weight(weights), NEAR_MAX + 1))
        return found[:NEAR_MAX], weights[found[-1].memory.id] if len(found) > NEAR_MAX else 0.0

    def alike(self, words: Collection[str], *, with_outdated: bool = False) -> list[Candidate]:
        """Return the few lines that have the most of some words."""
        return list(islice(self._by_weight(self._weights(words), with_outdated=with_outdated), ALIKE_MAX))

    def weight(self, one: Candidate, words: Iterable[str]) -> float:
        """Return what those of some words weigh that a line has."""
        return self.rarity.weight(one.words.intersection(words))

    def _weights(self, words: Iterable[str]) -> dict[MemoryId, float]:
        weights = defaultdict[MemoryId, float](float)
        for word in words:
            weight = self.rarity.weight((word,))
            for one in self._index.with_word.get(word, ()):
                weights[one] += weight
        return weights

    def _by_weight(self, weights: Mapping[MemoryId, float], *, with_outdated: bool = False) -> Iterator[Candidate]:
        return self._seen(sorted(weights, key=lambda one: -weights[one]), with_outdated=with_outdated)

    def _with_part(self, words: Iterable[str]) -> set[MemoryId]:
        stems = [word for word in words if not HAN_SIGN.match(word)]
        signs = frozenset("".join(word for word in words if HAN_SIGN.match(word)))
        found = set[MemoryId]()
        for word, ids in self._index.with_word.items():
            if not signs.isdisjoint(word) or any(stem in word for stem in stems):
                found |= ids
        return found


class _Counts(Mapping[str, int]):
    """How many of the standing lines have a word."""

    def __init__(self, with_word: Mapping[str, Set[MemoryId]], outdated: frozenset[MemoryId]) -> None:
        self._with_word, self._outdated = with_word, outdated

    def __getitem__(self, word: str) -> int:
        ids = self._with_word.get(word, frozenset[MemoryId]())
        if count := len(ids) - len(self._outdated & ids):
            return count
        raise KeyError(word)

    def __iter__(self) -> Iterator[str]:
        return iter(self._with_word)

    def __len__(self) -> int:
        return len(self._with_word)
