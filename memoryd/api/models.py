"""Shapes of requests, which reject unknown keys, and helpers for replies, which `memoryd.replies` declares.

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
"""The encoding of a bundle; an enumeration, which JSON writes as text."""
AgentId = Annotated[
    Annotated[str, Field(max_length=64)] | None, Field(description="the agent; the default agent if absent")
]


def _integral(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


JsonInteger = Annotated[int, BeforeValidator(_integral)]
"""An integer by the rules of JSON Schema, which include 3.0."""
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
ResultLimit = Annotated[JsonInteger, Field(ge=1, le=RESULTS_MAX)]
ListLimit = Annotated[int, Field(ge=1, le=LISTED_MAX, description="maximum number")]
KindText = Annotated[str, Field(max_length=20)]
LabelText = Annotated[str, Field(max_length=200)]
"""The name of a scope, an entity, a tag or a tool."""
NamedText = Annotated[str, Field(min_length=1, max_length=1024)]
"""The name of a place or an object."""
TargetText = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"\S")]
"""A reference to one memory: its id, a citation, or words that it contains."""
QuestionText = Annotated[str, Field(min_length=1, max_length=QUESTION_CHARS_MAX, pattern=r"\S")]
AnswerText = Annotated[str, Field(max_length=ANSWER_CHARS_MAX)]
SessionKeyText = Annotated[str, Field(max_length=512)] | None
WaitMs = Annotated[JsonInteger, Field(ge=1, le=3_600_000)] | None
RequestDeadline = Annotated[JsonInteger, Field(ge=1, le=DEADLINE_MS_MAX)] | None


class RequestPart(BaseModel):
    """An object in a request body."""

    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", strict=True, frozen=True, defer_build=True)


class Request(RequestPart):
    """A request body, with the agent that it addresses."""

    agent: AgentId = None


class SessionRequest(Request):
    """A request body, with the session of the caller as well."""

    session_key: SessionKeyText = None
    """The session of the caller, such as `agent:main:main`; null: no session."""


class ErrorBody(TypedDict):
    """An error, with a sentence on how to resolve it."""

    code: ErrorCode
    """The kind of failure."""
    message: str
    """The problem in words for people, 2000 characters at most and without folders outside the workspace."""
    hint: str
    """What to do about it; may be empty."""


class ErrorReply(TypedDict):
    """The reply to every failed request."""

    error: ErrorBody
    """The error."""


AnyReply = TypeVar("AnyReply")


def present(kind: type[AnyReply], /, **values: object) -> AnyReply:
    """Return a reply of a TypedDict type, without the optional keys whose value is None."""
    optional: Set[str] = kind.__optional_keys__  # type: ignore[attr-defined]  # an attribute of every TypedDict
    for key in optional:
        if values.get(key) is None:
            values.pop(key, None)
    return cast("AnyReply", values)


def milliseconds(number: int | None) -> timedelta | None:
    """Return a duration in milliseconds; None stays None."""
    return None if number is None else timedelta(milliseconds=number)


def fallback_reply(fallback: Fallback | None) -> FallbackReply | None:
    """Return the reply for a fallback; None for none."""
    if fallback is None:
        return None
    return FallbackReply({"from": fallback.left, "reason": fallback.reason, "since": rfc3339(fallback.since)})
