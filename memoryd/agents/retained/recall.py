"""Recalling what an agent's memory holds: filters, bundles for the prompt, and chats of several people.

What a request leaves open is as the configuration says. A bundle holds the core file and the persona as they are, and
what is pinned and recalled; a chat of several people gets nothing of the core unless the configuration says so.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from datetime import date, datetime, timedelta

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.agents.search import check_scope
from memoryd.config.agents import Agent
from memoryd.config.limits import check_question
from memoryd.domain.access import Admitted
from memoryd.domain.documents import CORE_FILES, PERSONA, RelativePath, is_conflict_copy, marks, person_of
from memoryd.domain.expressions import expression
from memoryd.domain.memories.abstracts import shorter
from memoryd.domain.memories.bundle import (
    Bundle,
    BundlePart,
    Encoding,
    StableBlock,
    StableLines,
    StableParts,
    bundle,
    encoded,
    stable_block,
    stable_parts,
)
from memoryd.domain.memories.kinds import TEAM, Kind, MemoryId, Visibility, is_belief, is_team, short_id
from memoryd.domain.memories.recall_filters import RecallFilters, kinds_named, named_entity
from memoryd.domain.memories.reflect.opinions import LineEvidence, line_evidence
from memoryd.domain.memories.visibility import withheld_from_groups
from memoryd.domain.ranking.filters import Filters, date_in_name, parse_instant
from memoryd.domain.ranking.questions import Question, parse_question
from memoryd.domain.text.lines import PADDING
from memoryd.domain.text.sanitizing import KeepVersion, settled_marks
from memoryd.errors import InvalidRequest, StoreError
from memoryd.files.excerpts import Presence, PresentFiles
from memoryd.memory.book import MemoryCache, OpinionStore, OpinionWithEvidence
from memoryd.memory.forgetting.planning import register_text_holder
from memoryd.memory.recall.answer import best_of, for_groups
from memoryd.memory.recall.eligible import EligibleMemories, MemoryFacts
from memoryd.memory.recall.query import Recalled, RecalledItem, RecalledMemory, RecallQuery, document_filters
from memoryd.memory.recall.recaller import Recaller
from memoryd.memory.usage import UsageCache
from memoryd.replies.recall import BundleReply, ReceiptReply

_READ_SECONDS = 2.0
_DOCUMENT_BYTES = 256 * 1024
"""More of a document has no place in any prompt."""
_DISPUTED = 2
"""Memories that are named with a disputed one."""
_DASH = expression(r"(?<!\S)-(?=[\w\"“])")


class RecallOptions(Struct, frozen=True, kw_only=True):
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
    session: str = ""
    """The key of the session that asks, in which each memory counts as used once; empty: each time that it is told."""
    is_unasked: bool = False
    """Whether nobody asked: the text is a message, and what its own evidence earns is recalled beside it."""
    is_failure: bool = False
    """Whether it is what a failed tool asks, and not a message."""
    earlier_messages: tuple[str, ...] = ()
    """What was said in the same conversation before the message, the latest at the end."""
    is_for_all: bool = False
    """Whether all who listen read what is recalled; what is put into a prompt always counts as such."""


class BundleOptions(Struct, frozen=True, kw_only=True):
    """How a bundle is to be: tokens at most (None: as configured), and which one is known."""

    budget: int | None = None
    if_none_match: str = ""


_ASKERS_MAX = 16
"""Askers; each is the agent in a channel."""


class StableMemories:
    """Gives what the stable block holds of a book; it goes when something is forgotten, and when a line changed."""

    def __init__(self) -> None:
        self._lines = StableLines()
        self._known: dict[Visibility, StableParts] = {}
        self._blocks: dict[Visibility, _MadeBlock] = {}
        register_text_holder(self)

    async def of(self, facts: MemoryFacts, visibility: Visibility) -> StableParts:
        """Return the parts within reach of the book that the facts are of."""
        if facts.book is self._lines.book and visibility in self._known:
            return self._known[visibility]
        before = self._lines
        # in a thread: of a book that is new all memories are looked at
        lines, parts = await asyncio.to_thread(_parts_of_book, facts, before, visibility)
        # else something was forgotten meanwhile, or another one was faster
        if before is self._lines:
            is_same = lines is before and len(self._known) <= _ASKERS_MAX
            self._lines, self._known = lines, {**(self._known if is_same else {}), visibility: parts}
            self._blocks = {one: made for one, made in self._blocks.items() if is_same}
        return parts

    def before(self, visibility: Visibility) -> StableParts:
        """Return the parts as they were told last; none where something was forgotten since."""
        return self._known.get(visibility) or StableParts()

    async def block(
        self, kept: StableParts, documents: Sequence[BundlePart], visibility: Visibility, *, budget: int
    ) -> StableBlock:
        """Return the stable block of what is kept within reach: the same one, until something of it changed."""
        made = self._blocks.get(visibility)
        if made is not None and made.kept is kept and (made.documents, made.budget) == (documents, budget):
            return made.block
        lines = self._lines
        # in a thread: each of what may be kept is measured, if it has room or not
        block = await asyncio.to_thread(
            stable_block, documents, kept.pinned, budget=budget, beyond=kept.beyond, stated=kept.stated
        )
        # of what is kept no more nothing is held
        if lines is self._lines and self._known.get(visibility) is kept:
            self._blocks[visibility] = _MadeBlock(kept, documents, budget, block)
        return block

    def drop_texts(self) -> None:
        """Hold none any more."""
        self._lines, self._known, self._blocks = StableLines(), {}, {}


class _MadeBlock(Struct, frozen=True):
    """A stable block, and what it was made of."""

    kept: StableParts
    documents: Sequence[BundlePart]
    budget: int
    block: StableBlock


def _parts_of_book(facts: MemoryFacts, before: StableLines, visibility: Visibility) -> tuple[StableLines, StableParts]:
    lines = before if facts.book is before.book else before.of(facts.book)
    return lines, stable_parts(lines, facts.versions.older, visibility)


def _parts(recalled: Recalled) -> Iterator[BundlePart]:
    for page in recalled.entities:
        yield BundlePart(page.path, page.summary, page.path, note=page.name)
    for item in recalled.items:
        yield _part(item, recalled.opinions)


def _part(item: RecalledItem, opinions: Mapping[MemoryId, OpinionWithEvidence]) -> BundlePart:
    if not isinstance(item, RecalledMemory):
        text = f"{_by(item)}{item.hit.snippet.text}"
        return BundlePart(str(item.citation), text, str(item.citation))
    source, line = item.lead.source, item.memory.line
    told = [*([str(source.day)] if date_in_name(source.path) else []), line.kind.value, *line.entities]
    if (held := opinions.get(item.memory.id)) is not None and held.is_explicit:
        told.append(f"confidence {held.confidence:.2f}")
    if item.superseded_by:
        told.append("earlier")
    elif item.doubted_by:
        told.append(f"disputed: {', '.join(map(short_id, item.doubted_by[:_DISPUTED]))} says otherwise")
    return BundlePart(
        short_id(item.memory.id),
        f"{_by(item)}{line.text}",
        str(item.citation),
        note=", ".join(told),
        is_superseded=bool(item.superseded_by),
        shorter=shorter(line.text),
    )


def _by(item: RecalledItem) -> str:
    """Return what stands before the words of others, of the other version of a note, and of what may not hold."""
    path = item.citation.path
    return marks(person_of(path), "copy of a conflict" * is_conflict_copy(path), *item.standing)


class AgentRecall(Struct, frozen=True, kw_only=True):
    """The recall of one agent, and its bundles. `is_alone`: no other one shares its workspace."""

    agent: Agent
    is_alone: bool
    recaller: Recaller
    eligible: EligibleMemories
    book: MemoryCache
    opinions: OpinionStore
    files: PresentFiles
    executor: Executor
    usage: UsageCache
    clock: Callable[[], datetime]
    """The owner's time, in the owner's zone."""
    kept: StableMemories = field(default_factory=StableMemories)

    async def recall(
        self,
        text: str,
        options: RecallOptions,
        admitted: Admitted,
        wanted: BundleOptions | None = None,
        before: Sequence[Recalled] = (),
    ) -> Recalled:
        """Return what answers, and a bundle of it where one is wanted; raises InvalidRequest.

        Behind it stands what was recalled `before`, once, where it is another.
        """
        query = await self._query(text, options, admitted)
        found = await self._recall_visible(query, admitted, is_prompt=wanted is not None or options.is_for_all)
        opinions, stated = await self._evidence(found, query)
        team = "" if self.agent.team is None else self.agent.team.name or ""
        cites = self._has_citations(admitted)
        found = _joined(replace(found, opinions=opinions, stated=stated, team=team, has_citations=cites), before)
        if wanted is not None:
            found = replace(found, bundle=await self._bundle(found, admitted, wanted))
        if options.touches:
            self.touch(found, at=query.now.timestamp(), session=options.session)
        return found

    async def _recall_visible(self, query: RecallQuery, admitted: Admitted, *, is_prompt: bool) -> Recalled:
        """Return what is recalled; for a group without what the core keeps from it."""
        if not is_prompt or self._has_core(admitted):
            return await self.recaller.recall(query)
        # twice as many, for some may not be told
        recalled = await self.recaller.recall(replace(query, limit=2 * query.limit))
        kept = None
        with contextlib.suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_READ_SECONDS):
                kept = withheld_from_groups((await self.book.now()).memories.values())
        return for_groups(recalled, kept, query.limit)

    async def beginning(self, admitted: Admitted, before: Sequence[Recalled] = ()) -> Bundle:
        """Return the bundle of a session that begins: its stable block, and what was recalled `before`."""
        return await self._bundle(_joined(Recalled(), before), admitted, BundleOptions())

    def visibility(self, admitted: Admitted) -> Visibility:
        """Return whose memories a request may see."""
        return Visibility.of(self.agent.id, admitted)

    def touch(self, found: Recalled, *, at: float, session: str = "", message: str = "") -> None:
        """Count what was told and answers as used, once in a session, and once for a message that told it unasked."""
        answers = [item.memory.id for item in shown_memories(found) if item.is_answer]
        self.usage.touch(answers, at, session=self._name(session), message=self._name(message))

    def touch_used(self, memories: Sequence[MemoryId], *, at: float, session: str) -> None:
        """Count what an agent's answer uses, once in its session."""
        self.usage.touch(memories, at, session=self._name(session))

    def _name(self, said: str) -> str:
        # agents share the usage of a workspace, and no words are to be kept
        return f"{self.agent.id} {hash(said)}" if said else ""

    async def _bundle(self, recalled: Recalled, admitted: Admitted, wanted: BundleOptions) -> Bundle:
        budget = self.agent.memory.recall.budget if wanted.budget is None else wanted.budget
        visibility, is_whole = self.visibility(admitted), self._has_core(admitted)
        documents = await self._documents(*(CORE_FILES if is_whole else ()), PERSONA)
        kept = await self._stable_parts(visibility) if is_whole else StableParts()
        stable = await self.kept.block(kept, documents, visibility, budget=budget)
        return bundle(
            stable,
            list(_parts(recalled)),
            budget=budget,
            if_none_match=wanted.if_none_match,
            has_citations=self._has_citations(admitted),
        )

    def _has_core(self, admitted: Admitted) -> bool:
        return admitted.is_direct or self.agent.memory.core.in_groups

    async def _documents(self, *names: str) -> list[BundlePart]:
        """Return the documents that can be told now, one of both spellings of the core file."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_READ_SECONDS):
                texts = await loop.run_in_executor(self.executor, lambda: {name: self._text(name) for name in names})
        except TimeoutError:
            return []
        core = next((name for name in CORE_FILES if texts.get(name, "").strip()), "")
        shown = [name for name in (core, PERSONA) if texts.get(name, "").strip()]
        return [BundlePart(name, texts[name], name, is_whole=False) for name in shown]

    def _text(self, name: str) -> str:
        seen = self.files.look(RelativePath(name), None, self.files.moment())
        data = seen.data.removesuffix(PADDING) if seen.presence is Presence.OTHER else b""
        # what the other side says between git's marks holds for nobody yet
        return settled_marks(data[:_DOCUMENT_BYTES].decode("utf-8", "replace"), KeepVersion.ORIGINAL)

    async def _stable_parts(self, visibility: Visibility) -> StableParts:
        try:
            async with asyncio.timeout(_READ_SECONDS):
                return await self.kept.of(await self.eligible.facts(await self.book.now()), visibility)
        except TimeoutError:
            return self.kept.before(visibility)
        except StoreError:
            return StableParts()

    def _has_citations(self, admitted: Admitted) -> bool:
        return self.agent.memory.citation_mode.cites(is_direct=admitted.is_direct)

    async def _query(self, text: str, options: RecallOptions, admitted: Admitted) -> RecallQuery:
        settings = self.agent.memory_search.query
        check_question(text)
        now = self.clock()
        # a command that somebody remembers has dashes; what is to be left out is said by filters
        plain, zone = _DASH.sub("", text), now.tzinfo or Filters().zone
        question = parse_question(plain, Filters(zone=zone), now)
        deadline = settings.deadline_ms / 1000 if options.deadline is None else options.deadline.total_seconds()
        filters = await self._filters(options, question, admitted, now)
        documents = document_filters(question.filters, filters, now)
        return RecallQuery(
            text=question.text,
            asked=replace(question, filters=documents),
            filters=documents,
            memory_filters=filters,
            limit=self.agent.memory.recall.k if options.k is None else options.k,
            deadline=deadline,
            now=now,
            is_explained=options.is_explained,
            visibility=filters.visibility,
            message=text if options.is_unasked else "",
            is_failure=options.is_failure,
            earlier_messages=options.earlier_messages,
        )

    async def _filters(
        self, options: RecallOptions, question: Question, admitted: Admitted, now: datetime
    ) -> RecallFilters:
        asked = question.filters
        since = [day for day in (_day(options.since, now), asked.since and asked.since.date()) if day]
        until = [day for day in (_day(options.until, now, is_end=True), asked.until and asked.until.date()) if day]
        kinds = kinds_of(options.kind)
        check_scope(options.scope)
        return RecallFilters(
            visibility=self.visibility(admitted),
            since=max(since, default=None),
            until=min(until, default=None),
            as_of=_day(options.as_of, now, is_end=True),
            known_by=_day(options.known_by, now, is_end=True),
            entities=named_entity(await self.book.now(), options.entity) if options.entity else None,
            # whoever names kinds, if all of them, asks for memories: nothing else has one
            kinds=frozenset(Kind) if kinds is None and options.only_memories else kinds,
            scope=TEAM if is_team(options.scope) else options.scope,
            is_alone=self.is_alone,
        )

    async def _evidence(
        self, recalled: Recalled, query: RecallQuery
    ) -> tuple[Mapping[MemoryId, OpinionWithEvidence], Mapping[MemoryId, Sequence[LineEvidence]]]:
        """Return how the opinions stand, and what lines say for and against them.

        Without the ledger the confidence that is written has to do.
        """
        beliefs = [item.memory.id for item in recalled.memories if is_belief(item.memory.kind)]
        if not beliefs:
            return {}, {}
        try:
            async with asyncio.timeout(_READ_SECONDS):
                book = await self.book.now()
        except (StoreError, TimeoutError):
            return {}, {}
        stated = line_evidence(book, beliefs, query.memory_filters)
        try:
            return await self.opinions.of(book, beliefs), stated
        except StoreError:
            return {}, stated


def _joined(found: Recalled, others: Sequence[Recalled]) -> Recalled:
    """Return what was found, and behind it what others found and it did not."""
    for other in others:
        known = {item.citation for item in found.items}
        pages = {page.slug for page in found.entities}
        items = (*found.items, *(item for item in other.items if item.citation not in known))
        found = replace(
            found,
            items=items,
            entities=(*found.entities, *(page for page in other.entities if page.slug not in pages)),
            opinions={**other.opinions, **found.opinions},
            stated={**other.stated, **found.stated},
            verdict=best_of(items),
        )
    return found


def shown_memories(found: Recalled) -> list[RecalledMemory]:
    """Return the memories that were told for the question: of a bundle those that stand in it, else all."""
    if found.bundle is None:
        return found.memories
    included = {line.name for line in found.bundle.receipt if line.is_included}
    return [item for item in found.memories if short_id(item.memory.id) in included]


def _day(text: str, now: datetime, *, is_end: bool = False) -> date | None:
    if not text:
        return None
    try:
        instant = parse_instant(text, now, is_end=is_end)
        return instant.astimezone(now.tzinfo).date()
    except (ValueError, OverflowError) as exc:
        raise InvalidRequest(str(exc)) from exc


def kinds_of(name: str) -> frozenset[Kind] | None:
    """Return the kinds that a network or kind names, None for no name; raises InvalidRequest for one that is none."""
    kinds = kinds_named(name) if name else None
    if name and kinds is None:
        raise InvalidRequest(f"there is no kind {name!r}", hint="world, experience, opinion, observation, fact, …")
    return kinds


def bundle_reply(made: Bundle, encoding: Encoding) -> BundleReply:
    """Return the fields of a reply that a bundle fills."""
    return {
        "bundle": encoded(made, encoding),
        "etag": made.stable.etag,
        "notModified": made.is_unchanged,
        "receipt": [
            ReceiptReply(name=line.name, tokens=line.tokens, told=line.is_included, cut=line.cut or None)
            for line in made.receipt
        ],
        "tokens": made.tokens,
    }
