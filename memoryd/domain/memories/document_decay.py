"""How documents will stand in some days if nobody touches them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memoryd.domain.memories.documents import MemoryDocument
from memoryd.domain.memories.tiers import RelevanceTerms

_DURATION: Final = re.compile(r"(?P<count>[0-9]{1,5})\s*(?P<unit>[dwmy]?)")
_UNIT_DAYS: Final[Mapping[str, int]] = {"d": 1, "w": 7, "m": 30, "y": 365}


@dataclass(frozen=True, slots=True)
class DecayedDocument:
    """A memory, and what its relevance will be made of if nobody touches it until then."""

    document: MemoryDocument
    then: RelevanceTerms

    @property
    def changes_tier(self) -> bool:
        return self.then.tier is not self.document.tier

    @property
    def loss(self) -> float:
        return self.document.relevance - self.then.relevance


@dataclass(frozen=True, slots=True)
class DecayPreview:
    """What will be so in some days: the memories that lose most, how many change their tier, and how many there are."""

    days: float
    decayed: tuple[DecayedDocument, ...]
    moving: int
    total: int


def decay_of(found: Sequence[DecayedDocument], days: float, limit: int) -> DecayPreview:
    """Return what changes: what goes to another tier first, then what loses most; what stays as it is not at all."""
    changing = [one for one in found if one.changes_tier or one.loss]
    first = sorted(changing, key=lambda one: (not one.changes_tier, -one.loss, one.document.id))
    return DecayPreview(days, tuple(first[:limit]), sum(one.changes_tier for one in found), len(found))


def days_of(text: str) -> float:
    """Read how many days somebody means: `90d`, `12w`, `6m`, `1y`, or a bare number; raise ValueError."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(f"{text!r} is no number of days, such as 90d, 12w, 6m or 1y")
    return float(int(found["count"]) * _UNIT_DAYS[found["unit"] or "d"])
