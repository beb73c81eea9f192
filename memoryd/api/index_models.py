"""Shapes of what status tells of an index."""

from datetime import datetime

from memoryd.api.models import Reply


class WatcherReply(Reply):
    """`events` when file events flow, `scan` when only the timer looks, `off` when watching is switched off."""

    mode: str
    """What tells of changes: `events`, `scan` or `off`."""
    ok: bool
    """Whether it works as configured."""
    reason: str | None
    """Why only the timer looks; null if events flow, or are not wanted."""


class VectorReply(Reply):
    """What answers vector questions."""

    enabled: bool
    """Whether searching by meaning is configured (`query.hybrid.enabled`)."""
    available: bool
    """Whether there is an embedder now."""
    engine: str
    """What compares vectors: `resident` (in memory), `mapped` (in a file) or `sqlite-vec`."""
    dimensions: int | None
    """How many numbers a vector has; null while there is no embedder."""
    reason: str | None
    """Why sqlite-vec is not to be had; null if it is."""


class FtsReply(Reply):
    """Keyword search."""

    available: bool
    """Always true: words need nothing but the index."""


class CacheReply(Reply):
    """Vectors in the store, and how many unused ones may stay."""

    entries: int
    """How many vectors the index holds, used or not."""
    max_entries: int
    """How many vectors that no passage uses may stay."""


class DatabaseReply(Reply):
    """The index file."""

    path: str
    """Where it lies, absolute."""
    bytes: int
    """How many bytes it has."""


class HistoryReply(Reply):
    """What the ledger keeps of the history of a workspace; beyond a bound the oldest goes, and nothing of the notes."""

    changes: int
    """How many changes of notes it lists."""
    max_changes: int
    """How many it may list."""
    change_bytes: int
    """How many bytes the lines have that undoing these takes."""
    max_change_bytes: int
    """How many these may have; the oldest changes are listed without theirs then, and cannot be undone."""
    proposals: int
    """How many proposals it has, open and decided."""
    max_proposals: int
    """How many it may have; the oldest that were decided go."""
    reflect_runs: int
    """How many runs of reflect it lists."""
    max_reflect_runs: int
    """How many it may list."""


class LedgerReply(Reply):
    """The file of what is held for a while, and how much of it is this agent's."""

    path: str
    """Where it lies, absolute, or will lie: it is made when there is something to hold."""
    bytes: int
    """How many bytes it has; 0 while there is none. Agents whose indexes share a folder share it."""
    held_answers: int
    """How many answers that were not kept with their turns are held for this agent."""
    held_bytes: int
    """How many bytes these have."""
    max_held_answers: int
    """How many may be held for it; the oldest go first."""
    max_held_bytes: int
    """How many bytes these may have."""
    refused_answers: int
    """How many answers, of any agent, were not held since the start of the daemon: too long, or it took none."""
    history: HistoryReply
    """What it keeps of the history of the agent's workspace."""


class MemoryCountsReply(Reply):
    """What the retained lines of a workspace state."""

    memories: int
    """How many memories; what several lines state counts once."""
    lines: int
    """How many retained lines state them."""
    pages: int
    """How many entities have a page of their own below `bank/entities`."""


class RootReply(Reply):
    """A configured place to look."""

    path: str
    """The folder or file, absolute."""
    state: str
    """What the last scan found there: `ok`, `missing`, `unreadable` or `refused`."""
    files: int
    """How many documents the last scan found there."""
    reason: str | None
    """Why it is not `ok`; null if it is."""


class SkippedReply(Reply):
    """A document that is not indexed."""

    path: str
    """The document, relative to the workspace."""
    reason: str
    """Why it is left out, or found by less than it should be."""


class FlaggedReply(Reply):
    """A document that was not read quite as it is, has another name, or is the copy of a conflict."""

    path: str
    """The document, relative to the workspace."""
    flags: str
    """What is odd about it, joined by commas."""


class MassRemovalReply(Reply):
    """More than half of the notes went at once; `left` stayed."""

    at: datetime
    """When it was noticed, ISO 8601."""
    files: int
    """How many notes went."""
    left: int
    """How many notes stayed."""


class OutsideReply(Reply):
    """Markdown files of the workspace where nobody looks; `more`: there are more than were counted."""

    files: int
    """How many were counted, 1000 at most."""
    more: bool
    """Whether there are, or may be, more than were counted."""
    hint: str
    """What to do to have them indexed."""
