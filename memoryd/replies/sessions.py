"""Conversations: what is known when one begins, those that are kept, and what became of them."""

from typing import Any, Literal, TypedDict

from memoryd.replies.qa import QaTurnReply


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
