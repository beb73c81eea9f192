"""Replies about knowledge: entities, opinions, reflect and its proposals."""

from typing import Literal, TypedDict

from memoryd.replies.search import FlagName


class OpinionReply(TypedDict):
    """An opinion with its confidence."""

    id: str
    """The id of the memory that states it; lines name it by the first eight characters."""
    kind: str
    """`opinion` or `preference`."""
    statement: str
    """The statement of the opinion."""
    entities: list[str]
    """The entities that it is about, as written."""
    confidence: float
    """The confidence, 0 to 1."""
    base: float
    """The initial confidence from its own lines, before evidence; 0.5 if they give none."""
    lastUpdated: str | None
    """The day of the last evidence that changed it, else of the line that states it; null if no line has a date."""
    supporting: int
    """How many pieces of evidence support it."""
    opposing: int
    """How many pieces of evidence oppose it."""
    source: str
    """Its newest line, such as `memory/2025-11-27.md#L12`."""


class OpinionsReply(TypedDict):
    """The opinions that the caller may see, the most confident first."""

    opinions: list[OpinionReply]
    """The first of them."""
    total: int
    """How many there are."""


class OpinionStepReply(TypedDict):
    """The effect of one piece of evidence on a confidence."""

    evidence: str
    """The id of the memory that is the evidence; the id of the opinion itself if it was restated."""
    label: Literal["reinforce", "weaken", "contradict", "neutral"]
    """The effect on the opinion."""
    labelledBy: str
    """The source of the label: `supports` or `contradicts` in its line, `restated`, or `model:` and the model."""
    day: str
    """The day on which the evidence was said."""
    citations: list[str]
    """The citations of its lines; empty if they were deleted."""
    content: str
    """Its text; empty if its line was deleted."""
    before: float
    """The confidence before the step, 0 to 1."""
    after: float
    """The confidence after the step; unchanged if its day had counted already, or the cap of the run was reached."""
    run: str
    """The run of reflect that counted it."""


class OpinionWhyReply(OpinionReply):
    """An opinion, and each step that led to its confidence."""

    steps: list[OpinionStepReply]
    """The steps in the order in which they were counted."""
    setAside: list[OpinionStepReply]
    """Steps that no longer count, because its lines have given another confidence since."""


class OpinionDifferenceReply(TypedDict):
    """An opinion whose recomputed confidence differs: the first differing step."""

    id: str
    """The id of the opinion."""
    statement: str
    """The statement of the opinion."""
    evidence: str
    """The id of the evidence that the step counted."""
    before: float
    """The recorded confidence before the step."""
    after: float
    """The recorded confidence after the step."""
    computedBefore: float
    """The recomputed confidence before the step."""
    computedAfter: float
    """The recomputed confidence after the step."""


class OpinionReplayReply(TypedDict):
    """Whether every recomputed confidence equals the recorded one exactly."""

    equal: bool
    """Whether all are equal."""
    opinions: int
    """How many opinions were recomputed."""
    steps: int
    """How many steps they have."""
    differing: list[OpinionDifferenceReply]
    """The opinions that differ."""


class EntityReply(TypedDict):
    """An entity, as far as the caller may see it."""

    name: str
    """Its name: the heading of its page, else the most frequent form in lines."""
    slug: str
    """The normalised name, by which names are compared; its page is `bank/entities/<slug>.md`."""
    aliases: list[str]
    """Its other names, from lines and from its page."""
    page: str | None
    """The path of its page; null if there is none."""
    memoryCount: int
    """How many memories are about it."""
    opinionCount: int
    """How many of them are opinions."""
    firstSeen: str | None
    """The day of the first daily note that names it; null if none does."""
    lastSeen: str | None
    """The day of the last daily note that names it; null if none does."""


class EntitiesReply(TypedDict):
    """The entities that the caller may see, those with most memories first."""

    entities: list[EntityReply]
    """The first of them."""
    total: int
    """How many entities match the request."""
    next: str | None
    """The value of `after` for the next page; null: this is the last page."""


class EntityMemoryReply(TypedDict):
    """A memory about an entity."""

    id: str
    """Its id; lines name it by the first eight characters."""
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
    """Its kind."""
    content: str
    """Its text."""
    day: str
    """The day of its newest line."""
    source: str
    """Its newest line, such as `memory/2025-11-27.md#L12`."""
    flags: list[FlagName]
    """Flags of the note with that line, as for a hit of a search."""


class EntityShowReply(EntityReply):
    """An entity with its memories and opinions."""

    memories: list[EntityMemoryReply]
    """The newest first, up to the requested number, opinions included. Memories that are in no daily note come last."""
    opinions: list[OpinionReply]
    """The most confident first, up to the requested number."""


class EntityLinkReply(TypedDict):
    """Two entities that are named together in memories."""

    one: str
    """The slug of the first entity."""
    other: str
    """The slug of the second entity."""
    memories: int
    """How many memories name both."""


class EntityLinksReply(TypedDict):
    """An entity, the entities that are named with it, and the links between all of them."""

    entities: list[EntityReply]
    """The entity itself, then the entities most often named with it."""
    links: list[EntityLinkReply]
    """A link for each pair of these entities that memories name together, most memories first."""
    total: int
    """How many entities are named with it."""
    next: str | None
    """The value of `after` for the next page; null: this is the last page."""


class EntityChangeReply(TypedDict):
    """What was, or would be, written into the page of an entity."""

    alias: str
    """The alias that was added or removed."""
    entity: str
    """The entity of the alias."""
    path: str
    """The page."""
    diff: str
    """The change of the page as a unified diff; empty if there was nothing to do."""
    written: bool
    """Whether it was written."""
    change: int | None
    """The number of the change, by which it can be undone; null if there is none."""
    note: str
    """Why it cannot be undone; may be empty."""


class PageRefusalReply(TypedDict):
    """A page that was left unchanged."""

    path: str
    """Its path in the workspace."""
    why: str
    """The reason, and what to do."""


class ProposalSummaryReply(TypedDict):
    """A proposal, without its diff."""

    id: str
    """Its id; the first four characters are enough to name it."""
    kind: Literal["core-in", "core-out", "retain", "observation", "contradiction", "markers"]
    """The purpose of the proposal."""
    path: str
    """The file that it changes."""
    why: str
    """Why, in one sentence."""


class NearCopiesReply(TypedDict):
    """Two memories that say nearly the same; they are not merged."""

    newer: str
    """The id of the memory that was recorded last."""
    older: str
    """The id of the other memory."""


class ReflectReply(TypedDict):
    """The result of a run of reflect, or of a dry run."""

    run: str
    """The id of the run, which is also the run of its changes."""
    since: str
    """The first day of the memories that it examined, such as `2026-01-31`."""
    dryRun: bool
    """Whether nothing was written."""
    memories: int
    """How many memories the workspace has."""
    steps: int
    """How many pieces of evidence were counted for or against opinions."""
    pages: list[str]
    """The pages that were written, or would be."""
    unchanged: int
    """How many pages were up to date already."""
    refusals: list[PageRefusalReply]
    """The pages that were left unchanged, and why."""
    proposals: list[ProposalSummaryReply]
    """The proposals that were queued, or would be."""
    copies: list[NearCopiesReply]
    """Memories that say nearly the same, 50 pairs at most."""
    acrossScopes: list[NearCopiesReply]
    """Memories that say the same in several scopes, 50 pairs at most."""
    disagreements: int
    """How many pairs of memories may contradict each other: `/v1/disagreements` lists them."""
    coreLeftOut: int
    """How many durable facts were not proposed because the core file has no room for them."""
    tookMs: float
    """How long it took, in milliseconds."""


class ProposalReply(ProposalSummaryReply):
    """A proposal with its diff."""

    diff: str
    """What it changes, as a unified diff."""
    memories: list[str]
    """The ids of the memories on which it is based."""
    state: Literal["open", "accepted", "rejected", "outdated"]
    """`open`, or the decision."""
    madeAt: str
    """When it was made, ISO 8601, in the owner's time zone."""
    decidedAt: str | None
    """When it was decided, ISO 8601, in the owner's time zone; null while it is open."""


class ProposalsReply(TypedDict):
    """Proposals, the oldest first."""

    proposals: list[ProposalReply]
    """The first proposals in the requested state."""
    total: int
    """How many proposals are in that state."""
    next: str | None
    """The value of `after` for the next page; null: this is the last page."""


class DecidedProposalReply(ProposalReply):
    """A proposal after it was decided."""

    change: int
    """The number of the change for `memoryctl undo`; 0: there is none."""
    note: str
    """Why it cannot be undone; empty if it can, or if nothing was written."""


class DisagreeingMemoryReply(TypedDict):
    """One of two memories that disagree."""

    id: str
    """Its id."""
    text: str
    """Its text."""
    name: str
    """Its name for the choice: `newer` or `older`; for two people of a team on the same day, the person."""
    saidBy: Literal["user", "agent", "tool", "import", "team"] | None
    """Who said it; `team`: another person of the team; null: a person wrote the line."""
    pinned: bool
    """Whether it is pinned."""
    recorded: str
    """The day of its newest line, such as `2026-01-31`."""
    source: str
    """The citation of that line."""


class DisagreementReply(TypedDict):
    """Two current memories that may contradict each other."""

    id: str
    """Its name: the first eight characters of both ids; also that of one memory if it is in no other pair."""
    doubt: Literal["authority", "people", "copy", "unsure", "stated"]
    """Why a person has to decide. `authority`, `people`: because of who said them; `copy`: `older` is only in a
    conflict copy; `unsure`: it is unclear whether both are about the same thing, or who said one; `stated`: a line of
    one says that it contradicts the other."""
    leads: str
    """The id of the memory that recall returns first."""
    newer: DisagreeingMemoryReply
    """The memory that was said last."""
    older: DisagreeingMemoryReply
    """The memory that was said before it."""


class DisagreementsReply(TypedDict):
    """Disagreements, the newest first."""

    disagreements: list[DisagreementReply]
    """The first of them."""
    total: int
    """How many there are."""
    next: str | None
    """The value of `after` for the next page; null: this is the last page."""


class SettledReply(DisagreementReply):
    """A disagreement that was settled."""

    keep: str
    """What holds: the `name` of a memory, or `both`."""
    changes: list[int]
    """The numbers of the changes for `memoryctl undo`."""
