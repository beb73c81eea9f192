"""Replies about memories: one by one, retained, changed, and transferred; names are in snake case, but for `saidBy`."""

from typing import Literal, TypedDict

from memoryd.replies.knowledge import NearCopiesReply
from memoryd.replies.search import FlagName, SearchHealth


class MemoryDocumentReply(TypedDict):
    """A memory: what one or several lines state."""

    id: str
    """Its id; the first eight signs of it are enough to name it."""
    scope: str
    """Whom it is for: `workspace`, `team:NAME`, `agent:ID`, `agent:ID:CHANNEL` or `global`."""
    kind: str
    """Its kind, such as `fact`, `preference` or `lesson`."""
    network: str
    """The network of its kind: `world`, `experience`, `opinion` or `observation`."""
    text: str
    """What it says."""
    tier: str
    """`core`, `working` or `peripheral`."""
    importance: float
    """How important it is, 0 to 1: as its line says, else as its kind has it."""
    pinned: bool
    """Whether it is pinned: it never decays."""
    tags: list[str]
    """Its tags."""
    entities: list[str]
    """Whom or what it is about, as written."""
    author: str
    """Who said it: `user`, `agent`, `tool` or `import`."""
    access_count: int
    """How often it was used."""
    created_at: float
    """When it was written first, in Unix seconds; the beginning of that day."""
    created_day: str
    """That day, as the owner's calendar has it."""
    accessed_at: float
    """When it was used last, in Unix seconds; as `created_at` if it never was."""
    accessed_day: str
    """The day of `accessed_at`, as the owner's calendar has it."""
    abstract_text: str
    """One sentence of it."""
    overview_text: str
    """Two or three sentences of it, each on a line."""
    citation: str
    """Where its newest line stands, with its mark."""
    sources: list[str]
    """All lines that state it, the newest first."""
    relevance: float
    """How near at hand it is kept, 0.1 to 1; `why` tells what it is made of."""
    superseded_by: list[str]
    """The ids of memories that took its place."""
    flags: list[FlagName]
    """What a reader is told of the note that states it: the same flags as of a search hit."""
    score: float | None
    """How well it answers; null where nothing was asked."""


class MemoryReply(TypedDict):
    """One memory."""

    memory: MemoryDocumentReply
    """The memory."""


class MemoryListReply(TypedDict):
    """Memories, the newest first."""

    memories: list[MemoryDocumentReply]
    """Some of them: `limit` from `offset` on."""
    total: int
    """How many there are."""
    next: str | None
    """What to send as `after` for those that follow; null: these are the last."""


class MemoryStatsReply(TypedDict):
    """How many memories there are within reach."""

    total: int
    """All of them."""
    by_tier: dict[str, int]
    """By tier."""
    by_kind: dict[str, int]
    """By kind."""
    by_scope: dict[str, int]
    """By scope, as memories tell theirs."""
    pinned: int
    """How many are pinned."""
    near_copies: list[NearCopiesReply]
    """Pairs that say nearly the same, at most 50: nothing is folded."""
    across_scopes: list[NearCopiesReply]
    """Pairs that say the same in several scopes, at most 50."""


class RelevanceTermsReply(TypedDict):
    """Every term of the relevance of a memory."""

    tier: str
    """Its tier."""
    reason: str
    """Why it is there, in words."""
    pinned: bool
    """Whether it is pinned."""
    importance: float
    """0 to 1."""
    access_count: int
    """How often it was used: told as what answers, or taken up by an agent's answer; once in a session."""
    age_days: float
    """Days since it was used, else since it was written."""
    half_life_days: float
    """After how many days half of the recency is left, where `beta` is 1."""
    beta: float
    """How the tier bends the curve: less than 1 is slower later on, more is faster."""
    recency: float
    """`exp(-ln 2 / half_life_days * age_days ** beta)`, 0 to 1."""
    frequency: float
    """`1 - exp(-access_count / 5)`, 0 to 1."""
    composite: float
    """`0.4 * recency + 0.3 * frequency + 0.3 * importance`, 0 to 1."""
    floor: float
    """The least that the tier grants."""
    relevance: float
    """The composite, but at least `floor`."""
    leaves_core_in_days: float | None
    """In how many days it leaves the core if nothing uses it; null: it is not core, or stays it."""


class MemoryAheadReply(TypedDict):
    """What becomes of a memory if nobody touches it."""

    relevance: list[float]
    """Its relevance today, and on every fifth day of a year to come."""
    leaves_in_days: int | None
    """In how many days it leaves its tier; null: not within that year."""
    goes_to: str | None
    """The tier that it goes to then; null likewise."""


class MemoryWhyReply(MemoryReply):
    """Why a memory stands where it does."""

    terms: RelevanceTermsReply
    """What its relevance is made of."""
    ahead: MemoryAheadReply
    """What becomes of it."""


class DecayedMemoryReply(MemoryReply):
    """A memory and how it will stand."""

    terms: RelevanceTermsReply
    """What its relevance will be made of."""


class MemoryDecayReply(TypedDict):
    """How memories will stand if nobody touches them."""

    days: float
    """In how many days."""
    memories: list[DecayedMemoryReply]
    """Those that go to another tier first, then those that lose most; what stays as it is is left out."""
    changing: int
    """How many do not stay as they are, those that are not in `memories` included."""
    moving: int
    """How many of these go to another tier."""
    total: int
    """How many there are."""


class MemoryAddReply(MemoryReply):
    """A memory that was stated."""

    created: bool
    """Whether it was written; false: today's log stated it already."""
    change: int | None
    """The change by which it can be undone; null: nothing was written, or it cannot be."""
    searchable: bool
    """Whether the index has followed already."""
    notes: list[str]
    """What is to be known of it, such as that a secret was masked."""


class MemorySearchReply(TypedDict):
    """Memories that answer, best first."""

    memories: list[MemoryDocumentReply]
    """The memories, each with its `score`."""
    verdict: str
    """`answerable`, `weak` or `none`."""
    reason: str | None
    """Why there is no better answer; null if there is one."""
    health: SearchHealth
    """Which parts took part."""
    took_ms: float
    """How long it took, in milliseconds."""


class MemoryEditReply(MemoryReply):
    """A memory after an edit."""

    changed: bool
    """Whether a line was written; false: it was so already."""
    changes: list[int]
    """The changes by which it can be undone, one for each note."""
    searchable: bool
    """Whether the index has followed already."""


class MemoryReplaceReply(MemoryReply):
    """A memory in the place of another."""

    replaced: str
    """The id of the memory whose place it took: the one that was named, or the newest version of it."""
    changed: bool
    """Whether anything was written; false: it says so already."""
    changes: list[int]
    """The changes by which it can be undone, one for each note."""
    run: str | None
    """What takes back several changes at once; null where there is one."""
    searchable: bool
    """Whether the index has followed already."""
    notes: list[str]
    """What is to be known of it, such as that a newer version was replaced."""


class MemoryDeleteReply(TypedDict):
    """A memory whose lines were taken out."""

    id: str
    """Its id."""
    deleted: bool
    """Whether it was; false with `dryRun`."""
    lines: list[str]
    """The lines that stated it, as citations."""
    changes: list[int]
    """The changes by which it can be undone, one for each note."""
    run: str | None
    """What takes back several changes at once; null where there is one."""
    searchable: bool
    """Whether the index has followed already."""
    notes: list[str]
    """What a team that they are shared with loses, or would."""


class RetainedReply(TypedDict):
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
    changes: list[int]
    """All changes; with `replaces` there is one for each note."""
    run: str | None
    """What takes back several changes at once; null where there is one."""
    replaced: str | None
    """The id of the memory whose place it took; null: none was to be replaced."""
    searchable: bool
    """Whether the index has followed already."""
    notes: list[str]
    """What is to be known of it, such as that a secret was masked."""


class TransferredMemoryReply(TypedDict):
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
    saidBy: str | None
    """Who said it: `user`, `agent`, `tool` or `import`; null: a person wrote it."""
    tags: list[str]
    """Its tags."""
    supports: list[str]
    """The ids of opinions that it speaks for, eight signs of each."""
    contradicts: list[str]
    """Those that it speaks against."""
    supersedes: list[str]
    """Those that it takes the place of."""
    superseded: list[str]
    """Those that took its place, as its line says."""
    beside: list[str]
    """Memories that hold beside it, though they look alike."""
    days: list[str]
    """The days on which it was said, the earliest first: `2026-11-18`."""
    sources: list[str]
    """The lines that state it, the newest first; an import does not read them."""


class ExportReply(TypedDict):
    """Some memories, by the day on which they were said first."""

    memories: list[TransferredMemoryReply]
    """The memories."""
    next: str | None
    """What to give as `after` to have those behind them; null: there are none."""
    total: int
    """How many there are in all."""


class TakenMemoryReply(TypedDict):
    """What became of a memory."""

    outcome: Literal["added", "known", "refused"]
    """`added`: it was written, or would be; `known`: it stood there; `refused`: it was not taken."""
    id: str
    """Its id, of a note its path; empty where it could not be read."""
    reason: str
    """Why it was not taken, or what of it was not; may be empty."""


class ImportReply(TypedDict):
    """What became of each memory and of each note, in order."""

    memories: list[TakenMemoryReply]
    """One for each that was sent."""
    notes: list[TakenMemoryReply]
    """One for each that was sent; the path stands for the id."""
    changes: list[int]
    """The changes that were made; all of them are undone by the run."""
