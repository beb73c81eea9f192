"""What the parts of all memories counted since they were made: how long arms took, looks at the disk, caches."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memoryd.agents.workspace_index import WorkspaceIndex
from memoryd.domain.counters import CacheUses, Durations
from memoryd.memory.book import MemoryBook
from memoryd.search.arms import ArmTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """Counts over all workspaces together."""

    seconds: Mapping[str, Durations]
    """How long arms took, by arm."""
    states: Mapping[tuple[str, str], int]
    """How often an arm took part, by arm and how."""
    looks: Mapping[str, int]
    """How often the disk was looked at, by what for."""
    caches: Mapping[str, CacheUses]
    vector_bytes: int
    """What the vectors take that questions were compared with."""

    def after(self, earlier: "Measures") -> "Measures":
        """Return these counts with those of memories that these took the place of."""
        seconds: defaultdict[str, Durations] = defaultdict(Durations)
        for counted in (earlier, self):
            for arm, durations in counted.seconds.items():
                seconds[arm].join(durations)
        return Measures(
            seconds=seconds,
            states=Counter(earlier.states) + Counter(self.states),
            looks=Counter(earlier.looks) + Counter(self.looks),
            caches={name: _sum(filter(None, (earlier.caches.get(name), uses))) for name, uses in self.caches.items()},
            vector_bytes=self.vector_bytes,
        )


def measured(
    *,
    indexes: Sequence[WorkspaceIndex],
    sidecars: Iterable[ArmTimes],
    conversations: Iterable[ArmTimes],
    books: Iterable[MemoryBook],
) -> Measures:
    """Return the sums; arms over conversations have names of their own."""
    seconds: defaultdict[str, Durations] = defaultdict(Durations)
    states: Counter[tuple[str, str]] = Counter()
    named = [("", times) for times in (*(index.builtin.times for index in indexes), *sidecars)]
    named += [("conversations ", times) for times in conversations]
    for over, times in named:
        for (arm, state), number in times.states.items():
            states[over + arm, state] += number
        for arm, durations in times.seconds.items():
            seconds[over + arm].join(durations)
    looks: Counter[str] = Counter()
    for index in indexes:
        looks.update(index.indexer.looks)
    held = (index.builtin.vector_index for index in indexes)
    return Measures(
        seconds=seconds,
        states=states,
        looks=looks,
        caches={"memories": _sum(one.uses for one in books), "vectors": _sum(one.lane.uses for one in indexes)},
        vector_bytes=sum(one.held_bytes for one in held if one is not None),
    )


def _sum(uses: Iterable[CacheUses]) -> CacheUses:
    all_uses = list(uses)
    return CacheUses(sum(one.hits for one in all_uses), sum(one.misses for one in all_uses))
