"""The seam between search engines: query, exclusions, hits found, verdicts, and the words for an empty or weak answer.

These words name no document, since its name may be private.
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
"""What some engines have that puts into another order what the arms found; told beside them."""
CONVERSATIONS = "conversations"
"""What answers beside the engine of the notes, where a question asks for it."""
NO_SOURCE = "the request and the question name different sources, so that nothing may answer"
LEADING = 3
"""Among so many hits of an engine that does not judge them, a word of the question stands for an answer."""


MIN_SECONDS = 0.05
"""For a step of an answer, however late those before it were."""


def seconds_left(end: float) -> float:
    """Return how long a step may take that is to be over at `end` (monotonic clock)."""
    return max(MIN_SECONDS, end - time.monotonic())


class Exclusions(Struct, frozen=True):
    """Paths, and chunks by their ids; others take their places."""

    paths: frozenset[RelativePath] = frozenset()
    chunks: frozenset[int] = frozenset()

    def __or__(self, other: "Exclusions") -> "Exclusions":
        return Exclusions(self.paths | other.paths, self.chunks | other.chunks)

    @property
    def is_empty(self) -> bool:
        return not self.paths and not self.chunks

    def holds(self, chunk: ChunkRow) -> bool:
        """Tell whether a chunk is one of these."""
        return chunk.path in self.paths or chunk.id in self.chunks


class Query(Struct, frozen=True):
    """A question with its limits; `deadline` is in seconds from the call, `now` is the asker's clock and time zone.

    `asked` is `text` and `filters` taken apart, if somebody did so already.
    """

    text: str
    limit: int = 6
    min_score: float = 0.0
    deadline: float = 5.0
    filters: Filters = Filters()
    asked: Question | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    exclusions: Exclusions = Exclusions()
    """What is not to be found, for it is known that its files do not hold it."""
    fresh_until: float = 0.0
    """Until when (monotonic clock) the index may be waited for, so that it follows the disk."""
    is_explained: bool = False
    """Whether misses are told, too."""
    visibility: Visibility | None = None
    """Whose memories may be told; None: nobody asks who could be told too much."""

    @property
    def question(self) -> Question:
        return self.asked or parse_question(self.text, self.filters, self.now)

    def until(self, end: float) -> "Query":
        """Return the same with what is left until `end` (monotonic clock)."""
        return replace(self, deadline=seconds_left(end))

    def asks(self, source: Source) -> bool:
        """Tell whether documents of this source may answer."""
        return self.question.filters.admits_source(source)

    def of_any_source(self) -> "Query":
        """Return the same without a word of sources, for an engine that holds but one."""
        question = self.question
        filters = replace(question.filters, sources=())
        return replace(self, filters=filters, asked=replace(question, filters=filters))


class ArmState(StrEnum):
    """How an arm took part in an answer."""

    OK = "ok"
    PARTIAL = "partial"
    OFF = "off"
    """Switched off by its owner."""
    WAITING = "waiting"
    """Its model is being fetched or loaded."""
    FAILED = "failed"
    TIMEOUT = "timeout"


class Arm(Struct, frozen=True):
    """An arm's part in an answer, and why if it is less than OK."""

    state: ArmState
    reason: str = ""

    @property
    def took_part(self) -> bool:
        return self.state in (ArmState.OK, ArmState.PARTIAL)

    @property
    def is_as_configured(self) -> bool:
        """Whether its owner gets all that was asked for."""
        return self.state in (ArmState.OK, ArmState.OFF)


class Fallback(Struct, frozen=True):
    """The engine that should have answered, why it did not, and since when."""

    left: str
    reason: str
    since: datetime


class Engine(Struct, frozen=True):
    """What answered and how it wants its hits told: lengths in characters, `total_chars` of all snippets together."""

    name: Literal["builtin", "qmd"] = "builtin"
    model: str | None = None
    pending_embeddings: int | None = None
    snippet_chars: int = SNIPPET_CHARS
    total_chars: int | None = None


BUILTIN = Engine()


class Found(Struct, frozen=True):
    """The best chunks, best first, how the arms took part, and the terms that were looked for."""

    hits: tuple[Hit, ...]
    misses: tuple[Hit, ...]
    arms: Mapping[str, Arm]
    terms: tuple[str, ...]
    engine: Engine = BUILTIN
    fallback: Fallback | None = None
    as_of: float | None = None
    """Documents changed after this (system clock) are not known to the engine; None: it knows all."""
    doubt: str = ""
    """Why finding nothing does not mean that there is nothing."""
    floors: Thresholds | None = None
    """What the evidence was held against; None: the engine does not judge it."""
    owed: Mapping[RelativePath, str] = {}
    """Documents that may answer and are not told as they are now, and why."""
    conversations: "Found | None" = None
    """What was found among conversations, with floors of its own; its hits stand in `hits`. None: they were not asked.

    Where they alone were asked, nothing else is of the notes.
    """
    language: str = ""
    """That of the question, its code as of `language_of`, if words are found by their stems; empty if unknown."""

    def thresholds_of(self, source: Source) -> Thresholds | None:
        """Return what the evidence of hits of a source was held against."""
        if source is Source.SESSIONS and self.conversations is not None:
            return self.conversations.floors
        return self.floors


def nothing_found(terms: tuple[str, ...], arm: Arm) -> Found:
    """Return what is found where no arm answers; `arm` says why."""
    return Found((), (), {LEXICAL: arm, VECTOR: arm}, terms)


class SearchBackend(Protocol):
    """Answers questions. An engine that cannot answer raises SidecarError; it never waits past the deadline."""

    async def search(self, query: Query) -> Found:
        """Return what it finds within the query's deadline."""
        ...


class LateBackend(SearchBackend, Protocol):
    """An engine that learns of changes late: `Found.as_of` tells up to which moment it knows them."""

    def changed_since(self, paths: Sequence[str], moment: float) -> set[str]:
        """Return those documents that it indexes, and that are not what they were then (system clock)."""
        ...


class Freshness(Struct, frozen=True):
    """What the index still owes the disk."""

    files: int = 0
    pending_files: int = 0
    pending_embeddings: int = 0
    is_dirty: bool = False
    hold: str = ""
    """Why pending files are not read, since nobody can say what is private."""
    team: str = ""
    """Why what the team shares may be older than it is there; empty if it is not, or there is no team."""
    outside: OutsideCount = OutsideCount()


class DiskFollower(Struct, frozen=True, kw_only=True):
    """How answers follow the disk. `on_search` is told of each question, so that a sync may be scheduled."""

    freshness: Callable[[], Freshness]
    on_search: Callable[[], None]
    catch_up: Callable[[float], Awaitable[int]]
    """Has the index follow what changed, within so many seconds; returns how many files it may lack then."""
    rescan: Callable[[Set[RelativePath], float], Awaitable[bool]]
    """Has it follow where these documents differ, within so many seconds; returns whether it looked."""
    gone: Callable[[], Set[RelativePath]]
    """What the index knows to be gone; it may keep that for a grace."""
    seconds: float
    """So long a question waits for the index at the most."""

    def seconds_of(self, query: Query) -> float:
        """Return how long a question waits for the index: half of the deadline is for the search, whatever changed."""
        return min(self.seconds, query.deadline / 2)


def with_pending(arms: Mapping[str, Arm], freshness: Freshness) -> dict[str, Arm]:
    """Mark the vector arm as partial while passages wait for their vectors, and the team's while it is out of reach."""
    vector = arms[VECTOR]
    if vector.took_part and freshness.pending_embeddings:
        count = freshness.pending_embeddings
        reason = f"{count} {'passage has' if count == 1 else 'passages have'} no vector yet"
        vector = replace(vector, state=ArmState.PARTIAL, reason=reason)
    team = {TEAM: Arm(ArmState.PARTIAL, freshness.team)} if freshness.team else {}
    return {**arms, VECTOR: vector, **team}


def why_empty(found: Found, freshness: Freshness, query: Query) -> str:
    """Say why there is no hit, for each source that was asked."""
    reasons = []
    if query.asks(Source.MEMORY):
        reasons.append(why_no_notes(found, freshness, query))
    if query.asks(Source.SESSIONS):
        reasons.append(_without_conversations(found, query))
    return "; ".join(dict.fromkeys(reasons)) or NO_SOURCE


def why_no_notes(found: Found, freshness: Freshness, query: Query) -> str:
    """Say why there is no hit among notes."""
    arms = [found.arms[name] for name in (LEXICAL, VECTOR)]
    if not any(arm.took_part for arm in arms):
        reasons = dict.fromkeys(arm.reason for arm in arms)
        return "no arm of the search could answer: " + "; ".join(reasons)
    if found.owed:
        return why_excluded(found)
    if freshness.pending_files and freshness.hold:
        return f"{freshness.pending_files} files are held back: {freshness.hold}"
    if freshness.pending_files:
        return f"still indexing: {freshness.pending_files} files are not read yet"
    if not freshness.files:
        nothing = "nothing is indexed: the workspace holds no MEMORY.md, memory/ or bank/ notes"
        return f"{nothing}, but {freshness.outside} elsewhere: {INDEX_ALL}" if freshness.outside.files else nothing
    misses = [miss for miss in found.misses if miss.chunk.source is Source.MEMORY]
    if unmatched := _unmatched(misses, query):
        return unmatched
    nothing, outside = "nothing in the notes matches", freshness.outside
    return f"{nothing}; {outside} of the workspace {outside.verb} not among them" if outside.files else nothing


def _without_conversations(found: Found, query: Query) -> str:
    arm = found.arms[CONVERSATIONS]
    if arm.state is ArmState.OFF:
        return arm.reason
    if not arm.took_part:
        return f"conversations could not be searched: {arm.reason}"
    unmatched = _unmatched(() if found.conversations is None else found.conversations.misses, query)
    if unmatched and arm.state is ArmState.OK:
        return unmatched
    nothing = unmatched or "nothing in the conversations matches"
    return f"{nothing} ({arm.reason})" if arm.reason else nothing


def _unmatched(misses: Sequence[Hit], query: Query) -> str:
    """Say what the question itself has to do with it; empty if nothing has."""
    if misses:
        return f"the nearest hits score below minScore {query.min_score:g}"
    question = query.of_any_source().question
    if question.is_narrowed or not question.filters.is_empty:
        return "nothing matches within the given sources, paths, dates, phrases and excluded words"
    return "" if question.terms else "the question has no words to look for"


def why_excluded(found: Found) -> str:
    """Say why documents that may answer are not told; without their names, for they may be private."""
    if not found.owed:
        return ""
    count, reasons = len(found.owed), "; ".join(dict.fromkeys(found.owed.values()))
    return f"{count} {'document is' if count == 1 else 'documents are'} not told as on disk: {reasons}"


def judged(hits: Sequence[Hit], *, leading: int) -> tuple[Hit, ...]:
    """Return the hits, each with a verdict: of those that nobody judged, the first `leading` may answer."""
    return tuple(
        replace(hit, verdict=Verdict.ANSWERABLE if hit.is_literal and place < leading else Verdict.WEAK)
        if hit.verdict is None
        else hit
        for place, hit in enumerate(hits)
    )


def why_no_better(hits: Sequence[Hit], floors: Thresholds | None) -> str:
    """Say why hits are worth no more than they are; empty if they answer."""
    match best_verdict(hits):
        case Verdict.WEAK:
            return floors.weakness if floors else f"none of the first {LEADING} hits holds a word of the question"
        case Verdict.NONE:
            return floors.emptiness if floors else "no hit holds a telling word of the question"
    return ""
