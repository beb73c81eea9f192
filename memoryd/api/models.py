"""Shapes of requests, which refuse unknown keys, and what several replies have in common; `replies` declares these.

The docstring of a field is its description in OpenAPI and on the reference page.
"""

from collections.abc import Set
from datetime import timedelta
from typing import Annotated, TypedDict, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from memoryd.domain.clock import rfc3339
from memoryd.domain.memories.bundle import Encoding
from memoryd.replies.search import FallbackReply
from memoryd.search.protocol import Fallback
from memoryd.wire import ANSWER_CHARS_MAX, DEADLINE_MS_MAX, LISTED_MAX, QUESTION_CHARS_MAX, RESULTS_MAX, ErrorCode

Encode = Annotated[Encoding, Field(strict=False)]
"""How a bundle is written; an enumeration, which JSON has as text."""
AgentId = Annotated[
    Annotated[str, Field(max_length=64)] | None, Field(description="agent to ask; the default agent if absent")
]


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
"""An integer as JSON Schema means it: 3.0 is one."""
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
ResultLimit = Annotated[Whole, Field(ge=1, le=RESULTS_MAX)]
ListLimit = Annotated[int, Field(ge=1, le=LISTED_MAX, description="how many at most")]
KindText = Annotated[str, Field(max_length=20)]
LabelText = Annotated[str, Field(max_length=200)]
"""A scope, an entity, a tag or a tool."""
NamedText = Annotated[str, Field(min_length=1, max_length=1024)]
"""A place or a name."""
MeantText = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"\S")]
"""What means one memory: its id, a citation, or words that it says."""
QuestionText = Annotated[str, Field(min_length=1, max_length=QUESTION_CHARS_MAX, pattern=r"\S")]
AnswerText = Annotated[str, Field(max_length=ANSWER_CHARS_MAX)]
SessionKeyText = Annotated[str, Field(max_length=512)] | None
WaitMs = Annotated[Whole, Field(ge=1, le=3_600_000)] | None
RequestDeadline = Annotated[Whole, Field(ge=1, le=DEADLINE_MS_MAX)] | None


class RequestPart(BaseModel):
    """An object in a request body."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True, defer_build=True)


class Request(RequestPart):
    """A request body, with the agent that it is about."""

    agent: AgentId = None


class ErrorBody(TypedDict):
    """What went wrong, and one sentence on what to do."""

    code: ErrorCode
    """Which kind of failure it is."""
    message: str
    """What went wrong, in words for people, 2000 characters at most and without folders outside the workspace."""
    hint: str
    """What to do about it; may be empty."""


class ErrorReply(TypedDict):
    """Every failure."""

    error: ErrorBody
    """What went wrong."""


AnyReply = TypeVar("AnyReply")


def present(kind: type[AnyReply], /, **values: object) -> AnyReply:
    """Return a reply of a kind, a TypedDict, without the keys that may be left out and have no value."""
    optional: Set[str] = kind.__optional_keys__  # type: ignore[attr-defined]  # what a TypedDict has
    for key in optional:
        if values.get(key) is None:
            values.pop(key, None)
    return cast("AnyReply", values)


def milliseconds(number: int | None) -> timedelta | None:
    """Return so many milliseconds; None stays None."""
    return None if number is None else timedelta(milliseconds=number)


def fallback_reply(fallback: Fallback | None) -> FallbackReply | None:
    """Return the reply for a part that fell back to another; None for none."""
    if fallback is None:
        return None
    return FallbackReply({"from": fallback.left, "reason": fallback.reason, "since": rfc3339(fallback.since)})
