"""Opinions of an agent: list, explain and replay; and scheduled runs of reflect, which forms opinions."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import structlog
from msgspec import Struct

from memoryd.config.memory import ReflectSection
from memoryd.domain.access import Admitted
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.kinds import MemoryId, Visibility, is_belief
from memoryd.domain.memories.reflect.opinions import Step, replay_by_base
from memoryd.domain.memories.times.spans import is_due
from memoryd.domain.ranking.filters import parse_instant
from memoryd.errors import Denied, InvalidRequest, MemorydError, NotFound, NotNow
from memoryd.memory.book import MemoryCache, OpinionStore, OpinionWithEvidence, evidence_of
from memoryd.memory.reflect.run import Reflecting, ReflectOptions
from memoryd.replies.knowledge import (
    OpinionDifferenceReply,
    OpinionReplayReply,
    OpinionReply,
    OpinionsReply,
    OpinionStepReply,
    OpinionWhyReply,
    ReflectReply,
)

_SHORTEST_ID = 4


class AgentOpinions(Struct, frozen=True):
    """The opinions that one agent may see. Each call raises StoreError if the index or the ledger cannot be read."""

    agent: str
    book: MemoryCache
    opinions: OpinionStore

    async def all(self, admitted: Admitted, entity: str | None, limit: int) -> OpinionsReply:
        """Return the opinions, about an entity if one is named, the firmest first."""
        book, visibility = (await self.book.current()).own, Visibility.of(self.agent, admitted)
        about = [memory for memory in _beliefs(book, visibility) if entity is None or _is_about(book, memory, entity)]
        rows = firmest_first(await self._with_evidence(book, about))
        return OpinionsReply(opinions=rows[:limit], total=len(rows))

    async def one(self, admitted: Admitted, name: str) -> OpinionWhyReply:
        """Explain the opinion with this id or id prefix; raises NotFound, InvalidRequest if it matches several."""
        book, visibility = (await self.book.current()).own, Visibility.of(self.agent, admitted)
        (opinion,) = await self._with_evidence(book, [_find_opinion(book, visibility, name)])
        state = opinion.state
        return OpinionWhyReply(
            **opinion_reply(opinion),
            steps=[_step_reply(book, visibility, step) for step in state.steps],
            setAside=[_step_reply(book, visibility, step) for step in state.set_aside],
        )

    async def replay(self, admitted: Admitted) -> OpinionReplayReply:
        """Compute the confidences of all opinions again, and compare them with the recorded ones."""
        book = (await self.book.current()).own
        opinions = await self._with_evidence(book, _beliefs(book, Visibility.of(self.agent, admitted)))
        differing = [row for opinion in opinions if (row := _first_difference(opinion)) is not None]
        return OpinionReplayReply(
            equal=not differing,
            opinions=len(opinions),
            steps=sum(len(opinion.state.recorded) for opinion in opinions),
            differing=differing,
        )

    async def _with_evidence(self, book: Book, memories: Sequence[Memory]) -> list[OpinionWithEvidence]:
        return list((await self.opinions.of(book, [memory.id for memory in memories])).values())


def firmest_first(opinions: Sequence[OpinionWithEvidence]) -> list[OpinionReply]:
    """Return the replies of opinions, the firmest first."""
    return list(map(opinion_reply, sorted(opinions, key=lambda opinion: (-opinion.confidence, opinion.memory.id))))


def opinion_reply(opinion: OpinionWithEvidence) -> OpinionReply:
    """Return the reply for an opinion."""
    memory, state = opinion.memory, opinion.state
    return OpinionReply(
        id=memory.id,
        kind=memory.kind,
        statement=memory.text,
        entities=list(memory.line.entities),
        confidence=state.confidence,
        base=state.base.confidence,
        lastUpdated=state.last_updated.isoformat() if state.last_updated else None,
        supporting=len(state.supporting),
        opposing=len(state.opposing),
        source=str(memory.sources[0].citation),
    )


def _beliefs(book: Book, visibility: Visibility) -> list[Memory]:
    beliefs = (memory for memory in book.memories.values() if is_belief(memory.kind))
    return sorted((memory for memory in beliefs if visibility.admits(memory.scope)), key=lambda memory: memory.id)


def _is_about(book: Book, memory: Memory, entity: str) -> bool:
    slug = slug_of(entity)
    return any(book.aliases.get(own, own) == book.aliases.get(slug, slug) for own in memory.slugs)


def _find_opinion(book: Book, visibility: Visibility, name: str) -> Memory:
    # only among visible opinions: the ids of others must not be revealed either
    prefix = name.strip().lower()
    matches = [
        memory for memory in _beliefs(book, visibility) if len(prefix) >= _SHORTEST_ID and memory.id.startswith(prefix)
    ]
    if not matches:
        raise NotFound(f"there is no opinion {name!r}", hint="memoryctl opinions list shows all with their ids")
    if len(matches) > 1:
        raise InvalidRequest(f"{name!r} is the beginning of {len(matches)} ids", hint="give more of the id")
    return matches[0]


def _step_reply(book: Book, visibility: Visibility, step: Step) -> OpinionStepReply:
    """Return a step with the text of its evidence, empty if its line was deleted or the caller may not see it."""
    memory = book.memories.get(MemoryId(step.evidence))
    is_visible = memory is not None and visibility.admits(memory.scope)
    return OpinionStepReply(
        evidence=step.evidence,
        label=step.label.value,
        labelledBy=step.labelled_by,
        day=step.day.isoformat(),
        citations=evidence_of(book, step)["sources"] if is_visible else [],
        content=memory.text if memory is not None and is_visible else "",
        before=step.before,
        after=step.after,
        run=step.run,
    )


def _first_difference(opinion: OpinionWithEvidence) -> OpinionDifferenceReply | None:
    """Return the first step of an opinion that differs from its recomputed value."""
    recorded = opinion.state.recorded
    for old, new in zip(recorded, replay_by_base(recorded), strict=True):
        if old != new:
            return OpinionDifferenceReply(
                id=opinion.memory.id,
                statement=opinion.memory.text,
                evidence=old.evidence,
                before=old.before,
                after=old.after,
                computedBefore=new.before,
                computedAfter=new.after,
            )
    return None


log = structlog.get_logger(__name__)

POLL_SECONDS = 30.0
"""Interval of checking the clock: sleep or a clock change delays the time of day by no more than this."""
RETRY_SECONDS = 600.0
"""Delay before a failed scheduled run is retried."""


class ReflectUse(Struct, frozen=True, kw_only=True):
    """Reflects over a workspace: on request, and once a day at a time of day in a zone.

    After several days of sleep it runs once.
    """

    reflecting: Reflecting
    settings: ReflectSection
    zone: ZoneInfo | None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def run(self, since: str | None, *, is_dry: bool = False, allows_loss: bool = False) -> ReflectReply:
        """Reflect over what was recorded since a day (`7d`, `2026-01-31`), by default as configured.

        Raises InvalidRequest for an invalid time, and what `Reflecting.run` does.
        """
        now = self.clock().astimezone(self.zone)
        try:
            began = now - self.settings.since if since is None else parse_instant(since, now)
        except (ValueError, OverflowError) as exc:
            raise InvalidRequest(f"since: {exc}") from exc
        options = ReflectOptions(since=began.date(), is_dry=is_dry, allows_loss=allows_loss)
        return await self.reflecting.run(options)

    async def run_by_clock(self) -> None:
        """Check the clock regularly until cancelled; return at once if no schedule is set.

        First the result of the last run is loaded, so that status reports it after a restart.
        """
        with contextlib.suppress(MemorydError):
            await self.reflecting.remember()
        while self.settings.at is not None:
            seconds = POLL_SECONDS
            try:
                await self.run_if_due()
            except Denied as exc:
                log.warning("reflect never runs by itself", reason=str(exc))
                return
            except MemorydError as exc:
                log.warning("reflect did not run", reason=str(exc))
                seconds = RETRY_SECONDS
            await asyncio.sleep(seconds)

    async def run_if_due(self) -> ReflectReply | None:
        """Reflect if the time of day passed since the last run; raises what a run does, and StoreError."""
        at, now = self.settings.at, self.clock()
        last = None if at is None else await self.reflecting.runs.last(now)
        if at is None or not is_due(last and last[0], now, at, self.zone):
            return None
        since = (now - self.settings.since).astimezone(self.zone).date()
        if last is not None:
            # also cover what was recorded since the last run
            since = min(since, (last[0] - timedelta(days=1)).astimezone(self.zone).date())
        with contextlib.suppress(NotNow):
            done = await self.reflecting.run(ReflectOptions(since=since))
            log.info("reflected", run=done["run"], pages=len(done["pages"]), proposals=len(done["proposals"]))
            return done
        return None
