"""When a transcript that grows is read on: after enough of it, after a compaction, or when nothing more comes.

The first two are OpenClaw's rules, in which 0 means any growth. The last one is ours: the end of a conversation is
read soon after it, not with the next one.
"""

import re
from dataclasses import dataclass
from typing import Final

_COMPACTION: Final = re.compile(rb'"type"\s*:\s*"compaction"|"subtype"\s*:\s*"compact_boundary"')
"""A record that a program writes when it has shortened what its model sees; inside a text the quotes are escaped."""


@dataclass(frozen=True, slots=True)
class ReadingRule:
    """How much must have come: bytes or lines; `idle` seconds without any more will do, too."""

    bytes: int = 100_000
    lines: int = 50
    idle: float = 300.0
    after_compaction: bool = True


@dataclass(frozen=True, slots=True)
class Growth:
    """What came since a transcript was read, and for how many seconds nothing has."""

    bytes: int
    lines: int
    rested: float
    is_compacted: bool = False


def is_due(growth: Growth, rule: ReadingRule) -> bool:
    """Tell whether a transcript is to be read on now."""
    if growth.bytes > 0 and (growth.bytes >= rule.bytes or growth.lines >= max(1, rule.lines)):
        return True
    return growth.rested >= rule.idle or (growth.is_compacted and rule.after_compaction)


def rests_in(growth: Growth, rule: ReadingRule) -> float | None:
    """Return in how many seconds a transcript has rested long enough, None if nothing has come to it."""
    return max(0.0, rule.idle - growth.rested) if growth.bytes > 0 else None


def tells_compaction(data: bytes) -> bool:
    """Tell whether a record of a compaction stands in these lines."""
    return _COMPACTION.search(data) is not None
