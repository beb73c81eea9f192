"""Replies about memories: single, retained, changed and transferred ones."""

from typing import Literal, TypedDict

from memoryd.replies.knowledge import NearCopiesReply
from memoryd.replies.search import FlagName, SearchHealth


class MemoryDocumentReply(TypedDict):
    """A memory, which one or several lines state."""

    id: str
    """Its id; the first eight characters are enough to name it."""
    scope: str
    """Its scope: `workspace`, `team:NAME`, `agent:ID`, `agent:ID:CHANNEL` or `global`."""
    kind: str
    """Its kind, such as `fact`, `preference` or `lesson`."""
    network: str
    """The network of its kind: `world`, `experience`, `opinion` or `observation`."""
    text: str
    """Its text."""
    tier: str
    """`core`, `working` or `peripheral`."""
    importance: float
    """Its importance, 0 to 1: from its line, else the default of its kind."""
    pinned: bool
    """Whether it is pinned, so that it never decays."""
    tags: list[str]
    """Its tags."""
    entities: list[str]
    """The entities that it is about, as written."""
    author: str
    """Who said it: `user`, `agent`, `tool` or `import`."""
    access_count: int
    """How often it was used."""
    created_at: float
    """When it was first written, in Unix seconds: the beginning of that day."""
    created_day: str
    """The day of `created_at`, in the owner's time zone."""
    accessed_at: float
    """When it was last used, in Unix seconds; equal to `created_at` if it never was."""
    accessed_day: str
    """The day of `accessed_at`, in the owner's time zone."""
    abstract_text: str
    """A summary of one sentence."""
    overview_text: str
    """A summary of two or three sentences, each on a line."""
    citation: str
    """The citation of its newest line, with its mark."""
    sources: list[str]
    """All lines that state it, the newest first."""
    relevance: float
    """Its relevance, 0.1 to 1; `why` has its terms."""
    superseded_by: list[str]
    """The ids of memories that replaced it."""
    flags: list[FlagName]
    """Flags of the note that states it, as for a search hit."""
    score: float | None
    """How well it answers the question; null without a question."""


class MemoryReply(TypedDict):
    """One memory."""

    memory: MemoryDocumentReply
    """The id of the memory."""


class MemoryListReply(TypedDict):
    """Memories, the newest first."""

    memories: list[MemoryDocumentReply]
    """The memories of this page: `limit` of them, from `offset` on."""
    total: int
    """How many there are."""
    next: str | None
    """The value of `after` for the next page; null: this is the last page."""


class MemoryStatsReply(TypedDict):
    """Counts of the memories that the caller may see."""

    total: int
    """The number of memories."""
    by_tier: dict[str, int]
    """By tier."""
    by_kind: dict[str, int]
    """By kind."""
    by_scope: dict[str, int]
    """By scope, named as in `scope` of a memory."""
    pinned: int
    """How many are pinned."""
    near_copies: list[NearCopiesReply]
    """Pairs that say nearly the same, at most 50; they are not merged."""
    across_scopes: list[NearCopiesReply]
    """Pairs that say the same in several scopes, at most 50."""


class RelevanceTermsReply(TypedDict):
    """Every term of the relevance of a memory."""

    tier: str
    """Its tier."""
    reason: str
    """Why it is in this tier, in words."""
    pinned: bool
    """Whether it is pinned."""
    importance: float
    """The importance, 0 to 1."""
    access_count: int
    """How often it was used: returned as an answer, or taken up in an agent's answer; counted once in a session."""
    age_days: float
    """Days since it was last used, else since it was written."""
    half_life_days: float
    """After how many days the recency is one half, if `beta` is 1."""
    beta: float
    """The exponent of the tier: below 1 the decay slows down with age, above 1 it speeds up."""
    recency: float
    """`exp(-ln 2 / half_life_days * age_days ** beta)`, 0 to 1."""
    frequency: float
    """`1 - exp(-access_count / 5)`, 0 to 1."""
    composite: float
    """`0.4 * recency + 0.3 * frequency + 0.3 * importance`, 0 to 1."""
    floor: float
    """The minimum relevance of the tier."""
    relevance: float
    """The composite, but at least `floor`."""
    leaves_core_in_days: float | None
    """In how many days it leaves the core if it is not used; null: it is not core, or stays core."""


class MemoryAheadReply(TypedDict):
    """The future of a memory that is not used."""

    relevance: list[float]
    """Its relevance today and on every fifth day of the next year."""
    leaves_in_days: int | None
    """In how many days it leaves its tier; null: not within a year."""
    goes_to: str | None
    """The tier to which it then moves; null: it stays in its tier."""


class MemoryWhyReply(MemoryReply):
    """The relevance of a memory, explained."""

    terms: RelevanceTermsReply
    """The terms of its relevance."""
    ahead: MemoryAheadReply
    """Its future without use."""


class DecayedMemoryReply(MemoryReply):
    """A memory with its future relevance."""

    terms: RelevanceTermsReply
    """The terms of its future relevance."""


class MemoryDecayReply(TypedDict):
    """The future of all memories without use."""

    days: float
    """The number of days from now."""
    memories: list[DecayedMemoryReply]
    """First the memories that change tier, then those that lose most relevance; unchanged ones are left out."""
    changing: int
    """How many memories change, including those that are not in `memories`."""
    moving: int
    """How many of these change tier."""
    total: int
    """How many there are."""


class MemoryAddReply(MemoryReply):
    """A memory that was stated."""

    created: bool
    """Whether it was written; false: it was in today's log already."""
    change: int | None
    """The number of the change, by which it can be undone; null: nothing was written, or it cannot be."""
    searchable: bool
    """Whether the index is up to date with the change."""
    notes: list[str]
    """Remarks about it, such as that a secret was masked."""


class MemorySearchReply(TypedDict):
    """Memories that answer, best first."""

    memories: list[MemoryDocumentReply]
    """The memories, each with its `score`."""
    verdict: str
    """`answerable`, `weak` or `none`."""
    reason: str | None
    """Why there is no better answer; null if the verdict is `answerable`."""
    health: SearchHealth
    """Which parts contributed to the answer."""
    took_ms: float
    """How long it took, in milliseconds."""


class MemoryEditReply(MemoryReply):
    """A memory after an edit."""

    changed: bool
    """Whether a line was written; false: nothing had to change."""
    changes: list[int]
    """The numbers of the changes, by which it can be undone, one for each note."""
    searchable: bool
    """Whether the index is up to date with the change."""


class MemoryReplaceReply(MemoryReply):
    """A memory that replaced another one."""

    replaced: str
    """The id of the replaced memory: the named one, or its newest version."""
    changed: bool
    """Whether anything was written; false: the text was the same already."""
    changes: list[int]
    """The numbers of the changes, by which it can be undone, one for each note."""
    run: str | None
    """The run that undoes several changes together; null for a single change."""
    searchable: bool
    """Whether the index is up to date with the change."""
    notes: list[str]
    """Remarks about it, such as that a newer version was replaced."""


class MemoryDeleteReply(TypedDict):
    """A memory whose lines were deleted, or would be."""

    id: str
    """Its id."""
    deleted: bool
    """Whether it was deleted; false with `dryRun`."""
    lines: list[str]
    """The lines that stated it, as citations."""
    changes: list[int]
    """The numbers of the changes, by which it can be undone, one for each note."""
    run: str | None
    """The run that undoes several changes together; null for a single change."""
    searchable: bool
    """Whether the index is up to date with the change."""
    notes: list[str]
    """What a team with which the lines are shared loses, or would lose."""


class RetainedReply(TypedDict):
    """A memory and its place."""

    id: str
    """The id of the memory."""
    citation: str
    """Its citation, with a mark by which it can be verified later: `memory/2026-11-18.md#L12@1a2b3c4d`."""
    created: bool
    """Whether it was written; false: it was in today's log already."""
    path: str
    """The log that states it."""
    line: int
    """Its first line, from 1."""


class RetainReply(RetainedReply):
    """The result of retaining: the fields of the first memory, and all memories in `memories`."""

    memories: list[RetainedReply]
    """All memories, in order."""
    change: int | None
    """The number of the change, by which it can be undone; null: nothing was written, or it cannot be."""
    changes: list[int]
    """The numbers of all changes; with `replaces` there is one for each note."""
    run: str | None
    """The run that undoes several changes together; null for a single change."""
    replaced: str | None
    """The id of the replaced memory; null without `replaces`."""
    searchable: bool
    """Whether the index is up to date with the change."""
    notes: list[str]
    """Remarks about it, such as that a secret was masked."""


class TransferredMemoryReply(TypedDict):
    """An exported memory: the content of its line, without usage."""

    id: str
    """Its id, which is derived from its content."""
    text: str
    """Its text."""
    kind: str
    """Its kind."""
    entities: list[str]
    """The entities that it is about, as written."""
    importance: float | None
    """The importance in its line; null: the default of its kind."""
    confidence: float | None
    """The confidence in its line; null: none."""
    pinned: bool
    """Whether it is pinned."""
    scope: str | None
    """Its scope; null: every agent of its workspace."""
    at: str | None
    """When it was true, as given in its line; null: only the text may say so."""
    saidBy: str | None
    """Who said it: `user`, `agent`, `tool` or `import`; null: a person wrote the line."""
    tags: list[str]
    """Its tags."""
    supports: list[str]
    """The ids of opinions that it supports, eight characters of each."""
    contradicts: list[str]
    """The ids of opinions that it contradicts."""
    supersedes: list[str]
    """The ids of memories that it replaces."""
    superseded: list[str]
    """The ids of memories that replaced it, as given in its line."""
    beside: list[str]
    """The ids of similar memories that hold as well."""
    days: list[str]
    """The days on which it was said, the earliest first: `2026-11-18`."""
    sources: list[str]
    """The lines that state it, the newest first; an import does not read them."""


class ExportReply(TypedDict):
    """Memories, in the order of the day on which they were first said."""

    memories: list[TransferredMemoryReply]
    """The memories."""
    next: str | None
    """The value of `after` for the next page; null: this is the last page."""
    total: int
    """How many memories there are."""


class TakenMemoryReply(TypedDict):
    """The outcome for a memory or a note."""

    outcome: Literal["added", "known", "refused"]
    """`added`: it was written, or would be; `known`: it existed already; `refused`: it was not imported."""
    id: str
    """Its id, for a note its path; empty if it could not be read."""
    reason: str
    """Why it, or a part of it, was not imported; may be empty."""


class ImportReply(TypedDict):
    """The outcome of each memory and each note, in order."""

    memories: list[TakenMemoryReply]
    """One for each memory of the request."""
    notes: list[TakenMemoryReply]
    """One for each note of the request, with the path as `id`."""
    changes: list[int]
    """The numbers of the changes; undoing the run undoes all of them."""
