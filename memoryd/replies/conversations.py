"""Replies about conversations: a message answered, questions and answers, sessions and transcripts."""

from typing import Any, Literal, TypedDict

from memoryd.replies.search import ReceiptReply


class CapturedReply(TypedDict):
    """A memory that the message gives."""

    kind: str
    text: str
    form: str
    pinned: bool
    importance: float
    supersedes: list[str]
    contradicts: list[str]
    note: str


class DroppedReply(TypedDict):
    """What is not kept, and why."""

    text: str
    reason: str
    form: str


class CaptureReply(TypedDict):
    """What is kept of a message, and what is not."""

    dryRun: bool
    gate: str
    decidedBy: str
    kept: list[CapturedReply]
    dropped: list[DroppedReply]
    citations: list[str]
    change: int | None


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


class SessionStartReply(TypedDict):
    """What is known when a session begins; `bundle` is null, and the rest empty where nothing was said before."""

    bundle: str | dict[str, Any] | None
    context: str
    sequence: list[QaTurnReply]
    syncScheduled: bool


class SessionEntryReply(TypedDict):
    """A conversation: a session of questions and answers, or a transcript of another program."""

    id: str
    kind: Literal["qa", "transcript"]
    key: str | None
    turns: int | None
    answers: int | None
    lines: int | None
    bytes: int | None
    firstActivity: str | None
    lastActivity: str | None
    archived: bool
    indexed: bool
    reason: str | None
    remembered: bool


class SessionsReply(TypedDict):
    """The conversations of an agent, that in which something was said last first."""

    sessions: list[SessionEntryReply]
    total: int
    withheldKeys: int
    agentsMarks: list[str]


class SessionLineReply(TypedDict):
    """A line of a conversation; `cited` is false for a neighbour."""

    line: int
    text: str
    cited: bool


class SessionLinesReply(TypedDict):
    """Lines of a conversation; `nextLine` is where to go on."""

    id: str
    citation: str
    lines: list[SessionLineReply]
    nextLine: int | None


class SessionSyncReply(TypedDict):
    """How far the conversations are read."""

    conversations: int
    indexed: int
    complete: bool
    reason: str | None


class SessionForgetReply(TypedDict):
    """What was forgotten, or would be, and what is out of reach."""

    id: str
    kind: Literal["qa", "transcript"]
    conversations: list[str]
    forgotten: bool
    files: int
    turns: int
    answers: int
    rows: int
    heldAnswers: int
    exports: int
    remarks: list[str]
    unfinished: list[str]
    stays: list[str]


class SessionRememberReply(TypedDict):
    """What holds of a conversation, or of a session key, from now on."""

    id: str | None
    remembered: bool
    rows: int
    marks: int


class TurnCommandReply(TypedDict):
    """What a command did, in words for the user, and the ids of its memories."""

    name: Literal["remember", "recall", "compact"]
    text: str
    memories: list[str]


class TurnPartReply(TypedDict):
    """How a part of the turn went, and why if not as usual."""

    state: Literal["ok", "off", "failed"]
    reason: str | None


class TurnReply(TypedDict):
    """What an agent is answered; `bundle` is null where nothing is recalled by itself."""

    command: TurnCommandReply | None
    session: str | None
    seq: int | None
    remembered: bool
    bundle: str | dict[str, Any] | None
    etag: str | None
    notModified: bool
    receipt: list[ReceiptReply]
    tokens: int
    context: str
    sequence: list[QaTurnReply]
    verdict: Literal["answerable", "weak", "none"] | None
    health: dict[str, TurnPartReply]
    capture: Literal["queued", "off", "no"]
    tookMs: float
