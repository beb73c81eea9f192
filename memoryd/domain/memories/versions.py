"""Versions of a fact, and facts that disagree: which memory is current, and which ones it supersedes.

Two statements are versions of one fact if they differ in one value alone (a number, a date, a negation), or if they
fill one slot, which has only one value, with different values, including names. The later one is current, also within a
day by the order in its log; statements in a note that is no longer valid are earlier than all valid ones. Statements
that a person wrote or pinned are superseded only by people, those of an agent by people and agents. If it is not
certain that both fill one slot, or if a source of lower rank states the later one, both remain current and disagree.
A person decides: a line with `beside=` says that both are valid, one with `supersedes=` that only it is, with the same
authority.
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
from memoryd.domain.memories.line import BY_PEOPLE, Attributes, Provenance, RetainedLine
from memoryd.domain.memories.sections import is_daily_log
from memoryd.domain.ranking.filters import date_in_name


class LineWithPlace(Protocol):
    """A line that states a memory, with its place and day."""

    @property
    def path(self) -> str: ...
    @property
    def start_line(self) -> int: ...
    @property
    def line(self) -> RetainedLine: ...
    @property
    def is_over(self) -> bool: ...


class VersionInput(Protocol):
    """The properties of a memory that versions depend on.

    `recorded` is the day of the newest line. `sources` has valid lines first, newest first.
    """

    @property
    def id(self) -> MemoryId: ...
    @property
    def line(self) -> RetainedLine: ...
    @property
    def recorded(self) -> date: ...
    @property
    def sources(self) -> Sequence[LineWithPlace]: ...


Older = Mapping[MemoryId, tuple[MemoryId, ...]]
"""The memories that each memory supersedes directly; they may supersede others in turn. There are no circles."""


class Doubt(StrEnum):
    """The reason why a person must decide between two memories."""

    AUTHORITY = "authority"
    """A person stated or pinned the earlier one, but not the later one."""
    PEOPLE = "people"
    """Different members of a team, or a member and the owner, state them."""
    COPY = "copy"
    """Only copies of conflicts state the one that follows."""
    UNSURE = "unsure"
    """They may be about different things, or the source of the earlier one is unknown."""
    STATED = "stated"
    """A line declares the contradiction."""


class Disagreement(Struct, frozen=True):
    """Two current memories that may contradict each other; `leads` comes before `follows` in answers."""

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
    """Return for each memory that follows in a disagreement the ones that lead."""
    leading = grouped((disagreement.follows, disagreement.leads) for disagreement in disagreements)
    return {memory: tuple(leads) for memory, leads in leading.items()}


def disagreeing_memories(disagreements: Iterable[Disagreement]) -> dict[MemoryId, tuple[MemoryId, ...]]:
    """Return for each memory the ones that it may contradict."""
    pairs = (pair for doubt in disagreements for pair in ((doubt.newer, doubt.older), (doubt.older, doubt.newer)))
    return {memory: tuple(others) for memory, others in grouped(pairs).items()}


_HAVE_VERSIONS = frozenset({Network.WORLD, Network.OPINION})
_Edge = tuple[MemoryId, MemoryId]
_Part = tuple[str, tuple[EntitySlug, ...], str]
"""Scope, entities, and the rough words or the slot."""
_Group = tuple[Network, bool, _Part]
"""The common properties of possible versions; the second one is true if the part has a slot."""
_Relation = Disagreement | _Edge
Value = TypeVar("Value")


class KnownVersions(Struct, frozen=True, eq=False, dict=True):
    """The relations between memories, updated incrementally for other memories.

    These are usually of a later book, or those known on some day. Relations of missing memories are dropped.
    """

    _memories: Mapping[MemoryId, VersionInput] = {}
    _parts: Mapping[MemoryId, tuple[_Part | None, _Part | None]] = {}
    """By words, and by slot."""
    _skeletons: Mapping[MemoryId, FactSkeleton | None] = {}
    """Skeletons of memories in groups of several."""
    _groups: Mapping[_Group, frozenset[MemoryId]] = {}
    _relations: Mapping[_Group, tuple[_Relation, ...]] = {}
    _naming: frozenset[MemoryId] = frozenset()
    """Memories whose line references others."""

    @cached_property
    def older(self) -> Older:
        """The memories that each memory supersedes directly: by `supersedes=`, or as a newer version of a fact.

        Versions are of network world or opinion, or notes, of one scope and about the same entities, without an `at`.
        Each supersedes those that are current at its time. An unknown or ambiguous id is ignored. In a circle the later
        line is valid.
        """
        edges = (relation for relation in self._all if not isinstance(relation, Disagreement))
        older = grouped(_without_circles(dict.fromkeys(edges), self._memories))
        # sorted, so that the result does not depend on earlier states
        return {newer: tuple(older[newer]) for newer in sorted(older)}

    @cached_property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """The pairs of current memories that may contradict each other, newest first."""
        outdated = {older for olds in self.older.values() for older in olds}
        pairs: dict[frozenset[MemoryId], Disagreement] = {}
        for relation in self._all:
            if isinstance(relation, Disagreement) and outdated.isdisjoint((relation.newer, relation.older)):
                pairs.setdefault(frozenset((relation.newer, relation.older)), relation)
        return tuple(sorted(pairs.values(), key=lambda pair: newness(self._memories[pair.newer]), reverse=True))

    @cached_property
    def _all(self) -> Sequence[_Relation]:
        grouped_relations = (relation for relations in self._relations.values() for relation in relations)
        return [*_explicit(self._memories, self._naming), *grouped_relations]

    def doubts(self, memory: VersionInput) -> tuple[_Relation, ...]:
        """Return what a memory, present or not, would supersede or contradict, without examining all memories."""
        groups = _groups_of(memory, _parts(memory))
        skeletons: dict[MemoryId, FactSkeleton | None] = {}
        near = ([self._memories[key] for key in self._groups.get(group, ()) if key != memory.id] for group in groups)
        relations = (_of_group(group, [*about, memory], skeletons) for group, about in zip(groups, near, strict=True))
        return tuple(
            relation
            for related in relations
            for relation in related
            if memory.id in ((relation.newer, relation.older) if isinstance(relation, Disagreement) else relation)
        )

    def of(self, memories: Mapping[MemoryId, VersionInput]) -> "KnownVersions":
        """Return the relations of other memories; unchanged memories are not analysed again."""
        before = self._memories
        changed = {key for key, memory in memories.items() if before.get(key) is not memory}
        # a part depends only on what the id covers
        parts = {key: self._parts[key] if key in self._parts else _parts(memory) for key, memory in memories.items()}
        dropped = (changed & before.keys()) | (before.keys() - memories.keys())
        added = grouped((group, key) for key in changed for group in _groups_of(memories[key], parts[key]))
        removed = grouped((group, key) for key in dropped for group in _groups_of(before[key], self._parts[key]))
        groups, relations = dict(self._groups), dict(self._relations)
        skeletons = {key: skeleton for key, skeleton in self._skeletons.items() if key in parts}
        for group in added.keys() | removed.keys():
            groups[group] = (
                groups.get(group, frozenset()).difference(removed.get(group, ())).union(added.get(group, ()))
            )
            about = [memories[key] for key in sorted(groups[group])]
            relations[group] = tuple(_of_group(group, about, skeletons)) if len(about) > 1 else ()
        return KnownVersions(
            memories,
            parts,
            skeletons,
            {group: keys for group, keys in groups.items() if keys},
            {group: related for group, related in relations.items() if related},
            frozenset(key for key in self._naming if key in memories and key not in changed)
            | {key for key in changed if _names_others(memories[key].line.attributes)},
        )


def newness(memory: VersionInput) -> tuple[bool, date, int, MemoryId]:
    """Return the sort key for the order in which memories were stated: of a day, by their lines in its log.

    Memories only in outdated notes or in copies of conflicts come before all valid ones.
    """
    return not (_is_over(memory) or _is_of_copies(memory)), memory.recorded, memory.sources[0].start_line, memory.id


def _is_over(memory: VersionInput) -> bool:
    return memory.sources[0].is_over


def _is_of_copies(memory: VersionInput) -> bool:
    return is_conflict_copy(memory.sources[0].path)


def _parts(memory: VersionInput) -> tuple[_Part | None, _Part | None]:
    """Return what versions of a memory share besides their network, by words and by slot; None if it has none."""
    line = memory.line
    if line.attributes.at or len(line.text) > MAX_CHARS:
        return None, None
    # shared statements and local ones are versions of each other
    scope = "" if line.attributes.scope == TEAM else line.attributes.scope
    slot = fact_key(line.text)
    by_words = scope, line.slugs, rough_words(line.text)
    if slot is None:
        return by_words, None
    # an entity in the statement itself does not distinguish slots, unless it is the subject
    beside = tuple(slug for slug in line.slugs if not (slot.subject and slot.names(slug)))
    return by_words, (scope, beside, slot.key)


def _groups_of(memory: VersionInput, parts: tuple[_Part | None, _Part | None]) -> list[_Group]:
    # a note may state a fact of the world as well
    network = Network.WORLD if memory.line.kind is Kind.NOTE else memory.line.network
    if network not in _HAVE_VERSIONS:
        return []
    return [(network, bool(at), part) for at, part in enumerate(parts) if part is not None]


def _names_others(attributes: Attributes) -> bool:
    return bool(attributes.supersedes or attributes.superseded or attributes.contradicts)


def _explicit(memories: Mapping[MemoryId, VersionInput], naming: Collection[MemoryId]) -> Iterator[_Relation]:
    """Yield the relations that lines declare; a line of lower rank may only contradict, not supersede."""
    if not naming:
        return
    attributes = [memories[key].line.attributes for key in naming]
    shorts = {short for own in attributes for short in (*own.supersedes, *own.superseded, *own.contradicts)}
    known = grouped((short, memory) for key, memory in memories.items() if (short := short_id(key)) in shorts)

    def named(memory: VersionInput, shorts: Iterable[ShortId]) -> Iterator[VersionInput]:
        # an ambiguous id means none, and shared lines only reference statements of the same person
        targets = (others[0] for short in shorts if len(others := known.get(short, [])) == 1)
        is_own = "" in _voices(memory)
        return (other for other in targets if other.id != memory.id and (is_own or _is_same_voice(memory, other)))

    for memory in (memories[key] for key in sorted(naming)):
        for other in named(memory, memory.line.attributes.supersedes):
            if _may_supersede(memory, other):
                yield memory.id, other.id
            else:
                yield from _disagreement(memory, other, Doubt.STATED)
        for other in named(memory, memory.line.attributes.superseded):
            if _is_over(memory) or not _is_over(other):
                yield other.id, memory.id
        for other in named(memory, memory.line.attributes.contradicts):
            # for an opinion it is evidence, which has rules of its own
            if Network.OPINION not in (memory.line.network, other.line.network):
                yield from _disagreement(memory, other, Doubt.STATED)


def _disagreement(first: VersionInput, second: VersionInput, doubt: Doubt) -> Iterator[Disagreement]:
    newer, older = (first, second) if newness(first) > newness(second) else (second, first)
    if _are_both_valid(newer, older) or _is_over(newer) != _is_over(older):
        # a line has settled it
        return
    if not _is_same_voice(newer, older):
        # the owner's statement leads
        doubt = Doubt.AUTHORITY if "" in _voices(older) else Doubt.COPY if _is_of_copies(older) else Doubt.PEOPLE
    elif not _may_supersede(newer, older) and not _is_source_unknown(newer, older):
        doubt = Doubt.AUTHORITY
    yield Disagreement(newer.id, older.id, doubt)


_RANKS: Mapping[Provenance | None, int] = {
    **dict.fromkeys(BY_PEOPLE, 2),
    Provenance.AGENT: 1,
    Provenance.TOOL: 0,
    Provenance.IMPORT: 0,
}


_COPY = "\0"


def _voices(memory: VersionInput) -> frozenset[str]:
    """Return who states a memory: members of a team, and the empty name for the owner or an agent.

    Copies of conflicts are a voice of their own if nothing else states it, because they are not settled.
    """
    settled = frozenset(person_of(source.path) for source in memory.sources if not is_conflict_copy(source.path))
    return settled or frozenset((_COPY,))


def _is_same_voice(first: VersionInput, second: VersionInput) -> bool:
    return len(_voices(first) | _voices(second)) == 1


def _may_supersede(newer: VersionInput, older: VersionInput) -> bool:
    """Return whether the newest source of `newer` ranks at least as high as every source of `older`, pins included.

    A member of a team supersedes only own statements; the owner supersedes all. An outdated note supersedes nothing.
    """
    if "" not in _voices(newer) and not _is_same_voice(newer, older):
        return False
    if _is_over(newer) or _is_over(older):
        return _is_over(older)
    attributes = [source.line.attributes for source in older.sources]
    rank = max(_RANKS[None] if own.is_pinned else _RANKS[own.provenance] for own in attributes)
    return _RANKS[newer.sources[0].line.attributes.provenance] >= rank


def _is_source_unknown(newer: VersionInput, older: VersionInput) -> bool:
    """Return whether an agent states `newer`, and logs without provenance `older`, which agents may have written."""
    provenance = newer.sources[0].line.attributes.provenance
    return provenance is Provenance.AGENT and all(
        source.line.attributes.provenance is not Provenance.USER
        and not source.line.attributes.is_pinned
        and is_daily_log(source.path)
        for source in older.sources
    )


def _are_both_valid(first: VersionInput, second: VersionInput) -> bool:
    """Return whether a line says that both are valid, and its source may decide that."""
    pairs = (first, second), (second, first)
    return any(short_id(of.id) in by.line.attributes.beside and _may_supersede(by, of) for by, of in pairs)


def _is_order_known(first: VersionInput, second: VersionInput) -> bool:
    """Return whether the order of two memories is known: within a day only for lines of one log."""
    if first.recorded != second.recorded or _is_over(first) != _is_over(second):
        return True
    path = first.sources[0].path
    return path == second.sources[0].path and date_in_name(path) is not None


def _of_group(
    group: _Group, about: Sequence[VersionInput], skeletons: dict[MemoryId, FactSkeleton | None]
) -> Iterator[_Relation]:
    if group[1]:
        stated = [(memory, slot) for memory in about if (slot := fact_key(memory.line.text)) is not None]
        yield from _succession(stated, contradict, lambda newer, older, _: agree_in_kind(newer, older))
        return
    for chain in _chains(about, skeletons):
        yield from _succession(chain, str.__ne__, _is_replaced_value)


_HABIT = expression(r"(?i:days)\b")


def _is_replaced_value(newer: str, older: str, is_same_day: bool) -> bool:
    # on Mondays and on Thursdays: if stated on one day, both may be valid
    return not (is_same_day and _HABIT.search(newer) and _HABIT.search(older))


def _chains(
    memories: Iterable[VersionInput], skeletons: dict[MemoryId, FactSkeleton | None]
) -> Iterator[Sequence[tuple[VersionInput, str]]]:
    """Yield memories that differ in one value only; missing skeletons are computed and stored in `skeletons`."""
    chains: defaultdict[tuple[object, ...], list[tuple[VersionInput, str]]] = defaultdict(list)
    for memory in memories:
        if memory.id not in skeletons:
            skeletons[memory.id] = fact_skeleton(memory.line.text)
        if (skeleton := skeletons[memory.id]) is None:
            continue
        for at, value in enumerate(skeleton.values):
            chains[skeleton.words, at, skeleton.values[:at], skeleton.values[at + 1 :]].append((memory, value))
    yield from (chain for chain in chains.values() if len(chain) > 1)


_MAX_CURRENT = 8
"""Most current values of one chain: more values at once are a table."""
_MAX_OF_DAY = 2
"""Most values of one slot on one day that count as corrections of each other."""


def _succession(
    stated: Iterable[tuple[VersionInput, Value]],
    differ: Callable[[Value, Value], bool],
    may_replace: Callable[[Value, Value, bool], bool],
) -> Iterator[_Relation]:
    """Yield what each memory supersedes of those current at its time, then the pairs that disagree at the end."""
    ordered = sorted(stated, key=lambda item: newness(item[0]))
    tables = _tables(ordered)
    current: list[tuple[VersionInput, Value]] = []
    doubted: list[Disagreement] = []
    for newer, value in ordered:
        remaining: list[tuple[VersionInput, Value]] = []
        for older, earlier in reversed(current):
            is_same_day = older.recorded == newer.recorded
            are_both_valid = (is_same_day and newer.recorded in tables) or _are_both_valid(newer, older)
            if are_both_valid or not differ(value, earlier):
                remaining.append((older, earlier))
            elif (
                _is_same_voice(newer, older)
                and _may_supersede(newer, older)
                and _is_order_known(newer, older)
                and may_replace(value, earlier, is_same_day)
            ):
                yield newer.id, older.id
            else:
                doubted += _disagreement(newer, older, Doubt.UNSURE)
                remaining.append((older, earlier))
        current = [*reversed(remaining), (newer, value)][-_MAX_CURRENT:]
    current_ids = {memory.id for memory, _ in current}
    yield from (pair for pair in doubted if pair.newer in current_ids and pair.older in current_ids)


def _tables(stated: Sequence[tuple[VersionInput, Value]]) -> frozenset[date]:
    """Return the days on which a slot has so many values that all of them are valid."""
    values: defaultdict[date, set[object]] = defaultdict(set)
    for memory, value in stated:
        values[memory.recorded].add(value.value if isinstance(value, FactKey) else value)
    return frozenset(day for day, distinct in values.items() if len(distinct) > _MAX_OF_DAY)


def _without_circles(edges: Iterable[_Edge], memories: Mapping[MemoryId, VersionInput]) -> Iterator[_Edge]:
    """Yield the edges without circles: of a circle, edges from an earlier line to a later one are dropped."""
    followers = grouped(edges := list(edges))
    waiting = Counter(older for _, older in edges)
    ready = [memory for memory in followers if not waiting[memory]]
    while ready:
        for older in followers.get(ready.pop(), ()):
            waiting[older] -= 1
            if not waiting[older]:
                ready.append(older)
    for newer, older in edges:
        is_open = not waiting[newer] or not waiting[older]
        if is_open or newness(memories[newer]) > newness(memories[older]):
            yield newer, older
