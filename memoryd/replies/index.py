"""One agent's index: what it reads, what it holds, what it leaves out."""

from typing import TypedDict


class WatcherReply(TypedDict):
    """`mode` is events, scan or off."""

    mode: str
    ok: bool
    reason: str | None


class VectorReply(TypedDict):
    """What answers vector questions."""

    enabled: bool
    available: bool
    engine: str
    dimensions: int | None
    reason: str | None


class FtsReply(TypedDict):
    """Keyword search."""

    available: bool


class CacheReply(TypedDict):
    """Vectors in the store, and how many unused ones may stay."""

    entries: int
    maxEntries: int


class DatabaseReply(TypedDict):
    """The index file."""

    path: str
    bytes: int


class HistoryReply(TypedDict):
    """What the ledger keeps of the history of a workspace; beyond a bound the oldest goes."""

    changes: int
    maxChanges: int
    changeBytes: int
    maxChangeBytes: int
    proposals: int
    maxProposals: int
    reflectRuns: int
    maxReflectRuns: int


class LedgerReply(TypedDict):
    """The file of what is held for a while, and how much of it is this agent's."""

    path: str
    bytes: int
    heldAnswers: int
    heldBytes: int
    maxHeldAnswers: int
    maxHeldBytes: int
    refusedAnswers: int
    history: HistoryReply


class MemoryCountsReply(TypedDict):
    """What the retained lines of a workspace state; what several of them state counts once."""

    memories: int
    lines: int
    pages: int


class RootReply(TypedDict):
    """A configured place to look."""

    path: str
    state: str
    files: int
    reason: str | None


class SkippedReply(TypedDict):
    """A document that is not indexed."""

    path: str
    reason: str


class OutsideReply(TypedDict):
    """Markdown files of the workspace where nobody looks; `more`: there are more than `files`."""

    files: int
    more: bool
    hint: str


class FlaggedReply(TypedDict):
    """A document that was not read quite as it is, has another name, or is the copy of a conflict."""

    path: str
    flags: str


class MassRemovalReply(TypedDict):
    """More than half of the notes went at once; `left` stayed."""

    at: str
    files: int
    left: int
