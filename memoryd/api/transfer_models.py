"""Shapes of the calls that hand memories out and take them in."""

import re
from datetime import date
from typing import Annotated, Final

from pydantic import Field

from memoryd.agents.retained.transfer import Taken
from memoryd.api.models import AgentId, Reply, Request
from memoryd.wire import ENTITIES_MAX, ENTITY_CHARS_MAX, MEMORIES_MAX

TEXT_MAX: Final = 16_384
DAYS_MAX: Final = 3_660
Ids = Annotated[list[Annotated[str, Field(max_length=8)]], Field(max_length=64)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
RUN: Final = re.compile(r"^[0-9a-f]{32}$")


class TransferredMemoryReply(Reply):
    """A memory as a file has it: what its line says by itself, and nothing of how it was used."""

    id: str
    """Its id, which follows from what it says."""
    text: str
    """What it says."""
    kind: str
    """Its kind."""
    entities: list[str]
    """Whom or what it is about, as written."""
    importance: float | None
    """How important its line says it is; null: as its kind has it."""
    confidence: float | None
    """How sure its line says it is; null: it does not."""
    pinned: bool
    """Whether it is pinned."""
    scope: str | None
    """Whom it is for; null: every agent of its workspace."""
    at: str | None
    """When it was so, as its line has it; null: as the text says."""
    said_by: str | None
    """Who said it: `user`, `agent`, `tool` or `import`; null: a person wrote it."""
    tags: list[str]
    """Its tags."""
    supports: list[str]
    """The ids of opinions that it speaks for, eight signs of each."""
    contradicts: list[str]
    """Those that it speaks against."""
    supersedes: list[str]
    """Those that it takes the place of."""
    days: list[str]
    """The days on which it was said, the earliest first: `2026-11-18`."""
    sources: list[str]
    """The lines that state it, the newest first; an import does not read them."""


class ExportReply(Reply):
    """Some memories, by the day on which they were said first."""

    memories: list[TransferredMemoryReply]
    """The memories."""
    next: str | None
    """What to give as `after` to have those behind them; null: there are none."""
    total: int
    """How many there are in all."""


class ImportedMemory(Request):
    """A memory that is to be stated, as an export has it."""

    text: Annotated[str, Field(min_length=1, max_length=TEXT_MAX)]
    """What it says."""
    kind: Annotated[str, Field(max_length=20)] = "note"
    """Its kind."""
    entities: Annotated[list[Annotated[str, Field(max_length=ENTITY_CHARS_MAX)]], Field(max_length=ENTITIES_MAX)] = (
        Field(default_factory=list)
    )
    """Whom or what it is about."""
    importance: Share | None = None
    """How important it is; null: as its kind has it."""
    confidence: Share | None = None
    """How sure it is, of an opinion; null: it is not said."""
    pinned: bool = False
    """Whether it is pinned."""
    scope: Annotated[str, Field(max_length=200)] | None = None
    """Whom it is for; null: every agent of the workspace."""
    at: Annotated[str, Field(max_length=32)] | None = None
    """When it was so; null: as the text says."""
    said_by: Annotated[str, Field(max_length=16)] | None = None
    """Who said it: `user`, `agent`, `tool` or `import`; null: a person wrote it."""
    tags: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=64)] = Field(default_factory=list)
    """Its tags."""
    supports: Ids = Field(default_factory=list)
    """The ids of opinions that it speaks for."""
    contradicts: Ids = Field(default_factory=list)
    """Those that it speaks against."""
    supersedes: Ids = Field(default_factory=list)
    """Those that it takes the place of."""
    days: Annotated[list[Annotated[date, Field(strict=False)]], Field(max_length=DAYS_MAX)] = Field(
        default_factory=list
    )
    """The days on which it was said; none: today."""
    id: Annotated[str, Field(max_length=64)] | None = None
    """Not read: it follows from what the memory says."""
    sources: Annotated[list[str], Field(max_length=10_000)] = Field(default_factory=list)
    """Not read."""


class ImportRequest(Request):
    """Memories that are to be stated on the days on which they were said."""

    memories: Annotated[list[ImportedMemory], Field(min_length=1, max_length=MEMORIES_MAX)]
    """The memories, 100 at most."""
    run: Annotated[str, Field(pattern=RUN.pattern)]
    """What all changes of one import are undone by: 32 hexadecimal digits, by chance."""
    dry_run: bool = False
    """Whether only to say what would be taken."""
    with_secrets: bool = False
    """Whether to take what looks like a secret."""
    agent: AgentId = None


class TakenMemoryReply(Reply):
    """What became of a memory."""

    outcome: Taken
    """`added`: it was written, or would be; `known`: it stood there; `refused`: it was not taken."""
    id: str
    """Its id; empty where it could not be read."""
    reason: str
    """Why it was not taken, or what of it was not; may be empty."""


class ImportReply(Reply):
    """What became of each memory, in order."""

    memories: list[TakenMemoryReply]
    """One for each that was sent."""
    changes: list[int]
    """The changes that were made; all of them are undone by the run."""
