"""Recall for one agent: filters, bundles for a prompt, and group chats.

Options that a request leaves open come from the configuration. A bundle contains the core file and the persona
unchanged, and pinned and recalled memories. In a group chat the core is left out unless the configuration includes it.
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
from memoryd.domain.documents import CORE_FILES, PERSONA, RelativePath, is_conflict_copy, name_marks, person_of
from memoryd.domain.expressions import expression
from memoryd.domain.memories.abstracts import shorter
from memoryd.domain.memories.bundle import (
    Bundle,
    BundlePart,
    Encoding,
    StableBlock,
    StableLines,
    StableParts,
    encode_bundle,
    make_bundle,
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
from memoryd.domain.text.sanitizing import KeepVersion, resolve_conflicts
from memoryd.errors import InvalidRequest, StoreError
from memoryd.files.excerpts import DiskState, FileChecker
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
"""Maximum bytes of a document that are read for a prompt."""
_DISPUTED = 2
"""Maximum number of memories named with a disputed one."""
_DASH = expression(r"(?<!\S)-(?=[\w\"“])")


class RecallOptions(Struct, frozen=True, kw_only=True):
    """How to recall. None or an empty string means the configured value, or no filter.

    Days are dates in the user's notation (`30d`, `2026-10-01`), read in the time zone of the notes' owner.
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
    """True to leave out passages and pages."""
    deadline: timedelta | None = None
    is_explained: bool = False
    touches: bool = True
    """True if returned memories count as accessed."""
    session: str = ""
    """The session key; each memory counts as accessed once per session. Empty: it counts each time it is returned."""
    is_unasked: bool = False
    """True if the text is a message and no explicit query: only items with enough evidence of their own are recalled.
    """
    is_failure: bool = False
    """True if the text is the question made of a failed tool call, and no message."""
    earlier_messages: tuple[str, ...] = ()
    """Earlier messages of the same conversation, the latest at the end."""
    is_for_all: bool = False
    """True if everyone in the chat reads the result; a result for a prompt always counts as such."""


class BundleOptions(Struct, frozen=True, kw_only=True):
    """Limit of a bundle in tokens (None: as configured), and the ETag that the client has."""

    budget: int | None = None
    if_none_match: str = ""


_ASKERS_MAX = 16
"""Maximum number of cached visibilities; each is an agent in a channel."""


class StableMemories:
    """Cache of the memories in the stable block of a book. Forgetting anything, or a changed line, clears it."""

    def __init__(self) -> None:
        self._lines = StableLines()
        self._known: dict[Visibility, StableParts] = {}
        self._blocks: dict[Visibility, _CachedBlock] = {}
        register_text_holder(self)

    async def of(self, facts: MemoryFacts, visibility: Visibility) -> StableParts:
        """Return the visible parts of the book that the facts describe."""
        if facts.book is self._lines.book and visibility in self._known:
            return self._known[visibility]
        before = self._lines
        # in a thread: for a new book every memory is scanned
        lines, parts = await asyncio.to_thread(_parts_of_book, facts, before, visibility)
        # unchanged, unless something was forgotten since, or another call was faster
        if before is self._lines:
            is_same = lines is before and len(self._known) <= _ASKERS_MAX
            self._lines, self._known = lines, {**(self._known if is_same else {}), visibility: parts}
            self._blocks = {key: block for key, block in self._blocks.items() if is_same}
        return parts

    def before(self, visibility: Visibility) -> StableParts:
        """Return the last parts; empty if something was forgotten since."""
        return self._known.get(visibility) or StableParts()

    async def block(
        self, parts: StableParts, documents: Sequence[BundlePart], visibility: Visibility, *, budget: int
    ) -> StableBlock:
        """Return the stable block of these parts; the cached one until its inputs change."""
        cached = self._blocks.get(visibility)
        if cached is not None and cached.parts is parts and (cached.documents, cached.budget) == (documents, budget):
            return cached.block
        lines = self._lines
        # in a thread: each candidate part is measured, whether or not it fits
        block = await asyncio.to_thread(
            stable_block, documents, parts.pinned, budget=budget, beyond=parts.beyond, stated=parts.stated
        )
        # parts that were dropped since are not cached
        if lines is self._lines and self._known.get(visibility) is parts:
            self._blocks[visibility] = _CachedBlock(parts, documents, budget, block)
        return block

    def drop_texts(self) -> None:
        """Drop all texts."""
        self._lines, self._known, self._blocks = StableLines(), {}, {}


class _CachedBlock(Struct, frozen=True):
    """A stable block with its inputs."""

    parts: StableParts
    documents: Sequence[BundlePart]
    budget: int
    block: StableBlock


def _parts_of_book(facts: MemoryFacts, before: StableLines, visibility: Visibility) -> tuple[StableLines, StableParts]:
    lines = before if facts.book is before.book else before.of(facts.book)
    return lines, stable_parts(lines, facts.book.superseded, visibility)


def _parts(recalled: Recalled) -> Iterator[BundlePart]:
    for page in recalled.entities:
        yield BundlePart(page.path, page.summary, page.path, note=page.name)
    for item in recalled.items:
        yield _part(item, recalled.opinions)


def _part(item: RecalledItem, opinions: Mapping[MemoryId, OpinionWithEvidence]) -> BundlePart:
    if not isinstance(item, RecalledMemory):
        text = f"{_origin(item)}{item.hit.snippet.text}"
        return BundlePart(str(item.citation), text, str(item.citation))
    source, line = item.lead.source, item.memory.line
    notes = [*([str(source.day)] if date_in_name(source.path) else []), line.kind.value, *line.entities]
    if (opinion := opinions.get(item.memory.id)) is not None and opinion.is_explicit:
        notes.append(f"confidence {opinion.confidence:.2f}")
    if item.superseded_by:
        notes.append("earlier")
    elif item.doubted_by:
        notes.append(f"disputed: {', '.join(map(short_id, item.doubted_by[:_DISPUTED]))} says otherwise")
    return BundlePart(
        short_id(item.memory.id),
        f"{_origin(item)}{line.text}",
        str(item.citation),
        note=", ".join(notes),
        is_superseded=bool(item.superseded_by),
        shorter=shorter(line.text),
    )


def _origin(item: RecalledItem) -> str:
    """Return the prefix for text of other people, of conflict copies, and of outdated documents."""
    path = item.citation.path
    return name_marks(person_of(path), "copy of a conflict" * is_conflict_copy(path), *item.standing)


class AgentRecall(Struct, frozen=True, kw_only=True):
    """Recall and bundles of one agent. `is_alone`: no other agent shares its workspace."""

    agent: Agent
    is_alone: bool
    recaller: Recaller
    eligible: EligibleMemories
    book: MemoryCache
    opinions: OpinionStore
    files: FileChecker
    executor: Executor
    usage: UsageCache
    clock: Callable[[], datetime]
    """Returns the owner's time, in the owner's zone."""
    stable: StableMemories = field(default_factory=StableMemories)

    async def recall(
        self,
        text: str,
        options: RecallOptions,
        admitted: Admitted,
        bundle_options: BundleOptions | None = None,
        before: Sequence[Recalled] = (),
    ) -> Recalled:
        """Return the result, with a bundle if `bundle_options` are given; raises InvalidRequest.

        Results of `before` that are not in it are appended.
        """
        query = await self._query(text, options, admitted)
        recalled = await self._recall_visible(
            query, admitted, is_prompt=bundle_options is not None or options.is_for_all
        )
        opinions, stated = await self._evidence(recalled, query)
        team = "" if self.agent.team is None else self.agent.team.name or ""
        cites = self._has_citations(admitted)
        recalled = replace(recalled, opinions=opinions, stated=stated, team=team, has_citations=cites)
        recalled = _append_results(recalled, before)
        if bundle_options is not None:
            recalled = replace(recalled, bundle=await self._bundle(recalled, admitted, bundle_options))
        if options.touches:
            self.touch(recalled, at=query.now.timestamp(), session=options.session)
        return recalled

    async def _recall_visible(self, query: RecallQuery, admitted: Admitted, *, is_prompt: bool) -> Recalled:
        """Return the result; for a group without what the core withholds from groups."""
        if not is_prompt or self._has_core(admitted):
            return await self.recaller.recall(query)
        # twice the limit, because some items may be withheld
        recalled = await self.recaller.recall(replace(query, limit=2 * query.limit))
        withheld = None
        with contextlib.suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_READ_SECONDS):
                withheld = withheld_from_groups((await self.book.current()).memories.values())
        return for_groups(recalled, withheld, query.limit)

    async def beginning(self, admitted: Admitted, before: Sequence[Recalled] = ()) -> Bundle:
        """Return the bundle at the start of a session: its stable block, and the results of `before`."""
        return await self._bundle(_append_results(Recalled(), before), admitted, BundleOptions())

    def visibility(self, admitted: Admitted) -> Visibility:
        """Return the scopes that a request may see."""
        return Visibility.of(self.agent.id, admitted)

    def touch(self, recalled: Recalled, *, at: float, session: str = "", message: str = "") -> None:
        """Count returned memories that answer as accessed, once per session and once per unasked message."""
        answers = [item.memory.id for item in shown_memories(recalled) if item.is_answer]
        self.usage.touch(answers, at, session=self._name(session), message=self._name(message))

    def touch_used(self, memories: Sequence[MemoryId], *, at: float, session: str) -> None:
        """Count the memories that an agent's answer uses as accessed, once per session."""
        self.usage.touch(memories, at, session=self._name(session))

    def _name(self, text: str) -> str:
        # hashed, because agents share the usage of a workspace, and no text is to be stored
        return f"{self.agent.id} {hash(text)}" if text else ""

    async def _bundle(self, recalled: Recalled, admitted: Admitted, options: BundleOptions) -> Bundle:
        budget = self.agent.memory.recall.budget if options.budget is None else options.budget
        visibility, has_core = self.visibility(admitted), self._has_core(admitted)
        documents = await self._documents(*(CORE_FILES if has_core else ()), PERSONA)
        parts = await self._stable_parts(visibility) if has_core else StableParts()
        stable = await self.stable.block(parts, documents, visibility, budget=budget)
        return make_bundle(
            stable,
            list(_parts(recalled)),
            budget=budget,
            if_none_match=options.if_none_match,
            has_citations=self._has_citations(admitted),
        )

    def _has_core(self, admitted: Admitted) -> bool:
        return admitted.is_direct or self.agent.memory.core.in_groups

    async def _documents(self, *names: str) -> list[BundlePart]:
        """Return the documents that can be read now; of the two spellings of the core file, the first that exists."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_READ_SECONDS):
                texts = await loop.run_in_executor(self.executor, lambda: {name: self._text(name) for name in names})
        except TimeoutError:
            return []
        core = next((name for name in CORE_FILES if texts.get(name, "").strip()), "")
        present = [name for name in (core, PERSONA) if texts.get(name, "").strip()]
        return [BundlePart(name, texts[name], name, is_indivisible=False) for name in present]

    def _text(self, name: str) -> str:
        file = self.files.check(RelativePath(name), None, self.files.begin_check())
        data = file.data.removesuffix(PADDING) if file.presence is DiskState.OTHER else b""
        # the other version between git's conflict marks is not settled yet
        return resolve_conflicts(data[:_DOCUMENT_BYTES].decode("utf-8", "replace"), KeepVersion.ORIGINAL)

    async def _stable_parts(self, visibility: Visibility) -> StableParts:
        try:
            async with asyncio.timeout(_READ_SECONDS):
                return await self.stable.of(await self.eligible.facts(await self.book.current()), visibility)
        except TimeoutError:
            return self.stable.before(visibility)
        except StoreError:
            return StableParts()

    def _has_citations(self, admitted: Admitted) -> bool:
        return self.agent.memory.citation_mode.cites(is_direct=admitted.is_direct)

    async def _query(self, text: str, options: RecallOptions, admitted: Admitted) -> RecallQuery:
        settings = self.agent.memory_search.query
        check_question(text)
        now = self.clock()
        # dashes before words are part of a command; exclusions are expressed by filters
        plain, zone = _DASH.sub("", text), now.tzinfo or Filters().zone
        question = parse_question(plain, Filters(zone=zone), now)
        deadline = settings.deadline_ms / 1000 if options.deadline is None else options.deadline.total_seconds()
        filters = await self._filters(options, question, admitted, now)
        documents = document_filters(question.filters, filters, now)
        return RecallQuery(
            text=question.text,
            parsed=replace(question, filters=documents),
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
        query_filters = question.filters
        since = [day for day in (_day(options.since, now), query_filters.since and query_filters.since.date()) if day]
        until = [
            day
            for day in (_day(options.until, now, is_end=True), query_filters.until and query_filters.until.date())
            if day
        ]
        kinds = kinds_of(options.kind)
        check_scope(options.scope)
        return RecallFilters(
            visibility=self.visibility(admitted),
            since=max(since, default=None),
            until=min(until, default=None),
            as_of=_day(options.as_of, now, is_end=True),
            known_by=_day(options.known_by, now, is_end=True),
            entities=named_entity(await self.book.current(), options.entity) if options.entity else None,
            # naming kinds, even all of them, selects memories only: passages have no kind
            kinds=frozenset(Kind) if kinds is None and options.only_memories else kinds,
            scope=TEAM if is_team(options.scope) else options.scope,
            is_alone=self.is_alone,
        )

    async def _evidence(
        self, recalled: Recalled, query: RecallQuery
    ) -> tuple[Mapping[MemoryId, OpinionWithEvidence], Mapping[MemoryId, Sequence[LineEvidence]]]:
        """Return the state of each recalled opinion, and the lines for and against it.

        If the ledger cannot be read, replies use the confidence written in the line.
        """
        beliefs = [item.memory.id for item in recalled.memories if is_belief(item.memory.kind)]
        if not beliefs:
            return {}, {}
        try:
            async with asyncio.timeout(_READ_SECONDS):
                book = await self.book.current()
        except (StoreError, TimeoutError):
            return {}, {}
        stated = line_evidence(book, beliefs, query.memory_filters)
        try:
            return await self.opinions.of(book, beliefs), stated
        except StoreError:
            return {}, stated


def _append_results(recalled: Recalled, others: Sequence[Recalled]) -> Recalled:
    """Return the result with the items of the others that it lacks, at the end."""
    for other in others:
        known = {item.citation for item in recalled.items}
        pages = {page.slug for page in recalled.entities}
        items = (*recalled.items, *(item for item in other.items if item.citation not in known))
        recalled = replace(
            recalled,
            items=items,
            entities=(*recalled.entities, *(page for page in other.entities if page.slug not in pages)),
            opinions={**other.opinions, **recalled.opinions},
            stated={**other.stated, **recalled.stated},
            verdict=best_of(items),
        )
    return recalled


def shown_memories(recalled: Recalled) -> list[RecalledMemory]:
    """Return the memories that were shown for the question: of a bundle those included in it, else all."""
    if recalled.bundle is None:
        return recalled.memories
    included = {line.name for line in recalled.bundle.receipt if line.is_included}
    return [item for item in recalled.memories if short_id(item.memory.id) in included]


def _day(text: str, now: datetime, *, is_end: bool = False) -> date | None:
    if not text:
        return None
    try:
        instant = parse_instant(text, now, is_end=is_end)
        return instant.astimezone(now.tzinfo).date()
    except (ValueError, OverflowError) as exc:
        raise InvalidRequest(str(exc)) from exc


def kinds_of(name: str) -> frozenset[Kind] | None:
    """Return the kinds of a network or kind, None for an empty name; raises InvalidRequest for an unknown one."""
    kinds = kinds_named(name) if name else None
    if name and kinds is None:
        raise InvalidRequest(f"there is no kind {name!r}", hint="world, experience, opinion, observation, fact, …")
    return kinds


def bundle_reply(made: Bundle, encoding: Encoding) -> BundleReply:
    """Return the fields of a reply that a bundle fills."""
    return {
        "bundle": encode_bundle(made, encoding),
        "etag": made.stable.etag,
        "notModified": made.is_unchanged,
        "receipt": [
            ReceiptReply(name=line.name, tokens=line.tokens, told=line.is_included, cut=line.cut or None)
            for line in made.receipt
        ],
        "tokens": made.tokens,
    }
