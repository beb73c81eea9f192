"""The part of `memoryctl doctor` about time: notes and scans of the future, and the zone that days are counted in."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import count
from memoryd.domain.documents import printable_name
from memoryd.files.roots import roots_and_rules
from memoryd.files.scanner import scan

EARLIEST: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""Before this version was made: a clock without a battery begins in 1970, or when its system was built."""
AHEAD_SECONDS: Final = 120.0
"""A file of another machine may be a little ahead."""
_ZONES: Final = Path("/usr/share/zoneinfo")


def sane(examination: Examination) -> Iterator[Finding]:
    """Hold the clock against what is dated, and look at the zone."""
    now = datetime.now(UTC)
    if now < EARLIEST:
        yield Finding("clock", "wrong", f"it is {now:%Y-%m-%d} by the clock", "set it: sudo timedatectl set-ntp true")
        return
    yield from _of_the_future(examination, now)
    yield zone_finding(os.environ.get("TZ", ""), now)


def _of_the_future(examination: Examination, now: datetime) -> Iterator[Finding]:
    for agent in examination.config.resolved_agents():
        roots, rules = roots_and_rules(agent, max_file_bytes=examination.config.limits.max_file_bytes)
        files, limit = scan(roots, rules).files, (now.timestamp() + AHEAD_SECONDS) * 1e9
        ahead = sorted(path for path, found in files.items() if found.mtime_ns > limit)
        if ahead:
            message = f"{count(len(ahead), 'note')} of {agent.id} dated in the future, {printable_name(ahead[0])} first"
            hint = "if the clock is right, touch them; they count as newer than all others"
            yield Finding("clock", "look", message, hint)


def zone_finding(named: str, now: datetime) -> Finding:
    """Judge the time zone: days of notes and of memories begin and end in it."""
    zone = named.removeprefix(":")
    if zone and "/" in zone and _ZONES.is_dir() and not (_ZONES / zone).exists():
        message = f"TZ names {zone}, which this system does not know, and UTC holds"
        return Finding("clock", "look", message, "name one of /usr/share/zoneinfo, or take TZ away")
    local = now.astimezone()
    return Finding("clock", "ok", f"{local:%Y-%m-%d %H:%M} {local.tzname()}")


LOOKS: Looks = {"clock.sane": sane}
