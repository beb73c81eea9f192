"""Replies about knowledge: entities, opinions, reflect and its proposals."""

from typing import TypedDict


class OpinionReply(TypedDict):
    """An opinion, and how firmly it is held: `confidence` and `base`, that of its own lines, are 0 to 1."""

    id: str
    kind: str
    statement: str
    entities: list[str]
    confidence: float
    base: float
    lastUpdated: str | None
    supporting: int
    opposing: int
    source: str


class OpinionsReply(TypedDict):
    """The firmest of `total` opinions."""

    opinions: list[OpinionReply]
    total: int


class OpinionStepReply(TypedDict):
    """What one piece of evidence made of a confidence."""

    evidence: str
    label: str
    labelledBy: str
    day: str
    citations: list[str]
    content: str
    before: float
    after: float
    run: str


class OpinionWhyReply(OpinionReply):
    """An opinion, and each step that led to its confidence."""

    steps: list[OpinionStepReply]
    setAside: list[OpinionStepReply]


class OpinionDifferenceReply(TypedDict):
    """An opinion with a step that is not as it is computed anew."""

    id: str
    statement: str
    evidence: str
    before: float
    after: float
    computedBefore: float
    computedAfter: float


class OpinionReplayReply(TypedDict):
    """Whether every confidence comes out again, to the bit."""

    equal: bool
    opinions: int
    steps: int
    differing: list[OpinionDifferenceReply]


class EntityReply(TypedDict):
    """An entity; `page` is the path of its page."""

    name: str
    slug: str
    aliases: list[str]
    page: str | None
    memoryCount: int
    opinionCount: int
    firstSeen: str | None
    lastSeen: str | None


class EntitiesReply(TypedDict):
    """Of `total` entities those with most memories."""

    entities: list[EntityReply]
    total: int


class EntityMemoryReply(TypedDict):
    """A memory about an entity."""

    id: str
    kind: str
    content: str
    day: str
    source: str


class EntityShowReply(EntityReply):
    """An entity with what is known of it."""

    memories: list[EntityMemoryReply]
    opinions: list[OpinionReply]


class EntityChangeReply(TypedDict):
    """What was, or would be, written into the page of an entity; `diff` is empty where nothing was to be done."""

    alias: str
    entity: str
    path: str
    diff: str
    written: bool
    change: int | None
    note: str


class PageRefusalReply(TypedDict):
    """A page that was left as it is."""

    path: str
    why: str


class ProposalSummaryReply(TypedDict):
    """A proposal, without its diff."""

    id: str
    kind: str
    path: str
    why: str


class NearCopiesReply(TypedDict):
    """Two memories that say nearly the same."""

    newer: str
    older: str


class ReflectReply(TypedDict):
    """What a run did, or would do."""

    run: str
    since: str
    dryRun: bool
    memories: int
    steps: int
    pages: list[str]
    unchanged: int
    refusals: list[PageRefusalReply]
    proposals: list[ProposalSummaryReply]
    copies: list[NearCopiesReply]
    acrossScopes: list[NearCopiesReply]
    disagreements: int
    coreLeftOut: int
    tookMs: float


class ProposalReply(ProposalSummaryReply):
    """A proposal with its diff."""

    diff: str
    memories: list[str]
    state: str
    madeAt: str
    decidedAt: str | None


class ProposalsReply(TypedDict):
    """Proposals, the oldest first."""

    proposals: list[ProposalReply]
    total: int


class DecidedProposalReply(ProposalReply):
    """A proposal after it was decided; `change` is the number for `undo`."""

    change: int
    note: str


class DisagreeingMemoryReply(TypedDict):
    """One of two memories that disagree."""

    id: str
    text: str
    saidBy: str | None
    pinned: bool
    recorded: str
    source: str


class DisagreementReply(TypedDict):
    """Two memories that both stand, and may contradict each other."""

    id: str
    doubt: str
    leads: str
    newer: DisagreeingMemoryReply
    older: DisagreeingMemoryReply


class DisagreementsReply(TypedDict):
    """Disagreements, the newest first."""

    disagreements: list[DisagreementReply]
    total: int


class SettledReply(DisagreementReply):
    """A disagreement that was settled; `changes` are the numbers for `undo`."""

    keep: str
    changes: list[int]
