"""Memories that say nearly the same: listed for a person, and never folded, for a word or a number may be the point."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Final

from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.identity import MemoryId
from memoryd.domain.memories.kinds import Network
from memoryd.domain.ranking.similarity import is_alike, tokens
from memoryd.domain.text.gist import gist

MAX_COPIES: Final = 50
"""Pairs that are told."""
MAX_COMPARED: Final = 60
"""Of the newest memories about the same entities; each is compared with each."""


@dataclass(frozen=True, slots=True)
class NearCopies:
    """Two memories, the newer one first."""

    newer: MemoryId
    older: MemoryId


def copies_across_scopes(memories: Iterable[Memory]) -> tuple[NearCopies, ...]:
    """Return pairs that say the same about the same entities in several scopes, of one network; the newest first."""
    groups: defaultdict[tuple[str, ...], list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda one: (-one.recorded.toordinal(), one.id)):
        if said := gist(memory.line.text):
            groups[said, memory.line.network, memory.line.attributes.at, *memory.slugs].append(memory)
    pairs = (pair for group in groups.values() if len(group) > 1 for pair in combinations(group[:MAX_COMPARED], 2))
    across = (pair for pair in pairs if len({one.line.attributes.scope for one in pair}) > 1)
    return tuple(NearCopies(newer.id, older.id) for newer, older in islice(across, MAX_COPIES))


def near_copies(memories: Iterable[Memory]) -> tuple[NearCopies, ...]:
    """Return pairs that are about the same entities, of one network, and differ in a few words; the newest first."""
    groups: defaultdict[tuple[Network, tuple[EntitySlug, ...]], list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda one: (-one.recorded.toordinal(), one.id)):
        group = groups[memory.line.network, memory.slugs]
        if len(group) < MAX_COMPARED:
            group.append(memory)
    return tuple(islice((pair for key in sorted(groups) for pair in _pairs(groups[key])), MAX_COPIES))


def _pairs(group: Sequence[Memory]) -> Iterator[NearCopies]:
    words = {one.id: tokens(one.line.text) for one in group} if len(group) > 1 else {}
    for newer, older in combinations(group, 2):
        if is_alike(words[newer.id], words[older.id]):
            yield NearCopies(newer.id, older.id)
