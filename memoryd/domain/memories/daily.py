"""A time of day at which something is due once, also where a machine slept, or a clock was changed."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo


def last_due(now: datetime, at: time, zone: ZoneInfo | None) -> datetime:
    """Return the last moment, not after `now`, at which the clocks of a zone showed a time; None: the system's zone.

    A time that the clocks leave out in spring counts as the one after the gap, and of one that comes twice in autumn
    the first counts.
    """
    today = now.astimezone(zone).date()
    due = _moment(today, at, zone)
    return due if due <= now else _moment(today - timedelta(days=1), at, zone)


def is_due(last: datetime | None, now: datetime, at: time, zone: ZoneInfo | None) -> bool:
    """Tell whether the last run was before the time of day came last; however often it was missed, it is due once."""
    return last is None or last < last_due(now, at, zone)


def _moment(day: date, at: time, zone: ZoneInfo | None) -> datetime:
    local = datetime.combine(day, at)
    # through the zone's own clocks: a time that does not exist comes out behind the gap
    return (local.replace(tzinfo=zone) if zone else local).astimezone()
