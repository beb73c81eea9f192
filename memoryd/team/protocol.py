"""The seam between what is shared with a team and what carries it: a git repository, or a PostgreSQL server.

A carrier holds files by their names in the layout of `domain/memories/sharing.py`. What is to be shared is never a
queue: the publisher compares what is wanted with what the carrier holds, and applies the difference. So days without a
network cost one difference.
"""

import time
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from memoryd.domain.memories.sharing import shared_file


class SharedChanges(Struct, frozen=True, kw_only=True):
    """What is to become of one's own files."""

    put: Mapping[str, bytes] = {}
    remove: Collection[str] = ()
    why: str
    """In a few words, without a word of what is shared."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to change."""
        return not self.put and not self.remove


class CarrierHealth(Struct, frozen=True, kw_only=True):
    """How a carrier does; every trouble is a sentence."""

    people: Mapping[str, int] = {}
    """Who is in the team, and how many files of each are shown here."""
    pending: int = 0
    """Own files that are not sent yet."""
    waits_since: float | None = None
    """Since when the oldest of them has waited, in Unix seconds."""
    fetched_at: datetime | None = None
    """When it was last seen what others shared, since the start."""
    pushed_at: datetime | None = None
    """When something was last sent, since the start."""
    offline: str = ""
    """Why the other side cannot be reached; empty if it was, the last time."""
    refused: str = ""
    """Why it does not take what is sent; empty if it does."""
    withheld: tuple[str, ...] = ()
    """What of the others is not shown, and why."""
    is_whole: bool = True
    """Whether nothing of what was brought in waits for being shown."""
    broken: str = ""
    """What else keeps it from working."""

    @property
    def behind_seconds(self) -> int:
        """For how long the oldest of the own files has waited to be sent."""
        return 0 if self.waits_since is None else max(0, int(time.time() - self.waits_since))

    @property
    def troubles(self) -> list[str]:
        """What its owner should look at. To be offline for a while is none."""
        return [one for one in (self.broken, self.refused, *self.withheld) if one]


class TeamPlace(Struct, frozen=True, kw_only=True):
    """Where a team is, here and elsewhere, and who one is in it."""

    remote: str
    person: str
    name: str = ""
    """What the team is called here; empty: however it is called there."""
    checkout: Path
    """Where one's own files lie as they are shared from here."""
    is_own: bool
    """Whether the checkout is memoryd's, and no person's."""
    notes: Path
    """Where it is shown what the team shares."""

    def is_mine(self, path: str) -> bool:
        """Return whether a path is one of one's own files."""
        place = shared_file(path)
        return place is not None and place.person == self.person


class Carrier(Protocol):
    """Carries the memory of a team between the machines of its people. All but `health` raise SidecarError."""

    async def known(self) -> Mapping[str, str]:
        """Return one's own files that it holds, sent or not, each with the digest of its bytes."""
        ...

    def digest(self, data: bytes) -> str:
        """Return the digest that `known` gives for these bytes."""
        ...

    async def read(self, paths: Collection[str]) -> Mapping[str, bytes]:
        """Return the bytes of files of one's own, by path; those that are not there are left out."""
        ...

    async def members(self) -> Collection[str]:
        """Return who is in the team, and so may read what is shared."""
        ...

    async def apply(self, changes: SharedChanges) -> None:
        """Change files of one's own: durable on this machine when it returns, and shown here. Nothing is sent."""
        ...

    async def exchange(self) -> None:
        """Bring in what others shared, and send what was applied; where that fails, `health` says why."""
        ...

    async def news(self) -> None:
        """Return once the other side tells that somebody shared something; where it never tells, never."""
        ...

    def health(self) -> CarrierHealth:
        """Say how it does."""
        ...
