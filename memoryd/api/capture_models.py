"""Shapes of the call that captures."""

from typing import Annotated

from pydantic import Field

from memoryd.api.models import AgentId, Reply, Request
from memoryd.wire import ANSWER_CHARS_MAX, QUESTION_CHARS_MAX


class CaptureRequest(Request):
    """A message of its owner."""

    text: Annotated[str, Field(min_length=1, max_length=QUESTION_CHARS_MAX, pattern=r"\S")]
    """What is said."""
    answer: Annotated[str, Field(max_length=ANSWER_CHARS_MAX)] | None = None
    """What the assistant said before it, which it may correct."""
    dry_run: bool = False
    """Whether nothing is written, and it is said only what would be kept."""
    agent: AgentId = None


class CapturedReply(Reply):
    """A memory that the message gives."""

    kind: str
    """Its kind."""
    text: str
    """What it says: a sentence of the message, or what a text model made of it."""
    form: str
    """The form that the sentence has."""
    pinned: bool
    """Whether it stands in the core of every session."""
    importance: float
    """0 to 1."""


class DroppedReply(Reply):
    """What is not kept."""

    text: str
    """The sentence, or the beginning of the message."""
    reason: str
    """Why not."""
    form: str
    """The form that it has; empty if none."""


class CaptureReply(Reply):
    """What is kept of a message, and what is not."""

    dry_run: bool
    """Whether nothing was written."""
    gate: str
    """The marker for which the message was looked at; empty: it has none."""
    decided_by: str
    """`rules`, or the text model that chose."""
    kept: list[CapturedReply]
    """What is kept, six at most."""
    dropped: list[DroppedReply]
    """What looked like a memory and is none."""
    citations: list[str]
    """Where the memories stand; empty if nothing was written."""
    change: int | None
    """The number of the change, by which it can be undone; null: nothing was written, or it cannot be."""
