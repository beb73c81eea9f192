"""When the index of qmd is worked on: what is owed, what was tried, and the waits that follow from it.

Pure: every step gives a new value, and `now` is monotonic seconds. Doing what is due is the upkeep's part.
"""

from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.breaker import Breaker

NEVER: Final = float("inf")
EMBED_RETRY: Final = (5.0, 3600.0)
"""Seconds until a failed embedding is tried again: first, and at most."""


class MaintenanceRules(Struct, frozen=True, kw_only=True):
    """Seconds. An interval of 0 means never; `boot_delay` None means no update at the start."""

    makes_vectors: bool = False
    interval: float = 300.0
    debounce: float = 15.0
    boot_delay: float | None = 0.0
    embed_interval: float = 3600.0
    probe_again: float = 60.0
    """After the program was not found, or is none we can use."""


class Schedule(Struct, frozen=True):
    """What is owed and what was tried."""

    rules: MaintenanceRules
    tried_at: float
    """When the last update began; before the first, when the schedule did."""
    is_demanded: bool = False
    has_changes: bool = False
    is_embed_demanded: bool = False
    embed_at: float = 0.0
    embed_failures: int = 0
    """In a row."""
    breaker: Breaker = field(default_factory=Breaker)
    pause_until: float | None = None
    """Nothing is begun before this moment."""
    is_booting: bool = False
    """Whether that is the delay at the start."""

    def changed(self) -> "Schedule":
        """Note that documents have changed: an update is owed, when the debounce after the last one is over."""
        return replace(self, has_changes=True)

    def demanded(self) -> "Schedule":
        """Note that an update is owed now."""
        return replace(self, is_demanded=True)

    def followed(self, *, embeds: bool) -> "Schedule":
        """Note that somebody waits for an update, or vectors too: the delay at the start ends, a back-off does not."""
        return replace(
            self,
            is_demanded=True,
            is_embed_demanded=self.is_embed_demanded or embeds,
            pause_until=None if self.is_booting else self.pause_until,
        )

    def pressed(self) -> "Schedule":
        """Note that what was forgotten is to be gone: an update is tried now, also within a back-off."""
        return replace(self, is_demanded=True, pause_until=None)

    def update_begun(self, now: float) -> "Schedule":
        """Note that an update begins; what changes from here on is owed another."""
        return replace(self, tried_at=now, is_demanded=False, has_changes=False)

    def embed_begun(self) -> "Schedule":
        """Note that an embedding begins. An update that is still owed brings documents that it cannot see."""
        return replace(self, is_embed_demanded=self.is_demanded)

    def embed_succeeded(self, now: float) -> "Schedule":
        """Note the end of an embedding."""
        return replace(self, embed_failures=0, embed_at=now + (self.rules.embed_interval or NEVER))

    def embed_failed(self, now: float) -> "Schedule":
        """Note that no vectors could be made; the wait doubles with each failure in a row."""
        first, longest = EMBED_RETRY
        delay = min(longest, first * 2 ** min(self.embed_failures, 16))
        return replace(self, embed_failures=self.embed_failures + 1, embed_at=now + delay)

    def vectors_lost(self) -> "Schedule":
        """Note that the index is another file, which has no vectors."""
        return replace(self, embed_at=0.0)

    def index_lost(self) -> "Schedule":
        """Note that there is no index any more: all of it is to be made."""
        return replace(self, is_demanded=True, embed_at=0.0)

    def succeeded(self) -> "Schedule":
        """Note that all that was due is done."""
        return replace(self, breaker=self.breaker.succeeded(), pause_until=None)

    def failed(self, now: float, chance: float, *, has_program: bool) -> "Schedule":
        """Note that what was due could not be done; `chance` in [0, 1) spreads the next try."""
        breaker = self.breaker.failed(now, chance)
        pause = breaker.wait(now) if has_program else self.rules.probe_again
        return replace(self, breaker=breaker, pause_until=now + pause, is_booting=False)

    def update_in(self, now: float) -> float:
        """Return in how many seconds an update is due, `NEVER` included."""
        if self.is_demanded:
            return 0.0
        wait = self.rules.debounce if self.has_changes else self.rules.interval or NEVER
        return max(0.0, self.tried_at + wait - now)

    def embed_in(self, now: float) -> float:
        """Return in how many seconds an embedding is due, `NEVER` included."""
        if not self.rules.makes_vectors:
            return NEVER
        return 0.0 if self.is_embed_demanded else max(0.0, self.embed_at - now)

    def wait(self, now: float) -> float:
        """Return in how many seconds the index is worked on again; in a pause nothing is begun, at its end anything."""
        return min(self.update_in(now), self.embed_in(now)) if self.pause_until is None else self.pause_until - now


def first_schedule(rules: MaintenanceRules, now: float) -> Schedule:
    """Return what is owed at the start. qmd is looked for in any case, and its first update is not always wanted."""
    begins_at = now + (rules.boot_delay or 0.0)
    return Schedule(rules, now, is_demanded=rules.boot_delay is not None, pause_until=begins_at, is_booting=True)
