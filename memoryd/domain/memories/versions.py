"""Newer versions of a fact: which memory says today what another one said before."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby, islice
from typing import Final, Protocol

from memoryd.domain.memories.fact_skeletons import MOST_SIGNS, fact_skeleton, rough_words
from memoryd.domain.memories.identity import SHORT_SIGNS, MemoryId
from memoryd.domain.memories.kinds import Network
from memoryd.domain.memories.retained import RetainedLine


class Dated(Protocol):
    """What is known of a memory: its id, what it states, and the day of its newest line."""

    @property
    def id(self) -> MemoryId: ...
    @property
    def line(self) -> RetainedLine: ...
    @property
    def recorded(self) -> date: ...


Older = Mapping[MemoryId, tuple[MemoryId, ...]]
"""What each memory supersedes directly; an older one of these may supersede others in turn. It has no circles."""

_HAVE_VERSIONS: Final = frozenset({Network.WORLD, Network.OPINION})
_Edge = tuple[MemoryId, MemoryId]


def superseded(memories: Iterable[Dated]) -> Older:
    """Return what each memory supersedes directly: by its `supersedes=`, or as a newer version of a fact.

    Versions are of network world or opinion, of one kind, scope and entities, without an `at` of their own, from
    different days, and differ in one value alone. Each day's versions supersede those of the day before that has
    any. An id that is unknown, or the beginning of two, says nothing. Of what supersedes each other in a circle, the
    later line holds.
    """
    every = {memory.id: memory for memory in memories}
    edges = dict.fromkeys([*_explicit(every), *_versions(every.values())])
    found: defaultdict[MemoryId, list[MemoryId]] = defaultdict(list)
    for newer, older in _without_circles(edges, every):
        found[newer].append(older)
    return {newer: tuple(older) for newer, older in found.items()}


def _explicit(every: Mapping[MemoryId, Dated]) -> Iterator[_Edge]:
    telling = [memory for memory in every.values() if memory.line.attributes.supersedes]
    if not telling:
        return
    named: defaultdict[str, list[MemoryId]] = defaultdict(list)
    for one in every:
        named[one[:SHORT_SIGNS]].append(one)
    for memory in telling:
        for short in memory.line.attributes.supersedes:
            if len(named[short]) == 1 and named[short][0] != memory.id:
                yield memory.id, named[short][0]


def _versions(memories: Iterable[Dated]) -> Iterator[_Edge]:
    """Yield newer and older of each two that differ in one value: those that agree in all others share a chain."""
    alike: defaultdict[tuple[object, ...], list[Dated]] = defaultdict(list)
    for memory in memories:
        line = memory.line
        if line.network in _HAVE_VERSIONS and not line.attributes.at and len(line.text) <= MOST_SIGNS:
            alike[line.kind, line.attributes.scope, line.slugs, rough_words(line.text)].append(memory)
    for about in alike.values():
        if len(about) > 1:
            for chain in _chains(about):
                yield from _chained(chain)


def _chains(memories: Iterable[Dated]) -> Iterator[Sequence[tuple[Dated, str]]]:
    chains: defaultdict[tuple[object, ...], list[tuple[Dated, str]]] = defaultdict(list)
    for memory in memories:
        skeleton = fact_skeleton(memory.line.text)
        if skeleton is None:
            continue
        for at, value in enumerate(skeleton.values):
            chains[skeleton.words, at, skeleton.values[:at], skeleton.values[at + 1 :]].append((memory, value))
    yield from (chain for chain in chains.values() if len(chain) > 1)


def _chained(chain: Sequence[tuple[Dated, str]]) -> Iterator[_Edge]:
    """Yield each memory of a chain with those of the next day on which another value was told."""
    ordered = sorted(chain, key=lambda one: one[0].recorded, reverse=True)
    later: Mapping[str, MemoryId] = {}
    # the next day that tells another value than the one that `later` tells alone
    latest_other: Mapping[str, MemoryId] = {}
    for _, of_day in groupby(ordered, key=lambda one: one[0].recorded):
        told = list(of_day)
        for memory, value in told:
            newer = latest_other if later.keys() <= {value} else later
            yield from ((one, memory.id) for other, one in newer.items() if other != value)
        values = dict(islice({value: memory.id for memory, value in told}.items(), _MOST_A_DAY))
        latest_other = later if later.keys() - values.keys() else latest_other
        later = values


_MOST_A_DAY: Final = 8
"""Values of one day that are compared with others: a day that tells more tells a table."""


def _without_circles(edges: Iterable[_Edge], every: Mapping[MemoryId, Dated]) -> Iterator[_Edge]:
    """Yield the edges, but of circles those that lead from an earlier line to a later one."""
    followers: defaultdict[MemoryId, list[MemoryId]] = defaultdict(list)
    waiting: defaultdict[MemoryId, int] = defaultdict(int)
    for newer, older in (edges := list(edges)):
        followers[newer].append(older)
        waiting[older] += 1
    ready = [one for one in followers if not waiting[one]]
    while ready:
        for older in followers[ready.pop()]:
            waiting[older] -= 1
            if not waiting[older]:
                ready.append(older)
    for newer, older in edges:
        is_open = not waiting[newer] or not waiting[older]
        if is_open or (every[newer].recorded, newer) > (every[older].recorded, older):
            yield newer, older
