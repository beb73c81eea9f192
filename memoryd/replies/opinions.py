"""Opinions: how firmly they are held, and why."""

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
