"""The interface of carriers, which transport the shared memory of a team: a git repository or a PostgreSQL server.

A carrier stores files by name, in the layout of `domain/memories/sharing.py`. There is no queue of changes: the
publisher compares the wanted files with those of the carrier, and applies the difference. So after days without a
network there is only one difference.
"""

import time
from collections.abc import Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from memoryd.domain.memories.sharing import shared_file


class SharedChanges(Struct, frozen=True, kw_only=True):
    """Changes of the person's own files."""

    put: Mapping[str, bytes] = {}
    remove: Collection[str] = ()
    why: str
    """The reason in a few words, without any shared text."""

    @property
    def is_empty(self) -> bool:
        """Whether there are no changes."""
        return not self.put and not self.remove


class CarrierHealth(Struct, frozen=True, kw_only=True):
    """The state of a carrier; each trouble is a sentence."""

    people: Mapping[str, int] = {}
    """The members of the team, with the number of their files that are shown here."""
    pending: int = 0
    """Number of own files that are not sent yet."""
    waits_since: float | None = None
    """Time since when the oldest of them is pending, in Unix seconds."""
    fetched_at: datetime | None = None
    """Time of the last successful fetch since the start."""
    pushed_at: datetime | None = None
    """Time when something was last sent since the start."""
    offline: str = ""
    """Why the remote cannot be reached; empty if the last attempt reached it."""
    refused: str = ""
    """Why the remote refuses what is sent; empty if it does not."""
    withheld: tuple[str, ...] = ()
    """A sentence for each file of others that is not shown."""
    is_complete: bool = True
    """Whether all fetched files are shown or withheld, and none is waiting."""
    broken: str = ""
    """Any other reason why the carrier does not work."""

    @property
    def behind_seconds(self) -> int:
        """Seconds for which the oldest own file has been pending."""
        return 0 if self.waits_since is None else max(0, int(time.time() - self.waits_since))

    @property
    def troubles(self) -> list[str]:
        """Problems for the owner. Being offline for a while is none."""
        return [trouble for trouble in (self.broken, self.refused, *self.withheld) if trouble]


class TeamPlace(Struct, frozen=True, kw_only=True):
    """The places of a team, here and remote, and the person's name in it."""

    remote: str
    person: str
    name: str = ""
    """The name of the team in the configuration; empty accepts any."""
    checkout: Path
    """The folder with the person's own shared files."""
    is_own: bool
    """Whether the checkout belongs to memoryd, and not to a person."""
    notes: Path
    """The folder in which the team's files are shown."""

    def is_mine(self, path: str) -> bool:
        """Return whether a path belongs to the person's own files."""
        place = shared_file(path)
        return place is not None and place.person == self.person


class Carrier(Protocol):
    """Transports the memory of a team between the machines of its members. All but `health` raise SidecarError."""

    async def known(self) -> Mapping[str, str]:
        """Return the digests of the person's own files by path, sent or not."""
        ...

    def digest(self, data: bytes) -> str:
        """Return the digest by which `known` identifies these bytes."""
        ...

    async def read(self, paths: Collection[str]) -> Mapping[str, bytes]:
        """Return the bytes of the person's own files by path; missing files are left out."""
        ...

    async def members(self) -> Collection[str]:
        """Return the members of the team, who may read the shared files."""
        ...

    async def apply(self, changes: SharedChanges) -> None:
        """Change own files: durable on this machine on return, and shown here. Nothing is sent."""
        ...

    async def exchange(self) -> None:
        """Fetch the files of others, and send the applied changes. If that fails, `health` has the reason."""
        ...

    async def news(self) -> None:
        """Return when the remote reports a change. A carrier whose remote reports nothing never returns."""
        ...

    def health(self) -> CarrierHealth:
        """Return the state of the carrier."""
        ...
