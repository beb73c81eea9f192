"""Reflect, and the changes that it proposes."""

from typing import TypedDict


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
