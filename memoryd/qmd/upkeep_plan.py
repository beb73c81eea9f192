"""When the index of qmd is worked on: what is owed, what was tried, and the waits that follow from it.

Pure: every step gives a new value, and `now` is monotonic seconds. Doing what is due is the upkeep's part.
"""

from enum import StrEnum
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.breaker import Breaker

NEVER: Final = float("inf")
EMBED_RETRY: Final = (5.0, 3600.0)
"""Seconds until a failed embedding is tried again: first, and at most."""


class UpkeepRules(Struct, frozen=True, kw_only=True):
    """Seconds. An interval of 0 means never; `boot_delay` None means no update at the start."""

    makes_vectors: bool = False
    interval: float = 300.0
    debounce: float = 15.0
    boot_delay: float | None = 0.0
    embed_interval: float = 3600.0
    probe_again: float = 60.0
    """After the program was not found, or is none we can use."""


class WaitReason(StrEnum):
    """What a wait is for."""

    DEMAND = "asked for"
    CHANGES = "documents have changed"
    INTERVAL = "the interval since the last one"
    RETRY = "the last embedding failed"
    OFF = "never by itself"
    BOOT = "the delay at the start"
    BACK_OFF = "the back-off after a failure"
    NO_PROGRAM = "there is no program to run"


class Wait(Struct, frozen=True):
    """Seconds from now, `NEVER` included; 0 or less means that it is due."""

    seconds: float
    reason: WaitReason

    @property
    def is_over(self) -> bool:
        return self.seconds <= 0


class UpkeepPlan(Struct, frozen=True):
    """How long an update and an embedding wait, and the pause before anything is begun at all."""

    update: Wait
    embed: Wait
    pause: Wait | None

    @property
    def wait(self) -> Wait:
        """Until the index is worked on again. The end of a pause is a reason of its own: what failed is tried again."""
        return self.pause or min(self.update, self.embed, key=lambda wait: wait.seconds)


class Pause(Struct, frozen=True):
    """Nothing is begun before this moment."""

    until: float
    reason: WaitReason


class Schedule(Struct, frozen=True):
    """What is owed and what was tried."""

    tried_at: float
    """When the last update began; before the first, when the schedule did."""
    is_demanded: bool = False
    has_changes: bool = False
    is_embed_demanded: bool = False
    embed_at: float = 0.0
    embed_failures: int = 0
    """In a row."""
    breaker: Breaker = field(default_factory=Breaker)
    pause: Pause | None = None

    def changed(self) -> "Schedule":
        """Note that documents have changed: an update is owed, when the debounce after the last one is over."""
        return replace(self, has_changes=True)

    def demanded(self) -> "Schedule":
        """Note that an update is owed now."""
        return replace(self, is_demanded=True)

    def followed(self, *, embeds: bool) -> "Schedule":
        """Note that somebody waits for an update, or vectors too: the delay at the start ends, a back-off does not."""
        is_booting = self.pause is not None and self.pause.reason is WaitReason.BOOT
        return replace(
            self,
            is_demanded=True,
            is_embed_demanded=self.is_embed_demanded or embeds,
            pause=None if is_booting else self.pause,
        )

    def pressed(self) -> "Schedule":
        """Note that what was forgotten is to be gone: an update is tried now, also within a back-off."""
        return replace(self, is_demanded=True, pause=None)

    def update_begun(self, now: float) -> "Schedule":
        """Note that an update begins; what changes from here on is owed another."""
        return replace(self, tried_at=now, is_demanded=False, has_changes=False)

    def embed_begun(self) -> "Schedule":
        """Note that an embedding begins. An update that is still owed brings documents that it cannot see."""
        return replace(self, is_embed_demanded=self.is_demanded)

    def embed_succeeded(self, now: float, rules: UpkeepRules) -> "Schedule":
        """Note the end of an embedding."""
        return replace(self, embed_failures=0, embed_at=now + rules.embed_interval if rules.embed_interval else NEVER)

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
        return replace(self, breaker=self.breaker.succeeded(), pause=None)

    def failed(self, now: float, chance: float, *, has_program: bool, rules: UpkeepRules) -> "Schedule":
        """Note that what was due could not be done; `chance` in [0, 1) spreads the next try."""
        breaker = self.breaker.failed(now, chance)
        if has_program:
            return replace(self, breaker=breaker, pause=Pause(now + breaker.wait(now), WaitReason.BACK_OFF))
        return replace(self, breaker=breaker, pause=Pause(now + rules.probe_again, WaitReason.NO_PROGRAM))


def first_schedule(rules: UpkeepRules, now: float) -> Schedule:
    """Return what is owed at the start. qmd is looked for in any case, and its first update is not always wanted."""
    return Schedule(
        now, is_demanded=rules.boot_delay is not None, pause=Pause(now + (rules.boot_delay or 0.0), WaitReason.BOOT)
    )


def plan(schedule: Schedule, rules: UpkeepRules, now: float) -> UpkeepPlan:
    """Tell what is due, and why the rest has to wait."""
    pause = schedule.pause
    return UpkeepPlan(
        update=_update_wait(schedule, rules, now),
        embed=_embed_wait(schedule, rules, now),
        pause=None if pause is None else Wait(pause.until - now, pause.reason),
    )


def _update_wait(schedule: Schedule, rules: UpkeepRules, now: float) -> Wait:
    if schedule.is_demanded:
        return Wait(0.0, WaitReason.DEMAND)
    since = now - schedule.tried_at
    if schedule.has_changes:
        return Wait(max(0.0, rules.debounce - since), WaitReason.CHANGES)
    if not rules.interval:
        return Wait(NEVER, WaitReason.OFF)
    return Wait(max(0.0, rules.interval - since), WaitReason.INTERVAL)


def _embed_wait(schedule: Schedule, rules: UpkeepRules, now: float) -> Wait:
    if not rules.makes_vectors:
        return Wait(NEVER, WaitReason.OFF)
    if schedule.is_embed_demanded:
        return Wait(0.0, WaitReason.DEMAND)
    left = max(0.0, schedule.embed_at - now)
    if schedule.embed_failures:
        return Wait(left, WaitReason.RETRY)
    return Wait(left, WaitReason.OFF if left == NEVER else WaitReason.INTERVAL)
