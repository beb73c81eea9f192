"""Replies about memories: one by one (names in snake case), changes, the core, forgetting, retaining, transfer."""

from typing import Literal, TypedDict

from memoryd.replies.knowledge import NearCopiesReply
from memoryd.replies.search import SearchHealth


class MemoryDocumentReply(TypedDict):
    """A memory: `importance` is 0 to 1, `created_at` and `accessed_at` are Unix seconds, days are the owner's."""

    id: str
    scope: str
    kind: str
    network: str
    text: str
    tier: str
    importance: float
    pinned: bool
    tags: list[str]
    entities: list[str]
    access_count: int
    created_at: float
    created_day: str
    accessed_at: float
    accessed_day: str
    abstract_text: str
    overview_text: str
    citation: str
    sources: list[str]
    relevance: float
    superseded_by: list[str]
    score: float | None


class MemoryReply(TypedDict):
    """One memory."""

    memory: MemoryDocumentReply


class MemoryListReply(TypedDict):
    """Some memories, the newest first, and how many there are."""

    memories: list[MemoryDocumentReply]
    total: int


class MemoryStatsReply(TypedDict):
    """How many memories there are within reach."""

    total: int
    by_tier: dict[str, int]
    by_kind: dict[str, int]
    by_scope: dict[str, int]
    pinned: int
    near_copies: list[NearCopiesReply]
    across_scopes: list[NearCopiesReply]


class RelevanceTermsReply(TypedDict):
    """Every term of the relevance of a memory."""

    tier: str
    reason: str
    pinned: bool
    importance: float
    access_count: int
    age_days: float
    half_life_days: float
    beta: float
    recency: float
    frequency: float
    composite: float
    floor: float
    relevance: float
    leaves_core_in_days: float | None


class MemoryWhyReply(MemoryReply):
    """Why a memory stands where it does."""

    terms: RelevanceTermsReply


class DecayedMemoryReply(MemoryReply):
    """A memory and how it will stand."""

    terms: RelevanceTermsReply


class MemoryDecayReply(TypedDict):
    """How memories will stand in some days if nobody touches them; `moving` go to another tier."""

    days: float
    memories: list[DecayedMemoryReply]
    moving: int
    total: int


class MemoryAddReply(MemoryReply):
    """A memory that was stated; `created` is false where today's log stated it already."""

    created: bool
    change: int | None
    searchable: bool
    notes: list[str]


class MemorySearchReply(TypedDict):
    """Memories that answer, best first."""

    memories: list[MemoryDocumentReply]
    verdict: str
    reason: str | None
    health: SearchHealth
    took_ms: float


class MemoryEditReply(MemoryReply):
    """A memory after an edit; `changed` is false where it was so already."""

    changed: bool
    changes: list[int]
    searchable: bool


class MemoryReplaceReply(MemoryReply):
    """A memory in the place of another."""

    replaced: str
    changed: bool
    changes: list[int]
    run: str | None
    searchable: bool
    notes: list[str]


class MemoryDeleteReply(TypedDict):
    """A memory whose lines were taken out, or would be."""

    id: str
    deleted: bool
    lines: list[str]
    changes: list[int]
    run: str | None
    searchable: bool


class ChangedLinesReply(TypedDict):
    """Lines that were put in the place of others; `line` from 1, in the file as it was after the change."""

    line: int
    removed: list[str]
    added: list[str]


class ChangeReply(TypedDict):
    """A change of one file; `agent`, `run` and `undoes` are null where there is none, hashes where there is no file.

    A hash is empty where something that the file said is forgotten.
    """

    id: int
    at: str
    by: str
    agent: str | None
    why: str
    path: str
    run: str | None
    state: str
    undoes: int | None
    undoable: bool
    hashBefore: str | None
    hashAfter: str | None
    standing: bool | None
    lines: list[ChangedLinesReply]


class WrittenSessionReply(TypedDict):
    """A session of questions and answers, when it was written last, and the command that takes it out."""

    session: str
    at: str
    turns: int
    undo: str


class ChangesReply(TypedDict):
    """Changes, the newest first, sessions where these were asked for, and what should be looked at."""

    changes: list[ChangeReply]
    sessions: list[WrittenSessionReply]
    trouble: list[str]


class UndoneReply(TypedDict):
    """A change that was taken back, or would be, and the one that did it."""

    change: ChangeReply
    undoneBy: int | None


class UndoReply(TypedDict):
    """What was taken back, or on a dry run would be."""

    undone: list[UndoneReply]
    dryRun: bool


class CoreReply(TypedDict):
    """The core file as it stands, with `SOUL.md` beside it; `sha256` is empty where there is no such file yet."""

    path: str
    text: str
    sha256: str
    chars: int
    maxChars: int
    soul: str


class CoreEditReply(TypedDict):
    """What came of an edit; `changed` is false where the file read so already."""

    path: str
    sha256: str
    chars: int
    maxChars: int
    changed: bool
    change: int | None
    notes: list[str]


class ForgottenMemoryReply(TypedDict):
    """One memory that goes."""

    id: str
    content: str | None
    scope: str | None
    citations: list[str]


class ForgetReply(TypedDict):
    """What was forgotten, or would be, and what is out of reach."""

    forgotten: bool
    memories: list[ForgottenMemoryReply]
    lines: list[str]
    turns: list[str]
    files: int
    changes: list[int]
    purgedChanges: int
    purgedProposals: int
    purgedAnswers: int
    purgedSteps: int
    unfinished: list[str]
    stays: list[str]


class VerifyReply(TypedDict):
    """What became of a citation."""

    citation: str
    state: Literal["verified", "moved", "edited", "gone"]
    now: str | None
    id: str | None
    content: str | None
    supersededBy: list[str]
    note: str | None


class RetainedReply(TypedDict):
    """A memory and where it stands; `created` is false where today's log stated it already."""

    id: str
    citation: str
    created: bool
    path: str
    line: int


class RetainReply(RetainedReply):
    """What was retained; of several memories the first one, and all of them in `memories`."""

    memories: list[RetainedReply]
    change: int | None
    changes: list[int]
    run: str | None
    replaced: str | None
    searchable: bool
    notes: list[str]


class TransferredMemoryReply(TypedDict):
    """A memory as a file has it; `days` are those on which it was said."""

    id: str
    text: str
    kind: str
    entities: list[str]
    importance: float | None
    confidence: float | None
    pinned: bool
    scope: str | None
    at: str | None
    saidBy: str | None
    tags: list[str]
    supports: list[str]
    contradicts: list[str]
    supersedes: list[str]
    superseded: list[str]
    beside: list[str]
    days: list[str]
    sources: list[str]


class ExportReply(TypedDict):
    """Some memories, and what to give as `after` to have those behind them."""

    memories: list[TransferredMemoryReply]
    next: str | None
    total: int


class TakenMemoryReply(TypedDict):
    """What became of a memory: `added`, `known` or `refused`."""

    outcome: str
    id: str
    reason: str


class ImportReply(TypedDict):
    """What became of each memory, in order, and the changes that were made."""

    memories: list[TakenMemoryReply]
    changes: list[int]
