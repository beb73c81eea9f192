"""What the lines of an opinion themselves say of its confidence, and since when: evidence moves it from there.

A person's word wins. The c on a page without a date (`bank/opinions.md`, kept by hand) counts before those of daily
logs, of which the newest counts; without any it is 0.5. The record time of pages without a date counts for nothing
here: it is known to the ledger alone, and what holds must hold without one.
"""

from dataclasses import dataclass
from datetime import date
from typing import Final

from memoryd.domain.memories.book import Memory, MemorySource
from memoryd.domain.ranking.filters import date_in_name

UNTOLD: Final = 0.5
"""The confidence of an opinion whose lines name none."""


@dataclass(frozen=True, slots=True)
class OpinionBase:
    """The confidence that evidence moves.

    Lines that say the opinion again count for it after `stated_on`; None if no daily log states it. No evidence from
    before `revised_on` counts: on that day a line gave another confidence than the ones before it.
    """

    confidence: float
    stated_on: date | None = None
    revised_on: date | None = None


def base_of(memory: Memory) -> OpinionBase:
    """Return what the lines of an opinion say of its confidence."""
    dated = sorted((one for one in memory.sources if is_dated(one)), key=lambda one: one.day)
    by_hand = min((one for one in memory.sources if _tells(one) and not is_dated(one)), key=_place, default=None)
    if by_hand is not None:
        return OpinionBase(_told(by_hand), dated[0].day if dated else None)
    telling = [one for one in dated if _tells(one)]
    if not telling:
        return OpinionBase(UNTOLD, dated[0].day if dated else None)
    newest = max(telling, key=lambda one: (one.day, *_place(one)))
    since = _since(dated, newest)
    return OpinionBase(_told(newest), since, since if since > dated[0].day else None)


def restated_days(memory: Memory, base: OpinionBase) -> tuple[date, ...]:
    """Return the days, in order, on which daily logs say the opinion again, not with another confidence."""
    days = {one.day for one in memory.sources if is_dated(one) and _agrees(one, base)}
    return tuple(sorted(day for day in days if base.stated_on is not None and day > base.stated_on))


def is_dated(source: MemorySource) -> bool:
    """Tell whether a line stands in a file whose name has its day."""
    return date_in_name(source.path) is not None


def _since(dated: list[MemorySource], newest: MemorySource) -> date:
    """Return the day since when the confidence of the newest line holds, no line between giving another."""
    day = newest.day
    for one in reversed(dated):
        if not _agrees(one, OpinionBase(_told(newest))):
            break
        day = one.day if _tells(one) else day
    return min(day, newest.day)


def _agrees(source: MemorySource, base: OpinionBase) -> bool:
    return not _tells(source) or _told(source) == base.confidence


def _tells(source: MemorySource) -> bool:
    return source.line.attributes.confidence is not None


def _told(source: MemorySource) -> float:
    given = source.line.attributes.confidence
    return UNTOLD if given is None else given


def _place(source: MemorySource) -> tuple[str, int]:
    return source.path, source.start_line
