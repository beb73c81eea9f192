"""Record time: on which day a line was written, by the name of its file, the ledger, or when the file was changed."""

from collections.abc import Callable
from datetime import date
from typing import Final

import structlog

from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.ranking.filters import date_in_name
from memoryd.errors import Denied, StoreError
from memoryd.store.index.memories import FileVersion, MemoryFiles
from memoryd.store.ledger.usage import FirstSeen

log = structlog.get_logger(__name__)

LineDays = Callable[[FileVersion, MemoryId], date]
"""The day on which a file states a memory first."""

_NANO: Final = 1e9


class RecordDays:
    """Of one workspace. `local_day` gives the day of a Unix time where its owner is, `clock` the Unix time.

    What the ledger cannot keep has the day on which its file was changed, until it can.
    """

    def __init__(
        self, *, first_seen: FirstSeen, local_day: Callable[[float], date], clock: Callable[[], float]
    ) -> None:
        self._first_seen = first_seen
        self._local_day = local_day
        self._clock = clock
        self._known: dict[MemoryId, date] = {}
        self._unsettled: frozenset[int] = frozenset()

    def are_settled(self, file: int) -> bool:
        """Tell whether the days of the lines of a file, by its id, are known for good."""
        return file not in self._unsettled

    async def of(self, found: MemoryFiles) -> LineDays:
        """Learn the days of the lines that were read, and return what gives them."""
        undated = [one for one in found.versions if one.id in found.lines and date_in_name(one.path) is None]
        # a file changed in the future is one of a clock that was wrong
        today = self._local_day(self._clock())
        changed = {one.id: min(self._local_day(one.mtime_ns / _NANO), today) for one in undated}
        seen: dict[MemoryId, date] = {}
        for one in undated:
            for line in found.lines[one.id]:
                seen[line.memory] = min(changed[one.id], seen.get(line.memory, date.max))
        is_learned = await self._learn(seen)
        self._unsettled = frozenset() if is_learned else frozenset(changed)
        known = dict(self._known)

        def day(file: FileVersion, memory: MemoryId) -> date:
            return date_in_name(file.path) or known.get(memory) or changed.get(file.id, today)

        return day

    async def _learn(self, seen: dict[MemoryId, date]) -> bool:
        """Ask the ledger for what is not known yet, and have it keep what it does not know; tell whether it could."""
        new = seen.keys() - self._known.keys()
        if not new:
            return True
        try:
            kept = await self._first_seen.days(new)
            self._known |= kept
            if missing := {memory: seen[memory] for memory in new if memory not in kept}:
                await self._first_seen.note(missing)
                self._known |= missing
        except (StoreError, Denied) as exc:
            log.debug("days of memories cannot be kept", reason=str(exc))
            return False
        return True
