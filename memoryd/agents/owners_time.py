"""The time of the owner of an agent, in the zone that `memory.timezone` names."""

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from memoryd.config.memory import MemorySection


@dataclass(frozen=True, slots=True)
class OwnersTime:
    """Tells the time of an owner; `zone` None is that of the machine, whichever it is in when somebody asks."""

    zone: ZoneInfo | None

    def now(self) -> datetime:
        """Return the time now, with its zone."""
        return datetime.now(UTC).astimezone(self.zone)

    def today(self) -> date:
        """Return the day that it is now."""
        return self.now().date()

    def day(self, at: float) -> date:
        """Return the day of a Unix time."""
        return datetime.fromtimestamp(at, UTC).astimezone(self.zone).date()

    def end_of(self, day: date) -> float:
        """Return the Unix time at which a day is over; infinity for one that no clock shows."""
        try:
            midnight = datetime.combine(day, time.min, tzinfo=self.zone) + timedelta(days=1)
            return midnight.timestamp()
        except (OverflowError, ValueError, OSError):
            return math.inf


def owners_time(memory: MemorySection) -> OwnersTime:
    """Return the time of the owner of an agent with these settings."""
    return OwnersTime(ZoneInfo(memory.timezone) if memory.timezone else None)
