"""Reflect and its proposals, as one agent's owner asks for them; agents on one workspace share both."""

import asyncio
import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import structlog
from msgspec import Struct

from memoryd.agents.workspace.index import WorkspaceIndex
from memoryd.config.memory import ReflectSection
from memoryd.domain.memories.book import Book
from memoryd.domain.memories.reflect.pages import SharedMemories, shared_memories
from memoryd.domain.memories.times.spans import is_due
from memoryd.domain.ranking.filters import parse_instant
from memoryd.errors import Denied, InvalidRequest, MemorydError, NotNow
from memoryd.memory.book import MemoryCache
from memoryd.memory.reflect.proposals import ProposalQueue
from memoryd.memory.reflect.run import Reflecting, ReflectOptions
from memoryd.replies.knowledge import ReflectReply
from memoryd.store.ledger.reflect import ReflectRuns

log = structlog.get_logger(__name__)

SETTLE_SECONDS: Final = 60.0
"""How long a run waits until the index has what is on disk."""
POLL_SECONDS: Final = 30.0
"""How often the clock is looked at: neither sleep nor a changed clock makes the time of day be missed for longer."""
RETRY_SECONDS: Final = 600.0
"""How long a scheduled run that failed waits for another try."""


class CurrentMemories(Struct, frozen=True, kw_only=True):
    """Gives the memories of a workspace as the disk has them now."""

    book: MemoryCache
    index: WorkspaceIndex
    seconds: float = SETTLE_SECONDS

    async def now(self) -> Book:
        """Return the book of what is said and settled here, once what is on disk is in the index.

        Raises NotNow where that cannot be, StoreError.
        """
        if not await self.index.follow(self.seconds):
            raise NotNow("the notes are still being read", hint="try again in a moment")
        # what an index does not have, or holds back, would look like memories that are gone
        why = self.index.why_waiting or self.index.trouble
        if why := why or ("" if self.index.is_ready else "it was not read yet"):
            raise NotNow(f"the index does not have all notes: {why}", hint="memoryctl status tells more")
        if self.index.pending_files:
            raise NotNow("some notes are still to be read", hint="memoryctl status tells more")
        return (await self.book.now()).settled

    async def told(self) -> SharedMemories:
        """Return what may be told to all; raises as `now` does."""
        return await asyncio.to_thread(shared_memories, await self.now(), {})


class ReflectUse(Struct, frozen=True, kw_only=True):
    """Reflect over the workspace of an agent, and the queue of what it proposes."""

    reflecting: Reflecting
    proposals: ProposalQueue
    settings: ReflectSection
    zone: ZoneInfo | None

    async def run(self, since: str | None, *, is_dry: bool = False, allows_loss: bool = False) -> ReflectReply:
        """Reflect over what was recorded since a day (`7d`, `2026-01-31`), by default as the settings say.

        Raises InvalidRequest for what is no time, and what `Reflecting.run` does.
        """
        now = datetime.now(self.zone).astimezone(self.zone)
        try:
            began = now - self.settings.since if since is None else parse_instant(since, now)
        except (ValueError, OverflowError) as exc:
            raise InvalidRequest(f"since: {exc}") from exc
        options = ReflectOptions(since=began.date(), is_dry=is_dry, allows_loss=allows_loss)
        return await self.reflecting.run(options)


class ReflectSchedule(Struct, frozen=True, kw_only=True):
    """Runs reflect once a day, by the clocks of a zone, and once for however many days were slept through."""

    reflecting: Reflecting
    runs: ReflectRuns
    settings: ReflectSection
    zone: ZoneInfo | None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    poll_seconds: float = POLL_SECONDS
    retry_seconds: float = RETRY_SECONDS

    async def run(self) -> None:
        """Look at the clock now and then, until cancelled; return at once where no schedule is set.

        Before that the last run is remembered, so that status tells after a restart what it left.
        """
        with contextlib.suppress(MemorydError):
            await self.reflecting.remember()
        while self.settings.at is not None:
            seconds = self.poll_seconds
            try:
                await self.run_if_due()
            except Denied as exc:
                log.warning("reflect never runs by itself", reason=str(exc))
                return
            except MemorydError as exc:
                log.warning("reflect did not run", reason=str(exc))
                seconds = max(seconds, self.retry_seconds)
            await asyncio.sleep(seconds)

    async def run_if_due(self) -> ReflectReply | None:
        """Reflect if the time of day came since the last run; raises what a run does, and StoreError."""
        at, now = self.settings.at, self.clock()
        last = None if at is None else await self.runs.last(now)
        if at is None or not is_due(None if last is None else last.started_at, now, at, self.zone):
            return None
        since = (now - self.settings.since).astimezone(self.zone).date()
        if last is not None:
            # what was recorded while nobody reflected is looked at, too
            since = min(since, (last.started_at - timedelta(days=1)).astimezone(self.zone).date())
        with contextlib.suppress(NotNow):
            done = await self.reflecting.run(ReflectOptions(since=since))
            log.info("reflected", run=done["run"], pages=len(done["pages"]), proposals=len(done["proposals"]))
            return done
        return None
