"""Questions and answers: sessions, their turns and topics."""

from typing import TypedDict


class QaAddReply(TypedDict):
    """Where a turn went; `session` alone, or nothing, where it was not remembered."""

    session: str | None
    seq: int | None
    significance: float | None
    kept: bool
    remembered: bool
    topics: list[str]
    citation: str | None


class QaTurnReply(TypedDict):
    """A turn; `a` is null where the answer is not kept, or does not fit."""

    session: str
    seq: int
    q: str
    a: str | None
    significance: float
    timestamp: str
    topics: list[str]
    citation: str


class QaSessionReply(TypedDict):
    """A session; `remembered` is false where it is marked "do not remember"."""

    session: str
    key: str | None
    created: str
    lastActivity: str
    turns: int
    answers: int
    remembered: bool


class QaSessionsReply(TypedDict):
    """The newest of `total` sessions that are not in the archive."""

    sessions: list[QaSessionReply]
    total: int


class QaSessionTurnsReply(QaSessionReply):
    """The first of `matched` turns of a session; it goes on with `nextSeq`."""

    matched: int
    sequence: list[QaTurnReply]
    nextSeq: int | None


class QaContextReply(TypedDict):
    """The turns to put before an agent, in order, and why these."""

    session: str | None
    sequence: list[QaTurnReply]
    why: str
    tookMs: float


class QaTopicReply(TypedDict):
    """A topic, and where it was talked about last."""

    topic: str
    turns: int
    citations: list[str]


class QaTopicsReply(TypedDict):
    """The most frequent of `total` topics."""

    topics: list[QaTopicReply]
    total: int


class QaStatsReply(TypedDict):
    """How much there is of questions and answers; what is on disk is that of the workspace."""

    sessions: int
    turns: int
    answers: int
    ratio: float
    archived: int
    bytes: int
    archiveBytes: int
    maxBytes: int
    full: bool
    pruned: int
    problems: list[str]
