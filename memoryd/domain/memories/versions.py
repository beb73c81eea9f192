"""Newer versions of a fact, and facts that disagree: which memory says today what another one said before.

Two statements are versions of one fact where they differ in one value alone (a number, a date, a negation), or fill one
slot, which has one value, with different ones, names included. The later is current, also within a day by the order of
its log; what stands in a note that holds no longer was said before all that holds. What a person wrote or pinned gives
way to people alone, what an agent wrote to people and agents. Where it is not sure that both mean one slot, or who is
below says otherwise, two that stand disagree, and a person decides: a line that names another by `beside=` says that
both hold, by `supersedes=` that it alone does, with the same authority.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import Protocol, TypeVar

from msgspec import Struct

from memoryd.domain.counters import grouped
from memoryd.domain.documents import is_conflict_copy, person_of
from memoryd.domain.expressions import expression
from memoryd.domain.memories.entities import EntitySlug
from memoryd.domain.memories.facts.slots import FactKey, agree_in_kind, contradict, fact_key
from memoryd.domain.memories.facts.values import MAX_CHARS, FactSkeleton, fact_skeleton, rough_words
from memoryd.domain.memories.kinds import TEAM, Kind, MemoryId, Network, ShortId, short_id
from memoryd.domain.memories.line import BY_PEOPLE, Provenance, RetainedLine
from memoryd.domain.memories.sections import is_daily_log
from memoryd.domain.ranking.filters import date_in_name


class Stated(Protocol):
    """A line that states a memory, with its place and day."""

    @property
    def path(self) -> str: ...
    @property
    def start_line(self) -> int: ...
    @property
    def line(self) -> RetainedLine: ...
    @property
    def is_over(self) -> bool: ...


class Dated(Protocol):
    """What is known of a memory: its id, what it states, the day of its newest line, and its lines: those that hold
    first, of these the newest."""

    @property
    def id(self) -> MemoryId: ...
    @property
    def line(self) -> RetainedLine: ...
    @property
    def recorded(self) -> date: ...
    @property
    def sources(self) -> Sequence[Stated]: ...


Older = Mapping[MemoryId, tuple[MemoryId, ...]]
"""What each memory supersedes directly; an older one of these may supersede others in turn. It has no circles."""


class Doubt(StrEnum):
    """Why two memories are left to a person."""

    AUTHORITY = "authority"
    """The later one is not by a person, and the earlier is known to be, or is pinned."""
    PEOPLE = "people"
    """Two members of a team say it, or one and the owner."""
    COPY = "copy"
    """The one that follows stands in copies of conflicts alone."""
    UNSURE = "unsure"
    """They may speak of one thing, or of two, or of the earlier nobody knows who said it."""
    STATED = "stated"
    """A line says that it contradicts the other."""


class Disagreement(Struct, frozen=True):
    """Two current memories that may contradict each other; the one that `leads` comes first in answers."""

    newer: MemoryId
    older: MemoryId
    doubt: Doubt

    @property
    def leads(self) -> MemoryId:
        return self.older if self.doubt is Doubt.AUTHORITY else self.newer

    @property
    def follows(self) -> MemoryId:
        return self.newer if self.doubt is Doubt.AUTHORITY else self.older


def leading_over(disagreements: Iterable[Disagreement]) -> dict[MemoryId, tuple[MemoryId, ...]]:
    """Return what leads before each memory that follows in a disagreement."""
    found = grouped((one.follows, one.leads) for one in disagreements)
    return {memory: tuple(leads) for memory, leads in found.items()}


def doubted_by(disagreements: Iterable[Disagreement]) -> dict[MemoryId, tuple[MemoryId, ...]]:
    """Return what each memory may contradict."""
    pairs = (pair for one in disagreements for pair in ((one.newer, one.older), (one.older, one.newer)))
    return {memory: tuple(others) for memory, others in grouped(pairs).items()}


_HAVE_VERSIONS = frozenset({Network.WORLD, Network.OPINION})
_Edge = tuple[MemoryId, MemoryId]
_Part = tuple[str, tuple[EntitySlug, ...], str]
"""Scope, entities, and the rough words or the slot."""
_Group = tuple[Network, bool, _Part]
"""What memories have in common that may be versions; of a slot if the second is true."""
_Relation = Disagreement | _Edge
Value = TypeVar("Value")


def superseded(memories: Iterable[Dated]) -> Older:
    """Return what each memory supersedes directly: by its `supersedes=`, or as a newer version of a fact.

    Versions are of network world or opinion, or notes, of one scope and about the same, without an `at` of their own.
    Each supersedes those current when it is said. An id that is unknown, or the beginning of two, says nothing. Of
    what supersedes each other in a circle, the later line holds.
    """
    return KnownVersions().of({memory.id: memory for memory in memories}).older


class KnownVersions(Struct, frozen=True, eq=False, dict=True):
    """What supersedes what among some memories, and what of that holds for other ones, too: most of a later book, or
    what of it was known on a day. Nothing is known any more of memories that are not among those others."""

    _memories: Mapping[MemoryId, Dated] = {}
    _parts: Mapping[MemoryId, tuple[_Part | None, _Part | None]] = {}
    """By words, and by slot."""
    _skeletons: Mapping[MemoryId, FactSkeleton | None] = {}
    """Of those that have others beside them."""
    _groups: Mapping[_Group, frozenset[MemoryId]] = {}
    _relations: Mapping[_Group, tuple[_Relation, ...]] = {}
    _naming: frozenset[MemoryId] = frozenset()
    """Those whose line names others."""

    @cached_property
    def older(self) -> Older:
        """What each memory supersedes directly, as `superseded` tells it."""
        edges = (one for one in self._all if not isinstance(one, Disagreement))
        found = grouped(_without_circles(dict.fromkeys(edges), self._memories))
        # the same order, whatever was known before
        return {newer: tuple(found[newer]) for newer in sorted(found)}

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """The pairs that may contradict each other, both standing, the newest first."""
        outdated = {older for olds in self.older.values() for older in olds}
        found: dict[frozenset[MemoryId], Disagreement] = {}
        for one in self._all:
            if isinstance(one, Disagreement) and one.newer not in outdated and one.older not in outdated:
                found.setdefault(frozenset((one.newer, one.older)), one)
        order = (self._memories[one.newer] for one in found.values())
        ranked = sorted(zip(map(newness, order), found.values(), strict=True), key=lambda pair: pair[0], reverse=True)
        return tuple(one for _, one in ranked)

    @cached_property
    def _all(self) -> Sequence[_Relation]:
        return [*_explicit(self._memories, self._naming), *(one for found in self._relations.values() for one in found)]

    def doubts(self, memory: Dated) -> tuple[_Relation, ...]:
        """Return what a memory that may not be among these would supersede or contradict, without a look at all."""
        groups = _groups_of(memory, _parts(memory))
        skeletons: dict[MemoryId, FactSkeleton | None] = {}
        near = ([self._memories[one] for one in self._groups.get(group, ()) if one != memory.id] for group in groups)
        found = (_of_group(group, [*about, memory], skeletons) for group, about in zip(groups, near, strict=True))
        return tuple(
            one
            for each in found
            for one in each
            if memory.id in ((one.newer, one.older) if isinstance(one, Disagreement) else one)
        )

    def of(self, memories: Mapping[MemoryId, Dated]) -> "KnownVersions":
        """Return what holds for other memories; those that are the same are not taken apart again."""
        before = self._memories
        changed = {one for one, memory in memories.items() if before.get(one) is not memory}
        # an id says all that a part is made of
        parts = {one: self._parts[one] if one in self._parts else _parts(memory) for one, memory in memories.items()}
        removed = (changed & before.keys()) | (before.keys() - memories.keys())
        come = grouped((group, one) for one in changed for group in _groups_of(memories[one], parts[one]))
        gone = grouped((group, one) for one in removed for group in _groups_of(before[one], self._parts[one]))
        groups, relations = dict(self._groups), dict(self._relations)
        skeletons = {one: skeleton for one, skeleton in self._skeletons.items() if one in parts}
        for group in come.keys() | gone.keys():
            groups[group] = groups.get(group, frozenset()).difference(gone.get(group, ())).union(come.get(group, ()))
            about = [memories[one] for one in sorted(groups[group])]
            relations[group] = tuple(_of_group(group, about, skeletons)) if len(about) > 1 else ()
        return KnownVersions(
            memories,
            parts,
            skeletons,
            {group: held for group, held in groups.items() if held},
            {group: found for group, found in relations.items() if found},
            frozenset(one for one in self._naming if one in memories and one not in changed)
            | {one for one in changed if _names_others(memories[one].line)},
        )


def newness(memory: Dated) -> tuple[bool, date, int, MemoryId]:
    """Return by what memories are put in the order in which they were said: of a day, by their lines in its log.

    What holds no longer, or stands in copies of conflicts alone, is before all that holds.
    """
    return not (_is_over(memory) or _is_of_copies(memory)), memory.recorded, memory.sources[0].start_line, memory.id


def _is_over(memory: Dated) -> bool:
    return memory.sources[0].is_over


def _is_of_copies(memory: Dated) -> bool:
    return is_conflict_copy(memory.sources[0].path)


def _parts(memory: Dated) -> tuple[_Part | None, _Part | None]:
    """Return what two memories have in common if they are versions, beside their network; None: it has none."""
    line = memory.line
    if line.attributes.at or len(line.text) > MAX_CHARS:
        return None, None
    # what others say of a thing is held against what is said here
    scope = "" if line.attributes.scope == TEAM else line.attributes.scope
    slot = fact_key(line.text)
    by_words = scope, line.slugs, rough_words(line.text)
    if slot is None:
        return by_words, None
    # an entity that the statement itself names says no more, but where it is the subject
    beside = tuple(slug for slug in line.slugs if not (slot.subject and slot.names(slug)))
    return by_words, (scope, beside, slot.key)


def _groups_of(memory: Dated, parts: tuple[_Part | None, _Part | None]) -> list[_Group]:
    # a note may state a fact of the world as well
    network = Network.WORLD if memory.line.kind is Kind.NOTE else memory.line.network
    if network not in _HAVE_VERSIONS:
        return []
    return [(network, bool(at), part) for at, part in enumerate(parts) if part is not None]


def _names_others(line: RetainedLine) -> bool:
    said = line.attributes
    return bool(said.supersedes or said.superseded or said.contradicts)


def _explicit(every: Mapping[MemoryId, Dated], naming: Collection[MemoryId]) -> Iterator[_Relation]:
    """Yield what lines say of others: of what is above them they may only say that they contradict it."""
    if not naming:
        return
    said = [every[one].line.attributes for one in naming]
    shorts = {short for one in said for short in (*one.supersedes, *one.superseded, *one.contradicts)}
    known = grouped((short, memory) for one, memory in every.items() if (short := short_id(one)) in shorts)

    def named(memory: Dated, shorts: Iterable[ShortId]) -> Iterator[Dated]:
        # the beginning of two ids names none, and what others share names nothing that somebody else says
        found = (others[0] for short in shorts if len(others := known.get(short, [])) == 1)
        is_own = "" in _voices(memory)
        return (other for other in found if other.id != memory.id and (is_own or _is_one_voice(memory, other)))

    for memory in (every[one] for one in sorted(naming)):
        for other in named(memory, memory.line.attributes.supersedes):
            if _may_supersede(memory, other):
                yield memory.id, other.id
            else:
                yield from _disagreement(memory, other, Doubt.STATED)
        for other in named(memory, memory.line.attributes.superseded):
            if _is_over(memory) or not _is_over(other):
                yield other.id, memory.id
        for other in named(memory, memory.line.attributes.contradicts):
            # of an opinion it is evidence, which has a rule of its own
            if Network.OPINION not in (memory.line.network, other.line.network):
                yield from _disagreement(memory, other, Doubt.STATED)


def _disagreement(one: Dated, other: Dated, doubt: Doubt) -> Iterator[Disagreement]:
    newer, older = (one, other) if newness(one) > newness(other) else (other, one)
    if _are_both_valid(newer, older) or _is_over(newer) != _is_over(older):
        # who wrote so has decided
        return
    if not _is_one_voice(newer, older):
        # the owner's word leads
        doubt = Doubt.AUTHORITY if "" in _voices(older) else Doubt.COPY if _is_of_copies(older) else Doubt.PEOPLE
    elif not _may_supersede(newer, older) and not _is_of_anybody(newer, older):
        doubt = Doubt.AUTHORITY
    yield Disagreement(newer.id, older.id, doubt)


_RANKS: Mapping[Provenance | None, int] = {
    **dict.fromkeys(BY_PEOPLE, 2),
    Provenance.AGENT: 1,
    Provenance.TOOL: 0,
    Provenance.IMPORT: 0,
}


_COPY = "\0"


def _voices(memory: Dated) -> frozenset[str]:
    """Return who states a memory: members of a team, and the empty name for the owner, or an agent.

    What copies of conflicts alone state is a voice of its own: nobody has said yet that it holds.
    """
    settled = frozenset(person_of(source.path) for source in memory.sources if not is_conflict_copy(source.path))
    return settled or frozenset((_COPY,))


def _is_one_voice(one: Dated, other: Dated) -> bool:
    return len(_voices(one) | _voices(other)) == 1


def _may_supersede(newer: Dated, older: Dated) -> bool:
    """Tell whether who said the one last is not below who said the other ever, or pinned it.

    A member of a team speaks for nobody else; the owner says what holds here. What holds no longer has no say.
    """
    if "" not in _voices(newer) and not _is_one_voice(newer, older):
        return False
    if _is_over(newer) or _is_over(older):
        return _is_over(older)
    said = [source.line.attributes for source in older.sources]
    held = max(_RANKS[None] if one.is_pinned else _RANKS[one.provenance] for one in said)
    return _RANKS[newer.sources[0].line.attributes.provenance] >= held


def _is_of_anybody(newer: Dated, older: Dated) -> bool:
    """Tell whether an agent says one, and the other is of logs that do not say by whom: agents write these, too."""
    says = newer.sources[0].line.attributes.provenance
    return says is Provenance.AGENT and all(
        one.line.attributes.provenance is not Provenance.USER
        and not one.line.attributes.is_pinned
        and is_daily_log(one.path)
        for one in older.sources
    )


def _are_both_valid(one: Dated, other: Dated) -> bool:
    """Tell whether a line says that both hold, by who is not below who said the other."""
    pairs = (one, other), (other, one)
    return any(short_id(of.id) in by.line.attributes.beside and _may_supersede(by, of) for by, of in pairs)


def _is_order_known(one: Dated, other: Dated) -> bool:
    """Tell whether it is known which of two was said later: lines of one log are, those of other pages are not."""
    if one.recorded != other.recorded or _is_over(one) != _is_over(other):
        return True
    path = one.sources[0].path
    return path == other.sources[0].path and date_in_name(path) is not None


def _of_group(
    group: _Group, about: Sequence[Dated], skeletons: dict[MemoryId, FactSkeleton | None]
) -> Iterator[_Relation]:
    if group[1]:
        stated = [(memory, slot) for memory in about if (slot := fact_key(memory.line.text)) is not None]
        yield from _succession(stated, contradict, lambda newer, older, _: agree_in_kind(newer, older))
        return
    for chain in _chains(about, skeletons):
        yield from _succession(chain, str.__ne__, _is_one_value)


_HABIT = expression(r"(?i:days)\b")


def _is_one_value(newer: str, older: str, is_same_day: bool) -> bool:
    # on Mondays and on Thursdays: said on one day, both may be so
    return not (is_same_day and _HABIT.search(newer) and _HABIT.search(older))


def _chains(
    memories: Iterable[Dated], skeletons: dict[MemoryId, FactSkeleton | None]
) -> Iterator[Sequence[tuple[Dated, str]]]:
    """Yield those that differ in one value, and agree in all others; a skeleton that is not known yet is noted."""
    chains: defaultdict[tuple[object, ...], list[tuple[Dated, str]]] = defaultdict(list)
    for memory in memories:
        if memory.id not in skeletons:
            skeletons[memory.id] = fact_skeleton(memory.line.text)
        if (skeleton := skeletons[memory.id]) is None:
            continue
        for at, value in enumerate(skeleton.values):
            chains[skeleton.words, at, skeleton.values[:at], skeleton.values[at + 1 :]].append((memory, value))
    yield from (chain for chain in chains.values() if len(chain) > 1)


_MAX_STANDING = 8
"""Of one chain: what has more values at once is a table."""
_MAX_OF_DAY = 2
"""Values that a log tells of one slot: of more, none is a correction of another."""


def _succession(
    stated: Iterable[tuple[Dated, Value]],
    differ: Callable[[Value, Value], bool],
    is_one: Callable[[Value, Value, bool], bool],
) -> Iterator[_Relation]:
    """Yield what each memory supersedes of those current when it is said, then the pairs that disagree at the end."""
    ordered = sorted(stated, key=lambda one: newness(one[0]))
    tables = _tables(ordered)
    standing: list[tuple[Dated, Value]] = []
    doubted: list[Disagreement] = []
    for newer, value in ordered:
        kept: list[tuple[Dated, Value]] = []
        for older, was in reversed(standing):
            is_same_day = older.recorded == newer.recorded
            is_apart = (is_same_day and newer.recorded in tables) or _are_both_valid(newer, older)
            if is_apart or not differ(value, was):
                kept.append((older, was))
            elif _is_succession(newer, older) and is_one(value, was, is_same_day):
                yield newer.id, older.id
            else:
                doubted += _disagreement(newer, older, Doubt.UNSURE)
                kept.append((older, was))
        standing = [*reversed(kept), (newer, value)][-_MAX_STANDING:]
    stand = {one.id for one, _ in standing}
    yield from (one for one in doubted if one.newer in stand and one.older in stand)


def _is_succession(newer: Dated, older: Dated) -> bool:
    return _is_one_voice(newer, older) and _may_supersede(newer, older) and _is_order_known(newer, older)


def _tables(stated: Sequence[tuple[Dated, Value]]) -> frozenset[date]:
    """Return the days that tell so many values of one slot that all of them hold."""
    values: defaultdict[date, set[object]] = defaultdict(set)
    for memory, value in stated:
        values[memory.recorded].add(value.value if isinstance(value, FactKey) else value)
    return frozenset(day for day, each in values.items() if len(each) > _MAX_OF_DAY)


def _without_circles(edges: Iterable[_Edge], every: Mapping[MemoryId, Dated]) -> Iterator[_Edge]:
    """Yield the edges, but of circles those that lead from an earlier line to a later one."""
    followers = grouped(edges := list(edges))
    waiting = Counter(older for _, older in edges)
    ready = [one for one in followers if not waiting[one]]
    while ready:
        for older in followers.get(ready.pop(), ()):
            waiting[older] -= 1
            if not waiting[older]:
                ready.append(older)
    for newer, older in edges:
        is_open = not waiting[newer] or not waiting[older]
        if is_open or newness(every[newer]) > newness(every[older]):
            yield newer, older
