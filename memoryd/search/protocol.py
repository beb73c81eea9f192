"""The interface of search engines: queries, exclusions, results, verdicts, and the reasons of empty or weak answers.

The reasons name no document, since its name may be private.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from memoryd.domain.documents import INDEX_ALL, OutsideCount, RelativePath, Source
from memoryd.domain.memories.kinds import Visibility
from memoryd.domain.ranking.calibration import Thresholds, Verdict
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.questions import Question, parse_question
from memoryd.domain.ranking.snippets import SNIPPET_CHARS
from memoryd.search.hits import Hit, best_verdict
from memoryd.store.index.passages import ChunkRow

LEXICAL, VECTOR, TEAM = "lexical", "vector", "team"
"""The arms that every engine has."""
RERANK = "rerank"
"""The arm of engines that rerank the candidates of the other arms."""
CONVERSATIONS = "conversations"
"""The arm that searches conversations, beside the engine of the notes, if the query asks for them."""
NO_SOURCE = "the request and the question name different sources, so that nothing may answer"
LEADING = 3
"""Of an engine without verdicts, the first `LEADING` hits with a word of the question count as answers."""

MIN_SECONDS = 0.05
"""Least time for a step of an answer, however late the steps before it were."""


def seconds_left(end: float) -> float:
    """Return how many seconds a step has that must end at `end` (monotonic clock), at least `MIN_SECONDS`."""
    return max(MIN_SECONDS, end - time.monotonic())


class Exclusions(Struct, frozen=True):
    """Paths and chunk ids that must not be found; other hits take their places."""

    paths: frozenset[RelativePath] = frozenset()
    chunks: frozenset[int] = frozenset()

    def __or__(self, other: "Exclusions") -> "Exclusions":
        return Exclusions(self.paths | other.paths, self.chunks | other.chunks)

    @property
    def is_empty(self) -> bool:
        return not self.paths and not self.chunks

    def holds(self, chunk: ChunkRow) -> bool:
        """Return whether a chunk is excluded."""
        return chunk.path in self.paths or chunk.id in self.chunks


class Query(Struct, frozen=True):
    """A query with its limits; `deadline` is in seconds from the call, `now` has the client's clock and time zone.

    `parsed` is the parsed form of `text` and `filters`, if it is known already.
    """

    text: str
    limit: int = 6
    min_score: float = 0.0
    deadline: float = 5.0
    filters: Filters = Filters()
    parsed: Question | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    exclusions: Exclusions = Exclusions()
    """Documents and chunks to leave out: their files no longer contain them, or the client may not see them."""
    fresh_until: float = 0.0
    """Until when (monotonic clock) to wait for the index to follow the disk."""
    is_explained: bool = False
    """Whether misses are returned, too."""
    visibility: Visibility | None = None
    """Which memories the client may see; None: all."""

    @property
    def question(self) -> Question:
        return self.parsed or parse_question(self.text, self.filters, self.now)

    def until(self, end: float) -> "Query":
        """Return the query with the time left until `end` (monotonic clock) as deadline."""
        return replace(self, deadline=seconds_left(end))

    def asks(self, source: Source) -> bool:
        """Return whether documents of this source may answer."""
        return self.question.filters.admits_source(source)

    def of_any_source(self) -> "Query":
        """Return the query without its filter of sources, for an engine with a single source."""
        question = self.question
        filters = replace(question.filters, sources=())
        return replace(self, filters=filters, parsed=replace(question, filters=filters))


class ArmState(StrEnum):
    """The part of an arm in an answer."""

    OK = "ok"
    PARTIAL = "partial"
    OFF = "off"
    """Switched off in the configuration."""
    WAITING = "waiting"
    """Its model is being fetched or loaded."""
    FAILED = "failed"
    TIMEOUT = "timeout"


class Arm(Struct, frozen=True):
    """The state of an arm in an answer, and the reason unless it is OK."""

    state: ArmState
    reason: str = ""

    @property
    def took_part(self) -> bool:
        return self.state in (ArmState.OK, ArmState.PARTIAL)

    @property
    def is_as_configured(self) -> bool:
        """Whether the arm did all that the configuration asks for."""
        return self.state in (ArmState.OK, ArmState.OFF)


class Fallback(Struct, frozen=True):
    """The engine that should have answered, why it did not, and since when."""

    left: str
    reason: str
    since: datetime


class Engine(Struct, frozen=True):
    """The engine that answered, and its limits for snippets in characters; `total_chars` is for all together."""

    name: Literal["builtin", "qmd"] = "builtin"
    model: str | None = None
    pending_embeddings: int | None = None
    snippet_chars: int = SNIPPET_CHARS
    total_chars: int | None = None


BUILTIN = Engine()


class SearchResult(Struct, frozen=True):
    """The result of a search: the best chunks, best first, the states of the arms, and the terms searched for."""

    hits: tuple[Hit, ...]
    misses: tuple[Hit, ...]
    arms: Mapping[str, Arm]
    terms: tuple[str, ...]
    engine: Engine = BUILTIN
    fallback: Fallback | None = None
    as_of: float | None = None
    """The engine does not know changes after this time (system clock, seconds); None: it knows all."""
    doubt: str = ""
    """Why an empty result does not prove that there is nothing."""
    floors: Thresholds | None = None
    """The thresholds for the evidence; None: the engine gives no verdicts."""
    stale: Mapping[RelativePath, str] = {}
    """Documents that may answer, but are not returned in their current state, and why."""
    conversations: "SearchResult | None" = None
    """The result of the search in conversations, with its own floors; its hits are also in `hits`. None: not searched.

    If only conversations were searched, the other fields are theirs, too.
    """
    language: str = ""
    """Language code of the question (see `language_of`) if words are matched by their stems; empty if unknown."""

    def thresholds_of(self, source: Source) -> Thresholds | None:
        """Return the thresholds for hits of a source."""
        if source is Source.SESSIONS and self.conversations is not None:
            return self.conversations.floors
        return self.floors


def empty_result(terms: tuple[str, ...], arm: Arm) -> SearchResult:
    """Return an empty result; `arm` is the state of both arms, with the reason."""
    return SearchResult((), (), {LEXICAL: arm, VECTOR: arm}, terms)


class SearchBackend(Protocol):
    """A search engine. Raises SidecarError if it cannot answer; never waits past the deadline."""

    async def search(self, query: Query) -> SearchResult:
        """Return the result within the query's deadline."""
        ...


class LateBackend(SearchBackend, Protocol):
    """An engine that learns of changes late: `Found.as_of` is the time up to which it knows them."""

    def changed_since(self, paths: Sequence[str], moment: float) -> set[str]:
        """Return which of these documents, if indexed, have changed since `moment` (system clock, seconds)."""
        ...


class Freshness(Struct, frozen=True):
    """How far the index is behind the disk."""

    files: int = 0
    pending_files: int = 0
    pending_embeddings: int = 0
    is_dirty: bool = False
    hold: str = ""
    """Why pending files are not read: it is undecided what is private. Empty if they are."""
    team: str = ""
    """Why the team's shared notes may be outdated; empty if they are not, or there is no team."""
    outside: OutsideCount = OutsideCount()
    has_folder: bool = True
    """Whether the last scan saw the folder of the workspace."""


class DiskFollower(Struct, frozen=True, kw_only=True):
    """Makes answers follow the disk. `on_search` is called for each query, so that it can schedule a sync."""

    freshness: Callable[[], Freshness]
    on_search: Callable[[], None]
    catch_up: Callable[[float], Awaitable[int]]
    """Updates the index within so many seconds; returns how many files may still differ."""
    rescan: Callable[[Set[RelativePath], float], Awaitable[bool]]
    """Updates the index for these documents within so many seconds; returns whether the disk was scanned."""
    missing: Callable[[], Set[RelativePath]]
    """Returns the indexed documents that are missing on disk; they may stay in the index for a grace period."""
    seconds: float
    """Longest time that a query waits for the index."""

    def seconds_of(self, query: Query) -> float:
        """Return how long a query waits for the index: at most half of its deadline; the rest is for the search."""
        return min(self.seconds, query.deadline / 2)


def with_pending(arms: Mapping[str, Arm], freshness: Freshness) -> dict[str, Arm]:
    """Mark the vector arm as partial if passages wait for vectors; add a team arm if shared notes may be outdated."""
    vector = arms[VECTOR]
    if vector.took_part and freshness.pending_embeddings:
        count = freshness.pending_embeddings
        reason = f"{count} {'passage has' if count == 1 else 'passages have'} no vector yet"
        vector = replace(vector, state=ArmState.PARTIAL, reason=reason)
    team = {TEAM: Arm(ArmState.PARTIAL, freshness.team)} if freshness.team else {}
    return {**arms, VECTOR: vector, **team}


def why_empty(result: SearchResult, freshness: Freshness, query: Query) -> str:
    """Return why there is no hit, for each requested source."""
    reasons = []
    if query.asks(Source.MEMORY):
        reasons.append(why_no_notes(result, freshness, query))
    if query.asks(Source.SESSIONS):
        reasons.append(_without_conversations(result, query))
    return "; ".join(dict.fromkeys(reasons)) or NO_SOURCE


def why_no_notes(result: SearchResult, freshness: Freshness, query: Query) -> str:
    """Return why there is no hit among notes."""
    arms = [result.arms[name] for name in (LEXICAL, VECTOR)]
    if not any(arm.took_part for arm in arms):
        reasons = dict.fromkeys(arm.reason for arm in arms)
        return "no arm of the search could answer: " + "; ".join(reasons)
    if not freshness.has_folder:
        return "the folder of the workspace is missing (memoryctl status names it)"
    if result.stale:
        return why_excluded(result)
    if freshness.pending_files:
        files = "1 file is" if freshness.pending_files == 1 else f"{freshness.pending_files:,} files are"
        return f"{files} held back: {freshness.hold}" if freshness.hold else f"still indexing: {files} not read yet"
    if not freshness.files:
        nothing = "nothing is indexed: the workspace holds no MEMORY.md, memory/ or bank/ notes"
        return f"{nothing}, but {freshness.outside} elsewhere: {INDEX_ALL}" if freshness.outside.files else nothing
    misses = [miss for miss in result.misses if miss.chunk.source is Source.MEMORY]
    if unmatched := _unmatched(misses, query):
        return unmatched
    nothing, outside = "nothing in the notes matches", freshness.outside
    return f"{nothing}; {outside} of the workspace {outside.verb} not among them" if outside.files else nothing


def _without_conversations(result: SearchResult, query: Query) -> str:
    arm = result.arms[CONVERSATIONS]
    if arm.state is ArmState.OFF:
        return arm.reason
    if not arm.took_part:
        return f"conversations could not be searched: {arm.reason}"
    unmatched = _unmatched(() if result.conversations is None else result.conversations.misses, query)
    if unmatched and arm.state is ArmState.OK:
        return unmatched
    nothing = unmatched or "nothing in the conversations matches"
    return f"{nothing} ({arm.reason})" if arm.reason else nothing


def _unmatched(misses: Sequence[Hit], query: Query) -> str:
    """Return what in the query itself explains the lack of hits; empty if nothing does."""
    if misses:
        return f"the nearest hits score below minScore {query.min_score:g}"
    question = query.of_any_source().question
    if question.is_narrowed or not question.filters.is_empty:
        return "nothing matches within the given sources, paths, dates, phrases and excluded words"
    return "" if question.terms else "the question has no words to look for"


def why_excluded(result: SearchResult) -> str:
    """Return why documents that may answer are left out; without their names, which may be private."""
    if not result.stale:
        return ""
    count, reasons = len(result.stale), "; ".join(dict.fromkeys(result.stale.values()))
    return f"{count} {'document is' if count == 1 else 'documents are'} not shown as on disk: {reasons}"


def with_verdicts(hits: Sequence[Hit], *, leading: int) -> tuple[Hit, ...]:
    """Return the hits, all with a verdict: of those without one, only the first `leading` may be answerable."""
    return tuple(
        replace(hit, verdict=Verdict.ANSWERABLE if hit.is_literal and place < leading else Verdict.WEAK)
        if hit.verdict is None
        else hit
        for place, hit in enumerate(hits)
    )


def why_no_better(hits: Sequence[Hit], floors: Thresholds | None) -> str:
    """Return why hits have no better verdict; empty if they are answerable."""
    match best_verdict(hits):
        case Verdict.WEAK:
            return floors.why_weak if floors else f"none of the first {LEADING} hits holds a word of the question"
        case Verdict.NONE:
            return floors.why_empty if floors else "no hit holds a telling word of the question"
    return ""
