"""The values of a search: what is asked, what each arm says, and what is found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.floors import Idf, Verdict
from memoryd.domain.ranking.fusion import Noise
from memoryd.domain.ranking.questions import Question, parse_question
from memoryd.domain.ranking.snippets import SNIPPET_CHARS
from memoryd.store.chunks import ChunkRow


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

    @property
    def question(self) -> Question:
        return self.asked or parse_question(self.text, self.filters, self.now)


@dataclass(frozen=True, slots=True)
class Why:
    """Where a hit stands in each arm (1 is the best, None: not found) and in the whole, and what moved it.

    `base` is its score before decay; `because` says in words why it stands there.
    """

    base: float
    words_rank: int | None = None
    vector_rank: int | None = None
    fused_rank: int | None = None
    standout: float | None = None
    decay: float = 1.0
    age_days: int | None = None
    terms: tuple[str, ...] = ()
    because: str = ""


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk with what each arm says of it: a BM25 magnitude and a cosine, None where the arm did not find it.

    `copies` say the same and stand behind it.
    """

    chunk: ChunkRow
    score: float
    words: float | None = None
    cosine: float | None = None
    why: Why | None = None
    copies: tuple[ChunkRow, ...] = ()

    @property
    def is_literal(self) -> bool:
        """Whether a word of the question stands in it."""
        return self.words is not None or (self.why is not None and bool(self.why.terms))


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
class Floors:
    """What the evidence was held against: the words of the question in these notes, and the noise of its cosines."""

    idf: Idf
    noise: Noise
    vectors: int
    share: float
    """Of the question's weight, in the best chunk."""
    deviations: float | None
    """The best cosine above the noise; None without vectors."""
    vector_floor: float
    """Deviations below which a hit without a word of the question is noise."""
    clear_floor: float


@dataclass(frozen=True, slots=True)
class Found:
    """The best chunks, best first, how the arms took part, and the terms that were looked for."""

    hits: tuple[Scored, ...]
    misses: tuple[Scored, ...]
    arms: Mapping[str, Arm]
    terms: tuple[str, ...]
    engine: Engine = BUILTIN
    fallback: Fallback | None = None
    as_of: float | None = None
    """Documents changed after this (system clock) are not known to the engine; None: it knows all."""
    doubt: str = ""
    """Why finding nothing does not mean that there is nothing."""
    verdict: Verdict | None = None
    """None: the engine does not judge its evidence."""
    reason: str = ""
    """Why what was found is not told as a hit."""
    floors: Floors | None = None
