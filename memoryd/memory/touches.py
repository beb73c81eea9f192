"""Which touches count: once per session, and the rows of `changes` for touches that were taken back.

What a session counted is stored in memory only: after a restart a session may count again.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterator, Mapping

from memoryd.domain.documents import RelativePath
from memoryd.domain.expressions import expression
from memoryd.domain.memories.changes.diffs import Hunk
from memoryd.domain.memories.kinds import MemoryId, ShortId, WrittenBy, short_id
from memoryd.domain.memories.tiers import Tier, Usage
from memoryd.domain.sessions.names import IDLE
from memoryd.store.ledger.changes import ChangeRow, ChangeState

NAMES_MAX = 4096
"""Maximum number of remembered sessions or messages; the oldest are dropped."""
_MEMORIES_PER_CHANGE = 5_000
"""For more memories, the ledger would not store the hunks that undo needs."""
NO_FILE = RelativePath("")
"""The path of a change that is in the ledger only."""
WHY = "whatever was told counted as used: touches that may be none promote nothing any more"
_STATED = expression(r'"(?P<id>[0-9a-f]{8})" (?P<tier>core|working|peripheral), (?P<count>[0-9]{1,9}) touch')

_IDLE_SECONDS = IDLE.total_seconds()
TierMove = tuple[Usage, Usage]
"""The usage of a memory before and after."""


class CountedOnce:
    """Memories that each session, or each message, has counted. After an idle time a name counts anew."""

    def __init__(self) -> None:
        self._counted: OrderedDict[str, tuple[float, set[MemoryId]]] = OrderedDict()

    def has(self, name: str, memory: MemoryId, at: float) -> bool:
        """Return whether a name has counted a memory; False for an empty name."""
        last, counted = self._counted.get(name, (at, set[MemoryId]()))
        return memory in counted and at - last < _IDLE_SECONDS

    def note(self, name: str, memories: Collection[MemoryId], at: float) -> None:
        """Note the memories that a name counts now."""
        if not name:
            return
        last, counted = self._counted.pop(name, (at, set[MemoryId]()))
        self._counted[name] = at, set(memories).union(counted if at - last < _IDLE_SECONDS else ())
        while len(self._counted) > NAMES_MAX:
            self._counted.popitem(last=False)

    def drop(self, memories: Collection[MemoryId]) -> None:
        """Delete these memories from all names."""
        for _at, counted in self._counted.values():
            counted.difference_update(memories)


def tier_changes(moves: Mapping[MemoryId, TierMove], at: float) -> list[ChangeRow]:
    """Return rows that list changes of touches and tiers, each with the hunks that undo needs."""
    listed = sorted(moves.items())
    parts = [
        dict(listed[start : start + _MEMORIES_PER_CHANGE]) for start in range(0, len(listed), _MEMORIES_PER_CHANGE)
    ]
    return [tier_change(part, at) for part in parts]


def tier_change(moves: Mapping[MemoryId, TierMove], at: float, *, why: str = WHY, undoes: int = 0) -> ChangeRow:
    """Return one row for these memories."""
    hunks = (
        Hunk(1, (_line(memory, before),), (_line(memory, after),), (), (), True)
        for memory, (before, after) in sorted(moves.items())
    )
    return ChangeRow(
        writer=WrittenBy.UNDO if undoes else WrittenBy.TIERS,
        why=why,
        path=NO_FILE,
        at=at,
        state=ChangeState.DONE,
        hunks=tuple(hunks),
        undoes=undoes,
    )


def _line(memory: MemoryId, usage: Usage) -> str:
    # in quotes, as links name memories: forgetting a memory also finds it here
    return f'"{short_id(memory)}" {usage.tier}, {usage.access_count} touches'


def tiers_before(row: ChangeRow) -> Iterator[tuple[ShortId, Tier, int]]:
    """Yield the memories of a row, each with its tier before, and the number of touches that the change removed."""
    for hunk in row.hunks or ():
        before, after = (_STATED.match("".join(lines)) for lines in (hunk.removed, hunk.added))
        if before is not None and after is not None:
            yield ShortId(before["id"]), Tier(before["tier"]), int(before["count"]) - int(after["count"])
