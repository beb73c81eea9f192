"""Recalling what an agent's memory holds; what the asker leaves open is as the configuration says."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Final

from memoryd.agents.asked_filters import asked_kinds, check_scope
from memoryd.agents.bundling import AgentBundles
from memoryd.agents.group_telling import told_to_groups
from memoryd.config.agents import Agent
from memoryd.config.limits import LimitsSection
from memoryd.domain.access import Admitted
from memoryd.domain.memories.bundle import Bundle
from memoryd.domain.memories.kinds import Kind, MemoryId, is_belief, short_id
from memoryd.domain.memories.recall_filters import RecallFilters, named_entity
from memoryd.domain.memories.reflect.opinions import StatedEvidence, stated_evidence
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.domain.ranking.filters import Filters, parse_instant
from memoryd.domain.ranking.questions import Question, parse_question
from memoryd.errors import InvalidRequest, StoreError
from memoryd.memory.book import MemoryBook
from memoryd.memory.opinions import HeldOpinion, OpinionBook
from memoryd.memory.recall.query import Recalled, RecalledMemory, RecallQuery
from memoryd.memory.recall.recaller import Recaller
from memoryd.memory.usage import UsageBook

_DASH: Final = re.compile(r"(?<!\S)-(?=[\w\"“])")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """How to recall; None, and an empty text, is as the configuration says, or no filter.

    Days are dates as somebody writes them (`30d`, `2026-10-01`), read in the time zone of the owner of the notes.
    """

    k: int | None = None
    since: str = ""
    until: str = ""
    as_of: str = ""
    known_by: str = ""
    entity: str = ""
    kind: str = ""
    scope: str = ""
    only_memories: bool = False
    """Whether passages and pages are left out."""
    deadline: timedelta | None = None
    is_explained: bool = False
    touches: bool = True
    """Whether what is told counts as used."""
    is_told_to_all: bool = False
    """Whether all who listen read what is recalled; what is put into a prompt always counts as such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleOptions:
    """How a bundle is to be: tokens at most (None: as configured), and which one is known."""

    budget: int | None = None
    if_none_match: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOutcome:
    """What is recalled, with the opinions among it as they stand, and the bundle if one was asked for."""

    recalled: Recalled
    opinions: Mapping[MemoryId, HeldOpinion] = field(default_factory=dict)
    stated: Mapping[MemoryId, Sequence[StatedEvidence]] = field(default_factory=dict)
    """What lines say for and against them, counted or not."""
    bundle: Bundle | None = None
    has_citations: bool = True
    is_explained: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRecall:
    """The recall of one agent. `is_alone`: no other one shares its workspace."""

    agent: Agent
    is_alone: bool
    recaller: Recaller
    book: MemoryBook
    opinions: OpinionBook
    bundles: AgentBundles
    limits: LimitsSection
    usage: UsageBook
    clock: Callable[[], datetime]
    """The owner's time, in the owner's zone."""

    async def recall(
        self, text: str, options: RecallOptions, admitted: Admitted, wanted: BundleOptions | None = None
    ) -> RecallOutcome:
        """Return what answers, and a bundle of it where one is wanted; raises InvalidRequest."""
        query = await self._query(text, options, admitted)
        recalled = await self._recalled(query, admitted, is_prompt=wanted is not None or options.is_told_to_all)
        opinions = await self._opinions(recalled)
        outcome = RecallOutcome(
            recalled=recalled,
            opinions=opinions,
            stated=await self._stated(recalled, query),
            bundle=None if wanted is None else await self._bundle(recalled, opinions, admitted, wanted),
            has_citations=self._has_citations(admitted),
            is_explained=options.is_explained,
        )
        if options.touches:
            self.touch(outcome, at=query.now.timestamp())
        return outcome

    async def _recalled(self, query: RecallQuery, admitted: Admitted, *, is_prompt: bool) -> Recalled:
        """Return what is recalled; for a group without what the core keeps from it."""
        if not is_prompt or admitted.is_direct or self.agent.memory.core.in_groups:
            return await self.recaller.recall(query)
        # twice as many, for some may not be told
        recalled = await self.recaller.recall(replace(query, limit=2 * query.limit))
        return await told_to_groups(recalled, self.book, query.limit)

    async def beginning(self, admitted: Admitted) -> Bundle:
        """Return the bundle of a session that begins: its stable block, for nothing is asked yet."""
        return await self._bundle(Recalled(), {}, admitted, BundleOptions())

    def reach(self, admitted: Admitted) -> MemoryReach:
        """Return whose memories a request may see."""
        return MemoryReach(self.agent.id, admitted.channel, admitted.is_owner)

    def touch(self, outcome: RecallOutcome, *, at: float) -> None:
        """Count what was told as used: of a bundle what stands in it, else all."""
        memories = _memories(outcome.recalled)
        if outcome.bundle is not None:
            told = {line.name for line in outcome.bundle.receipt if line.is_told}
            memories = [one for one in memories if short_id(one) in told]
        self.usage.touch(memories, at)

    async def _bundle(
        self, recalled: Recalled, opinions: Mapping[MemoryId, HeldOpinion], admitted: Admitted, wanted: BundleOptions
    ) -> Bundle:
        return await self.bundles.of(
            recalled,
            opinions,
            admitted,
            self.reach(admitted),
            budget=self.agent.memory.recall.budget if wanted.budget is None else wanted.budget,
            if_none_match=wanted.if_none_match,
            has_citations=self._has_citations(admitted),
        )

    def _has_citations(self, admitted: Admitted) -> bool:
        return self.agent.memory.citation_mode.cites(is_direct=admitted.is_direct)

    async def _query(self, text: str, options: RecallOptions, admitted: Admitted) -> RecallQuery:
        limits, settings = self.limits, self.agent.memory_search.query
        if len(text.encode("utf-8", "surrogatepass")) > limits.max_query_bytes:
            raise InvalidRequest(f"the query is longer than limits.maxQueryBytes ({limits.max_query_bytes} bytes)")
        now = self.clock()
        # a command that somebody remembers has dashes; what is to be left out is said by filters
        plain, zone = _DASH.sub("", text), now.tzinfo or Filters().zone
        question = parse_question(plain, Filters(zone=zone), now, limit=limits.max_query_tokens)
        deadline = settings.deadline_ms / 1000 if options.deadline is None else options.deadline.total_seconds()
        return RecallQuery(
            question=question,
            limit=self.agent.memory.recall.k if options.k is None else options.k,
            filters=await self._filters(options, question, admitted, now),
            deadline=deadline,
            now=now,
            is_explained=options.is_explained,
        )

    async def _filters(
        self, options: RecallOptions, question: Question, admitted: Admitted, now: datetime
    ) -> RecallFilters:
        asked = question.filters
        since = [day for day in (_day(options.since, now), asked.since and asked.since.date()) if day]
        until = [day for day in (_day(options.until, now, is_end=True), asked.until and asked.until.date()) if day]
        kinds = asked_kinds(options.kind)
        check_scope(options.scope)
        return RecallFilters(
            reach=self.reach(admitted),
            since=max(since, default=None),
            until=min(until, default=None),
            as_of=_day(options.as_of, now, is_end=True),
            known_by=_day(options.known_by, now, is_end=True),
            entities=named_entity(await self.book.now(), options.entity) if options.entity else None,
            # whoever names kinds, if all of them, asks for memories: nothing else has one
            kinds=frozenset(Kind) if kinds is None and options.only_memories else kinds,
            scope=options.scope,
            is_alone=self.is_alone,
        )

    async def _opinions(self, recalled: Recalled) -> Mapping[MemoryId, HeldOpinion]:
        """Return how the opinions stand; without the ledger the confidence that is written has to do."""
        # where the time was too short for a book, nobody waits for one any longer
        if not (beliefs := _beliefs(recalled)):
            return {}
        try:
            return await self.opinions.held(await self.book.now(), beliefs)
        except StoreError:
            return {}

    async def _stated(self, recalled: Recalled, query: RecallQuery) -> Mapping[MemoryId, Sequence[StatedEvidence]]:
        if not (beliefs := _beliefs(recalled)):
            return {}
        try:
            return stated_evidence(await self.book.now(), beliefs, query.filters)
        except StoreError:
            return {}


def _memories(recalled: Recalled) -> list[MemoryId]:
    return [item.memory.id for item in recalled.items if isinstance(item, RecalledMemory)]


def _beliefs(recalled: Recalled) -> list[MemoryId]:
    memories = (item.memory for item in recalled.items if isinstance(item, RecalledMemory))
    return [memory.id for memory in memories if is_belief(memory.kind)]


def _day(text: str, now: datetime, *, is_end: bool = False) -> date | None:
    if not text:
        return None
    try:
        instant = parse_instant(text, now, is_end=is_end)
        return instant.astimezone(now.tzinfo).date()
    except (ValueError, OverflowError) as exc:
        raise InvalidRequest(str(exc)) from exc
