"""Shapes of the call that retains memories."""

from typing import Annotated

from pydantic import Field

from memoryd.api.models import AgentId, Reply, Request
from memoryd.wire import ENTITIES_MAX, ENTITY_CHARS_MAX, MEMORIES_CHARS_MAX


class RetainRequest(Request):
    """What is to be retained: a bullet such as `W @Peter: …`, or plain text."""

    text: Annotated[str, Field(min_length=1, max_length=MEMORIES_CHARS_MAX, pattern=r"\S")]
    """The memory, 4,000 characters at most; line breaks in it make no further ones."""
    each: bool = False
    """Whether every bullet of the text is a memory of its own, 100 at most; all are written at once."""
    kind: Annotated[str, Field(max_length=20)] | None = None
    """The kind of plain text, a letter or a word; null: world, or with `remember` note."""
    importance: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    """How important it is, 0 to 1; null: as the kind has it, or with `remember` 0.8."""
    remember: bool = False
    """Whether it was asked to be remembered, as by `/remember`."""
    scope: Annotated[str, Field(max_length=200)] | None = None
    """Whom it is for: `agent:ID`, `agent:ID:CHANNEL`, by the owner alone `global`; null: every agent here."""
    entities: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=ENTITY_CHARS_MAX)]] | None, Field(max_length=ENTITIES_MAX)
    ] = None
    """What it is about, beside those that the text names."""
    at: Annotated[str, Field(max_length=32)] | None = None
    """When it was so: `2026-11-18`, `2026-11`, or two of them with `..` between; null: as the text says."""
    session_key: Annotated[str, Field(max_length=512)] | None = None
    """The session that asks, such as `agent:main:main`; null: no session."""
    agent: AgentId = None


class RetainedReply(Reply):
    """A memory and where it stands."""

    id: str
    """The id of the memory."""
    citation: str
    """Where it stands, with its mark, by which it can be verified later: `memory/2026-11-18.md#L12@1a2b3c4d`."""
    created: bool
    """Whether it was written; false: today's log stated it already."""
    path: str
    """The log."""
    line: int
    """Its first line, from 1."""


class RetainReply(RetainedReply):
    """What was retained; of several memories the first one, and all of them in `memories`."""

    memories: list[RetainedReply]
    """All of them, in order."""
    change: int | None
    """The number of the change, by which it can be undone; null: nothing was written, or it cannot be."""
    searchable: bool
    """Whether it is found by its words already."""
    notes: list[str]
    """What is to be known of it, such as that a secret was masked."""
