"""The values of a search: what is asked, what each arm says, and what is found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal

from memoryd.domain.filters import Filters
from memoryd.domain.snippets import SNIPPET_CHARS
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
    """A question with its limits; `deadline` is in seconds from the call."""

    text: str
    limit: int = 6
    min_score: float = 0.0
    deadline: float = 5.0
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk with what each arm says of it: a BM25 magnitude and a cosine, None where the arm did not find it."""

    chunk: ChunkRow
    score: float
    words: float | None = None
    cosine: float | None = None

    @property
    def is_literal(self) -> bool:
        """Whether a word of the question stands in it."""
        return self.words is not None


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
