"""Shapes of requests and replies: camelCase JSON, unknown keys refused in requests.

The docstring of a field is its description in OpenAPI and on the reference page.
"""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from memoryd.domain.memories.bundle import Encoding
from memoryd.domain.text.sanitizing import Flag
from memoryd.search.protocol import Fallback
from memoryd.wire import ErrorCode, SyncGoal

Encode = Annotated[Encoding, Field(strict=False)]
"""How a bundle is written; an enumeration, which JSON has as text."""
AgentId = Annotated[
    Annotated[str, Field(max_length=64)] | None, Field(description="agent to ask; the default agent if absent")
]


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
"""An integer as JSON Schema means it: 3.0 is one."""


class Request(BaseModel):
    """A request body."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True)


class Reply(BaseModel):
    """A reply body; fields may be added in later versions."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, frozen=True)


class ErrorBody(Reply):
    """What went wrong, and one sentence on what to do."""

    code: ErrorCode
    """Which kind of failure it is."""
    message: str
    """What went wrong, in words for people, 2000 characters at most and without folders outside the workspace."""
    hint: str
    """What to do about it; may be empty."""


class ErrorReply(Reply):
    """Every failure."""

    error: ErrorBody
    """What went wrong."""


class HealthReply(Reply):
    """`ready` says that the first scan of every workspace is done."""

    ok: bool
    """Always true: what answers, is up."""
    ready: bool
    """Whether the first scan of every workspace is done."""


class FallbackReply(Reply):
    """Which engine was left, why and since when."""

    from_: Annotated[str, Field(alias="from")]
    """The engine or provider that should have answered."""
    reason: str
    """Why it does not."""
    since: datetime
    """When it was left, ISO 8601."""


def fallback_reply(fallback: Fallback | None) -> FallbackReply | None:
    """Return how a stand-in is told."""
    if fallback is None:
        return None
    return FallbackReply(from_=fallback.left, reason=fallback.reason, since=fallback.since)


class FileReply(Reply):
    """Lines of a document; `nextFrom` continues it behind them.

    A line too long for one reply is cut: `nextColumn` is where the rest of line `from` begins.
    """

    path: str
    """The document as search names it: relative to the workspace, or `qmd/<collection>/<path>`."""
    text: str
    """The lines with their ends, 12,000 characters at most."""
    from_: Annotated[int, Field(alias="from")]
    """The number of the first line of `text`, from 1."""
    lines: int
    """How many lines `text` touches; 0 beyond the end of the document."""
    column: int
    """The number of the first character of `text` in line `from`, from 1."""
    total_lines: int
    """How many lines the whole document has."""
    sha256: str
    """SHA-256 of all bytes of the document, 64 hexadecimal digits."""
    truncated: bool
    """Whether the document goes on behind `text`."""
    next_from: int | None
    """The number of the line that goes on behind `text`; null if there is none."""
    next_column: int | None
    """The number of the character where the rest of line `from` begins; null unless the line was cut."""
    flags: list[Flag]
    """What a reader of `text` cannot see, or could take for ours."""


class SyncRequest(Request):
    """`indexed` waits until all that was on disk is searchable by words, `embedded` also by vector."""

    agent: AgentId = None
    wait: SyncGoal = "indexed"
    """What to wait for: `none`, `indexed` (found by words) or `embedded` (by meaning, too)."""
    timeout_ms: Annotated[Whole, Field(ge=1, le=3_600_000)] | None = None
    """How long to wait at most, in milliseconds; null: 30 seconds."""


class SyncReply(Reply):
    """`complete` is false when the time ran out before the wait was over, or when, for a `reason`, it never will be."""

    pending_files: int
    """How many files are still to be read, renamed or removed."""
    pending_embeddings: int
    """How many passages are still to get a vector."""
    generation: int
    """How many changes were committed to the index since the start of the daemon."""
    complete: bool
    """Whether what was waited for is so; true if nothing was."""
    reason: str | None = None
    """Why it will not be as things are; null if it is, or is merely not done yet."""


class ReindexRequest(Request):
    """`force` reads and cuts every file anew, `embeddings` makes every vector anew."""

    agent: AgentId = None
    force: bool = False
    """Read and cut every file anew, also those that have not changed."""
    embeddings: bool = False
    """Make every vector anew."""


class ReindexReply(Reply):
    """The work goes on in the background; follow it in status or events."""

    pending_files: int
    """How many files are still to be read, renamed or removed."""
    pending_embeddings: int
    """How many passages are still to get a vector."""
    generation: int
    """How many changes were committed to the index since the start of the daemon."""
