"""Newer versions of a fact: which memory says today what another one said before."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import groupby, islice
from typing import Final, Protocol

from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.fact_skeletons import MOST_SIGNS, FactSkeleton, fact_skeleton, rough_words
from memoryd.domain.memories.identity import SHORT_SIGNS, MemoryId
from memoryd.domain.memories.kinds import Kind, Network
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
_Part = tuple[str, tuple[EntitySlug, ...], str] | None
_Group = tuple[Kind, _Part]


def superseded(memories: Iterable[Dated]) -> Older:
    """Return what each memory supersedes directly: by its `supersedes=`, or as a newer version of a fact.

    Versions are of network world or opinion, of one kind, scope and entities, without an `at` of their own, from
    different days, and differ in one value alone. Each day's versions supersede those of the day before that has
    any. An id that is unknown, or the beginning of two, says nothing. Of what supersedes each other in a circle, the
    later line holds.
    """
    return KnownVersions().of({memory.id: memory for memory in memories}).older


@dataclass(frozen=True, eq=False)
class KnownVersions:
    """What supersedes what among some memories, and what of that holds for other ones, too: most of a later book, or
    what of it was known on a day. Nothing is known any more of memories that are not among those others."""

    _memories: Mapping[MemoryId, Dated] = field(default_factory=dict)
    _parts: Mapping[MemoryId, _Part] = field(default_factory=dict)
    _skeletons: Mapping[MemoryId, FactSkeleton | None] = field(default_factory=dict)
    """Of those that have others beside them."""
    _groups: Mapping[_Group, frozenset[MemoryId]] = field(default_factory=dict)
    _edges: Mapping[_Group, tuple[_Edge, ...]] = field(default_factory=dict)
    _naming: frozenset[MemoryId] = frozenset()
    """Those whose line names what it supersedes."""

    @cached_property
    def older(self) -> Older:
        """What each memory supersedes directly, as `superseded` tells it."""
        edges = [*_explicit(self._memories, self._naming), *(edge for found in self._edges.values() for edge in found)]
        found: defaultdict[MemoryId, list[MemoryId]] = defaultdict(list)
        for newer, older in _without_circles(dict.fromkeys(edges), self._memories):
            found[newer].append(older)
        # the same order, whatever was known before
        return {newer: tuple(found[newer]) for newer in sorted(found)}

    def of(self, memories: Mapping[MemoryId, Dated]) -> "KnownVersions":
        """Return what holds for other memories; those that are the same are not taken apart again."""
        before = self._memories
        changed = {one for one, memory in memories.items() if before.get(one) is not memory}
        # an id says all that a part is made of
        parts = {one: self._parts[one] if one in self._parts else _part(memory) for one, memory in memories.items()}
        come: defaultdict[_Group, set[MemoryId]] = defaultdict(set)
        for one in changed:
            if (group := _group(memories[one], parts[one])) is not None:
                come[group].add(one)
        gone: defaultdict[_Group, set[MemoryId]] = defaultdict(set)
        for one in (changed & before.keys()) | (before.keys() - memories.keys()):
            if (group := _group(before[one], self._parts[one])) is not None:
                gone[group].add(one)
        groups, edges = dict(self._groups), dict(self._edges)
        skeletons = {one: skeleton for one, skeleton in self._skeletons.items() if one in parts}
        for group in come.keys() | gone.keys():
            groups[group] = (groups.get(group, frozenset()) - gone[group]) | come[group]
            about = [memories[one] for one in sorted(groups[group])]
            edges[group] = tuple(_of_group(about, skeletons)) if len(about) > 1 else ()
        return KnownVersions(
            memories,
            parts,
            skeletons,
            {group: held for group, held in groups.items() if held},
            {group: found for group, found in edges.items() if found},
            frozenset(one for one in self._naming if one in memories and one not in changed)
            | {one for one in changed if memories[one].line.attributes.supersedes},
        )


def _part(memory: Dated) -> _Part:
    """Return what two memories have in common if they are versions, beside their kind; None: it has none."""
    line = memory.line
    if line.attributes.at or len(line.text) > MOST_SIGNS:
        return None
    return line.attributes.scope, line.slugs, rough_words(line.text)


def _group(memory: Dated, part: _Part) -> _Group | None:
    return (memory.line.kind, part) if part is not None and memory.line.network in _HAVE_VERSIONS else None


def _explicit(every: Mapping[MemoryId, Dated], naming: Collection[MemoryId]) -> Iterator[_Edge]:
    telling = [every[one] for one in naming]
    if not telling:
        return
    told = {short for memory in telling for short in memory.line.attributes.supersedes}
    named: defaultdict[str, list[MemoryId]] = defaultdict(list)
    for one in every:
        if one[:SHORT_SIGNS] in told:
            named[one[:SHORT_SIGNS]].append(one)
    for memory in sorted(telling, key=lambda one: one.id):
        for short in memory.line.attributes.supersedes:
            if len(named[short]) == 1 and named[short][0] != memory.id:
                yield memory.id, named[short][0]


def _of_group(about: Iterable[Dated], skeletons: dict[MemoryId, FactSkeleton | None]) -> Iterator[_Edge]:
    """Yield newer and older of each two that differ in one value: those that agree in all others share a chain."""
    for chain in _chains(about, skeletons):
        yield from _chained(chain)


def _chains(
    memories: Iterable[Dated], skeletons: dict[MemoryId, FactSkeleton | None]
) -> Iterator[Sequence[tuple[Dated, str]]]:
    """Yield the chains; a skeleton that is not known yet is noted."""
    chains: defaultdict[tuple[object, ...], list[tuple[Dated, str]]] = defaultdict(list)
    for memory in memories:
        if memory.id not in skeletons:
            skeletons[memory.id] = fact_skeleton(memory.line.text)
        if (skeleton := skeletons[memory.id]) is None:
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
