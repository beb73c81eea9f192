"""The seam between engines: what is asked, what is found, and what answers a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal, Protocol

from memoryd.domain.documents import RelativePath, Source
from memoryd.domain.memories.scopes import MemoryReach
from memoryd.domain.ranking.calibration import Floors
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.questions import Question, parse_question
from memoryd.domain.ranking.snippets import SNIPPET_CHARS
from memoryd.search.hit import Hit
from memoryd.search.untold import Untold

LEXICAL, VECTOR = "lexical", "vector"
"""The arms that every engine has."""
RERANK = "rerank"
"""What some engines have that puts into another order what the arms found; told beside them."""
CONVERSATIONS = "conversations"
"""What answers beside the engine of the notes, where a question asks for it."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question with its limits; `deadline` is in seconds from the call, `now` is the asker's clock and time zone.

    `asked` is `text` and `filters` taken apart, if somebody did so already.
    """

    text: str
    limit: int = 6
    min_score: float = 0.0
    deadline: float = 5.0
    filters: Filters = field(default_factory=Filters)
    asked: Question | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    untold: Untold = field(default_factory=Untold)
    """What is not to be found, for it is known that its files do not hold it."""
    fresh_until: float = 0.0
    """Until when (monotonic clock) the index may be waited for, so that it follows the disk."""
    is_explained: bool = False
    """Whether misses are told, too."""
    reach: MemoryReach | None = None
    """Whose memories may be told; None: nobody asks who could be told too much."""

    @property
    def question(self) -> Question:
        return self.asked or parse_question(self.text, self.filters, self.now)

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


@dataclass(frozen=True, slots=True)
class Arm:
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


@dataclass(frozen=True, slots=True)
class Fallback:
    """The engine that should have answered, why it did not, and since when."""

    left: str
    reason: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Engine:
    """What answered and how it wants its hits told: lengths in characters, `total_chars` of all snippets together."""

    name: Literal["builtin", "qmd"] = "builtin"
    model: str | None = None
    pending_embeddings: int | None = None
    snippet_chars: int = SNIPPET_CHARS
    total_chars: int | None = None


BUILTIN = Engine()


@dataclass(frozen=True, slots=True)
class Found:
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
    floors: Floors | None = None
    """What the evidence was held against; None: the engine does not judge it."""
    owed: Mapping[RelativePath, str] = field(default_factory=dict)
    """Documents that may answer and are not told as they are now, and why."""
    conversations: "Found | None" = None
    """What was found among conversations, with floors of its own; its hits stand in `hits`. None: they were not asked.

    Where they alone were asked, nothing else is of the notes.
    """

    def floors_of(self, source: Source) -> Floors | None:
        """Return what the evidence of hits of a source was held against."""
        if source is Source.SESSIONS and self.conversations is not None:
            return self.conversations.floors
        return self.floors


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
