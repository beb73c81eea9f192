"""Replies about knowledge: entities, opinions, reflect and its proposals."""

from typing import Literal, TypedDict

from memoryd.replies.search import FlagName


class OpinionReply(TypedDict):
    """An opinion, and how firmly it is held."""

    id: str
    """The id of the memory that states it; lines name it by its first eight signs."""
    kind: str
    """`opinion` or `preference`."""
    statement: str
    """What is thought."""
    entities: list[str]
    """Whom or what it is about, as written."""
    confidence: float
    """How firmly it is held, 0 to 1."""
    base: float
    """The confidence that its own lines give, from which evidence moved it; 0.5 where they give none."""
    lastUpdated: str | None
    """The day of the evidence that moved it last, else of the line that states it; null where no line has a date."""
    supporting: int
    """How many pieces of evidence speak for it."""
    opposing: int
    """How many speak against it."""
    source: str
    """Its newest line, such as `memory/2025-11-27.md#L12`."""


class OpinionsReply(TypedDict):
    """The opinions that reach the caller, the firmest first."""

    opinions: list[OpinionReply]
    """The first of them."""
    total: int
    """How many there are."""


class OpinionStepReply(TypedDict):
    """What one piece of evidence made of a confidence."""

    evidence: str
    """The id of the memory; that of the opinion itself where it was said again."""
    label: Literal["reinforce", "weaken", "contradict", "neutral"]
    """What it means for the opinion."""
    labelledBy: str
    """Who says so: `supports` or `contradicts` in its line, `restated`, or `model:` and the identity of the model."""
    day: str
    """The day on which it was said."""
    citations: list[str]
    """Where its lines stand; empty where they are gone."""
    content: str
    """What it says; empty where its line is gone."""
    before: float
    """The confidence before it, 0 to 1."""
    after: float
    """The confidence after it; the same where its day had counted, or the cap of the run was reached."""
    run: str
    """The run of reflect that counted it."""


class OpinionWhyReply(OpinionReply):
    """An opinion, and each step that led to its confidence."""

    steps: list[OpinionStepReply]
    """In the order in which they were counted."""
    setAside: list[OpinionStepReply]
    """Steps from before its lines gave another confidence: they count no more."""


class OpinionDifferenceReply(TypedDict):
    """An opinion with a step that is not as it is computed anew: the first such step."""

    id: str
    """The id of the opinion."""
    statement: str
    """What is thought."""
    evidence: str
    """The id of the evidence that the step counted."""
    before: float
    """The confidence before it, as recorded."""
    after: float
    """The confidence after it, as recorded."""
    computedBefore: float
    """The confidence before it, as computed anew."""
    computedAfter: float
    """The confidence after it, as computed anew."""


class OpinionReplayReply(TypedDict):
    """Whether every confidence comes out again, to the bit."""

    equal: bool
    """Whether all do."""
    opinions: int
    """How many opinions were computed anew."""
    steps: int
    """How many steps they have."""
    differing: list[OpinionDifferenceReply]
    """Those that do not."""


class EntityReply(TypedDict):
    """An entity, as far as the caller may know it."""

    name: str
    """Its name: the heading of its page, else as most lines write it."""
    slug: str
    """By which names compare; its page is `bank/entities/<slug>.md`."""
    aliases: list[str]
    """Other names of it, that lines write or its page gives."""
    page: str | None
    """The path of its page; null if there is none."""
    memoryCount: int
    """How many memories are about it."""
    opinionCount: int
    """How many of them are opinions."""
    firstSeen: str | None
    """The day on which a note of a day first named it; null if none does."""
    lastSeen: str | None
    """The day on which one named it last."""


class EntitiesReply(TypedDict):
    """The entities that reach the caller, those with most memories first."""

    entities: list[EntityReply]
    """The first of them."""
    total: int
    """How many there are of those that were asked for."""
    next: str | None
    """The slug to ask behind for more; null: these are the last."""


class EntityMemoryReply(TypedDict):
    """A memory about an entity."""

    id: str
    """Its id; lines name it by the first eight signs."""
    kind: Literal[
        "world",
        "experience",
        "opinion",
        "observation",
        "entity",
        "preference",
        "fact",
        "procedure",
        "project_state",
        "relationship",
        "lesson",
        "failure",
        "note",
        "summary",
        "session",
    ]
    """What it says it is."""
    content: str
    """What it says."""
    day: str
    """The day of its newest line."""
    source: str
    """Its newest line, such as `memory/2025-11-27.md#L12`."""
    flags: list[FlagName]
    """What a reader of it is told of the note with that line, as of a hit of a search."""


class EntityShowReply(EntityReply):
    """An entity with what is known of it."""

    memories: list[EntityMemoryReply]
    """The newest first, as many as were asked for; opinions too. Those that no note of a day states come last."""
    opinions: list[OpinionReply]
    """The firmest first, as many as were asked for."""


class EntityLinkReply(TypedDict):
    """Two entities that memories name together."""

    one: str
    """The slug of the one."""
    other: str
    """The slug of the other."""
    memories: int
    """How many memories name both."""


class EntityLinksReply(TypedDict):
    """An entity with those that it is named with, and the links between all of them."""

    entities: list[EntityReply]
    """The entity itself, then those that most memories name with it."""
    links: list[EntityLinkReply]
    """Of each pair among them that memories name together, most memories first."""
    total: int
    """How many entities it is named with."""
    next: str | None
    """The slug behind which there are more; null: these are the last."""


class EntityChangeReply(TypedDict):
    """What was, or would be, written into the page of an entity."""

    alias: str
    """The name that is, or was, an alias."""
    entity: str
    """The entity that it is another name of."""
    path: str
    """The page."""
    diff: str
    """The change of the page as a unified diff; empty where nothing was to be done."""
    written: bool
    """Whether it was written."""
    change: int | None
    """The number by which it can be undone; null if there is none."""
    note: str
    """Why it cannot be undone; may be empty."""


class PageRefusalReply(TypedDict):
    """A page that was left as it is."""

    path: str
    """Its path in the workspace."""
    why: str
    """What is in the way, and what to do."""


class ProposalSummaryReply(TypedDict):
    """A proposal, without its diff."""

    id: str
    """Its id; the first four signs or more name it, too."""
    kind: Literal["core-in", "core-out", "retain", "observation", "contradiction", "markers"]
    """What it is for."""
    path: str
    """The one file that it changes."""
    why: str
    """Why, in one sentence."""


class NearCopiesReply(TypedDict):
    """Two memories that say nearly the same; nothing is folded."""

    newer: str
    """The id of the one that was recorded last."""
    older: str
    """The id of the other."""


class ReflectReply(TypedDict):
    """What a run did, or would do."""

    run: str
    """The id of the run, which its changes have."""
    since: str
    """The first day that it looked at, as `2026-01-31`."""
    dryRun: bool
    """Whether nothing was written."""
    memories: int
    """How many memories the workspace has."""
    steps: int
    """How many pieces of evidence were counted for or against opinions."""
    pages: list[str]
    """The pages that were written, or would be."""
    unchanged: int
    """How many pages said it all already."""
    refusals: list[PageRefusalReply]
    """The pages that were left as they are, and why."""
    proposals: list[ProposalSummaryReply]
    """What was put into the queue, or would be."""
    copies: list[NearCopiesReply]
    """Memories that say nearly the same, 50 pairs at most."""
    acrossScopes: list[NearCopiesReply]
    """Memories that say the same in several scopes, 50 pairs at most."""
    disagreements: int
    """How many pairs of memories may contradict each other: `/v1/disagreements` lists them."""
    coreLeftOut: int
    """How many durable facts were not proposed, since the core file has no room for them."""
    tookMs: float
    """How long it took, in milliseconds."""


class ProposalReply(ProposalSummaryReply):
    """A proposal with its diff."""

    diff: str
    """What it changes, as a unified diff."""
    memories: list[str]
    """The ids of the memories that it rests on."""
    state: Literal["open", "accepted", "rejected", "outdated"]
    """`open`, or what became of it."""
    madeAt: str
    """When it was made, ISO 8601, by the owner's clock."""
    decidedAt: str | None
    """When it was decided, ISO 8601, by the owner's clock; null while it is open."""


class ProposalsReply(TypedDict):
    """Proposals, the oldest first."""

    proposals: list[ProposalReply]
    """The first of those in the state that was asked for."""
    total: int
    """How many there are in that state."""
    next: str | None
    """The id to ask behind for more; null: these are the last."""


class DecidedProposalReply(ProposalReply):
    """A proposal after it was decided."""

    change: int
    """The number by which `memoryctl undo` takes it back; 0: there is none."""
    note: str
    """Why it cannot be undone; empty if it can, or nothing was written."""


class DisagreeingMemoryReply(TypedDict):
    """One of two memories that disagree."""

    id: str
    """Its id."""
    text: str
    """What it states."""
    name: str
    """What it is called where one is kept: `newer` or `older`; of two people of a team on one day, who said it."""
    saidBy: Literal["user", "agent", "tool", "import", "team"] | None
    """Who said it; `team`: somebody else of the team; null: a person wrote it."""
    pinned: bool
    """Whether it is pinned."""
    recorded: str
    """The day of its newest line, as `2026-01-31`."""
    source: str
    """Where that line stands, as a citation."""


class DisagreementReply(TypedDict):
    """Two memories that both stand, and may contradict each other."""

    id: str
    """Its name: the first eight signs of both ids; that of one memory names it, too, where it is in no other pair."""
    doubt: Literal["authority", "people", "copy", "unsure", "stated"]
    """Why nobody but a person can tell: by who said it, since `older` stands in the copy of a conflict alone, since it
    is not sure that both speak of one thing or who said it, or since a line says that it contradicts the other."""
    leads: str
    """The id of the one that recall tells first."""
    newer: DisagreeingMemoryReply
    """What was said last."""
    older: DisagreeingMemoryReply
    """What was said before it."""


class DisagreementsReply(TypedDict):
    """Disagreements, the newest first."""

    disagreements: list[DisagreementReply]
    """The first of them."""
    total: int
    """How many there are."""
    next: str | None
    """The name of the pair to ask behind for more; null: these are the last."""


class SettledReply(DisagreementReply):
    """A disagreement that was settled."""

    keep: str
    """What was kept: the `name` of one, or `both`."""
    changes: list[int]
    """The numbers by which `memoryctl undo` takes it back."""
