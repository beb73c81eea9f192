"""Bundles for the prompt of an agent: the core file and the persona as they stand, what is pinned and recalled."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

from memoryd.config.agents import Agent
from memoryd.domain.access import Admitted
from memoryd.domain.citations import cited
from memoryd.domain.documents import CORE_FILES, RelativePath
from memoryd.domain.memories.abstracts import shorter
from memoryd.domain.memories.book import Memory
from memoryd.domain.memories.bundle import Bundle, BundlePart, bundle, stable_block
from memoryd.domain.memories.capture.corrections import newness, pins_beyond
from memoryd.domain.memories.kinds import MemoryId, short_id
from memoryd.domain.memories.line import BY_PEOPLE
from memoryd.domain.memories.recall_filters import RecallFilters
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.domain.memories.versions import superseded
from memoryd.domain.ranking.filters import date_in_name
from memoryd.domain.text.lines import PADDING
from memoryd.errors import StoreError
from memoryd.files.excerpts import Presence, PresentFiles
from memoryd.memory.book import MemoryBook
from memoryd.memory.opinions import HeldOpinion
from memoryd.memory.recall.query import Recalled, RecalledEntity, RecalledItem, RecalledMemory

PERSONA: Final = "SOUL.md"
_READ_SECONDS: Final = 2.0
_DOCUMENT_BYTES: Final = 256 * 1024
"""More of a document has no place in any prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBundles:
    """Makes the bundles of one agent."""

    agent: Agent
    book: MemoryBook
    files: PresentFiles
    executor: Executor

    async def of(
        self,
        recalled: Recalled,
        opinions: Mapping[MemoryId, HeldOpinion],
        admitted: Admitted,
        reach: MemoryReach,
        *,
        budget: int,
        if_none_match: str = "",
        has_citations: bool,
    ) -> Bundle:
        """Return the bundle of what was recalled."""
        is_whole = admitted.is_direct or self.agent.memory.core.in_groups
        documents = await self._documents([*CORE_FILES, PERSONA] if is_whole else [PERSONA])
        pinned = await self._pinned(reach) if is_whole else _Pins()
        stable = stable_block(documents, pinned.parts, budget=budget, beyond=pinned.beyond)
        parts = list(_parts(recalled, opinions))
        return bundle(stable, parts, budget=budget, if_none_match=if_none_match, has_citations=has_citations)

    async def _documents(self, names: list[str]) -> list[BundlePart]:
        """Return the documents that can be told now, one of both spellings of the core file."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_READ_SECONDS):
                texts = await loop.run_in_executor(self.executor, lambda: {name: self._text(name) for name in names})
        except TimeoutError:
            return []
        core = next((name for name in CORE_FILES if texts.get(name, "").strip()), "")
        told = [name for name in (core, PERSONA) if texts.get(name, "").strip()]
        return [BundlePart(name, texts[name], name, is_whole=False) for name in told]

    def _text(self, name: str) -> str:
        seen = self.files.look(RelativePath(name), None, self.files.moment())
        if seen.presence is not Presence.OTHER:
            return ""
        return seen.data[: len(seen.data) - len(PADDING)][:_DOCUMENT_BYTES].decode("utf-8", "replace")

    async def _pinned(self, reach: MemoryReach) -> "_Pins":
        """Return what is pinned and within reach, the oldest first: what is pinned later moves nothing before it.

        Where room is short, what weighs most comes in first, and of these the newest.
        """
        try:
            book = await self.book.now()
        except StoreError:
            return _Pins()
        filters = RecallFilters(reach=reach)
        marked = (book.memories[one] for one in sorted(book.marked))
        telling = [memory for memory in marked if _tells(memory) and filters.standing(memory)]
        older = {one for each in superseded(telling).values() for one in each}
        pinned = [one for one in telling if one.line.attributes.is_pinned and one.id not in older]
        beyond = pins_beyond(pinned)
        weighed = sorted(pinned, key=lambda one: (one.line.importance, *newness(one)), reverse=True)
        ranks = {memory.id: rank for rank, memory in enumerate(weighed, start=1)}
        oldest_first = sorted(pinned, key=lambda memory: (memory.first_recorded, memory.id))
        return _Pins(
            [_pin(one, ranks[one.id]) for one in oldest_first if one.id not in beyond],
            [_pin(one, ranks[one.id]) for one in oldest_first if one.id in beyond],
        )


@dataclass(frozen=True, slots=True)
class _Pins:
    """What is pinned, and what is beyond the bound of its kind."""

    parts: Sequence[BundlePart] = ()
    beyond: Sequence[BundlePart] = ()


def _tells(memory: Memory) -> bool:
    """Tell whether a memory is pinned, or may take the place of one that is: an agent's own takes none."""
    attributes = memory.line.attributes
    return attributes.is_pinned or (bool(attributes.supersedes) and attributes.provenance in BY_PEOPLE)


def _pin(memory: Memory, rank: int) -> BundlePart:
    # no lines: an edit elsewhere would move them, and with them the bytes that a prompt cache holds
    text = memory.line.text
    return BundlePart(short_id(memory.id), text, note=", ".join(memory.line.entities), shorter=shorter(text), rank=rank)


def _parts(recalled: Recalled, opinions: Mapping[MemoryId, HeldOpinion]) -> Iterator[BundlePart]:
    for page in recalled.entities:
        yield _page(page)
    for item in recalled.items:
        yield _part(item, opinions)


def _page(page: RecalledEntity) -> BundlePart:
    return BundlePart(page.path, page.summary, page.path, note=page.name)


def _part(item: RecalledItem, opinions: Mapping[MemoryId, HeldOpinion]) -> BundlePart:
    if not isinstance(item, RecalledMemory):
        citation = str(item.hit.citation)
        return BundlePart(citation, item.hit.snippet.text, citation)
    source, line = item.lead.source, item.memory.line
    told = [*([str(source.day)] if date_in_name(source.path) else []), line.kind.value, *line.entities]
    if (held := opinions.get(item.memory.id)) is not None:
        told.append(f"confidence {held.confidence:.2f}")
    if item.superseded_by:
        told.append("superseded")
    citation = str(cited(source.path, source.start_line, source.end_line))
    return BundlePart(
        short_id(item.memory.id),
        line.text,
        citation,
        note=", ".join(told),
        is_superseded=bool(item.superseded_by),
        shorter=shorter(line.text),
    )
