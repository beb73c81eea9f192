"""Shapes of requests and replies: camelCase JSON, unknown keys refused in requests."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from memoryd.domain.flags import Flag
from memoryd.search.backend import Fallback
from memoryd.wire import ErrorCode, SyncGoal

AgentId = Annotated[str, Field(max_length=64, description="agent to ask; the default agent if absent")]


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
    message: str
    hint: str


class ErrorReply(Reply):
    """Every failure."""

    error: ErrorBody


class HealthReply(Reply):
    """`ready` says that the first scan of every workspace is done."""

    ok: bool
    ready: bool


class FallbackReply(Reply):
    """Which engine was left, why and since when."""

    from_: Annotated[str, Field(alias="from")]
    reason: str
    since: datetime


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
    text: str
    from_: Annotated[int, Field(alias="from")]
    lines: int
    column: int
    total_lines: int
    sha256: str
    truncated: bool
    next_from: int | None
    next_column: int | None
    flags: list[Flag]


class SyncRequest(Request):
    """`indexed` waits until all that was on disk is searchable by words, `embedded` also by vector."""

    agent: AgentId | None = None
    wait: SyncGoal = "indexed"
    timeout_ms: Annotated[Whole, Field(ge=1, le=3_600_000)] | None = None


class SyncReply(Reply):
    """`complete` is false when the time ran out before the wait was over, or when, for a `reason`, it never will be."""

    pending_files: int
    pending_embeddings: int
    generation: int
    complete: bool
    reason: str | None = None


class ReindexRequest(Request):
    """`force` reads and cuts every file anew, `embeddings` makes every vector anew."""

    agent: AgentId | None = None
    force: bool = False
    embeddings: bool = False


class ReindexReply(Reply):
    """The work goes on in the background; follow it in status or events."""

    pending_files: int
    pending_embeddings: int
    generation: int


class SessionStartRequest(Request):
    """A session that begins; its key decides who may see what."""

    session_key: Annotated[str, Field(max_length=512)]
    agent: AgentId | None = None


class SessionStartReply(Reply):
    """`syncScheduled` says whether the index looks at the disk now.

    Nothing is chosen from the notes for a session yet: `bundle` is null and `context` is empty.
    """

    bundle: str | None = None
    context: str = ""
    is_sync_scheduled: Annotated[bool, Field(alias="syncScheduled")]
